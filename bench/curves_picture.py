#!/usr/bin/env python3
"""A picture and short tables of the learning curves of each set, from what curves.py left.

    curves_picture.py CURVES_FOLDER OUT_FOLDER [--sets A,B]

CURVES_FOLDER is the OUT_FOLDER of curves.py, or the folder of its --keep, from which the pictures alone are drawn. OUT_FOLDER gets for each set SET.svg, MAP and NDCG@10 by the number of
labels, means of the folds and the draws, settings without a choice; of boosted trees also the best of all kinds, samples and settings but those
that read the validation part, and with all labels LightGBM's tuned on that; and SET.md, the tables of MAP and NDCG@10 of every system, way and budget as `experiment` writes them, without
those of differences and of single folds, which are in its own curves.md.
"""

import argparse
import collections
import csv
import gzip
import pathlib

import svg_lines

MEASURES = ("MAP", "NDCG@10")
CELL = ("fold", "way", "share", "settings", "system")
KEPT = "curves.tsv.gz"  # of all sets: means of draws
GREEN, RED, BLUE, SKY = "#0b6e4f", "#c1440e", "#2b5c9e", "#5aa9d6"
LINES = [("recommended", "chosen", "recommended, chosen documents", GREEN, ""),
         ("recommended", "random", "recommended, random documents", GREEN, "5 3"),
         ("ranksvm", "chosen", "rank SVM, chosen documents", BLUE, ""),
         ("ranksvm-zscore", "chosen", "z-score rank SVM, chosen documents", SKY, ""),
         ("ranksvm-zscore", "queries", "z-score rank SVM, random queries", SKY, "8 3 2 3"),
         ("lightgbm", "random", "LambdaMART, random documents", RED, "5 3")]
TREES, UNTUNED = ("lightgbm", "xgboost", "ilmart"), ("defaults", "cross-fitted")
BEST_TREES = "best boosted trees, any sample"
LEVELS = [("recommended", "defaults", "recommended", GREEN), ("lightgbm", "validated", "LightGBM, tuned", RED)]


def rows_of(path):
    """The rows of a curves.tsv, or of one that is kept as .gz."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="", encoding="utf-8") as lines:
        return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))


def mean_of_draws(rows):
    """A row for each fold, way, share, settings and system: the means over its draws."""
    draws = collections.defaultdict(list)
    for row in rows:
        draws[tuple(row[name] for name in CELL)].append(row)
    return [dict(zip(CELL, cell)) | {name: sum(float(row[name]) for row in of) / len(of) for name in ("documents", "labels", *MEASURES)}
            for cell, of in draws.items()]


def means(rows):
    """values[system, way, settings][share] = (labels, {measure: mean}), over draws, then over folds."""
    draws = collections.defaultdict(list)
    for row in rows:
        draws[row["system"], row["way"], row["settings"], float(row["share"]), row["fold"]].append(row)
    folds = collections.defaultdict(list)
    for (system, way, settings, share, _), rows in draws.items():
        folds[system, way, settings, share].append(
            [sum(float(row[name]) for row in rows) / len(rows) for name in ("labels", *MEASURES)])
    values = collections.defaultdict(dict)
    for (system, way, settings, share), rows in folds.items():
        labels, *of = [sum(column) / len(rows) for column in zip(*rows)]
        values[system, way, settings][share] = labels, dict(zip(MEASURES, of))
    return values


def best_trees(of, measure):
    """For each share of labels the highest mean of all that read no labels beside it."""
    points = collections.defaultdict(list)
    for (system, way, settings), by_share in of.items():
        if system in TREES and way != "all" and settings in UNTUNED:
            for share, (labels, values) in by_share.items():
                points[share].append((values[measure], labels))
    return sorted((labels, value) for value, labels in map(max, points.values()))


def panel(name, of, measure):
    lines = [svg_lines.Line(label, colour, dashes, sorted(
        (labels, values[measure]) for labels, values in of[system, way, "defaults"].values()))
        for system, way, label, colour, dashes in LINES]
    lines.append(svg_lines.Line(BEST_TREES, RED, "", best_trees(of, measure)))
    levels = [svg_lines.Level(label.replace(", tuned", " (tuned)") + ", all labels", colour, of[system, "all", settings][1.0][1][measure])
              for system, settings, label, colour in LEVELS]
    return svg_lines.Panel(f"{name}: {measure} of the test part", "labelled documents", lines, levels)


def short_tables(text):
    """The paragraphs of `curves.md` that are tables of means of the two measures."""
    paragraphs, kept = text.split("\n\n"), []
    for title, table in zip(paragraphs, paragraphs[1:]):
        if title.startswith(tuple(f"{measure}, settings" for measure in MEASURES)):
            kept += [title.strip(), table.strip()]
    return "\n\n".join(kept) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sets", default="OHSUMED,MQ2008")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    kept = rows_of(arguments.folder / KEPT) if (arguments.folder / KEPT).exists() else None
    for name in arguments.sets.split(","):
        of = means([row for row in kept if row["set"] == name] if kept else rows_of(arguments.folder / name / "curves.tsv"))
        picture = svg_lines.drawn([panel(name, of, measure) for measure in MEASURES], columns=len(MEASURES))
        (arguments.out / f"{name}.svg").write_text(picture, "utf-8")
        if kept:
            continue
        text = (arguments.folder / name / "curves.md").read_text("utf-8")
        (arguments.out / f"{name}.md").write_text(short_tables(text), "utf-8")


if __name__ == "__main__":
    main()
