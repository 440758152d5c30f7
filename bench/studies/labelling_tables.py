#!/usr/bin/env python3
"""Measures what labels cost and how much they help, on OHSUMED and MQ2008.

  labelling_tables.py PROGRAM DATA_FOLDER OUT_FOLDER [--draws 6] [--batches 0,20]

queries: whole queries that `reduce --whole-queries` chooses, random whole queries (as many queries, or as many documents), and
documents that are chosen one by one. MAP and NDCG@10 of the test set by `rank` with its defaults, means of the five folds. Cuts by
width (OHSUMED) and by frequency (MQ2008).

batches: how often a team is asked for labels on fold 1, from none to the end, by `--batch`. The chosen documents must be those of a
run with all labels.

DATA_FOLDER has letor/{OHSUMED,MQ2008}/Fold1..5/{train,test}.txt. Writes results.jsonl, tables.md and manifest.json to OUT_FOLDER.
"""

import itertools
import json
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

CUTS = {"OHSUMED": "width", "MQ2008": "frequency"}


class Work:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.run = common.program(program, cwd=folder)

    def effect(self, training, fold):
        """MAP and NDCG@10 on the test set."""
        test = fold / "test.txt"
        self.run("rank", "--device", "cpu", "--train", training, "--test", test, "--discretizer", "cuts.json", "--out", "scores",
                 "--quiet")
        return common.averages(self.program, test, "scores", "MAP,NDCG@10", cwd=self.folder)


def groups(path):
    """The lines of each query."""
    lines = open(path, "rb").read().splitlines(True)
    return [list(of) for _, of in itertools.groupby(lines, key=lambda line: line.split()[1])]


def queries(work, data, draws, log):
    rows = []
    for name, method in CUTS.items():
        found = {}
        for number in range(1, 6):
            fold = data / "letor" / name / f"Fold{number}"
            train = fold / "train.txt"
            all_queries = groups(train)

            def note(what, training, documents, count):
                row = {"what": what, "set": name, "fold": number, "documents": documents, "queries": count,
                       **work.effect(training, fold)}
                log.add(row)
                found.setdefault(what, []).append(row)

            def chosen(*more):
                told = work.run("reduce", "--device", "cpu", "--train", train, "--method", method, "--out", "chosen",
                                "--json", *more)
                return json.loads(told.stdout)

            whole = chosen("--whole-queries", "--model", "cuts.json")
            note("whole queries", "chosen", whole["chosen"], whole["queries"])
            one = chosen()
            note("documents, not queries", "chosen", one["chosen"], None)
            for seed in range(draws):
                draw = random.Random(7 * seed + number)
                some = draw.sample(all_queries, whole["queries"])
                order = iter(draw.sample(all_queries, len(all_queries)))
                enough = []
                while sum(map(len, enough)) < whole["chosen"]:
                    enough.append(next(order))
                for what, of in (("drawn, as many queries", some), ("drawn, as many documents", enough)):
                    (work.folder / "drawn").write_bytes(b"".join(itertools.chain(*of)))
                    note(what, "drawn", sum(map(len, of)), len(of))
        for what, of in found.items():
            mean = lambda key: statistics.fmean(row[key] for row in of)
            rows.append([name, what, mean("documents"), mean("queries") if of[0]["queries"] else None, mean("MAP"),
                         mean("NDCG@10")])
    return common.table(["set", "chosen", "documents", "queries", "MAP", "NDCG@10"], rows, f"Whole queries ({draws} draws a fold)")


def batches(work, data, sizes, log):
    rows = []
    for name in CUTS:
        train = data / "letor" / name / "Fold1" / "train.txt"
        lines = train.read_bytes().splitlines(True)
        labels = [line.split(b" ", 1)[0].decode() for line in lines]
        (work.folder / "pool").write_bytes(b"".join(b"-1 " + line.split(b" ", 1)[1] for line in lines))
        work.run("reduce", "--device", "cpu", "--train", train, "--out", "want", "--quiet")
        for size in sizes:
            table, rounds = "line\tlabel\n", 0
            while True:
                (work.folder / "labels").write_text(table)
                done = work.run("reduce", "--device", "cpu", "--train", "pool", "--unlabelled", "-1", "--out", "got", "--oracle",
                                "file:labels", "--pending", "wanted", "--batch", size, "--json", codes=(0, 5))
                if done.returncode == 0:
                    break
                for row in (work.folder / "wanted").read_text().splitlines()[1:]:
                    document = row.split("\t")[0]
                    table += f"{document}\t{labels[int(document)]}\n"
                rounds += 1
            if (work.folder / "got").read_bytes() != (work.folder / "want").read_bytes():
                common.fail(f"{name}, batch {size}: not what all labels choose")
            given, chosen = table.count("\n") - 1, json.loads(done.stdout)["chosen"]
            row = {"what": "batches", "set": name, "batch": size, "rounds": rounds, "labels": given, "chosen": chosen}
            log.add(row)
            rows.append([name, size, rounds, given, chosen, given - chosen])
    return common.table(["set", "--batch", "times asked", "labels given", "chosen", "unused"], rows, "Batches, fold 1")


def main():
    a = common.arguments(__doc__, "program", "data", "out", draws=6, batches=[0, 20])
    log = common.Log(a.out / "results.jsonl")
    common.manifest(a.out / "manifest.json", build=common.build(a.program), draws=a.draws)
    with common.scratch() as folder:
        work = Work(a.program, folder)
        done = queries(work, a.data, a.draws, log) + "\n" + batches(work, a.data, a.batches, log)
    common.write(a.out / "tables.md", done)
    print(done)


if __name__ == "__main__":
    main()
