"""The verb label without a browser: valid and hostile requests over the socket, kill -9 and resuming. label_page_test.py uses a
browser."""

import http.client
import itertools
import json
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import harness
from harness import Row
from labels_test import draw

HOSTILE = ('<script>document.title="taken"</script><img src="http://elsewhere.example/x.png" '
           'onerror="document.title=\'taken\'"> &amp; </p>')


class LabelServer(harness.CommandLine):
    COMMON = ["--device", "cpu", "--method", "width", "--bins", "4", "--partitions", "3"]
    WHAT = ["label", "--pool", "pool", "--show", "docs.jsonl", "--topics", "topics.tsv", "--ids", "ids",
            "--max-label", "2", *COMMON]

    def setUp(self):
        super().setUp()
        self.labels, whole, pool = draw(60, 1)
        self.file("whole", whole)
        self.file("pool", pool)
        self.file("docs.jsonl", b"".join(
            json.dumps({"id": f"D{d}", "title": f"Wing {d} {HOSTILE}" if d % 2 else f"Wing {d}",
                        "text": f"{HOSTILE} The flow over winged bodies, number {d}. " + "More of the same. " * 60}).encode() +
            b"\n" for d in range(60)))
        self.file("topics.tsv", b"".join(b"%d\twings of shape %d\n" % (q, q) for q in range(6)))
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, "--ties", "seeded", "--out", "want", "--ids", "want.tsv")

    def serve(self, *more, **options):
        """Starts the program and waits for its address."""
        self.process = subprocess.Popen([harness.PROGRAM, *self.WHAT, "--listen", "127.0.0.1:0", *more], cwd=self.folder,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        for line in self.process.stderr:
            found = re.search(rb"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})$", line.strip())
            if found:
                self.port, self.token = int(found[1]), found[2].decode()
                self.address = found[0].decode()
                return
        self.fail(f"no address, exit status {self.process.wait(timeout=harness.HANGS)}")

    def request(self, path, body=b"", method="POST", **fields):
        """Status and body of a response; fields of None are left out."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Origin": f"http://127.0.0.1:{self.port}",
                "Content-Type": "application/json", "X-Rulerank-Token": self.token}
        sent.update({name.replace("_", "-"): value for name, value in fields.items()})
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.HANGS)
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    link.putheader(name, value)
            link.putheader("Content-Length", str(len(body)))
            link.endheaders(body)
            reply = link.getresponse()
            return reply.status, reply.read()
        finally:
            link.close()

    def post(self, path, labeller="An", **body):
        status, reply = self.request(path, json.dumps({"labeller": labeller, **body}).encode())
        self.assertEqual(status, 200, reply)
        return json.loads(reply)

    def answer(self, state, labeller="An"):
        document = state["question"]["document"]
        return self.post("/answer", labeller, document=document, answer=self.labels[document])

    def expect_result(self):
        self.assertEqual(self.process.wait(timeout=harness.HANGS), 0)
        self.assertEqual((self.read("pool.labelled"), self.read("ids")), (self.read("want"), self.read("want.tsv")))


class Label(LabelServer):
    def test_the_same_documents_in_the_same_order_as_at_a_terminal(self):
        self.serve()
        order, state = [], self.post("/next")
        while state["state"] == "question":
            order.append(state["question"]["document"])
            self.assertEqual(state["question"]["query"], f"wings of shape {order[-1] // 10}")
            self.assertIn(["winged", True], state["question"]["passage"])
            state = self.answer(state)
        ids = [int(row.split(b"\t")[0]) for row in self.read("want.tsv").splitlines()[1:]]
        self.assertEqual(order, list(dict.fromkeys(ids)))
        self.assertEqual(state["state"], "done")
        self.assertFalse((self.folder / "pool.labelled").exists())
        self.assertEqual(self.post("/finish"), {"state": "ended", "out": "pool.labelled"})
        self.expect_result()
        # All answers are there: the same line has nothing to ask.
        self.expect(0, *self.WHAT, "--out", "again")
        self.assertEqual(self.read("again"), self.read("want"))

    def test_a_program_gives_a_second_opinion(self):
        judges = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/judges"
        # The program is right about even documents and always says 0 about the others.
        self.file("qrels", "".join(f"{d // 10} 0 D{d} {label if d % 2 == 0 else 0}\n" for d, label in enumerate(self.labels)).encode())
        oracle = f"command:{sys.executable} {judges / 'noisy.py'} qrels --accuracy 1"
        self.serve("--oracle", oracle)
        state, answered = self.post("/next"), []
        while state["state"] == "question":
            answered.append(state["question"]["document"])
            state = self.answer(state)
        status, _ = self.request("/next", b'{"labeller":"program"}')
        self.assertEqual(status, 400)
        self.assertEqual(self.post("/finish")["state"], "ended")
        errors = self.process.stderr.read().decode()
        self.expect_result()  # the program's labels do not count
        equal = sum(d % 2 == 0 or self.labels[d] == 0 for d in answered)
        self.assertIn(f"the program gives {100 * equal / len(answered):.1f} % of {len(answered)} documents the label of people (kappa", errors)
        rows = [line.split("\t") for line in self.read("pool.answers").decode().splitlines()[2:]]
        self.assertEqual(sorted(int(row[0]) for row in rows if row[3] == "program"), sorted(answered))
        self.assertEqual(self.read("pool.judged").count(b"\n"), len(answered) + 1)
        # agreement reads the answers
        told = json.loads(self.expect(0, "agreement", "pool.answers", "--pool", "pool", "--json").stdout)
        self.assertEqual((told["sources"], told["documents"]), (["An", "program"], len(answered)))
        self.assertAlmostEqual(told["equal"]["value"], equal / len(answered))
        # A second run shows where both differ.
        self.serve("--oracle", oracle, "--rule-size", "4", "--resume", "other")
        state = self.answer(self.post("/next"))
        self.expect(2, *self.WHAT, "--oracle", "file:x", message="--oracle: found 'file:x', expected command:CMD")
        self.expect(2, *self.WHAT, "--judge-calls", "3", message="--judge-calls needs --oracle command:CMD")

    def test_names_guidelines_and_goal_are_on_the_page(self):
        self.file("guide.txt", b"\xef\xbb\xbf2: answers the query\n\x1b[1m")
        names = [word for word in self.WHAT if word not in ("--max-label", "2")]
        self.WHAT = [*names, "--label-names", "not relevant,partly,relevant", "--guidelines", "guide.txt", "--max-documents", "7"]
        self.serve()
        state = self.post("/next")
        self.assertEqual((state["labelNames"], state["maxLabel"], state["goal"]), (["not relevant", "partly", "relevant"], 2, 7))
        self.assertEqual(state["guidelines"], "2: answers the query\n\\x1b[1m\n")
        self.process.kill()
        self.expect(2, *self.WHAT, "--max-label", "2", message="--label-names")
        self.expect(2, *names, "--label-names", "a,,b", message="found an empty name")
        self.expect(2, *names, "--label-names", "bad,0", message="found '0' as name of the label 1, expected a word or the label itself")
        self.expect(2, *names, "--label-names", "a,a", message="found 'a,a', expected two or more different names")
        self.file("guide.txt", b"gr\xf6\xdfe")
        self.expect(3, *self.WHAT, message="guide.txt:1:3: found the byte F6, expected UTF-8, but the text is perhaps")
        self.file("guide.txt", b"x" * 70000)
        self.expect(3, *self.WHAT, message="guide.txt:1:1: found 70000 bytes, expected at most 65536")

    def test_says_how_many_were_skipped(self):
        self.serve("--ties", "index")
        skipped = self.post("/next")["question"]["document"]
        state = self.post("/answer", document=skipped, answer=None)
        asked = 1
        while state["state"] == "question":
            state = self.answer(state)
            asked += 1
        self.post("/finish")
        said = self.process.communicate(timeout=harness.HANGS)[1].decode()
        self.assertEqual(self.process.returncode, 0)
        self.assertIn(f"rulerank: asked about {asked} documents, 1 of them skipped\n", said)
        lines = self.read("pool").splitlines()
        documents = [int(row.split(b"\t")[0]) for row in self.read("ids").splitlines()[1:]]
        self.assertEqual(len(self.read("pool.labelled").splitlines()), asked - 1)
        self.assertNotIn(skipped, documents)
        self.assertLess(asked, len(lines))

    def seconds_of_a_request(self):
        begin = time.monotonic()
        self.post("/next")
        return time.monotonic() - begin

    def test_killed_at_any_moment(self):
        """Answers come from two labellers while the program is killed; what was confirmed stays. However fast the
        machine is, half the documents are left for the end: a program without a question would not listen."""
        chance = random.Random(2)
        confirmed = set()
        asked = {int(row.split(b"\t")[0]) for row in self.read("want.tsv").splitlines()[1:]}
        for n in range(8 * harness.ATTEMPTS):
            if n >= 8 and confirmed:  # a machine that keeps this process waiting kills before the first answer
                break
            self.serve()
            killer = threading.Timer(chance.uniform(1, 30) * min(self.seconds_of_a_request() for _ in range(3)), self.process.kill)
            killer.start()
            try:
                for who in itertools.cycle(("An", "Bo")):
                    state = self.post("/next", who)
                    if len(confirmed) < len(asked) // 2:
                        document = state["question"]["document"]
                        self.answer(state, who)
                        confirmed.add((document, who))
            except (OSError, http.client.HTTPException):
                pass
            killer.cancel()
            self.process.kill()
            self.process.communicate()
            rows = {(int(line), who) for line, _, said, who, *_ in
                    (row.split("\t") for row in self.read("pool.answers").decode().splitlines()[2:])}
            self.assertLessEqual(confirmed, rows)
        self.assertGreater(len(confirmed), 0)
        self.serve()
        state = self.post("/next")
        while state["state"] == "question":
            state = self.answer(state)
        self.post("/finish")
        self.expect_result()

    def test_two_labellers_and_a_disagreement(self):
        self.serve("--answers", "2")
        first = self.post("/next", "An")["question"]["document"]
        self.post("/answer", "An", document=first, answer=0)
        self.assertEqual(self.post("/next", "Bo")["question"]["document"], first)
        state = self.post("/answer", "Bo", document=first, answer=None)
        self.assertEqual(state["disputes"][0]["answers"],
                         [{"labeller": "An", "answer": 0, "note": ""}, {"labeller": "Bo", "answer": None, "note": ""}])
        self.assertEqual(self.post("/undo", "Bo")["question"]["document"], first)
        for who in ("An", "Bo"):
            state = self.post("/answer", who, document=first, answer=self.labels[first])
        self.assertEqual(state["disputes"], [])
        waited = False
        for _ in range(300):
            states = [self.post("/next", who) for who in ("An", "Bo")]
            waited = waited or any(state["state"] == "waiting" for state in states)
            if states[0]["state"] == "done":
                break
            for who, state in zip(("An", "Bo"), states):
                if state["state"] == "question":
                    self.answer(state, who)
        self.post("/finish")
        self.expect_result()

    def test_ctrl_c_ends_it_and_loses_nothing(self):
        self.serve()
        state = self.post("/next")
        for _ in range(3):
            state = self.answer(state)
        open_link = http.client.HTTPConnection("127.0.0.1", self.port)
        open_link.connect()
        self.addCleanup(open_link.close)
        self.expect_stopped(self.process, signal.SIGINT)
        self.assertFalse((self.folder / "pool.labelled").exists())
        self.serve()
        self.assertEqual(self.post("/next")["question"]["document"], state["question"]["document"])

    def test_refusals_over_the_socket(self):
        self.serve()
        body = b'{"labeller":"An"}'
        self.assertEqual(self.request("/next", body)[0], 200)
        for fields, status in (({"Host": "evil.example"}, 421), ({"Host": None}, 421),
                               ({"Origin": "http://evil.example"}, 403), ({"Origin": None}, 403),
                               ({"Content_Type": "text/plain"}, 415), ({"X_Rulerank_Token": "0" * 32}, 401)):
            self.assertEqual(self.request("/next", body, **fields)[0], status, fields)
        self.assertEqual(self.request("/next", b"{" * 4000)[0], 400)
        self.assertEqual(self.request("/next", b" " * 5000)[0], 413)
        self.assertEqual(self.request("/", method="DELETE")[0], 405)
        status, page = self.request("/", method="GET")
        self.assertEqual(status, 200)
        self.assertEqual(self.request("/", method="HEAD"), (200, b""))
        self.assertNotIn(self.token.encode(), page)
        self.assertEqual(self.post("/next")["answers"], 0)

    def test_connections_that_send_nothing_keep_nobody_out(self):
        self.serve()
        state = self.post("/next")
        silent = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(200)]
        for one in silent:
            self.addCleanup(one.close)
        with harness.OwnSeconds(self.process.pid) as took:
            for _ in range(3):
                state = self.answer(state)
        self.assertEqual(state["answers"], 3)
        self.assertLess(took.seconds, 10 * harness.slowness())

    def test_with_few_file_descriptors_connections_that_send_nothing_keep_nobody_out(self):
        self.serve(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
        state = self.post("/next")
        worked = harness.processor_seconds(self.process.pid)
        for _ in range(200):
            silent = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(silent.close)
        for _ in range(3):
            state = self.answer(state)
        time.sleep(2)
        self.assertEqual(state["answers"], 3)
        self.assertLess(harness.processor_seconds(self.process.pid) - worked, 1 * harness.slowness())

    def test_an_answer_that_cannot_be_kept_is_refused(self):
        self.skip_where_files_cannot_be_limited()
        self.serve()
        self.answer(self.post("/next"))
        self.process.kill()
        self.process.communicate()
        limit = len(self.read("pool.answers")) + 3
        self.serve(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        document = self.post("/next")["question"]["document"]
        status, reply = self.request("/answer", json.dumps({"labeller": "An", "document": document, "answer": 1}).encode())
        self.assertEqual(status, 507, reply)
        self.assertIn(b"cannot be written", reply)
        self.assertEqual(self.post("/next")["question"]["document"], document)
        self.assertEqual(self.post("/next")["answers"], 1)

    def test_bad_input(self):
        pool = self.read("pool")
        line = "label --pool {in} --out {out} --resume {state} --device cpu --method width "
        journal = {"state": b""}
        self.check_rows([
            Row("an address", pool, line + "--listen nowhere", 2, "--listen: found 'nowhere'", journal),
            Row("a name", pool, line + "--listen example.com:80", 2, "expected ADDRESS:PORT", journal),
            Row("no topics", pool, line + "--show {in}", 2, "--show needs --topics", journal),
            Row("labels", b"0 qid:1 1:1\n1 qid:1 1:2\n", line, 2, "have labels", journal),
            Row("no journal", pool, line, 3, "{state}:1:1: found no journal", {"state": b"precious"}),
        ])
        with socket.create_server(("127.0.0.1", 0)) as holder:
            address = "127.0.0.1:%d" % holder.getsockname()[1]
            self.expect(1, *self.WHAT, "--listen", address, message=f"cannot listen on {address}: ")


if __name__ == "__main__":
    harness.main()
