rulerank sample --documents 4000 --features 10 --queries 60 --fold-count 1 --out-dir drawn --quiet
for part in train test; do
  sed -E "s/ ([1-47-9]|10):[^ ]*//g; s/ 5:/ body_bm25:/; s/ 6:/ title_bm25:/" drawn/Fold1/$part.txt > $part.txt
done
cat > client.py <<'END'
import json
import urllib.request

query = {"features": ["body_bm25", "title_bm25"],
         "ids": ["a", "b", "c"],
         "rows": [[0.1, 0.2], [0.5, 0], [None, 0.4]]}  # None: a missing value
request = urllib.request.Request("http://127.0.0.1:8471/rank", json.dumps(query).encode())
answer = json.load(urllib.request.urlopen(request))
for one in answer["ranking"]:
    print(one["id"], one["score"])
END
cat > service.py <<'END'
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import card  # rulerank export card.model --to python --out card.py

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps([card.score(row) for row in rows]).encode())

ThreadingHTTPServer(("127.0.0.1", 8472), Handler).serve_forever()
END
cat > wait_for <<'END'
until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do sleep 0.1; done
END
