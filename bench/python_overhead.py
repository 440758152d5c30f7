#!/usr/bin/env python3
"""Time and memory of the Python package beside the program's, on the same documents, taking turns.

    python_overhead.py PROGRAM TRAIN TEST [--rounds 7] [--threads 1] > rows.jsonl

Run it by an interpreter that has the package. TRAIN and TEST are of LETOR's form. Steps:

  rules       `rank --train TRAIN --test TEST`: cuts, items, the index, scores. Python: fit and predict of
              RuleRanker("rules") on arrays that are there
  members     `fit --members scorecard,linear`. Python: fit of the same
  reduce      `reduce`. Python: fit of SelectiveSampler
  evaluate    `evaluate` of the scores. Python: evaluate

Seconds of the program are its stages without reading and writing (--manifest); of Python those of the calls, after the
import. So on both sides stand the same computations, and Python's turning of arrays into documents counts on its side.
Memory: the program's peak; of Python the peak of a process that reads the files, fits and predicts, less what the
interpreter with the package held before. What is computed is compared first: other scores or rows end the run.
One JSON line a step: medians of the rounds with least and most, and the ratio of the medians.
"""

import argparse
import json
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
    """Bytes; of this program alone, where getrusage begins with what its parent had."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])


def child(train, test, threads):
    """Python's side of the memory: what reading, fitting and ranking take over the interpreter."""
    import numpy
    import rulerank

    rulerank.RuleRanker("rules").fit(numpy.arange(20.0).reshape(10, 2), numpy.arange(10) % 2)  # what is loaded late
    before = peak()
    data = rulerank.load_letor(train)
    ranker = rulerank.RuleRanker("rules", n_jobs=threads).fit(data.X, data.y, data.qid)
    del data
    data = rulerank.load_letor(test)
    ranker.predict(data.X, data.qid)
    print(peak() - before)


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
    parser.add_argument("--memory-of-python", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of_python:
        return child(arguments.train, arguments.test, arguments.threads)

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
    }
    program(arguments, folder, *steps["rules"][0])
    import numpy

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
        row["python_over_program"] = row["python"]["median"] / row["program"]["median"]
        print(json.dumps(row), flush=True)
    memory = [program(arguments, folder, *steps["rules"][0])[1] for _ in range(3)]
    own = [int(subprocess.run([sys.executable, __file__, arguments.program, arguments.train, arguments.test,
                               "--threads", str(arguments.threads), "--memory-of-python"],
                              check=True, capture_output=True, text=True).stdout) for _ in range(3)]
    print(json.dumps({"step": "memory", "program_bytes": statistics.median(memory),
                      "python_bytes_over_the_interpreter": statistics.median(own),
                      "python_over_program": statistics.median(own) / statistics.median(memory)}))
    print(json.dumps({"machine": machine(), "commit": rulerank.__commit__}))


if __name__ == "__main__":
    main()
