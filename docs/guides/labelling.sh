rulerank sample --documents 600 --features 8 --queries 20 --fold-count 1 --out-dir drawn --quiet
sed 's/^[0-9]*/-1/' drawn/Fold1/train.txt > pool.txt
printf '1 BM25 of title\n2 number of links\n' > features.tsv
for q in $(seq 20); do
  printf '%s\twhich wings bear flutter\n' $q
  for d in $(seq 99); do
    printf '%s-%s\tA wing of thickness %s bears flutter at a speed of %s.\n' $q $d $d $q
  done >> documents.tsv
done > topics.tsv
