"""machine_labels.py PROGRAM OUT [--samples N]: coverage and width of the intervals of `evaluate --machine-qrels`, by simulation.

Queries have ten ranked documents with labels 0 and 1; a query's share of relevant documents is uniform. Judges give each label as
stated: `noise` by chance, `uniform` (errs in 25 % of the labels: kappa about .5), `inflated` (calls 45 % of the documents that are
not relevant relevant, and errs in 5 % of the others), `topics` (errs in 0 to 50 % of a query's labels), `sharp` (errs in 10 %).
Each sample has M queries, of which people judge n at random. OUT gets coverage.jsonl: the share of samples whose interval
holds the mean of all queries that the simulation draws from, with both kinds of judgments and with people's alone; the mean and largest
width of the first divided by the second; and manifest.json. The intervals are computed by numpy; on one sample per judge
they are compared with the program's."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import numpy  # noqa: E402
import scipy.stats  # noqa: E402

POPULATION, DEPTH = 100_000, 10
JUDGES = {"noise": lambda chance, query: (.5, .5),
          "uniform": lambda chance, query: (.25, .25),
          "inflated": lambda chance, query: (.45, .05),
          "topics": lambda chance, query: (chance.random((query, 1)) / 2,) * 2,
          "sharp": lambda chance, query: (.1, .1)}


def judged(chance, labels, judge):
    false, missed = JUDGES[judge](chance, len(labels))
    errs = chance.random(labels.shape) < numpy.where(labels == 1, missed, false)
    return numpy.where(errs, 1 - labels, labels)


def precision(labels):
    return labels.mean(1)


def average_precision(labels):
    at = labels.cumsum(1) / numpy.arange(1, DEPTH + 1)
    return (at * labels).sum(1) / numpy.maximum(labels.sum(1), 1)


MEASURES = {"P@10": precision, "MAP": average_precision}


def intervals(human, sampled, machine):
    """Mean and half width with both kinds of judgments, and with people's alone (docs/concepts/machine-labels.md)."""
    n, everyone = len(human), len(machine)
    h, m = human.mean(), sampled.mean()
    people = human.var(ddof=1) / n
    alone = h, scipy.stats.t.ppf(.975, n - 1) * people ** .5
    square = ((sampled - m) ** 2).sum()
    if square < 1e-20 or people < 1e-20:
        return alone, alone
    slope = ((human - h) * (sampled - m)).sum() / square
    residual = human - h - slope * (sampled - m)
    weight = 1 / n + (machine.mean() - m) * (sampled - m) / square
    change = weight * residual / (1 - 1 / n - (sampled - m) ** 2 / square)
    variance = (1 - n / everyone) * (n - 1) / n * (change ** 2).sum() + n / everyone * people
    both = h + slope * (machine.mean() - m), scipy.stats.t.ppf(.975, n - 2) * variance ** .5
    return (both if both[1] <= 1.03 * alone[1] else alone), alone


def compare_with_program(program, folder, labels, machine, n):
    """Raises unless the program gives these intervals."""
    for name, rows, queries in (("people", labels, n), ("machine", machine, len(machine))):
        common.write(folder / name, "".join(f"q{q} 0 d{d} {rows[q, d]}\n" for q in range(queries) for d in range(DEPTH)))
    common.write(folder / "run", "".join(f"q{q} Q0 d{d} {d + 1} {DEPTH - d} t\n" for q in range(len(machine)) for d in range(DEPTH)))
    told = common.output(program, "evaluate", "--qrels", folder / "people", "--machine-qrels", folder / "machine", "--run",
                         folder / "run", "--human-sample", "random", "--metrics", ",".join(MEASURES), "--json")
    for row in json.loads(told):
        of = MEASURES[row["measure"]]
        (mean, half), _ = intervals(of(labels[:n]), of(machine[:n]), of(machine))
        numpy.testing.assert_allclose([row["mean"], row["high"] - row["mean"]], [mean, half], rtol=1e-9)


def simulate(chance, human, machine, n, everyone, samples):
    true = human.mean()
    held, held_alone, widths = 0, 0, []
    for _ in range(samples):
        drawn = chance.integers(POPULATION, size=everyone)
        both, alone = intervals(human[drawn[:n]], machine[drawn[:n]], machine[drawn])
        held += abs(both[0] - true) <= both[1]
        held_alone += abs(alone[0] - true) <= alone[1]
        widths.append(both[1] / alone[1] if alone[1] else 1)
    return {"coverage": held / samples, "coverage_alone": held_alone / samples, "width": float(numpy.mean(widths)),
            "largest_width": float(numpy.max(widths))}


def main():
    a = common.arguments(__doc__, "program", "out", samples=4000)
    chance = numpy.random.default_rng(1)
    labels = (chance.random((POPULATION, DEPTH)) < chance.random((POPULATION, 1))).astype(int)
    rows = []
    for judge in JUDGES:
        machine = judged(chance, labels, judge)
        agree = (labels == machine).mean()
        by_chance = labels.mean() * machine.mean() + (1 - labels.mean()) * (1 - machine.mean())
        with common.scratch() as folder:
            compare_with_program(a.program, folder, labels[:60], machine[:60], 25)
        for measure, of in MEASURES.items():
            human, ours = of(labels), of(machine)
            about = {"judge": judge, "kappa": round((agree - by_chance) / (1 - by_chance), 3), "measure": measure,
                     "correlation": round(float(numpy.corrcoef(human, ours)[0, 1]), 3)}
            for n in (10, 20, 40, 80):
                rows.append({**about, "n": n, "queries": 800, **{key: round(value, 4) for key, value in
                             simulate(chance, human, ours, n, 800, a.samples).items()}})
                print(json.dumps(rows[-1]), file=sys.stderr)
    common.write_rows(a.out / "coverage.jsonl", rows)
    common.manifest(a.out / "manifest.json", **common.build(a.program))


if __name__ == "__main__":
    main()
