"""CSV and TSV, features by name, fractional and missing labels; and a row for each sentence of the pages about SVMlight files."""

import gzip
import json
import random

import harness
from harness import Row

NAMES = ["pagerank", "bm25", "length", "age"]


def drawn(seed, queries=12):
    """Documents: label, qid, docid, values by name (None: missing)."""
    draw = random.Random(seed)
    documents = []
    for q in range(queries):
        for d in range(draw.randint(5, 9)):
            label = draw.randrange(3)
            values = {name: None if draw.random() < 0.1
                      else round(draw.gauss(label * (i + 1), 2), 3) for i, name in enumerate(NAMES)}
            documents.append((label, f"0{q}", f"D-{q}-{d}", values))
    return documents


def delimited(documents, columns, delimiter=","):
    rows = [delimiter.join(columns)]
    for label, qid, docid, values in documents:
        cells = {"label": label, "qid": qid, "docid": f'"{docid}"', "x": 1, **values}
        rows.append(delimiter.join("" if cells[c] is None else str(cells[c]) for c in columns))
    return "\n".join(rows).encode() + b"\n"


def svmlight(documents, names=NAMES, number=None):
    lines = []
    for label, qid, docid, values in documents:
        features = " ".join(f"{number[n] if number else n}:{'NULL' if values[n] is None else values[n]}"
                            for n in names)
        lines.append(f"{label} qid:{qid} {features} # docid = {docid}\n")
    return "".join(lines).encode()


COLUMNS = ["label", "qid", "docid", *NAMES]
SHUFFLED = ["age", "qid", "bm25", "docid", "x", "pagerank", "label", "length"]
NUMBERS = {name: i + 1 for i, name in enumerate(sorted(NAMES))}


class Formats(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.train, self.test = drawn(1), drawn(2)
        self.file("train.csv", delimited(self.train, COLUMNS))
        self.file("train.tsv.gz", gzip.compress(delimited(self.train, COLUMNS, "\t")))
        self.file("train.names", svmlight(self.train))
        self.file("train.numbers", svmlight(self.train, number=NUMBERS))
        self.file("test.csv", delimited(self.test, SHUFFLED))
        self.file("test.names", svmlight(self.test, NAMES[::-1]))
        self.file("test.numbers", svmlight(self.test, number=NUMBERS))

    def out(self, *arguments, **options):
        return self.expect(0, *arguments, **options).stdout

    def test_every_form_gives_the_same_scores(self):
        expected = self.out("rank", "--train", "train.numbers", "--test", "test.numbers")
        self.assertEqual(len(expected.split()), len(self.test))
        for train in ("train.csv", "train.tsv.gz", "train.names"):
            for test in ("test.csv", "test.names"):
                with self.subTest(f"{train} {test}"):
                    self.assertEqual(self.out("rank", "--train", train, "--test", test), expected)
                    data = (self.folder / test).read_bytes()
                    self.assertEqual(self.out("rank", "--train", train, "--test", "-", input=data),
                                     expected)

    def test_names_travel_with_models_and_cuts(self):
        expected = self.out("rank", "--train", "train.numbers", "--test", "test.numbers")
        self.out("fit", "--train", "train.csv", "--model", "m", "--members", "rules")
        for test in ("test.csv", "test.names"):
            self.assertEqual(self.out("rank", "--model", "m", "--test", test), expected)
        self.out("reduce", "--train", "train.csv", "--out", "r.csv", "--model", "cuts.json")
        cuts = json.loads((self.folder / "cuts.json").read_text())
        self.assertEqual([(f["feature"], f["name"]) for f in cuts["features"]],
                         list(enumerate(sorted(NAMES), 1)))
        self.assertEqual(
            self.out("rank", "--train", "train.csv", "--discretizer", "cuts.json", "--test", "test.csv"),
            expected)
        self.expect(3, "rank", "--model", "m", "--test", "test.numbers",
                    message="test.numbers:1:1: found features with numbers, expected names such as age")
        self.out("fit", "--train", "train.numbers", "--model", "n", "--members", "rules")
        self.expect(3, "rank", "--model", "n", "--test", "test.csv",
                    message="test.csv:1:1: found features with names such as age, expected numbers")

    def test_names_decide_and_not_numbers(self):
        """A feature that test documents do not have is as one that they do not list."""
        lacking = [n for n in NAMES if n != "bm25"]
        self.file("lacking.csv", delimited(self.test, ["qid", "docid", *lacking, "x"]))
        self.file("lacking.numbers", svmlight(self.test, lacking, NUMBERS))
        for how in ("zero", "missing"):
            self.assertEqual(
                self.out("rank", "--train", "train.csv", "--test", "lacking.csv", "--unlisted", how),
                self.out("rank", "--train", "train.numbers", "--test", "lacking.numbers",
                         "--unlisted", how))

    def test_a_file_that_lacks_some_features(self):
        lacking = [n for n in NAMES if n != "bm25"]
        self.file("lacking.csv", delimited(self.test, ["qid", "docid", *lacking, "x"]))
        self.file("lacking.names", svmlight(self.test, lacking))
        self.out("fit", "--train", "train.csv", "--model", "m")
        self.out("discretize", "--train", "train.csv", "--out-dir", "d")
        warning = "rulerank: warning: {}: found no column for 1 of 4 features (bm25); all their " \
                  "values count as {}\n"
        data = (self.folder / "lacking.csv").read_bytes()
        label = delimited(self.test, ["label", "qid", *lacking])
        self.file("labels.csv", label)
        for line, name, value, options in (
                (("rank", "--model", "m", "--test", "lacking.csv"), "lacking.csv", "0", {}),
                (("rank", "--train", "train.csv", "--unlisted", "missing", "--test", "lacking.csv"),
                 "lacking.csv", "missing", {}),
                (("rank", "--model", "m", "--test", "-"), "standard input", "0", {"input": data}),
                (("explain", "--model", "m", "--test", "lacking.csv", "--qid", "03"), "lacking.csv",
                 "0", {}),
                (("tune", "--train", "train.csv", "--vali", "labels.csv", "--budget", "3"),
                 "labels.csv", "0", {}),
                (("discretize", "--discretizer", "d/discretizer.json", "--apply", "labels.csv",
                  "--out-dir", "e"), "labels.csv", "0", {}),
                (("reduce", "--discretizer", "d/discretizer.json", "--train", "labels.csv", "--out",
                  "r"), "labels.csv", "0", {})):
            with self.subTest(line=line):
                errors = self.expect(0, *line, **options).stderr.decode()
                self.assertEqual(errors.count("found no column"), 1, errors)
                self.assertIn(warning.format(name, value), errors)
        for test in ("lacking.names", "test.csv"):
            errors = self.expect(0, "rank", "--model", "m", "--test", test).stderr
            self.assertNotIn(b"found no column", errors)
        for part in ("train", "vali", "test"):
            columns = ["label", "qid", *(lacking if part == "test" else NAMES)]
            (self.folder / "folds/Fold1").mkdir(parents=True, exist_ok=True)
            self.file(f"folds/Fold1/{part}.csv", delimited(drawn(len(part)), columns))
        errors = self.expect(0, "experiment", "--folds", "folds", "--out-dir", "o", "--reduce-size",
                             "3", "--rank-size", "2").stderr.decode()
        self.assertIn(warning.format("folds/Fold1/test.csv", "0"), errors)

    def test_a_file_of_other_features_is_refused(self):
        others = delimited(self.test, ["qid", "docid", *NAMES]).decode()
        head, rows = others.split("\n", 1)
        self.file("others.csv", (head.upper().replace("QID", "qid").replace("DOCID", "docid") + "\n"
                                 + rows).encode())
        self.expect(3, "rank", "--train", "train.csv", "--test", "others.csv",
                    message="others.csv: found features such as")

    def test_the_reduced_set_is_records_behind_the_header(self):
        self.out("reduce", "--train", "train.csv", "--out", "r.txt", "--ids", "i.csv")
        lines = (self.folder / "train.csv").read_text().splitlines()
        chosen = (self.folder / "r.txt").read_text().splitlines()
        self.assertEqual(chosen[0], lines[0])
        self.assertEqual(chosen[1:], [line for line in lines[1:] if line in chosen])
        self.assertLess(len(chosen), len(lines))
        self.out("reduce", "--train", "train.names", "--out", "r.names", "--ids", "i.names")
        docids = [[row.split("\t")[1] for row in (self.folder / name).read_text().splitlines()]
                  for name in ("i.csv", "i.names")]
        self.assertEqual(*docids)
        self.assertEqual(self.out("rank", "--train", "r.txt", "--test", "test.csv"),
                         self.out("rank", "--train", "r.names", "--test", "test.csv"))

    def test_labels_that_are_asked_for_stand_in_the_records(self):
        self.file("pool.csv", delimited(self.train, [c for c in COLUMNS if c != "label"]))
        self.file("labels.tsv", b"line\tlabel\n" + b"".join(
            b"%d\t%d\n" % (line, document[0]) for line, document in enumerate(self.train)))
        self.out("reduce", "--train", "pool.csv", "--out", "r.csv", "--unlabelled", "-1", "--oracle",
                 "file:labels.tsv")
        self.out("reduce", "--train", "train.csv", "--out", "s.csv")
        self.assertEqual(self.out("rank", "--train", "r.csv", "--test", "test.csv"),
                         self.out("rank", "--train", "s.csv", "--test", "test.csv"))
        self.expect(3, "reduce", "--train", "pool.csv", "--out", "r.csv",
                    message="pool.csv:1:1: found no column label, expected one")

    def test_discretized_files_keep_their_form(self):
        self.out("discretize", "--train", "train.csv", "--apply", "test.csv", "--out-dir", "d")
        self.out("discretize", "--train", "train.names", "--apply", "test.names", "--out-dir", "d2")
        written = (self.folder / "d/test.csv").read_text().splitlines()
        self.assertEqual(written[0], "label,qid,docid," + ",".join(sorted(NAMES)))
        self.assertEqual(len(written), 1 + len(self.test))
        self.assertIn(" bm25:", (self.folder / "d2/test.names").read_text())
        self.assertEqual(self.out("rank", "--train", "d/train.csv", "--test", "d/test.csv"),
                         self.out("rank", "--train", "d2/train.names", "--test", "d2/test.names"))

    def test_where_a_feature_is_printed_its_name_is(self):
        for form in ("csv", "names"):
            line = ("--train", f"train.{form}", "--test", f"test.{form}", "--qid", "03")
            text = self.out("explain", *line).decode()
            self.assertIn("pagerank", text)
            self.assertNotIn("feature ", text)
            report = json.loads(self.out("explain", *line, "--format", "json"))
            self.assertIn('"name": "bm25"', json.dumps(report))
            self.assertIn(b"bm25:[", self.out("mine", "--train", f"train.{form}",
                                              "--min-support", "5"))
        self.assertEqual(self.out("explain", *line),
                         self.out("explain", "--train", "train.csv", *line[2:]))

    def test_the_dialogue_shows_names(self):
        self.file("pool.csv", delimited(self.train, [c for c in COLUMNS if c != "label"]))
        done = self.rulerank("reduce", "--train", "pool.csv", "--out", "r.csv", "--unlabelled", "-1",
                             "--oracle", "ask", "--resume", "j", input=b"a\nq\n")
        for name in NAMES:
            self.assertIn(name, done.stderr.decode())
        self.assertNotIn("feature 1 ", done.stderr.decode())

    def test_a_feature_order_by_names(self):
        self.file("order", "\n".join(NAMES).encode())
        self.file("numbers", "\n".join(str(NUMBERS[n]) for n in NAMES).encode())
        for name, form in (("order", "csv"), ("numbers", "numbers")):
            self.out("reduce", "--train", f"train.{form}", "--out", f"r.{form}", "--partitions", "2",
                     "--feature-order", f"file:{name}", "--ids", f"i.{form}")
        self.assertEqual(*[[row.split("\t")[1:] for row in
                            (self.folder / f"i.{form}").read_text().splitlines()]
                           for form in ("csv", "numbers")])
        self.expect(3, "reduce", "--train", "train.csv", "--out", "x", "--feature-order",
                    "file:numbers", message="numbers:1:1: found '4', expected a feature name of the")

    def test_single_features_by_name(self):
        table = self.out("evaluate", "--test", "test.csv", "--feature", "bm25,age", "--format", "tsv")
        self.assertIn(b"feature bm25\t", table)
        numbers = self.out("evaluate", "--test", "test.numbers", "--feature", "1,2", "--format", "tsv")
        self.assertEqual(table, numbers.replace(b"feature 1", b"feature age")
                         .replace(b"feature 2", b"feature bm25"))
        self.expect(2, "evaluate", "--test", "test.csv", "--feature", "3", message="by its name")
        self.expect(2, "evaluate", "--test", "test.csv", "--feature", "BM2",
                    message="(did you mean bm25?)")

    def test_texts_of_queries_as_ids(self):
        table = b"label,query,docid,a\n1,blue shoes,d,2\n0,blue shoes,e,1\n2,red,d,3\n0,red,e,2\n"
        self.file("texts.csv", table)
        self.file("ratings.csv", b"query,docid,rating\nblue shoes,d,1\nblue shoes,e,0\nred,d,2\n")
        rank = ["rank", "--train", "texts.csv", "--run", "texts.run", "--out", "s", "--test"]
        for test in (["texts.csv"], ["-"]):
            done = self.expect(0, *rank, *test, input=table)
            note = b": wrote %20 for each blank in ids of queries, such as blue%20shoes"
            self.assertEqual(done.stderr.count(note), 2, done.stderr)
            done = self.expect(0, "evaluate", "--qrels", "ratings.csv", "--run", "texts.run",
                               "--metrics", "NDCG")
            self.assertEqual(done.stderr, b"rulerank: warning: ratings.csv" + note + b"\n")
            self.assertIn(b"1.0000", done.stdout)
        done = self.expect(0, *rank, "-", input=b"label,qid,a\n1,blue%20shoes,2\n0,blue%20shoes,1\n")
        self.assertEqual(done.stderr.count(note), 1, done.stderr)  # of texts.csv alone

    def test_folds_and_an_experiment(self):
        self.out("split", "--in", "train.csv", "--folds", "3", "--out-dir", "csv")
        self.out("split", "--in", "train.numbers", "--folds", "3", "--out-dir", "numbers")
        header = (self.folder / "train.csv").read_bytes().splitlines()[0]
        for part in ("train", "vali", "test"):
            self.assertEqual((self.folder / f"csv/Fold2/{part}.txt").read_bytes().splitlines()[0],
                             header)
        results = {}
        for form in ("csv", "numbers"):
            self.out("experiment", "--folds", form, "--out-dir", f"{form}.out", "--reduce-size", "3",
                     "--rank-size", "2")
            results[form] = json.loads((self.folder / f"{form}.out/results.json").read_text())
        self.assertEqual([(s["name"], s["means"], s["folds"]) for s in results["csv"]["systems"]],
                         [(s["name"], s["means"], s["folds"]) for s in results["numbers"]["systems"]])
        features = [fold["feature"] for fold in results["csv"]["folds"]]
        for named, numbered in zip(features, [f["feature"] for f in results["numbers"]["folds"]]):
            self.assertEqual(named, {**numbered, "name": sorted(NAMES)[numbered["feature"] - 1]})

    def test_fractional_labels_where_a_measure_has_a_value(self):
        self.file("t.csv", b"label,qid,a\n0.5,q,1\n2.5,q,2\n0,q,3\n1,q,4\n")
        self.file("t.txt", b"0.5 qid:q a:1\n2.5 qid:q a:2\n0 qid:q a:3\n1 qid:q a:4\n")
        self.file("s", b"4\n3\n2\n1\n")
        line = ("evaluate", "--scores", "s", "--format", "json", "--gain", "linear")
        tables = [self.out(*line, "--test", test, "--metrics", "NDCG,tau,MAP", "--relevant-from",
                           "0.75") for test in ("t.csv", "t.txt")]
        self.assertEqual(*[table.replace(b"t.txt", b"t.csv") for table in tables])
        self.expect(2, *line, "--test", "t.csv", "--metrics", "MAP",
                    message="MAP with the fractional labels of t.csv needs --relevant-from")
        self.expect(2, "evaluate", "--scores", "s", "--test", "t.csv", "--metrics", "NDCG",
                    message="t.csv has fractional labels; use --gain linear")
        self.file("large", b"1000 qid:1 1:1\n0 qid:1 1:2\n")
        self.file("two", b"1\n2\n")
        self.expect(2, "evaluate", "--scores", "two", "--test", "large",
                    message="found label 1000 in large, whose gain exceeds a double; expected labels up to 900, or --gain linear")
        self.out("evaluate", "--scores", "two", "--test", "large", "--gain", "linear")
        self.file("q", b"1 0 d 1\n1 0 e 1000\n")
        self.file("r", b"1 Q0 d 1 1 t\n")
        self.expect(3, "evaluate", "--qrels", "q", "--run", "r", "--profile", "letor",
                    message="q:2:1: found label 1000, whose gain exceeds a double; expected labels up to 900, or --gain linear")
        self.expect(2, *line, "--test", "t.csv", "--metrics", "ERR@10", "--relevant-from", "1",
                    message="ERR@10 is not defined for fractional labels")
        self.expect(2, "evaluate", "--scores", "s", "--test", "t.csv", "--metrics", "NDCG@2",
                    message="NDCG@2: exponential gains need whole labels")
        self.file("u.csv", b"qid,a\nq,1\nq,2\n")
        self.expect(3, "evaluate", "--scores", "s", "--test", "u.csv",
                    message="u.csv:1:1: found no column label")
        for verb in (("reduce", "--out", "x"), ("fit", "--model", "x"), ("rank", "--test", "t.txt")):
            self.expect(3, *verb, "--train", "t.csv",
                        message='t.csv:2:1: label "0.5" is fractional, expected an integer of 0 or '
                                "more, because labels are classes; only evaluate reads fractional labels")

    def test_documents_to_rank_need_no_labels(self):
        expected = self.out("rank", "--train", "train.names", "--test", "test.names")
        bare = b"".join(line.split(b" ", 1)[1] + b"\n"
                        for line in (self.folder / "test.names").read_bytes().splitlines())
        self.file("bare.names", bare)
        self.file("bare.csv", delimited(self.test, ["docid", "qid", *NAMES]))
        self.file("half.csv", delimited(self.test, COLUMNS).replace(b"\n0,", b"\n,")
                  .replace(b"\n1,", b"\n1.5,"))
        for test in ("bare.names", "bare.csv", "half.csv"):
            self.assertEqual(self.out("rank", "--train", "train.csv", "--test", test), expected)
            self.assertEqual(
                self.out("rank", "--train", "train.csv", "--test", "-",
                         input=(self.folder / test).read_bytes()), expected)

    def test_options_of_columns_need_columns(self):
        for option in ("--label-column", "--qid-column", "--skip-columns"):
            message = ("found SVMlight's form, which has no columns, expected CSV or TSV with a header "
                       f"for {option}")
            self.expect(3, "fit", "train.names", "--model", "m", option, "rel",
                        message="train.names:1:1: " + message)
            self.expect(3, "rank", "--train", "train.csv", "--test", "-", option, "qid",
                        input=(self.folder / "test.names").read_bytes(), message=message)

    def test_regrouped_records(self):
        mixed = sorted(self.test, key=lambda document: document[2][-1])
        self.file("mixed.csv", delimited(mixed, COLUMNS))
        self.file("mixed.names", svmlight(mixed))
        self.expect(3, "rank", "--train", "train.csv", "--test", "mixed.csv", message="found query")
        self.assertEqual(*[self.out("rank", "--train", "train.csv", "--regroup", "--test", test)
                           for test in ("mixed.csv", "mixed.names")])

    def test_bad_input(self):
        line = "reduce --train {in} --out {out}"
        self.check_rows([
            Row(name, data, line, 3, message) for name, data, message in (
                ("a value", b"label,qid,a\n1,q,1\n0,q,x\n", '{in}:3:5: value "x" of feature a'),
                ("cells", b"label,qid,a\n1,q\n", "{in}:2:4: found 2 cells, expected 3 as in the header"),
                ("an open quote", b'label,qid,a\n1,"q,2\n', "{in}:2:3: found a quote that is not closed"),
                ("a column twice", b"label,qid,a,a\n1,q,2,3\n", '{in}:1:13: found column "a" twice'),
                ("no records", b"label,qid,a\n", "{in}:1:1: found no documents"),
                ("labels twice", b"label,QID,a,Label\n1,q,2,1\n",
                 "{in}:1:13: found the columns label and Label, expected --label-column label or --label-column Label"),
                ("a title that is not UTF-8", b"label,qid,gr\xf6e\n1,q,2\n", '{in}:1:11: the name "gr\\xf6e" is not UTF-8'),
                ("a name that is not UTF-8", b"1 qid:1 gr\xf6e:1\n", '{in}:1:9: the name "gr\\xf6e" is not UTF-8'),
                ("ids of documents twice", b"label,qid,id,a,docno\n1,q,2,1,2\n",
                 "{in}:1:16: found the columns id and docno, expected --skip-columns with one of them"),
                ("a decimal comma", b"label;qid;a\n1;q;0,5\n", '{in}:2:5: value "0,5" of feature a is not a number'),
                ("a command to a terminal", b"label,qid,a\033[2J\n1,q,2\n",
                 '{in}:1:11: column "a\\x1b[2J" has a control character'),
                ("the same in SVMlight", b"1 qid:1 a\xc2\x9bb:1\n",
                 '{in}:1:9: feature "a\\xc2\\x9bb" is not a number or a name'),
                ("an empty label", b"label,qid,a\n1,q,2\n,q,3\n",
                 "{in}:3:1: found no label, expected an integer of 0 or more (or --unlabelled -1 if"),
                ("names and numbers", b"label\tqid\ta\t7\n1\tq\t1\t2\n",
                 "{in}:1:13: found a feature by number"),
                ("mixed features", b"1 qid:1 a:1\n0 qid:1 2:1\n", "{in}:2:9: found a feature by number"),
            )])


TWO = b"1 qid:1 1:1 2:5\n0 qid:1 1:2 2:4\n"


class Svmlight(harness.CommandLine):
    """The rules of docs/reference/command-line.md for SVMlight files."""

    LINE = "rank --train {in} --test {test} --out {out}"

    def row(self, sentence, data, options="", code=0, message="", test=TWO, **files):
        return Row(sentence, data, f"{self.LINE} {options}", code, message,
                   files={"test": test, **files})

    def test_each_sentence(self):
        read, bad = self.row, lambda *a, **k: self.row(*a, code=3, **k)
        many = b"".join(b"%d qid:1 %d:%d 2147483647:%d\n" % (d % 2, 1 + 7_000_000 * d, d, d % 5)
                        for d in range(200))
        self.check_rows([
            read("<label> qid:<id> <feature>:<value> ... # comment", b"1 qid:1 1:1 # a\n0 qid:1 1:2 # b\n"),
            read("blank lines", b"\n" + TWO + b"\n \n"),
            read("comment lines", b"# a\n" + TWO + b"#b\n"),
            read("CRLF", TWO.replace(b"\n", b"\r\n")),
            read("string qids", TWO.replace(b"qid:1", b"qid:x/y:z")),
            read("integer-valued float labels", b"1.0 qid:1 1:1\n0.0 qid:1 1:2\n"),
            read("NULL and nan values", b"1 qid:1 1:NULL 2:1\n0 qid:1 1:nan 2:2\n"),
            read("unsorted features", b"1 qid:1 2:5 1:1\n0 qid:1 2:4 1:2\n"),
            bad("a duplicate feature", b"1 qid:1 1:1 1:1\n", message="{in}:1:13: found feature 1"),
            bad("feature 0", b"1 qid:1 0:1\n", message="{in}:1:9: found feature 0"),
            read("feature 0 with --zero-based", b"1 qid:1 0:1\n0 qid:1 0:2\n", "--zero-based"),
            bad("a negative label", b"-1 qid:1 1:1\n", message='{in}:1:1: label "-1" is negative'),
            bad("a fractional label", b"1.5 qid:1 1:1\n", message='{in}:1:1: label "1.5" is frac'),
            bad("a malformed number", b"1 qid:1 1:1.1.1\n", message='{in}:1:11: value "1.1.1"'),
            bad("an infinite number", b"1 qid:1 1:inf\n", message='{in}:1:11: value "inf"'),
            bad("an empty file", b"", message="{in}:1:1: found no documents"),
            bad("a query whose lines are not together", b"1 qid:1\n1 qid:2\n1 qid:1\n",
                message='{in}:3:3: found query "1" again'),
            read("the same with --regroup", b"1 qid:1 1:1\n1 qid:2 1:2\n0 qid:1 1:2\n", "--regroup"),
            read("test lists a later last feature", TWO, test=b"1 qid:9 1:1 7:3\n"),
            read("test lists an earlier last feature", TWO, test=b"1 qid:9 1:1\n"),
            read("--group gives the queries", b"1 1:1\n0 1:2\n", "--group {train_sizes} {test_sizes}",
                 test=b"1 1:1\n0 1:2\n0 1:3\n", train_sizes=b"1\n1\n", test_sizes=b"2\n1\n"),
            read("without both, all lines are one query, with a warning", b"1 1:1\n0 1:2\n",
                 message="no line has a qid, so all 2 documents are one query"),
            read("one query", TWO),
            read("one document", TWO, test=b"0 qid:1 1:1\n"),
            read("equal labels", b"1 qid:1 1:1\n1 qid:1 1:2\n"),
            read("a constant feature", b"1 qid:1 1:1 2:3\n0 qid:1 1:2 2:3\n"),
            read("a line of 10 MB", b"1 qid:1 1:1 " + b" " * 10_000_000 + b"\n0 qid:1 1:2\n"),
            read("feature ids up to 2^31-1", many),
            bad("a feature id beyond", b"1 qid:1 2147483648:1\n", message="{in}:1:9: feature"),
        ])
        self.check_rows([
            Row("a negative label with --unlabelled", b"-7 qid:1 1:1\n" + TWO,
                "evaluate --test {in} --scores {scores} --unlabelled -7 --out {out}", 0,
                files={"scores": b"1\n2\n3\n"}),
            Row("one document to learn from", b"1 qid:1 1:1\n",
                "reduce --train {in} --out {out}", 3, "{in}:1:1: no feature"),
        ])

    def test_memory_follows_the_distinct_features(self):
        lines = b"".join(b"%d qid:1 %d:%d\n" % (d % 2, 2147483647 - 1000 * (d % 50), d)
                         for d in range(1000))
        self.file("far", lines)
        self.expect(0, "reduce", "--train", "far", "--out", "r", "--manifest", "m.json")
        peak = json.loads((self.folder / "m.json").read_text())["peak_memory_bytes"]
        self.assertLess(peak, 300_000_000)

    def test_docids(self):
        """docid = X or #docid = X in the comment; without one qid-line. The comment is kept."""
        text = b"1 qid:a 1:1 # docid = X\n\n1 qid:a 1:2 #docid = Y inc = 1\n0 qid:b 1:3 # none\n"
        self.file("t", text)
        self.expect(0, "rank", "--train", "t", "--test", "t", "--out", "s", "--run", "r")
        ids = {line.split()[2] for line in (self.folder / "r").read_text().splitlines()}
        self.assertEqual(ids, {"X", "Y", "b-4"})
        self.expect(0, "discretize", "--train", "t", "--out-dir", "d")
        comments = [line.partition("#")[2] for line in (self.folder / "d/t").read_text().splitlines()]
        self.assertEqual(comments, ["docid = X", "docid = Y inc = 1", "none"])


if __name__ == "__main__":
    harness.main()
