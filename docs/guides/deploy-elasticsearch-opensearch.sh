rulerank sample --documents 4000 --features 10 --queries 60 --fold-count 1 --out-dir drawn --quiet
for part in train test; do
  sed -E "s/ ([1-47-9]|10):[^ ]*//g; s/ 5:/ body_bm25:/; s/ 6:/ title_bm25:/" drawn/Fold1/$part.txt |
    awk '{ for (i = 3; i <= NF; i++) if ($i ~ /bm25:/) { split($i, v, ":"); $i = v[1] ":" 20 * v[2] } print }' > $part.txt  # 0 to 20
done
cat > features.json <<'END'
{"featureset": {"features": [
  {"name": "title_bm25", "params": ["keywords"], "template": {"match": {"title": "{{keywords}}"}}},
  {"name": "body_bm25", "params": ["keywords"], "template": {"match": {"body": "{{keywords}}"}}}]}}
END
