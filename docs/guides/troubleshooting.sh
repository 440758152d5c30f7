rulerank sample --documents 4000 --features 10 --queries 60 --fold-count 1 --out-dir s --quiet
mv s/Fold1/train.txt s/Fold1/test.txt .
sed 's/^[0-9]*/-1/' test.txt > pool.txt
printf '1 qid:1 1:1\n0 qid:2 1:2\n1 qid:1 1:3\n' > apart.txt
printf 'key,words\na,white bread\nb,red wine\n' > notes.csv
printf 'q\tred wine\n' > query.tsv
awk '{print $1, $2, "1:" NR % 2, "2:" NR % 3}' train.txt > counts.txt
