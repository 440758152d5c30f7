"""Bad and odd inputs through `reduce`, and a few through every verb that reads documents."""

import gzip
import subprocess

import harness
from harness import Row

REDUCE = "reduce --train {in} --out {out}"
GOOD = b"1 qid:1 1:1 2:5\n0 qid:1 1:2 2:4\n2 qid:2 1:3 2:1\n0 qid:2 1:1 2:7\n"
ZIPPED = gzip.compress(GOOD, mtime=0)
# The text is stored uncompressed after 15 bytes; the file is cut after "2 qi" of the third line.
STORED_CUT = gzip.compress(GOOD, 0, mtime=0)[:15 + GOOD.index(b"d:2 1:3")]


def bad(name, data, message, options=""):
    return Row(name, data, f"{REDUCE} {options}", 3, message)


def good(name, data, options=""):
    return Row(name, data, f"{REDUCE} {options}", 0)


BAD = [
    # Labels.
    bad("negative label", b"-1 qid:1 1:1\n", '{in}:1:1: label "-1" is negative, expected'),
    bad("another negative label", b"-2 qid:1 1:1\n", "{in}:1:1: ", "--unlabelled -1"),
    bad("fractional label", b"1 qid:1 1:1\n1.5 qid:1 1:1\n", '{in}:2:1: label "1.5" is fractional'),
    bad("infinite label", b"inf qid:1 1:1\n", "{in}:1:1: "),
    bad("missing label", b"nan qid:1 1:1\n", "{in}:1:1: "),
    bad("label out of range", b"3000000000 qid:1 1:1\n", "{in}:1:1: label"),
    bad("a word for a label", b"good qid:1 1:1\n", '{in}:1:1: label "good" is not a number'),
    bad("no label", b"qid:1 1:1\n", "{in}:1:1: "),
    bad("a header", b"label,qid,f1\n1,1,0.5\n", "{in}:1:1: "),
    # Queries.
    bad("a query whose lines are not together", b"1 qid:1 1:1\n1 qid:2 1:1\n0 qid:1 1:2\n",
        '{in}:3:3: found query "1" again'),
    bad("a query without an id", b"1 qid: 1:1\n", "{in}:1:3: "),
    bad("a line without its query", b"1 qid:1 1:1\n0 1:1\n", "{in}:2:3: found no qid"),
    bad("a query on one line alone", b"1 1:1\n0 qid:1 1:1\n", "{in}:2:3: "),
    bad("two queries on a line", b"1 qid:1 qid:2 1:1\n", "{in}:1:9: "),
    # Features.
    bad("a duplicate feature", b"1 qid:1 5:1 5:2\n", "{in}:1:13: found feature 5 twice"),
    bad("a duplicate feature, apart", b"1 qid:1 5:1 3:1 5:2\n", "{in}:1:17: found feature 5"),
    bad("feature 0", b"1 qid:1 0:1\n", "{in}:1:9: found feature 0, expected 1 or more"),
    bad("a negative feature", b"1 qid:1 -3:1\n", "{in}:1:9: feature"),
    bad("feature 2^31", b"1 qid:1 2147483648:1\n", "{in}:1:9: feature"),
    bad("a word for a feature", b"1 qid:1 1:1 cost:1\n", "{in}:1:13: found a feature by name"),
    bad("no colon", b"1 qid:1 7\n", '{in}:1:9: found "7" without a colon'),
    bad("tabs between numbers", b"1\tqid:1\t0.5\t0.25\n", "{in}:1:9: "),
    bad("commas between features", b"1 qid:1 1:1,2:1\n", "{in}:1:11: value"),
    # Values.
    bad("no value", b"1 qid:1 1: 2:1\n", "{in}:1:11: value"),
    bad("an infinite value", b"1 qid:1 1:inf\n", '{in}:1:11: value "inf" of feature 1 is infinite'),
    bad("an infinite value, negative", b"1 qid:1 1:-Infinity\n", "{in}:1:11: "),
    bad("a value beyond doubles", b"1 qid:1 1:1e999\n", "{in}:1:11: value"),
    bad("a malformed value", b"1 qid:1 1:1.2.3\n", '{in}:1:11: value "1.2.3"'),
    bad("a decimal comma", b"1 qid:1 1:0,5\n", "{in}:1:11: value"),
    bad("a hexadecimal value", b"1 qid:1 1:0x1p3\n", "{in}:1:11: value"),
    bad("rubbish behind a value", b"1 qid:1 1:5kg\n", "{in}:1:11: value"),
    # Files.
    bad("an empty file", b"", "{in}:1:1: found no documents"),
    bad("blank lines alone", b"\n\n  \n", "{in}:1:1: found no documents"),
    bad("comments alone", b"# nothing\n", "{in}:1:1: found no documents"),
    bad("binary rubbish", bytes(range(256)) * 4, "{in}:1:1: "),
    bad("NUL bytes", bytes(64), "{in}:1:1: "),
    bad("UTF-16", "1 qid:1 1:1\n".encode("utf-16"), "{in}:1:1: "),
    bad("a NUL in a value", b"1 qid:1 1:1\0\n", "{in}:1:11: "),
    bad("carriage returns for line ends", b"1 qid:1 1:1\r0 qid:1 1:2\r", "{in}:1:"),
    bad("truncated gzip", ZIPPED[:-12], "{in}:"),
    bad("truncated gzip, its text not compressed", STORED_CUT, "{in}:3:5: "),
    bad("truncated gzip head", ZIPPED[:6], "{in}:1:1: "),
    bad("damaged gzip", ZIPPED[:-8] + b"12345678", "{in}:5:1: "),
    bad("rubbish behind gzip", ZIPPED + b"rubbish", "{in}:5:1: "),
    bad("truncated zstd", b"\x28\xb5\x2f\xfd\x04", "{in}:1:1: "),
    bad("a fault in the text of a gzip file", gzip.compress(b"1 qid:1 1:x\n"), "{in}:1:11: value"),
    bad("no feature with two bins", b"1 qid:1 1:5\n0 qid:1 1:5\n", "{in}:1:1: "),
    bad("no feature at all", b"1 qid:1\n0 qid:1\n", "{in}:1:1: "),
    bad("no label known", b"-1 qid:1 1:1\n-1 qid:1 1:2\n", "{in}:2:1: ", "--unlabelled -1"),
]

GOOD_ROWS = [
    good("plain", GOOD),
    good("gzip", ZIPPED),
    good("two gzip members", gzip.compress(GOOD[:32]) + gzip.compress(GOOD[32:])),
    good("CRLF", GOOD.replace(b"\n", b"\r\n")),
    good("no line end at the end", GOOD[:-1]),
    good("blank and comment lines", b"# head\n\n" + GOOD + b"  # tail\n\n"),
    good("comments behind", b"1 qid:1 1:1 # docid = a\n0 qid:1 1:2 #docid = b\n"),
    good("string queries", b"1 qid:caf\xc3\xa9/a:b 1:1\n0 qid:x 1:2\n"),
    good("integer-valued float labels", b"1.0 qid:1 1:1\n0e0 qid:1 1:2\n"),
    good("missing values", b"1 qid:1 1:NULL 2:1\n0 qid:1 1:nan 2:2\n1 qid:1 1:3 2:NaN\n"),
    good("unsorted features", b"1 qid:1 3:1 1:1\n0 qid:1 2:2 1:3\n"),
    good("feature 0 where it is asked for", b"1 qid:1 0:1\n0 qid:1 0:2\n", "--zero-based"),
    good("queries apart, regrouped", b"1 qid:1 1:1\n1 qid:2 1:1\n0 qid:1 1:2\n", "--regroup"),
    good("no queries", b"1 1:1\n0 1:2\n"),
    good("equal labels", b"1 qid:1 1:1\n1 qid:1 1:2\n"),
    good("a constant feature beside another", b"1 qid:1 1:1 2:4\n0 qid:1 1:1 2:5\n"),
    good("the largest feature", b"1 qid:1 2147483647:1\n0 qid:1 2147483647:2\n"),
    good("a line of 10 MB", b"1 qid:1 1:1 # " + b"x" * 10_000_000 + b"\n0 qid:1 1:2\n"),
    good("a byte order mark", b"\xef\xbb\xbf" + GOOD),
    good("values too small for a double", b"1 qid:1 1:1e-999\n0 qid:1 1:1\n"),
]


class Reduce(harness.CommandLine):
    def test_bad_inputs(self):
        """The harness checks that each message begins with FILE:LINE:COLUMN, for every row."""
        self.check_rows(BAD)

    def test_odd_and_valid(self):
        self.check_rows(GOOD_ROWS)

    def test_there_are_enough_of_them(self):
        self.assertEqual({row.code for row in BAD}, {3})
        self.assertGreaterEqual(len({row.data for row in BAD}), 40)
        self.assertGreaterEqual(len({row.data for row in GOOD_ROWS}), 15)

    def test_standard_input(self):
        for data in (GOOD, ZIPPED):
            self.expect(0, "reduce", "--train", "-", "--out", "r.txt", input=data)
        self.expect(3, "reduce", "--train", "-", "--out", "r.txt", input=b"1 qid:1 1:x\n",
                    message="standard input:1:11: value")

    def test_zstd(self):
        try:
            packed = subprocess.run(["zstd", "-qc"], input=GOOD, stdout=subprocess.PIPE, check=True)
        except FileNotFoundError:
            self.skipTest("needs the program zstd")
        self.check_rows([good("zstd", packed.stdout),
                         bad("truncated zstd", packed.stdout[:-5], "{in}:"),
                         bad("damaged zstd", packed.stdout[:-9] + b"123456789", "{in}:")])

    def test_group_sizes(self):
        text = b"1 1:1\n0 1:2\n2 1:3\n"
        line = f"{REDUCE} --group {{sizes}}"
        self.check_rows([
            Row("two groups", text, line, 0, files={"sizes": b"1\n2\n"}),
            Row("too few", text, line, 3, "{sizes}:2:1: ", files={"sizes": b"1\n1\n"}),
            Row("too many", text, line, 3, "{sizes}:2:1: ", files={"sizes": b"1\n3\n"}),
            Row("none", text, line, 3, "{sizes}:1:1: ", files={"sizes": b""}),
            Row("a word", text, line, 3, "{sizes}:2:1: ", files={"sizes": b"1\ntwo\n"}),
        ])

    def test_wrong_options(self):
        self.check_rows([
            Row(options, GOOD, f"{REDUCE} {options}", 2)
            for options in ("--rule-size 1", "--rule-size x", "--bins 1", "--bins 251",
                            "--bins many", "--method round", "--partitions 0", "--partitions 9999",
                            "--feature-order best", "--min-support -1", "--min-confidence 2",
                            "--min-confidence nan", "--missing-values maybe", "--norm l2",
                            "--unlabelled 1", "--max-documents -1", "--oracle crystal",
                            "--discretizer {in} --bins 5")])


class EveryReader(harness.CommandLine):
    """The reader is one: each verb that reads documents says the same of the same fault."""

    LINES = (REDUCE,
             "discretize --train {in} --out-dir {in}.d",
             "fit --train {in} --model {out}",
             "rank --train {in} --test {good} --out {out}",
             "rank --train {good} --test {in} --out {out}",
             "evaluate --test {in} --scores {scores}",
             "split --in {in} --folds 3 --out-dir {in}.d")

    def test_bad_inputs(self):
        files = {"good": GOOD, "scores": b"1\n2\n"}
        for line in self.LINES:
            with self.subTest(line):
                self.check_rows([
                    Row(f"{line}: value", b"1 qid:1 1:1\n0 qid:1 1:x\n", line, 3, "{in}:2:11: value",
                        files),
                    Row(f"{line}: empty", b"", line, 3, "{in}:1:1: found no documents", files),
                    Row(f"{line}: cut", ZIPPED[:-12], line, 3, "{in}:", files)])


class OtherFiles(harness.CommandLine):
    """Messages about files other than documents have line and column, too."""

    def check(self, line, *faults, **files):
        self.check_rows([Row(f"{line}: {message}", data, line, 3, f"{{in}}:{message}", files)
                         for data, message in faults])

    def test_scores(self):
        self.check("evaluate --test {test} --scores {in}",
                   (b"", "1:1: found no scores"), (b"\n\n", "1:1: found no scores"),
                   (b"1\n 2x\n3\n", "2:2: found '2x'"), (b"1\nnan\n", "2:1: found 'nan'"),
                   (b"1\n2\n3\n", "3:1: found 3 scores, expected 4"),
                   (b"1\n2\n3\n4\n5\n", "5:1: found 5 scores, expected 4"),
                   (b"1 0 1\n1 0 2\n2 0 3\n2 1 4\n", "2:1: found index 0, expected 1"), test=GOOD)

    def test_judgments_and_runs(self):
        qrels, run = b"1 0 a 1\n1 0 b 0\n", b"1 Q0 a 1 0.5 t\n"
        self.check("evaluate --qrels {in} --run {run}",
                   (b"", "1:1: found no judgments"), (b"1 0 a\n", "1:5: found 'a', expected a"),
                   (b"1 0 a 1\n1 0 2\n", "2:5: found 3 columns, expected 4"),
                   (b"1 a 1\n1 0 b 1\n", "2:7: found 4 columns, expected 3 as on the first line"),
                   (b"1 0 a good\n", "1:7: found 'good'"), run=run)
        self.check("evaluate --qrels {qrels} --run {in}",
                   (b"", "1:1: found no documents"), (b"1 Q0 a 1 x t\n", "1:10: found 'x'"),
                   (run + run, "2:6: "), (b"7 Q0 a 1 0.5 t\n", "1:1: found no query that"),
                   qrels=qrels)

    def test_an_order_of_features(self):
        self.check("reduce --train {train} --out {out} --feature-order file:{in}",
                   (b"# none\n", "1:1: found no feature number"), (b"1\ntwo\n", "2:1: found 'two'"),
                   (b"1\n 1\n", "2:2: found feature 1 again"), train=GOOD)

    def test_cuts(self):
        head = b'{"format": "rulerank-discretizer",\n '
        for line in ("reduce --train {train} --out {out} --discretizer {in}",
                     "rank --train {train} --test {train} --out {out} --discretizer {in}"):
            self.check(line, (b"", "1:1: found an empty file"), (head + b"?}", "2:2: found malformed JSON"),
                       (b"{}", "1:1: format: not found"),
                       (head + b'"version": 7}', "1:1: version: found 7"), train=GOOD)

    def test_models(self):
        self.check("rank --model {in} --test {test} --out {out}",
                   (b"", "1:1: not a model"), (GOOD, "1:1: not a model"), test=GOOD)

    def test_too_few_queries_to_split(self):
        self.check("split --in {in} --folds 3 --out-dir {in}.d", (GOOD, "1:1: found 2 queries"))


if __name__ == "__main__":
    harness.main()
