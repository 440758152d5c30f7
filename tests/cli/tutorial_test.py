"""The story of docs/tutorials/fifty-labels.md from documents to a decision, on the drawn collection and on Cranfield: pool, 50 labels,
model, comparison with BM25, explanation, a new query; its scripts, its pictures and the demo that shows it."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest.mock
import xml.etree.ElementTree

import harness

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS / "tutorials/fifty-labels"))
import demo  # noqa: E402

DRAWN = DOCS / "collection"
LABELS, CANDIDATES, BASELINE = 50, 50, "BM25_of_document"


class Tutorial(harness.CommandLine):
    def script(self, name, *words, code=0, **options):
        program = pathlib.Path(harness.PROGRAM)
        done = subprocess.run([sys.executable, DOCS / "tutorials/fifty-labels" / name, *map(str, words)], cwd=self.folder, check=False,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.HANGS,
                              env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def story(self, documents, topics, qrels):
        """Runs the steps of the page up to the rankings: pool.txt, held.txt, answers.tsv, mine.model, mine.scores."""
        for name, of in ("ours", topics[0::2]), ("held", topics[1::2]):
            self.file(f"{name}.tsv", "".join(f"{qid}\t{text}\n" for qid, text in of).encode())
        text = ["--collection", *documents, "--candidates", CANDIDATES, "--quiet"]
        self.expect(0, "features", *text, "--topics", "ours.tsv", "--out", "pool.txt")
        self.expect(0, "features", *text, "--topics", "held.tsv", "--qrels", qrels, "--out", "held.txt")
        pool = self.read_text("pool.txt").splitlines()
        self.assertEqual({line.split()[0] for line in pool}, {"-1"})
        known = {(q, d): max(int(g), 0) for q, _, d, g in map(str.split, pathlib.Path(qrels).read_text().splitlines())}
        pairs = [(line.split()[1][4:], re.search(r"docid = (\S+)", line)[1]) for line in pool]
        self.file("answers.tsv", ("line\tlabel\n" + "".join(
            f"{i}\t{known.get(pair, 'skip')}\n" for i, pair in enumerate(pairs))).encode())
        self.expect(0, "reduce", "--train", "pool.txt", "--unlabelled", -1, "--norm", "query-minmax", "--max-documents",
                    LABELS, "--oracle", "file:answers.tsv", "--out", "labelled.txt", "--quiet")
        labelled = [line.split() for line in self.read_text("labelled.txt").splitlines()]
        self.assertEqual(len(labelled), LABELS)
        self.assertTrue(all(int(words[0]) == known[words[1][4:], words[-4]] for words in labelled))
        self.expect(0, "fit", "--train", "labelled.txt", "--pool", "pool.txt", "--unlabelled", -1, "--model", "mine.model")
        self.expect(0, "rank", "--model", "mine.model", "--test", "held.txt", "--unlabelled", -1, "--out", "mine.scores")
        held = self.read_text("held.txt").splitlines()
        self.file("bm25.scores", "".join(re.search(rf" {BASELINE}:(\S+)", line)[1] + "\n" for line in held).encode())
        for qid, ours in ((line.split()[1][4:], {q for q, _ in pairs}) for line in held):
            self.assertNotIn(qid, ours)

    def decision(self):
        """NDCG@10 of each system; the comparison has p values."""
        found = json.loads(self.expect(
            0, "evaluate", "--test", "held.txt", "--unlabelled", -1, "--profile", "trec", "--metrics", "NDCG@10", "--scores",
            "bm25.scores", "mine.scores", "--compare", "paired-t,fisher", "--json").stdout)
        result = found["comparison"]["results"][0]
        self.assertTrue(0 <= result["paired-t"]["p"] <= 1)
        means = {one["name"]: one["averages"]["NDCG@10"] for one in found["systems"]}
        self.assertAlmostEqual(result["difference"], means["mine"] - means["bm25"], 12)
        return means

    def new_query(self, documents, words):
        """A query without judgments is answered with its qid and the ids of documents, the best first."""
        self.file("new.tsv", f"new\t{words}\n".encode())
        lines = self.expect(0, "features", "--collection", *documents, "--topics", "new.tsv", "--candidates", 20, "--out", "-",
                            "--quiet").stdout.decode().replace("-1 qid", "qid")
        run = self.expect(0, "rank", "--model", "mine.model", "--test", "-", "--out", "new.scores", "--run", "-",
                          input=lines.encode()).stdout.decode().splitlines()
        rows = [line.split() for line in run]
        self.assertEqual({row[0] for row in rows}, {"new"})
        self.assertEqual([int(row[3]) for row in rows], list(range(1, len(rows) + 1)))
        self.assertEqual([float(row[4]) for row in rows], sorted((float(row[4]) for row in rows), reverse=True))
        self.assertEqual({row[2] for row in rows}, set(re.findall(r"docid = (\S+)", lines)))
        return rows

    def explanation(self):
        """The terms that the picture shows, and the score, are of one sum."""
        qid = self.read_text("held.txt").split()[1][4:]
        said = self.expect(0, "explain", "--model", "mine.model", "--test", "held.txt", "--unlabelled", -1, "--qid", qid,
                           "--json").stdout.decode()
        found = json.loads(said)
        terms = found["document"]["terms"]
        self.assertEqual(sum(term["adds"] for term in terms), found["document"]["score"])
        self.script("bars.py", "explanation", "explanation.svg", input=said)
        texts = [one.text for one in xml.etree.ElementTree.parse(self.folder / "explanation.svg").iter() if one.text]
        most = max(terms, key=lambda term: abs(term["adds"]))
        self.assertIn(most["name"].replace("_", " "), texts)
        self.assertIn(f"{most['adds']:+.3f}", texts)

    CURVE = ["curve.py", "--pool", "pool.txt", "--answers", "answers.tsv", "--held", "held.txt", "--feature", BASELINE]

    def curve(self, means):
        """The curve's last point and its level are the decision's two systems; it says where the method loses."""
        shown = self.script(*self.CURVE, "--labels", f"20,{LABELS}", "--draws", 1, "--out", "curve.svg")
        rows = dict(re.findall(r"^(\S.*?)  +(\d\.\d{4})  #+$", shown, re.M))
        self.assertEqual(float(rows[BASELINE]), round(means["bm25"], 4))
        self.assertEqual(float(rows[f"{LABELS} labels, chosen"]), round(means["mine"], 4))
        answers = sum(row.rpartition("\t")[2].isdigit() for row in self.read_text("answers.tsv").splitlines())
        self.assertEqual(set(rows), {BASELINE, f"all {answers} labels", *(
            f"{n} labels, {way}" for n in (20, LABELS) for way in ("chosen", "random", "ridge, chosen"))})
        self.assertIn("Where the method, fit on chosen documents, loses: ", shown)
        return shown

    def test_every_step_of_the_page_has_a_picture(self):
        page = (DOCS / "tutorials/fifty-labels.md").read_text()
        steps = re.split(r"^## (?=\d\. )", page, flags=re.M)[1:]
        self.assertEqual(len(steps), 8)
        for step in steps:
            with self.subTest(step.splitlines()[0]):
                found = re.findall(r"^!\[[^]]+\]\((\S+)\)$", step, re.M)
                self.assertTrue(found)
                for name in found:
                    self.assertTrue((DOCS / "tutorials" / name).is_file(), name)

    def test_pictures_with_a_row_a_topic(self):
        def drawn(kind, *more, lines):
            self.script("rows.py", kind, f"{kind}.svg", "a <title>", *more, input=lines)
            return xml.etree.ElementTree.parse(self.folder / f"{kind}.svg")

        texts = [one.text for one in drawn("halves", lines="learn\tT1\ta & b\nlearn\tT3\tc\njudge\tT2\td\n").iter()]
        for words in "a <title>", "2 to learn by", "1 to judge by", "T1 a & b", "T3 c", "T2 d":
            self.assertIn(words, texts)
        lines = "-1 qid:T1 f:1 x:5 #docid = A\n-1 qid:T1 x:7 #docid = B\n-1 qid:T2 x:6 #docid = C\n"
        paths = [one.get("d") for one in drawn("pool", "x", lines=lines).iter() if one.tag.endswith("path")]
        self.assertEqual([path.count("M") for path in paths], [2, 1])
        left, right = (float(x) for x in re.findall(r"M(\S+) ", paths[0]))
        self.assertAlmostEqual(float(re.search(r"M(\S+) ", paths[1])[1]), (left + right) / 2)
        self.script("rows.py", "pool", "o.svg", "t", "y", input=lines, code=1)
        scores = "".join(f"{score} {label} qid:{topic} x:1\n" for topic, score, label in
                         [("T1", .5, 0), ("T1", 2, 2), ("T1", -1, -1), ("T2", 0, 1), *[("T2", -1, 0)] * 10])
        squares = [one.get("fill") for one in drawn("ranking", lines=scores).iter() if one.get("stroke") == "#999"]
        of = {0: "#d9d9d9", 1: "#8fc7b1", 2: "#0b6e4f", -1: "#fff"}
        self.assertEqual(squares[:-4], [of[2], of[0], of[-1], of[1], *[of[0]] * 9])  # behind them the legend

    def test_the_drawn_collection(self):
        topics = [line.split("\t") for line in (DRAWN / "topics.tsv").read_text().splitlines()]
        self.story([DRAWN / "docs.jsonl"], topics, DRAWN / "qrels")
        means = self.decision()
        # On these notes nothing is gained over BM25, and little is lost.
        self.assertLess(abs(means["mine"] - means["bm25"]), .03)
        self.assertEqual(self.new_query([DRAWN / "docs.jsonl"], "bread yeast for a beginner")[0][2][0], "N")
        self.explanation()
        shown = self.curve(means)
        self.assertIn("all 486 labels  ", shown)
        svg = xml.etree.ElementTree.parse(self.folder / "curve.svg")
        self.assertIn("fit, random documents", [one.text for one in svg.iter()])
        self.file("answers.tsv", b"line\tlabel\n0\tskip\n")
        self.assertIn("rulerank: error: ", self.script(*self.CURVE, "--labels", LABELS, code=1))

    def demo(self, page):
        self.file("page.md", page.encode())
        with contextlib.redirect_stdout(io.StringIO()) as shown, \
                unittest.mock.patch.object(demo, "PAGE", self.folder / "page.md"), \
                unittest.mock.patch.object(sys, "argv", ["demo.py", harness.PROGRAM, str(self.folder / "demo")]):
            demo.main()
        return shown.getvalue()

    def test_the_demo_shows_prose_and_commands_and_the_curve_last(self):
        shown = self.demo('# A page\n<!-- example: ln -s "$COLLECTION/.." docs -->\n\n```console\n$ echo one\nold\n```\n\n'
                          f"See [this\npage](x.md).\n\n## Curve\n\n```console\n$ {demo.CURVE} --help | head -1\n```\n\n"
                          "![A line](x.svg)\n\n## End\n\n**Two** <!-- not shown -->\n\n```console\n$ touch \\\n>   p.svg\n```\n")
        self.assertRegex(shown, r"\A.*comes last\.\n\n# A page\n\n\$ echo one\none\n\nSee this page\.\n\n## End\n\nTwo\n\n"
                         r"\$ touch \\\n>   p\.svg\n\n## Curve\n\n\$ python3 .*--help \| head -1\nusage: curve\.py.*\n\n"
                         r"\(A picture on the page: A line\.\)\n\nThe pictures are .*/demo/p\.svg\.\n\Z")
        with self.assertRaisesRegex(SystemExit, "this command ended with 3"):
            self.demo("```console\n$ (exit 3)\n```\n")
        self.assertIn(demo.CURVE, demo.sections(demo.PAGE.read_text())[-1])

    def test_the_demo_of_the_page_itself(self):
        """Its last words are the page's curve, where the method loses, and the pictures that the page shows."""
        page = demo.PAGE.read_text()
        shown = self.demo(page)
        tail = shown[shown.index("\n## 5. What labels are worth\n"):]
        self.assertEqual(shown.rindex("\n## "), len(shown) - len(tail))
        self.assertIn("\nrulerank: asked about 135 documents, 85 of them skipped\n", shown)
        curve = re.search(r"^NDCG@10 of held-out topics$.*?^Where the method, fit on chosen documents, loses: .*?$", page,
                          re.M | re.S)[0]
        self.assertIn(f"\n{curve}\n", tail)
        self.assertEqual(re.findall(r"/demo/(\w+)\.svg", tail.rpartition("\nThe pictures are ")[2]),
                         sorted(re.findall(r"\(tutorial/(\w+)\.svg\)", page)))

    def test_cranfield(self):
        cranfield = self.real("text/cranfield")
        texts = re.split(r"^\.I .*$", (cranfield / "cran.qry").read_text(), flags=re.M)[1:]
        topics = [(i, " ".join(text.replace(".W", "").split())) for i, text in enumerate(texts, 1)]
        rows = [line.split() for line in (cranfield / "QRelsCorrectedforTRECeval").read_text().splitlines() if line.strip()]
        self.file("qrels", "".join(f"{q} 0 {d} {0 if g == '5' else g}\n" for q, _, d, g in rows).encode())
        self.story([cranfield / "cran.all.1400"], topics, self.folder / "qrels")
        means = self.decision()
        self.assertGreater(means["mine"], .2)
        self.curve(means)
        self.new_query([cranfield / "cran.all.1400"], "flutter of thin wings")
        self.explanation()


if __name__ == "__main__":
    harness.main()
