"""The verb features: pools of pairs from text, joined columns, and how every verb reads unjudged pairs. The collection is
docs/collection, and Cranfield if it is available."""

import collections
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import harness
from harness import Row
from pipeline_test import cosine, npy, vectors

DRAWN = pathlib.Path(__file__).resolve().parents[2] / "docs/collection"
TEXT = ["--collection", DRAWN / "docs.jsonl", "--topics", DRAWN / "topics.tsv"]
QRELS = DRAWN / "qrels"
LEARN = ["--device", "cpu", "--quiet"]
MINED = ["--rules", "--min-support", "5%", "--min-confidence", "20%", "--max-size", 2]


def pairs_of(text):
    """{(qid, docid): (label, {feature: value})} in the order of the lines."""
    pairs = {}
    for line in text.splitlines():
        values, _, comment = line.partition(" #")
        label, qid, *features = values.split()
        pair = qid.removeprefix("qid:"), comment.partition("docid = ")[2].partition(" ")[0]
        assert pair not in pairs
        pairs[pair] = label, dict(feature.rsplit(":", 1) for feature in features)
    return pairs


def judgments():
    return {(q, d): g for q, _, d, g in map(str.split, QRELS.read_text().splitlines())}


class Features(harness.CommandLine):
    def features(self, out, *more, code=0, message=""):
        deep = [] if "--candidates" in more else ["--candidates", 20]
        done = self.expect(code, "features", *TEXT, "--out", out, *deep, *more, message=message)
        return done if code else (self.folder / out).read_text()

    def test_the_drawn_collection_is_what_its_script_draws(self):
        subprocess.run([sys.executable, DRAWN / "draw.py", self.folder / "again"], check=True)
        for name in ("docs.jsonl", "topics.tsv", "qrels"):
            self.assertEqual((self.folder / "again" / name).read_bytes(), (DRAWN / name).read_bytes())

    def test_pairs_without_judgments(self):
        text = self.features("pool.txt", "--candidates-out", "found.run")
        pairs = pairs_of(text)
        self.assertEqual({label for label, _ in pairs.values()}, {"-1"})
        names = list(next(iter(pairs.values()))[1])
        self.assertEqual(names, sorted(names))
        self.assertIn("BM25_of_title", names)
        self.assertIn("tf-idf_cosine_of_document", names)
        self.assertTrue(all(list(features) == names for _, features in pairs.values()))
        first = {(line.split()[0], line.split()[2]) for line in self.read_text("found.run").splitlines()
                 if int(line.split()[3]) <= 20}
        self.assertEqual(set(pairs), first)

    def expect_as_of_pipeline(self, *more):
        """Pairs, values and candidates are those of pipeline with the same options; gives the pairs."""
        named = pairs_of(self.features("pool.txt", "--qrels", QRELS, "--threads", 2, *more, "--candidates-out", "found.run"))
        self.expect(0, "pipeline", *TEXT, "--qrels", QRELS, "--candidates", 20, "--out-dir", "p",
                    "--reduce-size", 3, "--rank-size", 3, "--random-draws", 2, "--permutations", 100,
                    *LEARN, *more)
        self.assertEqual(self.read_text("found.run"), self.read_text("p/candidates.run"))
        names = dict(line.split("\t") for line in self.read_text("p/features.tsv").splitlines())
        numbered = pairs_of(self.read_text("p/letor.txt"))
        self.assertEqual(list(named), list(numbered))
        for pair, (label, features) in numbered.items():
            self.assertEqual({names[f].replace(" ", "_"): v for f, v in features.items()},
                             named[pair][1])
            self.assertEqual(label, named[pair][0] if named[pair][0] != "-1" else "0")
        return named

    def test_the_same_pairs_and_values_as_pipeline(self):
        self.assertNotIn("dense_cosine", next(iter(self.expect_as_of_pipeline().values()))[1])

    def test_vectors(self):
        """They find candidates too, and their cosine is one more column."""
        documents, topics = vectors(360, 1), vectors(36, 2)
        words = ["--vectors", self.file("docs.npy", npy(documents)), "--topic-vectors",
                 self.file("topics.npy", npy(topics))]
        plain = pairs_of(self.features("plain.txt"))
        ids = [json.loads(line)["id"] for line in (DRAWN / "docs.jsonl").read_text().splitlines()]
        qids = [line.split("\t")[0] for line in (DRAWN / "topics.tsv").read_text().splitlines()]
        for source in [], ["--candidates-from", "text"]:
            with self.subTest(source):
                pairs = self.expect_as_of_pipeline(*words, *source)
                self.assertEqual(set(pairs) == set(plain), bool(source))
                for (qid, docid), (_, features) in pairs.items():
                    self.assertEqual(float(features["dense_cosine"]),
                                     cosine(topics[qids.index(qid)], documents[ids.index(docid)]))
        short = self.file("short.npy", npy(documents[:9]))
        self.expect(3, "features", *TEXT, "--vectors", short, *words[2:], "--out", "o",
                    message="short.npy:10:1: found 9 vectors, expected one for each of 360 documents of")

    def test_unjudged_pairs_stay_apart_from_judged_zeros(self):
        known = judgments()
        for unjudged in ("-1", "-7", "0"):
            pairs = pairs_of(self.features("pool.txt", "--qrels", QRELS, "--unjudged", unjudged))
            for pair, (label, _) in pairs.items():
                self.assertEqual(label, known.get(pair, unjudged))
            seen = collections.Counter(known.get(pair) for pair in pairs)
            self.assertGreater(seen["0"], 5)
            self.assertGreater(seen[None], 50)
        # A judgment below 0 says that nobody judged.
        self.file("some", b"T01 0 N000 -2\nT01 0 N012 1\n")
        pairs = pairs_of(self.features("pool.txt", "--qrels", "some"))
        self.assertEqual([pairs[("T01", "N000")][0], pairs[("T01", "N012")][0]], ["-1", "1"])

    def test_candidates_of_a_run(self):
        self.file("given.run", b"T02 Q0 N007 1 2 x\nT01 Q0 N100 2 1 x\nT01 Q0 N003 1 2 x\n"
                  b"T99 Q0 N003 1 2 x\n")
        done = self.expect(0, "features", *TEXT, "--run", "given.run", "--out", "pool.txt")
        self.assertEqual(list(pairs_of(self.read_text("pool.txt"))),
                         [("T01", "N003"), ("T01", "N100"), ("T02", "N007")])
        self.assertIn("3 pairs of 2 topics with ", done.stderr.decode())
        whole = pairs_of(self.features("whole.txt", "--candidates", 360))
        for pair, (_, features) in pairs_of(self.read_text("pool.txt")).items():
            if pair in whole:
                self.assertEqual(features, whole[pair][1])
        self.file("bad.run", b"T01 Q0 N003 1 2 x\nT01 Q0 X1 2 1 x\n")
        self.expect(3, "features", *TEXT, "--run", "bad.run", "--out", "o",
                    message="bad.run:1:1: found document 'X1' of query T01, which is not in")
        self.file("bad.run", b"Z Q0 N003 1 2 x\n")
        self.expect(3, "features", *TEXT, "--run", "bad.run", "--out", "o",
                    message="bad.run:1:1: found no query that is a topic of")

    def test_topics_without_a_candidate_are_named(self):
        self.file("few.tsv", b"".join(b"X%d\tzzyzx\n" % n for n in range(4)) + b"B\tbread\n")
        done = self.expect(0, "features", *TEXT[:2], "--topics", "few.tsv", "--out", "pool.txt")
        self.assertIn("rulerank: warning: few.tsv: 4 of 5 topics have no candidate document and get no pair: 'X0', 'X1', 'X2', ...\n",
                      done.stderr.decode())
        self.assertEqual({qid for qid, _ in pairs_of(self.read_text("pool.txt"))}, {"B"})
        self.file("some.run", b"X3 Q0 N003 1 2 x\nB Q0 N003 1 2 x\n")
        self.file("few.tsv", b"X3\tzzyzx\nA\t bread\nB\tbread\n")
        done = self.expect(0, "features", *TEXT[:2], "--topics", "few.tsv", "--run", "some.run", "--out", "pool.txt")
        self.assertIn("few.tsv: 1 of 3 topics have no candidate document and get no pair: 'A'\n", done.stderr.decode())
        self.assertNotIn("warning", self.expect(0, "features", *TEXT, "--out", "pool.txt").stderr.decode())

    def test_the_same_bytes_whatever_the_threads(self):
        self.assertEqual(self.features("a", "--threads", 1), self.features("b", "--threads", 3))

    def test_the_collection_is_read_once(self):
        """A pipe has nothing a second time."""
        os.mkfifo(self.folder / "pipe")
        with subprocess.Popen(f"cat '{DRAWN / 'docs.jsonl'}' > pipe", shell=True, cwd=self.folder):
            self.expect(0, "features", "--collection", "pipe", *TEXT[2:], "--candidates", 20, "--out", "piped.txt")
        self.assertEqual(self.read_text("piped.txt"), self.features("plain.txt"))

    def test_delimited_output(self):
        pairs = pairs_of(self.features("pool.txt", "--qrels", QRELS))
        rows = list(csv.DictReader(io.StringIO(self.features("pool.csv", "--qrels", QRELS))))
        self.assertEqual([(row["qid"], row["docid"]) for row in rows], list(pairs))
        for row, (label, features) in zip(rows, pairs.values()):
            self.assertEqual(row["label"], "" if label == "-1" else label)
            self.assertEqual({name: row[name] for name in features}, features)

    def test_cells_that_a_spreadsheet_would_calculate(self):
        """Ids, topics and own titles of that kind have an apostrophe in the file; numbers have none, and every verb
        reads what was there."""
        ids = ["=cmd|'/C'!A0", "+1", "-2", "@x", "'tis", "plain"]
        self.file("d.jsonl", b"".join(json.dumps({"id": d, "text": "rye " * (n + 1) + "bread"}).encode() + b"\n"
                                      for n, d in enumerate(ids)))
        self.file("t.tsv", b"=q\trye bread\n")
        self.file("own.csv", b"qid,docid,'-profit\n'=q,'+1,-0.5\n=q,@x,-3\n")
        line = ["features", "--collection", "d.jsonl", "--topics", "t.tsv", "--join", "own.csv", "--out"]
        for out in "pool.csv", "pool.tsv":
            self.expect(0, *line, out)
            rows = list(csv.DictReader(io.StringIO(self.read_text(out)), delimiter="\t" if "tsv" in out else ","))
            self.assertEqual([row["docid"] for row in rows],
                             [d if d == "plain" else "'" + d for d in ids])
            self.assertEqual({row["qid"] for row in rows}, {"'=q"})
            self.assertEqual([row["'-profit"] for row in rows], ["", "-0.5", "", "-3", "", ""])
            for row in rows:
                for name, value in row.items():
                    if name not in ("qid", "docid", "text_sums") and value:
                        float(value)
            self.file("labels.tsv", b"line\tlabel\n" + b"".join(b"%d\t%d\n" % (i, i % 2) for i in range(6)))
            chosen = "chosen" + out[-4:]
            self.expect(0, "reduce", "--train", out, "--unlabelled", "-1", "--out", chosen, "--oracle",
                        "file:labels.tsv", *LEARN)
            self.expect(0, "rank", "--train", chosen, "--test", out, "--unlabelled", "-1", "--out",
                        "scores", "--run", "run", *LEARN)
            self.assertEqual({tuple(row.split()[:3:2]) for row in self.read_text("run").splitlines()},
                             {("=q", d) for d in ids})

    def test_ids_that_a_spreadsheet_would_take_for_numbers_or_dates(self):
        """They have an apostrophe in the file, and are themselves again in pools, runs and joined columns."""
        ids = ["007", "1e5", "1-2", "MARCH1", "true", "2024-01-02", "'tis", "plain", "D12"]
        shown = [d if d in ("plain", "D12") else "'" + d for d in ids]
        self.file("d.jsonl", b"".join(json.dumps({"id": d, "text": "rye " * (n + 1) + "bread"}).encode() + b"\n"
                                      for n, d in enumerate(ids)))
        self.file("t.tsv", b"01\trye bread\n")
        self.file("own.csv", b"qid,docid,clicks\n01,007,1\n'01,'1e5,2\n01,plain,3\n'01,'MARCH1,4\n")
        text = ["--collection", "d.jsonl", "--topics", "t.tsv"]
        self.expect(0, "features", *text, "--out", "pool.txt")
        self.expect(0, "features", "--pool", "pool.txt", "--join", "own.csv", "--out", "joined.txt")
        wanted = pairs_of(self.read_text("joined.txt"))
        self.assertEqual([pair for pair in wanted], [("01", d) for d in ids])
        self.assertEqual([features["clicks"] for _, features in wanted.values()],
                         ["1", "2", "NaN", "4", "NaN", "NaN", "NaN", "3", "NaN"])
        for out, between in ("pool.csv", ","), ("pool.tsv", "\t"):
            self.expect(0, "features", *text, "--out", out)
            rows = list(csv.DictReader(io.StringIO(self.read_text(out)), delimiter=between))
            self.assertEqual([row["docid"] for row in rows], shown)
            self.assertEqual({row["qid"] for row in rows}, {"'01"})
            self.expect(0, "features", "--pool", out, "--join", "own.csv", "--out", "again.txt")
            self.assertEqual(pairs_of(self.read_text("again.txt")), wanted)
            # The table of documents that want labels, with a column that somebody added to it.
            done = self.rulerank("reduce", "--train", out, "--unlabelled", "-1", "--out", "chosen", "--oracle",
                                 "file:none", "--pending", "wanted.csv", "--batch", len(ids), *LEARN)
            self.assertEqual(done.returncode, 5, done.stderr)
            table = list(csv.DictReader(io.StringIO(self.read_text("wanted.csv").removeprefix("\ufeff"))))
            self.assertEqual(sorted(row["docid"] for row in table), sorted(shown))
            for row in table:
                row["visits"] = row["line"]
            for separator in ",;":
                with open(self.folder / "wanted.csv", "w", newline="", encoding="utf-8-sig") as to:
                    sheet = csv.DictWriter(to, list(table[0]), delimiter=separator)
                    sheet.writeheader()
                    sheet.writerows(table)
                self.expect(0, "features", "--pool", out, "--join", "wanted.csv", "--join-columns", "visits", "--out", "w.txt")
                self.assertEqual([f["visits"] for _, f in pairs_of(self.read_text("w.txt")).values()],
                                 [str(n) for n in range(len(ids))])

    def test_own_columns_of_a_pool_by_number(self):
        self.file("letor.txt", b"1 qid:1 1:2 46:3 # docid = A\n0 qid:1 2:1 # docid = B\n2 qid:2 1:1 # docid = A\n")
        self.file("own.csv", b"docid,qid,page rank,clicks\nA,1,.5,3\nA,2,,4\n")
        line = ["features", "--pool", "letor.txt", "--join", "own.csv", "--out", "wide.txt"]
        done = self.expect(0, *line, "--names-out", "names.tsv")
        self.assertIn(b"own.csv: 2 columns are joined to features with numbers: 47 clicks, 48 page_rank\n", done.stderr)
        self.file("many.csv", b"docid,qid," + b",".join(b"c%02d" % c for c in range(12)) + b"\nA,1" + b",1" * 12 + b"\n")
        done = self.expect(0, "features", "--pool", "letor.txt", "--join", "many.csv", "--out", "many.txt")
        self.assertIn(b"numbers: 47 c00, 48 c01, 49 c02, 50 c03, 51 c04, 52 c05, 53 c06, 54 c07 and 4 more up to 58\n", done.stderr)
        self.assertEqual(self.read_text("names.tsv"), "47\tclicks\n48\tpage_rank\n")
        self.assertEqual(self.read_text("wide.txt"), "1 qid:1 1:2 46:3 47:3 48:0.5 #docid = A\n"
                         "0 qid:1 2:1 47:NaN 48:NaN #docid = B\n2 qid:2 1:1 47:4 48:NaN #docid = A\n")
        self.expect(0, "fit", "--train", "wide.txt", "--members", "rules", "--model", "model", "--quiet")
        self.assertIn(b"clicks", self.expect(0, "inspect", "--model", "model", "--names", "names.tsv").stdout)
        self.expect(2, *line[:3], "--names-out", "names.tsv", "--out", "x.txt", message="--pool needs --join")
        self.expect(2, "features", "--collection", "docs.tsv", "--topics", "topics.tsv", "--out", "x.txt",
                    "--names-out", "names.tsv", message="--names-out needs --pool")

    def test_own_columns(self):
        plain = pairs_of(self.features("pool.txt"))
        pairs = list(plain)
        own = "\ufeffdocid,qid,clicks\r\n" + "".join(
            f"{d},{q},{i}\r\n" for i, (q, d) in enumerate(pairs) if i % 3) + "N000,T99,5\r\n"
        self.file("own.csv", own.encode())
        self.features("joined.csv", "--join", "own.csv", message="own.csv: left out 1 of ")
        joined = list(csv.DictReader(io.StringIO(self.read_text("joined.csv"))))
        for i, (row, pair) in enumerate(zip(joined, pairs)):
            self.assertEqual((row["qid"], row["docid"]), pair)
            self.assertEqual(row["clicks"], str(i) if i % 3 else "")
        # `--join` gives equal results for an earlier pool; one column of a second file is added.
        self.file("more.tsv", b'qid\tdocid\tage\tnote\nT01\t' + pairs[0][1].encode()
                  + b'\t1e3\t"two\r\nlines\t"\n')
        self.features("joined.txt", "--join", "own.csv")
        self.expect(0, "features", "--pool", "pool.txt", "--join", "own.csv", "--out", "again.txt")
        self.assertEqual(self.read_text("again.txt"), self.read_text("joined.txt"))
        self.expect(0, "features", "--pool", "again.txt", "--join", "more.tsv", "--join-columns",
                    "age", "--out", "third.txt")
        third = pairs_of(self.read_text("third.txt"))
        self.assertEqual([f["age"] for _, f in third.values()],
                         ["1000"] + ["NaN"] * (len(pairs) - 1))
        self.assertNotIn("note", third[pairs[0]][1])
        # Characters that a line cannot hold in a name become _, as in the names of fields; delimited text keeps its titles.
        own = f'docid,qid,page rank,7-day sales,a#b:c,@x,(y)\n{pairs[0][1]},T01,.5,3,2,7,8\n'
        self.file("titles.csv", own.encode())
        for columns in [], ["--join-columns", "7-day sales,page rank,a#b:c,@x,(y)"]:
            line = ["features", "--pool", "pool.txt", "--join", "titles.csv", *columns, "--out"]
            self.expect(0, *line, "words.txt")
            words = pairs_of(self.read_text("words.txt"))[pairs[0]][1]
            self.assertEqual([words[name] for name in ("page_rank", "_7-day_sales", "a_b_c", "_@x", "_(y)")],
                             ["0.5", "3", "2", "7", "8"])
        self.expect(0, *line, "titled.csv")
        self.assertEqual(next(csv.DictReader(io.StringIO(self.read_text("titled.csv"))))["page rank"], "0.5")
        self.assertEqual([f["clicks"] for _, f in third.values()],
                         [str(i) if i % 3 else "NaN" for i in range(len(pairs))])

    def test_a_table_whose_first_line_tells_excel_what_is_between_cells(self):
        pairs = list(pairs_of(self.features("pool.txt")))
        own = "docid;qid;clicks\r\n" + "".join(f"{d};{q};{i}\r\n" for i, (q, d) in enumerate(pairs))
        self.file("plain.csv", own.encode())
        self.file("told.csv", ("\ufeffsep=;\r\n" + own).encode())
        for name in "plain", "told":
            self.expect(0, "features", "--pool", "pool.txt", "--join", f"{name}.csv", "--out", f"{name}.out.csv")
        self.assertEqual(self.read_text("told.out.csv"), self.read_text("plain.out.csv"))
        # A pool, too, from a file and from standard input; its lines keep their numbers.
        pool = "label;qid;docid;a;b\n" + "".join(f"{i % 2};1;D{i};{i};{i % 3}\n" for i in range(8))
        line = ["rank", "--train", "pool.csv", "--rule-size", "2", *LEARN, "--test"]
        self.file("pool.csv", pool.encode())
        want = self.expect(0, *line, "pool.csv").stdout
        self.file("pool.csv", ("sep=;\n" + pool).encode())
        self.assertEqual(self.expect(0, *line, "pool.csv").stdout, want)
        self.assertEqual(self.expect(0, *line, "-", input=("sep=;\n" + pool).encode()).stdout, want)
        self.file("wrong.csv", ("sep=;\n" + pool + "1;1;D9;x;0\n").encode())
        self.expect(3, *line, "wrong.csv", message="wrong.csv:11:8: ")

    def test_columns_of_documents_and_of_queries(self):
        """They give each pair what a table of all pairs gives it."""
        self.features("pool.txt")
        pairs = list(pairs_of(self.read_text("pool.txt")))
        documents, queries = list(dict.fromkeys(d for _, d in pairs))[3:], list(dict.fromkeys(q for q, _ in pairs))[2:]
        price, length = {d: i % 7 for i, d in enumerate(documents)}, {q: 2.5 * i for i, q in enumerate(queries)}
        self.file("docs.csv", ("docid,price\n" + "".join(f"{d},{v}\n" for d, v in price.items()) + "absent,3\n").encode())
        self.file("topics.tsv", ("length\tqid\n" + "".join(f"{v}\t{q}\n" for q, v in length.items())).encode())
        self.file("pairs.csv", ("qid,docid,price,length\n" + "".join(
            f"{q},{d},{price.get(d, '')},{length.get(q, '')}\n" for q, d in pairs)).encode())
        line = ["features", "--pool", "pool.txt", "--join"]
        self.expect(0, *line, "pairs.csv", "--out", "want.txt")
        said = self.expect(0, *line, "docs.csv", "topics.tsv", "--out", "found.txt").stderr.decode()
        self.assertEqual(self.read_text("found.txt"), self.read_text("want.txt"))
        self.assertNotIn("warning", said)
        lacking = sum(q not in length for q, _ in pairs)
        self.assertIn(f"topics.tsv: has no row for {lacking} of {len(pairs)} pairs; their values are missing", said)

    def test_wrong_columns(self):
        self.features("pool.txt")
        pair = next(iter(pairs_of(self.read_text("pool.txt"))))
        good = "%s,%s,1\n" % pair
        line = f"features --pool {self.folder}/pool.txt --join {{in}} --out {{out}}"
        head = "qid,docid,clicks\n"
        self.check_rows([
            Row("a pair twice", (head + good + "\n" + good).encode(), line, 3, "{in}:4:1: found query"),
            Row("no docid", (head + good + f"{pair[0]},,1\n").encode(), line, 3, "{in}:3:1: found a row"),
            Row("a query twice", b"qid,clicks\nT01,1\nT01,2\n", line, 3, "{in}:3:1: found query \"T01\" again (first on line 2)"),
            Row("a document twice", b"docid,clicks\nN1,1\nN1,2\n", line, 3, "{in}:3:1: found document \"N1\" again (first on line 2)"),
            Row("no query of the pool", b"qid,clicks\nT99,1\n", line, 3, "{in}:2:1: found none of its 1 query in the pool"),
            Row("no document of the pool", b"docid,clicks\nN1,1\n", line, 3, "{in}:2:1: found none of its 1 document in the pool"),
            Row("a column that is there", ("qid,docid,BM25_of_text\n" + good).encode(), line, 3,
                "{in}:1:1: found the column \"BM25_of_text\", which"),
            Row("an unknown column", (head + good).encode(), line + " --join-columns click", 3,
                "{in}:1:1: found no column \"click\", expected"),
            Row("titles that are one word", ("qid,docid,page rank,page_rank\n" + good[:-1] + ",2\n").encode(), line, 3,
                "{in}:1:1: found the features 'page rank' and 'page_rank', whose names both"),
            Row("a word that is there", ("qid,docid,BM25 of_text\n" + good).encode(), line, 3,
                "{in}:1:1: found the features 'BM25 of_text' and 'BM25_of_text', whose names both"),
            Row("no pair of the pool", (head + "T01,X,1\n").encode(), line, 3,
                "{in}:2:1: found none of its 1 pair in the pool"),
            Row("a word for a number", (head + "T01,N1,many\n").encode(), line, 3, "{in}:2:8: "),
            Row("a decimal comma", "qid;docid;clicks\nT01;N1;0,5\n".encode(), line, 3,
                '{in}:2:8: value "0,5" of feature clicks is not a number, expected a number such as 0.5, or nan or NULL'),
            Row("a cell too few", (head + "T01,N1\n").encode(), line, 3, "{in}:2:7: found 2 cells"),
            Row("an open quote", (head + 'T01,N1,"1\n').encode(), line, 3, "{in}:2:8: "),
            Row("an empty file", b"", line, 3, "{in}:1:1: "),
            Row("a pool with a word for a number", b"-1 qid:T01 a:1 b:x # docid = N1\n",
                "features --pool {in} --join {own} --out {out}", 3, "{in}:1:", {"own": (head + good).encode()}),
            Row("a pool without a qid", b"-1 a:1 # docid = N1\n", "features --pool {in} --join {own} --out {out}", 3,
                "{in}: no line has a qid",
                {"own": (head + good).encode()}),
            Row("an empty pool", b"", "features --pool {in} --join {own} --out {out}", 3, "{in}:1:1: found no documents",
                {"own": (head + good).encode()}),
            Row("a document that is no JSON", b'{"id": "1", "text": "rye"}\n{"id": "2"\n',
                "features --collection {in} --topics {topics} --out {out}", 3, "{in}:2:", {"topics": b"1\trye\n"}),
            Row("a topic twice", b"1\trye\n1\tbread\n", "features --collection {docs} --topics {in} --out {out}", 3, "{in}:2:1: ",
                {"docs": b"1\trye bread\n"}),
            Row("a judgment cut short", b"1 0 1\n1 0\n", "features --collection {docs} --topics {topics} --qrels {in} --out {out}",
                3, "{in}:", {"docs": b"1\trye bread\n", "topics": b"1\trye\n"}),
            Row("an id of two words", (head + "T01,N 1,2\n").encode(), line, 3, "{in}:2:5: "),
        ])

    def test_documents_that_are_their_own_topics(self):
        texts = self.file("texts.tsv", b"a1\talpha beta\na2\talpha gamma\na3\tdelta beta\n")
        for most in (2, 20):
            self.expect(0, "features", texts, texts, "--leave-out-self", "--candidates", most, "--out", "pool.txt", "--candidates-out", "run")
            self.assertEqual(list(pairs_of(self.read_text("pool.txt"))), [("a1", "a2"), ("a1", "a3"), ("a2", "a1"), ("a3", "a1")])
            self.assertEqual([line.split()[0:3:2] for line in self.read_text("run").splitlines()],
                             [["a1", "a2"], ["a1", "a3"], ["a2", "a1"], ["a3", "a1"]])
        self.expect(0, "features", texts, texts, "--candidates", 2, "--out", "with.txt")
        self.assertIn(("a1", "a1"), pairs_of(self.read_text("with.txt")))

    def test_wrong_usage(self):
        for words, message in (
                (["features", "--out", "o"], "no --collection, expected --collection and --topics"),
                (["features", *TEXT[:2], "--out", "o"], "no --topics"),
                (["features", "--pool", "p", "--out", "o"], "--pool needs --join"),
                (["features", "--pool", "p", "--join", "j", "--topics", "t", "--out", "o"],
                 "--topics cannot be combined with --pool"),
                (["features", *TEXT, "--out", "o", "--join-columns", "a"], "--join-columns needs"),
                (["features", *TEXT, "--out", "o", "--unjudged", "3"], "--unjudged: found '3'"),
                (["features", *TEXT, "--out", "o", "--not-relevant", "3"],
                 "--not-relevant needs --qrels"),
                (["features", *TEXT, "--out", "o", "--run", "r", "--metric", "ip"],
                 "--metric cannot be combined with --run"),
                (["features", *TEXT, "--out", "o", "--run", "r", "--leave-out-self"],
                 "--leave-out-self cannot be combined with --run"),
                (["features", *TEXT, "--out", "o", "--run", "r", "--candidates", "9"], "--candidates"),
                (["features", *TEXT, "--out", "o", "--vectors", "v"], "--vectors needs"),
                (["features", *TEXT, "--out", TEXT[1]], "is also an input")):
            with self.subTest(message):
                self.expect(2, *words, message=message)

    def test_names_that_become_one(self):
        self.file("d.jsonl", b'{"id":"1","a b":"flow","a_b":"flow"}\n')
        self.file("t.tsv", b"1\tflow\n")
        self.expect(3, "features", "--collection", "d.jsonl", "--topics", "t.tsv", "--out", "o",
                    "--text-fields", "a b,a_b", message="d.jsonl:1:1: found the features ")

    def test_misspelt_topics(self):
        self.file("bad.tsv", (DRAWN / "topics.tsv").read_bytes().replace(b"bicycle", b"bicylce")
                  .replace(b"careful", b"carefuul"))
        line = ["features", TEXT[0], TEXT[1], "--topics", "bad.tsv", "--out"]
        done = self.expect(0, *line, "fixed.txt", "--correct", "--manifest", "m.json")
        self.assertIn("query T01: searched 'carefuul' as 'careful'", done.stderr.decode())
        changes = json.loads(self.read_text("m.json"))["corrections"]
        self.assertIn({"query": "T01", "word": "carefuul", "replacement": "careful", "distance": 1},
                      changes)
        good = self.expect(0, "features", *TEXT, "--out", "-", "--correct").stdout.decode()
        plain = self.expect(0, "features", *TEXT, "--out", "-").stdout.decode()
        self.assertEqual(good, plain)  # nothing is misspelt there
        wrong = {word for word in (one["word"] for one in changes)}
        self.assertEqual(wrong, {"carefuul"})  # a swap in 7 letters is two edits

    def test_from_a_pool_to_a_ranking(self):
        """Labels are asked for, learned from, and wanted no more."""
        self.features("pool.txt")
        known = judgments()
        self.file("labels.tsv", b"line\tlabel\n" + b"".join(
            b"%d\t%d\n" % (i, int(known.get(pair, "0")))
            for i, pair in enumerate(pairs_of(self.read_text("pool.txt")))))
        line = ["reduce", "--train", "pool.txt", "--unlabelled", "-1", "--max-documents", 50,
                "--norm", "query-minmax", "--out", "chosen.txt", *LEARN]
        self.expect(3, *line, message="this chosen document has no label")
        self.expect(0, *line, "--oracle", "file:labels.tsv")
        chosen = pairs_of(self.read_text("chosen.txt"))
        self.assertEqual(len(chosen), 50)
        self.assertTrue(all(label == known.get(pair, "0") for pair, (label, _) in chosen.items()))
        self.expect(0, "fit", "--train", "chosen.txt", "--pool", "pool.txt", "--unlabelled", "-1",
                    "--model", "m", *LEARN)
        self.expect(0, "rank", "--model", "m", "--test", "pool.txt", "--unlabelled", "-1", "--out",
                    "scores", "--run", "ranked.run", *LEARN)
        self.expect(0, "rank", "--model", "m", "--test", "-", "--out", "piped", *LEARN,
                    input=self.read_text("pool.txt").replace("-1 qid", "qid").encode())
        self.assertEqual(self.read_text("piped"), self.read_text("scores"))
        self.file("file.run", "".join(f"{q} Q0 {d} 1 {-i} file\n" for i, (q, d) in enumerate(
            pairs_of(self.read_text("pool.txt")))).encode())
        shown = self.expect(0, "evaluate", "--qrels", QRELS, "--run", "ranked.run", "file.run",
                            "--metrics", "NDCG@10,judged@10", "--json").stdout
        ranked, as_it_was = (one["averages"] for one in json.loads(shown)["systems"])
        self.assertGreater(ranked["NDCG@10"], as_it_was["NDCG@10"] + .03)
        self.assertLess(ranked["judged@10"], 1)

    def test_what_verbs_make_of_unjudged_pairs(self):
        pool = self.features("pool.txt", "--qrels", QRELS)
        first = next(i for i, line in enumerate(pool.splitlines()) if line.startswith("-1")) + 1
        judged = "".join(line + "\n" for line in pool.splitlines() if not line.startswith("-1"))
        self.file("judged.txt", judged.encode())
        both = ["--unlabelled", "-1", *LEARN]
        refused = "found a document without a label, expected labels to learn from; --drop-unjudged"
        for words in (["fit", "--train", "pool.txt", "--model", "m"],
                      ["rank", "--train", "pool.txt", "--test", "pool.txt", "--out", "o"],
                      ["explain", "--train", "pool.txt", "--test", "pool.txt", "--qid", "T01"],
                      ["mine", "--train", "pool.txt", *MINED],
                      ["tune", "--train", "pool.txt", "--vali", "judged.txt"]):
            with self.subTest(words[0]):
                self.expect(3, *words, *both, message=f"pool.txt:{first}:1: {refused}")
        self.expect(3, "tune", "--train", "judged.txt", "--vali", "pool.txt", *both,
                    message="expected labels to choose by; --drop-unjudged")
        for train, *more in ("judged.txt",), ("pool.txt", "--drop-unjudged"):
            self.expect(0, "fit", "--train", train, "--model", f"{train}.model", *more, *both)
            self.expect(0, "rank", "--train", train, "--test", "pool.txt", "--out", f"{train}.scores",
                        *more, *both)
            self.expect(0, "mine", "--train", train, *MINED, "--out", f"{train}.rules", *more, *both)
        qid, docid = next(iter(pairs_of(judged)))
        said = {}
        for name, *more in ("judged.txt",), ("pool.txt", "--drop-unjudged"):
            explained = self.expect(0, "explain", "--train", name, "--test", "pool.txt", "--qid", qid, "--docid", docid,
                                    *more, *both).stdout
            tuned = self.expect(0, "tune", "--train", name, "--vali", name, "--out", f"{name}.json", "--try-rule-size", "3",
                                "--try-method", "width,frequency", "--try-bins", "5", *more, *both).stdout
            said[name] = explained, tuned
        self.assertEqual(said["pool.txt"], said["judged.txt"])
        self.assertEqual(self.read_text("judged.txt.rules"), self.read_text("pool.txt.rules"))
        self.assertIn("label=1 <- ", self.read_text("pool.txt.rules"))
        self.assertEqual(self.read_text("judged.txt.scores"), self.read_text("pool.txt.scores"))
        self.assertEqual(self.read_text("judged.txt.model"), self.read_text("pool.txt.model"))
        self.expect(3, "fit", "--train", self.file("none", self.features("n").encode()), "--model",
                    "x", "--drop-unjudged", *both, message="none:1:1: found a document without a label")

        self.expect(0, "split", "--in", "pool.txt", "--fold-count", 3, "--unlabelled", "-1",
                    "--out-dir", "folds", "--quiet")
        line = ["experiment", "--folds", "folds", "--reduce-size", "3", "--rank-size", "3",
                "--random-draws", 2, "--permutations", 100, *both]
        self.expect(3, *line, "--out-dir", "e1", message=refused)
        self.expect(0, *line, "--out-dir", "e2", "--drop-unjudged")
        line = ["experiment", "--folds", "folds", "--systems", "rules", "--ways", "random", "--budgets", "50%",
                "--random-draws", 2, *both]
        self.expect(3, *line, "--out-dir", "c1", message=refused)
        self.expect(0, *line, "--out-dir", "c2", "--drop-unjudged")

        self.expect(0, "rank", "--model", "pool.txt.model", "--test", "pool.txt", "--out", "s", *both)
        line = ["evaluate", "--scores", "s", "--metrics", "MAP,P@5,bpref", "--json"]
        values = lambda *words: self.told(*line, *words)["systems"][0]["averages"]
        found = values("--test", "pool.txt", "--unlabelled", "-1")
        self.assertIn("judged@10", found)
        self.file("zeros.txt", "".join("0" + one[2:] + "\n" if one.startswith("-1") else one + "\n"
                                       for one in pool.splitlines()).encode())
        zeros = values("--test", "zeros.txt")
        self.assertNotIn("judged@10", zeros)
        self.assertEqual((found["MAP"], found["P@5"]), (zeros["MAP"], zeros["P@5"]))
        self.assertNotEqual(found["bpref"], zeros["bpref"])
        scores = list(map(float, self.read_text("s").split()))
        by_query = collections.defaultdict(list)
        for (pair, (label, _)), score in zip(pairs_of(pool).items(), scores):
            by_query[pair[0]].append((-score, len(by_query[pair[0]]), label != "-1"))
        share = sum(sum(known for _, _, known in sorted(rows)[:10]) / min(10, len(rows))
                    for rows in by_query.values()) / len(by_query)
        self.assertAlmostEqual(found["judged@10"], share, 12)

    def test_cranfield(self):
        cranfield = self.real("text/cranfield")
        lines = (cranfield / "QRelsCorrectedforTRECeval").read_text().split("\n")
        self.file("qrels", "\n".join(line.strip() for line in lines).encode())
        text = ["--collection", cranfield / "cran.all.1400", "--topics", cranfield / "cran.qry",
                "--number-by-position"]
        self.expect(0, "features", *text, "--qrels", "qrels", "--not-relevant", 5, "--out",
                    "judged.txt", "--quiet")
        self.expect(0, "features", *text, "--out", "pool.txt", "--quiet")
        judged = pairs_of(self.read_text("judged.txt"))
        self.assertEqual(len(judged), 22500)
        self.file("labels.tsv", b"line\tlabel\n" + b"".join(
            b"%d\t%d\n" % (i, max(int(label), 0)) for i, (label, _) in enumerate(judged.values())))
        self.expect(0, "reduce", "--train", "pool.txt", "--unlabelled", "-1", "--oracle",
                    "file:labels.tsv", "--max-documents", 50, "--norm", "query-minmax", "--out",
                    "chosen.txt", *LEARN)
        self.expect(0, "fit", "--train", "chosen.txt", "--pool", "pool.txt", "--unlabelled", "-1",
                    "--model", "m", *LEARN)
        self.expect(0, "rank", "--model", "m", "--test", "pool.txt", "--unlabelled", "-1", "--out",
                    "scores", *LEARN)
        self.assertEqual(len(self.read_text("scores").split()), 22500)


class ShownTexts(harness.CommandLine):
    """Whoever labels a pair sees the texts that it was made of, or the program ends with an error: a number of SMART's form
    may be that of one text and the position of another."""
    TOPICS = {"7": "rye bread crust", "1": "sails of a ship", "2": "wings that flutter"}  # in this order
    DOCS = {"3": "rye makes dark bread", "1": "a ship has sails of canvas", "2": "thin wings flutter and break"}

    @staticmethod
    def smart(texts, own=lambda n: n):
        return "".join(f".I {own(n)}\n.W\n{text}\n" for n, text in texts.items()).encode()

    def setUp(self):
        super().setUp()
        self.file("docs", self.smart(self.DOCS))
        self.file("topics", self.smart(self.TOPICS))

    def pool(self, name, *more, docs="docs", topics="topics"):
        self.expect(0, "features", "--collection", docs, "--topics", topics, "--out", name, "--quiet", *more)
        return (self.folder / name).read_text()

    def ends(self, code, *arguments, message):
        done = self.rulerank(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(message, done.stderr.decode())

    def shown(self, pool, *more, code=5, message="", docs="docs", topics="topics"):
        """(docid, query, text) of the documents that a person is asked about, or None where texts are refused."""
        for old in self.folder.glob("state*"):
            old.unlink()
        line = ["--train", pool, "--unlabelled", "-1", "--out", "out", "--rule-size", "2", "--device", "cpu", "--show", docs,
                "--topics", topics, *more]
        self.ends(code, "reduce", *line, "--oracle", "file:none", "--pending", "pending.tsv", "--batch", "99", message=message)
        self.ends(code, "reduce", *line, "--oracle", "ask", "--resume", "state", message=message)
        if code == 3:
            self.ends(3, "label", "--pool", *line[1:2], *line[4:], "--listen", "127.0.0.1:0", message=message)
            return None
        rows = list(csv.DictReader((self.folder / "pending.tsv").read_text().splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
        self.assertTrue(rows)
        self.assertTrue(all("text_sums" not in row["comment"] for row in rows))
        return {(row["docid"].lstrip("'"), row["query"], row["text"]) for row in rows}

    def by(self, numbered):
        """The (docid, topic, text) that may occur: all pairs of a topic and a document that shares a word with it."""
        docs = {str(i + 1) if numbered else n: text for i, (n, text) in enumerate(self.DOCS.items())}
        return {(d, topic, text) for topic in self.TOPICS.values() for d, text in docs.items() if set(topic.split()) & set(text.split())
                - {"a", "of", "and", "that"}}

    def test_numbering_is_the_pools(self):
        for pool, more in (("own.txt", []), ("places.txt", ["--number-by-position"]), ("places.csv", ["--number-by-position"])):
            text = self.pool(pool, *more)
            self.assertEqual(text.count("text_sums = "), 3)
            self.assertLessEqual(self.shown(pool), self.by(bool(more)), pool)
            # An option that says otherwise is refused, and so is a pool that has another numbering than its texts.
            wrong = ["--number-by-position"] if not more else ["--number-by-position=false"]
            self.shown(pool, *wrong, code=3, message="differs from the text that " + pool + " was made")
        # The columns of other programs leave it there.
        self.file("clicks.csv", b"qid,docid,clicks\n1,1,5\n")
        self.expect(0, "features", "--pool", "places.txt", "--join", "clicks.csv", "--out", "wider.txt", "--quiet")
        self.assertLessEqual(self.shown("wider.txt"), self.by(True))
        self.expect(0, "features", "--pool", "places.csv", "--join", "clicks.csv", "--out", "wider.csv", "--quiet")
        self.assertLessEqual(self.shown("wider.csv"), self.by(True))

    def test_other_texts_are_refused(self):
        self.pool("pool.txt")
        changed = dict(self.TOPICS, **{"1": "masts of a ship"})
        self.file("other", self.smart(changed))
        self.shown("pool.txt", topics="other", code=3,
                   message='other:4:1: query 1 has the text "masts of a ship", which differs from the text that pool.txt was made')
        # Other texts are numbered as the pool is.
        self.assertIn("masts of a ship", {query for _, query, _ in self.shown("pool.txt", "--other-texts", topics="other")})
        self.pool("places.txt", "--number-by-position")
        self.assertIn(("3", changed["2"]), {(d, query) for d, query, _ in self.shown("places.txt", "--other-texts", topics="other")})
        self.file("edited", self.smart(dict(self.DOCS, **{"2": "thin wings"})))
        self.shown("pool.txt", docs="edited", code=3,
                   message='edited:7:1: document 2 has the text "thin wings", which differs from the text that pool.txt was made')
        # Other forms, blanks and line ends of the same words are the same texts.
        self.file("topics.tsv", "".join(f"{n}\t {text.replace(' ', '  ')}\r\n" for n, text in self.TOPICS.items()).encode())
        self.file("docs.jsonl", "".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in self.DOCS.items()).encode())
        self.assertLessEqual(self.shown("pool.txt", docs="docs.jsonl", topics="topics.tsv"), self.by(False))

    def test_lines_are_those_of_letor(self):
        """The docid directly follows `#`, as LETOR 4.0 has it before other keys, also after conversion to delimited text and back."""
        text = self.pool("pool.txt")
        form = r"-1 qid:\S+( \S+:\S+)+ #docid = (\S+) text_sums = [0-9a-f]{8}-[0-9a-f]{8}"
        self.assertTrue(all(re.fullmatch(form, line) for line in text.splitlines()), text)
        self.pool("pool.csv")
        self.file("clicks.csv", b"qid,docid,clicks\n1,1,5\n")
        self.expect(0, "features", "--pool", "pool.csv", "--join", "clicks.csv", "--out", "wider.txt", "--quiet")
        wider = (self.folder / "wider.txt").read_text()
        self.assertEqual(re.findall(r"#docid = (\S+)", wider), re.findall(r"#docid = (\S+)", text))
        self.assertEqual(wider.count("text_sums = "), 3)

    def test_checks_survive_what_is_done_to_a_pool(self):
        """Its lines sorted, some taken out, split or read back from another form, a pool still knows its texts."""
        text = self.pool("pool.txt", "--number-by-position")
        self.file("edited", self.smart({n: text + " again" for n, text in self.DOCS.items()}))
        lines = text.splitlines(True)
        self.file("sorted.txt", "".join(sorted(lines, reverse=True)).encode())
        self.file("two.txt", "".join(lines[1:]).encode())
        self.expect(0, "split", "--in", "pool.txt", "--unlabelled", "-1", "--fold-count", 3, "--out-dir", "folds", "--quiet")
        self.file("split.txt", b"".join((self.folder / f"folds/Fold1/{part}.txt").read_bytes() for part in ("vali", "train")))
        self.file("clicks.csv", b"qid,docid,clicks\n1,1,5\n")
        self.pool("pool.tsv", "--number-by-position")
        self.expect(0, "features", "--pool", "pool.tsv", "--join", "clicks.csv", "--out", "back.txt", "--quiet")
        for pool in "sorted.txt", "two.txt", "split.txt", "back.txt":
            self.assertLessEqual(self.shown(pool), self.by(True), pool)
            self.shown(pool, docs="edited", code=3, message="which differs from the text that")

    def test_a_text_is_in_memory_once(self):
        """For each of these 40,000 pairs it would be 2 GB."""
        words = " ".join(f"word{n}" for n in range(6000))
        self.file("docs.tsv", "".join(f"D{d}\t{d} {words}\n" for d in range(100)).encode())
        self.file("topics.tsv", "".join(f"T{q}\tword{q}\n" for q in range(400)).encode())
        self.file("pool.txt", "".join(f"-1 qid:T{q} 1:{q % 7} 2:{d % 9} #docid = D{d}\n" for q in range(400) for d in range(100)).encode())
        done = self.rulerank("reduce", "--train", "pool.txt", "--unlabelled", "-1", "--out", "out", "--rule-size", "2", "--oracle",
                             "file:none", "--pending", "p.tsv", "--device", "cpu", "--show", "docs.tsv", "--topics", "topics.tsv",
                             "--manifest", "m.json")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertLess(json.loads((self.folder / "m.json").read_text())["peak_memory_bytes"], 400 << 20)

    def test_members_of_another_order_and_other_ones(self):
        ids = {n: {"title": text.split()[0], "text": text} for n, text in self.DOCS.items()}
        lines = lambda change: "".join(json.dumps(change({"id": n, **of})) + "\n" for n, of in ids.items()).encode()
        self.file("docs.jsonl", lines(lambda of: of))
        self.pool("pool.txt", docs="docs.jsonl")
        self.file("turned.jsonl", lines(lambda of: dict(reversed(of.items()))))
        self.assertTrue(self.shown("pool.txt", docs="turned.jsonl"))
        self.file("more.jsonl", lines(lambda of: {**of, "abstract": "see " + of["id"]}))
        self.shown("pool.txt", docs="more.jsonl", code=3,
                   message='as do 3 of its 3 documents; without its field "abstract" the text is the same; expected the same texts')
        self.file("less.jsonl", lines(lambda of: {"id": of["id"], "text": of["text"]}))
        self.shown("pool.txt", docs="less.jsonl", code=3, message='as do 3 of its 3 documents; its field is "text"; expected')

    def test_labels_between_tabs(self):
        for name, texts in (("docs.tsv", self.DOCS), ("topics.tsv", self.TOPICS)):
            self.file(name, "".join(f"{n}\tsome\t{text}\n" for n, text in texts.items()).encode())
        self.pool("pool.txt", "--labels", docs="docs.tsv", topics="topics.tsv")
        for more in [], ["--labels"]:
            self.assertLessEqual(self.shown("pool.txt", *more, docs="docs.tsv", topics="topics.tsv"), self.by(False))

    def test_pools_from_elsewhere_say_how_texts_are_numbered(self):
        text = self.pool("made.txt", "--number-by-position")
        self.file("pool.txt", re.sub(r" text_sums = \S+", "", text).encode())
        self.shown("pool.txt", code=3, message="topics:1:1: found queries whose numbers after .I are not their positions, and pool.txt does not say which of the two it uses as ids; set --number-by-position")
        self.assertLessEqual(self.shown("pool.txt", "--number-by-position"), self.by(True))
        self.assertFalse(self.shown("pool.txt", "--number-by-position=false") & self.by(True))
        # Nothing to choose between: no such option is wanted.
        self.file("topics", self.smart(self.TOPICS, lambda n: list(self.TOPICS).index(n) + 1))
        self.file("docs", self.smart(self.DOCS, lambda n: list(self.DOCS).index(n) + 1))
        self.assertLessEqual(self.shown("pool.txt"), self.by(True))
        for option in "--number-by-position", "--labels", "--other-texts":
            self.expect(2, "reduce", "--train", "pool.txt", "--out", "out", option, message=f"{option} needs --show and --topics")

    def test_cranfield(self):
        """Its judgments name topics by position; 112 of the 225 positions are also numbers, of other topics."""
        cranfield = self.real("text/cranfield")
        docs, topics = cranfield / "cran.all.1400", cranfield / "cran.qry"
        self.expect(0, "features", "--collection", docs, "--topics", topics, "--number-by-position", "--candidates", "5", "--out",
                    "pool.txt", "--quiet")
        texts = [" ".join(part.split()[2:]) for part in topics.read_text().split(".I")[1:]]
        texts = [text.partition(".W ")[2] if ".W " in text else text for text in texts]
        state = ["--train", "pool.txt", "--unlabelled", "-1", "--out", "out", "--oracle", "file:none", "--pending", "pending.tsv",
                 "--batch", "150", "--norm", "query-minmax", "--device", "cpu", "--show", docs, "--topics", topics]
        self.ends(5, "reduce", *state, message="cran.qry: numbered by position, because pool.txt is")
        rows = list(csv.DictReader((self.folder / "pending.tsv").read_text().splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
        self.assertGreater(len({row["qid"] for row in rows}), 50)
        for row in rows:
            self.assertTrue(texts[int(row["qid"].lstrip("'")) - 1].endswith(row["query"]), row)
        self.expect(3, "reduce", *state, "--number-by-position=false", message="which differs from the text that pool.txt was made")
        # Made before pools had such checksums.
        self.file("pool.txt", re.sub(r" text_sums = \S+", "", (self.folder / "pool.txt").read_text()).encode())
        self.expect(3, "reduce", *state, message="set --number-by-position for positions, or --number-by-position=false")
        self.ends(5, "reduce", *state, "--number-by-position", message="need labels")


if __name__ == "__main__":
    harness.main()
