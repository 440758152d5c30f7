"""The verb fuse: fused runs, refused options, and files after errors."""

import gzip
import json

import harness
from harness import Row

TEXT = b"""q1 Q0 a 1 9.0 text
q1 Q0 b 2 7.5 text
q1 Q0 c 3 7.5 text
q1 Q0 d 4 -1 text
q2 Q0 x 1 2 text
"""
DENSE = b"""q1 Q0 c 1 0.9 dense
q1 Q0 e 2 0.8 dense
q1 Q0 a 3 0.1 dense
"""


def lines(text):
    return [line.split() for line in text.splitlines()]


class Fuse(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.runs = [self.file("text.run", TEXT), self.file("dense.run", DENSE)]

    def fuse(self, *more):
        found = {}
        for qid, q0, docno, rank, score, tag in lines(
                self.expect(0, "fuse", "--run", *self.runs, "--quiet", *more).stdout.decode()):
            self.assertEqual((q0, tag), ("Q0", "rulerank"))
            found.setdefault(qid, []).append((docno, float(score)))
            self.assertEqual(int(rank), len(found[qid]))
        return found

    def test_reciprocal_ranks(self):
        # Ranks are by score, of equal ones by their place: b is second, c third. b and e tie, b's run
        # comes first.
        rank = lambda *ranks: sum(1 / (60 + r) for r in ranks)
        self.assertEqual(self.fuse(), {
            "q1": [("a", rank(1, 3)), ("c", rank(3, 1)), ("b", rank(2)), ("e", rank(2)), ("d", rank(4))],
            "q2": [("x", rank(1))]})
        self.assertEqual(self.fuse("--rrf-k", 0)["q2"], [("x", 1.0)])
        self.assertEqual(self.fuse("--depth", 2)["q1"], self.fuse()["q1"][:2])
        self.assertEqual(self.fuse("--run-weights", "0,2")["q1"][:3],
                         [("c", 2 / 61), ("e", 2 / 62), ("a", 2 / 63)])

    def test_scores(self):
        self.assertEqual(self.fuse("--method", "combsum", "--norm", "none")["q1"],
                         [("a", 9.1), ("c", 8.4), ("b", 7.5), ("e", .8), ("d", -1)])
        self.assertEqual(dict(self.fuse("--method", "combmnz")["q1"]),
                         {"c": 3.7, "a": 2.0, "e": .875, "b": .85, "d": 0.0})
        self.assertEqual(dict(self.fuse("--method", "combsum", "--run-weights", "2,.5")["q1"])["c"],
                         2 * .85 + .5)
        self.assertEqual(self.fuse("--method", "combmax", "--distinct-scores")["q1"],
                         [("a", 5), ("c", 4), ("e", 3), ("b", 2), ("d", 1)])

    def test_files_and_threads(self):
        self.file("text.run.gz", gzip.compress(TEXT))
        done = self.expect(0, "fuse", "--run", "text.run.gz", "-", "--out", "both.run", "--tag", "both",
                           "--json", "--manifest", "m.json", input=DENSE,
                           message="rulerank: fused 2 runs into 6 documents of 2 queries; wrote both.run")
        summary = json.loads(done.stdout)
        self.assertEqual({key: summary[key] for key in ("runs", "queries", "documents", "method")},
                         {"runs": 2, "queries": 2, "documents": 6, "method": "rrf"})
        self.assertEqual(json.loads((self.folder / "m.json").read_text())["method"], "rrf")
        first = (self.folder / "both.run").read_text()
        self.assertTrue(first.startswith("q1 Q0 a 1 0.03226645849596669"))
        self.assertTrue(all(line[5] == "both" for line in lines(first)))
        for threads in (1, 3):
            self.expect(0, "fuse", "--run", *self.runs, "--tag", "both", "--out", "again.run",
                        "--threads", threads)
            self.assertEqual((self.folder / "again.run").read_text(), first)

    def test_a_query_that_a_run_lacks_is_told(self):
        self.expect(0, "fuse", "--run", *self.runs, "--out", "o",
                    message="dense.run: has 1 of 2 queries; the other queries are fused without this run")

    def test_runs_of_distances(self):
        """They rank as their negatives do, by each method and norm."""
        far = [("a", 1.5), ("e", 2), ("b", 2), ("d", 7)]
        near, turned = (self.file(name, "".join(f"q1 Q0 {docno} {rank} {sign * score} t\n" for rank, (docno, score)
                                                in enumerate(far, 1)).encode()) for name, sign in (("near", 1), ("turned", -1)))
        text = self.runs[0]
        for how in ([], ["--method", "combsum"], ["--method", "combmin", "--norm", "zmuv"], ["--method", "combmnz", "--norm", "none"],
                    ["--method", "combsum", "--norm", "borda"]):
            self.assertEqual(self.expect(0, "fuse", "--run", text, near, "--distances", near, *how).stdout,
                             self.expect(0, "fuse", "--run", text, turned, *how).stdout, how)
        self.expect(0, "fuse", "--run", text, near, "--out", "o", message="near: scores ascend in each query, as distances do")
        self.expect(0, "evaluate", "--qrels", self.file("judged", b"q1 0 a 1\n"), "--run", near,
                    message="near: scores ascend in each query, as distances do")
        done = self.expect(0, "fuse", "--run", text, near, "--distances", near, "--out", "o", message="fused 2 runs")
        self.assertNotIn(b"ascend", done.stderr)
        self.expect(2, "fuse", "--run", text, near, "--distances", "other", message="--distances: found 'other', expected one of the runs")
        self.expect(2, "fuse", "--run", text, near, "--distances", near, "--method", "combsum", "--norm", "max",
                    message="found norm max for distances, expected a")

    def test_bad_input(self):
        good = self.runs[0]
        start = f"fuse --run {{in}} {good} --out {{out}} "
        self.check_rows([
            Row("one run", TEXT, "fuse --run {in} --out {out}", 2,
                "--run: found 1 file, expected two or more"),
            Row("no run", b"", "fuse --out {out}", 2, "--run"),
            Row("twice standard input", b"", "fuse --run - - --out {out}", 2, "standard input"),
            Row("method", TEXT, start + "--method rff", 2, "did you mean rrf?"),
            Row("norm", TEXT, start + "--method combsum --norm minmax", 2, "did you mean min-max?"),
            Row("norm of ranks", TEXT, start + "--norm max", 2,
                "--norm has no effect with --method rrf, which uses ranks alone"),
            Row("k of scores", TEXT, start + "--method isr --rrf-k 3", 2,
                "--rrf-k cannot be combined with --method isr, expected rrf"),
            Row("k below 0", TEXT, start + "--rrf-k -1", 2, "--rrf-k"),
            Row("weights", TEXT, start + "--run-weights 1", 2,
                "--run-weights: found 1 number, expected one for each of 2 runs"),
            Row("weight below 0", TEXT, start + "--run-weights 1,-1", 2, "--run-weights"),
            Row("tag", TEXT, start + "--tag 'a b'", 2, "--tag: found 'a b', expected one word"),
            Row("output is an input", TEXT, f"fuse --run {{in}} {good} --out {good}", 2, "--out"),
            Row("empty", b"", start, 3, "{in}:1:1: found no documents"),
            Row("columns", b"q1 Q0 a 1\n", start, 3, "{in}:1:9: found 4 columns, expected 6"),
            Row("score", b"q1 Q0 a 1 x t\n", start, 3, "{in}:1:11: found 'x', expected a finite number"),
            Row("twice", b"q1 Q0 a 1 1 t\nq1 Q0 a 2 0 t\n", start, 3, "{in}:2:7: found document 'a'"),
            Row("beyond doubles", b"q1 Q0 a 1 1.7e308 t\nq1 Q0 b 2 -1.7e308 t\n",
                start + "--method combsum", 3,
                "{in}:1:1: found scores of query 'q1' that exceed a double with norm min-max and weight 1"),
        ])


if __name__ == "__main__":
    harness.main()
