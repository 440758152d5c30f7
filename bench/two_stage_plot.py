#!/usr/bin/env python3
"""Plots and summarizes the output of two_stage_bench.

    two_stage_plot.py CURVES.tsv PER_QUERY OUT.svg

Writes the curves of the rounds that chose PER_QUERY documents of each query, means of the folds, as SVG (needs matplotlib), and
prints tables in Markdown. A point is a round that every fold reached; its number of labels is the mean of the folds. A difference
is the mean over the folds of the mean over the rounds, from the first one up to nine tenths of the documents, with its standard
deviation over the folds.
"""

from collections import defaultdict
import csv
import itertools
import statistics

import common

RANKERS = {"rules": "our rules", "ranksvm": "rank SVM", "xgboost": "XGBoost"}
METHODS = {"committee": ("two-stage: committee", "#1f77b4"), "margin": ("SSARP, then margin", "#ff7f0e"),
           "random": ("SSARP, then random", "#2ca02c"), "draw": ("random alone", "#7f7f7f"), "ssarp": ("SSARP alone", "#d62728")}


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
    panels = []
    for (ranker, title), name in itertools.product(RANKERS.items(), points):
        lines = [common.Line(label, [(labels, value) for labels, _, value in curve(points[name][method], ranker)], colour)
                 for method, (label, colour) in METHODS.items() if method in points[name]]
        levels = [common.Level("all labels", curve(points[name]["all"], ranker)[0][2], "#7f7f7f")] if "all" in points[name] else []
        panels.append(common.Lines(f"{name}, ranked by {title}", "labels", lines, levels, "NDCG@10"))
    common.draw(out, panels, len(points))


def tables(points):
    """The Markdown tables of a set's rounds, of SSARP alone, and of the committee's differences."""
    for name, methods in points.items():
        steps = [s for s in (0, 1, 2, 3, 5, 8, 12, 18, 25) if s in methods.get("committee", {})]
        for ranker, title in RANKERS.items():
            of = {method: dict(zip(sorted(methods[method]), curve(methods[method], ranker)))
                  for method in ("committee", "margin", "random", "draw") if method in methods}
            yield f"{name}, NDCG@10 of {title} by round\n\n" + common.table(
                ["", *map(str, steps)],
                [["labels", *(f"{100 * of['committee'][s][1]:.1f} %" if s in of["committee"] else "" for s in steps)],
                 *([METHODS[method][0], *(f"{values[s][2]:.4f}"[1:] if s in values else "" for s in steps)] for method, values in of.items())])
        if "ssarp" in methods:
            ends = sorted(methods["ssarp"])[-3:]
            rows = [(f"rule size {size}", methods["ssarp"][end]) for size, end in zip((3, 4, 5), ends)]
            rows += [("all", methods["all"][0])] if "all" in methods else []
            yield f"{name}, SSARP alone and all labels\n\n" + common.table(
                ["", "labels", *RANKERS.values()],
                [[label, f"{100 * statistics.mean(v[1] for v in folds.values()):.1f} %",
                  *(f"{statistics.mean(v[2][r] for v in folds.values()):.4f}"[1:] for r in RANKERS)] for label, folds in rows])
        yield f"{name}, the committee's NDCG@10 less that of\n\n" + common.table(
            ["", *RANKERS.values()], [[METHODS[method][0], *(difference(methods, method, ranker) for ranker in RANKERS)]
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
