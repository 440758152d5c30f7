"""The verbs fit and rank."""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess

import harness
from harness import Row

TRAIN = b"".join(b"%d qid:%d 1:%d 2:%d 3:%d # docid = D%d\n" % (d % 3, d // 6, d % 7, d % 5, d % 2, d)
                 for d in range(60))
TEST = b"".join(b"0 qid:%d 1:%d 2:%d 9:1 # docid = T%d\n" % (d // 4, d % 6, d % 4, d)
                for d in range(16))
def member(rule_size, method="tube", **options):
    """A member of a settings file, as `tune` writes it."""
    return {"discretizer": {"method": method, "bins": 4, "missing_values": "item",
                            "unlisted": "zero", "norm": "none"},
            "rule_size": rule_size, "min_support": 1, "min_confidence": 0.001, "support_weight": 0,
            "smoothing": 0, "feature_share": 1, **options}


SEVERAL = json.dumps({"rulerank_settings": 1, "members": [
    member(3), member(4, "width", smoothing=5), member(2, feature_share=0.6)]}).encode()
COLLECTION = pathlib.Path(__file__).resolve().parents[2] / "docs/collection"
CONSTANT = b"1 qid:1 1:5\n0 qid:1 1:5\n"


class Rank(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.train = self.file("train.txt", TRAIN)
        self.test = self.file("test.txt", TEST)
        self.model = self.folder / "model"

    def scores(self, *words, **options):
        """The standard output of `rank`."""
        return self.expect(0, "rank", *words, "--quiet", **options).stdout

    def fit(self, *words, **expected):
        self.expect(0, "fit", "--train", self.train, "--model", self.model, *words, **expected)

    def fit_rules(self, *words):
        self.fit("--members", "rules", *words)

    def test_a_file_without_features_of_the_model(self):
        other = self.file("other.txt", b"0 qid:1 7:1\n0 qid:1 8:1\n")
        self.fit()
        warning = b"no document lists a feature of the model, so all documents of a query tie"
        for verb in (["rank"], ["explain", "--qid", 1]):
            self.assertEqual(self.expect(0, *verb, "--model", self.model, "--test", other).stderr.count(warning), 1)
            self.assertNotIn(warning, self.expect(0, *verb, "--model", self.model, "--test", self.test).stderr)

    def test_engines_threads_and_ways_in_give_the_same_bytes(self):
        for options in ([], ["--rule-size", 4], ["--rule-size", 2, "--min-support", 3],
                        ["--support-weight", -0.25, "--smoothing", 5, "--method", "width"],
                        ["--min-confidence", 0.3, "--bins", 3]):
            with self.subTest(options=options):
                whole = self.scores("--train", self.train, "--test", self.test, *options)
                self.assertEqual(len(whole.splitlines()), 16)
                for more in (["--engine", "lrar"], ["--engine", "lrar", "--cache-memory", "1KB"],
                             ["--engine", "project", "--threads", 3]):
                    self.assertEqual(whole, self.scores("--train", self.train, "--test", self.test,
                                                        *options, *more))
                self.fit_rules(*options)
                self.assertEqual(whole, self.scores("--model", self.model, "--test", self.test))
                self.assertEqual(whole, self.scores("--model", self.model, "--test", "-",
                                                    input=TEST))

    def test_long_work_is_announced(self):
        line = " ".join(f"{f}:%d" for f in range(1, 251))
        text = "".join(f"{d % 2} qid:1 {line % ((d % 2,) * 250)}\n" for d in range(40)).encode()
        train, test = self.file("alike", text), self.file("one", text.splitlines(True)[0])

        def begin(_):
            process = self.start("rank", "--train", train, "--test", test, "--rule-size", "6",
                                 "--threads", "1", "--out", "s")
            # 8.0e9 itemsets of one to five of 250 items.
            self.assertEqual(harness.first_message(process.stderr), b"rulerank: ranking takes about 40 s\n")
            return process

        self.expect_stopped(self.held_at_work(begin), signal.SIGINT)
        errors = self.expect(0, "rank", "--train", train, "--test", test, "--rule-size", "3").stderr
        self.assertNotIn(b"takes about", errors)

    def test_one_is_no_plural(self):
        one = self.file("one", TEST.splitlines(True)[0])
        self.assertIn(b"rulerank: ranked 1 document of 1 query with project\n",
                      self.expect(0, "rank", "--train", self.train, "--test", one).stderr)
        columns = self.file("one-column", b"1 qid:1 7:1\n0 qid:1 7:2\n")
        self.expect(0, "fit", "--train", columns, "--model", "m", "--members", "rules",
                    message="2 documents: 1 feature with items, 4 items; wrote m")
        self.expect(0, "discretize", "--train", columns, "--out-dir", "d",
                    message="1 of 1 feature has cuts; wrote them to ")
        self.expect(0, "reduce", "--train", columns, "--out", "r", message="in 1 partition by")
        table = self.expect(0, "evaluate", "--test", columns, "--feature", "7").stdout
        self.assertIn(b"; 1 query", table)

    def test_group_sizes_for_one_of_the_files(self):
        bare = self.file("bare.txt", b"".join(b" ".join([label, *rest]) + b"\n" for label, _, *rest
                                              in map(bytes.split, TEST.splitlines())))
        sizes = self.file("sizes", b"4\n" * 4)
        options = ["--train", self.train, "--norm", "query-minmax"]  # so that queries matter
        whole = self.scores(*options, "--test", self.test)
        self.assertNotEqual(whole, self.scores(*options, "--test", bare))
        self.assertEqual(whole, self.scores(*options, "--test", bare, "--group", "", "--group",
                                            sizes))
        self.expect(3, "rank", *options, "--test", bare, "--group", sizes,
                    message="expected none, because")

    def test_group_sizes_of_a_pool(self):
        bare = [b" ".join([line.split()[0], *line.split()[2:5]]) + b"\n"
                for line in TRAIN.splitlines()]
        self.file("bare", b"".join(bare))
        self.file("pool", b"".join([*bare, b"0 1:3 2:9 3:1\n"]))
        self.file("sizes", b"6\n" * 10)
        self.file("pool-sizes", b"6\n" * 9 + b"7\n")
        line = ["fit", "--train", "bare", "--pool", "pool", "--model", self.model, "--group"]
        self.expect(0, *line, "sizes", "pool-sizes",
                    message="60 labelled documents of a pool of 61: ")
        self.expect(3, *line, "sizes", "sizes", message="sizes:")

    def test_cuts_given_are_used(self):
        self.expect(0, "discretize", "--train", self.train, "--bins", 3, "--out-dir", "d")
        given = self.scores("--train", self.train, "--test", self.test, "--discretizer",
                            "d/discretizer.json")
        self.assertEqual(given, self.scores("--train", self.train, "--test", self.test,
                                            "--bins", 3))
        self.assertNotEqual(given, self.scores("--train", self.train, "--test", self.test))

    def test_a_tag_is_one_word(self):
        for tag in ("", "my tag", "a\nb"):
            self.expect(2, "rank", "--train", self.train, "--test", self.test, "--run", "run",
                        "--tag", tag, message="--tag: found")
        self.expect(2, "rank", "--train", self.train, "--test", self.test, "--tag", "mine", message="--tag needs --run")

    def test_run(self):
        scores = self.scores("--train", self.train, "--test", self.test, "--run", "run", "--tag",
                             "mine").split()
        lines = [line.split() for line in (self.folder / "run").read_text().splitlines()]
        self.assertEqual(len(lines), 16)
        by_document = {f"T{d}": score for d, score in enumerate(scores)}
        for query in range(4):
            mine = [line for line in lines if line[0] == str(query)]
            wanted = sorted(range(4 * query, 4 * query + 4), key=lambda d: -float(scores[d]))
            self.assertEqual([line[2] for line in mine], [f"T{d}" for d in wanted])
            self.assertEqual([line[3] for line in mine], ["1", "2", "3", "4"])
            for line in mine:
                self.assertEqual(line[4].encode(), by_document[line[2]])
                self.assertEqual((line[1], line[5]), ("Q0", "mine"))

    def test_a_query_is_answered_when_it_is_complete(self):
        self.fit()
        expected = self.scores("--model", self.model, "--test", self.test).splitlines(True)
        process = subprocess.Popen([harness.PROGRAM, "rank", "--model", str(self.model), "--test",
                                    "-", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = TEST.splitlines(True)
        for query in range(3):
            # Its four lines, and the next query's first, which says that it is complete.
            process.stdin.write(b"".join(lines[4 * query + (query > 0):4 * query + 5]))
            process.stdin.flush()
            for d in range(4 * query, 4 * query + 4):
                self.assertEqual(process.stdout.readline(), expected[d])
        process.stdin.write(b"".join(lines[13:]))
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"".join(expected[12:]))
        self.assertEqual(process.wait(), 0)

    def test_a_query_is_answered_at_the_blank_line_behind_it(self):
        self.fit()
        expected = self.scores("--model", self.model, "--test", self.test).splitlines(True)
        lines = TEST.splitlines(True)
        table = [b"%d,%b\n" % (d // 4, b",".join(pair.split(b":")[1] for pair in line.split()[2:5]))
                 for d, line in enumerate(lines)]
        for header, rows in ((b"", lines), (b"", [line.partition(b" ")[2] for line in lines]),
                             (b"qid,1,2,9\n", table)):
            process = subprocess.Popen([harness.PROGRAM, "rank", "--model", str(self.model), "--test",
                                        "-", "--quiet"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            process.stdin.write(header)
            for query in range(4):
                process.stdin.write(b"".join(rows[4 * query:4 * query + 4]) + b"\n")
                process.stdin.flush()
                for d in range(4 * query, 4 * query + 4):
                    self.assertEqual(process.stdout.readline(), expected[d])
            process.stdin.close()
            self.assertEqual(process.stdout.read(), b"")
            self.assertEqual(process.wait(), 0)

    def test_a_run_is_written_at_the_blank_line(self):
        """On a pipe that stays open a query and a blank line are answered by its documents, best first, with their ids."""
        self.fit()
        self.scores("--model", self.model, "--test", self.test, "--run", "whole")
        expected = (self.folder / "whole").read_bytes().splitlines(True)
        process = subprocess.Popen([harness.PROGRAM, "rank", "--model", str(self.model), "--test", "-", "--out", "/dev/null",
                                    "--run", "-", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = [line.partition(b" ")[2] for line in TEST.splitlines(True)]
        for query in range(4):
            process.stdin.write(b"".join(lines[4 * query:4 * query + 4]) + b"\n")
            process.stdin.flush()
            for place in range(4):
                answer = process.stdout.readline()
                self.assertEqual(answer, expected[4 * query + place])
                self.assertEqual(answer.split()[:2] + answer.split()[3:4], [b"%d" % query, b"Q0", b"%d" % (place + 1)])
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")
        self.assertEqual(process.wait(), 0)

    def test_a_query_does_not_go_on_behind_its_blank_line(self):
        self.fit()
        lines = TEST.splitlines(True)
        parted = b"".join([*lines[:2], b"\n", *lines[2:]])
        done = self.expect(3, "rank", "--model", self.model, "--test", "-", input=parted,
                           message='standard input:4:3: found more lines of query "0", expected its lines '
                           "together (the blank line 3 ended it)")
        self.assertEqual(len(done.stdout.splitlines()), 2)
        # Nor does it come again after others; what comes after it is not read.
        again = TEST + b"\n" + lines[0] + b"\n" + lines[0].replace(b"qid:0", b"qid:new")
        done = self.expect(3, "rank", "--model", self.model, "--test", "-", input=again,
                           message=f'standard input:{len(lines) + 2}:3: found query "0" again')
        self.assertEqual(len(done.stdout.splitlines()), len(lines))
        # A file is no stream: there blank lines mean nothing.
        self.assertEqual(self.scores("--model", self.model, "--test", self.file("parted", parted)),
                         self.scores("--model", self.model, "--test", self.test))

    def test_manifest(self):
        self.scores("--train", self.train, "--test", self.test, "--manifest", "m", "--engine",
                    "lrar", "--min-support", 2)
        manifest = json.loads((self.folder / "m").read_text())
        self.assertEqual(manifest["engine"], "lrar")
        self.assertEqual(manifest["training_documents"], 60)
        self.assertEqual(manifest["rules"]["min_support"], 2)
        self.assertEqual(manifest["queries"], 4)
        self.assertGreater(manifest["cache"]["hits"], manifest["cache"]["misses"])
        for stage in ("read", "discretize", "prepare", "rank", "write"):
            self.assertIn(stage, manifest["seconds"])
        summary = self.expect(0, "rank", "--train", self.train, "--test", self.test, "--out", "s",
                              "--json").stdout
        self.assertEqual(json.loads(summary)["documents"], 16)

    def test_files_without_the_name_of_their_option(self):
        self.expect(0, "fit", self.train, "--model", "m", "--members", "linear")
        self.expect(0, "fit", "--train", self.train, "--model", "named", "--members", "linear")
        self.assertEqual((self.folder / "m").read_bytes(), (self.folder / "named").read_bytes())
        self.assertEqual(self.expect(0, "rank", self.test, "--model", "m").stdout,
                         self.scores("--model", "m", "--test", self.test))
        self.expect(2, "fit", self.train, self.test, "--model", "m", message=f"found '{self.test}', expected an option of fit")

    def test_json_on_standard_output_has_each_query_best_first(self):
        self.expect(0, "fit", self.train, "--model", "m", "--members", "linear")
        scores = [float(line) for line in self.scores("--model", "m", "--test", self.test).split()]
        lines = self.expect(0, "rank", self.test, "--model", "m", "--json").stdout.splitlines()
        ranked = [json.loads(line) for line in lines]
        self.assertEqual(len(ranked), 4)
        self.assertEqual(sorted(d["score"] for query in ranked for d in query["documents"]), sorted(scores))
        for query in ranked:
            of_query = [document["score"] for document in query["documents"]]
            self.assertEqual(of_query, sorted(of_query, reverse=True))
        run = self.expect(0, "rank", self.test, "--model", "m", "--out", "s", "--run", "-").stdout.decode().splitlines()
        self.assertEqual([d["docid"] for query in ranked for d in query["documents"]], [line.split()[2] for line in run])

    def test_features_of_one_side_alone(self):
        odd = self.file("odd.txt", b"0 qid:1 77:1\n0 qid:1 1:1 2:3 3:0\n")
        self.assertEqual(len(self.scores("--train", self.train, "--test", odd).split()), 2)
        # No item in common at all: the mean label, which is 1.
        nothing = self.scores("--train", self.train, "--test", odd, "--unlisted", "missing",
                              "--missing-values", "none").split()
        self.assertEqual(nothing[0], b"1")

    def test_a_model_and_options_that_contradict_it(self):
        self.fit_rules("--rule-size", 4)
        ranking = ["rank", "--model", self.model, "--test", self.test]
        self.expect(0, *ranking, "--rule-size", 4)
        self.expect(2, *ranking, "--rule-size", 3, message="was fitted with 4")
        self.expect(2, *ranking, "--smoothing", 1, message="was fitted with 0")
        self.expect(2, *ranking, "--bins", 10, message="--bins")
        self.expect(2, *ranking, "--train", self.train, message="--train")

    def test_models_that_are_none(self):
        self.fit()
        whole = self.model.read_bytes()
        for name, data in (("cut", whole[:-1]), ("longer", whole + b"\n"), ("empty", b""),
                           ("foreign", TRAIN), ("flipped", whole[:-5] + b"\x7f" + whole[-4:]),
                           ("later", whole.replace(b"model 3 ", b"model 4 ", 1))):
            with self.subTest(name):
                path = self.file(name, data)
                self.expect(3, "rank", "--model", path, "--test", self.test,
                            message=f"{path}:1:1: ")

    def test_a_model_of_version_1_is_to_be_fitted_again(self):
        body = b'{"discretizer": {}, "options": {}, "documents": 1, "columns": []}\n'
        digest = hashlib.sha256(body).hexdigest().encode()
        old = self.file("old.model", b"rulerank-model 1 " + digest + b"\n" + body)
        self.expect(3, "rank", "--model", old, "--test", self.test,
                    message=f"{old}:1:1: found a model of version 1, expected 3; an earlier rulerank "
                            "wrote it, so run `rulerank fit` again")

    def test_numbers_of_a_model_that_do_not_fit(self):
        self.fit_rules()
        header, rest = self.model.read_bytes().split(b"\n", 2)[1:]
        for found, changed, message in (
                (b'"rule_size":3', b'"rule_size":-1', "members[0].options.rule_size: found -1"),
                (b'"min_support":1', b'"min_support":1.5', "min_support: found 1.5"),
                (b'"max_label":2', b'"max_label":0', "training[0]: found label"),
                (b'"cuts":0', b'"cuts":' + b"[" * 90000, "JSON of more than 500 nested levels")):
            with self.subTest(message):
                body = header.replace(found, changed, 1) + b"\n" + rest
                digest = hashlib.sha256(body).hexdigest().encode()
                path = self.file("bad.model", b"rulerank-model 3 " + digest + b"\n" + body)
                self.expect(3, "rank", "--model", path, "--test", self.test, message=message)

    def test_a_model_of_version_2_is_read(self):
        self.fit_rules()
        whole = self.model.read_bytes()
        before = self.file("before.model", whole.replace(b"model 3 ", b"model 2 ", 1))
        self.assertEqual(self.scores("--model", before, "--test", self.test),
                         self.scores("--model", self.model, "--test", self.test))

    def test_kinds_of_members(self):
        line = ["--train", self.train, "--test", self.test]
        seen = {self.scores(*line)}
        for kinds in (["scorecard"], ["scorecard", "--loss", "list"], ["scorecard", "--smoothness", 3],
                      ["scorecard", "--loss", "point", "--points-penalty", 0.01], ["card"],
                      ["card", "--smoothness", 1, "--loss", "pair", "--max-features", 2, "--max-points", 9], ["linear"],
                      ["linear", "--strength", 300], ["linear,rules"], ["joint"], ["joint", "--bins", 3, "--pairs", 0],
                      ["rules,scorecard,linear", "--method", "width", "--rule-size", 2]):
            with self.subTest(kinds=kinds):
                whole = self.scores(*line, "--members", *kinds)
                self.assertEqual(len(whole.splitlines()), 16)
                self.assertNotIn(whole, seen)
                seen.add(whole)
                self.fit("--members", *kinds)
                for more in ([], ["--threads", 3]):
                    self.assertEqual(whole, self.scores("--model", self.model, "--test", self.test,
                                                        *more))
                self.assertEqual(whole, self.scores("--model", self.model, "--test", "-", input=TEST))
        done = self.expect(0, "fit", "--train", self.train, "--model", self.model, "--members",
                           "scorecard", "--json")
        self.assertEqual(json.loads(done.stdout)["features"], 3)
        self.assertIn(b"60 documents: points of ", done.stderr)
        done = self.expect(0, "rank", "--model", self.model, "--test", self.test)
        self.assertIn(b"with scorecard", done.stderr)
        self.expect(0, "fit", "--train", self.train, "--model", self.model, "--members", "joint",
                    message="60 documents: curves of 3 features and 0 pairs by cross-fitting; wrote ")
        self.expect(2, "fit", "--train", self.train, "--model", self.model, "--members", "linear", "--pairs", 3,
                    message="--pairs applies to members of the kind joint alone; expected --members joint")

    def test_a_card_has_whole_points_and_says_what_its_size_costs(self):
        self.fit("--members", "card", "--max-features", 2, "--max-points", 20, "--loss", "pair",
                 message=" by cross-fitting; wrote ")
        self.expect(0, "rank", "--model", self.model, "--test", self.test, "--out", "s.txt", message="with card; wrote the scores to")
        scores = self.scores("--model", self.model, "--test", self.test).split()
        self.assertTrue(all(float(score).is_integer() and 0 <= float(score) <= 40 for score in scores))
        found = json.loads(self.expect(0, "inspect", "--model", self.model, "--format", "json").stdout)["members"][0]
        self.assertLessEqual(len({item["feature"] for item in found["items"]}), 2)
        self.assertEqual(found["options"]["page"], {"max_features": 2, "points": 20, "target": "labels"})
        self.assertIn(max(item["points"] for item in found["items"]), range(1, 21))
        self.expect(0, "sample", "--documents", 600, "--features", 8, "--queries", 30, "--fold-count", 3, "--out-dir", "s",
                    "--quiet")
        line = ["fit", "--train", "s/Fold1/train.txt", "--model", self.model, "--members", "card", "--target", "labels"]
        self.expect(0, *line, message="at most 3 features: NDCG ")
        shown = self.expect(0, "inspect", "--model", self.model).stdout.decode()
        for part in ("Kind card", "What a score means", "Sizes by cross-fitting over 5 folds: NDCG "):
            self.assertIn(part, shown)
        self.expect(0, *line, "--loss", "point", message="squared error per query ")
        self.expect(2, *line, "--points-penalty", "cross-fit", message="--points-penalty: found cross-fit, expected a number")
        self.expect(2, "rank", "--model", self.model, "--test", self.test, "--max-features", 3,
                    message="--model excludes --max-features")
        self.expect(2, "fit", "--train", self.train, "--model", self.model, "--members", "card", "--max-features", 0,
                    message="--max-features")
        self.expect(2, "fit", "--train", self.train, "--model", self.model, "--members", "scorecard", "--max-points", 10,
                    message="--max-points")

    def card_of(self, model):
        return self.expect(0, "inspect", "--model", model, "--format", "card").stdout.decode()

    def test_an_edited_card_is_fitted_again(self):
        # By names, whose numbers differ between the files.
        rows = [(d * 7 % 10 * 3 // 10, d // 10, d * 7 % 10, d * 13 % 11, d * 5 % 7) for d in range(300)]
        train = self.file("t.csv", b"label,qid,tf idf,age,x\n" + b"".join(b"%d,%d,%d,%d,%d\n" % row for row in rows))
        swapped = self.file("s.csv", b"label,qid,x,age,tf idf\n" + b"".join(b"%d,%d,%d,%d,%d\n" % (*row[:2], *row[:1:-1])
                                                                        for row in rows))
        fit = ["fit", "--model", self.model, "--members", "card", "--target", "labels", "--train"]
        self.expect(0, *fit, train)
        scores, text = self.scores("--model", self.model, "--test", train), self.card_of(self.model)
        self.assertIn("rising tf idf\n  least ", text)
        self.expect(0, *fit, swapped, "--card", self.file("same.card", text.encode()))
        self.assertEqual(self.card_of(self.model).splitlines()[:3], text.splitlines()[:3])
        self.assertEqual(self.scores("--model", self.model, "--test", train), scores)
        edited = self.file("edited.card", b"rising tf idf\n  least 0\n  4 ?\n  7 60\nfalling age\n")
        self.expect(0, *fit, train, "--card", edited)
        text = self.card_of(self.model)
        self.assertRegex(text, r"rising tf idf\n  least +0\n  4 +([1-5]?\d)\n  7 +60\n  missing +0\n")
        self.assertNotIn(" x\n", text)
        page = json.loads(self.expect(0, "inspect", "--model", self.model, "--json").stdout)["members"][0]["options"]["page"]
        self.assertTrue(page["only_these"])
        self.assertEqual([one["direction"] for one in page["features"]], ["rising", "falling"])
        self.expect(3, *fit, train, "--card", self.file("bad.card", b"rising tf idf\n  least 3\n  4 2\n"),
                    message="bad.card:3:5: found 2 points after 3 in a feature that is rising, expected at least as many")
        self.expect(3, *fit, train, "--card", self.file("bad.card", b"rising IDF\n"),
                    message="bad.card:1:8: found \"IDF\", expected a feature's name or number")
        self.expect(2, *fit, train, "--card", self.file("bad.card", b"falling tf idf\n  least 9\n  4 0\n"),
                    message="rank the labelled documents in reverse")
        self.expect(2, *fit, train, "--card", edited, "--max-features", 3, message="excludes --card")
        self.expect(2, "fit", "--train", train, "--model", self.model, "--members", "linear", "--card", edited,
                    message="--card applies to members of the kind card")
        self.expect(0, "fit", "--train", train, "--model", self.model, "--members", "linear")
        self.expect(2, "inspect", "--model", self.model, "--format", "card", message="--format card: ")

    def test_directions_of_a_card(self):
        train = self.file("t.txt", b"".join(b"%d qid:%d 1:%d 2:%d\n" % (d * 7 % 10 * 3 // 10, d // 10, d * 7 % 10, d * 13 % 11)
                                            for d in range(300)))
        fit = ["fit", "--train", train, "--model", self.model, "--members", "card", "--target", "labels", "--monotone"]
        self.expect(0, *fit, self.file("m.txt", b"\xef\xbb\xbffalling 1\n# as we know\nfree 2\n"), message="--monotone: left off the card, because the labels contradict the direction or other features rank better: feature 1 (falling)")
        text = self.card_of(self.model)
        self.assertNotIn("g 1\n", text)
        self.assertRegex(text, r"(free|rising|falling) 2\n")
        self.expect(3, *fit, self.file("m.txt", b"falling 1\n  least 3\n"),
                    message="m.txt:2:3: found \"least\", expected rising, falling, free or either")
        self.expect(1, "fit", "--train", train, "--model", self.folder / "none" / "x.model", message="x.model")

    def test_few_labels_give_a_card_the_grades_of_members(self):
        page = self.file("pool.txt", b"".join(
            b"%d qid:%d 1:%d 2:%d 3:%d\n" % (d * 7 % 10 * 3 // 10, d // 10, d * 7 % 10, d * 13 % 11, d * 5 % 7) for d in range(300)))
        few = self.file("few.txt", b"".join(page.read_bytes().splitlines(True)[::5]))
        done = self.expect(0, "fit", "--train", few, "--pool", page, "--model", self.model)
        self.assertIn(b", fitted to grades that the recommended members give; wrote ", done.stderr)
        self.assertNotIn(b"difference to the card", done.stderr)
        shown = self.expect(0, "inspect", "--model", self.model).stdout
        self.assertIn(b"Points fitted to the grades that the recommended members give 300 documents of the pool.", shown)
        self.assertIn(b"What a score means, over 60 labelled documents", shown)
        self.assertEqual(json.loads(self.expect(0, "inspect", "--model", self.model, "--format", "json").stdout)["members"][0]
                         ["options"]["page"]["target"], "members")
        by_grades = self.model.read_bytes()
        self.expect(0, "fit", "--train", few, "--pool", page, "--model", self.model, "--members", "card", "--target", "members",
                    "--threads", 3)
        self.assertEqual(self.model.read_bytes(), by_grades)
        self.expect(0, "fit", "--train", few, "--pool", page, "--model", self.model, "--target", "labels")
        self.assertNotEqual(self.model.read_bytes(), by_grades)
        self.expect(0, "fit", "--train", few, "--pool", page, "--model", self.model,
                    message="too few labels to compare models here; ")
        self.expect(0, "fit", "--train", few, "--pool", page, "--model", self.model, "--members", "recommended")
        recommended = self.model.read_bytes()
        self.expect(0, "fit", "--train", few, "--pool", page, "--model", self.model, "--best", message="recommended (")
        self.assertEqual(self.model.read_bytes(), recommended)
        self.expect(2, "fit", "--train", few, "--model", self.model, "--peers", "auto",
                    message="--peers: found 60 labels, expected 1000 or more")

    def test_few_labels_show_the_sizes_of_cards(self):
        pool = self.file("pool.txt", b"".join(
            b"%d qid:%d 1:%d 2:%d 3:%d 4:%d\n" % (d * 7 % 10 * 3 // 10, d // 10, d * 7 % 10, d * 13 % 11, d * 5 % 7, d * 3 % 8) for d in range(400)))
        lines = pool.read_bytes().splitlines(True)
        for step, name in ((5, "squared error per query"), (1, "NDCG")):
            few = self.file("few.txt", b"".join(lines[::step]))
            line = ["fit", "--train", few, "--pool", pool, "--model", self.model, "--members", "card"]
            said = self.expect(0, *line).stderr.decode()
            self.assertRegex(said, rf"card of at most 3 features: {name} \d+\.\d{{4}}, difference to 4 [+-]0\.\d{{4}} \(standard error 0\.\d{{4}}\)\n")
            self.assertRegex(said, rf"card of at most 4 features: {name} \d+\.\d{{4}}; chosen\n")
            sizes, = json.loads(self.expect(0, *line, "--json", "--threads", 3).stdout)["sizes"]
            self.assertEqual((sizes["loss"], sizes["chosen"], [one["features"] for one in sizes["frontier"]]),
                             ("pair" if step == 1 else "point", 4, [3, 4]))
            self.assertIn(f"Sizes by cross-fitting over 5 folds: {name.split(' per')[0]} ".encode(), self.expect(0, "inspect", self.model).stdout)
        self.assertNotIn("card of at most", self.expect(0, *line, "--smoothness", 1).stderr.decode())

    def test_fit_says_what_the_card_costs(self):
        # Two features decide together: no sum of points has it.
        text = b"".join(b"%d qid:%d 1:%d 2:%d\n" % ((d * 7 % 4 // 2) ^ (d * 11 % 6 // 3), d // 20, d * 7 % 4, d * 11 % 6)
                        for d in range(1200))
        train = self.file("xor.txt", text)
        manifest = self.folder / "m.json"
        done = self.expect(0, "fit", "--train", train, "--model", self.model, "--manifest", manifest).stderr.decode()
        self.assertRegex(done, r"card: NDCG 0\.\d{4} over 60 queries by cross-fitting")
        self.assertRegex(done, r"rules: NDCG 1\.0000, difference to the card \+0\.\d{4} \(95 % interval \+0\.\d{4} to \+0\.\d{4}\)")
        self.assertIn("rules ranks significantly better than the card; --best fits it", done)
        compared = json.loads(manifest.read_text())["compared"]
        told = json.loads(self.expect(0, "fit", "--train", train, "--model", self.model, "--json").stdout)
        self.assertEqual(told["compared"], compared)
        self.assertEqual(told["choice"], {"name": "card", "reason": "rules ranks significantly better than the card"})
        self.assertEqual([one["name"] for one in compared][0], "card")
        self.assertEqual(len(compared), 6)
        card = self.model.read_bytes()
        best = self.expect(0, "fit", "--train", train, "--model", self.model, "--best", "--threads", 3, "--json",
                           message="fitted the best model: rules")
        self.assertEqual(json.loads(best.stdout)["choice"]["name"], "rules")
        self.assertNotEqual(self.model.read_bytes(), card)
        header = json.loads(self.model.read_bytes().split(b"\n", 2)[1])
        self.assertEqual([one["kind"] for one in header["members"]], ["rules"])
        self.assertNotIn(b"difference to the card", self.expect(0, "fit", "--train", train, "--model", self.model, "--members",
                                                         "card").stderr)
        one = self.file("one.txt", b"".join(b"%d qid:1 1:%d\n" % (d % 2, d % 7) for d in range(1000)))
        self.expect(0, "fit", "--train", one, "--model", self.model, message="the card was not compared with other models: fewer than")
        self.expect(2, "fit", "--train", one, "--model", self.model, "--best", message="--best: cannot compare models: fewer than")
        for words in (["--members", "card"], ["--settings", self.file("s.json", b"{}")]):
            self.expect(2, "fit", "--train", train, "--model", self.model, "--best", *words, message="--best")

    def test_slow_fit_says_that_a_joint_model_was_left_out(self):
        # A joint model takes at most 8,192 documents of a query, which may be unlabelled.
        lines = [b"%d qid:%d 1:%d\n" % (d % 3 == 0, d // 5, d % 4) for d in range(1000)]
        train = self.file("train.txt", b"".join(lines))
        pool = self.file("pool.txt", b"".join(lines + [b"0 qid:long 1:%d\n" % (d % 4) for d in range(8193)]))
        told = self.expect(0, "fit", "--train", train, "--pool", pool, "--model", self.model).stderr.decode()
        self.assertIn("linear (cross-fitted)", told)
        self.assertIn("joint was not compared: there are too many documents, features or bins to fit it to each fold", told)

    def test_quiet_fit_writes_the_same_model(self):
        train = self.file("train.txt", b"".join(b"%d qid:%d 1:%d 2:%d\n" % (d % 3 == 0, d // 20, d % 4, d * 7 % 5) for d in range(1000)))
        line = ["fit", "--train", train, "--model", self.model]
        models = []
        for words in ([], ["--quiet"], ["--quiet", "--json"]):
            done = self.expect(0, *line, *words)
            models.append((self.folder / self.model).read_bytes())
        self.assertIn("compared", json.loads(done.stdout))
        self.assertEqual(models, models[:1] * 3)

    def test_fit_compares_the_card_with_peers(self):
        train = self.file("xor.txt", b"".join(b"%d qid:%d 1:%d 2:%d\n" % ((d * 7 % 4 // 2) ^ (d * 11 % 6 // 3), d // 20, d * 7 % 4, d * 11 % 6)
                                              for d in range(1200)))
        empty = {**os.environ, "HOME": str(self.folder), "VIRTUAL_ENV": str(self.folder), "CONDA_PREFIX": str(self.folder)}
        line = ["fit", "--train", train, "--model", self.model]
        alone = self.expect(0, *line, "--json")
        self.assertNotIn(b"--peers", alone.stderr)
        own = json.loads(alone.stdout)["compared"]
        engines = self.rulerank(*line, "--peers", "xgboost", "--json")
        if engines.returncode == 2:
            self.assertIn(b"expected a build with XGBoost (libxgboost-dev)", engines.stderr)
            self.skipTest("needs a build with XGBoost")
        compared = json.loads(engines.stdout)["compared"]
        self.assertEqual(compared[:-1], [{**one, "is_better": new["is_better"]} for one, new in zip(own, compared)])
        self.assertRegex(compared[-1]["name"], r"^XGBoost \d.*\(rank:pairwise, depth 6, rate 0.3, 100 trees\)$")
        self.assertTrue(compared[-1]["is_better"])
        done = self.expect(0, *line, "--peers", "xgboost,auto", "--best", env=empty).stderr.decode()
        self.assertEqual(len(re.findall(r"^rulerank: XGBoost .*: NDCG 1\.0000, difference", done, re.MULTILINE)), 1)
        self.assertIn("fitted the best model: rules", done)  # a model file cannot hold a peer
        for words in (["--members", "card"], ["--settings", self.file("s.json", b"{}")], ["--card", train]):
            self.expect(2, *line, "--peers", "auto", *words, message="--peers")
        self.expect(2, *line, "--peers", "catboost", message="lightgbm, xgboost, ranksvm or auto")
        self.expect(2, *line, "--lightgbm", "x.so", message="--peers")
        few = self.file("few.txt", b"".join(train.read_bytes().splitlines(True)[:300]))
        self.expect(2, "fit", "--train", few, "--model", self.model, "--peers", "auto",
                    message="--peers: found 300 labels, expected 1000 or more")
        if not [*pathlib.Path("/usr").glob("*lib/python3*/*-packages/lightgbm")]:
            self.expect(2, *line, "--peers", "lightgbm", env=empty, message="expected the Python package lightgbm (pip install lightgbm)")

    def test_cards_and_joint_members_in_settings(self):
        """A file that says the defaults fits what --members fits; options of the line hold."""
        cuts = {"missing_values": "item", "unlisted": "zero", "norm": "none"}
        card = {"kind": "card", "discretizer": None, "loss": "auto", "points_penalty": 1e-3, "smoothness": "cross-fit", "folds": 5,
                "max_features": 10, "max_points": 100, "target": "auto"}
        joint = {"kind": "joint", "discretizer": {"method": "frequency", "bins": 20, **cuts}, "max_pairs": 24, "folds": 5}
        settings = self.file("card.json", json.dumps({"rulerank_settings": 1, "members": [card, joint]}).encode())
        self.fit("--settings", settings)
        by_file = self.model.read_bytes()
        self.fit("--members", "card,joint")
        self.assertEqual(self.model.read_bytes(), by_file)
        self.fit("--settings", settings, "--max-features", 3)
        three = self.model.read_bytes()
        self.fit("--members", "card,joint", "--max-features", 3)
        self.assertEqual(self.model.read_bytes(), three)
        self.assertNotEqual(three, by_file)
        # The file's own cuts count.
        card["discretizer"] = {"method": "width", "bins": 4, **cuts}
        other = self.file("cuts.json", json.dumps({"rulerank_settings": 1, **card}).encode())
        self.fit("--settings", other)
        by_file = self.model.read_bytes()
        self.fit("--members", "card", "--method", "width", "--bins", 4)
        self.assertEqual(self.model.read_bytes(), by_file)
        wrong = self.file("wrong.json", json.dumps({"rulerank_settings": 1, **card, "max_features": 0}).encode())
        self.expect(3, "fit", "--train", "train.txt", "--model", "m", "--settings", wrong, message="max_features")

    def test_kinds_of_members_in_settings(self):
        cuts = member(3)["discretizer"]
        settings = self.file("kinds.json", json.dumps({"rulerank_settings": 1, "members": [
            member(4),
            {"kind": "scorecard", "discretizer": cuts, "loss": "list", "points_penalty": 0.01,
             "smoothness": 1},
            {"kind": "linear", "strength": "cross-fit", "folds": 5, "missing_values": "item",
             "unlisted": "zero"}]}).encode())
        line = ["--train", self.train, "--test", self.test]
        whole = self.scores(*line, "--settings", settings)
        self.assertEqual(whole, self.scores(
            *line, "--members", "rules,scorecard,linear", "--rule-size", 4, "--bins", 4, "--loss", "list",
            "--points-penalty", 0.01, "--smoothness", 1, "--strength", "cross-fit"))
        self.assertNotEqual(whole, self.scores(*line, "--settings", settings, "--strength", 10000))
        self.fit("--settings", settings)
        self.assertEqual(whole, self.scores("--model", self.model, "--test", self.test))
        self.expect(2, "rank", *line, "--settings", settings, "--members", "linear", message="--members")

    def test_penalties_by_cross_fitting(self):
        line = ["--train", self.train, "--test", self.test]
        for loss in ("pair", "list", "point"):
            with self.subTest(loss=loss):
                crossed = ["--members", "scorecard", "--loss", loss, "--points-penalty", "cross-fit"]
                done = self.expect(0, "fit", "--train", self.train, "--model", self.model, *crossed)
                words = done.stderr.decode()
                found = re.search(r"points penalty (\S+) and smoothness (\S+) by cross-fitting", words)
                self.assertTrue(found, words)
                whole = self.scores("--model", self.model, "--test", self.test)
                self.assertEqual(whole, self.scores(*line, *crossed, "--threads", 3))
                self.assertEqual(whole, self.scores(
                    *line, "--members", "scorecard", "--loss", loss, "--points-penalty", found[1],
                    "--smoothness", found[2]))
                shown = self.expect(0, "inspect", "--model", self.model, "--top", 0)
                self.assertIn(f"points penalty {found[1]}, smoothness {found[2]}, both by "
                              "cross-fitting".encode(), shown.stdout)
                settings = self.file("crossed.json", json.dumps({
                    "rulerank_settings": 1, "kind": "scorecard",
                    "discretizer": {"method": "tube", "bins": 10, "missing_values": "item",
                                    "unlisted": "zero", "norm": "none"},
                    "loss": loss, "points_penalty": "cross-fit", "folds": 5}).encode())
                self.assertEqual(whole, self.scores(*line, "--settings", settings))
                # Options of the command line override the settings file.
                self.assertEqual(
                    self.scores(*line, "--members", "scorecard", "--loss", loss, "--points-penalty",
                                7),
                    self.scores(*line, "--settings", settings, "--points-penalty", 7))

    def test_models_of_rules_alone_keep_their_bytes(self):
        """`fit` writes the bytes of models from the time when rules were its default."""
        for options, digest in (
                ([], "764219ef841e67784d8a9b27d9e684b00b10a0771ebbb8558917d705b14541ae"),
                (["--rule-size", 4, "--method", "frequency", "--support-weight", -0.25,
                  "--smoothing", 5],
                 "9410a34fe079802fd0fe82cfa38262cb48e02d9a89cf1928ace00eac785641c2"),
                (["--bins", 4, "--min-support", 2, "--feature-share", 0.6, "--method", "width"],
                 "ba23bf9a970976c53d1eaafde0ce9e3106eb06cef1bbe7271a639ee33f1e98cc")):
            with self.subTest(options=options):
                self.fit_rules(*options)
                self.assertEqual(hashlib.sha256(self.model.read_bytes()).hexdigest(), digest)
                # rank and explain have no other members where none are named.
                line = ["--train", self.train, "--test", self.test, *options]
                rules = [*line, "--members", "rules"]
                self.assertEqual(self.scores(*line), self.scores(*rules))
                self.assertEqual(self.expect(0, "explain", *line, "--qid", 1, "--quiet").stdout,
                                 self.expect(0, "explain", *rules, "--qid", 1, "--quiet").stdout)

    def test_fit_chooses_the_members(self):
        manifests = []
        models = []
        for words in ([], ["--threads", 1], ["--threads", 3]):
            manifest = self.folder / "manifest.json"
            done = self.expect(0, "fit", "--train", self.train, "--model", self.model, "--members", "recommended",
                               "--manifest", manifest, *words)
            self.assertIn(b"recommended (few-labels): scorecard", done.stderr)
            self.assertIn(b"with 94 and 188 labels and a known pool, the most regularized of 175 settings were", done.stderr)
            manifests.append(json.loads(manifest.read_text())["recommended"])
            models.append(self.model.read_bytes())
        self.assertEqual(models, [models[0]] * 3)
        self.assertEqual(manifests, [manifests[0]] * 3)
        # Options that are not of one kind of members keep the values of the command line.
        for words in (["--norm", "query-minmax"], ["--unlisted", "missing"],
                      ["--missing-values", "zero"]):
            self.fit("--members", "recommended", *words)
            self.assertNotEqual(self.model.read_bytes(), models[0])
        self.expect(0, "discretize", "--train", self.train, "--bins", 3, "--out-dir", "d")
        self.fit("--members", "recommended", "--discretizer", "d/discretizer.json")
        self.assertNotEqual(self.model.read_bytes(), models[0])

    def test_fit_asks_for_a_pool_where_few_documents_are_compared(self):
        pool = [f"{(d + q) % 2} qid:{q} 1:{(q * 7 + d) % 11} 2:{d}" for q in range(20) for d in range(4)]
        (self.folder / "pool.txt").write_text("".join(f"{line}\n" for line in pool))
        asked = b"--pool FILE names it"
        for step, few in ((4, True), (1, False)):  # the first document of each query; all
            (self.folder / "some.txt").write_text("".join(f"{line}\n" for line in pool[::step]))
            line = ["fit", "--train", "some.txt", "--model", "some.model"]
            self.assertEqual(asked in self.expect(0, *line).stderr, few)
            for words in (["--pool", "pool.txt"], ["--members", "rules"]):
                self.assertNotIn(asked, self.expect(0, *line, *words).stderr)

    def test_settings_say_the_members(self):
        settings = self.file("rules.json", json.dumps(
            {"rulerank_settings": 1, "members": [member(4)]}).encode())
        for words, rules in (([], ["--rule-size", 4, "--bins", 4]),
                             (["--rule-size", 2], ["--rule-size", 2, "--bins", 4]),
                             (["--bins", 3], ["--rule-size", 4, "--bins", 3])):
            done = self.expect(0, "fit", "--train", self.train, "--model", self.model,
                               "--settings", settings, *words)
            self.assertNotIn(b"recommended", done.stderr)
            by_settings = self.model.read_bytes()
            self.fit_rules(*rules)
            self.assertEqual(self.model.read_bytes(), by_settings)
        self.expect(2, "fit", "--train", self.train, "--model", self.model, "--settings", settings,
                    "--strength", 3, message="--strength applies to members of the kind linear")

    def test_recommended_members(self):
        line = ["--train", self.train, "--test", self.test]
        manifest = self.folder / "manifest.json"
        done = self.expect(0, "fit", "--train", self.train, "--model", self.model, "--members", "recommended",
                           "--manifest", manifest)
        words = done.stderr.decode()
        self.assertIn("recommended (few-labels): scorecard (loss point, points penalty 0.001, "
                      "smoothness 100), linear (strength 1000); cuts by frequency, 20 bins\n", words)
        self.assertIn("60 labelled documents; 10 of 10 queries with documents of different labels, "
                      "100 % of the documents: ", words)
        noted = json.loads(manifest.read_text())["recommended"]
        self.assertEqual((noted["name"], noted["labels"]["documents"], noted["labels"]["relevant"]),
                         ("few-labels", 60, 40))
        self.assertEqual([one["kind"] for one in noted["members"]], ["scorecard", "linear"])
        # An ordinary model of ordinary members.
        self.assertEqual(json.loads(self.model.read_bytes().split(b"\n")[1])["members"][0]["kind"],
                         "scorecard")
        whole = self.scores("--model", self.model, "--test", self.test)
        same = ["--members", "scorecard,linear", "--loss", "point", "--points-penalty", 0.001,
                "--smoothness", 100, "--strength", 1000, "--method", "frequency", "--bins", 20]
        self.assertEqual(whole, self.scores(*line, *same))
        self.assertEqual(whole, self.scores(*line, "--members", "recommended", "--threads", 2))
        by_model = self.model.read_bytes()
        self.fit(*same)
        self.assertEqual(by_model, self.model.read_bytes())
        for verb in (["inspect", "--model", self.model, "--top", 2],
                     ["explain", "--model", self.model, "--test", self.test, "--qid", "1"],
                     ["explain", *line, "--members", "recommended", "--qid", "1"]):
            self.expect(0, *verb)
        # Many lists have other members.
        many = self.file("many.txt", b"".join(
            b"%d qid:%d 1:%d 2:%d\n" % (d * 5 % 3, d // 20, d * 7 % 31, d % 11) for d in range(2000)))
        done = self.expect(0, "fit", "--train", many, "--model", self.model, "--members", "recommended")
        self.assertIn(b"recommended (several-labels): scorecard (loss point", done.stderr)
        self.assertIn(b"2000 documents: 2 members", done.stderr)
        done = self.expect(0, "fit", "--train", many, "--model", self.model, "--quiet")
        self.assertEqual(done.stderr, b"")

    def test_options_of_rules_beside_a_model_without_rules(self):
        ranking = ["rank", "--test", self.test]
        engines = (["--engine", "lrar"], ["--cache-memory", "1GB"])
        for kinds in ("scorecard,linear", "linear", "recommended"):
            self.fit("--members", kinds)
            by_model = [*ranking, "--model", self.model]
            for option, value in (("--rule-size", 4), ("--rule-size", 3), ("--min-support", 7),
                                  ("--min-confidence", .5), ("--support-weight", 0),
                                  ("--smoothing", 3), ("--feature-share", .2), *engines):
                with self.subTest(kinds=kinds, option=option):
                    self.expect(2, *by_model, option, value, message=f"{option}: the model "
                                f"{self.model} has no member of the kind rules; see rulerank rank")
            by_train = [*ranking, "--train", self.train, "--members", kinds]
            for words in engines:
                self.expect(2, *by_train, *words,
                            message=f"{words[0]}: no member is of the kind rules; see rulerank rank")
            for line in (by_model, by_train):  # auto asks for no engine
                self.assertEqual(self.expect(0, *line, "--engine", "auto").stdout,
                                 self.expect(0, *line).stdout)
        settings = self.file("linear.json", json.dumps(
            {"rulerank_settings": 1, "kind": "linear", "strength": 3, "folds": 5,
             "missing_values": "item", "unlisted": "zero"}).encode())
        by_settings = [*ranking, "--train", self.train, "--settings", settings]
        self.expect(0, *by_settings)
        for words in (*engines, ["--rule-size", 3]):
            self.expect(2, *by_settings, *words,
                        message="of the kind rules")
        # With a member of rules they are options of that one.
        self.fit("--members", "rules,linear", "--rule-size", 4)
        mixed = [*ranking, "--model", self.model]
        same = self.expect(0, *mixed).stdout
        for words in (*engines, ["--rule-size", 4], ["--smoothing", 0]):
            self.assertEqual(self.expect(0, *mixed, *words).stdout, same)
        self.expect(2, *mixed, "--rule-size", 3, message="--rule-size 3: the model "
                    f"{self.model} was fitted with 4")

    def test_members_that_learn_nothing(self):
        alike = self.file("alike.txt", b"1 qid:1 1:5\n1 qid:1 1:6\n")
        for kind in ("scorecard", "linear"):
            done = self.expect(0, "fit", "--train", alike, "--model", self.model, "--members", kind)
            self.assertIn(b"learned nothing", done.stderr)

    def test_options_of_members_that_make_no_sense(self):
        line = ["fit", "--train", self.train, "--model", self.model]
        for words, message in (
                *(([option, value], f"{option} applies to members of the kind {kind} alone; expected --members {kind}")
                  for option, value, kind in (
                      ("--rule-size", 4, "rules"), ("--min-support", 1, "rules"), ("--min-confidence", 0.1, "rules"),
                      ("--support-weight", 0, "rules"), ("--smoothing", 0, "rules"), ("--feature-share", 1, "rules"),
                      ("--strength", "cross-fit", "linear"))),
                (["--members", "rules", "--loss", "pair"],
                 "--loss applies to members of the kind scorecard"),
                (["--members", "scorecard", "--strength", 3], "applies to members of the kind linear"),
                (["--members", "recommended,rules"], "found recommended together with others"),
                (["--members", "recommended", "--loss", "list"],
                 "--loss cannot be combined with --members recommended, which chooses all options; expected --members scorecard or card"),
                (["--members", "recommended", "--strength", 3], "--strength cannot be combined with --members recommended"),
                (["--members", "recommended", "--rule-size", 4], "--rule-size cannot be combined with --members recommended"),
                # As it is by default, too: what counts is that the line has it.
                (["--members", "recommended", "--bins", 10], "--bins cannot be combined with --members recommended"),
                (["--members", "recommended", "--method", "tube"],
                 "--method cannot be combined with --members recommended"),
                (["--members", "scorecard,linear", "--rule-size", 4],
                 "--rule-size applies to members of the kind rules"),
                (["--members", "linear", "--bins", 4],
                 "--bins applies to members of the kind rules or scorecard"),
                (["--members", "recommend"], "recommended"),
                (["--members", "scorecards"], "scorecard"), (["--members", ""], "--members"),
                (["--members", "scorecard", "--loss", "pairs"], "pair"),
                (["--members", "scorecard", "--points-penalty", 0], "--points-penalty"),
                (["--members", "scorecard", "--points-penalty", "often"], "or cross-fit"),
                (["--members", "scorecard", "--points-penalty", "cross-fit", "--smoothness", 1],
                 "--smoothness cannot be combined with --points-penalty cross-fit, which chooses both"),
                (["--members", "scorecard", "--smoothness", -1], "--smoothness"),
                (["--members", "linear", "--strength", 0], "--strength"),
                # The message names the option once.
                (["--strength", -3], "error: --strength: found '-3', expected a number from 1e-9"),
                (["--points-penalty", 0], "error: --points-penalty: found '0', expected a number"),
                (["--members", "rules,rules"], "error: --members: rules is given twice"),
                (["--members", "linear,scorecard,linear"], "--members: linear is given twice"),
                (["--members", "recommended,recommended"], "found recommended together with others"),
                (["--members", "linear", "--strength", "often"], "cross-fit")):
            with self.subTest(words=words):
                self.expect(2, *line, *words, message=message)
        self.fit("--members", "linear")
        self.expect(2, "rank", "--model", self.model, "--test", self.test, "--members", "linear",
                    message="--members")

    def test_members(self):
        settings = self.file("several.json", SEVERAL)
        for options in ([], ["--min-support", 2]):
            whole = self.scores("--train", self.train, "--test", self.test, "--settings", settings,
                                *options)
            self.assertNotEqual(whole, self.scores("--train", self.train, "--test", self.test))
            done = self.expect(0, "fit", "--train", self.train, "--model", self.model,
                               "--settings", settings, *options, "--json")
            self.assertEqual(json.loads(done.stdout)["members"], 3)
            self.assertIn(b"60 documents: 3 members; wrote ", done.stderr)
            for more in ([], ["--engine", "lrar"], ["--threads", 3], options):
                self.assertEqual(whole, self.scores("--model", self.model, "--test", self.test,
                                                    *more))
            self.assertEqual(whole, self.scores("--model", self.model, "--test", "-", input=TEST))
        # Members that have the same cuts share them and the documents.
        header = json.loads(self.model.read_bytes().split(b"\n", 2)[1])
        self.assertEqual([m["cuts"] for m in header["members"]], [0, 1, 0])
        self.assertEqual((len(header["cuts"]), len(header["training"])), (2, 2))
        self.expect(2, "rank", "--model", self.model, "--test", self.test, "--rule-size", 3,
                    message="was fitted with 4")
        manifest = self.folder / "m"
        self.scores("--model", self.model, "--test", self.test, "--manifest", manifest)
        self.assertEqual(json.loads(manifest.read_text())["members"], 3)

    def test_a_docid_twice_in_a_query(self):
        text = (b"0 qid:1 1:1 # docid = A\n0 qid:2 1:1 # docid = A\n0 qid:2 1:2 # docid = A\n"
                b"0 qid:3 1:2 # docid = B\n0 qid:3 1:1 # docid = B\n")
        test = self.file("twice.txt", text)
        line = ["rank", "--train", self.train, "--run", "r.run", "--out", "s.txt", "--test"]
        warning = "3:1: found docid 'A' of query '2' again"
        done = self.expect(0, *line, test, message=f"warning: {test}:{warning}")
        self.assertEqual(done.stderr.count(b"warning"), 1)
        names = [row.split()[2] for row in (self.folder / "r.run").read_text().splitlines()]
        self.assertEqual(sorted(names), ["1-1", "2-2", "2-3", "3-4", "3-5"])
        # From a stream the first query was told before the second came.
        done = self.expect(0, *line, "-", input=text, message=f"warning: standard input:{warning}")
        self.assertEqual(done.stderr.count(b"warning"), 1)
        names = [row.split()[2] for row in (self.folder / "r.run").read_text().splitlines()]
        self.assertEqual(sorted(names), ["2-2", "2-3", "3-4", "3-5", "A"])

    def test_bad_input(self):
        files = {"train": TRAIN, "test": TEST}
        rank = "rank --train {train} --test {test} --out {out} "
        self.check_rows([
            Row("rank", b"", rank, 0, "", files),
            Row("no training", b"", "rank --test {test} --out {out}", 2, "--train", files),
            Row("rule size", b"", rank + "--rule-size 1", 2, "the consequent counts", files),
            Row("confidence", b"", rank + "--min-confidence 1.5", 2, "1.5", files),
            Row("smoothing", b"", rank + "--smoothing -1", 2, "-1", files),
            Row("weight", b"", rank + "--support-weight nan", 2, "weight", files),
            Row("engine", b"", rank + "--engine quick", 2, "found engine 'quick', expected one of auto", files),
            Row("an index beside a test file", b"", "rank --train {train} --test {test} --index i", 2,
                "--index needs --query instead of --test", files),
            Row("both outputs", b"", "rank --train {train} --test {test} --run -", 2, "", files),
            Row("constant features", CONSTANT, "rank --train {in} --test {test} --out {out}", 3,
                "{in}:1:1: no feature has two bins", files),
            Row("constant features, fit", CONSTANT, "fit --train {in} --model {out}", 3,
                "{in}:1:1: no feature has two bins"),
            Row("no label", b"1 qid:1 1:1\n-1 qid:1 1:2\n",
                "rank --train {in} --unlabelled -1 --test {test} --out {out}", 3, "{in}:2:1: ",
                files),
            Row("bad test line", b"0 qid:1 1:x\n", "rank --train {train} --test {in} --out {out}", 3,
                "{in}:1:", files),
        ])


class Query(harness.CommandLine):
    """A query as text, and an index to search in."""

    def test_an_index_finds_what_the_collection_does(self):
        for name in ("docs.jsonl", "topics.tsv", "qrels"):
            self.file(name, (COLLECTION / name).read_bytes())
        of = ["--collection", "docs.jsonl"]
        self.expect(0, "features", *of, "--topics", "topics.tsv", "--qrels", "qrels", "--out", "pool")
        self.expect(0, "fit", "--train", "pool", "--unlabelled", "-1", "--drop-unjudged", "--members", "linear", "--model", "m")
        self.expect(0, "search", "text", *of, "--weights", "bm25", "--index", "index")
        self.expect(0, "search", "text", *of, "--weights", "tf-idf", "--index", "other")
        line = ["rank", "--model", "m", "--query", "bread starter", *of]
        expected = self.expect(0, *line).stdout
        self.assertGreater(expected.count(b"\n"), 10)
        self.assertEqual(self.expect(0, *line, "--index", "index").stdout, expected)
        few = [*line, "--candidates", "5"]
        self.assertNotEqual(self.expect(0, *few, "--index", "other").stdout, self.expect(0, *few).stdout)
        self.assertEqual(json.loads(self.expect(0, *line, "--index", "index", "--json").stdout), json.loads(self.expect(0, *line, "--json").stdout))
        self.file("changed.jsonl", self.read("docs.jsonl").split(b"\n", 1)[1])
        self.expect(3, *line[:-1], "changed.jsonl", "--index", "index", message="the collection has changed since it was indexed")
        self.file("vectors", b"0 1:1\n1 2:1\n")
        self.expect(0, "search", "text", "--collection", "vectors", "--collection-format", "svmlight", "--index", "of-vectors")
        self.expect(3, *line, "--index", "of-vectors", message="of-vectors:1:1: found an index of vectors, expected an index of words")
        self.expect(3, *line, "--index", "docs.jsonl", message="docs.jsonl:1:1: ")
        self.expect(2, *line[:-2], "--index", "index", message="--index needs --collection here: features such as BM25_of_document need counts of words")
        self.expect(2, *line, "--index", "index", "--stemmer", "none", message="--stemmer cannot be combined with --index")
        self.expect(2, "rank", "--model", "m", "--index", "index", message="--query: found no words, expected some to search --index")


if __name__ == "__main__":
    harness.main()
