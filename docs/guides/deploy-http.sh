rulerank sample --documents 4000 --features 10 --queries 60 --fold-count 1 --out-dir drawn --quiet
for part in train test; do
  sed -E "s/ ([1-47-9]|10):[^ ]*//g; s/ 5:/ body_bm25:/; s/ 6:/ title_bm25:/" drawn/Fold1/$part.txt > $part.txt
done
sed "s/body_bm25/clicks/; s/title_bm25/rating/" train.txt > stored.txt
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
cat > hits.json <<'END'
{"hits": {"hits": [
  {"_id": "p1", "_score": 0.5, "matched_queries": {"body_bm25": 0.5}},
  {"_id": "p2", "_score": 0.4, "matched_queries": {"title_bm25": 0.4}},
  {"_id": "p3", "_score": 0.3, "matched_queries": {"body_bm25": 0.1, "title_bm25": 0.2}}]}}
END
cat > rescore.py <<'END'
import json
import sys
import urllib.request

names = ["body_bm25", "title_bm25"]
hits = json.load(sys.stdin)["hits"]["hits"]
rows = [[hit.get("matched_queries", {}).get(name, 0) for name in names] for hit in hits]  # 0: no match
request = urllib.request.Request("http://127.0.0.1:8471/rank", json.dumps({"features": names, "rows": rows}).encode())
for one in json.load(urllib.request.urlopen(request))["ranking"]:
    print(hits[one["document"]]["_id"], one["score"])
END
cat > connector.json <<'END'
{"name": "rulerank", "description": "rulerank serve", "version": 1, "protocol": "http",
 "parameters": {"endpoint": "127.0.0.1:8473"}, "credential": {"token": "TOKEN"},
 "actions": [{
   "action_type": "predict", "method": "POST", "url": "http://${parameters.endpoint}/rank",
   "headers": {"Content-Type": "application/json", "Authorization": "Bearer ${credential.token}"},
   "request_body": "{\"features\": [\"clicks\", \"rating\"], \"rows\": [[${parameters.clicks}, ${parameters.rating}]]}"}]}
END
cat > pipeline.json <<'END'
{"response_processors": [
  {"ml_inference": {
    "model_id": "MODEL_ID", "one_to_one": true,
    "input_map": [{"clicks": "clicks", "rating": "rating"}],
    "output_map": [{"rulerank_score": "$.ranking[0].score"}]}},
  {"rerank": {"by_field": {"target_field": "rulerank_score", "remove_target_field": true}}}]}
END
cat > stored.json <<'END'
{"hits": {"hits": [
  {"_id": "p1", "_score": 3, "_source": {"title": "dress", "clicks": 0.1, "rating": 0.2}},
  {"_id": "p2", "_score": 2, "_source": {"title": "dress", "clicks": 0.5, "rating": 0}},
  {"_id": "p3", "_score": 1, "_source": {"title": "dress", "clicks": 9, "rating": 0.5}}]}}
END
cat > as_opensearch.py <<'END'
"""Runs pipeline.json on a response of a search, as OpenSearch documents ml_inference (one_to_one) and rerank (by_field)."""
import json
import re
import sys
import urllib.request

connector = json.load(open("connector.json"))
action = connector["actions"][0]
inference, rerank = (list(one.values())[0] for one in json.load(open("pipeline.json"))["response_processors"])
hits = json.load(sys.stdin)["hits"]["hits"]


def filled(template, parameters):
    """Placeholders become the values of parameters, without quotation marks."""
    values = {"parameters": parameters, "credential": connector["credential"]}
    return re.sub(r"\$\{(\w+)\.(\w+)\}", lambda place: values[place[1]][place[2]], template)


def at(value, path):
    """The value at a JSONPath of names and indices."""
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        value = value[name] if name else value[int(index)]
    return value


for hit in hits:
    parameters = dict(connector["parameters"])
    for name, field in inference["input_map"][0].items():
        parameters[name] = json.dumps(hit["_source"][field])
    body = filled(action["request_body"], parameters)
    headers = {name: filled(value, parameters) for name, value in action["headers"].items()}
    request = urllib.request.Request(filled(action["url"], parameters), body.encode(), headers, method=action["method"])
    answer = json.load(urllib.request.urlopen(request))
    for field, path in inference["output_map"][0].items():
        hit["_source"][field] = at(answer, path)
        print(body, hit["_source"][field])
hits.sort(key=lambda hit: -hit["_source"][rerank["by_field"]["target_field"]])
print(*(hit["_id"] for hit in hits))
END
