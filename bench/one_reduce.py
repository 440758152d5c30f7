#!/usr/bin/env python3
"""What a user's `reduce --max-documents N` gives, beside the ways `chosen` and `random` of the learning curves.

    one_reduce.py PROGRAM LETOR CURVES_FOLDER OUT_FOLDER [--sets OHSUMED,...] [--shares 0.01,0.02,0.05]

`experiment`'s way `chosen` goes from rule size 2 to the next until it has enough documents; `reduce` has one rule size, by default 4, and
stops at N. Here N is the number of documents that the curves have of a share of labels (CURVES_FOLDER/curves.tsv.gz), and `fit --pool`, `rank` and `evaluate`
follow on the same folds. Writes rows.jsonl (a line a fold), table.md, means of folds' means, and manifest.json.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from curves_picture import KEPT, MEASURES, means, rows_of
from tables import build, machine


def run(program, fold, documents, folder):
    """MAP and NDCG@10 of the test part, documents that were chosen."""
    def call(*line):
        return subprocess.run([program, *map(str, line), "--quiet"], cwd=folder, check=True, capture_output=True, text=True).stdout
    call("reduce", "--train", fold / "train.txt", "--max-documents", documents, "--out", "chosen.txt")
    call("fit", "--train", "chosen.txt", "--pool", fold / "train.txt", "--model", "model")
    call("rank", "--model", "model", "--test", fold / "test.txt", "--out", "scores.txt")
    told = json.loads(call("evaluate", "--test", fold / "test.txt", "--scores", "scores.txt", "--ties", "average", "--metrics", ",".join(MEASURES), "--json"))
    with open(folder / "chosen.txt", encoding="ascii") as lines:
        return {**{measure: told["systems"][0]["averages"][measure] for measure in MEASURES}, "documents": sum(1 for _ in lines)}


def markdown(found, curves):
    lines = ["| set | share of labels | `reduce --max-documents` | `chosen` of the curves | `random` of the curves |", "| :-- | --: | --: | --: | --: |"]
    for (name, share), rows in found.items():
        cells = [" / ".join(f"{statistics.fmean(row[measure] for row in rows):.4f}" for measure in MEASURES)]
        of_set = means(curves[name])
        cells += [" / ".join(f"{of_set['recommended', way, 'defaults'][share][1][measure]:.4f}" for measure in MEASURES) for way in ("chosen", "random")]
        lines.append(f"| {name} | {share:.0%} | " + " | ".join(cells) + " |")
    return f"{' / '.join(MEASURES)}\n\n" + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "letor", "curves", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--sets", default="OHSUMED,MQ2008-agg,OHSUMED-LETOR2,MQ2008")
    parser.add_argument("--shares", default="0.01,0.02,0.05")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    # What is recommended, by its defaults.
    recommended = [row for row in rows_of(a.curves / KEPT) if (row["system"], row["settings"]) == ("recommended", "defaults")]
    curves = {name: [row for row in recommended if row["set"] == name] for name in a.sets.split(",")}
    found = {}
    with tempfile.TemporaryDirectory() as folder, open(a.out / "rows.jsonl", "w", encoding="ascii") as log:
        for name, rows in curves.items():
            for share in map(float, a.shares.split(",")):
                wanted = {row["fold"]: int(float(row["documents"])) for row in rows if row["way"] == "chosen" and float(row["share"]) == share}
                for fold, documents in wanted.items():
                    row = run(str(a.program.resolve()), (a.letor / name / fold).resolve(), documents, pathlib.Path(folder))
                    found.setdefault((name, share), []).append(row)
                    print(json.dumps({"set": name, "share": share, "fold": fold, **row}), file=log, flush=True)
    (a.out / "table.md").write_text(markdown(found, curves), encoding="ascii")
    (a.out / "manifest.json").write_text(json.dumps({"command": sys.argv[0:1] + ["PROGRAM", "LETOR", "CURVES", "OUT"], **build(a.program.parent), "machine": machine()},
                                                    indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
