#!/usr/bin/env python3
"""noisy.py QRELS [--accuracy P] [--up P] [--seed N]: a judge that knows the labels and errs at random.

It gives the label of QRELS (0 for a pair without one) with probability --accuracy, and one of the other labels otherwise.
With probability --up an error is the next higher label, if there is one: inflated labels. An answer depends on the seed, the
query and the document alone. Use it to try a labelling workflow, and to see what a judge of known quality costs."""

import argparse
import json
import random
import sys


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("qrels")
    options.add_argument("--accuracy", type=float, default=0.8)
    options.add_argument("--up", type=float, default=0.0)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    truth = {}
    with open(given.qrels, encoding="utf-8") as lines:
        for line in lines:
            qid, _, docid, label = line.split()
            truth[qid, docid] = int(label)
    for line in sys.stdin:
        asked = json.loads(line)
        label, labels = truth.get((asked["qid"], asked["docid"]), 0), asked["labels"]
        chance = random.Random(f"{given.seed} {asked['qid']} {asked['docid']}")
        errs, inflates = chance.random() >= given.accuracy, chance.random() < given.up
        if errs and inflates:
            label = min(label + 1, max(labels))
        elif errs:
            label = chance.choice([other for other in labels if other != label])
        rest = (1 - given.accuracy) / (len(labels) - 1)
        print(json.dumps({"id": asked["id"], "label": label, "source": f"noisy-{given.accuracy}",
                          "probabilities": [given.accuracy if l == label else rest for l in labels]}), flush=True)


if __name__ == "__main__":
    main()
