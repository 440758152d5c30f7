"""docs/tutorials/fifty-labels.md: the shop that it generates, its steps on other collections, its scripts, its pictures and the demo that shows it."""

import collections
import contextlib
import csv
import hashlib
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
import pictures  # noqa: E402
import shop  # noqa: E402

DRAWN = DOCS / "collection"
LABELS, CANDIDATES, BASELINE = 50, 50, "BM25_of_document"
SHOP = "4435b3c0788bca5192ac495c9753a4ff8e3f9ce5ec5a8e5d985a0405e2be9bff"  # of the files of seed 1


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
        self.script("pictures.py", "explanation", "explanation.svg", "a title", input=said)
        texts = [one.text for one in xml.etree.ElementTree.parse(self.folder / "explanation.svg").iter() if one.text]
        most = max(terms, key=lambda term: abs(term["adds"]))
        self.assertIn(most["name"].replace("_", " "), texts)
        self.assertIn(f"{most['adds']:+g}", texts)

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
        self.assertRegex(shown, rf"\n{LABELS} labels, chosen: [-+]\d\.\d{{4}} \(p = ")
        self.assertRegex(shown, r"\nfit on chosen documents loses .*\.\n\Z")
        return shown

    def test_the_shop(self):
        """A seed has the same bytes everywhere; another seed has others. Grades, orders and queries are as shop.py states."""
        for folder, words in ("shop", []), ("again", [1]), ("other", [2]):
            self.script("shop.py", folder, *words)
        files = ["docs.jsonl", "topics.tsv", "qrels"]
        one, again, other = ([self.read(f"{folder}/{name}") for name in files] for folder in ("shop", "again", "other"))
        self.assertEqual(one, again)
        self.assertTrue(all(a != b for a, b in zip(one, other)))
        self.assertEqual(hashlib.sha256(b"".join(one)).hexdigest(), SHOP)
        kinds, queries, grades = shop.shop(1)
        documents = [json.loads(line) for line in self.read_text("shop/docs.jsonl").splitlines()]
        self.assertEqual(len(documents), 2400)
        self.assertEqual(list(documents[0]), ["id", "title", "text", *shop.COLUMNS])
        self.assertEqual(self.read_text("shop/qrels").count("\n"), len(documents) * len(queries))
        self.assertEqual(len({words for _, _, words in queries.values()}), 80)
        for kind in kinds:
            orders = sorted((product["orders"] for product in kind["products"]), reverse=True)
            self.assertEqual([orders[0], orders[9]], [2000, round(2000 * 10 ** -.871)])

    def test_the_grades_of_the_shop(self):
        """Over products of the query's type, of ten shops: shares of the grades, and the agreement of two assessors."""
        first, second = [], []
        for seed in range(101, 111):
            _, queries, grades = shop.shop(seed)
            chance = shop.Chance(seed)
            for topic, (kind, asked, _) in queries.items():
                first += [grades[topic, product["id"]] for product in kind["products"]]
                second += [shop.grade(chance, asked, product) for product in kind["products"]]
        shares = [first.count(grade) / len(first) for grade in range(4)]
        for share, expected in zip(shares, (.4, .35, .18, .07)):
            self.assertAlmostEqual(share, expected, delta=.03)
        agreed = sum(a == b for a, b in zip(first, second)) / len(first)
        counts = [collections.Counter(of) for of in (first, second)]
        chance = sum(counts[0][grade] * counts[1][grade] for grade in range(4)) / len(first) ** 2
        self.assertAlmostEqual((agreed - chance) / (1 - chance), .48, delta=.03)

    def test_columns(self):
        self.file("docs.jsonl", b'{"id": "A", "text": "one", "price": 1.5, "age": 3}\n'
                  b'{"id": "B", "text": "two", "price": 2, "age": 0}\n')
        shown = self.script("columns.py", "docs.jsonl")
        self.assertEqual(list(csv.reader(shown.splitlines())), [["docid", "price", "age"], ["A", "1.5", "3"], ["B", "2", "0"]])

    def test_the_page_shows_what_its_commands_draw(self):
        page = (DOCS / "tutorials/fifty-labels.md").read_text()
        shown = re.findall(r"\(fifty-labels/(\w+\.svg)\)", page)
        self.assertEqual(sorted(shown), sorted(path.name for path in (DOCS / "tutorials/fifty-labels").glob("*.svg")))
        for name in shown:
            self.assertIn(f" {name}", page)

    def test_the_decision_of_the_page_follows_from_its_figures(self):
        page = (DOCS / "tutorials/fifty-labels.md").read_text()
        difference, p = map(float, re.search(r"^NDCG@10  card +(\S+) +\d+ +\d+ +\d+ +\S+ +(\S+) ", page, re.M).groups())
        decision = "undecided" if p >= .05 else "to deploy the card" if difference > 0 else "to keep BM25"
        self.assertIn(f"**The decision is {decision}**", page)

    def test_pictures(self):
        def drawn(kind, lines):
            self.script("pictures.py", kind, f"{kind}.svg", "a <title>", input=lines)
            return list(xml.etree.ElementTree.parse(self.folder / f"{kind}.svg").iter())

        lines = "".join(f"{first} {second} {label} qid:{topic} x:1\n" for topic, first, second, label in
                        [("T1", .5, 1, 0), ("T1", 2, 3, 3), ("T1", -1, 2, -1), ("T2", 0, 1, 1), *[("T2", -1, 0, 0)] * 10])
        grades = [one.get("class") for one in drawn("ranking", lines) if one.tag.endswith("rect")]
        self.assertEqual(grades[:3] + grades[13:16], ["g3", "g0", "g0", "g3", "g0", "g0"])  # by the first scores, by the second
        self.assertEqual(grades[3], "g1")
        self.assertEqual(len(grades), 2 * (3 + pictures.FIRST) + 4)  # a legend comes last
        rows = "".join(f"{system}\t{query}\t{value}\n" for query, values in
                       [("T1", (.5, .75)), ("T2", (.5, .4)), ("T3", (.5, .5)), ("all", (.5, .55))]
                       for system, value in zip(("bm25", "card"), values))
        found = drawn("queries", "# a comment\nsystem\tquery\tNDCG@10\n" + rows)
        self.assertEqual([one.get("class") for one in found if one.tag.endswith("rect")], ["on", "off", "off"])
        texts = [one.text for one in found]
        for words in "a <title>", "better on 1 queries, most on T1", "worse on 1, most on T2", "+0.25", "-0.10":
            self.assertIn(words, texts)

    def test_notes_that_have_words_only(self):
        topics = [line.split("\t") for line in (DRAWN / "topics.tsv").read_text().splitlines()]
        self.story([DRAWN / "docs.jsonl"], topics, DRAWN / "qrels")
        means = self.decision()
        # Their words are all there is to know of these notes, so labels gain nothing over BM25, and lose little.
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

    def test_the_demo_shows_prose_and_commands(self):
        shown = self.demo('# A page\n<!-- example: ln -s "$COLLECTION/.." docs -->\n\n```console\n$ echo one\nold\n'
                          "$ touch \\\n>   p.svg\n```\n\nSee [this\npage](x.md).\n\n![A line](x.svg)\n\n## End\n\n- **Two** <!-- not shown -->\n- three\n")
        self.assertRegex(shown, r"\A# A page\n\n\$ echo one\none\n\n\$ touch \\\n>   p\.svg\n\n"
                         r"The files and pictures of this run are in .*/demo\.\n\nSee this page\.\n\n## End\n\n- Two \n- three\n\Z")
        self.assertTrue((self.folder / "demo/p.svg").is_file())
        with self.assertRaisesRegex(SystemExit, "this command ended with 3"):
            self.demo("```console\n$ (exit 3)\n```\n")

    def test_the_demo_ends_with_what_to_do_next(self):
        last = demo.plain(re.split(r"^(?=## )", demo.PAGE.read_text(), flags=re.M)[-1])
        self.assertIn("rulerank start docs.jsonl queries.tsv", last)
        self.assertNotIn("](", demo.plain(demo.PAGE.read_text()))

    def test_slow_cranfield(self):
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
