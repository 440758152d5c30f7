#!/usr/bin/env python3
"""Plots and sums up what two_stage_bench wrote.

    two_stage_plot.py CURVES.tsv PER_QUERY OUT.svg

Writes the curves of the rounds that took PER_QUERY documents of a query, means of the folds, as SVG
(needs matplotlib), and prints tables in Markdown. A point is a round that every fold came to; its labels
are the mean of the folds. A difference is the mean over the folds of the mean over the rounds, from the
first one up to nine tenths of the documents, beside its standard deviation over the folds.
"""

import csv
import statistics
import sys
from collections import defaultdict

import needs

RANKERS = {"rules": "our rules", "ranksvm": "rank SVM", "xgboost": "XGBoost"}
METHODS = {"committee": ("two-stage: committee", "C0"), "margin": ("SSARP, then margin", "C1"),
           "random": ("SSARP, then random", "C2"), "draw": ("random alone", "C7"),
           "ssarp": ("SSARP alone", "C3")}


def read(path, per_query):
    """points[set][method][step][fold] = (labels, share, {ranker: value})"""
    points = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if int(row["per_query"]) not in (0, per_query):
                continue
            step = int(row["step"])
            if row["method"] == "ssarp":  # budgets of size 3 in tenths, then the larger sizes
                known = sum(int(row["fold"]) in folds
                            for folds in points[row["set"]]["ssarp"].values())
                step = known
            points[row["set"]][row["method"]][step][int(row["fold"])] = (
                int(row["labels"]), float(row["share"]), {r: float(row[r]) for r in RANKERS})
    return points


def curve(steps, ranker):
    """(labels, share, value) of the rounds of all folds, means."""
    folds = max(len(s) for s in steps.values())
    means = []
    for step in sorted(steps):
        values = list(steps[step].values())
        if len(values) == folds:
            means.append((statistics.mean(v[0] for v in values), statistics.mean(v[1] for v in values),
                          statistics.mean(v[2][ranker] for v in values)))
    return means


def plot(points, out):
    needs.packages("matplotlib")
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "two-stage", "font.size": 8})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(len(RANKERS), len(points), figsize=(9, 9), squeeze=False)
    for column, name in enumerate(points):
        for row, (ranker, title) in enumerate(RANKERS.items()):
            axis = axes[row][column]
            for method, (label, colour) in METHODS.items():
                if method not in points[name]:
                    continue
                means = curve(points[name][method], ranker)
                axis.plot([m[0] for m in means], [m[2] for m in means], label=label, color=colour,
                          marker="o" if method == "ssarp" else None, markersize=3, linewidth=1)
            if "all" in points[name]:
                axis.axhline(curve(points[name]["all"], ranker)[0][2], color="0.5", linewidth=0.8,
                             linestyle=":", label="all labels")
            axis.set_xscale("log")
            axis.set_title(f"{name}, ranked by {title}")
            axis.set_xlabel("labels")
            axis.set_ylabel("NDCG@10")
    axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def table(points):
    for name, methods in points.items():
        steps = [s for s in (0, 1, 2, 3, 5, 8, 12, 18, 25) if s in methods.get("committee", {})]
        for ranker, title in RANKERS.items():
            print(f"\n{name}, NDCG@10 of {title} by round\n")
            print("| | " + " | ".join(map(str, steps)) + " |")
            print("| :-- |" + " --: |" * len(steps))
            shares = dict(zip(sorted(methods["committee"]), curve(methods["committee"], ranker)))
            print("| labels | " + " | ".join(
                f"{100 * shares[s][1]:.1f} %" if s in shares else "" for s in steps) + " |")
            for method in ("committee", "margin", "random", "draw"):
                if method not in methods:
                    continue
                values = dict(zip(sorted(methods[method]), curve(methods[method], ranker)))
                print(f"| {METHODS[method][0]} | " + " | ".join(
                    f"{values[s][2]:.4f}"[1:] if s in values else "" for s in steps) + " |")
        if "ssarp" in methods:
            print(f"\n{name}, SSARP alone and all labels\n\n| | labels | our rules | rank SVM | XGBoost |\n"
                  "| :-- | --: | --: | --: | --: |")
            ends = sorted(methods["ssarp"])[-3:]
            rows = [(f"rule size {size}", methods["ssarp"][end]) for size, end in zip((3, 4, 5), ends)]
            if "all" in methods:
                rows.append(("all", methods["all"][0]))
            for label, folds in rows:
                print(f"| {label} | {100 * statistics.mean(v[1] for v in folds.values()):.1f} % | " +
                      " | ".join(f"{statistics.mean(v[2][r] for v in folds.values()):.4f}"[1:]
                                 for r in RANKERS) + " |")
        print(f"\n{name}, the committee's NDCG@10 less that of\n\n| | our rules | rank SVM | XGBoost |\n"
              "| :-- | --: | --: | --: |")
        for method in ("margin", "random", "draw"):
            if method not in methods:
                continue
            cells = []
            for ranker in RANKERS:
                folds = defaultdict(list)
                for step, by_fold in methods["committee"].items():
                    for fold, (_, share, values) in by_fold.items():
                        other = methods[method].get(step, {}).get(fold)
                        if step > 0 and share <= 0.9 and other:
                            folds[fold].append(values[ranker] - other[2][ranker])
                means = [statistics.mean(v) for v in folds.values()]
                cells.append(f"{statistics.mean(means):+.4f} ± {statistics.stdev(means):.4f}")
            print(f"| {METHODS[method][0]} | " + " | ".join(cells) + " |")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    points = read(sys.argv[1], int(sys.argv[2]))
    table(points)
    plot(points, sys.argv[3])


if __name__ == "__main__":
    main()
