#!/usr/bin/env python3
"""Which members to combine, by the number of labels: evidence from training and validation sets alone.

    member_evidence.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets A,B] [--folds 1,2,3,4,5] [--seeds 3] [--jobs 1]

Rankers learn from a share of the documents of each fold's training set (--budgets):

  chosen   the first ones that `reduce` chooses, with rules of size 2 before larger ones
  random   a random sample; larger samples contain the smaller ones
  queries  random whole queries, and a random subset of the last one
  all      all documents, at 100 %

The members use cuts of all training documents, which read no label:

  rules-CUTS-SIZE                       `rank`: size 3 with default options, size 4 with smoothing 5 and support weight -0.25
  card-CUTS-LOSS-PENALTY-SMOOTHNESS     a scorecard
  linear-STRENGTH
  pooled-STRENGTH                       linear, with values as z-scores among all training documents of the query, labelled or
                                        not (`fit --pool`)
  items-CUTS                            weighted items, below

A combination A+B is the mean of their scores, each standardized within the query's list. CUTS are `tube` and `frequency` with 10
bins, `frequency5` and `frequency20` with 5 and 20. Validation sets are ranked, and judged by `evaluate` (profile letor, --ties
average, because the order of a file is no ranking). Test sets are not read.

Weighted items: e_f(d) is the mean label of the training documents with d's bin of feature f, smoothed by one document of the mean
label. For a training document it comes from the other folds of 5 seeded folds of queries. The score is c0 times the mean over f of
e_f(d), plus the sum over f of w_f e_f(d). c0 is fitted by least squares and w by ridge regression to the residuals of c0; labels
and values are centred within the query, and the strength is 3, 10, 30, ... or 3000, chosen on the same folds. With one query c0 is
1 and w is 0.

Writes evidence.tsv (a row for each set, fold, budget, way, seed and candidate), by_query.tsv.gz (the same by query, in
ten-thousandths), tables.md and manifest.json. To continue an interrupted run, repeat its command. Needs numpy.
"""

import common
import needs
from validation_parts import (MEASURES, Results, bare, collect, comparison, grouped, parsed, preface, signed, standardized,
                              write_manifest)

numpy, = needs.packages("numpy")

WAYS = ("chosen", "random", "queries")
STRENGTHS = (3, 10, 30, 100, 300, 1000, 3000)
PENALTIES = (("1e-4", "0.1"), ("1e-3", "1"), ("1e-3", "10"), ("1e-3", "100"), ("1e-3", "1000"), ("1e-3", "10000"), ("1e-1", "10"))
FOUR = ("--rule-size", "4", "--smoothing", "5", "--support-weight", "-0.25")


def single_members():
    """{name: (method of the cuts, options of `rank`)}."""
    members = {}

    def card(cuts, loss, penalty, smoothness):
        members[f"card-{cuts}-{loss}-{penalty}-{smoothness}"] = cuts, (
            "--members", "scorecard", "--loss", loss, "--points-penalty", penalty, "--smoothness", smoothness)

    for cuts in ("tube", "frequency"):
        members[f"rules-{cuts}-3"] = cuts, ("--members", "rules")
        members[f"rules-{cuts}-4"] = cuts, ("--members", "rules", *FOUR)
        for loss in ("pair", "list", "point"):
            for penalties in PENALTIES:
                card(cuts, loss, *penalties)
    for cuts in ("frequency5", "frequency20"):
        for loss in ("pair", "point"):
            for penalties in PENALTIES[1:4]:
                card(cuts, loss, *penalties)
    for strength in ("10", "100", "cross-fit"):
        members[f"linear-{strength}"] = None, ("--members", "linear", "--strength", strength)
    return members


RULES = ("rules-tube-3", "rules-frequency-4")
CARDS = ("card-tube-pair-1e-4-0.1", "card-frequency-pair-1e-3-10", "card-frequency-point-1e-3-100",
         "card-frequency20-point-1e-3-100")
LINEAR = ("linear-cross-fit", "pooled-1000", "pooled-cross-fit")
POOLED = {f"pooled-{s}": ("--members", "linear", "--strength", s) for s in ("100", "1000", "cross-fit")}
ITEMS = ("items-tube", "items-frequency")
SINGLE = single_members()


def combinations():
    """{name: members}, at most one of each kind and at least two."""
    found = {}
    for rules in (None, *RULES):
        for card in (None, *CARDS):
            for linear in (None, *LINEAR):
                for items in (None, ITEMS[1]):
                    of = [member for member in (rules, card, linear, items) if member]
                    if len(of) > 1:
                        found["+".join(of)] = of
    return found


COMBINED = combinations()
CANDIDATES = (*SINGLE, *POOLED, *ITEMS, *COMBINED)


class WeightedItems:
    """Fitted to bins (a row per document), labels and the query of each document."""

    def __init__(self, bins, labels, query, most, seed=1):
        queries = numpy.unique(query)
        self.most = most
        self.counts, self.sums = self.table(bins, numpy.ones(len(labels))), self.table(bins, labels)
        self.prior, self.first, self.weights = labels.mean(), 1.0, numpy.zeros(bins.shape[1])
        if len(queries) < 2:
            return
        folds = min(5, len(queries))
        place = numpy.random.default_rng(seed).permutation(len(queries)) % folds
        fold = place[numpy.searchsorted(queries, query)]
        crossed = numpy.empty(bins.shape)
        for k in range(folds):
            held = fold == k
            counts = self.counts - self.table(bins[held], numpy.ones(held.sum()))
            sums = self.sums - self.table(bins[held], labels[held])
            crossed[held] = self.means(bins[held], counts, sums, labels[~held].mean())
        x, y = self.centred(crossed, query), self.centred(labels[:, None].astype(float), query)[:, 0]
        mean = x.mean(axis=1)
        if not mean @ mean > 0:
            return
        self.first = (mean @ y) / (mean @ mean)
        left = numpy.array([sum(self.squares(x, y, mean, fold, k, s) for k in range(folds)) for s in STRENGTHS])
        best = max(s for s, of in zip(STRENGTHS, left) if of == left.min())
        self.weights = self.ridge(x, y - self.first * mean, best)

    def table(self, bins, weights):
        """The sum of one weight per feature and bin."""
        features = bins.shape[1]
        at = numpy.arange(features) * self.most + bins
        return numpy.bincount(at.ravel(), numpy.repeat(weights, features), features * self.most)

    def means(self, bins, counts, sums, prior):
        at = numpy.arange(bins.shape[1]) * self.most + bins
        return ((sums + prior) / (counts + 1))[at]

    @staticmethod
    def centred(values, query):
        _, of, counts = numpy.unique(query, return_inverse=True, return_counts=True)
        totals = numpy.zeros((len(counts), values.shape[1]))
        numpy.add.at(totals, of, values)
        return values - (totals / counts[:, None])[of]

    @staticmethod
    def ridge(x, y, strength):
        return numpy.linalg.solve(x.T @ x + strength * numpy.eye(x.shape[1]), x.T @ y)

    def squares(self, x, y, mean, fold, k, strength):
        """The error on fold k of a fit without fold k."""
        held, rest = fold == k, fold != k
        norm = mean[rest] @ mean[rest]
        first = (mean[rest] @ y[rest]) / norm if norm > 0 else 1.0
        weights = self.ridge(x[rest], y[rest] - first * mean[rest], strength)
        left = y[held] - first * mean[held] - x[held] @ weights
        return left @ left

    def scores(self, bins):
        e = self.means(bins, self.counts, self.sums, self.prior)
        return self.first * e.mean(axis=1) + e @ self.weights


def candidates(_):
    """The candidates of each set."""
    return CANDIDATES


def learn(fold, sample):
    """The measures of each candidate after learning from the sample."""
    file = fold.written(sample)
    scores = {name: fold.ranked(file, name, cuts, words) for name, (cuts, words) in SINGLE.items()}
    scores.update((name, fold.ranked_within(file, name, words)) for name, words in POOLED.items())
    for name in ITEMS:
        train, vali = fold.bins(name.partition("-")[2])
        most = int(max(train.max(), vali.max())) + 1
        scores[name] = WeightedItems(train[sample], fold.labels[sample], fold.query[sample], most).scores(vali)
        fold.kept(name, scores[name])
    parts = {name: standardized(scores[name], fold.lists) for name in {m for of in COMBINED.values() for m in of}}
    for name, of in COMBINED.items():
        fold.kept(name, sum(parts[member] for member in of) / len(of))
    return fold.judged(CANDIDATES)


def orders(fold, count):
    return {"chosen": fold.sampler_order(count), "random": fold.random_order(), "queries": fold.query_order()}


def composition(candidate):
    return " + ".join(member.partition("-")[0] for member in candidate.split("+"))


class Report:
    """Budgets end with `mean`, the mean of the others; ways begin with `mean`, likewise."""

    def __init__(self, arguments, measured):
        self.arguments, self.compare = arguments, comparison(arguments)
        self.values, self.labels = grouped(arguments, measured, WAYS, candidates)
        self.budgets, self.means = [*arguments.budgets, "mean"], {}

    def heads(self):
        """Budgets with their mean labels."""
        found = []
        for budget in self.arguments.budgets:
            of = [n for (b, _), n in self.labels.items() if b == budget]
            found.append(f"{budget} ({sum(of) / len(of):.0f})")
        return [*found, "mean"]

    def of(self, way, budget, candidate, measure):
        """Values by set and query."""
        if budget != "mean" and (way != "mean" or budget == "100%"):
            return self.values[budget, "all" if budget == "100%" else way, candidate][measure]
        key = way, budget, candidate, measure
        if key not in self.means:
            of = ([self.of(way, b, candidate, measure) for b in self.arguments.budgets] if budget == "mean" else
                  [self.of(w, budget, candidate, measure) for w in WAYS])
            self.means[key] = {name: sum(v[name] for v in of) / len(of) for name in of[0]}
        return self.means[key]

    def mean(self, way, budget, candidate, measure):
        return self.compare.mean(self.of(way, budget, candidate, measure))

    def best(self, way, budget, measure, among=CANDIDATES):
        """The best candidate by the mean over the sets; of ties the first."""
        return max(among, key=lambda candidate: self.mean(way, budget, candidate, measure))

    def less(self, way, budget, one, other, measure):
        if one == other:
            return signed(0.0)
        return signed(*self.compare.difference(*(self.of(way, budget, of, measure) for of in (one, other))))

    def best_table(self, measure):
        """The best of all, and its difference to the best single member, to the best without weighted items, and to unweighted
        rules."""
        without = [candidate for candidate in CANDIDATES if "items" not in composition(candidate)]
        rows = []
        for way in ("mean", *WAYS):
            for budget, head in zip(self.budgets, self.heads()):
                if budget == "100%" and way != "mean":
                    continue
                top = self.best(way, budget, measure)
                others = (self.best(way, budget, measure, (*SINGLE, *POOLED, *ITEMS)),
                          self.best(way, budget, measure, without), RULES[0])
                rows.append([way, head, f"{top} {bare(self.mean(way, budget, top, measure))}",
                             *(f"{other} {self.less(way, budget, other, top, measure)}" for other in others)])
        return common.table(["way", "budget (labels)", "best", "best of one member", "best without items", "rules as they are"],
                            rows)

    def sets_table(self, measure):
        """The best of each set."""
        rows = []
        for name in self.arguments.sets:
            for budget, head in zip(self.budgets, self.heads()):
                found = {c: float(self.of("mean", budget, c, measure)[name].mean()) for c in CANDIDATES}
                top = max(found, key=found.get)
                rows.append([name, head, top, bare(found[top])])
        return common.table(["set", "budget (labels)", "best", measure], rows)

    def compositions_table(self, measure):
        """For each composition of kinds, the best settings at the budget, minus the best of all."""
        kinds = {}
        for candidate in CANDIDATES:
            kinds.setdefault(composition(candidate), []).append(candidate)
        rows = [[kind, *(self.less("mean", budget, self.best("mean", budget, measure, of),
                                   self.best("mean", budget, measure), measure) for budget in self.budgets)]
                for kind, of in kinds.items()]
        return common.table(["composition", *self.heads()], rows)

    def items_table(self, measure):
        """The gain of weighted items: each combination with them minus the same without."""
        rows = []
        for name, of in COMBINED.items():
            rest = "+".join(member for member in of if member not in ITEMS)
            if rest != name:
                rows.append([rest, *(self.less("mean", budget, name, rest, measure) for budget in self.budgets)])
        return common.table([f"{ITEMS[1]} beside", *self.heads()], rows)

    def less_table(self, measure):
        """All candidates minus the best of their budget."""
        best = {budget: self.best("mean", budget, measure) for budget in self.budgets}
        rows = [[candidate, *(self.less("mean", budget, candidate, best[budget], measure) for budget in self.budgets)]
                for candidate in CANDIDATES]
        return common.table(["candidate", *self.heads()], rows)

    def means_table(self, way, measure):
        best = {budget: self.best(way, budget, measure) for budget in self.budgets}
        rows = []
        for candidate in CANDIDATES:
            cells = [bare(self.mean(way, budget, candidate, measure)) for budget in self.budgets]
            rows.append([candidate, *(f"**{cell}**" if candidate == best[budget] else cell
                                      for budget, cell in zip(self.budgets, cells))])
        return common.table(["candidate", *self.heads()], rows)

    def text(self):
        parts = [preface(self.arguments) + " The way `mean` is "
                 "the mean of chosen, random and queries. The best of many candidates is a little lucky: what differs "
                 "from it by less than its interval is as good.\n"]
        for measure in MEASURES:
            parts += [f"## {measure}: the best by the number of labels\n", self.best_table(measure),
                      f"## {measure}: the best by set, mean of the ways\n", self.sets_table(measure),
                      f"## {measure}: the best settings of each composition less the best, mean of the ways\n",
                      self.compositions_table(measure),
                      f"## {measure}: what weighted items add, mean of the ways\n", self.items_table(measure),
                      f"## {measure}: less the best of the budget, mean of the ways\n", self.less_table(measure)]
            for way in ("mean", *WAYS):
                parts += [f"## {measure}, {'mean of the ways' if way == 'mean' else way}\n", self.means_table(way, measure)]
        return "\n".join(parts)


def main():
    arguments = parsed(__doc__, budgets=["1%", "2%", "5%", "10%", "25%", "100%"])
    results = Results(arguments.out, "evidence")
    if not arguments.tables_only:
        used = collect(arguments, results, learn, orders, candidates)
        write_manifest(arguments, used, {"numpy": numpy.__version__})
    common.write(arguments.out / "tables.md", Report(arguments, results.measured()).text())


if __name__ == "__main__":
    main()
