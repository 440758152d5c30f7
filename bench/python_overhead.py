#!/usr/bin/env python3
"""Time and memory of the Python package beside the program's, on the same documents, taking turns.

    python_overhead.py PROGRAM TRAIN TEST [--rounds 7] [--threads 1] [--steps rules,memory]
                       [--train-queries N] [--test-queries N] > rows.jsonl

Run it by an interpreter that has the package. TRAIN and TEST are of LETOR's form; of large ones the first N queries
alone count, on both sides. Steps:

  rules       `rank --train TRAIN --test TEST`: cuts, items, the index, scores. Python: fit and predict of
              RuleRanker("rules") on arrays that are there
  members     `fit --members scorecard,linear`. Python: fit of the same
  reduce      `reduce`. Python: fit of SelectiveSampler
  evaluate    `evaluate` of the scores. Python: evaluate
  neighbours  `search dense` of the test part's rows among the training part's, k 10. Python: fit and kneighbors of
              DenseNeighbors on the same rows as float32
  memory      of what `rules` does

Seconds of the program are its stages without reading and writing (--manifest); of Python those of the calls, after the
import. So on both sides stand the same computations. Python's turning of arrays into documents counts on its side; on the
program's, that `evaluate` reads the scores and `search` writes its lines within the stage.
Memory: the program's peak when it ranks, less what it holds when it ranks two documents; of Python the peak of fit and predict
over the interpreter with the package and the arrays (`python`), over the interpreter with the package alone, so that the arrays
count (`python_with_arrays`), and the same of a process that reads the files itself (`python_with_reading`).
What is computed is compared first: other scores or rows end the run.
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
    subprocess.run([arguments.program, *map(str, rest), "--threads", str(arguments.threads), "--device", "cpu",
                    "--quiet", "--manifest", manifest], check=True, stdout=subprocess.DEVNULL)
    said = json.loads(manifest.read_text())
    stages = {name: s for name, s in said["seconds"].items() if name not in (*AROUND, "total")}
    return sum(stages.values()), said["peak_memory_bytes"]


def peak():
    """Bytes."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])


def child(folder, threads, reads):
    """Python's side of the memory: what fitting and ranking take over the interpreter and the arrays, and over the
    interpreter alone; or, with the reading of files, over the interpreter alone."""
    import numpy
    import rulerank

    rulerank.RuleRanker("rules").fit(numpy.arange(20.0).reshape(10, 2), numpy.arange(10) % 2)  # what is loaded late
    folder, interpreter = pathlib.Path(folder), peak()
    before = interpreter
    if reads:
        train, test = map(pathlib.Path.read_text, (folder / "train_name", folder / "test_name"))
        data = rulerank.load_letor(train)
        ranker = rulerank.RuleRanker("rules", n_jobs=threads).fit(data.X, data.y, data.qid)
        del data
        data = rulerank.load_letor(test)
        ranker.predict(data.X, data.qid)
    else:
        X, y, qid, Z, of = (numpy.load(folder / f"{name}.npy") for name in ("X", "y", "qid", "Z", "of"))
        before = peak()
        rulerank.RuleRanker("rules", n_jobs=threads).fit(X, y, qid).predict(Z, of)
    print(peak() - before, peak() - interpreter)


def held_by(program, folder):
    """Bytes that the program itself takes: it ranks two documents."""
    (folder / "least").write_text("1 qid:1 1:1 2:1\n0 qid:1 1:2 2:3\n")
    subprocess.run([program, "rank", "--train", folder / "least", "--test", folder / "least", "--out", folder / "none",
                    "--threads", "1", "--device", "cpu", "--quiet", "--manifest", folder / "manifest.json"],
                   check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "manifest.json").read_text())["peak_memory_bytes"]


def first_queries(path, count, to):
    """The file, or one of its first queries, which lie together."""
    if not count:
        return path
    qids = set()
    with open(path) as lines, open(to, "w") as out:
        for line in lines:
            qids.add(line.split(None, 2)[1])
            if len(qids) > count:
                break
            out.write(line)
    return to


def timed(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def memory(arguments, folder, train_file, test_file, train, test, ranking):
    """The row of the step memory."""
    import numpy

    for name, array in (("X", train.X), ("y", train.y), ("qid", train.qid), ("Z", test.X), ("of", test.qid)):
        numpy.save(folder / f"{name}.npy", array)
    (folder / "train_name").write_text(str(train_file))
    (folder / "test_name").write_text(str(test_file))
    least = held_by(arguments.program, folder)
    held = {"program": [program(arguments, folder, *ranking)[1] - least for _ in range(3)]}
    for how in ("arrays", "reads"):
        line = [sys.executable, __file__, "child", folder, str(arguments.threads), how]
        for _ in range(3):
            found = subprocess.run(line, check=True, capture_output=True, text=True).stdout.split()
            over_arrays, over_interpreter = map(int, found)
            if how == "arrays":
                held.setdefault("python", []).append(over_arrays)
                held.setdefault("python_with_arrays", []).append(over_interpreter)
            else:
                held.setdefault("python_with_reading", []).append(over_interpreter)
    medians = {name: statistics.median(found) for name, found in held.items()}
    row = {"step": "memory", "documents": len(train.y), "test_documents": len(test.y), "threads": arguments.threads,
           "arrays_bytes": train.X.nbytes + test.X.nbytes, "program_of_two_documents_bytes": least}
    row |= {f"{name}_bytes": found for name, found in medians.items()}
    return row | {f"{name}_over_program": found / medians["program"] for name, found in medians.items()
                  if name != "program"}


def of_rounds(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", default="rules,members,reduce,evaluate,neighbours,memory")
    parser.add_argument("--train-queries", type=int, default=0)
    parser.add_argument("--test-queries", type=int, default=0)
    if sys.argv[1:2] == ["child"]:
        return child(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "reads")
    arguments = parser.parse_args()

    import numpy
    import rulerank

    folder = pathlib.Path(tempfile.mkdtemp(prefix="python-overhead-"))
    train_file = first_queries(arguments.train, arguments.train_queries, folder / "train.txt")
    test_file = first_queries(arguments.test, arguments.test_queries, folder / "test.txt")
    train, test = rulerank.load_letor(train_file), rulerank.load_letor(test_file)
    how = {"n_jobs": arguments.threads}
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
        lines = pathlib.Path(train_file).read_text().splitlines()
        assert [lines[row] for row in rows] == (folder / "reduced").read_text().splitlines()

    steps = {
        "rules": (("rank", "--train", train_file, "--test", test_file, "--out", scores), rank,
                  lambda found: (found == expected_scores).all() or sys.exit("rules: other scores")),
        "members": (("fit", "--train", train_file, "--members", "scorecard,linear", "--model", folder / "model"),
                    fit, lambda found: found == (folder / "model").read_bytes() or sys.exit("members: another model")),
        "reduce": (("reduce", "--train", train_file, "--out", folder / "reduced"), reduce, expect_reduce),
        "evaluate": (("evaluate", "--test", test_file, "--scores", scores, "--metrics", "MAP,NDCG@1-10", "--out",
                      folder / "evaluated"), evaluate, lambda found: found["MAP"] > 0 or sys.exit("evaluate: no MAP")),
        "neighbours": (("search", "dense", "--collection", folder / "rows.npy", "--queries", folder / "queries.npy",
                        "--k", 10, "--out", folder / "found"), neighbours, expect_neighbours),
    }
    program(arguments, folder, *steps["rules"][0])
    expected_scores = numpy.loadtxt(scores)
    wanted = arguments.steps.split(",")
    for name in wanted:
        if name not in (*steps, "memory"):
            sys.exit(f"--steps: found {name!r}, expected some of {', '.join(steps)}, memory")
    for name, (line, call, check) in steps.items():
        if name not in wanted:
            continue
        program(arguments, folder, *line)
        check(call())
        times = {"program": [], "python": []}
        for _ in range(arguments.rounds):
            times["program"].append(program(arguments, folder, *line)[0])
            times["python"].append(timed(call)[0])
        row = {"step": name, "train": arguments.train, "documents": len(train.y), "test_documents": len(test.y),
               "queries": len(set(train.qid.tolist())), "test_queries": len(set(test.qid.tolist())),
               "features": train.X.shape[1], "threads": arguments.threads, "rounds": arguments.rounds}
        row |= {side: of_rounds(values) for side, values in times.items()}
        for kind in ("median", "least"):
            row[f"python_over_program_{kind}"] = row["python"][kind] / row["program"][kind]
        print(json.dumps(row), flush=True)
    if "memory" in wanted:
        print(json.dumps(memory(arguments, folder, train_file, test_file, train, test, steps["rules"][0])), flush=True)
    version = subprocess.run([arguments.program, "--version"], check=True, capture_output=True, text=True).stdout
    print(json.dumps({"machine": machine(), "load": os.getloadavg()[0], "commit": rulerank.__commit__,
                      "program_commit": re.search(r"commit (\w+)", version)[1]}))


if __name__ == "__main__":
    main()
