#!/usr/bin/env python3
"""Compares the neural RankGAM with the recommended members on the folds of the learning curves, with all labels.

    neural_gam.py PROGRAM LETOR_FOLDER OUT_FOLDER [--sets A,B] [--jobs 1]

Source: Zhuang et al., Interpretable ranking with generalized additive models, WSDM 2021. The score is a sum of networks of one
feature each, with two hidden layers of rectified linear units. The paper's weights by context are left out, because all of LETOR's
features belong to documents. The networks are written with NumPy and gradients by hand, without the batch normalization that
TensorFlow Ranking's layer may have. A missing value adds a number that is learned. The optimizer is Adam with decoupled decay, with
an eighth of the training queries in each step. Queries whose labels are all equal are left out.

Each fold has 20 settings, the same on all sets: the first of TRIED's values and 19 random ones. Training ends when MAP on the
validation set has not risen for PATIENCE rounds over all queries, and the best round is kept. The setting with the best MAP on the
validation set, as the program computes it, ranks the test set, which is read after all settings are trained.

Writes OUT_FOLDER/SET.jsonl (a row for each fold with all trials), OUT_FOLDER/SET/FoldN.score (scores) and OUT_FOLDER/SET.md (the
output of `evaluate --ties average` for these scores and for those of `fit` with its defaults, and differences with 95 % intervals
over the queries). To run the missing folds after an interruption, repeat the command. One thread for each of `--jobs` folds at a time; needs
numpy. shuffled_folds.py makes a LETOR_FOLDER whose order tells nothing.
"""

import itertools
import json
import multiprocessing
import time

import common
from validation_parts import MEASURES, bare, mean_with_interval, signed  # one thread: before numpy

import numpy

TRIED = {"loss": ("ndcg", "softmax"), "inputs": ("all", "query"), "layers": ((16, 8), (8, 4)), "rate": (0.01, 0.001, 0.003, 0.03),
         "dropout": (0.25, 0.0, 0.5), "decay": (0.1, 0.0, 1.0, 10.0)}
TRIALS = 20
ROUNDS, PATIENCE = 100, 15
STEPS = 8  # of a round
TEMPERATURE = 0.1  # of the sigmoid that smooths ranks in NDCG


def settings():
    """The first values, then the others in random order."""
    first, *others = itertools.product(*TRIED.values())
    order = numpy.random.default_rng(17).permutation(len(others))[:TRIALS - 1]
    return [dict(zip(TRIED, of)) for of in (first, *(others[n] for n in order))]


class Part:
    """Labels and values of a file; unlisted features are 0, NULL is NaN."""

    def __init__(self, path, features=None):
        documents = list(common.letor(path))
        labels, rows = ([document[at] for document in documents] for at in (0, 2))
        self.sizes = [len(list(of)) for _, of in itertools.groupby(documents, key=lambda document: document[1])]
        self.features = features or sorted({f for row in rows for f in row})
        self.labels = numpy.array(labels, float)
        self.values = numpy.array([[row.get(f, 0.0) for row in rows] for f in self.features])
        self.missing = numpy.isnan(self.values)
        ends = numpy.cumsum(self.sizes)
        self.queries = [slice(end - size, end) for end, size in zip(ends, self.sizes)]

    def within_queries(self):
        """z-scores within the query, as for the member `linear`: 0 if all values are equal, and for missing values."""
        out = numpy.zeros_like(self.values)
        for q in self.queries:
            values, present = self.values[:, q], ~self.missing[:, q]
            count = numpy.maximum(present.sum(1, keepdims=True), 1)
            less = numpy.where(present, values, 0)
            less = numpy.where(present, values - less.sum(1, keepdims=True) / count, 0)
            deviation = numpy.sqrt((less ** 2).sum(1, keepdims=True) / count)
            out[:, q] = numpy.divide(less, deviation, out=numpy.zeros_like(less), where=deviation > 1e-12)
        return out.clip(-5, 5).astype(numpy.float32)

    def logarithms(self):
        return numpy.sign(self.values) * numpy.log1p(numpy.abs(self.values))

    def within(self, train):
        """z-scores of logarithms over all training documents."""
        of, own = train.logarithms(), self.logarithms()
        count = numpy.maximum((~train.missing).sum(1, keepdims=True), 1)
        mean = numpy.nansum(of, 1, keepdims=True) / count
        deviation = numpy.sqrt(numpy.nansum((of - mean) ** 2, 1, keepdims=True) / count)
        less = numpy.where(self.missing, 0, own - mean)
        return numpy.divide(less, deviation, out=numpy.zeros_like(less), where=deviation > 1e-12).clip(-5, 5).astype(numpy.float32)


def softmax_loss(scores, labels):
    """The cross entropy between the labels' shares and the softmax of a query's scores, and its gradient."""
    powers = numpy.exp(scores - scores.max())
    chances, share = powers / powers.sum(), labels / labels.sum()
    return float(-(share * numpy.log(chances + 1e-30)).sum()), chances - share


def ndcg_loss(scores, labels):
    """Minus the NDCG of a query with smooth ranks (Qin, Liu and Li, Information Retrieval 13, 2010), and its gradient."""
    gains = 2 ** labels - 1
    ideal = (numpy.sort(gains)[::-1] / numpy.log2(numpy.arange(len(gains)) + 2)).sum()
    apart = (scores[None, :] - scores[:, None]) / TEMPERATURE
    above = 0.5 * (1 + numpy.tanh(0.5 * apart))  # [i, j]: how far j ranks above i
    ranks = above.sum(1) + 0.5  # the document itself counts 1/2
    by_rank = gains / ideal * numpy.log(2) / ((1 + ranks) * numpy.log(1 + ranks) ** 2)
    slopes = above * (1 - above) * (by_rank / TEMPERATURE)[:, None]
    return float(-(gains / ideal / numpy.log2(1 + ranks)).sum()), slopes.sum(0) - slopes.sum(1)


LOSSES = {"softmax": softmax_loss, "ndcg": ndcg_loss}


class Networks:
    """One network per feature, all of one shape; arrays have a row per feature."""

    def __init__(self, features, layers, engine):
        first, second = layers

        def drawn(*shape, deviation=1.0):
            return (deviation * engine.standard_normal((features, *shape))).astype(numpy.float32)

        self.weights = {"w1": drawn(first, 1), "b1": drawn(first, 1), "w2": drawn(second, first, deviation=(2 / first) ** 0.5),
                        "b2": drawn(second, 1, deviation=0), "w3": drawn(1, second, deviation=(1 / second / features) ** 0.5),
                        "missing": drawn(1, deviation=0)}

    def scores(self, values, missing, dropout=0.0, engine=None):
        """Scores, and the state that `gradients` needs."""
        w = self.weights

        def kept(units):
            """A dropout mask, scaled to keep the expected sum."""
            if dropout:
                drawn = numpy.frombuffer(engine.bytes(units.size), numpy.uint8).reshape(units.shape)
                units *= (drawn >= round(256 * dropout)) * numpy.float32(1 / (1 - dropout))
            return units

        first = kept(numpy.maximum(w["w1"] * values[:, None, :] + w["b1"], 0))
        second = kept(numpy.maximum(w["w2"] @ first + w["b2"], 0))
        parts = numpy.where(missing, w["missing"], (w["w3"] @ second)[:, 0, :])
        return parts.sum(0), (values, missing, first, second, dropout)

    def gradients(self, by_score, passed):
        """The gradients of the weights, from that of the scores. Dropped units are 0, like inactive ones."""
        values, missing, first, second, dropout = passed
        scale = numpy.float32(1 / (1 - dropout))
        w, by_part = self.weights, numpy.where(missing, 0, by_score)[:, None, :].astype(numpy.float32)
        by_second = (w["w3"].transpose(0, 2, 1) * by_part) * ((second > 0) * scale)
        by_first = (w["w2"].transpose(0, 2, 1) @ by_second) * ((first > 0) * scale)
        return {"w1": by_first @ values[:, :, None], "b1": by_first.sum(2, keepdims=True),
                "w2": by_second @ first.transpose(0, 2, 1), "b2": by_second.sum(2, keepdims=True),
                "w3": by_part @ second.transpose(0, 2, 1), "missing": (missing * by_score).sum(1, keepdims=True)}


class Adam:
    """Adam with decoupled weight decay (Kingma and Ba, ICLR 2015; Loshchilov and Hutter, ICLR 2019)."""

    def __init__(self, weights, rate, decay):
        self.weights, self.rate, self.decay, self.steps = weights, rate, decay, 0
        self.moments = {name: (numpy.zeros_like(w), numpy.zeros_like(w)) for name, w in weights.items()}

    def step(self, gradients):
        self.steps += 1
        rate = self.rate * (1 - 0.999 ** self.steps) ** 0.5 / (1 - 0.9 ** self.steps)
        for name, weight in self.weights.items():
            gradient, (mean, square) = gradients[name].astype(numpy.float32), self.moments[name]
            mean += numpy.float32(0.1) * (gradient - mean)
            square += numpy.float32(0.001) * (gradient * gradient - square)
            weight -= numpy.float32(rate) * mean / (numpy.sqrt(square) + numpy.float32(1e-8))
            if name.startswith("w"):
                weight *= numpy.float32(1 - self.rate * self.decay)


def mean_precision(scores, part):
    """MAP, with ties in file order: for early stopping, not for reports."""
    found = []
    for q in part.queries:
        relevant = (part.labels[q] > 0)[numpy.argsort(-scores[q], kind="stable")]
        at = numpy.flatnonzero(relevant) + 1
        found.append(float((numpy.arange(1, len(at) + 1) / at).mean()) if len(at) else 0.0)
    return float(numpy.mean(found))


def one_round(networks, optimizer, setting, inputs, train, engine):
    """One pass over the training queries with different labels."""
    loss = LOSSES[setting["loss"]]
    told = [q for q in train.queries if train.labels[q].min() < train.labels[q].max()]
    for queries in numpy.array_split(engine.permutation(len(told)), STEPS):
        if not len(queries):
            continue
        at = numpy.concatenate([numpy.arange(told[n].start, told[n].stop) for n in queries])
        scores, passed = networks.scores(inputs[:, at], train.missing[:, at], setting["dropout"], engine)
        by_score, begin = numpy.empty(len(at), numpy.float32), 0
        for n in queries:
            end = begin + told[n].stop - told[n].start
            by_score[begin:end] = loss(scores[begin:end], train.labels[told[n]])[1] / len(queries)
            begin = end
        optimizer.step(networks.gradients(by_score, passed))


def trained(setting, seed, train, vali, inputs):
    """The networks of the round with the best MAP on the validation set, and that round."""
    engine = numpy.random.default_rng(seed)
    networks = Networks(len(train.features), setting["layers"], engine)
    optimizer = Adam(networks.weights, setting["rate"], setting["decay"])
    best = -1.0, 0, None
    for number in range(1, ROUNDS + 1):
        one_round(networks, optimizer, setting, inputs["train"], train, engine)
        value = mean_precision(networks.scores(inputs["vali"], vali.missing)[0], vali)
        if value > best[0]:
            best = value, number, {name: w.copy() for name, w in networks.weights.items()}
        if number - best[1] >= PATIENCE:
            break
    networks.weights.update(best[2])
    return networks, best[1]


def one_fold(program, folder, out):
    """A fold's row; writes the test set's scores by the best networks and by the recommended members."""
    begin = time.process_time()
    train = Part(folder / "train.txt")
    vali = Part(folder / "vali.txt", train.features)
    inputs = {"all": {"train": train.within(train), "vali": vali.within(train)},
              "query": {"train": train.within_queries(), "vali": vali.within_queries()}}
    trials, best = [], None
    for number, setting in enumerate(settings()):
        started = time.process_time()
        networks, rounds = trained(setting, [int(folder.name[-1]), number], train, vali, inputs[setting["inputs"]])
        scores = out / f"{folder.name}.vali"
        numpy.savetxt(scores, networks.scores(inputs[setting["inputs"]]["vali"], vali.missing)[0], "%.9g")
        value = common.averages(program, folder / "vali.txt", scores, "MAP", "--ties", "average")["MAP"]
        scores.unlink()
        trials.append({**setting, "rounds": rounds, "validation_MAP": value,
                       "cpu_seconds": round(time.process_time() - started, 1)})
        if best is None or value > best[0]:
            best = value, number, networks
    test, setting = Part(folder / "test.txt", train.features), settings()[best[1]]
    values = test.within(train) if setting["inputs"] == "all" else test.within_queries()
    numpy.savetxt(out / f"{folder.name}.score", best[2].scores(values, test.missing)[0], "%.9g")
    return {"fold": folder.name, "chosen": best[1], "setting": setting, "validation_MAP": best[0],
            "cpu_seconds": round(time.process_time() - begin, 1), "trials": trials}


def recommended(program, folder, out):
    common.call(program, "fit", "--train", folder / "train.txt", "--model", out / "model", "--members", "recommended", "--threads", 1, "--quiet")
    common.call(program, "rank", "--model", out / "model", "--test", folder / "test.txt", "--out", out / f"{folder.name}.score",
                "--threads", 1, "--device", "cpu", "--quiet")
    (out / "model").unlink()


def written_table(program, letor, out):
    """For a set: the program's evaluation of the scores, and differences over the queries of all folds."""
    systems = {"neural_gam": out, "recommended": out / "recommended"}
    words = [program, "evaluate", "--folds", letor, "--metrics", ",".join(MEASURES), "--ties", "average", "--scores",
             *(f"{name}={folder}" for name, folder in systems.items())]
    told = {system["name"]: system for system in common.told(*words, "--per-query", "--json", "--quiet")["systems"]}
    values = {name: [numpy.concatenate([fold["values"][measure] for fold in system["folds"]]) for measure in MEASURES]
              for name, system in told.items()}
    rows = [[name, " / ".join(bare(float(of.mean())) for of in values[name]),
             " / ".join(signed(*mean_with_interval(ours - of)) if name != "recommended" else ""
                        for ours, of in zip(values["recommended"], values[name])).strip(" /")] for name in systems]
    common.write(out.with_suffix(".md"), common.output(*words, "--format", "markdown")
                 + f"\nMean over the queries of all folds, {' / '.join(MEASURES)}, and half an interval of .95:\n\n"
                 + common.table(["system", "mean", "recommended minus this system"], rows))


def write_manifest(out, program, letor):
    """For the sets with results."""
    sets = sorted(path.stem for path in out.glob("*.jsonl"))
    common.manifest(out / "manifest.json", build=common.build(program), libraries=[f"numpy {numpy.__version__}"], sets=sets,
                    sha256=common.sums_of(letor, sets, range(1, 6), ("train", "vali", "test")))


def job(task):
    program, folder, out = task
    return out, {"numpy": numpy.__version__, "started": common.now(), **one_fold(program, folder, out)}


def main():
    a = common.arguments(__doc__, "program", "letor", "out", sets=["OHSUMED", "MQ2008"], jobs=1)
    tasks = []
    for name in a.sets:
        (a.out / name / "recommended").mkdir(parents=True, exist_ok=True)
        done = common.read_rows(a.out / f"{name}.jsonl")
        tasks += [(a.program, a.letor / name / f"Fold{n}", a.out / name) for n in range(1, 6) if not done.one(fold=f"Fold{n}")]
    with multiprocessing.Pool(a.jobs) as pool:
        for out, row in pool.imap(job, tasks):
            with open(out.with_suffix(".jsonl"), "a", encoding="ascii") as file:
                file.write(json.dumps(row) + "\n")
            print(out.name, row["fold"], row["setting"], row["validation_MAP"], row["cpu_seconds"], flush=True)
    for name in a.sets:
        out = a.out / name
        for n in range(1, 6):
            recommended(a.program, a.letor / name / f"Fold{n}", out / "recommended")
        written_table(a.program, a.letor / name, out)
        write_manifest(a.out, a.program, a.letor)


if __name__ == "__main__":
    main()
