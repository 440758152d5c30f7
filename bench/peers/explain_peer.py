#!/usr/bin/env python3
"""Compares explanations with what a user would take instead, one document at a time, on one thread.

    explain_peer.py PATH/TO/rulerank FOLD [OUT.jsonl]

FOLD has train.txt and test.txt in LETOR's form. The best document of each of ten queries is explained, with frequency bins and rule
sizes 3 and 4. A figure is the median over the documents of the best of five times:

  rulerank    the stage `explain`: all rules, split among items, sorted and written
  python      a plain listing of all rules in Python: a bit set (an int) for each item and label, itertools, AND and bit_count. Its
              numerator and denominator, in integers, must be rulerank's before any time is printed
  treeshap    LightGBM's exact TreeSHAP (predict with pred_contrib) of a lambdarank model with 100 trees of 31 leaves, if lightgbm
              is installed. This is another model, with values of features in doubles; the row says how far they are from adding up
              to its score

Needs Python 3.10, and for the last row lightgbm (python3 -m venv V && V/bin/pip install lightgbm).
"""

import itertools
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

try:
    import lightgbm
    import numpy
except ImportError:
    lightgbm = None

ROUNDS = 5
QUERIES = 10
METHOD = "frequency"


def seconds(work):
    return min(common.timed(work)[0] for _ in range(ROUNDS))


class Listing:
    """All rules of a document, without a library: default thresholds and weights."""

    def __init__(self, train):
        self.labels = sorted({label for label, _, _ in train}, reverse=True)
        self.features = {f for _, _, values in train for f in values}
        self.rows = {}
        for d, (label, _, values) in enumerate(train):
            for item in values.items():
                rows = self.rows.setdefault(item, dict.fromkeys(self.labels, 0))
                rows[label] |= 1 << d
        varied = {f for f in self.features if sum(item[0] == f for item in self.rows) > 1}
        self.rows = {item: rows for item, rows in self.rows.items() if item[0] in varied}
        self.mean = sum(label for label, _, _ in train) / len(train)
        self.columns = len(varied)

    def explain(self, values, size):
        sets = sum(math.comb(self.columns, k) for k in range(1, size))
        shift = 62 - (max(self.labels[0], 1) * sets - 1).bit_length()
        items = [item for item in values.items() if item in self.rows]
        num = den = 0
        rules = []
        for k in range(1, size):
            for antecedent in itertools.combinations(items, k):
                counts = {}
                for label in self.labels:
                    bits = self.rows[antecedent[0]][label]
                    for item in antecedent[1:]:
                        bits &= self.rows[item][label]
                    counts[label] = bits.bit_count()
                n = sum(counts.values())
                if n == 0:
                    continue
                factor = ((1 << shift) + n // 2) // n
                valid = 0
                for label, support in counts.items():
                    if support == 0 or support / n < 0.001:
                        continue
                    valid += support
                    num += factor * support * label
                    rules.append(((label - self.mean) * support / n, antecedent, label, support, n))
                den += 1 << shift if valid == n else factor * valid
        rules.sort(key=lambda rule: -rule[0])
        return num, den, rules


def ours(program, fold, qid, size, manifest):
    command = [program, "explain", "--train", f"{fold}/train.txt", "--test", f"{fold}/test.txt", "--method", METHOD, "--rule-size",
               str(size), "--qid", qid, "--json", "--quiet", "--threads", "1", "--device", "cpu", "--manifest", manifest]
    best = float("inf")
    for _ in range(ROUNDS):
        told = common.told(*command)
        best = min(best, json.loads(pathlib.Path(manifest).read_text())["seconds"]["explain"])
    return told["document"], best


def tree_shap(train, test, lines):
    """The seconds for each document, and the largest difference between a sum and its score."""
    features = sorted({f for _, _, values in train for f in values})

    def matrix(documents):
        return numpy.array([[values.get(f, 0.0) for f in features] for _, _, values in documents])

    groups = [len(list(group)) for _, group in itertools.groupby(train, key=lambda d: d[1])]
    data = lightgbm.Dataset(matrix(train), [label for label, _, _ in train], group=groups)
    model = lightgbm.train({"objective": "lambdarank", "num_threads": 1, "verbose": -1, "seed": 1}, data, num_boost_round=100)
    rows = matrix([test[line - 1] for line in lines])
    off = 0
    times = []
    for d in range(len(lines)):
        row = rows[d:d + 1]
        times.append(seconds(lambda: model.predict(row, pred_contrib=True, num_threads=1)))
        parts = model.predict(row, pred_contrib=True, num_threads=1)[0]
        off = max(off, abs(sum(parts) - model.predict(row, raw_score=True, num_threads=1)[0]))
    return times, off


def main():
    a = common.arguments(__doc__, "program", "fold", "out?")
    program, fold = a.program, a.fold
    rows = []
    with common.scratch() as folder:
        common.call(program, "discretize", "--train", f"{fold}/train.txt", "--apply", f"{fold}/test.txt", "--method", METHOD,
                    "--out-dir", folder, "--quiet")
        listing = Listing(list(common.letor(f"{folder}/train.txt")))
        binned = list(common.letor(f"{folder}/test.txt"))
        qids = list(dict.fromkeys(qid for _, qid, _ in binned))[:QUERIES]
        lines = []
        for size in (3, 4):
            times = {"rulerank": [], "python": []}
            rules = []
            for qid in qids:
                told, taken = ours(program, fold, qid, size, f"{folder}/manifest.json")
                values = binned[told["line"] - 1][2]
                num, den, found = listing.explain(values, size)
                if [str(num), str(den), len(found)] != [told["numerator"], told["denominator"], told["rules"]]:
                    common.fail(f"query {qid}: {num} / {den} of {len(found)} rules, rulerank has "
                                f"{told['numerator']} / {told['denominator']} of {told['rules']}")
                times["rulerank"].append(taken)
                times["python"].append(seconds(lambda: listing.explain(values, size)))
                rules.append(told["rules"])
                lines.append(told["line"])
            for name, taken in times.items():
                rows.append({"what": name, "rule_size": size, "rules": statistics.median(rules),
                             "seconds": statistics.median(taken)})
    if lightgbm is not None:
        lines = sorted(set(lines))
        taken, off = tree_shap(*(list(common.letor(f"{fold}/{part}.txt")) for part in ("train", "test")), lines)
        rows.append({"what": f"treeshap (lightgbm {lightgbm.__version__})", "largest_error": off,
                     "seconds": statistics.median(taken)})
    for row in rows:
        print(json.dumps(row))
    if a.out:
        common.write_rows(a.out, rows)


if __name__ == "__main__":
    main()
