cp "$COLLECTION"/docs.jsonl "$COLLECTION"/topics.tsv "$COLLECTION"/qrels "$PAGE"s/noisy.py .
rulerank features docs.jsonl topics.tsv --candidates 20 --out pool.txt --quiet
rulerank search text --collection docs.jsonl --queries topics.tsv --k 50 --run bm25.run --out neighbours --quiet
awk '{ print "{\"id\":\"" NR "\",\"qid\":\"" $1 "\",\"docid\":\"" $3 "\",\"labels\":[0,1,2]}" }' qrels |
  python3 noisy.py qrels --accuracy .8 --seed 2 | grep -o '"label": [012]' | cut -d' ' -f2 > labels
paste -d' ' <(cut -d' ' -f1-3 qrels) labels > machine.qrels
