rulerank sample --documents 4000 --features 10 --queries 60 --fold-count 1 --out-dir drawn --quiet
for part in train test; do
  sed -E "s/ ([1-47-9]|10):[^ ]*//g; s/ 5:/ body_bm25:/; s/ 6:/ title_bm25:/" drawn/Fold1/$part.txt |
    awk '{ for (i = 3; i <= NF; i++) if ($i ~ /bm25:/) { split($i, v, ":"); $i = v[1] ":" 20 * v[2] } print }' > $part.txt  # 0 to 20
done
cat > score.py <<'END'
import sqlite3

base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE documents (id TEXT, body_bm25 REAL, title_bm25 REAL)")
base.executemany("INSERT INTO documents VALUES (?, ?, ?)", [("a", 2, 4), ("b", 10, 0), ("c", None, 8)])
rows = base.execute(open("card.sql").read().rstrip(";\n") + " ORDER BY score DESC")
print(*[column[0] for column in rows.description], sep=" | ")
for row in rows:
    print(*row, sep=" | ")
END
