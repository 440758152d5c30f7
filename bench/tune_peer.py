#!/usr/bin/env python3
"""`tune` beside Optuna, which calls the program: the same candidates, the same seconds, one thread.

  tune_peer.py PROGRAM DATA_FOLDER [--sets OHSUMED,MQ2008] [--fold 1] [--seconds 60] [--sampler tpe|random]

Optuna chooses among the default candidates of `tune`; a trial is `rank` on the validation part and
`evaluate`, as a user's script would have it. Both look for the best MAP of the validation part. One
JSON line a set: trials and the best of either, and the ratio of trials in the same time. DATA_FOLDER
has letor/SET/FoldN/{train,vali}.txt. Needs optuna.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import needs

needs.packages("optuna")

import optuna

from tables import build, machine

CANDIDATES = {"method": ["tube", "width", "frequency"], "bins": [5, 10, 20], "rule-size": [3, 4],
              "min-support": [1, 3], "min-confidence": [0.001, 0.1], "support-weight": [0, -0.25, -0.5],
              "smoothing": [0, 5, 20]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("data", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--sets", default="OHSUMED,MQ2008")
    parser.add_argument("--fold", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--sampler", choices=["tpe", "random"], default="tpe")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    print(json.dumps({"machine": machine(), "build": build(arguments.program.parent), "optuna": optuna.__version__,
                      "seconds": arguments.seconds, "sampler": arguments.sampler, "fold": arguments.fold}))
    for name in arguments.sets.split(","):
        fold = arguments.data / "letor" / name / f"Fold{arguments.fold}"
        with tempfile.TemporaryDirectory() as folder:
            def run(*words):
                return subprocess.run([str(arguments.program), *map(str, words), "--threads", "1", "--device", "cpu"],
                                      cwd=folder, capture_output=True, text=True, check=True).stdout

            def judged(*settings):
                run("rank", "--train", fold / "train.txt", "--test", fold / "vali.txt", "--out", "scores", *settings)
                told = run("evaluate", "--test", fold / "vali.txt", "--scores", "scores", "--metrics", "MAP", "--json")
                return json.loads(told)["systems"][0]["averages"]["MAP"]

            start = time.perf_counter()
            run("tune", "--train", fold / "train.txt", "--vali", fold / "vali.txt", "--metric", "MAP", "--search",
                "grid", "--budget", f"{arguments.seconds}s", "--out", "best.json", "--trials", "trials.tsv", "--quiet")
            taken = time.perf_counter() - start
            rows = (pathlib.Path(folder) / "trials.tsv").read_text().splitlines()
            trials = sum(not row.startswith(("#", "rung")) for row in rows)
            best = json.loads((pathlib.Path(folder) / "best.json").read_text())["validation"]["MAP"]
            if judged("--settings", "best.json") != best:
                raise SystemExit(f"tune_peer.py: {name}: rank does not give what tune found")

            def trial(of):
                return judged(*(word for key, values in CANDIDATES.items()
                                for word in (f"--{key}", of.suggest_categorical(key, values))))

            sampler = (optuna.samplers.TPESampler if arguments.sampler == "tpe" else optuna.samplers.RandomSampler)(seed=1)
            study = optuna.create_study(direction="maximize", sampler=sampler)
            study.optimize(trial, timeout=taken)
            print(json.dumps({"set": name, "seconds": taken, "tune_trials": trials, "tune_best": best,
                              "optuna_trials": len(study.trials), "optuna_best": study.best_value,
                              "trials_ratio": trials / len(study.trials)}), flush=True)


if __name__ == "__main__":
    main()
