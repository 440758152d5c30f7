#!/usr/bin/env python3
"""Functions that member_evidence.py and sampler_variants.py share: samples of a fold's training set, rankings of its
validation set, results that a later run continues, and intervals of differences.

A seed shuffles the documents of each query, because the order of some files follows the labels. The value of a query is its mean
over the seeds. No test set is read."""

import collections
import contextlib
import csv
import gzip
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import statistics
import sys
import time
import zlib

import common
import needs

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
numpy, = needs.packages("numpy")

MEASURES = ("MAP", "NDCG@10")
KEYS = ("set", "fold", "budget", "way", "seed", "candidate")


def letor_sets(letor):
    """The names of the folders that have folds with training and validation sets."""
    return sorted(folder.name for folder in letor.iterdir()
                  if all((folder / "Fold1" / part).exists() for part in ("train.txt", "vali.txt")))


def qids_of(path):
    """The qids of a part in its order, and the documents of each."""
    with open(path, "rb") as lines:
        groups = [(qid.decode(), len(list(of))) for qid, of in itertools.groupby(line.split(b" ", 2)[1] for line in lines)]
    return [qid for qid, _ in groups], [count for _, count in groups]


class Fold:
    """A fold's training and validation set, shuffled by a seed, and the program that learns from samples of the first."""

    def __init__(self, program, letor, name, number, seed, scratch):
        self.name, self.number, self.seed, self.scratch = name, number, seed, pathlib.Path(scratch)
        self.run = common.program(program, "--quiet", "--seed", seed, "--threads", 1, by=common.output)
        self.train, self.vali = self.scratch / "train.txt", self.scratch / "vali.txt"
        for path in (self.train, self.vali):
            common.shuffled(letor / name / f"Fold{number}" / path.name, path, seed)
        self.lines = self.train.read_bytes().splitlines(True)
        self.labels = numpy.array([int(line.split(b" ", 1)[0]) for line in self.lines])
        _, sizes = qids_of(self.train)
        self.query = numpy.repeat(numpy.arange(len(sizes)), sizes)  # of each training document
        self.queries = numpy.split(numpy.arange(len(self.lines)), numpy.cumsum(sizes)[:-1])
        self.lists = numpy.cumsum(qids_of(self.vali)[1])[:-1]  # where a query of the validation set begins
        self.chosen, self.binned = [], {}

    def cuts(self, method):
        """Cuts of all training documents, which read no label: `tube`, or `tube5` for 5 bins."""
        path = self.scratch / method / "discretizer.json"
        if not path.exists():
            name = method.rstrip("0123456789")
            self.run("discretize", "--train", self.train, "--apply", self.vali, "--method", name, "--bins",
                     method[len(name):] or 10, "--out-dir", path.parent)
        return path

    def bins(self, method):
        """Bins of the training and of the validation set, a row a document; a missing value is the bin after
        the last."""
        if method in self.binned:
            return self.binned[method]
        folder = self.cuts(method).parent
        parts = []
        for part in ("train.txt", "vali.txt"):
            with open(folder / part, "rb") as lines:
                parts.append(numpy.array([[float(item.partition(b":")[2]) for item in line.split(b"#")[0].split()[2:]]
                                          for line in lines]))
        most = int(max(numpy.nanmax(part) for part in parts))
        self.binned[method] = [numpy.where(numpy.isnan(part), most + 1, part).astype(int) for part in parts]
        return self.binned[method]

    def sampler_order(self, count):
        """The first documents that `reduce` chooses, with rules of size 2 before larger ones."""
        if len(self.chosen) < count:
            ids = self.scratch / "ids.tsv"
            self.run("reduce", "--train", self.train, "--rule-size", 2, "--max-documents", count, "--ties", "seeded",
                     "--out", self.scratch / "chosen.txt", "--ids", ids, "--device", "cpu")
            with open(ids, newline="", encoding="utf-8") as rows:
                self.chosen = list(dict.fromkeys(int(row["line"]) for row in csv.DictReader(rows, delimiter="\t")))
        return self.chosen[:count]

    def random_order(self):
        return numpy.random.default_rng([1, self.number, self.seed]).permutation(len(self.lines)).tolist()

    def query_order(self):
        """Random queries with all their documents in a random order."""
        engine = numpy.random.default_rng([2, self.number, self.seed])
        return [int(d) for q in engine.permutation(len(self.queries)) for d in engine.permutation(self.queries[q])]

    def written(self, sample):
        path = self.scratch / "sample.txt"
        path.write_bytes(b"".join(self.lines[d] for d in sample))
        return path

    def ranked(self, sample_file, name, cuts, words):
        """The scores of the validation set, which stay in the file `name` too."""
        out = self.scratch / name
        by = ["--discretizer", self.cuts(cuts)] if cuts else []
        self.run("rank", "--train", sample_file, "--test", self.vali, "--out", out, *by, *words, "--device", "cpu")
        return numpy.loadtxt(out, ndmin=1)

    def ranked_within(self, sample_file, name, words):
        """The scores of a model that `fit` makes with the whole training set as the pool of the sample."""
        model, out = self.scratch / "model", self.scratch / name
        self.run("fit", "--train", sample_file, "--pool", self.train, "--model", model, *words)
        self.run("rank", "--model", model, "--test", self.vali, "--out", out, "--device", "cpu")
        return numpy.loadtxt(out, ndmin=1)

    def kept(self, name, scores):
        (self.scratch / name).write_text("".join(f"{s!r}\n" for s in scores.tolist()), "ascii")

    def judged(self, names):
        """measures[name][measure]: a value a query. Equal scores count as the mean over their orders."""
        told = json.loads(self.run("evaluate", "--test", self.vali, "--metrics", ",".join(MEASURES), "--ties",
                                   "average", "--per-query", "--json", "--scores",
                                   *(f"{name}={self.scratch / name}" for name in names)))
        return {system["name"]: system["folds"][0]["values"] for system in told["systems"]}


def standardized(scores, lists):
    """Less the mean over the query's list, over the deviation there; 0 where all scores are equal."""
    found = []
    for part in numpy.split(scores, lists):
        deviation = part.std()
        flat = part.max() == part.min() or not deviation > 0
        found.append(numpy.zeros(len(part)) if flat else (part - part.mean()) / deviation)
    return numpy.concatenate(found)


def opened(path, mode):
    return gzip.open(path, mode, encoding="ascii") if path.suffix == ".gz" else open(path, mode, encoding="ascii")


class Results:
    """The rows of NAME.tsv, and of by_query.tsv.gz in its folder: these rows with a value for each query, in ten-thousandths."""

    def __init__(self, folder, name):
        folder.mkdir(parents=True, exist_ok=True)
        self.paths = [folder / f"{name}.tsv", folder / "by_query.tsv.gz"]
        self.columns = [(*KEYS, "labels", *MEASURES), (*KEYS, *MEASURES)]
        found = [self.read(*of) for of in zip(self.paths, self.columns)]
        self.done = set(found[0]) & set(found[1])
        for path, columns, rows in zip(self.paths, self.columns, found):
            new = path.with_name(f"new-{path.name}")
            with opened(new, "wt") as file:
                file.writelines("\t".join(row) + "\n" for row in [columns, *(row for key, row in rows.items() if key in self.done)])
            new.replace(path)

    @staticmethod
    def read(path, columns):
        """The whole rows by key: a run that was killed may have left a part of one."""
        rows = {}
        if not path.exists():
            return rows
        with opened(path, "rt") as lines:
            if next(lines, "").split() != " ".join(columns).split():
                raise SystemExit(f"{path}:1: found other columns, expected {' '.join(columns)}")
            with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile):
                for line in lines:
                    row = line.rstrip("\n").split("\t")
                    if line.endswith("\n") and len(row) == len(columns):
                        rows[tuple(row[:len(KEYS)])] = row
        return rows

    def add(self, rows):
        """rows: (key, labels, values by measure)."""
        new = [(key, labels, values) for key, labels, values in rows if key not in self.done]
        with opened(self.paths[1], "at") as file:
            for key, _, values in new:
                cells = (" ".join(str(round(v * 10_000)) for v in values[m]) for m in MEASURES)
                file.write("\t".join([*key, *cells]) + "\n")
        with opened(self.paths[0], "at") as file:
            for key, labels, values in new:
                means = (f"{statistics.fmean(values[m]):.6f}" for m in MEASURES)
                file.write("\t".join([*key, str(labels), *means]) + "\n")
        self.done.update(key for key, *_ in new)

    def measured(self):
        """key -> (labels, {measure: values by query})."""
        labels = {key: int(row[len(KEYS)]) for key, row in self.read(self.paths[0], self.columns[0]).items()}
        return {key: (labels[key], {m: numpy.array(cell.split(), float) / 10_000 for m, cell in zip(MEASURES, row[len(KEYS):])})
                for key, row in self.read(self.paths[1], self.columns[1]).items()}


def samples(fold, budgets, orders):
    """(budget, way, documents) of each sample."""
    for budget in budgets:
        count = max(1, round(len(fold.lines) * float(budget.rstrip("%")) / 100))
        found = {"all": range(count)} if count == len(fold.lines) else orders(fold, count)
        yield from ((budget, way, sorted(order[:count])) for way, order in found.items())


def one_task(task):
    """The rows of a fold and a seed, and the processor seconds that they took."""
    (arguments, name, number, seed), learn, orders, names, done = task
    before = os.times()
    rows = []
    with common.scratch() as scratch:
        fold = Fold(arguments.program, arguments.letor, name, number, seed, scratch)
        for budget, way, sample in samples(fold, arguments.budgets, orders):
            keys = {candidate: (name, str(number), budget, way, str(seed), candidate) for candidate in names}
            if all(key in done for key in keys.values()):
                continue
            values = learn(fold, list(sample))
            rows += [(key, len(sample), values[candidate]) for candidate, key in keys.items()]
    after = os.times()
    return (name, number, seed), rows, sum(after[:4]) - sum(before[:4])


def collect(arguments, results, learn, orders, names):
    """Adds what is missing to the results, `arguments.jobs` tasks side by side; the processor seconds. `names(set)`: the candidates."""
    tasks = [((arguments, name, number, seed), learn, orders, names(name), frozenset(
        key for key in results.done if key[:2] == (name, str(number))))
        for seed in range(1, arguments.seeds + 1) for name in arguments.sets for number in arguments.folds]
    begin, used = time.monotonic(), 0.0
    with multiprocessing.Pool(arguments.jobs) as pool:
        for number, (what, rows, seconds) in enumerate(pool.imap_unordered(one_task, tasks), 1):
            results.add(rows)
            used += seconds
            print(f"{number} of {len(tasks)} tasks ({what[0]}, fold {what[1]}, seed {what[2]}): {len(rows)} rows, {seconds:.0f} s; "
                  f"{time.monotonic() - begin:.0f} s, {used / 60:.1f} core-minutes in all", file=sys.stderr, flush=True)
    return used


def student(freedom):
    """The .975 quantile of Student's t by Cornish and Fisher's expansion, right to .001 from 10 degrees on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return (z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
            + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3))


def mean_with_interval(differences):
    """The mean and half its 95 % interval (paired t)."""
    return float(differences.mean()), student(len(differences) - 1) * float(differences.std(ddof=1)) / len(differences) ** 0.5


class Comparison:
    """Means and paired differences over the queries of some sets, whose means weigh alike. Sets with the same
    qids have the same queries, which count once as chance: their differences are added before the deviation."""

    def __init__(self, qids):
        self.qids = qids  # set -> qids in the order of the values
        self.groups = collections.defaultdict(list)
        for name, of in qids.items():
            self.groups[frozenset(of)].append(name)

    def mean(self, values):
        """values: set -> values by query."""
        return statistics.fmean(float(numpy.mean(values[name])) for name in self.qids)

    def difference(self, one, other):
        """The difference and half its interval of confidence .95."""
        total, variance, freedom = 0.0, 0.0, 0
        for names in self.groups.values():
            by_query = collections.defaultdict(float)
            for name in names:
                for qid, d in zip(self.qids[name], one[name] - other[name]):
                    by_query[qid] += float(d) / (len(self.qids[name]) * len(self.qids))
            parts = list(by_query.values())
            total += sum(parts)
            variance += len(parts) * statistics.variance(parts)
            freedom += len(parts) - 1
        return total, student(freedom) * math.sqrt(variance)


def grouped(arguments, measured, ways, names):
    """values[budget, way, candidate][measure][set]: a value a query of all folds, the mean over the seeds; and the mean labels of
    [budget, way]. `names(set)`: the candidates."""
    values = collections.defaultdict(lambda: {m: {} for m in MEASURES})
    labels = collections.defaultdict(list)
    for budget in arguments.budgets:
        for way in ["all"] if budget == "100%" else ways:
            for candidate, name in ((candidate, name) for name in arguments.sets for candidate in names(name)):
                parts = []
                for number in map(str, arguments.folds):
                    keys = [(name, number, budget, way, str(seed), candidate) for seed in range(1, arguments.seeds + 1)]
                    missing = next((key for key in keys if key not in measured), None)
                    if missing:
                        common.fail(f"found no row of {', '.join(missing)}; run the same command without --tables-only, or with fewer --seeds")
                    labels[budget, way] += [measured[key][0] for key in keys]
                    parts.append({m: sum(measured[key][1][m] for key in keys) / len(keys) for m in MEASURES})
                for m in MEASURES:
                    values[budget, way, candidate][m][name] = numpy.concatenate([part[m] for part in parts])
    return dict(values), {key: statistics.fmean(of) for key, of in labels.items()}


def comparison(arguments):
    return Comparison({name: [qid for number in arguments.folds
                              for qid in qids_of(arguments.letor / name / f"Fold{number}" / "vali.txt")[0]]
                       for name in arguments.sets})


def parsed(description, **options):
    """The command line of a study of validation sets: the options of all studies, and its own."""
    a = common.arguments(description, "program", "letor", "out",
                         sets={"type": lambda text: text.split(","), "help": "default: all of LETOR_FOLDER"}, folds=[1, 2, 3, 4, 5],
                         seeds=3, jobs={"type": int, "default": 1, "help": "processes side by side; the results are the same"},
                         tables_only={"action": "store_true", "help": "make the tables again of what is there"}, **options)
    a.sets = a.sets or letor_sets(a.letor)
    return a


def write_manifest(arguments, used, libraries):
    """Writes the manifest of the run that ended, with the core minutes of earlier runs in this folder added."""
    path = arguments.out / "manifest.json"
    before = json.loads(path.read_text())["core_minutes"] if path.exists() else 0
    common.manifest(path, build=common.build(arguments.program), sets=arguments.sets, folds=arguments.folds,
                    budgets=arguments.budgets, seeds=arguments.seeds, core_minutes=round(before + used / 60, 1),
                    libraries=libraries, sha256=common.sums_of(arguments.letor, arguments.sets, arguments.folds, ("train", "vali")))


def preface(arguments):
    """How the figures of a report were made."""
    return (f"Validation sets of {', '.join(arguments.sets)}; folds {', '.join(map(str, arguments.folds))}; the mean of "
            f"seeds 1 to {arguments.seeds}, which shuffle the documents of each query. No test set is read. Means over queries, then over sets. "
            "± is half a 95 % interval of the paired difference over queries; sets with the same queries count these once.")


def bare(value, digits=4):
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def signed(value, half=None):
    text = f"{value:+.4f}".replace("0.", ".", 1)
    return text if half is None else f"{text} ± {bare(half)}"
