"""All JSON files that verbs read: a member of another type is an error that names the file, or has no effect."""

import hashlib
import json
import os
import pathlib
import random

import harness

OTHERS = (None, True, -1, 2.5, 1e300, 10**30, "x", [], {}, [None], [{}], {"x": None})
QUICK = ["--random-draws", "3", "--permutations", "1000", "--metrics", "MAP,NDCG@1"]
TRAIN = ["--train", "data/Fold1/train.txt"]
KINDS = {"rules": ["--try-bins", "4", "--try-min-support", "1", "--try-min-confidence", "0.001", "--try-support-weight", "0",
                   "--try-smoothing", "0", "--try-rule-size", "2"],
         "card": ["--kinds", "card", "--try-max-features", "3", "--try-card-bins", "6"], "joint": ["--kinds", "joint"]}
# How many of the other values each member gets.
TRIED = int(os.environ.get("RULERANK_JSON_VALUES", "1"))


def places(value, here=()):
    """The places in a JSON value; of long lists of values, the first two and the last."""
    yield here
    if isinstance(value, dict):
        for key, one in value.items():
            yield from places(one, (*here, key))
    elif isinstance(value, list):
        for i in {0, 1, len(value) - 1} & set(range(len(value))):
            yield from places(value[i], (*here, i))


def changed(value, place, to):
    """A copy that has another value in a place."""
    if not place:
        return to
    copy = value.copy()
    copy[place[0]] = changed(value[place[0]], place[1:], to)
    return copy


def with_checksum(value):
    if isinstance(value, dict) and "sha256" in value:
        value = {key: one for key, one in value.items() if key != "sha256"}
        value["sha256"] = hashlib.sha256(json.dumps(value, indent=1, ensure_ascii=False).encode()).hexdigest()
    return value


class JsonInputs(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.expect(0, "sample", "--documents", "120", "--features", "4", "--queries", "12", "--fold-count", "3",
                    "--out-dir", "data")

    def check(self, path, *line):
        """Runs a line that reads a JSON file, with each of its members changed."""
        path = self.folder / path
        good, choose = path.read_bytes(), random.Random(7)
        value = json.loads(good)
        self.assertIn(self.rulerank(*line).returncode, (0,))
        for place in places(value):
            for other in choose.sample(OTHERS, min(TRIED, len(OTHERS))):
                text = json.dumps(with_checksum(changed(value, place, other)), indent=1, ensure_ascii=False)
                path.write_text(text)
                done = self.rulerank(*line)
                errors = done.stderr.decode(errors="replace")
                with self.subTest(file=path.name, place=place, other=other, errors=errors, code=done.returncode):
                    self.assertIn(done.returncode, (0, 3))
                    if done.returncode == 3:
                        self.assertRegex(errors, r"(?m)^rulerank: error: [\w./]+(:\d+:\d+)?: ")
        path.write_bytes(good)

    def experiment(self, out, *more):
        self.expect(0, "experiment", "--folds", "data", "--out-dir", out, *QUICK, *more)

    def test_slow_of_report(self):
        self.experiment("result", "--rank-size", "2")
        for name in ("results.json", "manifest.json", "folds/Fold1.json"):
            self.check(pathlib.Path("result", name), "report", "result", "--out", "page.html")

    def test_of_report_of_curves(self):
        self.expect(0, "experiment", "--folds", "data", "--out-dir", "curves", "--systems", "rules", "--ways", "random",
                    "--budgets", "25%,100%", "--metrics", "MAP", "--random-draws", "2")
        for name in ("manifest.json", "curves/Fold1.json"):
            self.check(pathlib.Path("curves", name), "report", "curves", "--out", "page.html")

    def test_of_report_of_benchmarks(self):
        self.file("bench.jsonl", b'{"engine": "a", "input": "x", "seconds": 2.0, "bytes": 10, "ops": 20, "threads": 2, "peak_bytes_per_s": 100, "peak_ops_per_s": 50}')
        self.check("bench.jsonl", "report", "--bench", "bench.jsonl", "--out", "page.html")

    def test_of_experiment(self):
        self.experiment("result", "--rank-size", "2")
        self.check("result/folds/Fold1.json", "experiment", "--folds", "data", "--out-dir", "result", *QUICK, "--rank-size", "2")

    def tune(self, kind):
        self.expect(0, "tune", *TRAIN, "--vali", "data/Fold1/vali.txt", *KINDS[kind], "--out", f"{kind}.json",
                    "--resume", f"{kind}.state")
        return f"{kind}.json"

    def test_settings(self):
        for kind in KINDS:
            name = self.tune(kind)
            self.check(name, "rank", *TRAIN, "--test", "data/Fold1/test.txt", "--settings", name, "--out", "scores")

    def test_trials(self):
        for kind in KINDS:
            self.tune(kind)
            self.check(f"{kind}.state", "tune", *TRAIN, "--vali", "data/Fold1/vali.txt", *KINDS[kind], "--out", "o.json",
                       "--resume", f"{kind}.state")

    def test_cuts(self):
        self.expect(0, "discretize", *TRAIN, "--out-dir", "cuts")
        self.check("cuts/discretizer.json", "rank", *TRAIN, "--test", "data/Fold1/test.txt", "--discretizer",
                   "cuts/discretizer.json", "--out", "scores")

    def test_documents(self):
        self.file("topics.tsv", b"1\twing\n")
        self.file("docs.jsonl", b'{"_id": "d1", "title": "Wings", "text": "flow over wings", "metadata": {"year": 1958}}')
        self.check("docs.jsonl", "search", "text", "--collection", "docs.jsonl", "--queries", "topics.tsv", "--out", "run")


if __name__ == "__main__":
    harness.main()
