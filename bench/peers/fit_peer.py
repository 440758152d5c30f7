#!/usr/bin/env python3
"""Compares time and memory of fitting and ranking with LightGBM's: whole commands, in turns.

    fit_peer.py PROGRAM TRAIN TEST [--rounds 7] [--threads 1] > rows.jsonl

  rulerank    `fit` without options, then `rank --model`
  lightgbm    python3 with LightGBM: Dataset(file), lambdarank with 100 trees and default options, save_model; then
              Booster(file).predict(file). LightGBM's reader does not know qid, so it gets files of labels and values with the sizes
              of the queries, which are made before and not timed

TRAIN and TEST are in LETOR's form. One JSON line for each step and side: the median of the wall times with minimum and maximum, the
processor time, which other work on the machine changes less, LightGBM's own seconds without Python's start, and the peak memory.
`evaluate` judges the scores before a time is printed: a ranking that is no better than a random one ends the run. Needs numpy and
lightgbm.
"""

import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

FIT = """
import sys, time
import lightgbm
begin = time.perf_counter()
data = lightgbm.Dataset(sys.argv[1], params={"verbose": -1, "num_threads": int(sys.argv[3])})
booster = lightgbm.train({"objective": "lambdarank", "verbose": -1, "num_threads": int(sys.argv[3]),
                          "deterministic": True, "force_row_wise": True}, data, 100)
booster.save_model(sys.argv[2])
print(time.perf_counter() - begin)
"""
RANK = """
import sys, time
import lightgbm, numpy
begin = time.perf_counter()
scores = lightgbm.Booster(model_file=sys.argv[1]).predict(sys.argv[2], num_threads=int(sys.argv[4]))
numpy.savetxt(sys.argv[3], scores, "%.17g")
print(time.perf_counter() - begin)
"""


def converted(path, out):
    """The documents without qids, and the sizes of the queries."""
    sizes = collections.Counter()
    with open(path, encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as to:
        for line in lines:
            label, qid, *values = line.partition("#")[0].split()
            sizes[qid] += 1
            to.write(" ".join([label, *(v.replace("NULL", "nan") for v in values)]) + "\n")
    pathlib.Path(f"{out}.query").write_text("".join(f"{n}\n" for n in sizes.values()), "ascii")


def timed(words, folder):
    """Seconds, peak memory in bytes, output, and the CPU seconds of all threads."""
    with open(folder / "printed", "w+b") as out:
        begin = time.perf_counter()
        process = subprocess.Popen(list(map(str, words)), cwd=folder, stdout=out, stderr=subprocess.PIPE)
        wrong = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            common.fail(f"{words[0]}: {wrong.decode()}")
        out.seek(0)
        return seconds, used.ru_maxrss * 1024, out.read().decode(), used.ru_utime + used.ru_stime


def main():
    a = common.arguments(__doc__, "program", "train", "test", rounds=7, threads=1)
    lightgbm, _ = needs.packages("lightgbm", "numpy")
    with common.scratch() as folder:
        (folder / "fit.py").write_text(FIT)
        (folder / "rank.py").write_text(RANK)
        converted(a.train, folder / "train.svm")
        converted(a.test, folder / "test.svm")
        ours = [a.program, "--threads", a.threads, "--quiet"]
        steps = {("fit", "rulerank"): [ours[0], "fit", "--train", a.train, "--model", "r.model", "--members", "recommended", *ours[1:]],
                 ("fit", "lightgbm"): [sys.executable, "fit.py", "train.svm", "l.model", a.threads],
                 ("rank", "rulerank"): [ours[0], "rank", "--model", "r.model", "--test", a.test, "--out", "rulerank.txt",
                                        *ours[1:]],
                 ("rank", "lightgbm"): [sys.executable, "rank.py", "l.model", "test.svm", "lightgbm.txt", a.threads]}
        found = common.in_turn(a.rounds, {step: lambda words=words: timed(words, folder) for step, words in steps.items()})
        (folder / "none.txt").write_text("0\n" * len(a.test.read_text("utf-8").splitlines()))
        judged = {system["name"]: system["averages"]["MAP"]
                  for system in common.told(a.program, "evaluate", "--test", a.test, "--scores", "rulerank.txt", "lightgbm.txt",
                                            "none.txt", "--metrics", "MAP", "--ties", "average", "--json", "--quiet",
                                            cwd=folder)["systems"]}
        if min(judged["rulerank"], judged["lightgbm"]) <= judged["none"]:
            common.fail(f"{a.test}: a ranking is no better than none: {judged}")
        print(json.dumps({"machine": common.machine(), "build": common.build(a.program), "lightgbm": lightgbm.__version__,
                          "train": a.train.name, "rounds": a.rounds, "threads": a.threads, "MAP": judged}))
        for (step, side), of in found.items():
            seconds = {name: round(value, 4) for name, value in common.spread([one[0] for one in of]).items()}
            row = {"step": step, "side": side, "seconds": seconds["median"], "least": seconds["least"], "most": seconds["most"],
                   "cpu_seconds": round(statistics.median(one[3] for one in of), 4),
                   "memory_mib": round(max(one[1] for one in of) / 2 ** 20, 1)}
            if side == "lightgbm":
                row["own_seconds"] = round(statistics.median(float(one[2]) for one in of), 4)
            print(json.dumps(row))


if __name__ == "__main__":
    main()
