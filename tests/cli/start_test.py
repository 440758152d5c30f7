"""`start`: from documents and queries to a decision, labelled and judged over the page's protocol."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

import harness

COLLECTION = pathlib.Path(__file__).resolve().parents[2] / "docs/collection"


class Start(harness.CommandLine):
    LINE = ["start", "docs.jsonl", "topics.tsv", "--dir", "of", "--labels", 20, "--judged-queries", 4, "--listen", "127.0.0.1:0"]

    def setUp(self):
        super().setUp()
        for name in ("docs.jsonl", "topics.tsv"):
            shutil.copy(COLLECTION / name, self.folder)
        self.grades = {}
        for line in (COLLECTION / "qrels").read_text().splitlines():
            qid, _, document, grade = line.split()
            self.grades[qid, document] = int(grade)

    def test_documents_and_queries_in_the_wrong_order(self):
        # A pool that cannot be read ends the step after the warning.
        for folder in ("of", "right"):
            (self.folder / folder / "pool.txt").mkdir(parents=True)
        line = ["start", "--listen", "127.0.0.1:0", "--dir"]
        said = self.expect(3, *line, "of", "topics.tsv", "docs.jsonl", message="of/pool.txt").stderr.decode()
        self.assertRegex(said, r"warning: half of the queries \(docs\.jsonl\) have \d+ words or more, and no document \(topics\.tsv\) has more than \d+; check the order: rulerank start DOCS QUERIES\n")
        self.assertNotIn("wrong order", self.expect(3, *line, "right", "docs.jsonl", "topics.tsv", message="right/pool.txt").stderr.decode())

    def test_ids_of_missing_values(self):
        line = ["start", "--listen", "127.0.0.1:0", "--dir"]
        documents, topics = (self.folder / "docs.jsonl").read_text(), (self.folder / "topics.tsv").read_text()
        first, second = json.loads(documents.splitlines()[0])["id"], topics.splitlines()[1].split("\t")[0]
        self.file("na.jsonl", documents.replace(f'"id": "{first}"', '"id": "NA"', 1).encode())
        self.file("na.tsv", topics.replace(f"\n{second}\t", "\nNA\t", 1).encode())
        self.expect(3, *line, "a", "na.jsonl", "topics.tsv", message="na.jsonl:1:1: found the id NA, which stands for a missing value, expected another id")
        self.expect(3, *line, "b", "docs.jsonl", "na.tsv", message="na.tsv:2:1: found the id NA, which stands for a missing value, expected another id")
        for folder in ("a", "b"):
            self.assertFalse((self.folder / folder / "pool.txt").exists())

    def test_an_address_is_checked_before_the_first_step(self):
        line = ["start", "docs.jsonl", "topics.tsv", "--listen"]
        self.expect(2, *line, "127.0.0.1:99999", message="--listen: found '127.0.0.1:99999', expected ADDRESS:PORT")
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            said = self.expect(1, *line, address, message=f"cannot listen on {address}").stderr
        self.assertNotIn(b"step", said)

    def post(self, path, **body):
        host = f"127.0.0.1:{self.port}"
        link = http.client.HTTPConnection(host, timeout=harness.HANGS)
        link.request("POST", path, json.dumps({"labeller": "An", **body}), {
            "Origin": f"http://{host}", "Content-Type": "application/json", "X-Rulerank-Token": self.token})
        reply = link.getresponse()
        text = reply.read()
        link.close()
        self.assertEqual(reply.status, 200, text)
        return json.loads(text)

    def answer_page(self, most=None):
        """Gives the judgments as labels until `most` are given, or all are, and ends the page then."""
        state = self.post("/next")
        given = 0
        while state["state"] == "question" and given != most:
            question = state["question"]
            grade = self.grades.get((question["qid"], question["docid"]), 0)
            state = self.post("/answer", document=question["document"], answer=grade)
            given += 1
        if state["state"] == "done":
            self.post("/finish")
        return given

    def run_with_labels(self, *line, stop_after=None):
        """Runs the line, answers each page that it opens, and gives its process, what it said, and the answers by page."""
        process = subprocess.Popen([harness.PROGRAM, *map(str, line)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        said, given = "", []
        for raw in process.stderr:
            said += raw.decode()
            found = re.search(r"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})$", raw.decode().strip())
            if found:
                self.port, self.token = int(found[1]), found[2]
                given.append(self.answer_page(stop_after))
                if stop_after is not None:
                    process.send_signal(signal.SIGTERM)
        output = process.stdout.read().decode()
        return process.wait(timeout=harness.HANGS), output, said, given

    def test_from_documents_to_a_decision(self):
        code, output, said, given = self.run_with_labels(*self.LINE)
        self.assertEqual(code, 0, said)
        self.assertEqual(given, [20, 40])
        self.assertNotIn("below --max-documents", said)
        self.assertIn("step 1 of 11: compute the features", said)
        self.assertRegex(output, r"^NDCG@5 over 4 queries: card [.0-9]+, BM25 [.0-9]+, p = [.0-9]+ \(paired t\)\n(Undecided|Deploy|Keep)")
        # Each line that was shown is a command of its own, and the folder has what evaluate makes of the judgments.
        lines = re.findall(r"^rulerank: \$ rulerank (.*)$", said, re.MULTILINE)
        self.assertEqual([line.split()[0] for line in lines], ["features", "label", "fit", "inspect", "features", "rank", "fuse",
                                                              "features", "label", "rank", "evaluate"])
        self.assertIn("origin: rulerank features", self.read("of/card.html").decode())
        why = re.search("^To see why a document ranks where it does: rulerank (.*)$", output, re.MULTILINE)[1]
        self.assertIn(b"rank 1 of 10", self.expect(0, *why.split()).stdout)
        # A held-out query gets the scores of its pairs.
        qid, text = self.read("of/judge-queries.tsv").decode().splitlines()[0].split("\t")
        line = re.search("^To rank documents for any query: rulerank (.*)$", output, re.MULTILINE)[1].split()
        line[line.index("TEXT")] = text
        shown = json.loads(self.expect(0, *line, "--candidates", 20, "--json").stdout)["documents"]
        rows = [row.split(b" ") for row in self.read("of/card.run").splitlines() if row.startswith(qid.encode() + b" ")]
        self.assertEqual([(d["docid"], d["score"]) for d in shown], [(row[2].decode(), float(row[4])) for row in rows])
        titles = {d["id"]: d["title"] for d in map(json.loads, self.read("docs.jsonl").splitlines())}
        self.assertEqual([d["title"] for d in shown], [titles[d["docid"]] for d in shown])
        table = self.expect(0, *line, "--candidates", 2).stdout.decode().splitlines()
        self.assertEqual(len(table), 2)
        self.expect(2, *line[:-2], message="--query needs --collection")
        self.expect(2, *line, "--test", "of/judged.txt", message="--query cannot be combined with --test or --run")
        before = self.read("of/evaluation.json")
        self.expect(0, *lines[-1].split())
        self.assertEqual(self.read("of/evaluation.json"), before)
        figures = {system["name"]: system["averages"]["NDCG@5"] for system in json.loads(before)["systems"]}
        self.assertIn(f"card {figures['card']:.4f}, BM25 {figures['feature BM25_of_document']:.4f}", output)
        # Called again, it has nothing to do but to say so.
        again = self.expect(0, "start", "--dir", "of", "--json")
        self.assertEqual(json.loads(again.stdout)["card"], figures["card"])
        self.assertNotIn(b"step", again.stderr)
        self.assertIn(f"\nThe card is {json.loads(again.stdout)['portability']}.\n", output)
        # Queries are held out: nothing of them was labelled.
        held = {line.split(b"\t")[0] for line in self.read("of/judge-queries.tsv").splitlines()}
        labelled = set(re.findall(rb"qid:(\S+)", self.read("of/labelled.txt")))
        self.assertEqual((len(held), held & labelled), (4, set()))

    def test_all_held_out_queries_are_judged(self):
        line = [10 if before == "--judged-queries" else word for before, word in zip([None, *self.LINE], self.LINE)]
        # With this seed the rules run dry after eight queries.
        code, output, said, given = self.run_with_labels(*line, "--seed", 4)
        self.assertEqual((code, given), (0, [20, 100]), said)
        self.assertNotIn("below --max-documents", said)
        held = {line.split(b"\t")[0] for line in self.read("of/judge-queries.tsv").splitlines()}
        judged = re.findall(rb"^\d+ qid:(\S+)", self.read("of/judged.txt"), re.MULTILINE)
        self.assertEqual((len(held), len(judged), set(judged)), (10, 100, held))
        self.assertTrue(output.startswith("NDCG@5 over 10 queries: "), output)

    def test_goes_on_where_it_was_stopped(self):
        code, _, said, given = self.run_with_labels(*self.LINE, stop_after=7)
        self.assertEqual((code, given), (130, [7]), said)
        self.assertFalse((self.folder / "of/labelled.txt").exists())
        # The folder of a version without --encoding goes on.
        settings = json.loads(self.read("of/start.json"))
        del settings["encoding"]
        self.file("of/start.json", json.dumps(settings).encode())
        self.expect(2, "start", "--dir", "of", "--encoding", "KOI8-R", message='--encoding "KOI8-R": of was started with "", expected the same')
        code, _, said, given = self.run_with_labels("start", "--dir", "of", "--listen", "127.0.0.1:0")
        self.assertEqual((code, given), (0, [13, 40]), said)
        self.assertIn("step 2 of 11: label 20 documents", said)
        self.assertNotIn("step 1 of 11", said)

    def test_a_pool_with_fewer_documents_than_labels(self):
        code, _, said, given = self.run_with_labels(*self.LINE[:5], "--labels", 5000, *self.LINE[7:], stop_after=1)
        self.assertEqual((code, given), (130, [1]), said)
        pool = self.read("of/pool.txt").count(b"\n")
        self.assertIn(f"label {pool} documents in a browser", said)
        self.assertNotIn("warning", said)
        self.assertNotIn("ran dry", said)

    def test_a_step_that_fails_says_where_it_goes_on(self):
        documents = self.read("docs.jsonl")
        self.file("docs.jsonl", b'{"id": 1}\n')
        failed = self.expect(3, *self.LINE, message="docs.jsonl:1:1: found no text")
        self.assertIn(b"step 1 of 11 is not finished; rulerank start --dir of continues here", failed.stderr)
        # Until the pool is there, another line may begin anew.
        self.file("docs.jsonl", documents)
        code, _, said, given = self.run_with_labels(*self.LINE, "--seed", 2, stop_after=1)
        self.assertEqual((code, given), (130, [1]), said)
        self.assertEqual(said.count("interrupted"), 1, said)
        self.assertIn("step 2 of 11 is not finished; rulerank start --dir of continues here", said)
        self.expect(2, "start", "--dir", "of", "--labels", 7, message="--labels 7: of was started with 20, expected the same value, or a different --dir")
        os.utime(self.folder / "docs.jsonl", (1, 1))
        code, _, said, given = self.run_with_labels("start", "--dir", "of", "--listen", "127.0.0.1:0", "--seed", 2, stop_after=1)
        self.assertEqual((code, given), (130, [1]), said)  # another time, the same text
        documents = self.read("docs.jsonl")
        self.file("docs.jsonl", documents[:-3] + b"x" + documents[-2:])
        self.expect(3, "start", "--dir", "of", message="docs.jsonl:1:1: found texts that changed since of was started")
        self.file("docs.jsonl", documents)
        settings = json.loads(self.read("of/start.json"))
        settings["documents_state"].pop()  # as earlier versions wrote it
        self.file("of/start.json", json.dumps(settings).encode())
        self.expect(3, "start", "--dir", "of", message="docs.jsonl:1:1: found texts that changed since of was started")
        with open(self.folder / "docs.jsonl", "ab") as file:
            file.write(b'{"id": "new", "text": "bread"}\n')
        self.expect(3, "start", "--dir", "of", message="docs.jsonl:1:1: found texts that changed since of was started")
        self.file("of/start.json", b"{}")
        self.expect(3, "start", "--dir", "of", message="of/start.json:1:1: found different JSON, expected what rulerank start wrote")

    def test_wrong_usage(self):
        self.file("few.tsv", b"1\tone\n2\ttwo\n3\tthree\n")
        self.expect(2, "start", message="found no ranking/start.json, expected documents and queries: rulerank start DOCS QUERIES")
        self.expect(2, "start", "docs.jsonl", message="QUERIES is missing")
        self.expect(3, "start", "docs.jsonl", "few.tsv", message="few.tsv:1:1: found 3 queries, expected 4 or more")
        self.expect(3, "start", "nope.jsonl", "topics.tsv", message="nope.jsonl")
        self.expect(2, "start", "docs.jsonl", "topics.tsv", "--label-names", "bad,bad", message="expected two or more different names")
        self.assertFalse((self.folder / "ranking/start.json").exists())


if __name__ == "__main__":
    harness.main()
