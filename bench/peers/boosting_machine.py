#!/usr/bin/env python3
"""Measures InterpretML's explainable boosting machine on the folds of the learning curves, with all labels.

    boosting_machine.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets A,B] [--jobs 1]

Source: Nori, Jenkins, Koch and Caruana, InterpretML: a unified framework for machine learning interpretability, 2019. The model is a
boosted sum of functions of one feature and of pairs of features. It has no ranking objective, so ExplainableBoostingRegressor of
PyPI's `interpret` is fitted to the labels. Each fold has two settings: no interactions, and the default number of them. Both use 4
outer bags, because the default of 14 takes minutes for a fold. The setting with the best MAP on the validation set ranks the test
set. A missing value is NaN.

OUT_FOLDER/SET gets the scores of each fold (FoldN.score), settings.jsonl, and table.md with the output of `evaluate --ties average`.
Needs numpy and interpret.
"""

import json
import multiprocessing
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
numpy, interpret = needs.packages("numpy", "interpret")

SETTINGS = [{"interactions": 0, "outer_bags": 4}, {"outer_bags": 4}]


def one_fold(task):
    from interpret.glassbox import ExplainableBoostingRegressor
    program, folder, out = task
    begin = time.perf_counter()
    parts = {part: list(common.letor(folder / f"{part}.txt")) for part in ("train", "vali", "test")}
    features = sorted({f for _, _, row in parts["train"] for f in row})
    data = {part: (numpy.array([label for label, _, _ in rows], float),
                   numpy.array([[row.get(f, 0.0) for f in features] for _, _, row in rows])) for part, rows in parts.items()}
    best = None
    for setting in SETTINGS:
        model = ExplainableBoostingRegressor(random_state=1, n_jobs=1, **setting).fit(data["train"][1], data["train"][0])
        vali = out / f"{folder.name}.vali"
        numpy.savetxt(vali, model.predict(data["vali"][1]), "%.17g")
        value = common.averages(program, folder / "vali.txt", vali, "MAP", "--ties", "average")["MAP"]
        vali.unlink()
        if best is None or value > best[0]:
            best = value, setting, model.predict(data["test"][1])
    numpy.savetxt(out / f"{folder.name}.score", best[2], "%.17g")
    return {"fold": folder.name, "setting": best[1], "validation_MAP": best[0], "seconds": round(time.perf_counter() - begin, 1)}


def main():
    a = common.arguments(__doc__, "program", "letor", "out", sets=["OHSUMED", "MQ2008"], jobs=1)
    for name in a.sets:
        out = a.out / name
        out.mkdir(parents=True, exist_ok=True)
        with multiprocessing.Pool(a.jobs) as pool:
            rows = pool.map(one_fold, [(a.program, a.letor / name / f"Fold{n}", out) for n in range(1, 6)], 1)
        common.write_rows(out / "settings.jsonl", ({"interpret": interpret.__version__, **row} for row in rows))
        common.write(out / "table.md",
                     common.output(a.program, "evaluate", "--folds", a.letor / name, "--scores", f"boosting_machine={out}",
                                   "--metrics", "MAP,NDCG@10", "--ties", "average", "--format", "markdown"))
        print(name, json.dumps(rows), flush=True)


if __name__ == "__main__":
    main()
