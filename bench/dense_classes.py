#!/usr/bin/env python3
"""Classes by the votes of exact neighbours among vectors: MNIST's test images by its training images, k from 1 to 10.

    dense_classes.py PROGRAM MNIST_FOLDER OUT_FOLDER [--k 1,2,3,4,5,6,7,8,9,10] [--metrics l2,cosine] [--votes majority,similarity]

MNIST_FOLDER has MNIST's four files, plain or gzip. Writes accuracy.tsv, and manifest.json of the last run.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

PARTS = {"--collection": "train-images-idx3-ubyte", "--labels": "train-labels-idx1-ubyte",
         "--queries": "t10k-images-idx3-ubyte", "--query-labels": "t10k-labels-idx1-ubyte"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "mnist", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--k", default="1,2,3,4,5,6,7,8,9,10")
    parser.add_argument("--metrics", default="l2,cosine")
    parser.add_argument("--votes", default="majority,similarity")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    files = []
    for option, name in PARTS.items():
        files += [option, next(path for path in (a.mnist / name, a.mnist / f"{name}.gz") if path.exists())]
    rows = ["metric\tvotes\tk\taccuracy"]
    with tempfile.TemporaryDirectory() as folder:
        for metric in a.metrics.split(","):
            for votes in a.votes.split(","):
                for k in a.k.split(","):
                    told = subprocess.run(
                        [a.program, "search", "dense", *files, "--metric", metric, "--votes", votes, "--k", k,
                         "--out", f"{folder}/found.ivecs", "--json", "--quiet", "--manifest", a.out / "manifest.json"],
                        check=True, capture_output=True, text=True).stdout
                    rows.append(f"{metric}\t{votes}\t{k}\t{json.loads(told)['accuracy']}")
                    print(rows[-1], flush=True)
    (a.out / "accuracy.tsv").write_text("\n".join(rows) + "\n", "ascii")


if __name__ == "__main__":
    main()
