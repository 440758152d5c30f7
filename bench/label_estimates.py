#!/usr/bin/env python3
"""How near the estimate of `reduce --oracle ask` comes to how many documents are still asked about:

  label_estimates.py PROGRAM DATA_FOLDER OUT_FOLDER [--sizes 3,4] [--folds 1,2,3,4,5] [--skip 0.3]

On OHSUMED and MQ2008, cut in two ways each, the training part's own labels are answered one by one, and
the estimate is asked for now and then: how many documents, from how many to how many, beside how many it
was in the end. With --skip that share of the documents, drawn, is skipped wherever it is asked about, and
an estimate is asked for as soon as there are 10 labels. The chosen documents must be those of a run with all
labels, and at least 99 of 100 estimates must have the truth within their bounds, or the exit code is 1.

DATA_FOLDER has letor/{OHSUMED,MQ2008}/Fold1..5/train.txt. Writes results.jsonl, tables.md and
manifest.json into OUT_FOLDER.
"""

import argparse
import datetime
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from tables import build, machine, markdown

CUTS = {"OHSUMED": ("width", "tube"), "MQ2008": ("frequency", "tube")}
ASKED_AT = (10, 15, 20, 30, 45, 60, 80, 100, 150, 200, 300, 400, 600, 800)
ENOUGH = 10  # labels before which there is no estimate
SENTENCE = re.compile(r"by (\d+) documents? up to the end \((\d+) to (\d+)\)")


def estimates(program, train, cuts, size, skip):
    """(answers, expected, low, high, left) at each point, with all labels answered in turn."""
    lines = train.read_bytes().splitlines(True)
    chance = random.Random(f"{train.parent.name} {skip}")
    labels = ["skip" if chance.random() < skip else line.split(b" ", 1)[0].decode() for line in lines]
    options = ["--device", "cpu", "--rule-size", str(size), "--method", cuts]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*arguments, **more):
            done = subprocess.run([program, "reduce", *arguments, *options], cwd=folder, capture_output=True, text=True, **more)
            if done.returncode != 0:
                raise SystemExit(f"label_estimates.py: {done.stderr.strip()}")
            return done

        pool = ["--train", "pool", "--unlabelled", "-1"]
        (folder / "pool").write_bytes(b"".join(b"-1 " + line.split(b" ", 1)[1] for line in lines))
        (folder / "labels").write_text("line\tlabel\n" + "".join(f"{d}\t{label}\n" for d, label in enumerate(labels)))
        run(*pool, "--out", "want", "--oracle", "file:labels", "--resume", "order")
        if not skip:
            run("--train", str(train), "--out", "all")
            assert (folder / "all").read_bytes() == (folder / "want").read_bytes()
        order = [int(row.split("\t")[0]) for row in (folder / "order").read_text().splitlines()[2:]]
        known = list(itertools.accumulate(labels[d] != "skip" for d in order))  # labels behind each answer
        points = [n for n in ASKED_AT if n < len(order) and known[n - 1] >= ENOUGH]
        words = "".join(("e\n" if n in points else "") + labels[d] + "\n" for n, d in enumerate(order))
        shown = run(*pool, "--out", "got", "--oracle", "ask", "--resume", "state", input=words).stderr
        if any((folder / a).read_bytes() != (folder / b).read_bytes() for a, b in (("want", "got"), ("order", "state"))):
            raise SystemExit(f"label_estimates.py: {train}: not what all labels choose")
        found = [tuple(map(int, numbers)) for numbers in SENTENCE.findall(shown)]
        assert len(found) == len(points), (found, points)
        return [(n, *numbers, len(order) - n) for n, numbers in zip(points, found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("data", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sizes", default="3,4")
    parser.add_argument("--folds", default="1,2,3,4,5")
    parser.add_argument("--skip", type=float, default=0)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    manifest = {"started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "build": build(arguments.program.parent), "machine": machine(), "sizes": arguments.sizes,
                "folds": arguments.folds, **({"skip": arguments.skip} if arguments.skip else {})}
    (arguments.out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    table, all_points = [], []
    with open(arguments.out / "results.jsonl", "w") as log:
        for name, ways in CUTS.items():
            for cuts in ways:
                for size in map(int, arguments.sizes.split(",")):
                    points = []
                    for fold in arguments.folds.split(","):
                        train = arguments.data / "letor" / name / f"Fold{fold}" / "train.txt"
                        for answers, expected, low, high, left in estimates(str(arguments.program), train, cuts, size,
                                                                            arguments.skip):
                            row = {"set": name, "cuts": cuts, "rule_size": size, "fold": int(fold), "answers": answers,
                                   "expected": expected, "low": low, "high": high, "left": left,
                                   "ratio": round(expected / left, 3), "factor": round(max(expected / left, left / expected), 3),
                                   "within": int(low <= left <= high)}
                            log.write(json.dumps(row) + "\n")
                            points.append(row)
                    all_points += points
                    near = sum(row["factor"] <= 1.5 for row in points)
                    table.append([name, cuts, size, len(points), near, sum(row["within"] for row in points),
                                  min(row["ratio"] for row in points), max(row["ratio"] for row in points)])
    near = sum(row["factor"] <= 1.5 for row in all_points)
    within = sum(row["within"] for row in all_points)
    table.append(["all", "", "", len(all_points), near, within, min(row["ratio"] for row in all_points),
                  max(row["ratio"] for row in all_points)])
    text = markdown("Documents still asked about: estimates and what it was",
                    ["set", "cuts", "--rule-size", "estimates", "within a factor of 1.5", "within their bounds",
                     "smallest ratio", "largest ratio"], table)
    (arguments.out / "tables.md").write_text(text)
    print(text)
    if within < 0.99 * len(all_points):
        sys.exit(f"label_estimates.py: {len(all_points) - within} of {len(all_points)} are beyond their bounds")


if __name__ == "__main__":
    main()
