rulerank sample --documents 800 --features 6 --queries 100 --fold-count 1 --out-dir s --quiet
mv s/Fold1/test.txt .
grep -o ' 5:[^ ]*' test.txt | cut -d: -f2 > theirs.txt
