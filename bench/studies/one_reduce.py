#!/usr/bin/env python3
"""Compares a user's `reduce --max-documents N` with the ways `chosen` and `random` of the learning curves.

    one_reduce.py PROGRAM LETOR CURVES_FOLDER OUT_FOLDER [--sets OHSUMED,...] [--shares 0.01,0.02,0.05]

`experiment`'s way `chosen` goes from rule size 2 to the next until it has enough documents. `reduce` has one rule size, by default
4, and stops at N. Here N is the number of documents that the curves have for a share of labels (CURVES_FOLDER/curves.tsv.gz). `fit
--pool`, `rank` and `evaluate` follow on the same folds. Writes rows.jsonl (a line for each fold), table.md (means over folds) and
manifest.json.
"""

import itertools
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from curves import KEPT, MEASURES, means, rows_of  # noqa: E402
import common  # noqa: E402


def run(program, fold, documents, folder):
    """MAP and NDCG@10 of the test set, documents that were chosen."""
    call = common.program(program, "--quiet", cwd=folder)
    call("reduce", "--train", fold / "train.txt", "--max-documents", documents, "--out", "chosen.txt")
    call("fit", "--train", "chosen.txt", "--pool", fold / "train.txt", "--model", "model", "--members", "recommended")
    call("rank", "--model", "model", "--test", fold / "test.txt", "--out", "scores.txt")
    found = common.averages(program, fold / "test.txt", "scores.txt", ",".join(MEASURES), "--ties", "average", cwd=folder)
    return {**found, "documents": len((folder / "chosen.txt").read_text().splitlines())}


def markdown(found, curves):
    lines = []
    for (name, share), rows in found.items():
        cells = [" / ".join(f"{statistics.fmean(row[measure] for row in rows):.4f}" for measure in MEASURES)]
        of_set = means(curves[name])
        cells += [" / ".join(f"{of_set['recommended', way, 'defaults'][share][1][measure]:.4f}" for measure in MEASURES)
                  for way in ("chosen", "random")]
        lines.append([name, f"{share:.0%}", *cells])
    return f"{' / '.join(MEASURES)}\n\n" + common.table(
        ["set", "share of labels", "`reduce --max-documents`", "`chosen` of the curves", "`random` of the curves"], lines)


def main():
    a = common.arguments(__doc__, "program", "letor", "curves", "out", sets=["OHSUMED", "MQ2008-agg", "OHSUMED-LETOR2", "MQ2008"],
                         shares=[0.01, 0.02, 0.05])
    # The recommended components with their default settings.
    recommended = [row for row in rows_of(a.curves / KEPT) if (row["system"], row["settings"]) == ("recommended", "defaults")]
    curves = {name: [row for row in recommended if row["set"] == name] for name in a.sets}
    found, log = {}, common.Log(a.out / "rows.jsonl")
    with common.scratch() as folder:
        for (name, rows), share in itertools.product(curves.items(), a.shares):
            wanted = {row["fold"]: int(float(row["documents"])) for row in rows
                      if row["way"] == "chosen" and float(row["share"]) == share}
            for fold, documents in wanted.items():
                row = run(a.program, a.letor / name / fold, documents, folder)
                found.setdefault((name, share), []).append(row)
                log.add({"set": name, "share": share, "fold": fold, **row})
    common.write(a.out / "table.md", markdown(found, curves))
    common.manifest(a.out / "manifest.json", **common.build(a.program))


if __name__ == "__main__":
    main()
