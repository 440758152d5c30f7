#!/usr/bin/env python3
"""Accuracy with few labels and with all, on documents shuffled within their queries: learning curves of every set.

    curves.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets A,B] [--seeds 10] [--first-seed 1] [--budgets 1%,2%,5%] [--systems A,B] [--lightgbm PATH] [--threads N] [--jobs 1]
    curves.py --keep FOLDER OUT_FOLDER... [--sets A,B] [--seeds 10] [--first-seed 1]
    curves.py --draw FOLDER
    curves.py --example EXAMPLE_FOLDER LETOR_FOLDER

The first line runs `rulerank experiment --systems` for each seed and set. The seed shuffles the documents of each query, draws the
random samples and is the seed of the program. Run the same line again to continue after an interruption. OUT_FOLDER/SET/SEED gets
the files of `experiment`. `--jobs` runs so many seeds and sets at a time, each with `--threads` threads. A set may have fewer than five folds.

The second line makes the files of bench/results/curves from one or more OUT_FOLDERs: runs of other budgets, such as 100%, of other
systems or of other seeds. A cell that two of them have comes from the first. It writes:

- table.md: one row for each set and share of labels, the worst first. A row compares the default card on chosen documents with the
  best other ranker, the best boosted trees, LightGBM with all labels, the recommended components, and the card on random documents.
- curves.tsv.gz: the means over the folds of each cell and seed.
- curves.svg: MAP by the share of labels, with 95 % intervals of the mean over the seeds (t).
- manifest.json: commands, commits and machines of the first seed of each OUT_FOLDER.

The third line draws curves.svg again from FOLDER/curves.tsv.gz.

The fourth line makes LETOR_FOLDER/LightGBM-example, a set of one fold, from LightGBM's folder examples/lambdarank. The last fifth of the
training queries becomes the validation set.

The value of a query is its mean over the seeds. A difference is the mean over the queries of all folds, with its 95 % interval
(paired t). The best other ranker of a cell is the one with the highest MAP on the test sets, among chosen and random documents and
default or cross-fitted settings; with all labels also settings from the validation set. This choice favours the other ranker."""

import collections
import concurrent.futures
import csv
import datetime
import gzip
import io
import itertools
import json
import pathlib
import statistics
import subprocess
import sys

import common
import needs
from validation_parts import mean_with_interval

SETS = ["OHSUMED", "OHSUMED-LETOR2", "MQ2008", "MQ2008-agg", "MSLR-89", "USP-counts"]
EXAMPLE = "LightGBM-example"
RAW = ("MSLR-89", "USP-counts", EXAMPLE)  # their features are not normalized within the list
MEASURES = ("MAP", "NDCG@10")
CARD, RECOMMENDED = "card", "recommended"
TREES = ("lightgbm", "xgboost")
PEERS = (*TREES, "linear", "ranksvm", "ranksvm-zscore")
NAMES = {"linear": "ridge regression", "ranksvm": "rank SVM", "ranksvm-zscore": "rank SVM of z-scores", "xgboost": "XGBoost",
         "lightgbm": "LightGBM", RECOMMENDED: "recommended", CARD: "card"}
CELL = ("share", "way", "system", "settings")


# --- runs


def run(a, name, seed):
    """The exit code of the runs of a set and seed."""
    with common.scratch() as folds:
        for fold, part in itertools.product(sorted((a.letor / name).glob("Fold*")), ("train", "vali", "test")):
            common.shuffled(fold / f"{part}.txt", folds / fold.name / f"{part}.txt", seed)
        line = [a.program, "experiment", "--folds", folds, "--out-dir", a.out / name / str(seed), "--systems", a.systems,
                "--ways", "chosen,random", "--budgets", a.budgets, "--random-draws", 1, "--seed", seed, "--threads", a.threads]
        line += ["--lightgbm", a.lightgbm] if a.lightgbm else []
        return subprocess.run(list(map(str, line)), stdout=subprocess.DEVNULL).returncode


def with_qids(path, first):
    """The documents of each query of one of LightGBM's files, whose file PATH.query has the numbers of documents."""
    lines, queries = path.read_text("utf-8").splitlines(), []
    for count in map(int, path.with_name(path.name + ".query").read_text().split()):
        own = [lines.pop(0).split(maxsplit=1) for _ in range(count)]
        queries.append("".join(f"{label} qid:{first + len(queries)} {values}\n" for label, values in own))
    return queries


def make_example(example, letor):
    train = with_qids(example / "rank.train", 1)
    vali = len(train) * 4 // 5
    for part, queries in (("train", train[:vali]), ("vali", train[vali:]), ("test", with_qids(example / "rank.test", 1 + len(train)))):
        common.write(letor / EXAMPLE / "Fold1" / f"{part}.txt", "".join(queries))


# --- what is kept


class Curves:
    """A set. values[share, way, system, settings] is [queries x MEASURES], the means over the seeds; by_seed[the same key] lists the
    seeds' means over the queries."""

    def __init__(self, folders):
        """`folders`: OUT_FOLDER/SET/SEED of each run. If two folders have a cell of a seed, the first one's counts."""
        numpy, = needs.packages("numpy")
        self.values, self.by_seed, self.rows, self.labels = {}, collections.defaultdict(list), [], {}
        seen = set()
        sums = collections.defaultdict(lambda: 0)
        for folder in folders:
            with open(folder / "curves.tsv", encoding="utf-8", newline="") as lines:
                rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
            measures = list(rows[0])[list(rows[0]).index("MAP"):]
            columns = [measures.index(measure) for measure in MEASURES]
            cells = collections.defaultdict(list)
            for path in sorted((folder / "curves").glob("Fold*.json")):
                fold = json.loads(path.read_text("utf-8"))
                for point in fold["points"]:
                    values = numpy.reshape(point["values"], (len(fold["qids"]), len(measures)))[:, columns]
                    cells[float(point["budget"]), point["way"], point["system"], point["settings"]].append(values)
            for cell, folds in cells.items():
                if (folder.name, cell) in seen:
                    continue
                seen.add((folder.name, cell))
                values = numpy.concatenate(folds)
                sums[cell] = sums[cell] + values
                self.by_seed[cell].append(values.mean(axis=0))
                self.rows.append({"seed": folder.name, **dict(zip(CELL, cell)), **dict(zip(MEASURES, values.mean(axis=0)))})
            for share in {row["share"] for row in rows}:
                of = [float(row["labels"]) for row in rows if row["share"] == share and row["system"] == CARD and row["way"] in ("chosen", "all")]
                if of:
                    self.labels[float(share)] = sum(of) / len(of)
        self.values = {cell: total / len(self.by_seed[cell]) for cell, total in sums.items()}
        self.shares = sorted({share for share, *_ in self.values})

    def card(self, share, way="chosen", system=CARD):
        """The cell of one of our models, which has no choice of settings."""
        return share, "all" if share == 1 else way, system, "defaults"

    def best(self, share, systems):
        """The cell with the highest MAP among these systems, over all samples and settings."""
        return max((cell for cell in self.values if cell[0] == share and cell[2] in systems),
                   key=lambda cell: self.values[cell][:, 0].mean())

    def mean(self, cell):
        return " / ".join(f"{value:.4f}" for value in self.values[cell].mean(axis=0))

    def difference(self, one, other, measure=0):
        """(mean, half the interval) of a difference by query."""
        return mean_with_interval((self.values[one] - self.values[other])[:, measure])


def signed(difference):
    mean, half = difference
    return f"{mean:+.4f} ± {half:.4f}"


def name_of(cell):
    _, way, system, settings = cell
    chosen = {"defaults": "defaults", "cross-fitted": "cross-fitted", "validated": "validated"}[settings]
    return f"{NAMES[system]}, {chosen}" + ("" if way == "all" else f", {way}")


def table(sets):
    """A row per share and set: few labels first, then sets with normalized features, then the worst difference to the best other
    ranker."""
    rows = []
    for name, of in sets.items():
        features = "raw" if name in RAW else "list-normalized"
        for share in of.shares:
            card, peer, trees = of.card(share), of.best(share, PEERS), of.best(share, TREES)
            recommended = of.card(share, system=RECOMMENDED)
            rows.append((share, features, of.difference(card, peer)[0], [
                f"{share:.0%}".replace("%", " %"), features, name, len(of.by_seed[card]), round(of.labels[share]), of.mean(card), f"{name_of(peer)} {of.mean(peer)}",
                signed(of.difference(card, peer)), signed(of.difference(card, trees)),
                signed(of.difference(card, of.best(1.0, ("lightgbm",)))) if 1.0 in of.shares else "", of.mean(recommended),
                signed(of.difference(recommended, peer)),
                signed(of.difference(card, of.card(share, "random"))) if share < 1 else ""]))
    head = ["labels", "features", "set", "seeds", "labels a fold", "card, chosen", "the best other ranker", "card − it", "card − best boosted trees",
            "card − LightGBM, all labels", "recommended, chosen", "recommended − best other", "card − card on random documents"]
    return common.table(head, [row for *_, row in sorted(rows, key=lambda row: (row[0] == 1, *row[:3]))])


def summary(sets):
    """The goals: the mean difference over the cells and the worst cell."""
    lines = []
    kinds = {"all sets": (True, False), "list-normalized features": (False,), "raw features": (True,)}
    for system, few, (which, raw) in itertools.product((CARD, RECOMMENDED), (True, False), kinds.items()):
        cells = [(of.difference(of.card(share, system=system), of.best(share, PEERS)), f"{name}, {share:.0%}")
                 for name, of in sets.items() for share in of.shares if (share < 1) == few and (name in RAW) in raw]
        if not cells:
            continue
        worst, where = min(cells)
        below = [where for (mean, half), where in cells if mean + half < 0]
        lines.append(f"- {NAMES[system]}, {'few' if few else 'all'} labels, {which}: mean difference of MAP to the best other ranker "
                     f"{sum(mean for (mean, _), _ in cells) / len(cells):+.4f} over {len(cells)} cells; worst {signed(worst)} ({where}); "
                     f"significantly below in {len(below)}: {', '.join(below) or 'none'}")
    return "\n".join(lines) + "\n"


def panel(name, of):
    """The picture of a set. of[cell] lists the MAP of each seed."""
    few = sorted({share for share, *_ in of if share < 1})

    def best(share, systems, way=""):
        """The seeds of the cell with the highest mean MAP among these systems."""
        return max((seeds for cell, seeds in of.items() if cell[0] == share and cell[2] in systems and way in cell[1]),
                   key=statistics.mean, default=None)

    def line(label, colour, systems, way=""):
        cells = [(share, seeds) for share in few if (seeds := best(share, systems, way))]
        mean_and_half = [mean_with_interval(numpy.array(seeds)) for _, seeds in cells if len(seeds) > 1]
        return common.Line(label, [(share, statistics.mean(seeds)) for share, seeds in cells], colour, "-",
                           [(mean - half, mean + half) for mean, half in mean_and_half])

    numpy, = needs.packages("numpy")
    lines = [line("card", "#0b6e4f", (CARD,), "chosen"),
             line("best linear ranker", "#2b5c9e", [system for system in PEERS if system not in TREES]),
             line("best boosted trees", "#c1440e", TREES)]
    every = best(1.0, ("lightgbm",))
    levels = [common.Level("LightGBM, all labels", statistics.mean(every), "#555555")] if every else []
    return common.Lines(f"{name} (raw features)" if name in RAW else name, "labels, share of the training documents", lines, levels, "MAP",
                        {share: f"{share:.0%}".replace("%", " %") for share in few})


def draw(folder):
    """Draws curves.svg from the kept means of the seeds."""
    sets = collections.defaultdict(lambda: collections.defaultdict(list))
    with gzip.open(folder / "curves.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            sets[row["set"]][float(row["share"]), row["way"], row["system"], row["settings"]].append(float(row["MAP"]))
    common.draw(folder / "curves.svg", [panel(name, of) for name, of in sets.items()], 2)


def manifest_of(run):
    """A run's manifest without its inputs and the machine's paths."""
    of = json.loads((run / "manifest.json").read_text("utf-8"))
    kept = {key: of[key] for key in ("version", "commit", "compiler", "machine", "libraries") if key in of}
    return {"command": [pathlib.PurePath(word).name if word.startswith("/") else word for word in of["command"]], **kept}


def keep(folder, sets, runs):
    """runs[set]: the folders of its runs."""
    kept = io.StringIO()
    to = csv.DictWriter(kept, ["set", "seed", *CELL, *MEASURES], delimiter="\t", lineterminator="\n")
    to.writeheader()
    for name, of in sets.items():
        to.writerows({"set": name, **row, **{measure: f"{row[measure]:.6f}" for measure in MEASURES}} for row in of.rows)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "curves.tsv.gz").write_bytes(gzip.compress(kept.getvalue().encode(), mtime=0))
    common.write(folder / "table.md", f"{' / '.join(MEASURES)} of the test sets; differences of MAP\n\n" + table(sets) + "\n" + summary(sets))
    first = {name: {run.parents[1]: run for run in reversed(of)} for name, of in runs.items()}  # of each OUT_FOLDER
    common.write(folder / "manifest.json", json.dumps(
        {"date": datetime.date.today().isoformat()} |
        {name: [manifest_of(run) for run in of.values()] for name, of in first.items()}, indent=1) + "\n")
    draw(folder)


def main():
    a = common.arguments(__doc__, "paths*", sets=SETS, seeds=10, first_seed=1, budgets="1%,2%,5%", systems=",".join((CARD, RECOMMENDED, *PEERS)),
                         lightgbm=str, threads=0, jobs=1, keep=pathlib.Path, draw=pathlib.Path, example=pathlib.Path)
    seeds = range(a.first_seed, a.first_seed + a.seeds)
    if a.draw:
        needs.expect("numpy", "matplotlib")
        draw(a.draw)
        return 0
    if a.example and len(a.paths) == 1:
        make_example(a.example, *a.paths)
        return 0
    if a.keep and a.paths:
        needs.expect("numpy", "matplotlib")
        runs = {name: [folder / name / str(seed) for folder in a.paths for seed in seeds if (folder / name / str(seed) / "curves.tsv").exists()]
                for name in a.sets}
        keep(a.keep, {name: Curves(runs[name]) for name in a.sets}, runs)
        return 0
    if len(a.paths) != 3:
        common.fail(f"found {len(a.paths)} paths, expected PROGRAM LETOR_FOLDER OUT_FOLDER")
    a.program, a.letor, a.out = a.paths
    def one(work):
        seed, name = work
        print(f"{name}, seed {seed}", file=sys.stderr, flush=True)
        return run(a, name, seed)

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as jobs:  # the work is in other processes
        return max(jobs.map(one, itertools.product(seeds, a.sets)))


if __name__ == "__main__":
    sys.exit(main())
