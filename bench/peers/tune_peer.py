#!/usr/bin/env python3
"""Compares `tune` with Optuna, which calls the program: same candidates, same seconds, one thread.

  tune_peer.py PROGRAM DATA_FOLDER [--sets OHSUMED,MQ2008] [--fold 1] [--seconds 60] [--sampler tpe|random]

Optuna chooses among the default candidates of `tune`. A trial is `rank` on the validation set and `evaluate`, as in a user's
script. Both maximize MAP of the validation set. One JSON line for each set: trials and the best value of both, and the ratio of
trials in the same time. DATA_FOLDER has letor/SET/FoldN/{train,vali}.txt. Needs optuna.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

optuna, = needs.packages("optuna")

CANDIDATES = {"method": ["tube", "width", "frequency"], "bins": [5, 10, 20], "rule-size": [3, 4], "min-support": [1, 3],
              "min-confidence": [0.001, 0.1], "support-weight": [0, -0.25, -0.5], "smoothing": [0, 5, 20]}


def main():
    a = common.arguments(__doc__, "program", "data", sets=["OHSUMED", "MQ2008"], fold=1, seconds=60,
                         sampler={"choices": ["tpe", "random"], "default": "tpe"})
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    print(json.dumps({"machine": common.machine(), "build": common.build(a.program), "optuna": optuna.__version__,
                      "seconds": a.seconds, "sampler": a.sampler, "fold": a.fold}))
    for name in a.sets:
        fold = a.data / "letor" / name / f"Fold{a.fold}"
        with common.scratch() as folder:
            run = common.program(a.program, "--threads", 1, "--device", "cpu", cwd=folder)

            def judged(*settings):
                run("rank", "--train", fold / "train.txt", "--test", fold / "vali.txt", "--out", "scores", *settings)
                return common.averages(a.program, fold / "vali.txt", "scores", "MAP", "--threads", 1, "--device", "cpu",
                                       cwd=folder)["MAP"]

            taken, _ = common.timed(lambda: run("tune", "--train", fold / "train.txt", "--vali", fold / "vali.txt", "--metric",
                                                "MAP", "--search", "grid", "--budget", f"{a.seconds}s", "--out", "best.json",
                                                "--trials", "trials.tsv", "--quiet"))
            rows = (folder / "trials.tsv").read_text().splitlines()
            trials = sum(not row.startswith(("#", "rung")) for row in rows)
            best = json.loads((folder / "best.json").read_text())["validation"]["MAP"]
            if judged("--settings", "best.json") != best:
                common.fail(f"{name}: rank does not give what tune found")

            def trial(of):
                return judged(*(word for key, values in CANDIDATES.items()
                                for word in (f"--{key}", of.suggest_categorical(key, values))))

            sampler = (optuna.samplers.TPESampler if a.sampler == "tpe" else optuna.samplers.RandomSampler)(seed=1)
            study = optuna.create_study(direction="maximize", sampler=sampler)
            study.optimize(trial, timeout=taken)
            print(json.dumps({"set": name, "seconds": taken, "tune_trials": trials, "tune_best": best,
                              "optuna_trials": len(study.trials), "optuna_best": study.best_value,
                              "trials_ratio": trials / len(study.trials)}), flush=True)


if __name__ == "__main__":
    main()
