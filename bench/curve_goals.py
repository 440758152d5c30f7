#!/usr/bin/env python3
"""What the learning curves say of the recommended members, set by set, the worst set first.

    curve_goals.py CURVES_FOLDER [--sets A,B] [--letor LETOR_FOLDER] > goals.md

CURVES_FOLDER is the OUT_FOLDER of curves.py. Each query's value is the mean over the draws; a difference is the mean
over the queries of all folds, with its interval of confidence .95 (paired t). A peer is lightgbm, ilmart, xgboost,
ranksvm, ranksvm-zscore or linear (ridge), with its defaults or with settings that were chosen, by the validation set above a tenth of
the labels and below by cross-fitting inside the sample: whichever gives the higher MAP on the test sets, which favours the peer. `chosen for the set` is the system of ours whose chosen settings have the highest mean MAP on the five
validation sets; these are, of the other folds, the queries of the test sets. With --letor, what the queries are
that it loses on: by their relevant documents, and by the share of values that are missing. Needs numpy.
"""

import collections
import itertools
import json
import math
import pathlib

import common
import needs
from validation_parts import bare, signed, student

numpy, = needs.packages("numpy")

TREES = ("lightgbm", "ilmart", "xgboost")
PEERS = (*TREES, "ranksvm", "ranksvm-zscore", "linear")
OURS = ("rules", "scorecard", "linear", "members")
MEASURES = ("MAP", "NDCG@10")
FEW = (0.01, 0.02, 0.05)
WAYS = ("chosen", "random", "queries", "depth", "margin", "entropy", "variance")


def mean_with_error(differences):
    """The mean and its standard error."""
    return float(differences.mean()), float(differences.std(ddof=1)) / len(differences) ** 0.5


def mean_with_interval(differences):
    """The mean and half its interval."""
    mean, error = mean_with_error(differences)
    return mean, student(len(differences) - 1) * error


class Curves:
    """The points of a set's folds: values[way, budget, system, settings] is a row a query and a column a measure."""

    def __init__(self, folder):
        folds = [json.loads(path.read_text("utf-8")) for path in sorted((folder / "curves").glob("Fold*.json"))]
        measures = (folder / "curves.tsv").read_text("utf-8").splitlines()
        head = next(line for line in measures if not line.startswith("#")).split("\t")
        names = head[head.index("MAP"):]
        self.columns = [names.index(measure) for measure in MEASURES]
        parts = collections.defaultdict(list)  # key -> folds -> draws
        self.validation = collections.defaultdict(list)
        for fold in folds:
            draws = collections.defaultdict(list)
            for point in fold["points"]:
                key = point["way"], point["budget"], point["system"], point["settings"]
                draws[key].append(numpy.reshape(point["values"], (len(fold["qids"]), len(names))))
            for key, of in draws.items():
                parts[key].append(sum(of) / len(of))
            for choice in fold["choices"]:
                if choice["budget"] == 1:
                    self.validation[choice["system"]].append(choice["value"])
        self.qids = [fold["qids"] for fold in folds]
        self.values = {key: numpy.concatenate(of)[:, self.columns] for key, of in parts.items()}

    def best_on_any_sample(self, systems, budget, measure=0):
        """The key with the highest mean."""
        keys = [(way, budget, system, settings) for way in WAYS for system in systems for settings in ("defaults", "cross-fitted")]
        return max((key for key in keys if key in self.values), key=lambda key: self.values[key][:, measure].mean())

    def best_with_all_labels(self, system):
        """The key with the higher mean, tuned or by its defaults."""
        return max((("all", 1, system, settings) for settings in ("validated", "defaults")),
                   key=lambda key: self.values[key][:, 0].mean())

    def chosen_system(self):
        return max(OURS, key=lambda system: numpy.mean(self.validation[system]))

    def by_query(self, one, other, measure):
        return (self.values[one] - self.values[other])[:, measure]

    def less(self, one, other, measure):
        """The difference and half its interval."""
        return mean_with_interval(self.by_query(one, other, measure))

    def told(self, key):
        return " / ".join(bare(float(of)) for of in self.values[key].mean(axis=0))

    def difference(self, one, other):
        return " / ".join(signed(*self.less(one, other, measure)) for measure in range(len(MEASURES)))


def name_of(key):
    way, budget, system, settings = key
    return f"{system}, {settings}" + ("" if budget == 1 else f", {way}")


def all_labels(sets):
    rows = []
    for name, of in sets.items():
        ours = "all", 1, "recommended", "defaults"
        chosen = "all", 1, of.chosen_system(), "validated"
        of_set = []
        for system in PEERS:
            peer = of.best_with_all_labels(system)
            of_set.append((of.less(ours, peer, 0)[0],
                           [name, f"{name_of(peer)} {of.told(peer)}", of.difference(ours, peer),
                            "the same" if peer == chosen else of.difference(chosen, peer)]))
        rows += [row for _, row in sorted(of_set)]
    head = [f"{name}: recommended {of.told(('all', 1, 'recommended', 'defaults'))}; chosen for the set: "
            f"{of.chosen_system()} {of.told(('all', 1, of.chosen_system(), 'validated'))}" for name, of in sets.items()]
    return "\n".join(f"- {line}" for line in head) + "\n\n" + common.table(
        ["set", "peer, the better of its settings", "recommended less it", "chosen for the set less it"], rows)


def own_kinds(sets):
    rows = []
    for name, of in sets.items():
        ours = "all", 1, "recommended", "defaults"
        for system in OURS:
            keys = [("all", 1, system, settings) for settings in ("defaults", "validated")]
            rows.append([name, system] + [cell for key in keys for cell in (of.told(key), of.difference(key, ours))])
    return common.table(["set", "kind", "as it is", "less recommended", "tuned on the validation part", "less recommended"], rows)


def with_few(sets):
    """The budget, its name, the set, its curves and the key of what is recommended, of each number of labels and set."""
    for budget in FEW:
        for name, of in sets.items():
            yield budget, f"{budget:.0%}", name, of, ("chosen", budget, "recommended", "defaults")


def few_labels(sets):
    rows = []
    for budget, labels, name, of, ours in with_few(sets):
        peer, trees = of.best_on_any_sample(PEERS, budget), of.best_on_any_sample(TREES, budget)
        rows.append([labels, name, of.told(ours), f"{name_of(peer)} {of.told(peer)}", of.difference(ours, peer),
                     f"{name_of(trees)} {of.told(trees)}", of.difference(ours, trees),
                     of.difference(ours, ("random", budget, "recommended", "defaults")),
                     of.difference(ours, ("all", 1, "lightgbm", "validated"))])
    return common.table(["labels", "set", "recommended, chosen", "the best peer on any sample", "less it",
                         "the best boosted trees on any sample", "less them", "less itself on random documents",
                         "less LightGBM with all labels"], rows)


def p_value(t, freedom):
    """Two-sided, of Student's t: the density added up."""
    at = numpy.linspace(0, abs(t), 20001)
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    density = constant * (1 + at ** 2 / freedom) ** (-(freedom + 1) / 2)
    return max(0.0, 1 - 2 * float(((density[1:] + density[:-1]) / 2 * numpy.diff(at)).sum()))


def holm(values):
    """p values corrected for how many there are (Holm 1979), in their order."""
    corrected, largest = [0.0] * len(values), 0.0
    for number, i in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - number) * values[i]))
        corrected[i] = largest
    return corrected


def few_labels_corrected(sets):
    """The differences of `few_labels`: p of each, and corrected for all cells of its column and measure."""
    others = {"the best peer": lambda of, budget: of.best_on_any_sample(PEERS, budget),
              "the best boosted trees": lambda of, budget: of.best_on_any_sample(TREES, budget),
              "itself on random documents": lambda of, budget: ("random", budget, "recommended", "defaults")}
    head, columns = ["labels", "set"], [[labels for _, labels, *_ in with_few(sets)], [name for _, _, name, *_ in with_few(sets)]]
    for (what, other), (measure, called) in itertools.product(others.items(), enumerate(MEASURES)):
        found = []
        for budget, _, _, of, ours in with_few(sets):
            differences = of.by_query(ours, other(of, budget), measure)
            mean, error = mean_with_error(differences)
            found.append((mean, p_value(mean / error, len(differences) - 1)))
        head.append(f"{what}, {called}")
        columns.append([f"{'-' if mean < 0 else '+'} {p:.2g}, {all_cells:.2g}"
                        for (mean, p), all_cells in zip(found, holm([p for _, p in found]))])
    return common.table(head, list(zip(*columns)))


def few_labels_by_ndcg(sets):
    """Another peer may be the best by NDCG@10 than by MAP."""
    rows = []
    for budget, labels, name, of, ours in with_few(sets):
        peer = of.best_on_any_sample(PEERS, budget, 1)
        rows.append([labels, name, bare(float(of.values[ours][:, 1].mean())),
                     f"{name_of(peer)} {bare(float(of.values[peer][:, 1].mean()))}", signed(*of.less(ours, peer, 1))])
    return common.table(["labels", "set", "recommended, chosen", "the best peer on any sample", "less it"], rows)


def own_kinds_of_few(sets):
    return common.table(["labels", "set", *OURS], [
        [labels, name, *(of.difference(("chosen", budget, system, "defaults"), ours) for system in OURS)]
        for budget, labels, name, of, ours in with_few(sets)])


def of_queries(letor, of):
    """Of each query of the test sets, in the order of the values: its relevant documents, its share of NULL."""
    relevant, missing = [], []
    for number, qids in enumerate(of.qids, 1):
        found = {qid: [0, 0, 0] for qid in qids}
        with open(letor / f"Fold{number}" / "test.txt", encoding="utf-8") as lines:
            for line in lines:
                label, qid, *values = line.partition("#")[0].split()
                counts = found[qid.removeprefix("qid:")]
                counts[0] += int(label) > 0
                counts[1] += sum(value.endswith(":NULL") for value in values)
                counts[2] += len(values)
        relevant += [found[qid][0] for qid in qids]
        missing += [found[qid][1] / found[qid][2] for qid in qids]
    return numpy.array(relevant), numpy.array(missing)


def kinds_of_queries(sets, letor):
    rows = []
    for name, of in sets.items():
        relevant, missing = of_queries(letor / name, of)
        ours = of.values["all", 1, "recommended", "defaults"]
        kinds = [(f"{low} to {high} relevant" if high < 1000 else f"{low} or more relevant",
                  (relevant >= low) & (relevant <= high)) for low, high in ((1, 3), (4, 10), (11, 1000))]
        if missing.max() > 0:
            cut = float(numpy.median(missing))
            kinds += [(f"{cut:.0%} of the values missing or fewer", (missing <= cut) & (relevant > 0)),
                      (f"more than {cut:.0%} missing", (missing > cut) & (relevant > 0))]
        for kind, at in kinds:
            if at.sum() < 2:
                continue
            cells = []
            for system in ("lightgbm", "linear"):
                cells.append(signed(*mean_with_interval((ours - of.values["all", 1, system, "validated"])[at, 0])))
            rows.append([name, kind, str(int(at.sum())), bare(float(ours[at, 0].mean())), *cells])
    return common.table(["set", "queries with", "queries", "MAP of recommended", "less lightgbm", "less linear, tuned"], rows)


def main():
    arguments = common.arguments(__doc__, "folder", sets=["OHSUMED", "MQ2008"], letor=pathlib.Path)
    sets = {name: Curves(arguments.folder / name) for name in arguments.sets}
    sets = dict(sorted(sets.items(), key=lambda item: min(
        item[1].less(("all", 1, "recommended", "defaults"), item[1].best_with_all_labels(peer), 0)[0] for peer in PEERS)))
    print(f"Test parts, {' / '.join(MEASURES)}; differences ± half an interval of .95 over the queries.\n")
    print("## All labels\n\n" + all_labels(sets))
    print("## All labels, our other kinds\n\n" + own_kinds(sets))
    print("## Few labels\n\n" + few_labels(sets))
    print(f"## Few labels, the same: its sign, its p, and its p after Holm for {len(FEW) * len(sets)} cells\n\n"
          + few_labels_corrected(sets))
    print("## Few labels, the best peer by NDCG@10\n\n" + few_labels_by_ndcg(sets))
    print("## Few labels, our other kinds as they are, chosen, less recommended\n\n" + own_kinds_of_few(sets), end="")
    if arguments.letor:
        print("\n## All labels, by kind of query\n\n" + kinds_of_queries(sets, arguments.letor), end="")


if __name__ == "__main__":
    main()
