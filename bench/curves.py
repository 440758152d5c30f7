#!/usr/bin/env python3
"""The full learning curves of `rulerank experiment --systems`, set by set.

    curves.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets OHSUMED,MQ2008,...] [--lightgbm PATH] [--threads N]

Every system, way and budget with 10 draws; OUT_FOLDER/SET gets curves.tsv, curves.md, curves.svg, the results
by query and the manifest with machine, commit, options, checksums and the versions of the libraries. A run
that was stopped, by a signal or by the machine, goes on when the same line is run again. Without a LightGBM
(--lightgbm, or an installed package) the line fails at once and says so: leave it out by --systems. The
XGBoost is the one that the program was built with; its version is in every table, so runs with another one go to
another OUT_FOLDER.
"""

import argparse
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("letor", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sets", default="OHSUMED,MQ2008,OHSUMED-LETOR2,MQ2008-agg")
    parser.add_argument("--systems", default="recommended,rules,scorecard,linear,members,lightgbm,ilmart,xgboost,ranksvm")
    parser.add_argument("--budgets", default="1%,2%,5%,10%,25%,100%")
    parser.add_argument("--draws", default="10")
    parser.add_argument("--lightgbm")
    parser.add_argument("--threads", default="0")
    a = parser.parse_args()
    for name in a.sets.split(","):
        line = [a.program, "experiment", "--folds", a.letor / name, "--out-dir", a.out / name, "--systems", a.systems,
                "--budgets", a.budgets, "--random-draws", a.draws, "--threads", a.threads]
        if a.lightgbm:
            line += ["--lightgbm", a.lightgbm]
        print(f"{name}: {' '.join(map(str, line))}", file=sys.stderr, flush=True)
        code = subprocess.run(list(map(str, line)), stdout=subprocess.DEVNULL, check=False).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
