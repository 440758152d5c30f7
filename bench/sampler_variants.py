#!/usr/bin/env python3
"""Variants of the choice of documents beside the published sampler, judged on validation sets alone.

    sampler_variants.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets A,B] [--folds 1,2,3,4,5] [--draws 3] [--jobs 1]

Each way chooses as many of a fold's training documents (--budgets; where all that `reduce` chooses at size 6 are
fewer, these many), and reads the labels of these alone:

  ssarp        the first of the sampler's order, at the smallest rule size from 2 to 6 that chooses so many
  pairs        the sampler's order, but a query with one chosen document gets its next one before another query is
               opened
  capped       the sampler's order, but at most twice its even share, and at least 2, of a query, while others last
  round-robin  of each query its first one in the sampler's order, then of each the second, and so on
  whole        whole queries, by the mean place of their first three documents in the sampler's order
  mixed        as pairs; where the labels of the two differ the query gets two more at once
  alike        as pairs; while all labels of a query are equal it gets another one, up to four
  random       drawn: the mean of --draws
  queries      whole queries, drawn, of the last one a drawn part: likewise

Where a variant wants more documents of a query than that rule size chooses, those that larger rule sizes choose
follow in their order. Three learners:

  rules     `rank` as it is without options, with cuts of all the training documents
  linear    `rank --members linear`
  lightgbm  LightGBM's lambdarank, 100 trees of 8 leaves of at least 5 documents, rate 0.05, nothing tuned; skipped,
            with a line that says so, where the package is not installed

Writes variants.tsv (a row a set, fold, budget, way, draw and learner), by_query.tsv.gz (the same by query, in
ten-thousandths), tables.md and manifest.json. A run that was stopped goes on from the rows that are there. A variant
is worth building into the program where it is better than ssarp and random for all learners on all sets. Needs numpy.
"""

import collections
import importlib.util
import math
import statistics
import sys

import common
import needs
from validation_parts import (MEASURES, Results, bare, collect, comparison, grouped, parsed, preface, signed, write_manifest)

numpy, = needs.packages("numpy")

VARIANTS = ("pairs", "capped", "round-robin", "whole", "mixed", "alike")
WAYS = ("ssarp", *VARIANTS, "random", "queries")
PARAMETERS = {"objective": "lambdarank", "num_leaves": 8, "min_data_in_leaf": 5, "learning_rate": 0.05,
              "num_threads": 1, "deterministic": True, "force_row_wise": True, "seed": 1, "verbosity": -1}
TREES = 100


def opened(order, query, more):
    """The order, but where a query's first document comes its next ones follow at once, as long as the order has one
    and more(those that have come) is true."""
    of_query = collections.defaultdict(list)
    for d in order:
        of_query[query[d]].append(d)
    found = []
    for d in order:
        if d != of_query[query[d]][0]:
            found.append(d)
            continue
        block = [d]
        for other in of_query[query[d]][1:]:
            if not more(block):
                break
            block.append(other)
        found += block
    return list(dict.fromkeys(found))


def pairs(order, query):
    return opened(order, query, lambda of: len(of) < 2)


def mixed(order, query, labels):
    return opened(order, query, lambda of: len(of) < 2 or len(of) < 4 and labels[of[0]] != labels[of[1]])


def alike(order, query, labels):
    return opened(order, query, lambda of: len(of) < 2 or len(of) < 4 and len({labels[d] for d in of}) == 1)


def capped(order, query, most):
    counts, early, late = collections.Counter(), [], []
    for d in order:
        counts[query[d]] += 1
        (early if counts[query[d]] <= most else late).append(d)
    return early + late


def round_robin(order, query):
    counts, place = collections.Counter(), {}
    for d in order:
        place[d] = counts[query[d]]
        counts[query[d]] += 1
    return sorted(order, key=place.get)


def whole(order, query, queries):
    """queries: the documents of each, in the order that those take which the sampler does not choose."""
    places = collections.defaultdict(list)
    for at, d in enumerate(order):
        places[query[d]].append(at)

    def first(q):
        return sum((places[q] + [len(order)] * 3)[:3])

    chosen = set(order)
    return [d for q in sorted(range(len(queries)), key=first)
            for d in [*(order[at] for at in places[q]), *(d for d in queries[q] if d not in chosen)]]


def orders(fold, count, draw):
    own = fold.sampler_order(count)
    count = min(count, len(own))
    if draw is not None:
        return {"random": fold.random_order(draw)[:count], "queries": fold.query_order(draw)[:count]}
    fold.sampler_order(len(fold.lines))  # every rule size
    longer = (d for selection in fold.selections if len(selection) > len(own) for d in selection)
    order = list(dict.fromkeys([*own, *longer]))
    query, labels = fold.query.tolist(), fold.labels.tolist()
    engine = numpy.random.default_rng([3, fold.number])
    drawn = [engine.permutation(of).tolist() for of in fold.queries]
    found = {"ssarp": order, "pairs": pairs(order, query),
             "capped": capped(order, query, max(2, math.ceil(2 * count / len(fold.queries)))),
             "round-robin": round_robin(order, query), "whole": whole(order, query, drawn),
             "mixed": mixed(order, query, labels), "alike": alike(order, query, labels)}
    return {way: of[:count] for way, of in found.items()}


def values_of(path):
    """A row a document, a column a feature; NaN where a value is missing, 0 where it is not listed."""
    rows = [row for _, _, row in common.letor(path)]
    features = range(1, max(map(max, rows)) + 1)
    return numpy.array([[row.get(f, 0.0) for f in features] for row in rows])


def lightgbm_scores(fold, sample):
    import lightgbm
    if "values" not in fold.binned:
        fold.binned["values"] = values_of(fold.train), values_of(fold.vali)
    train, vali = fold.binned["values"]
    width = min(train.shape[1], vali.shape[1])
    sizes = numpy.unique(fold.query[sample], return_counts=True)[1]
    data = lightgbm.Dataset(train[sample, :width], fold.labels[sample], group=sizes)
    return lightgbm.train(PARAMETERS, data, TREES).predict(vali[:, :width])


class Learners:
    """Measures of each learner that is there."""

    def __init__(self):
        self.names = ["rules", "linear"]
        if importlib.util.find_spec("lightgbm"):
            self.names.append("lightgbm")
        else:
            print("sampler_variants.py: lightgbm is skipped: the package is not installed", file=sys.stderr)

    def __call__(self, fold, sample):
        file = fold.written(sample)
        fold.ranked(file, "rules", "tube", ("--members", "rules"))
        fold.ranked(file, "linear", None, ("--members", "linear"))
        if "lightgbm" in self.names:
            fold.kept("lightgbm", lightgbm_scores(fold, sample))
        return fold.judged(self.names)


class Report:
    def __init__(self, arguments, measured, learners):
        self.arguments, self.learners, self.compare = arguments, learners, comparison(arguments)
        self.values, self.labels = grouped(arguments, measured, WAYS, learners)

    def over_budgets(self, way, learner, measure):
        """The mean over the budgets, by set and query."""
        of = [self.values[budget, way, learner][measure] for budget in self.arguments.budgets]
        return {name: sum(v[name] for v in of) / len(of) for name in of[0]}

    def verdict(self, variant, measure):
        """In how many of the learners and sets the mean over the budgets is above both ssarp's and random's."""
        won = 0
        for learner in self.learners:
            of, *others = (self.over_budgets(way, learner, measure) for way in (variant, "ssarp", "random"))
            won += sum(of[name].mean() > max(other[name].mean() for other in others) for name in self.arguments.sets)
        return won

    def verdicts(self):
        cells = len(self.learners) * len(self.arguments.sets)
        rows = []
        for variant in VARIANTS:
            won = [self.verdict(variant, m) for m in MEASURES]
            rows.append([variant, *(f"{n} of {cells}" for n in won), "yes" if min(won) == cells else "no"])
        return common.table(["variant", *(f"{m}: above both" for m in MEASURES), "above both everywhere"], rows)

    def sets_table(self, measure):
        """Differences to ssarp and to random by set and over the sets, mean of the budgets."""
        alone = {name: type(self.compare)({name: self.compare.qids[name]}) for name in self.arguments.sets}
        rows = []
        for learner in self.learners:
            base = {way: self.over_budgets(way, learner, measure) for way in WAYS}
            for way in WAYS:
                for other in ("ssarp", "random"):
                    if way == other:
                        continue
                    cells = [signed(*alone[name].difference(base[way], base[other])) for name in self.arguments.sets]
                    rows.append([learner, way, bare(self.compare.mean(base[way])), other, *cells,
                                 signed(*self.compare.difference(base[way], base[other]))])
        return common.table(["learner", "way", measure, "less", *self.arguments.sets, "mean of sets"], rows)

    def budgets_table(self, measure):
        heads = []
        for budget in self.arguments.budgets:
            heads.append(f"{budget} ({statistics.fmean(self.labels[budget, way] for way in WAYS):.0f})")
        rows = [[learner, way, *(bare(self.compare.mean(self.values[budget, way, learner][measure]))
                                 for budget in self.arguments.budgets)] for learner in self.learners for way in WAYS]
        return common.table(["learner", "way", *heads], rows)

    def text(self):
        parts = [preface(self.arguments) + "\n",
                 "## Above ssarp and random at equal labels: learners and sets, mean of the budgets\n", self.verdicts()]
        for measure in MEASURES:
            parts += [f"## {measure}, mean of the budgets\n", self.sets_table(measure),
                      f"## {measure} by budget (labels), mean of the sets\n", self.budgets_table(measure)]
        return "\n".join(parts)


def main():
    arguments = parsed(__doc__, budgets=["1%", "2%", "5%", "10%", "25%"])
    learners = Learners()
    results = Results(arguments.out, "variants")
    if not arguments.tables_only:
        used = collect(arguments, results, learners, orders, learners.names)
        libraries = {"numpy": numpy.__version__}
        if "lightgbm" in learners.names:
            libraries["lightgbm"] = importlib.import_module("lightgbm").__version__
        write_manifest(arguments, used, libraries)
    common.write(arguments.out / "tables.md", Report(arguments, results.measured(), learners.names).text())


if __name__ == "__main__":
    main()
