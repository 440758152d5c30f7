#!/usr/bin/env python3
"""Classifies MNIST's test images by votes of their exact neighbours among the training images, with k from 1 to 10.

    dense_classes.py PROGRAM MNIST_FOLDER OUT_FOLDER [--k 1,2,3,4,5,6,7,8,9,10] [--metrics l2,cosine] [--votes majority,similarity]

MNIST_FOLDER has MNIST's four files, plain or gzip. Writes accuracy.tsv, and the manifest.json of the last run.
"""

import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

PARTS = {"--collection": "train-images-idx3-ubyte", "--labels": "train-labels-idx1-ubyte",
         "--queries": "t10k-images-idx3-ubyte", "--query-labels": "t10k-labels-idx1-ubyte"}


def main():
    a = common.arguments(__doc__, "program", "mnist", "out", k=list(range(1, 11)), metrics=["l2", "cosine"],
                         votes=["majority", "similarity"])
    files = []
    for option, name in PARTS.items():
        files += [option, next(path for path in (a.mnist / name, a.mnist / f"{name}.gz") if path.exists())]
    rows = ["metric\tvotes\tk\taccuracy"]
    a.out.mkdir(parents=True, exist_ok=True)
    with common.scratch() as folder:
        for metric, votes, k in itertools.product(a.metrics, a.votes, a.k):
            told = common.told(a.program, "search", "dense", *files, "--metric", metric, "--votes", votes, "--k", k, "--out",
                               f"{folder}/found.ivecs", "--json", "--quiet", "--manifest", a.out / "manifest.json")
            rows.append(f"{metric}\t{votes}\t{k}\t{told['accuracy']}")
            print(rows[-1], flush=True)
    common.write(a.out / "accuracy.tsv", "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
