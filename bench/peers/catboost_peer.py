#!/usr/bin/env python3
"""Compares the default card with CatBoost, both with all labels, on documents shuffled within their queries.

    catboost_peer.py PROGRAM LETOR_FOLDER OUT [--sets A,B] [--trials 20] [--seed 1] [--jobs 1]

Five folds of each set. `rulerank experiment` fits and scores the card. CatBoost fits --trials models to a training set: the first has
its defaults for ranking (YetiRank), the others random settings (LOSSES, depth 3 to 8, learning rate .02 to .3, L2 penalty 1 to 100).
The validation set stops each fit after 50 trees without a gain in its loss, 1,000 trees at most, and its MAP chooses the trial. The
program judges all scores. Writes OUT/rows.jsonl (a row a set: means over the test queries, the paired difference of card and CatBoost with its 95 %
interval, and the chosen settings of each fold), table.md and manifest.json. Needs numpy and catboost."""

import itertools
import json
import multiprocessing
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402
from curves import CARD, MEASURES, SETS, Curves, signed  # noqa: E402
from validation_parts import mean_with_interval  # noqa: E402

numpy, catboost = needs.packages("numpy", "catboost")

LOSSES = ("YetiRank", "QueryRMSE", "RMSE")
FOLDS = range(1, 6)
PARTS = ("train", "vali", "test")


def settings_of(trial, seed):
    draw = random.Random(f"{seed} {trial}")
    if trial == 0:
        return {"loss_function": LOSSES[0]}
    return {"loss_function": draw.choice(LOSSES), "depth": draw.randint(3, 8), "learning_rate": round(0.02 * 15 ** draw.random(), 4),
            "l2_leaf_reg": round(100 ** draw.random(), 2)}


def judged(program, test, scores):
    """{qid: values of MEASURES}"""
    told = common.told(program, "evaluate", "--test", test, "--metrics", ",".join(MEASURES), "--per-query", "--json", "--quiet",
                       "--scores", scores)
    fold = told["systems"][0]["folds"][0]
    return dict(zip(fold["qids"], zip(*(fold["values"][measure] for measure in MEASURES))))


def trial_of(task):
    """(set, folder of the fold, MAP on the validation set, settings, {qid: values on the test set})"""
    a, name, folder, trial = task
    parts = {}
    for part in PARTS:
        documents = list(common.letor(folder / f"{part}.txt"))
        values = numpy.zeros((len(documents), a.features[name]))
        for row, (_, _, of) in zip(values, documents):
            row[numpy.array(list(of), dtype=int) - 1] = list(of.values())
        parts[part] = catboost.Pool(values, [label for label, *_ in documents], group_id=[qid for _, qid, _ in documents])
    settings = settings_of(trial, a.seed)
    model = catboost.CatBoost(settings | {"iterations": 1000, "random_seed": a.seed, "thread_count": 1, "verbose": False,
                                          "allow_writing_files": False})
    model.fit(parts["train"], eval_set=parts["vali"], early_stopping_rounds=50, use_best_model=True)
    found = {}
    for part in ("vali", "test"):
        scores = folder / f"{part}.{trial}.score"
        common.write(scores, "".join(f"{score!r}\n" for score in model.predict(parts[part]).tolist()))
        found[part] = judged(a.program, folder / f"{part}.txt", scores)
    quality = float(numpy.mean([values[0] for values in found["vali"].values()]))
    return name, folder.name, quality, settings | {"trees": model.tree_count_}, found["test"]


def card_of(task):
    """(set, qids of the test sets, values of MEASURES by query)"""
    a, name, folds = task
    out = folds / "card"
    common.call(a.program, "experiment", "--folds", folds, "--out-dir", out, "--systems", CARD, "--budgets", "100%", "--seed", a.seed,
                "--threads", 2, "--quiet")
    of = Curves([out])
    qids = [qid for path in sorted((out / "curves").glob("Fold*.json")) for qid in json.loads(path.read_text("utf-8"))["qids"]]
    return name, qids, of.values[of.card(1.0)]


def called(task):
    work, arguments = task
    return work(arguments)


def row_of(name, qids, card, trials):
    """A row of rows.jsonl. `trials`: what trial_of() returned for the set, in the order of the trials."""
    best = {}  # of each fold; of equal trials the first
    for _, fold, quality, settings, of_query in trials:
        if fold not in best or quality > best[fold][0]:
            best[fold] = quality, settings, of_query
    of_query = {qid: values for *_, of_fold in best.values() for qid, values in of_fold.items()}
    peer = numpy.array([of_query[qid] for qid in qids])
    row = {"set": name, "queries": len(qids)}
    for column, measure in enumerate(MEASURES):
        mean, half = mean_with_interval(card[:, column] - peer[:, column])
        row |= {f"card {measure}": card[:, column].mean(), f"catboost {measure}": peer[:, column].mean(),
                f"difference {measure}": mean, f"interval {measure}": half}
    return row | {"settings": [settings for _, settings, _ in best.values()]}


def table(rows):
    pair = lambda row, of: " / ".join(f"{row[f'{of} {measure}']:.4f}" for measure in MEASURES)
    head = ["set", "queries", "card", "CatBoost", *(f"card − CatBoost, {measure}" for measure in MEASURES)]
    return "MAP / NDCG@10 of the test sets, all labels\n\n" + common.table(head, [
        [row["set"], row["queries"], pair(row, CARD), pair(row, "catboost"),
         *(signed((row[f"difference {measure}"], row[f"interval {measure}"])) for measure in MEASURES)]
        for row in sorted(rows, key=lambda row: row["difference MAP"])])


def main():
    a = common.arguments(__doc__, "program", "letor", "out", sets=SETS, trials=20, seed=1, jobs=1)
    a.out.mkdir(parents=True, exist_ok=True)
    a.features = {}
    cards, fits = [], []
    with common.scratch() as scratch:
        for name in a.sets:
            files = [pathlib.PurePath(name, f"Fold{n}", f"{part}.txt") for n, part in itertools.product(FOLDS, PARTS)]
            for file in files:
                common.shuffled(a.letor / file, scratch / file, a.seed)
            a.features[name] = max(max(values) for file in files for _, _, values in common.letor(scratch / file))
            cards.append((card_of, (a, name, scratch / name)))
            fits += [(trial_of, (a, name, scratch / name / f"Fold{n}", trial)) for n in FOLDS for trial in range(a.trials)]
        with multiprocessing.Pool(a.jobs) as pool:
            done = pool.map(called, cards + fits, chunksize=1)
    rows = [row_of(*card, [trial for trial in done[len(cards):] if trial[0] == card[0]]) for card in done[:len(cards)]]
    common.write_rows(a.out / "rows.jsonl", rows)
    common.write(a.out / "table.md", table(rows))
    common.manifest(a.out / "manifest.json", build=common.build(a.program), catboost=catboost.__version__,
                    settings={"trials": a.trials, "seed": a.seed, "jobs": a.jobs}, inputs=common.sums_of(a.letor, a.sets, FOLDS, PARTS))


if __name__ == "__main__":
    main()
