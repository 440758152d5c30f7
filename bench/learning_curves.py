#!/usr/bin/env python3
"""Learning curves: labels against MAP and NDCG@10 of the test part, for documents that `reduce`
chooses and for random ones, ranked by our rules and by LightGBM's LambdaMART.

    learning_curves.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets OHSUMED,MQ2008] [--draws 5] [--jobs 1]

In each of the five folds a set of labelled training documents is one of

  chosen   what `reduce` chooses at rule sizes 2 to 6, cuts `tube`
  random   as many documents of the training part, drawn evenly: a mean of draws; smaller draws are
           parts of larger ones
  queries  whole queries, drawn at random, until they have as many documents: likewise
  all      the whole training part

and is learnt from by

  rules       `rank` as it is without options: rule size 3; nothing is tuned
  lambdamart  LightGBM, objective lambdarank

LambdaMART is tuned on the validation part, whose labels are not counted: three trials (8 leaves of at
least 1 document, 8 of at least 10, 31 of at least 20), rate 0.05, at most 200 trees, stopped when
NDCG@10 of the validation part has not grown for 30; the trial that is best there is taken. One
thread, deterministic, seed 1. `evaluate` judges all of them (profile letor). The documents of each query of
the validation and the test part are shuffled first (seed 3), for OHSUMED's files have relevant
documents early: in their own order equal scores alone would be a fair ranking.

Writes curves.tsv (one row a fold, ranker, kind, size and draw), tables.md, curves.svg and
manifest.json. --jobs: processes side by side; the results are the same. A run that was stopped goes on
from the rows of OUT_FOLDER/curves.tsv. Needs lightgbm and numpy from PyPI.
"""

import argparse
import collections
import csv
import datetime
import hashlib
import itertools
import json
import multiprocessing
import pathlib
import statistics
import subprocess
import tempfile

import lightgbm
import numpy

import svg_lines
import tables

SIZES = (2, 3, 4, 5, 6)
TRIALS = [{"num_leaves": leaves, "min_data_in_leaf": least} for leaves, least in ((8, 1), (8, 10), (31, 20))]
RANKERS = {"rules": "rules", "lambdamart": "LambdaMART"}
MEASURES = ("MAP", "NDCG@10")
COLUMNS = ("set", "fold", "ranker", "kind", "size", "draw", "labels", "share", *MEASURES, "trial", "trees")


def read(path, shuffled=False):
    """Lines, values, labels and the query of each line."""
    lines = path.read_text("ascii").splitlines()
    if shuffled:
        draw = numpy.random.default_rng(3)
        queries = [list(lines) for _, lines in itertools.groupby(lines, lambda line: line.split(" ", 2)[1])]
        lines = [lines[i] for lines in queries for i in draw.permutation(len(lines))]
    split = [line.partition("#")[0].split() for line in lines]
    values = numpy.array([[float(f.partition(":")[2]) for f in fields[2:]] for fields in split])
    return (lines, values, numpy.array([int(fields[0]) for fields in split]),
            numpy.array([fields[1] for fields in split]))


def group_sizes(queries):
    return [len(list(rows)) for rows in numpy.split(queries, numpy.flatnonzero(queries[1:] != queries[:-1]) + 1)]


class Fold:
    def __init__(self, program, folder, scratch):
        self.program, self.folder, self.scratch = program, folder, scratch
        self.lines, self.values, self.labels, self.queries = read(folder / "train.txt")
        self.vali = read(folder / "vali.txt", shuffled=True)
        lines, self.test_values, *_ = read(folder / "test.txt", shuffled=True)
        self.test = scratch / "test.txt"
        self.test.write_text("".join(line + "\n" for line in lines), "ascii")
        self.scored = {}

    def run(self, *arguments):
        return subprocess.run([str(self.program), *map(str, arguments), "--threads", "1", "--quiet", "--device", "cpu"],
                              check=True, capture_output=True, text=True).stdout

    def chosen(self, size):
        ids = self.scratch / "ids.tsv"
        self.run("reduce", "--train", self.folder / "train.txt", "--out", self.scratch / "chosen.txt",
                 "--ids", ids, "--model", self.scratch / "cuts.json", "--rule-size", size)
        with open(ids, newline="", encoding="ascii") as rows:
            return sorted({int(row["line"]) for row in csv.DictReader(rows, delimiter="\t")})

    def rules(self, documents, name):
        labelled = self.scratch / "labelled.txt"
        labelled.write_text("".join(self.lines[d] + "\n" for d in documents), "ascii")
        self.run("rank", "--train", labelled, "--discretizer", self.scratch / "cuts.json", "--test", self.test,
                 "--out", self.scratch / name)
        self.scored[name] = {"trial": "", "trees": ""}

    def lambdamart(self, documents, name):
        some = numpy.array(documents)
        best = None
        for number, trial in enumerate(TRIALS):
            train = lightgbm.Dataset(self.values[some], self.labels[some],
                                     group=group_sizes(self.queries[some]), free_raw_data=False)
            vali = lightgbm.Dataset(self.vali[1], self.vali[2], group=group_sizes(self.vali[3]), reference=train)
            model = lightgbm.train(
                {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "learning_rate": 0.05, "num_threads": 1,
                 "deterministic": True, "force_row_wise": True, "seed": 1, "verbosity": -1, **trial},
                train, 200, [vali], callbacks=[lightgbm.early_stopping(30, verbose=False)])
            reached = model.best_score["valid_0"]["ndcg@10"]
            if best is None or reached > best[0]:
                best = reached, number, model
        _, number, model = best
        numpy.savetxt(self.scratch / name, model.predict(self.test_values), fmt="%.17g")
        self.scored[name] = {"trial": number, "trees": model.best_iteration}

    def judged(self):
        """The measures of everything that was scored, by name."""
        report = json.loads(self.run("evaluate", "--test", self.test, "--metrics", ",".join(MEASURES),
                                     "--profile", "letor", "--json", "--scores",
                                     *(f"{name}={self.scratch / name}" for name in self.scored)))
        return {system["name"]: system["averages"] for system in report["systems"]}


def labelled_sets(fold, draw):
    """kind, size, documents: of one draw, or, where it is None, what is not drawn."""
    count = len(fold.lines)
    chosen = {str(size): fold.chosen(size) for size in SIZES}
    if draw is None:
        for size, documents in chosen.items():
            yield "chosen", size, documents
        yield "all", "all", list(range(count))
        return
    of_query = collections.defaultdict(list)
    for d, name in enumerate(fold.queries):
        of_query[name].append(d)
    names = list(of_query)
    order = numpy.random.default_rng([1, draw]).permutation(count)
    by_query = [d for q in numpy.random.default_rng([2, draw]).permutation(len(names)) for d in of_query[names[q]]]
    sizes = {size: len(documents) for size, documents in chosen.items()}
    for size, labels in sizes.items():
        yield "random", size, sorted(order[:labels])
        yield "queries", size, sorted(by_query[:labels])


def rows_of(task):
    """The rows of a fold and a draw."""
    program, letor, name, number, draw = task
    with tempfile.TemporaryDirectory() as scratch:
        fold = Fold(program, letor / name / f"Fold{number}", pathlib.Path(scratch))
        labels = {}
        for kind, size, documents in labelled_sets(fold, draw):
            for ranker in RANKERS:
                key = f"{ranker}.{kind}.{size}"
                labels[key] = ranker, kind, size, draw or 0, len(documents), f"{len(documents) / len(fold.lines):.4f}"
                getattr(fold, ranker)(documents, key)
        judged = fold.judged()
        return [[name, number, *of, *(f"{judged[key][m]:.6f}" for m in MEASURES), *fold.scored[key].values()]
                for key, of in labels.items()]


def curves(arguments, done):
    """The rows of each fold and draw that is not `done`; one draw of every fold before the next."""
    tasks = [(arguments.program, arguments.letor, name, number, draw) for draw in [None, *range(arguments.draws)]
             for name in arguments.sets.split(",") for number in range(1, 6) if (name, number, draw) not in done]
    with multiprocessing.Pool(arguments.jobs) as pool:
        yield from pool.imap_unordered(rows_of, tasks, 1)


def rows_before(path):
    """The rows of a run that was stopped, and what they are of."""
    if not path.exists():
        return [], set()
    with open(path, newline="", encoding="ascii") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return rows, {(row["set"], int(row["fold"]), int(row["draw"]) if row["kind"] in ("random", "queries") else None)
                  for row in rows}


def points(rows):
    """means[set][ranker, kind][size] = labels, share, {measure: mean of folds, of draws},
    {measure: values by fold}."""
    by_fold = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        by_fold[row["set"], row["ranker"], row["kind"], row["size"]][row["fold"]].append(row)
    means = collections.defaultdict(lambda: collections.defaultdict(dict))
    for (name, ranker, kind, size), folds in by_fold.items():
        def mean(column, rows_of_a_fold):
            return statistics.mean(float(row[column]) for row in rows_of_a_fold)
        of_folds = {column: [mean(column, folds[f]) for f in sorted(folds)] for column in ("labels", "share", *MEASURES)}
        means[name][ranker, kind][size] = {
            **{column: statistics.mean(values) for column, values in of_folds.items()},
            "folds": of_folds}
    return means


def table(means):
    text = []
    for name, curve in means.items():
        sizes = sorted(curve["rules", "random"], key=lambda size, curve=curve: curve["rules", "random"][size]["labels"])
        everything = curve["rules", "all"]["all"]
        for measure in MEASURES:
            text += ["", f"## {name}, {measure}", "",
                     "| ranker | labels of | " + " | ".join(
                         f"{curve['rules', 'random'][s]['labels']:.0f} ({curve['rules', 'random'][s]['share']:.1%})"
                         for s in sizes) + f" | all {everything['labels']:.0f} |",
                     "| :-- | :-- |" + " --: |" * (len(sizes) + 1)]
            for ranker, title in RANKERS.items():
                for kind in ("chosen", "random", "queries"):
                    cells = [f"{curve[ranker, kind][s][measure]:.4f}"[1:] if s in curve[ranker, kind] else ""
                             for s in sizes]
                    last = f"{curve[ranker, 'all']['all'][measure]:.4f}"[1:]
                    what = {"chosen": "documents chosen", "random": "random documents", "queries": "random queries"}
                    text.append(f"| {title} | {what[kind]} | " + " | ".join(cells) + f" | {last} |")
        text += ["", f"## {name}, chosen less random documents: mean and deviation over the folds", "",
                 "| ranker | measure | " + " | ".join(f"size {s}" for s in SIZES) + " |",
                 "| :-- | :-- |" + " --: |" * len(SIZES)]
        for ranker, title in RANKERS.items():
            for measure in MEASURES:
                cells = []
                for size in map(str, SIZES):
                    sides = [curve[ranker, kind][size]["folds"][measure] for kind in ("chosen", "random")]
                    less = [a - b for a, b in zip(*sides)]
                    cells.append(f"{statistics.mean(less):+.4f} ± {statistics.stdev(less):.4f}")
                text.append(f"| {title} | {measure} | " + " | ".join(cells) + " |")
    return "\n".join(text[1:]) + "\n"


GREEN, RED = "#0b6e4f", "#c1440e"
LINES = [("rules", "chosen", "rules, chosen documents", GREEN, ""),
         ("rules", "random", "rules, random documents", GREEN, "5 3"),
         ("rules", "queries", "rules, random queries", GREEN, "8 3 2 3"),
         ("lambdamart", "chosen", "LambdaMART, chosen documents", RED, ""),
         ("lambdamart", "random", "LambdaMART, random documents", RED, "5 3"),
         ("lambdamart", "queries", "LambdaMART, random queries", RED, "8 3 2 3")]


def picture(means):
    panels = []
    for measure in MEASURES:
        for name, curve in means.items():
            lines = []
            for ranker, kind, label, colour, dashes in LINES:
                of = sorted((p["labels"], p[measure]) for p in curve[ranker, kind].values())
                lines.append(svg_lines.Line(label, colour, dashes, of))
            levels = [svg_lines.Level(f"{RANKERS[ranker]}, all {curve[ranker, 'all']['all']['labels']:.0f}",
                                      colour, curve[ranker, "all"]["all"][measure])
                      for ranker, colour in (("rules", GREEN), ("lambdamart", RED))]
            panels.append(svg_lines.Panel(f"{name}: {measure} of the test part", "labelled documents", lines, levels))
    return svg_lines.drawn(panels, columns=len(means))


def manifest(arguments, started):
    inputs = {f"{name}/Fold{n}/{part}.txt": hashlib.sha256(
        (arguments.letor / name / f"Fold{n}" / f"{part}.txt").read_bytes()).hexdigest()
        for name in arguments.sets.split(",") for n in range(1, 6) for part in ("train", "vali", "test")}
    return {"command": f"learning_curves.py PROGRAM LETOR_FOLDER OUT_FOLDER --sets {arguments.sets} "
                       f"--draws {arguments.draws}",
            "started": started, "build": tables.build(arguments.program.parent), "machine": tables.machine(),
            "threads": 1, "seed": 1,
            "libraries": {"lightgbm": lightgbm.__version__, "numpy": numpy.__version__}, "sha256": inputs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("letor", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sets", default="OHSUMED,MQ2008")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draw-only", action="store_true", help="make tables.md and curves.svg of curves.tsv again")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    path = arguments.out / "curves.tsv"
    if not arguments.draw_only:
        (arguments.out / "manifest.json").write_text(json.dumps(manifest(arguments, started), indent=2) + "\n")
        rows, done = rows_before(path)
        rows = [list(row.values()) for row in rows]
        with open(path, "w", encoding="ascii") as out:
            print("\n".join("\t".join(row) for row in [COLUMNS, *rows]), file=out, flush=True)
            for more in curves(arguments, done):
                rows += [list(map(str, row)) for row in more]
                print("\n".join("\t".join(map(str, row)) for row in more), file=out, flush=True)
        order = {name: place for place, name in enumerate(
            [*arguments.sets.split(","), *RANKERS, "chosen", "random", "queries", "all"])}
        rows.sort(key=lambda row: (order[row[0]], int(row[1]), order[row[3]], int(row[5]), row[4], order[row[2]]))
        path.write_text("\n".join("\t".join(row) for row in [COLUMNS, *rows]) + "\n", "ascii")
    with open(path, newline="", encoding="ascii") as rows:
        means = points(csv.DictReader(rows, delimiter="\t"))
    (arguments.out / "tables.md").write_text(table(means))
    (arguments.out / "curves.svg").write_text(picture(means))


if __name__ == "__main__":
    main()
