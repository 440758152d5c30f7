printf 'query,docid,rating\nred dress,B1,3\nred dress,B3,1\n"shoes, dry",B1,0\n' > ratings.csv
hit() { printf '{"_id": "%s", "fields": {"_ltrlog": [{"log": [{"name": "title", "value": %s}, %s]}]}}' "$@"; }
printf '{"query": "red dress", "hits": {"hits": [%s, %s, %s]}}\n' "$(hit B1 9.5 '{"name": "body"}')" \
  "$(hit B2 2 '{"name": "body", "value": 1}')" "$(hit B3 4.25 '{"name": "body", "value": 7}')" > log.jsonl
printf 'id\tquery_id\tproduct_id\tlabel\n0\t0\t25434\tExact\n1\t0\t12088\tIrrelevant\n2\t1\t12088\tPartial\n' > label.csv
