#!/usr/bin/env python3
"""Compares time and memory of the Python package with the program's, in turns, on the same documents.

    python_overhead.py PROGRAM TRAIN TEST [--rounds 7] [--threads 1] [--steps rules,memory]
                       [--train-queries N] [--test-queries N] [--searched N] [--texts T.tsv Q.tsv] > rows.jsonl

Run it with an interpreter that has the package. TRAIN and TEST are in LETOR's form; --train-queries and --test-queries use the first
N queries of large files, on both sides. Steps:

  rules       `rank --train TRAIN --test TEST`: cuts, items, the index, scores. Python: fit and predict of
              RuleRanker("rules") on existing arrays
  members     `fit --members scorecard,linear`. Python: fit of the same
  reduce      `reduce`. Python: fit of SelectiveSampler
  evaluate    `evaluate` of the scores. Python: evaluate
  recommended `fit --members recommended`, and `rank` with that model. Python: the same with RuleRanker("recommended")
  neighbours  `search dense` of the test set's first rows (--searched, default all) among the training set's, k 10. Python:
              fit and kneighbors of DenseNeighbors on the same rows as float32
  metric      `search metric --metric l1 --index-type lc` of the same rows among the first METRIC_ROWS. Python: MetricNeighbors
  text        `search text` of the documents Q.tsv among T.tsv (id, tab, text), k 10. Python: fit and kneighbors of TextNeighbors
  memory      of the step `rules`

Seconds of the program are its stages without reading and writing (--manifest). Seconds of Python are those of the calls, after the
import, so both sides do the same computations. Python's side includes the conversion of arrays to documents. The program's side
includes that `evaluate` reads the scores, `search text` its files, and that `search` writes its lines. CPU seconds are of all
processors in the same time, which other work on the machine changes less; `recommended` has those of `fit` alone, and `rules` has
none, because the manifest of `rank` has only some of them.

`peak` of a step: the program's peak memory minus its peak when it ranks two documents; Python's peak in a process that makes the
call once, minus that of the interpreter with the arrays. `memory`: the program's peak when it ranks, minus its peak with two
documents; Python's peak of fit and predict minus that of the interpreter with the package and the arrays (`python`), minus that of
the interpreter with the package alone (`python_with_arrays`), and the latter for a process that reads the files itself
(`python_with_reading`).

The first round compares the results: different scores or rows end the run. One JSON line for each step: medians of the rounds with
minimum and maximum, the ratio of the medians, and the ratio of the minima, which other work on the machine changes less.
"""

import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time

import common

AROUND = ("read", "write")
METRIC_ROWS = 20_000  # maximum number of training rows: the index holds their distances


def program(arguments, folder, *rest):
    """The seconds of the stages, the processor seconds, and the peak memory, of one run of the program."""
    manifest = folder / "manifest.json"
    common.call(arguments.program, *rest, "--threads", arguments.threads, "--device", "cpu", "--quiet", "--manifest", manifest)
    said = json.loads(manifest.read_text())
    wall, cpu = said["seconds"], said["cpu_seconds"]
    if rest[:2] == ("search", "text"):  # whose other stages are parts of these
        return wall["index"] + wall["search"], cpu["index"] + cpu["search"], said["peak_memory_bytes"]
    stages = [name for name in wall if name not in (*AROUND, "total")]
    return (sum(wall[name] for name in stages), sum(cpu.get(name, 0) for name in stages), said["peak_memory_bytes"])


def program_lines(arguments, folder, lines):
    """As above, for several runs in sequence."""
    runs = [program(arguments, folder, *line) for line in lines]
    return sum(run[0] for run in runs), sum(run[1] for run in runs), max(run[2] for run in runs)


def calls(threads, arrays, texts):
    """The Python calls, by step."""
    import rulerank

    how = {"n_jobs": threads}
    X, y, qid, Z, of = (arrays.get(name) for name in ("X", "y", "qid", "Z", "of"))

    def recommended():
        ranker = rulerank.RuleRanker("recommended", **how).fit(X, y, qid)
        recommended.cpu = time.process_time()
        return ranker.predict(Z, of)

    return {
        "rules": lambda: rulerank.RuleRanker("rules", **how).fit(X, y, qid).predict(Z, of),
        "members": lambda: rulerank.RuleRanker("scorecard,linear", **how).fit(X, y, qid).model_.to_bytes(),
        "recommended": recommended,
        "reduce": lambda: rulerank.SelectiveSampler(**how).fit(X, y, qid).sample_indices_,
        "evaluate": lambda: rulerank.evaluate(arrays["labels"], arrays["scores"], of, "MAP,NDCG@1-10", n_jobs=threads),
        "neighbours": lambda: rulerank.DenseNeighbors(10, **how).fit(arrays["rows"]).kneighbors(
            arrays["queries"], return_distance=False),
        "metric": lambda: rulerank.MetricNeighbors(10, metric="l1", index="lc", **how).fit(arrays["some"]).kneighbors(
            arrays["queries"], return_distance=False),
        "text": lambda: rulerank.TextNeighbors(10, **how).fit(texts[0]).kneighbors(texts[1], return_distance=False)}


USES = {"rules": "X y qid Z of", "recommended": "X y qid Z of", "members": "X y qid", "reduce": "X y qid",
        "evaluate": "labels scores of", "neighbours": "rows queries", "metric": "some queries", "text": ""}


def read_texts(paths):
    return [[line.split("\t", 1)[1] for line in pathlib.Path(path).read_text().splitlines()] for path in paths]


def peak():
    """In bytes."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])


def child(step, folder, threads, texts):
    """Prints the memory of one call minus that of the interpreter and the arrays, and minus that of the interpreter. The step
    `reads` is `rules` including the reading of files."""
    import numpy
    import rulerank

    rulerank.RuleRanker("rules", qid_column=None).fit(numpy.arange(20.0).reshape(10, 2), numpy.arange(10) % 2)  # loads lazily
                                                                                                                # imported modules
    before = interpreter = peak()
    if step == "reads":
        ranker = rulerank.RuleRanker("rules", n_jobs=threads)
        for name, use in (("train_name", lambda data: ranker.fit(data.X, data.y, data.qid)),
                          ("test_name", lambda data: ranker.predict(data.X, data.qid))):
            use(rulerank.load_letor((folder / name).read_text()))
    else:
        arrays = {name: numpy.load(folder / f"{name}.npy") for name in USES[step].split()}
        call = calls(threads, arrays, read_texts(texts))[step]
        before = peak()
        call()
    print(peak() - before, peak() - interpreter)


def held_by(program, folder):
    """The program's own memory in bytes: it ranks two documents."""
    (folder / "least").write_text("1 qid:1 1:1 2:1\n0 qid:1 1:2 2:3\n")
    common.call(program, "rank", "--train", folder / "least", "--test", folder / "least", "--out", folder / "none", "--threads", 1,
                "--device", "cpu", "--quiet", "--manifest", folder / "manifest.json")
    return json.loads((folder / "manifest.json").read_text())["peak_memory_bytes"]


def first_queries(path, count, to):
    """The file, or one with its first queries, which are contiguous."""
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


def memory(arguments, folder, train_file, test_file, train, test, ranking):
    """The row of the step memory; the arrays are in the folder."""
    (folder / "train_name").write_text(str(train_file))
    (folder / "test_name").write_text(str(test_file))
    least = held_by(arguments.program, folder)
    held = {"program": [program(arguments, folder, *ranking)[2] - least for _ in range(3)]}
    for how in ("rules", "reads"):
        for _ in range(3):
            found = common.output(sys.executable, __file__, "child", how, folder, arguments.threads).split()
            over_arrays, over_interpreter = map(int, found)
            if how == "rules":
                held.setdefault("python", []).append(over_arrays)
                held.setdefault("python_with_arrays", []).append(over_interpreter)
            else:
                held.setdefault("python_with_reading", []).append(over_interpreter)
    medians = {name: statistics.median(found) for name, found in held.items()}
    row = {"step": "memory", "documents": len(train.y), "test_documents": len(test.y), "threads": arguments.threads,
           "arrays_bytes": train.X.nbytes + test.X.nbytes, "program_of_two_documents_bytes": least}
    row |= {f"{name}_bytes": found for name, found in medians.items()}
    return row | {f"{name}_over_program": found / medians["program"] for name, found in medians.items() if name != "program"}


def main():
    if sys.argv[1:2] == ["child"]:
        return child(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
    arguments = common.arguments(__doc__, "program", "train", "test", rounds=7, threads=1, train_queries=0, test_queries=0,
                                 searched=int, steps=["rules", "members", "reduce", "evaluate", "neighbours", "memory"],
                                 texts={"nargs": 2})

    import numpy
    import rulerank

    folder = pathlib.Path(tempfile.mkdtemp(prefix="python-overhead-"))
    train_file = first_queries(arguments.train, arguments.train_queries, folder / "train.txt")
    test_file = first_queries(arguments.test, arguments.test_queries, folder / "test.txt")
    train, test = rulerank.load_letor(train_file), rulerank.load_letor(test_file)
    scores = folder / "scores"
    wanted = arguments.steps
    if unknown := set(wanted) - {*USES, "memory"}:
        common.fail(f"--steps: found {', '.join(sorted(unknown))}, expected some of {', '.join((*USES, 'memory'))}")
    ranking = ("rank", "--train", train_file, "--test", test_file, "--out", scores)
    arrays = {"X": train.X, "y": train.y, "qid": train.qid, "Z": test.X, "of": test.qid, "labels": test.y,
              "rows": train.X.astype(numpy.float32), "queries": test.X[:arguments.searched].astype(numpy.float32)}
    if "evaluate" in wanted:
        program(arguments, folder, *ranking)
        arrays["scores"] = numpy.loadtxt(scores)
    arrays["some"] = arrays["rows"][:METRIC_ROWS]
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array)
    texts = arguments.texts or []

    def same_scores(found):
        return (found == numpy.loadtxt(scores)).all()

    def same_rows(found):
        lines = [line.split("\t") for line in (folder / "found").read_text().splitlines()]
        rows = {(int(q), int(rank)): d for q, rank, d, _ in lines}
        return {(q, rank): row for q, of in enumerate(found.tolist()) for rank, row in enumerate(of) if row >= 0} == {
            (q, rank - 1): int(d) for (q, rank), d in rows.items()}

    def same_lines(rows):
        wanted_lines, kept = set(rows.tolist()), []
        with open(train_file) as lines:
            kept = [line for row, line in enumerate(lines) if row in wanted_lines]
        return kept == (folder / "reduced").read_text().splitlines(keepends=True)

    def searching(kind, collection, queries, *rest):
        return [("search", kind, "--collection", collection, "--queries", queries, "--k", 10, *rest, "--out", folder / "found")]

    dense = (folder / "rows.npy", folder / "queries.npy")
    steps = {"rules": ([ranking], same_scores),
             "members": ([("fit", "--train", train_file, "--members", "scorecard,linear", "--model", folder / "model")],
                         lambda found: found == (folder / "model").read_bytes()),
             "recommended": ([("fit", "--train", train_file, "--members", "recommended", "--model", folder / "model"),
                              ("rank", "--model", folder / "model", "--test", test_file, "--out", scores)], same_scores),
             "reduce": ([("reduce", "--train", train_file, "--out", folder / "reduced")], same_lines),
             "evaluate": ([("evaluate", "--test", test_file, "--scores", scores, "--metrics", "MAP,NDCG@1-10", "--out",
                            folder / "evaluated")], lambda found: found["MAP"] > 0),
             "neighbours": (searching("dense", *dense), same_rows),
             "metric": (searching("metric", folder / "some.npy", dense[1], "--metric", "l1", "--index-type", "lc"), same_rows),
             "text": (searching("text", *texts) if texts else [], same_rows)}
    python = calls(arguments.threads, arrays, read_texts(texts))
    least = held_by(arguments.program, folder)
    for name in wanted:
        if name == "memory":
            continue
        lines, same = steps[name]
        times = {"program": [], "python": [], "program_cpu": [], "python_cpu": []}
        peaks = []
        for round_number in range(arguments.rounds):
            wall, cpu, most = program_lines(arguments, folder, lines)
            times["program"].append(wall)
            times["program_cpu"].append(cpu)
            peaks.append(most - least)
            before = time.process_time()
            wall, found = common.timed(python[name])
            times["python"].append(wall)
            times["python_cpu"].append(getattr(python[name], "cpu", time.process_time()) - before)
            if round_number == 0 and not same(found):
                common.fail(f"{name}: found something else than the program")
            del found
        held = int(common.output(sys.executable, __file__, "child", name, folder, arguments.threads, *texts).split()[0])
        row = {"step": name, "train": str(arguments.train), "documents": len(train.y), "test_documents": len(test.y),
               "queries": len(set(train.qid.tolist())), "test_queries": len(set(test.qid.tolist())), "features": train.X.shape[1],
               "searched": len(arrays["queries"]), "threads": arguments.threads, "rounds": arguments.rounds}
        row |= {side: common.spread(values) for side, values in times.items()}
        for kind in ("median", "least"):
            row[f"python_over_program_{kind}"] = row["python"][kind] / row["program"][kind]
            if name != "rules":
                row[f"python_over_program_cpu_{kind}"] = row["python_cpu"][kind] / row["program_cpu"][kind]
        row |= {"program_peak_bytes": statistics.median(peaks), "python_peak_bytes": held,
                "python_over_program_peak": held / statistics.median(peaks)}
        print(json.dumps(row | {"load": os.getloadavg()[0]}), flush=True)
    if "memory" in wanted:
        print(json.dumps(memory(arguments, folder, train_file, test_file, train, test, ranking)), flush=True)
    print(json.dumps({"machine": common.machine(), "load": os.getloadavg()[0], "commit": rulerank.__commit__,
                      "program_commit": common.build(arguments.program)["commit"]}))


if __name__ == "__main__":
    main()
