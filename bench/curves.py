#!/usr/bin/env python3
"""The full learning curves of `rulerank experiment --systems`, set by set.

    curves.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets OHSUMED,MQ2008,...] [--lightgbm PATH] [--threads N] [--keep FOLDER]

Every system, way and budget with 10 draws; OUT_FOLDER/SET gets curves.tsv, curves.md, curves.svg, the results
by query and the manifest with machine, commit, options, checksums and the versions of the libraries. A run
that was stopped, by a signal or by the machine, goes on when the same line is run again. FOLDER gets what bench/results holds of
a run, half a MB where OUT_FOLDER takes hundreds: goals.md (curve_goals.py), SET.svg and SET.md (curves_picture.py), curves.tsv.gz
(of all sets the means over draws, by fold, way, share, settings and system) and manifest.json (the sets' manifests); curve_page.py takes the
tables of docs/learning-curves.md from there. It needs numpy. Without a LightGBM
(--lightgbm, or an installed package) the line fails at once and says so: leave it out by --systems. The
XGBoost is the one that the program was built with; its version is in every table, so runs with another one go to
another OUT_FOLDER.
"""

import argparse
import csv
import gzip
import importlib.util
import io
import json
import pathlib
import subprocess
import sys

from curves_picture import CELL, KEPT, MEASURES, mean_of_draws, rows_of

HERE = pathlib.Path(__file__).parent


def keep(a):
    """Writes --keep from what the sets' folders hold."""
    a.keep.mkdir(parents=True, exist_ok=True)
    sets = ["--sets", a.sets]
    subprocess.run([sys.executable, HERE / "curves_picture.py", a.out, a.keep, *sets], check=True)
    with open(a.keep / "goals.md", "wb") as goals:
        subprocess.run([sys.executable, HERE / "curve_goals.py", a.out, *sets, "--letor", a.letor], check=True, stdout=goals)
    kept, about = io.StringIO(), {}
    to = csv.DictWriter(kept, ["set", *CELL, "documents", "labels", *MEASURES], delimiter="\t", lineterminator="\n")
    to.writeheader()
    for name in a.sets.split(","):
        to.writerows({"set": name, **row} for row in mean_of_draws(rows_of(a.out / name / "curves.tsv")))
        about[name] = json.loads((a.out / name / "manifest.json").read_text("utf-8"))
    # The same bytes for the same curves: without a time.
    (a.keep / KEPT).write_bytes(gzip.compress(kept.getvalue().encode(), mtime=0))
    (a.keep / "manifest.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("letor", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sets", default="OHSUMED,MQ2008,OHSUMED-LETOR2,MQ2008-agg")
    parser.add_argument("--systems", default="recommended,rules,scorecard,linear,members,lightgbm,ilmart,xgboost,ranksvm,ranksvm-zscore")
    parser.add_argument("--budgets", default="1%,2%,5%,10%,25%,100%")
    parser.add_argument("--draws", default="10")
    parser.add_argument("--lightgbm")
    parser.add_argument("--threads", default="0")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    a = parser.parse_args()
    if a.keep and importlib.util.find_spec("numpy") is None:
        parser.error("--keep: curve_goals.py needs numpy")
    for name in a.sets.split(","):
        line = [a.program, "experiment", "--folds", a.letor / name, "--out-dir", a.out / name, "--systems", a.systems,
                "--budgets", a.budgets, "--random-draws", a.draws, "--threads", a.threads]
        if a.lightgbm:
            line += ["--lightgbm", a.lightgbm]
        print(f"{name}: {' '.join(map(str, line))}", file=sys.stderr, flush=True)
        code = subprocess.run(list(map(str, line)), stdout=subprocess.DEVNULL, check=False).returncode
        if code != 0:
            return code
    if a.keep:
        keep(a)
    return 0


if __name__ == "__main__":
    sys.exit(main())
