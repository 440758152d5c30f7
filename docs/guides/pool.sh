cp "$COLLECTION"/docs.jsonl "$COLLECTION"/topics.tsv "$COLLECTION"/qrels .
