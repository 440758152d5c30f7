#!/usr/bin/env python3
"""Which documents to label: nine ways to choose them, judged on validation sets.

    sampler_variants.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets A,B] [--folds 1,2,3,4,5] [--seeds 3] [--budgets 1%,2%,5%] [--jobs 1]

A seed shuffles the documents of each query and makes every random choice. Each way orders the training documents of a fold, and
learners read the labels of the first of them (--budgets). S is the order in which `reduce` chooses documents, with rules of size 2
before larger ones:

  ssarp        S
  pairs        S, but a query gets its second document at once
  capped       S, but documents above a limit for each query come last; the limit is twice the even share, and at least 2
  round-robin  the first document of each query in S, then the second of each, and so on
  whole        whole queries, by the mean position of their first three documents in S
  mixed        as pairs; a query whose two labels differ gets two more documents at once
  alike        as pairs; a query gets more documents, up to four, while all its labels are equal
  random       a random sample
  queries      random whole queries

A model learns from the sample, with all training documents as the pool where `fit` makes it:

  card   what `fit` makes by default: fit --members card
  joint  fit --members joint; not for MSLR-89, where it would take two thirds of the time
  ridge  fit --members linear --strength 1000
  rules  fit --members rules
  trees  LightGBM's regression: 50 trees of up to 4 leaves of at least 10 documents, rate 0.05, on raw features; skipped with a
         message if Python has no package lightgbm

Writes variants.tsv (a row for each set, fold, budget, way, seed and learner), by_query.tsv.gz (the same by query, in
ten-thousandths), tables.md and manifest.json. To continue an interrupted run, repeat its command. Needs numpy."""

import collections
import importlib.util
import math
import statistics
import sys

import common
import needs
from validation_parts import (MEASURES, Comparison, Results, bare, collect, comparison, grouped, parsed, preface, signed, write_manifest)

numpy, = needs.packages("numpy")

BASE = "ssarp"
WAYS = (BASE, "pairs", "capped", "round-robin", "whole", "mixed", "alike", "random", "queries")
MEMBERS = {"card": ("card",), "joint": ("joint",), "ridge": ("linear", "--strength", 1000), "rules": ("rules",)}
TREES = {"objective": "regression", "num_leaves": 4, "min_data_in_leaf": 10, "learning_rate": 0.05, "num_threads": 1,
         "deterministic": True, "force_row_wise": True, "seed": 1, "verbosity": -1}
ROUNDS = 50
LEFT_OUT = {("MSLR-89", "joint")}  # a fit takes 20 s of processor time


# --- ways


def opened(order, query, more):
    """The order, but the first document of a query brings its next documents while the order has any and more(its documents)."""
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


def whole(order, query):
    places = collections.defaultdict(list)
    for at, d in enumerate(order):
        places[query[d]].append(at)
    first = {q: sum((of + [len(order)] * 3)[:3]) for q, of in places.items()}
    return [order[at] for q in sorted(places, key=first.get) for at in places[q]]


def orders(fold, count):
    order = fold.sampler_order(len(fold.lines))
    query, labels = fold.query.tolist(), fold.labels.tolist()
    return {"ssarp": order, "pairs": pairs(order, query),
            "capped": capped(order, query, max(2, math.ceil(2 * count / len(fold.queries)))),
            "round-robin": round_robin(order, query), "whole": whole(order, query),
            "mixed": mixed(order, query, labels), "alike": alike(order, query, labels),
            "random": fold.random_order(), "queries": fold.query_order()}


# --- learners


def values_of(path, features):
    """A row a document, a column a feature; NaN where a value is missing, 0 where it is not listed."""
    return numpy.array([[row.get(f, 0.0) for f in range(1, features + 1)] for _, _, row in common.letor(path)])


def trees_scores(fold, file, sample):
    import lightgbm
    if "vali" not in fold.binned:
        features = max(max(row, default=0) for _, _, row in common.letor(fold.vali))
        fold.binned["vali"] = values_of(fold.vali, features)
    vali = fold.binned["vali"]
    data = lightgbm.Dataset(values_of(file, vali.shape[1]), fold.labels[sample])
    return lightgbm.train(TREES, data, ROUNDS).predict(vali)


class Learners:
    """The measures of each learner that this machine has."""

    def __init__(self):
        self.names = list(MEMBERS)
        if importlib.util.find_spec("lightgbm"):
            self.names.append("trees")
        else:
            print("sampler_variants.py: trees are skipped: found no Python package lightgbm", file=sys.stderr)

    def of(self, set_name):
        return [name for name in self.names if (set_name, name) not in LEFT_OUT]

    def __call__(self, fold, sample):
        file, names = fold.written(sample), self.of(fold.name)
        for name in names:
            if name == "trees":
                fold.kept(name, trees_scores(fold, file, sample))
            else:
                fold.ranked_within(file, name, ("--members", *MEMBERS[name]))
        return fold.judged(names)


# --- the report


def holm(p_values):
    """Holm's correction of {name: p}."""
    found, least = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.get)):
        least = found[name] = min(1.0, max(least, (len(p_values) - rank) * p_values[name]))
    return found


class Report:
    def __init__(self, arguments, measured, learners):
        self.arguments, self.learners = arguments, learners.names
        self.qids = comparison(arguments).qids
        self.sets = {learner: [name for name in arguments.sets if learner in learners.of(name)] for learner in self.learners}
        self.values, self.labels = grouped(arguments, measured, WAYS, learners.of)

    def of(self, way, learner, measure, budgets=None):
        """The mean over the budgets, by set and query."""
        of = [self.values[budget, way, learner][measure] for budget in budgets or self.arguments.budgets]
        return {name: sum(v[name] for v in of) / len(of) for name in of[0]}

    def differences(self, learner, measure, sets=None, budgets=None):
        """The mean of the base, and {way: (mean, half its interval)} of the differences to it."""
        compare = Comparison({name: self.qids[name] for name in sets or self.sets[learner]})
        base = self.of(BASE, learner, measure, budgets)
        return bare(compare.mean(base)), {way: compare.difference(self.of(way, learner, measure, budgets), base)
                                          for way in WAYS if way != BASE}

    def verdicts(self, differences):
        """{way: better, worse or an empty text}, by Holm's correction over the ways."""
        corrected = holm({way: 2 * statistics.NormalDist().cdf(-1.96 * abs(mean) / half) if half > 0 else 1.0
                          for way, (mean, half) in differences.items()})
        return {way: ("better" if differences[way][0] > 0 else "worse") if p < 0.05 else "" for way, p in corrected.items()}

    def verdict_table(self, measure):
        found = {learner: self.differences(learner, measure) for learner in self.learners}
        said = {learner: self.verdicts(differences) for learner, (_, differences) in found.items()}
        rows = [[BASE, *(base for base, _ in found.values())]]
        rows += [[way, *(f"{signed(*found[learner][1][way])} {said[learner][way]}".strip() for learner in self.learners)]
                 for way in WAYS if way != BASE]
        return f"## {measure}, mean of the budgets and sets\n\n" + common.table(["way", *self.learners], rows)

    def table(self, name, cases):
        """`cases`: learner, name of the row, sets and budgets; None means all of them."""
        rows = []
        for learner, case, sets, budgets in cases:
            base, differences = self.differences(learner, MEASURES[0], sets, budgets)
            rows.append([learner, case, base, *(signed(*of) for of in differences.values())])
        return common.table(["learner", name, BASE, *(f"{way} − {BASE}" for way in WAYS if way != BASE)], rows)

    def text(self):
        heads = {b: f"{b} ({statistics.fmean(self.labels[b, way] for way in WAYS):.0f} labels)" for b in self.arguments.budgets}
        return "\n".join([
            preface(self.arguments) + f" Differences to {BASE}; better and worse are significant after Holm correction over the ways of a learner.\n",
            *map(self.verdict_table, MEASURES),
            f"## {MEASURES[0]} by set, mean of the budgets\n",
            self.table("set", [(learner, name, [name], None) for learner in self.learners for name in self.sets[learner]]),
            f"## {MEASURES[0]} by budget, mean of the sets\n",
            self.table("budget", [(learner, head, None, [b]) for learner in self.learners for b, head in heads.items()])])


def main():
    arguments = parsed(__doc__, budgets=["1%", "2%", "5%"])
    learners = Learners()
    results = Results(arguments.out, "variants")
    if not arguments.tables_only:
        used = collect(arguments, results, learners, orders, learners.of)
        libraries = {"numpy": numpy.__version__}
        if "trees" in learners.names:
            libraries["lightgbm"] = importlib.import_module("lightgbm").__version__
        write_manifest(arguments, used, libraries)
    common.write(arguments.out / "tables.md", Report(arguments, results.measured(), learners).text())


if __name__ == "__main__":
    main()
