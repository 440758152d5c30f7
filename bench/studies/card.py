#!/usr/bin/env python3
"""Compares the card that `fit` makes with larger models, with all labels and with few.

    card.py PROGRAM LETOR OUT_FOLDER [--sets OHSUMED,...] [--shares 0.01,0.02,0.05,1] [--seeds 1]

The documents of each query are shuffled, because the order of a file may follow its labels. `reduce --max-documents` or a random
choice picks a share of the documents for labels; all other documents are the pool. The larger models are a joint member, the
recommended members, and a scorecard and a linear member that are fitted to pairs (cross-fitted). No validation set is read.

Writes rows.jsonl, table.md and manifest.json. A line of rows.jsonl is a model, set, share and sample, with the means over the folds
and the card's difference to the model. The 95 % interval of a difference is paired by query.
"""

import csv
import itertools
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

MEASURES = ["MAP", "NDCG@10"]
CARD = "card"
MODELS = {CARD: ["--members", "card"],
          "joint": ["--members", "joint"],
          "recommended": ["--members", "recommended"],
          "pairs": ["--members", "scorecard,linear", "--loss", "pair", "--points-penalty", "cross-fit", "--strength", "cross-fit", "--method",
                    "frequency", "--bins", "20"]}
ALL = 1.0


def samples(program, train, share, seed):
    """{way: file with this many labels}."""
    if share == ALL:
        return {"all": train}
    lines = train.read_text().splitlines(keepends=True)
    count = round(share * len(lines))
    chosen, at_random = train.with_name("chosen.txt"), train.with_name("random.txt")
    common.call(program, "reduce", "--train", train, "--max-documents", count, "--ties", "seeded", "--out", chosen, "--quiet")
    places = sorted(random.Random(seed).sample(range(len(lines)), count))
    at_random.write_text("".join(lines[place] for place in places))
    return {"chosen": chosen, "random": at_random}


def values_by_query(program, sample, train, test, words):
    """{measure: value of each test query} for a model, and the seconds of its fit."""
    model, scores = sample.with_name("model"), sample.with_name("scores")
    pool = [] if sample == train else ["--pool", train]
    seconds, _ = common.timed(lambda: common.call(program, "fit", "--train", sample, *pool, "--model", model, *words, "--quiet"))
    common.call(program, "rank", "--model", model, "--test", test, "--out", scores, "--quiet")
    table = common.output(program, "evaluate", "--test", test, "--scores", scores, "--metrics", ",".join(MEASURES), "--ties", "average",
                          "--per-query", "--format", "tsv", "--quiet")
    lines = [line for line in table.splitlines() if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["query"] != "all"]
    return {measure: [float(row[measure]) for row in rows] for measure in MEASURES}, seconds


def half_interval(differences):
    return 1.96 * statistics.stdev(differences) / len(differences) ** 0.5


def summary(found):
    """A model's row: {model: a list of (values by query, seconds), one per fold} for the same samples."""
    card = {measure: [value for values, _ in found[CARD] for value in values[measure]] for measure in MEASURES}
    for model, folds in found.items():
        row = {"model": model, "fit_seconds": round(statistics.median(seconds for _, seconds in folds), 3)}
        for measure in MEASURES:
            row[measure] = round(statistics.fmean(statistics.fmean(values[measure]) for values, _ in folds), 5)
            if model != CARD:
                differences = [ours - theirs for ours, theirs in
                               zip(card[measure], (value for values, _ in folds for value in values[measure]))]
                row[f"card − model, {measure}"] = round(statistics.fmean(differences), 5)
                row[f"half interval, {measure}"] = round(half_interval(differences), 5)
        yield row


def markdown(log):
    lines = []
    for share, way, name in dict.fromkeys((row["share"], row["way"], row["set"]) for row in log):
        line = [f"{share:.0%}", way, name]
        rows = {model: log.one(share=share, way=way, set=name, model=model) for model in MODELS}
        line += [" / ".join(f"{row[measure]:.4f}" for measure in MEASURES) if row else "" for row in rows.values()]
        line += [f"{row['card − model, MAP']:+.4f} ± {row['half interval, MAP']:.4f}" if row else ""
                 for model, row in rows.items() if model != CARD]
        lines.append(line)
    return f"{' / '.join(MEASURES)}; differences of MAP\n\n" + common.table(
        ["labels", "sample", "set", *MODELS, *(f"card − {model}" for model in MODELS if model != CARD)], lines)


def main():
    a = common.arguments(__doc__, "program", "letor", "out", sets=["OHSUMED", "OHSUMED-LETOR2", "MQ2008", "MQ2008-agg"],
                         shares=[0.01, 0.02, 0.05, ALL], seeds=[1])
    log = common.Log(a.out / "rows.jsonl")
    for name in a.sets:
        found = {}
        with common.scratch() as folder:
            for seed, fold in itertools.product(a.seeds, range(1, 6)):
                train, test = folder / "train.txt", folder / "test.txt"
                for path in (train, test):
                    common.shuffled(a.letor / name / f"Fold{fold}" / path.name, path, seed)
                for share in a.shares:
                    for way, sample in samples(a.program, train, share, seed).items():
                        for model, words in MODELS.items():
                            if model == "pairs" and share != ALL:
                                continue  # few labels leave few pairs
                            found.setdefault((share, way), {}).setdefault(model, []).append(
                                values_by_query(a.program, sample, train, test, words))
        for (share, way), models in found.items():
            for row in summary(models):
                log.add({"set": name, "share": share, "way": way, **row})
    common.write(a.out / "table.md", markdown(log))
    common.manifest(a.out / "manifest.json", **common.build(a.program))


if __name__ == "__main__":
    main()
