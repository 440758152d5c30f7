#!/usr/bin/env python3
"""Which weights find the right neighbours: compares SMART's schemes and BM25 on training sets only, then the chosen
scheme with the previous one on the test sets.

  text_weights.py PROGRAM DATA_FOLDER OUT_FOLDER [--folds 3] [--collections 20news-bydate,r8,...]

DATA_FOLDER as for text_classes.py, and cranfield/{cran.all.1400,cran.qry,QRelsCorrectedforTRECeval}. Classes: the
training set is divided into random folds (seed 1); each fold's documents are classified by their neighbours among the
others', by majority and by similarity, k = 1, 5, 10, 15 and 30; the value of a scheme is the mean accuracy over
folds, votes and k. Cranfield: MAP of the queries at odd positions (the training set; grade 5, which has no meaning,
counts as 0), 1,000 documents per query; those at even positions are the test set. The scheme with the largest mean
over the collections of its value divided by that of BEFORE is chosen. Only matches are neighbours. Writes weights.tsv
(all values) and prints the tables of the README as Markdown.
"""

import collections
import concurrent.futures
import os
import pathlib
import random
import re
import statistics

import common
import text_classes

KS = (1, 5, 10, 15, 30)
BEFORE = "ntc.ntc"
SMART = [tf + idf + "c." + tf + idf + "c" for idf in "tn" for tf in "nlb"]
WAYS = {name: ["--weighting", name] for name in [*SMART, "lnc.ltc", "ltc.lnc"]}
WAYS["bm25, inner product"] = ["--weights", "bm25", "--metric", "ip"]
WAYS["bm25, cosine"] = ["--weights", "bm25", "--metric", "cosine"]
BLANKS = re.compile(rb"[\t\r\n]")


def rows_of(found):
    """(label, text) of each document of a split, which is a folder of classes or a list."""
    if not isinstance(found, pathlib.Path):
        return [(label.strip(), text) for label, text in found]
    return [(file.parent.name.encode(), file.read_bytes()) for file in sorted(found.rglob("*")) if file.is_file()]


def write_rows(path, rows):
    path.write_bytes(b"".join(b"%d\t%s\t%s\n" % (at, label, BLANKS.sub(b" ", text)) for at, (label, text) in enumerate(rows)))
    return path


def voted(neighbours, k, votes):
    """The class with the most votes among the k nearest; ties go to the class of the nearest."""
    sums = collections.defaultdict(float)
    for label, score in neighbours[:k]:
        sums[label] += 1 if votes == "majority" else score
    return max(sums, key=sums.get) if sums else None  # the first of equals came first


def accuracies(program, folder, known, asked, way):
    """{(votes, k): accuracy} of `asked` among `known`."""
    docs, queries = write_rows(folder / "docs", known), write_rows(folder / "queries", asked)
    found = folder / "found"
    common.output(program, "search", "text", "--quiet", "--labels", "--collection", docs, "--queries", queries, "--k", max(KS),
                  "--threads", 1, "--out", found, *WAYS[way])
    near = collections.defaultdict(list)
    with open(found, encoding="ascii") as lines:
        for line in lines:
            query, _, document, score = line.split("\t")
            near[int(query)].append((known[int(document)][0], float(score)))
    return {(votes, k): sum(voted(near[q], k, votes) == label for q, (label, _) in enumerate(asked)) / len(asked)
            for votes in text_classes.VOTES for k in KS}


def folds_of(rows, folds):
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    for fold in range(folds):
        held = set(order[fold::folds])
        yield ([row for at, row in enumerate(rows) if at not in held], [row for at, row in enumerate(rows) if at in held])


class Classes:
    measure = "accuracy"

    def __init__(self, name, data):
        self.train, self.test = (rows_of(part) for part in text_classes.COLLECTIONS[name](data))

    def on_training(self, program, folder, way, folds):
        each = [accuracies(program, folder, known, asked, way) for known, asked in folds_of(self.train, folds)]
        return {at: statistics.mean(one[at] for one in each) for at in each[0]}

    def on_test(self, program, folder, way, _):
        return accuracies(program, folder, self.train, self.test, way)


class Cranfield:
    measure = "MAP"

    def __init__(self, _, data):
        self.data = data / "cranfield"

    def of_queries(self, program, folder, way, odd):
        common.output(program, "search", "text", "--quiet", "--collection", self.data / "cran.all.1400", "--queries",
                      self.data / "cran.qry", "--number-by-position", "--k", 1000, "--out", os.devnull, "--run", folder / "run",
                      *WAYS[way])
        common.write(folder / "qrels", common.cranfield_qrels(self.data, lambda topic: topic % 2 == odd))
        kept = [line for line in (folder / "run").read_text().splitlines(True) if int(line.split(" ", 1)[0]) % 2 == odd]
        (folder / "run").write_text("".join(kept))
        shown = common.output(program, "evaluate", "--qrels", folder / "qrels", "--run", folder / "run", "--profile", "trec",
                              "--metrics", "MAP", "--format", "tsv")
        return {("", 1000): float(next(line for line in shown.splitlines() if line.startswith("run\t")).split("\t")[1])}

    def on_training(self, program, folder, way, _):
        return self.of_queries(program, folder, way, 1)

    def on_test(self, program, folder, way, _):
        return self.of_queries(program, folder, way, 0)


def markdown(values, ways, names, of):
    return common.table(["weights", *names, "mean ratio"], [
        [way, *(f"{of(values, name, way):.4f}" for name in names), f"{ratio(values, names, way):.4f}"] for way in ways])


def value(values, name, way):
    return statistics.mean(values[name, way].values())


def ratio(values, names, way):
    return statistics.mean(value(values, name, way) / value(values, name, BEFORE) for name in names)


def main():
    given = common.arguments(__doc__, "program", "data", "out", folds=3, collections=[*text_classes.COLLECTIONS, "cranfield"])
    names = given.collections
    given.out.mkdir(parents=True, exist_ok=True)
    with common.scratch() as made, open(given.out / "weights.tsv", "w", encoding="ascii") as rows:
        print("part", "collection", "weights", "votes", "k", "measure", "value", sep="\t", file=rows)
        all_of = {name: (Classes if name in text_classes.COLLECTIONS else Cranfield)(name, given.data) for name in names}

        def measured(part, ways):
            """{(collection, scheme): values}; collections run in parallel."""
            def of(name):
                folder = made / name
                folder.mkdir(exist_ok=True)
                on = all_of[name].on_training if part == "training" else all_of[name].on_test
                return {(name, way): on(given.program, folder, way, given.folds) for way in ways}

            with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
                values = {at: of_way for each in pool.map(of, names) for at, of_way in each.items()}
            for (name, way), of_way in values.items():
                for (votes, k), number in of_way.items():
                    print(part, name, way, votes, k, all_of[name].measure, f"{number:.6f}", sep="\t", file=rows)
            return values

        training = measured("training", WAYS)
        ways = sorted(WAYS, key=lambda way: -ratio(training, names, way))
        print("Training parts\n\n" + markdown(training, ways, names, value), flush=True)
        chosen = list(dict.fromkeys((BEFORE, ways[0])))
        print("Test parts\n\n" + markdown(measured("test", chosen), chosen, names, value))
    print(common.output(given.program, "--version"))


if __name__ == "__main__":
    main()
