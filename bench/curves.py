#!/usr/bin/env python3
"""The full learning curves of `rulerank experiment --systems`, set by set.

    curves.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets OHSUMED,MQ2008,...] [--lightgbm PATH] [--threads N] [--keep FOLDER]
    curves.py --pictures FOLDER [--sets OHSUMED,MQ2008,...]

Every system, way and budget with 10 draws; OUT_FOLDER/SET gets curves.tsv, curves.md, curves.svg, the results by query and the
manifest with machine, commit, options, checksums and the versions of the libraries. A run that was stopped, by a signal or by the
machine, goes on when the same line is run again. FOLDER gets what bench/results holds of a run, half a MB where OUT_FOLDER takes
hundreds: goals.md (curve_goals.py); SET.svg, MAP and NDCG@10 by the number of labels, means of the folds and the draws, by default
settings, of boosted trees also the best of all kinds, samples and settings without the validation set; SET.md, the tables of MAP
and NDCG@10 of every system, way and budget, without those of differences and of single folds, which are in its own curves.md;
curves.tsv.gz, of all sets the means over draws, by fold, way, share, settings and system; and manifest.json, the sets' manifests.
curve_page.py takes the tables of docs/learning-curves.md from there. --pictures draws each SET.svg again from the FOLDER's
curves.tsv.gz, and runs nothing. --keep needs numpy and matplotlib. Without a LightGBM (--lightgbm, or an installed package) the
line fails at once and says so: leave it out by --systems. The XGBoost is the one that the program was built with; its version is in
every table, so runs with another one go to another OUT_FOLDER.
"""

import collections
import csv
import gzip
import io
import json
import pathlib
import subprocess
import sys

import common
import needs

MEASURES = ("MAP", "NDCG@10")
CELL = ("fold", "way", "share", "settings", "system")
KEPT = "curves.tsv.gz"  # of all sets: means of draws
GREEN, RED, BLUE, SKY = "#0b6e4f", "#c1440e", "#2b5c9e", "#5aa9d6"
LINES = [("recommended", "chosen", "recommended, chosen documents", GREEN, "-"),
         ("recommended", "random", "recommended, random documents", GREEN, (0, (5, 3))),
         ("ranksvm", "chosen", "rank SVM, chosen documents", BLUE, "-"),
         ("ranksvm-zscore", "chosen", "z-score rank SVM, chosen documents", SKY, "-"),
         ("ranksvm-zscore", "queries", "z-score rank SVM, random queries", SKY, (0, (8, 3, 2, 3))),
         ("lightgbm", "random", "LambdaMART, random documents", RED, (0, (5, 3)))]
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
    values = ("documents", "labels", *MEASURES)
    return [dict(zip(CELL, cell)) | {name: sum(float(row[name]) for row in of) / len(of) for name in values}
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
    lines = [common.Line(label, sorted((labels, values[measure]) for labels, values in of[system, way, "defaults"].values()),
                         colour, style) for system, way, label, colour, style in LINES]
    lines.append(common.Line(BEST_TREES, best_trees(of, measure), RED))
    levels = [common.Level(label.replace(", tuned", " (tuned)") + ", all labels", of[system, "all", settings][1.0][1][measure],
                           colour) for system, settings, label, colour in LEVELS]
    return common.Lines(f"{name}: {measure} of the test part", "labelled documents", lines, levels)


def short_tables(text):
    """The paragraphs of `curves.md` that are tables of means of the two measures."""
    paragraphs, kept = text.split("\n\n"), []
    for title, table in zip(paragraphs, paragraphs[1:]):
        if title.startswith(tuple(f"{measure}, settings" for measure in MEASURES)):
            kept += [title.strip(), table.strip()]
    return "\n\n".join(kept) + "\n"


def pictures(folder, sets):
    """Draws SET.svg from what --keep wrote."""
    kept = rows_of(folder / KEPT)
    for name in sets:
        of = means([row for row in kept if row["set"] == name])
        common.draw(folder / f"{name}.svg", [panel(name, of, measure) for measure in MEASURES], len(MEASURES))


def keep(a):
    """Writes --keep from what the sets' folders hold."""
    kept, about = io.StringIO(), {}
    to = csv.DictWriter(kept, ["set", *CELL, "documents", "labels", *MEASURES], delimiter="\t", lineterminator="\n")
    to.writeheader()
    for name in a.sets:
        folder = a.out / name
        to.writerows({"set": name, **row} for row in mean_of_draws(rows_of(folder / "curves.tsv")))
        about[name] = json.loads((folder / "manifest.json").read_text("utf-8"))
        common.write(a.keep / f"{name}.md", short_tables((folder / "curves.md").read_text("utf-8")))
    # The same bytes for the same curves: without a time.
    (a.keep / KEPT).write_bytes(gzip.compress(kept.getvalue().encode(), mtime=0))
    common.write(a.keep / "manifest.json", json.dumps(about, indent=1) + "\n")
    pictures(a.keep, a.sets)
    common.write(a.keep / "goals.md", common.output(
        sys.executable, common.ROOT / "bench/curve_goals.py", a.out, "--sets", ",".join(a.sets), "--letor", a.letor))


def main():
    a = common.arguments(__doc__, "program?", "letor?", "out?", sets=["OHSUMED", "MQ2008", "OHSUMED-LETOR2", "MQ2008-agg"],
                         systems="recommended,rules,scorecard,linear,members,lightgbm,ilmart,xgboost,ranksvm,ranksvm-zscore",
                         budgets="1%,2%,5%,10%,25%,100%", draws=10, lightgbm=str, threads=0, keep=pathlib.Path,
                         pictures=pathlib.Path)
    if a.pictures:
        pictures(a.pictures, a.sets)
        return 0
    if not a.out:
        common.fail("needs PROGRAM, LETOR_FOLDER and OUT_FOLDER, or --pictures")
    if a.keep:
        needs.expect("numpy", "matplotlib")
    for name in a.sets:
        line = [a.program, "experiment", "--folds", a.letor / name, "--out-dir", a.out / name, "--systems", a.systems,
                "--budgets", a.budgets, "--random-draws", a.draws, "--threads", a.threads]
        if a.lightgbm:
            line += ["--lightgbm", a.lightgbm]
        print(f"{name}: {' '.join(map(str, line))}", file=sys.stderr, flush=True)
        code = subprocess.run(list(map(str, line)), stdout=subprocess.DEVNULL).returncode
        if code != 0:
            return code
    if a.keep:
        keep(a)
    return 0


if __name__ == "__main__":
    sys.exit(main())
