#!/usr/bin/env python3
"""Time and memory of the Python package beside the program's, on the same documents, taking turns.

    python_overhead.py PROGRAM TRAIN TEST [--rounds 7] [--threads 1] > rows.jsonl

Run it by an interpreter that has the package. TRAIN and TEST are of LETOR's form. Steps:

  rules       `rank --train TRAIN --test TEST`: cuts, items, the index, scores. Python: fit and predict of
              RuleRanker("rules") on arrays that are there
  members     `fit --members scorecard,linear`. Python: fit of the same
  reduce      `reduce`. Python: fit of SelectiveSampler
  evaluate    `evaluate` of the scores. Python: evaluate
  neighbours  `search dense` of the test part's rows among the training part's, k 10. Python: fit and kneighbors of
              DenseNeighbors on the same rows as float32

Seconds of the program are its stages without reading and writing (--manifest); of Python those of the calls, after the
import. So on both sides stand the same computations. Python's turning of arrays into documents counts on its side; on the
program's, that `evaluate` reads the scores and `search` writes its lines within the stage.
Memory: the program's peak when it ranks, less what it holds when it ranks two documents; of Python the peak of fit and predict,
less what the interpreter with the package and the arrays held before; and of a process that reads the files too, less what
the interpreter held. What is computed is compared first: other scores or rows end the run.
One JSON line a step: medians of the rounds with least and most, the ratio of the medians, and that of the least,
which other work on the machine changes less.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from tables import machine

AROUND = ("read", "write")


def program(arguments, folder, *rest):
    """The seconds of the stages, and the peak of memory, of one run of the program."""
    manifest = folder / "manifest.json"
    subprocess.run([arguments.program, *map(str, rest), "--threads", str(arguments.threads), "--quiet",
                    "--manifest", manifest], check=True, stdout=subprocess.DEVNULL)
    said = json.loads(manifest.read_text())
    stages = {name: s for name, s in said["seconds"].items() if name not in (*AROUND, "total")}
    return sum(stages.values()), said["peak_memory_bytes"]


def peak():
    """Bytes."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])


def child(folder, threads, reads):
    """Python's side of the memory: what fitting and ranking take over the interpreter and the arrays, or with the
    reading of files over the interpreter alone."""
    import numpy
    import rulerank

    rulerank.RuleRanker("rules").fit(numpy.arange(20.0).reshape(10, 2), numpy.arange(10) % 2)  # what is loaded late
    folder, before = pathlib.Path(folder), peak()
    if reads:
        train, test = map(pathlib.Path.read_text, (folder / "train", folder / "test"))
        data = rulerank.load_letor(train)
        ranker = rulerank.RuleRanker("rules", n_jobs=threads).fit(data.X, data.y, data.qid)
        del data
        data = rulerank.load_letor(test)
        ranker.predict(data.X, data.qid)
    else:
        X, y, qid, Z, of = (numpy.load(folder / f"{name}.npy") for name in ("X", "y", "qid", "Z", "of"))
        before = max(before, peak())
        rulerank.RuleRanker("rules", n_jobs=threads).fit(X, y, qid).predict(Z, of)
    print(peak() - before)


def held_by(program, folder):
    """Bytes that the program itself takes: it ranks two documents."""
    (folder / "least").write_text("1 qid:1 1:1 2:1\n0 qid:1 1:2 2:3\n")
    subprocess.run([program, "rank", "--train", folder / "least", "--test", folder / "least", "--out", folder / "none",
                    "--threads", "1", "--quiet", "--manifest", folder / "manifest.json"],
                   check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "manifest.json").read_text())["peak_memory_bytes"]


def timed(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def of_rounds(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    if sys.argv[1:2] == ["child"]:
        return child(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "reads")
    arguments = parser.parse_args()

    import numpy
    import rulerank

    train, test = rulerank.load_letor(arguments.train), rulerank.load_letor(arguments.test)
    how = {"n_jobs": arguments.threads}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="python-overhead-"))
    scores = folder / "scores"

    def rank():
        ranker = rulerank.RuleRanker("rules", **how).fit(train.X, train.y, train.qid)
        return ranker.predict(test.X, test.qid)

    def fit():
        return rulerank.RuleRanker("scorecard,linear", **how).fit(train.X, train.y, train.qid).model_.to_bytes()

    def reduce():
        return rulerank.SelectiveSampler(**how).fit(train.X, train.y, train.qid).sample_indices_.tolist()

    def evaluate():
        return rulerank.evaluate(test.y, expected_scores, test.qid, "MAP,NDCG@1-10", n_jobs=arguments.threads)

    rows, queries = train.X.astype(numpy.float32), test.X.astype(numpy.float32)
    numpy.save(folder / "rows.npy", rows)
    numpy.save(folder / "queries.npy", queries)

    def neighbours():
        return rulerank.DenseNeighbors(10, **how).fit(rows).kneighbors(queries, return_distance=False)

    def expect_neighbours(found):
        ids = numpy.loadtxt(folder / "found", dtype=int, usecols=2, delimiter="\t")
        assert (ids.reshape(found.shape) == found).all(), "neighbours: other rows"

    def expect_reduce(rows):
        lines = pathlib.Path(arguments.train).read_text().splitlines()
        assert [lines[row] for row in rows] == (folder / "reduced").read_text().splitlines()

    steps = {
        "rules": (("rank", "--train", arguments.train, "--test", arguments.test, "--out", scores), rank,
                  lambda found: (found == expected_scores).all() or sys.exit("rules: other scores")),
        "members": (("fit", "--train", arguments.train, "--members", "scorecard,linear", "--model", folder / "model"),
                    fit, lambda found: found == (folder / "model").read_bytes() or sys.exit("members: another model")),
        "reduce": (("reduce", "--train", arguments.train, "--out", folder / "reduced"), reduce, expect_reduce),
        "evaluate": (("evaluate", "--test", arguments.test, "--scores", scores, "--metrics", "MAP,NDCG@1-10", "--out",
                      folder / "evaluated"), evaluate, lambda found: found["MAP"] > 0 or sys.exit("evaluate: no MAP")),
        "neighbours": (("search", "dense", "--collection", folder / "rows.npy", "--queries", folder / "queries.npy",
                        "--k", 10, "--out", folder / "found"), neighbours, expect_neighbours),
    }
    program(arguments, folder, *steps["rules"][0])
    expected_scores = numpy.loadtxt(scores)
    for name, (line, call, check) in steps.items():
        program(arguments, folder, *line)
        check(call())
        times = {"program": [], "python": []}
        for _ in range(arguments.rounds):
            times["program"].append(program(arguments, folder, *line)[0])
            times["python"].append(timed(call)[0])
        row = {"step": name, "train": arguments.train, "documents": len(train.y), "test_documents": len(test.y),
               "features": train.X.shape[1], "threads": arguments.threads, "rounds": arguments.rounds}
        row |= {side: of_rounds(values) for side, values in times.items()}
        for kind in ("median", "least"):
            row[f"python_over_program_{kind}"] = row["python"][kind] / row["program"][kind]
        print(json.dumps(row), flush=True)
    for name, array in (("X", train.X), ("y", train.y), ("qid", train.qid), ("Z", test.X), ("of", test.qid)):
        numpy.save(folder / f"{name}.npy", array)
    (folder / "train").write_text(arguments.train)
    (folder / "test").write_text(arguments.test)
    least = held_by(arguments.program, folder)
    held = {"program_bytes": [program(arguments, folder, *steps["rules"][0])[1] - least for _ in range(3)]}
    for name, how in (("python_bytes", "arrays"), ("python_with_reading_bytes", "reads")):
        line = [sys.executable, __file__, "child", folder, str(arguments.threads), how]
        held[name] = [int(subprocess.run(line, check=True, capture_output=True, text=True).stdout) for _ in range(3)]
    memory = {name: statistics.median(found) for name, found in held.items()}
    print(json.dumps({"step": "memory", "arrays_bytes": train.X.nbytes + test.X.nbytes} | memory | {
        "python_over_program": memory["python_bytes"] / memory["program_bytes"],
        "python_with_reading_over_program": memory["python_with_reading_bytes"] / memory["program_bytes"]}))
    print(json.dumps({"machine": machine(), "load": os.getloadavg()[0], "commit": rulerank.__commit__}))


if __name__ == "__main__":
    main()
