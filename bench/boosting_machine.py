#!/usr/bin/env python3
"""InterpretML's explainable boosting machine on the folds of the learning curves: what it gives with all labels.

    boosting_machine.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets A,B] [--jobs 1]

Nori, Jenkins, Koch and Caruana, InterpretML: a unified framework for machine learning interpretability, 2019: a sum of
functions of one feature and of pairs of features, boosted; ExplainableBoostingRegressor of PyPI's `interpret` on the
labels, for it has no objective of rankings. Settings: interactions 0 and as many as there are without options, with 4 outer
bags instead of 14, which take minutes a fold; of each fold the one with the best MAP on the validation part ranks the test part.
A missing value is NaN. OUT_FOLDER/SET gets a file of scores a fold, FoldN.score, and settings.jsonl; what
`evaluate --ties average` says of them goes to OUT_FOLDER/SET/table.md. Needs numpy and interpret.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import subprocess
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import needs

needs.packages("numpy", "interpret")

import numpy

SETTINGS = [{"interactions": 0, "outer_bags": 4}, {"outer_bags": 4}]


def read(path):
    """Labels and values; a feature that is not listed is 0, NULL is NaN."""
    labels, rows = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            label, _, *values = line.partition("#")[0].split()
            labels.append(int(label))
            rows.append({int(f): float("nan") if v == "NULL" else float(v)
                         for f, _, v in (value.partition(":") for value in values)})
    return labels, rows


def matrix(rows, features):
    return numpy.array([[row.get(f, 0.0) for f in features] for row in rows])


def judged(program, test, scores):
    told = subprocess.run([program, "evaluate", "--test", test, "--scores", scores, "--metrics", "MAP", "--ties", "average",
                           "--json", "--quiet"], capture_output=True, check=True).stdout
    return json.loads(told)["systems"][0]["averages"]["MAP"]


def one_fold(task):
    from interpret.glassbox import ExplainableBoostingRegressor
    program, folder, out = task
    begin = time.perf_counter()
    parts = {part: read(folder / f"{part}.txt") for part in ("train", "vali", "test")}
    features = sorted({f for row in parts["train"][1] for f in row})
    data = {part: (numpy.array(labels, float), matrix(rows, features)) for part, (labels, rows) in parts.items()}
    best = None
    for setting in SETTINGS:
        model = ExplainableBoostingRegressor(random_state=1, n_jobs=1, **setting).fit(data["train"][1], data["train"][0])
        vali = out / f"{folder.name}.vali"
        numpy.savetxt(vali, model.predict(data["vali"][1]), "%.17g")
        value = judged(program, folder / "vali.txt", vali)
        vali.unlink()
        if best is None or value > best[0]:
            best = value, setting, model.predict(data["test"][1])
    numpy.savetxt(out / f"{folder.name}.score", best[2], "%.17g")
    return {"fold": folder.name, "setting": best[1], "validation_MAP": best[0],
            "seconds": round(time.perf_counter() - begin, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "letor", "out"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--sets", default="OHSUMED,MQ2008")
    parser.add_argument("--jobs", type=int, default=1)
    a = parser.parse_args()
    import interpret
    for name in a.sets.split(","):
        out = a.out / name
        out.mkdir(parents=True, exist_ok=True)
        with multiprocessing.Pool(a.jobs) as pool:
            rows = pool.map(one_fold, [(str(a.program), a.letor / name / f"Fold{n}", out) for n in range(1, 6)], 1)
        (out / "settings.jsonl").write_text(
            "".join(json.dumps({"interpret": interpret.__version__, **row}) + "\n" for row in rows))
        table = subprocess.run(
            [a.program, "evaluate", "--folds", a.letor / name, "--scores", f"boosting_machine={out}", "--metrics",
             "MAP,NDCG@10", "--ties", "average", "--format", "markdown"], capture_output=True, text=True, check=True)
        (out / "table.md").write_text(table.stdout)
        print(name, json.dumps(rows), flush=True)


if __name__ == "__main__":
    main()
