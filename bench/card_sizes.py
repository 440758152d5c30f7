#!/usr/bin/env python3
"""Compares rules that choose the number of features of a card, by the validation sets of all sets and folds.

    card_sizes.py PROGRAM LETOR OUT_FOLDER [--sets A,B] [--seeds 1,2,3] [--folds 1,2,3,4,5] [--jobs N]

A job is a set, a fold and a seed, on one thread. The seed shuffles the documents of each query, because the order of a file may follow
its labels, and deals the training queries into five parts. For each size that `fit` tries, with the smoothness that `fit` chooses for
it, a job fits cards to four parts and judges them on the fifth by NDCG over the whole list. Each rule chooses a size by these values.
Then a job fits a card of each size to the whole training set and ranks the validation set. No test set is read.

The rules:

- largest: no choice.
- share: the smallest card whose NDCG, minus two standard errors of the paired difference to the largest card, is at most 0.5 % below
  the largest card's. `fit` uses this rule.
- best: the smallest card that is behind the card with the best mean by at most one standard error of the paired difference.
- best, two errors: as `best`, with two standard errors.

Writes rows.jsonl, table.md and manifest.json. Run the same line again to continue after an interruption. The value of a query is its mean
over the seeds. A difference is the mean over the queries of all folds, with its 95 % interval (paired t)."""

import collections
import csv
import json
import multiprocessing
import os
import random
import statistics

import common
import needs
from validation_parts import letor_sets, mean_with_interval, qids_of

numpy, = needs.packages("numpy")

MEASURES = ("MAP", "NDCG@10")
PARTS = 5


def behind(best, one):
    """The mean of the paired differences, and its standard error."""
    differences = best - one
    return differences.mean(), differences.std(ddof=1) / len(differences) ** 0.5


def share_rule(sizes, values):
    largest = values[-1]
    for size, one in zip(sizes, values):
        mean, error = behind(largest, one)
        if mean + 2 * error <= 0.005 * abs(largest.mean()):
            return size


def best_rule(errors):
    def choose(sizes, values):
        best = max(values, key=lambda one: one.mean())
        for size, one in zip(sizes, values):
            mean, error = behind(best, one)
            if mean <= errors * error:
                return size
    return choose


OURS = "share"
RULES = {"largest": lambda sizes, _: sizes[-1], OURS: share_rule, "best": best_rule(1), "best, two errors": best_rule(2)}


def values_by_query(run, test, scores, measures):
    """{measure: [values by query]}"""
    table = run("evaluate", "--test", test, "--scores", scores, "--metrics", ",".join(measures), "--ties", "average", "--profile", "standard",
                "--per-query", "--format", "tsv")
    rows = csv.DictReader((line for line in table.splitlines() if not line.startswith("#")), delimiter="\t")
    rows = [row for row in rows if row["query"] != "all"]
    return {measure: [float(row[measure]) for row in rows] for measure in measures}


def queries_of(path):
    """The lines of each query."""
    lines = path.read_bytes().splitlines(True)
    at, found = 0, []
    for count in qids_of(path)[1]:
        found.append(lines[at:at + count])
        at += count
    return found


def has_pairs(query):
    return len({line.split(b" ", 1)[0] for line in query}) > 1


def judged(run, folder, train, test, how, measures):
    """The values of the test queries, ranked by a card of the training documents."""
    model, scores = folder / "model", folder / "scores"
    run("fit", "--train", train, "--model", model, "--members", "card", "--target", "labels", *how)
    run("rank", "--model", model, "--test", test, "--out", scores)
    return values_by_query(run, test, scores, measures)


def job(work):
    program, letor, name, fold, seed = work
    run = common.program(program, "--quiet", "--seed", seed, "--threads", 1, by=common.output)
    with common.scratch() as folder:
        train, vali = folder / "train.txt", folder / "vali.txt"
        for path in (train, vali):
            common.shuffled(letor / name / f"Fold{fold}" / path.name, path, seed)
        told = json.loads(run("fit", "--train", train, "--model", folder / "model", "--members", "card", "--target", "labels", "--json"))
        tried, = told["sizes"]
        ways = [["--max-features", one["features"], "--smoothness", one["smoothness"], "--loss", tried["loss"]] for one in tried["frontier"]]
        queries = queries_of(train)
        dealt = random.Random(seed).sample([n % PARTS for n in range(len(queries))], len(queries))
        values = [[] for _ in ways]
        for part in range(PARTS):
            learned, held = folder / "learned.txt", folder / "held.txt"
            learned.write_bytes(b"".join(line for q, of in zip(queries, dealt) if of != part for line in q))
            held.write_bytes(b"".join(line for q, of in zip(queries, dealt) if of == part and has_pairs(q) for line in q))
            for own, how in zip(values, ways):
                own += judged(run, folder, learned, held, how, ["NDCG"])["NDCG"]
        row = {"set": name, "fold": fold, "seed": seed, "sizes": [one["features"] for one in tried["frontier"]], "fit": tried["chosen"]}
        row["chosen"] = {rule: choose(row["sizes"], [numpy.array(own) for own in values]) for rule, choose in RULES.items()}
        row["vali"] = [judged(run, folder, train, vali, how, MEASURES) for how in ways]
        return row


def values_of(rows, rule, measure):
    """The values of the queries of all folds, means over the seeds."""
    folds = collections.defaultdict(list)
    for row in rows:
        folds[row["fold"]].append(row["vali"][row["sizes"].index(row["chosen"][rule])][measure])
    return numpy.concatenate([numpy.mean(folds[fold], axis=0) for fold in sorted(folds)])


def markdown(log):
    lines, all_differences = [], collections.defaultdict(list)
    for name in dict.fromkeys(row["set"] for row in log):
        rows = log.where(set=name)
        for rule in RULES:
            line = [name, rule, f"{statistics.fmean(row['chosen'][rule] for row in rows):.1f}", len(rows),
                    " / ".join(f"{values_of(rows, rule, measure).mean():.4f}" for measure in MEASURES)]
            for measure in MEASURES:
                mean, half = mean_with_interval(values_of(rows, rule, measure) - values_of(rows, OURS, measure))
                line.append("" if rule == OURS else f"{mean:+.4f} ± {half:.4f}")
                all_differences[rule, measure].append(mean)
            lines.append(line)
    head = ["set", "rule", "features", "jobs", " / ".join(MEASURES), *(f"difference to `{OURS}`, {measure}" for measure in MEASURES)]
    ends = [f"- {rule}: mean difference over the sets {statistics.fmean(all_differences[rule, 'MAP']):+.4f} MAP, "
            f"{statistics.fmean(all_differences[rule, 'NDCG@10']):+.4f} NDCG@10; worst set {min(all_differences[rule, 'MAP']):+.4f} MAP"
            for rule in RULES if rule != OURS]
    same = statistics.fmean(row["fit"] == row["chosen"][OURS] for row in log)
    ends.append(f"- `{OURS}` chose the size that `fit` chooses in {same:.0%} of the jobs: `fit` has other folds, with cuts of all documents")
    return common.table(head, lines) + "\n" + "\n".join(ends) + "\n"


def main():
    a = common.arguments(__doc__, "program", "letor", "out", sets=list, seeds=[1, 2, 3], folds=[1, 2, 3, 4, 5], jobs=os.cpu_count())
    earlier = common.read_rows(a.out / "rows.jsonl")
    log = common.Log(a.out / "rows.jsonl")
    for row in earlier:
        log.add(row)
    work = [(a.program, a.letor, name, fold, seed) for name in a.sets or letor_sets(a.letor) for fold in a.folds for seed in a.seeds
            if not log.where(set=name, fold=fold, seed=seed)]
    # The largest training sets take longest and start first.
    work.sort(key=lambda one: -(a.letor / one[2] / f"Fold{one[3]}" / "train.txt").stat().st_size)
    with multiprocessing.Pool(a.jobs) as pool:
        for row in pool.imap_unordered(job, work):
            log.add(row)
            print(f"{row['set']}, fold {row['fold']}, seed {row['seed']}: {row['chosen']}", flush=True)
    common.write(a.out / "table.md", markdown(log))
    common.manifest(a.out / "manifest.json", **common.build(a.program))


if __name__ == "__main__":
    main()
