"""The verb serve: requests over sockets, as clients send them, against what rank and explain write of the same documents."""

import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time

import harness

CHANCE = random.Random(43)
NAMES = ["bm25", "clicks", "links"]


def values_of(documents):
    return [[round(CHANCE.uniform(0, 9), 3), float(CHANCE.randrange(4)), CHANCE.choice([None, 1.5, 2.25])]
            for _ in range(documents)]


def table(rows, label, per_query=8):
    """A CSV file of documents, with named features."""
    lines = ["label,qid,docid," + ",".join(NAMES)]
    for d, values in enumerate(rows):
        cells = ["" if value is None else repr(value) for value in values]
        lines.append(",".join([str(label(values)), f"q{d // per_query}", f"D{d}", *cells]))
    return "\n".join(lines).encode() + b"\n"


def numbered(rows, label, per_query=8):
    """The rows in SVMlight's format, with feature numbers."""
    return "".join(f"{label(values)} qid:q{d // per_query} " + " ".join(
        f"{c + 1}:{'NULL' if value is None else repr(value)}" for c, value in enumerate(values)) + f" # docid = D{d}\n"
                   for d, values in enumerate(rows)).encode()


def relevance(values):
    return min(2, int(values[0] // 3.5))


TRAIN, TEST = values_of(80), values_of(24)
IDS = [f"D{d}" for d in range(len(TEST))]


class ServeCommand(harness.CommandLine):
    """Starts the program and sends it requests."""

    secure = None  # a context of TLS
    token = ""

    def setUp(self):
        super().setUp()
        self.train = self.file("train.csv", table(TRAIN, relevance))
        self.test = self.file("test.csv", table(TEST, lambda _: 0))

    def fit(self, name, *words, train=None):
        self.expect(0, "fit", train or self.train, "--model", name, "--quiet", *words)
        return self.folder / name

    def serve(self, *words):
        """Starts a server of any free port."""
        process = self.start("serve", *words, "--listen", "127.0.0.1:0", "--quiet")
        line = process.stderr.readline().decode()
        self.assertRegex(line, r"^rulerank: serve at https?://127\.0\.0\.1:\d+/\n$", line)
        self.port = int(re.search(r":(\d+)/", line)[1])
        return process

    def link(self, timeout=harness.HANGS):
        if self.secure:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.secure)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, link=None, **fields):
        """(status, fields, bytes) of the response."""
        if link is None:
            with contextlib.closing(self.link()) as own:
                return self.request(method, path, body, own, **fields)
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        link.request(method, path, json.dumps(body) if isinstance(body, (dict, list)) else body, headers)
        reply = link.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()

    def post(self, path, body, status=200, **options):
        found, _, text = self.request("POST", path, body, **options)
        self.assertEqual(found, status, text)
        return json.loads(text)

    def get(self, path, status=200, **options):
        found, _, text = self.request("GET", path, **options)
        self.assertEqual(found, status, text)
        return text if path in ("/", "/metrics") else json.loads(text)

    def raw(self, data, half_close=False):
        """The bytes that the server sends until it closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=harness.HANGS) as link:
            with contextlib.suppress(OSError):
                link.sendall(data)
                if half_close:
                    link.shutdown(socket.SHUT_WR)
            got = b""
            with contextlib.suppress(ConnectionResetError):
                while part := link.recv(65536):
                    got += part
            return got

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        errors = process.communicate(timeout=harness.HANGS)[1]
        self.assertEqual(process.returncode, 0, errors)

    def expect_ranking(self, answer, scores, begin=0):
        """A ranking as rank's scores of the same documents give it; scores are the same text."""
        order = sorted(range(len(scores)), key=lambda d: -float(scores[d]))
        self.assertEqual([one["document"] for one in answer["ranking"]], order)
        self.assertEqual([one["id"] for one in answer["ranking"]], [f"D{begin + d}" for d in order])
        self.assertEqual([one["score"] for one in answer["ranking"]], [float(scores[d]) for d in order])


class Serve(ServeCommand):
    def test_scores_are_those_of_rank(self):
        """Whatever the kind of model, the form of the request and the number of queries in it."""
        kinds = {"card": [], "rules": ["--members", "rules"], "all": ["--members", "rules,scorecard,linear,joint"]}
        models = {name: self.fit(f"{name}.model", *words) for name, words in kinds.items()}
        process = self.serve(*(word for path in models.values() for word in ("--model", path)))
        for name, path in models.items():
            scores = self.expect(0, "rank", "--model", path, "--test", self.test, "--quiet").stdout.decode().split()
            with self.subTest(model=name):
                dense = {"model": name, "features": NAMES, "queries": [
                    {"qid": f"q{q}", "rows": TEST[8 * q:8 * q + 8], "ids": IDS[8 * q:8 * q + 8]} for q in range(3)]}
                sparse = {"model": name, "queries": [{"qid": f"q{q}", "documents": [
                    {"id": f"D{d}", "features": dict(zip(NAMES[::-1], TEST[d][::-1]))} for d in range(8 * q, 8 * q + 8)]}
                    for q in range(3)]}
                turned = {**dense, "features": [*NAMES[::-1], "more"], "queries": [
                    {**query, "rows": [[*row[::-1], 5] for row in query["rows"]]} for query in dense["queries"]]}
                for body in (dense, sparse, turned):
                    _, _, text = self.request("POST", "/rank", body)
                    answer = json.loads(text)
                    self.assertEqual((answer["model"], answer["version"]), (name, "1"))
                    sums = subprocess.run(["sha256sum", path], capture_output=True, check=True).stdout.split()[0].decode()
                    self.assertEqual(answer["sha256"], sums)
                    for q, query in enumerate(answer["queries"]):
                        self.assertEqual(query["qid"], f"q{q}")
                        self.expect_ranking(query, scores[8 * q:8 * q + 8], 8 * q)
                    for score in scores:  # the same digits
                        self.assertIn(b'"score":' + score.encode() + b"}", text)
                one = self.post("/rank", {"model": name, "features": NAMES, "rows": TEST[:8], "ids": IDS[:8], "top": 3})
                self.assertEqual(len(one["ranking"]), 3)
                tensors = self.infer(name, TEST, [8, 8, 8])
                self.assertEqual(tensors, [float(score) for score in scores])
                self.assertEqual(self.infer(name, TEST, [8, 8, 8], binary=True), tensors)
        self.stop(process)

    def infer(self, model, rows, sizes, binary=False):
        """Scores by the Open Inference Protocol; the columns are the features by name."""
        shape = [len(rows), len(NAMES)]
        if not binary:
            answer = self.post(f"/v2/models/{model}/infer", {"id": "7", "inputs": [
                {"name": "features", "datatype": "FP64", "shape": shape, "data": rows},
                {"name": "list_sizes", "datatype": "INT64", "shape": [len(sizes)], "data": sizes}]})
            self.assertEqual((answer["model_name"], answer["id"]), (model, "7"))
            return answer["outputs"][0]["data"]
        values = struct.pack(f"<{shape[0] * shape[1]}d", *(float("nan") if v is None else v for row in rows for v in row))
        lengths = struct.pack(f"<{len(sizes)}i", *sizes)
        header = json.dumps({"inputs": [
            {"name": "features", "datatype": "FP64", "shape": shape, "parameters": {"binary_data_size": len(values)}},
            {"name": "list_sizes", "datatype": "INT32", "shape": [len(sizes)], "parameters": {"binary_data_size": len(lengths)}}],
            "outputs": [{"name": "scores", "parameters": {"binary_data": True}}]}).encode()
        status, fields, body = self.request("POST", f"/v2/models/{model}/infer", header + values + lengths,
                                            Inference_Header_Content_Length=str(len(header)))
        self.assertEqual(status, 200, body)
        length = int(fields["Inference-Header-Content-Length"])
        output = json.loads(body[:length])["outputs"][0]
        self.assertEqual(output["parameters"]["binary_data_size"], len(body) - length)
        return list(struct.unpack(f"<{output['shape'][0]}d", body[length:]))

    def test_numbered_features(self):
        train = self.file("train.txt", numbered(TRAIN, relevance))
        test = self.file("test.txt", numbered(TEST[:8], lambda _: 0))
        model = self.fit("numbers.model", "--members", "rules", train=train)
        scores = self.expect(0, "rank", "--model", model, "--test", test, "--quiet").stdout.decode().split()
        process = self.serve("--model", f"n={model}")
        for body in ({"rows": TEST[:8]}, {"features": [1, 2, 3], "rows": TEST[:8]}, {"features": ["1", "2", "3"], "rows": TEST[:8]},
                     {"documents": [{"features": {str(c + 1): v for c, v in enumerate(row)}} for row in TEST[:8]]},
                     {"documents": [{"features": row} for row in TEST[:8]]}):
            self.expect_ranking(self.post("/rank", {**body, **({"ids": IDS[:8]} if "rows" in body else {
                "documents": [{"id": one, **document} for one, document in zip(IDS, body["documents"])]})}), scores)
        self.assertEqual(self.post("/rank", {"features": ["x"], "rows": []}, 400)["pointer"], "/features/0")
        self.stop(process)

    def test_explanations_are_those_of_explain(self):
        model = self.fit("all.model", "--members", "rules,scorecard,linear,joint")
        self.serve("--model", model)
        body = {"qid": "q1", "features": NAMES, "rows": TEST[8:16], "ids": IDS[8:16]}

        def alike(of):
            """Without lines and labels, which a request does not have."""
            if isinstance(of, list):
                return [alike(one) for one in of]
            return {key: alike(one) for key, one in of.items() if key not in ("line", "label")} if isinstance(of, dict) else of

        def explained(*words):
            return alike(json.loads(self.expect(0, "explain", "--model", model, "--test", self.test, "--qid", "q1", "--quiet",
                                                "--format", "json", *words).stdout))
        answer = self.post("/rank", {**body, "explain": True})
        self.assertEqual(alike(answer["explanation"]), explained("--all"))
        one = self.post("/explain", {**body, "document": "D9", "top": 20})
        self.assertEqual(alike(one["effects"]), explained("--docid", "D9", "--by-feature"))
        self.assertEqual(alike(one["explanation"]), explained("--docid", "D9"))
        two = self.post("/explain", {**body, "document": 1, "against": "D12"})
        self.assertEqual(alike(two["explanation"]), explained("--docid", "D9", "--against", "D12"))
        self.assertEqual(alike(two["effects"]), explained("--docid", "D9", "--against", "D12", "--by-feature"))

    def test_bad_requests_name_the_place(self):
        self.serve("--model", f"m={self.fit('m.model')}")
        row = [1, 2, 3]
        deep = "[" * 3000
        for body, status, detail, place in (
                ("", 400, "found no valid JSON", {}),
                ("{", 400, "found no valid JSON", {}),
                ("[]", 400, "found an array, expected an object", {}),
                (deep, 400, "found no valid JSON", {}),
                (b'{"rows": [[1, 2, \xff]]}', 400, "found no valid JSON at byte 18 ", {}),
                ('{"rows": [[1, 2, 3],]}', 400, "found no valid JSON at byte 21 ", {}),
                ({}, 400, "expected either rows or documents", {}),
                ({"rows": [], "documents": []}, 400, "expected either rows or documents", {}),
                ({"rows": [row], "queries": []}, 400, "found queries and rows, expected one of them", {}),
                ({"rows": [row], "topp": 1}, 400, "found the member 'topp', expected one of: model, features", {}),
                ('{"rows": [], "rows": []}', 400, "found the member 'rows' twice", {}),
                ({"rows": [row], "top": 0}, 400, "found 0, expected an integer from 1", {"pointer": "/top"}),
                ({"rows": [row], "top": "1"}, 400, "found a string, expected an integer from 1", {"pointer": "/top"}),
                ({"rows": [row], "explain": 1}, 400, "found a number, expected true or false", {"pointer": "/explain"}),
                ({"rows": [row], "model": "n"}, 404, "found model 'n', expected one of: m", {}),
                ({"rows": [row, [1, 2]]}, 400, "found 2 values, expected 3", {"pointer": "/rows/1", "document": 1}),
                ({"rows": [row, [1, 2, 3, 4]]}, 400, "found 4 values, expected 3", {"pointer": "/rows/1", "document": 1}),
                ({"rows": [row, [1, "2", 3]]}, 400, "found a string, expected a number, or null",
                 {"pointer": "/rows/1", "document": 1, "feature": "clicks"}),
                ({"rows": [row], "ids": []}, 400, "found 0 ids, expected 1", {"pointer": "/ids"}),
                ({"rows": [row], "ids": [1]}, 400, "found a number, expected a string", {"pointer": "/ids"}),
                ({"features": ["x"], "rows": [[1]]}, 400, "found no feature of the model, expected names such as 'bm25'",
                 {"pointer": "/features"}),
                ({"features": ["bm25", "bm25"], "rows": []}, 400, "found a feature twice", {"pointer": "/features/1"}),
                ({"documents": [{"features": {"bm25": 1}}, {"features": {"bm25": True}}]}, 400, "found a boolean, expected a number",
                 {"pointer": "/documents/1", "document": 1, "feature": "bm25"}),
                ('{"documents": [{"features": {"bm25": 1, "bm25": 2}}]}', 400, "found a feature twice",
                 {"pointer": "/documents/0", "document": 0, "feature": "bm25"}),
                ({"documents": [{"id": "a"}]}, 400, "found no features", {"pointer": "/documents/0", "document": 0}),
                ({"queries": [{"rows": [row]}, {"qid": 1, "rows": []}]}, 400, "found a number, expected a string",
                 {"pointer": "/queries/1/qid"}),
                ({"queries": [{"rows": [row]}, {"rows": [row, []]}]}, 400, "found 0 values, expected 3",
                 {"pointer": "/queries/1/rows/1", "document": 1}),
                ('{"rows": [[1e999, 2, 3]]}', 400, "found no valid JSON", {})):
            with self.subTest(body=body):
                got, fields, text = self.request("POST", "/rank", body)
                told = json.loads(text)
                self.assertEqual((got, told["status"], fields["Content-Type"]), (status, status, "application/problem+json"))
                self.assertIn(detail, told["detail"])
                self.assertEqual({key: told[key] for key in ("pointer", "document", "feature") if key in told}, place)
        for path, body, detail in (
                ("/explain", {"rows": []}, "expected one query with documents"),
                ("/explain", {"rows": [row], "document": 1}, "found document 1, expected less than 1"),
                ("/explain", {"rows": [row], "document": "a"}, "found 'a', expected the id of a document"),
                ("/explain", {"rows": [row], "document": 0, "against": 0}, "found the document itself"),
                ("/rank", {"rows": [row], "document": 0}, "found a document to explain, expected it in /explain"),
                ("/v2/models/m/infer", {}, "found no input features"),
                ("/v2/models/m/infer", {"inputs": [{"name": "x"}]}, "found the input 'x'"),
                ("/v2/models/m/infer", {"inputs": [{"name": "features", "datatype": "FP64", "shape": [1, 2], "data": [1, 2]}]},
                 "found the shape [1, 2], expected [documents, 3]"),
                ("/v2/models/m/infer", {"inputs": [{"name": "features", "datatype": "FP64", "shape": [1 << 62, 0], "data": []}]},
                 "found the shape [4611686018427387904, 0], expected [documents, 3]"),
                ("/v2/models/m/infer", {"inputs": [{"name": "features", "datatype": "FP64", "shape": [0, 0], "data": []}]},
                 "found the shape [0, 0], expected [documents, 3]"),
                ("/v2/models/m/infer", {"inputs": [{"name": "features", "datatype": "BYTES", "shape": [1, 3], "data": row}]},
                 "found datatype 'BYTES', expected FP64 or FP32"),
                ("/v2/models/m/infer", {"inputs": [{"name": "features", "datatype": "FP64", "shape": [1 << 62, 3], "data": row}]},
                 "found a shape with too many elements"),
                ("/v2/models/m/infer", {"inputs": [{"name": "features", "datatype": "FP64", "shape": [2, 3], "data": row}]},
                 "found 3 elements, expected 6")):
            with self.subTest(path=path, body=body):
                told = self.post(path, body, 400)
                self.assertIn(detail, told["detail"])
                self.assertEqual(told["error"], told["detail"])  # the Open Inference Protocol's member
        self.assertEqual(self.post("/rank", {"rows": []})["ranking"], [])
        self.assertEqual(self.infer("m", [], []), [])
        self.assertEqual(self.get("/nothing", 404)["title"], "Not Found")
        status, fields, _ = self.request("GET", "/rank")
        self.assertEqual((status, fields["Allow"]), (405, "POST"))
        self.assertEqual(self.post("/search", {"query": "x"}, 404)["detail"],
                         "found no collection to search, expected a server with --collection")

    def test_a_request_that_lacks_features_says_so(self):
        self.serve("--model", f"m={self.fit('m.model')}")
        self.assertEqual(self.post("/rank", {"features": ["clicks"], "rows": [[1]]})["lacking"], ["bm25", "links"])
        self.assertNotIn("lacking", self.post("/rank", {"features": NAMES, "rows": [[1, 2, 3]]}))
        misspelt = {"documents": [{"features": {"clicks": 1, "bm52": 2}}, {"features": {"links": 1}}]}
        self.assertEqual(self.post("/rank", misspelt)["lacking"], ["bm25"])
        self.assertNotIn("lacking", self.post("/rank", {"rows": []}))

    def test_changed_bytes_of_requests(self):
        """Any bytes get HTTP or nothing, and the server goes on."""
        self.serve("--model", f"m={self.fit('m.model')}")
        body = json.dumps({"features": NAMES, "rows": [[1, 2, None], [3, 2, 1]]}).encode()
        request = (b"POST /rank HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                   b"Connection: close\r\n\r\n" % (self.port, len(body))) + body
        chance, statuses = random.Random(7), collections.Counter()
        for _ in range(300):
            changed = bytearray(request)
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(changed))
                changed[at:at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
            reply = self.raw(bytes(changed), half_close=True)
            if reply:
                self.assertRegex(reply, rb"^HTTP/1\.1 [2345]\d\d ")
            statuses[reply[9:10]] += 1
        self.assertGreater(statuses[b"2"], 0)
        self.assertGreater(statuses[b"4"], 50)
        self.assertNotIn(b"5", statuses)
        self.assertEqual(len(self.post("/rank", json.loads(body))["ranking"]), 2)

    def test_requests_have_limits(self):
        self.serve("--model", f"m={self.fit('m.model')}", "--max-documents", "3", "--max-features", "4")
        row, pairs = [1, 2, 3], {"bm25": 1, "a": 1, "b": 1, "c": 1}
        self.assertEqual(len(self.post("/rank", {"rows": [row] * 3})["ranking"]), 3)
        self.assertEqual(len(self.infer("m", [row] * 3, [1, 2])), 3)
        self.post("/rank", {"documents": [{"features": pairs}]})
        for path, body, detail, pointer in (
                ("/rank", {"rows": [row] * 4}, "found more than 3 documents, expected at most these", "/rows"),
                ("/rank", {"queries": [{"rows": [row] * 2}, {"rows": [row] * 2}]}, "found more than 3 documents", "/queries/1/rows"),
                ("/explain", {"rows": [row] * 4}, "found more than 3 documents", "/rows"),
                ("/rank", {"features": [*NAMES, "a", "b"], "rows": [[1] * 5]}, "found more than 4 features", "/features"),
                ("/rank", {"documents": [{"features": pairs | {"d": 1}}]}, "found more than 4 features", "/documents/0"),
                ("/v2/models/m/infer", {"inputs": [{"name": "features", "datatype": "FP64", "shape": [4, 3], "data": [row] * 4}]},
                 "found more than 3 documents", "/inputs/0/shape")):
            with self.subTest(path=path, pointer=pointer):
                told = self.post(path, body, 413)
                self.assertIn(detail, told["detail"])
                self.assertEqual(told["pointer"], pointer)

    def test_versions_in_paths(self):
        self.serve("--model", f"m={self.fit('m.model')}")
        self.assertEqual(self.get("/v2/models/m/versions/1"), self.get("/v2/models/m"))
        self.assertEqual(self.get("/v2/models/m/versions/1/ready"), {"ready": True})
        tensors = {"inputs": [{"name": "features", "datatype": "FP64", "shape": [1, 3], "data": [1, 2, 3]}]}
        self.assertEqual(self.post("/v2/models/m/versions/1/infer", tensors), self.post("/v2/models/m/infer", tensors))
        self.assertEqual(self.post("/v2/models/m/versions/2/infer", tensors, 404)["detail"],
                         "found version '2' of model 'm', expected 1, which is loaded")

    def test_metrics_count_lists_and_stages(self):
        self.serve("--model", f"m={self.fit('m.model')}")
        self.infer("m", [[1, 2, 3]] * 4, [1, 3])
        self.post("/explain", {"rows": [[1, 2, 3], [3, 2, 1]]})
        text = self.get("/metrics").decode()
        self.assertIn("rulerank_list_documents_count 3\n", text)
        self.assertIn("rulerank_list_documents_sum 6\n", text)
        for stage, count in (("parse", 2), ("score", 2), ("write", 1)):
            self.assertIn(f'_count{{stage="{stage}"}} {count}\n', text)

    def test_metadata_has_units_and_origins(self):
        self.file("features.tsv", b"feature\tunit\torigin\nclicks\tclicks a day\tclick log\nbm25\t\tindex\n")
        self.serve("--model", f"m={self.fit('m.model', '--feature-table', 'features.tsv')}")
        by_name = {one["name"]: one for one in self.get("/v2/models/m")["parameters"]["described_features"]}
        self.assertEqual({name: (one.get("unit"), one.get("origin")) for name, one in by_name.items()},
                         {"clicks": ("clicks a day", "click log"), "bm25": (None, "index")})

    def test_metadata_and_health(self):
        self.serve("--model", f"card={self.fit('m.model')}", "--model", f"all={self.fit('n.model', '--members', 'rules,linear')}")
        self.assertEqual(self.get("/v2/health/live"), {"live": True})
        self.assertEqual(self.get("/v2/health/ready"), {"ready": True})
        self.assertEqual(self.get("/v2")["name"], "rulerank")
        both = {name: self.get(f"/v2/models/{name}") for name in ("card", "all")}
        self.assertEqual(both["card"]["inputs"][0], {"name": "features", "datatype": "FP64", "shape": [-1, 3]})
        self.assertTrue(both["all"]["parameters"]["depends_on_list"])
        self.assertTrue(both["all"]["parameters"]["portability"].startswith("not portable: "))
        self.assertTrue(both["card"]["parameters"]["portability"].startswith("portable"))
        self.assertNotIn("described_features", both["all"]["parameters"])
        self.assertEqual(both["all"]["parameters"]["features"], NAMES)
        self.assertEqual([one["state"] for one in self.post("/v2/repository/index", {})], ["READY", "READY"])
        self.post("/v2/repository/models/all/unload", {})
        self.assertEqual(self.post("/v2/repository/index", {})[0], {"name": "all", "state": "UNAVAILABLE", "reason": "unloaded"})
        self.assertEqual(self.get("/v2/health/ready", 503)["detail"], "model 'all' is not loaded")
        self.assertEqual(self.get("/v2/models/all/ready", 404)["detail"], "model 'all' is not loaded")
        self.post("/v2/repository/models/all/load", {})
        self.assertEqual(self.get("/v2/models/all/ready"), {"ready": True})
        text = self.get("/metrics").decode()
        self.assertIn('rulerank_responses_total{path="/v2/models/{}/ready",status="404"} 1\n', text)
        self.assertRegex(text, r'rulerank_model_info\{model="card",version="1",sha256="[0-9a-f]{64}"\} 1\n')
        self.assertIn("\nrulerank_batch_requests_count 0\n", text)
        self.infer("card", TEST, [24])
        self.assertIn("\nrulerank_batch_requests_count 1\n", self.get("/metrics").decode())
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [-+0-9.e]+)$')


class Reload(ServeCommand):
    def body(self):
        return {"features": NAMES, "rows": TEST[:8], "ids": IDS[:8]}

    def scores(self, model):
        return self.expect(0, "rank", "--model", model, "--test", self.file("one.csv", table(TEST[:8], lambda _: 0)),
                           "--quiet").stdout.decode().split()

    def test_a_changed_file_is_loaded_without_losing_a_request(self):
        first, second = self.fit("first.model"), self.fit("second.model", "--members", "linear")
        wanted = {"1": self.scores(first), "2": self.scores(second)}
        shutil.copy(first, self.folder / "m.model")
        process = self.serve("--model", "m.model")
        ended, failures, versions = threading.Event(), [], []

        def load():
            with contextlib.closing(self.link()) as link:
                while not ended.is_set():
                    status, _, text = self.request("POST", "/rank", self.body(), link=link)
                    answer = json.loads(text)
                    versions.append(answer.get("version"))
                    if status != 200:
                        failures.append(text)
                    else:
                        self.expect_ranking(answer, wanted[answer["version"]])
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            workers = [pool.submit(load) for _ in range(4)]
            shutil.copy(second, self.folder / "new")
            os.replace(self.folder / "new", self.folder / "m.model")
            self.wait_until(lambda: "2" in versions, process)
            self.file("m.model", b"no model")  # the loaded one stays
            self.wait_until(lambda: self.post("/v2/repository/index", {})[0]["reason"] != "", process)
            self.assertIn("m.model", self.post("/v2/repository/models/m/load", {}, 400)["detail"])
            wanted["3"] = wanted["1"]
            os.replace(shutil.copy(first, self.folder / "new"), self.folder / "m.model")
            self.post("/v2/repository/models/m/load", {})
            self.assertEqual(self.post("/rank", self.body())["version"], "3")
            ended.set()
            for one in workers:
                one.result()
        self.assertEqual(failures, [])
        self.stop(process)

    def test_requests_in_progress_are_answered_when_it_ends(self):
        process = self.serve("--model", self.fit("m.model"), "--threads", "1")
        body = json.dumps({"queries": [{"rows": TEST[:8]}] * 2000}).encode()
        idle, half = socket.create_connection(("127.0.0.1", self.port)), socket.create_connection(("127.0.0.1", self.port))
        half.sendall(b"POST /rank HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n" % (self.port, len(body)) + body[:1000])
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            working = [pool.submit(self.request, "POST", "/rank", body) for _ in range(4)]
            self.wait_until(lambda: b"\nrulerank_body_bytes 0" not in self.get("/metrics"), process)
            process.send_signal(signal.SIGTERM)
            time.sleep(.1)
            self.assertTrue(harness.hold(process.pid))  # as Ctrl-Z and fg do
            process.send_signal(signal.SIGCONT)
            half.sendall(body[1000:])
            for one in working:
                status, fields, text = one.result()
                self.assertEqual((status, len(json.loads(text)["queries"])), (200, 2000))
            self.assertTrue(half.recv(12).startswith(b"HTTP/1.1 200"))
        self.assertEqual(idle.recv(1), b"")
        idle.close()
        half.close()
        self.assertEqual(process.wait(timeout=harness.HANGS), 0)
        with self.assertRaises(OSError):
            self.get("/v2/health/live")

    def test_starts_again_after_it_was_killed(self):
        model = self.fit("m.model")
        process = self.serve("--model", model)
        want = self.post("/rank", self.body())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        again = self.start("serve", "--model", model, "--listen", f"127.0.0.1:{self.port}", "--quiet")
        self.assertIn(b"serve at", again.stderr.readline())
        self.assertEqual(self.post("/rank", self.body()), want)


class Limits(ServeCommand):
    def setUp(self):
        super().setUp()
        self.model = self.fit("m.model")

    def test_malformed_and_oversized(self):
        self.serve("--model", self.model, "--max-body", "100kB", "--access-log", "log")
        host = b"Host: 127.0.0.1:%d\r\n" % self.port
        for data, status in (
                (b"\x16\x03\x01\x02\x00\x01\x00 this is TLS\r\n\r\n", b"400"),
                (b"GET\r\n\r\n", b"400"),
                (b"GET / HTTP/9.9\r\n\r\n", b"400"),
                (b"POST /rank HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n", b"400"),
                (b"POST /rank HTTP/1.1\r\n" + host + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
                (b"POST /rank HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", b"400"),
                (b"GET / HTTP/1.1\r\nx: " + b"y" * 9000 + b"\r\n\r\n", b"431"),
                (b"POST /rank HTTP/1.1\r\n" + host + b"Content-Length: 200000\r\n\r\n" + b" " * 200000, b"413"),
                (b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", b"421"),
                (b"POST /rank HTTP/1.1\r\n" + host + b"Origin: http://evil.example\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
                 b"403")):
            with self.subTest(data=data[:60]):
                self.assertTrue(self.raw(data).startswith(b"HTTP/1.1 " + status), status)
        self.assertEqual(self.raw(b"POST /rank HTTP/1.1\r\n" + host + b"Content-Length: 9\r\n\r\n{", half_close=True)[:12], b"HTTP/1.1 400")
        self.assertIn(b"100 Continue", self.raw(b"POST /rank HTTP/1.1\r\n" + host + b"Expect: 100-continue\r\nConnection: close\r\n"
                                                b"Content-Length: 12\r\n\r\n{\"rows\": []}"))
        chunked = self.raw(b"POST /rank HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                           b"c\r\n{\"rows\": []}\r\n0\r\n\r\n")
        self.assertTrue(chunked.startswith(b"HTTP/1.1 200"), chunked)
        self.assertEqual(self.get("/v2/health/live"), {"live": True})
        self.wait_until(lambda: b"/v2/health/live" in self.read("log"), self)
        lines = [json.loads(line) for line in self.read("log").splitlines()]
        self.assertEqual(sorted(lines[0]), ["method", "queue_ms", "remote", "request_bytes", "response_bytes", "status", "target",
                                            "time", "total_ms"])
        self.assertEqual({line["status"] for line in lines}, {200, 400, 403, 413, 421, 431})

    def poll(self):  # for wait_until
        return None

    def test_idle_and_slow_clients_keep_nobody_out(self):
        self.serve("--model", self.model, "--max-connections", "100")
        links = []
        for i in range(1000):
            link = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(link.close)
            links.append(link)
            if i % 2:
                with contextlib.suppress(OSError):
                    link.sendall(b"POST /rank HTTP/1.1\r\nContent-Le")  # slow-loris
            if i % 100 == 0:
                self.assertEqual(self.get("/v2/health/live"), {"live": True})
        self.assertEqual(self.get("/v2/health/live"), {"live": True})

    def test_a_full_queue_is_refused_at_once(self):
        process = self.serve("--model", self.model, "--threads", "1", "--queue", "2")
        body = json.dumps({"queries": [{"rows": TEST}] * 2000})
        begin, refused, served = threading.Event(), [], []

        def send():
            with contextlib.closing(self.link()) as link:
                link.connect()
                begin.wait()
                status, fields, text = self.request("POST", "/rank", body, link=link)
            if status == 503:
                refused.append((fields["Retry-After"], json.loads(text)["detail"]))
            else:
                served.append(status)
        threads = [threading.Thread(target=send) for _ in range(20)]
        for one in threads:
            one.start()
        begin.set()
        for one in threads:
            one.join()
        self.assertEqual(set(served), {200})
        self.assertGreater(len(refused), 5)
        self.assertEqual(set(refused), {("1", "found a full queue of requests")})
        self.assertEqual(self.get("/v2/health/live"), {"live": True})
        self.assertIn(b'status="503"', self.get("/metrics"))
        self.stop(process)

    def test_refuses_other_machines_without_a_secret(self):
        for words, message in (
                (["--listen", "0.0.0.0:0"], "--listen: other machines can reach 0.0.0.0:0, expected --token-file"),
                (["--listen", "here"], "--listen: found 'here', expected ADDRESS:PORT"),
                (["--certificate", self.model], "--certificate and --key: found one, expected both"),
                (["--client-roots", self.model], "--client-roots needs --certificate"),
                (["--candidates", "5"], "--candidates needs --collection"),
                (["--index", self.model], "--index needs --collection"),
                (["--model", self.model], "--model: found the name 'm' twice"),
                (["--model", "a b=" + str(self.model)], "found the name 'a b', expected letters"),
                (["--model", "-"], "--model: found standard input"),
                (["--queue", "0"], "--queue")):
            self.expect(2, "serve", "--model", self.model, *words, message=message)
        self.expect(2, "serve", message="--model is required")
        self.expect(3, "serve", "--model", self.train, message="train.csv")
        self.expect(3, "serve", "--model", self.model, "--token-file", self.file("t", b"short\n"), message="t:1:1: found no token")
        self.expect(3, "serve", "--model", self.model, "--certificate", self.train, "--key", self.train,
                    message="expected a certificate in PEM form")
        self.expect(1, "serve", "--model", self.model, "--access-log", "no/log", message="no/log: cannot be opened")


class Secure(ServeCommand):
    def setUp(self):
        super().setUp()
        if not shutil.which("openssl"):
            self.skipTest("needs openssl")
        self.model = self.fit("m.model")

    def openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], cwd=self.folder, check=True, capture_output=True)

    def certificates(self):
        """An authority, and certificates of the server and of a client that it signed."""
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key",
                     "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2")
        for name in ("server", "client"):
            self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key",
                         "-out", f"{name}.csr", "-subj", f"/CN={name}")
            self.file("names", b"subjectAltName=IP:127.0.0.1\n")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
                         f"{name}.pem", "-days", "2", "-extfile", "names")
        self.secure = ssl.create_default_context(cafile=self.folder / "ca.pem")

    def test_token(self):
        self.token = "0123456789abcdef"
        self.serve("--model", self.model, "--token-file", self.file("token", self.token.encode() + b"\n"))
        self.assertEqual(self.post("/rank", {"rows": []})["ranking"], [])
        self.token = "0123456789abcdeF"
        for path in ("/rank", "/explain", "/search", "/v2/models/m/infer", "/v2/repository/models/m/unload", "/v2/repository/index"):
            self.assertIn("token", self.post(path, {"rows": []}, 401)["detail"])
        self.get("/v2/models/m", 401)
        # Before its body is read, for which memory would be reserved.
        self.assertIn(b" 401 ", self.raw(b"POST /rank HTTP/1.1\r\nHost: a\r\nContent-Length: 60000000\r\n\r\n"))
        self.request("GET", "/metrics")
        self.token = ""
        self.post("/rank", {"rows": []}, 401)
        self.assertEqual(self.get("/v2/health/live"), {"live": True})
        self.assertIn(b"<title>rulerank serve</title>", self.get("/"))

    def test_tls(self):
        self.certificates()
        process = self.serve("--model", self.model, "--certificate", "server.pem", "--key", "server.key")
        link = self.link()
        self.addCleanup(link.close)
        for _ in range(3):  # on one connection
            self.assertEqual(self.post("/rank", {"rows": []}, link=link)["ranking"], [])
        large = {"features": NAMES, "queries": [{"rows": TEST}] * 300}
        self.assertEqual(len(self.post("/rank", large, link=link)["queries"]), 300)
        self.assertEqual(self.raw(b"GET / HTTP/1.1\r\n\r\n"), b"")
        self.stop(process)

    def test_client_certificates(self):
        self.certificates()
        process = self.serve("--model", self.model, "--certificate", "server.pem", "--key", "server.key", "--client-roots", "ca.pem")
        with self.assertRaises((ssl.SSLError, OSError, http.client.HTTPException)):
            self.get("/v2/health/live")
        self.secure.load_cert_chain(self.folder / "client.pem", self.folder / "client.key")
        self.assertEqual(self.get("/v2/health/live"), {"live": True})
        self.stop(process)


class Search(ServeCommand):
    DOCUMENTS = "".join(json.dumps({"_id": f"d{i}", "title": f"Shoe {i}", "text": f"{'red ' * (i % 3)}{'blue ' * (i % 2)}shoe number {i}"}) + "\n"
                        for i in range(40)).encode()

    def test_search_is_rank_of_a_query(self):
        """Ids, scores and titles are those of rank --query, by an index and without."""
        docs = self.file("docs.jsonl", self.DOCUMENTS)
        topics = self.file("topics.tsv", b"1\tred shoe\n2\tblue shoe\n")
        qrels = self.file("qrels", "".join(f"{q} 0 d{i} {i % 3}\n" for i in range(40) for q in (1, 2)).encode())
        self.expect(0, "features", docs, topics, "--qrels", qrels, "--out", "pool.csv", "--quiet")
        model = self.fit("text.model", "--members", "rules,linear", train="pool.csv")
        self.expect(0, "search", "text", "--collection", docs, "--index", "docs.index", "--quiet")
        for words in (["--collection", docs], ["--collection", docs, "--index", "docs.index"]):
            process = self.serve("--model", model, *words, "--candidates", "10")
            for query in ("red shoe", "blue", "number 7"):
                want = json.loads(self.expect(0, "rank", "--model", model, "--query", query, *words, "--candidates", "10", "--json",
                                              "--quiet").stdout)["documents"]
                got = self.post("/search", {"query": query, "explain": True})
                self.assertEqual([{"docid": one["id"], "score": one["score"], "title": one["title"]} for one in got["ranking"]], want)
                self.assertEqual(len(got["explanation"]["documents"]), len(want))
            self.assertEqual(self.post("/search", {"query": "unheard"})["ranking"], [])
            self.assertEqual(len(self.post("/search", {"query": "shoe", "top": 2})["ranking"]), 2)
            self.assertEqual(self.post("/search", {}, 400)["pointer"], "/query")
            self.assertIn("search", self.get("/v2")["extensions"])
            self.stop(process)


if __name__ == "__main__":
    harness.main()
