#!/usr/bin/env python3
"""Plots and summarizes the output of two_stage_bench.

    two_stage_plot.py CURVES.tsv PER_QUERY OUT.svg

Writes OUT.svg (needs numpy and matplotlib) and prints tables in Markdown, of the rounds that chose PER_QUERY documents of each query.
The picture shows each method's NDCG@10 minus that of SSARP, then random, in the same round: means of the folds with 95 % intervals (t
over the folds). Its points are those of ROUNDS that every fold reached, up to nine tenths of the documents. A difference in the tables
is the mean over the folds of the mean over the rounds, from the first one up to nine tenths of the documents, with its standard
deviation over the folds.
"""

import pathlib
import sys
from collections import defaultdict
import csv
import itertools
import statistics

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402
from validation_parts import mean_with_interval  # noqa: E402

numpy, = needs.packages("numpy")

RANKERS = {"rules": "our rules", "ranksvm": "rank SVM", "xgboost": "XGBoost"}
METHODS = {"committee": "SSARP, then committee", "margin": "SSARP, then margin", "random": "SSARP, then random", "draw": "random alone"}
BASELINE = "random"  # of the picture
COLOURS = {"committee": "#0b6e4f", "margin": "#c1440e", "draw": "#2b5c9e"}
ROUNDS = (1, 2, 3, 5, 8, 12, 18, 25)  # of the tables and the picture


def read(path, per_query):
    """points[set][method][step][fold] = (labels, share, {ranker: value})"""
    points = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if int(row["per_query"]) not in (0, per_query):
                continue
            step = int(row["step"])
            if row["method"] == "ssarp":  # budgets of size 3 in tenths, then the larger sizes
                known = sum(int(row["fold"]) in folds for folds in points[row["set"]]["ssarp"].values())
                step = known
            points[row["set"]][row["method"]][step][int(row["fold"])] = (
                int(row["labels"]), float(row["share"]), {r: float(row[r]) for r in RANKERS})
    return points


def curve(steps, ranker):
    """(labels, share, value) of the rounds, as means over the folds."""
    folds = max(len(s) for s in steps.values())
    means = []
    for step in sorted(steps):
        values = list(steps[step].values())
        if len(values) == folds:
            means.append((statistics.mean(v[0] for v in values), statistics.mean(v[1] for v in values),
                          statistics.mean(v[2][ranker] for v in values)))
    return means


def plot(points, out):
    """Draws each method's NDCG@10 minus that of SSARP, then random, by round."""
    panels = []
    for (ranker, title), name in itertools.product(RANKERS.items(), points):
        of, lines = points[name], []
        folds = len(of["committee"][0])
        rounds = [step for step in ROUNDS if all(len(of[method].get(step, {})) == folds for method in (*COLOURS, BASELINE) if method in of)
                  and statistics.mean(share for _, share, _ in of[BASELINE][step].values()) <= 0.9]
        for method in (method for method in COLOURS if method in of):
            means = [(step, mean_with_interval(numpy.array(
                [values[ranker] - of[BASELINE][step][fold][2][ranker] for fold, (_, _, values) in of[method][step].items()])))
                for step in rounds]
            lines.append(common.Line(METHODS[method], [(step, mean) for step, (mean, _) in means], COLOURS[method], "-",
                                     [(mean - half, mean + half) for _, (mean, half) in means]))
        panels.append(common.Lines(f"{name}, ranked by {title}", "round", lines, [common.Level(METHODS[BASELINE], 0, "#555555")],
                                   "difference of NDCG@10", {step: str(step) for step in rounds}))
    common.draw(out, panels, len(points))


def tables(points):
    """The Markdown tables of a set's rounds, of SSARP alone, and of the committee's differences."""
    for name, methods in points.items():
        steps = [s for s in (0, *ROUNDS) if s in methods.get("committee", {})]
        for ranker, title in RANKERS.items():
            of = {method: dict(zip(sorted(methods[method]), curve(methods[method], ranker)))
                  for method in ("committee", "margin", "random", "draw") if method in methods}
            yield f"{name}, NDCG@10 of {title} by round\n\n" + common.table(
                ["", *map(str, steps)],
                [["labels", *(f"{100 * of['committee'][s][1]:.1f} %" if s in of["committee"] else "" for s in steps)],
                 *([METHODS[method], *(f"{values[s][2]:.4f}"[1:] if s in values else "" for s in steps)] for method, values in of.items())])
        if "ssarp" in methods:
            ends = sorted(methods["ssarp"])[-3:]
            rows = [(f"rule size {size}", methods["ssarp"][end]) for size, end in zip((3, 4, 5), ends)]
            rows += [("all", methods["all"][0])] if "all" in methods else []
            yield f"{name}, SSARP alone and all labels\n\n" + common.table(
                ["", "labels", *RANKERS.values()],
                [[label, f"{100 * statistics.mean(v[1] for v in folds.values()):.1f} %",
                  *(f"{statistics.mean(v[2][r] for v in folds.values()):.4f}"[1:] for r in RANKERS)] for label, folds in rows])
        yield f"{name}, the committee's NDCG@10 less that of\n\n" + common.table(
            ["", *RANKERS.values()], [[METHODS[method], *(difference(methods, method, ranker) for ranker in RANKERS)]
                                      for method in ("margin", "random", "draw") if method in methods])


def difference(methods, method, ranker):
    """The committee's rounds up to nine tenths of the documents minus the other's: the mean over the folds, and its deviation."""
    folds = defaultdict(list)
    for step, by_fold in methods["committee"].items():
        for fold, (_, share, values) in by_fold.items():
            other = methods[method].get(step, {}).get(fold)
            if step > 0 and share <= 0.9 and other:
                folds[fold].append(values[ranker] - other[2][ranker])
    means = [statistics.mean(v) for v in folds.values()]
    return f"{statistics.mean(means):+.4f} ± {statistics.stdev(means):.4f}"


def main():
    a = common.arguments(__doc__, "curves", "per_query", "out")
    per_query = int(a.per_query.name)
    points = read(a.curves, per_query)
    if not points or not all("committee" in methods for methods in points.values()):
        common.fail(f"{a.curves}: found a set without rounds of {per_query} documents of a query")
    print("\n".join(tables(points)))
    plot(points, a.out)


if __name__ == "__main__":
    main()
