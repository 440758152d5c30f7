#!/usr/bin/env python3
"""Compares published engines and ours on the CPU in the shapes of the dissertation's tables 5.3, 5.5 and 5.6 (the
CPU rows), in one run. Answers are compared before a time is taken.

  tables.py BIN_FOLDER OUT_FOLDER [--shapes a,b] [--sizes 3,4] [--threads N] [--seconds S]
            [--only sampling|ranking]

A published engine that would take longer than S seconds (default 60) runs on a stated sample: the first partitions and iterations
of a shape, or evenly chosen test documents. Writes results.jsonl, manifest.json and tables.md to OUT_FOLDER.
"""

import os
import pathlib
import sys

import common


def shapes(folder):
    """The published sizes by name, as the program has them."""
    return {shape["shape"]: shape for shape in common.told(folder / "rulerank", "sample", "--list-shapes", "--json")}


kept = {}  # rows of an earlier run, by command


def keep(path):
    """Commands whose rows are in that file are not run again."""
    for row in common.read_rows(path):
        kept.setdefault(row["command"], []).append(row)


def run(command, log):
    """The rows that a benchmark prints, or those that are kept of the same command."""
    name = " ".join([pathlib.Path(command[0]).name, *(common.place(word, 3) for word in command[1:])])
    rows = kept.get(name)
    if rows is None:
        print("+", *command[1:], file=sys.stderr, flush=True)
        rows = [{"command": name, **row, "input": common.place(row["input"], 3)} for row in common.told_rows(*command)]
    for row in rows:
        log.add(row)
    return rows


def sampling_sample(shape, size, seconds, least=20):
    """Partitions and iterations that the serial published engine does in about that time."""
    documents, partitions = shape["documents"][0], shape["partitions"]
    planned = shape["iterations"][str(size)]
    # Seconds of one iteration of one partition, from 12 items a document and 4 ns an itemset.
    each = documents * {3: 78, 4: 298}[size] * 1e-8
    if planned * each <= seconds:
        return max(1, min(partitions, int(seconds / (planned * each)))), planned
    return 1, max(least, int(seconds / each))


def sampling(arguments, log):
    rows = []
    for shape in arguments.shapes:
        published = arguments.published[shape]
        for size in arguments.sizes:
            partitions, iterations = sampling_sample(published, size, arguments.seconds)
            program = str(arguments.bin / "al_bench")
            one = run([program, shape, str(size), "1", str(partitions), str(iterations), "ssarp", "delta"], log)
            many = run([program, shape, str(size), str(arguments.threads), str(partitions),
                        str(iterations), "delta", "pssarp"], log)
            whole = run([program, shape, str(size), str(arguments.threads), "0", "0", "delta"], log)
            of, planned = published["partitions"], published["iterations"][str(size)]
            rows.append([shape, size, f"{partitions} of {of} x {iterations} of {planned}", one[0]["seconds"], many[1]["seconds"],
                         one[1]["seconds"], one[0]["seconds"] / one[1]["seconds"], one[0]["seconds"] / many[1]["seconds"],
                         whole[0]["seconds"], whole[0]["chosen"]])
    head = ["shape", "size", "partitions x iterations timed", "ssarp s",
            f"pssarp s ({arguments.threads} threads)", "delta s (1 thread)", "delta / ssarp x",
            "pssarp / ssarp x", f"whole shape: delta s ({arguments.threads} threads)", "|U|"]
    return head, rows


def ranking(arguments, log):
    rows = []
    for shape in arguments.shapes:
        published = arguments.published[shape]
        test, features = published["documents"][2], published["features"]
        for size in arguments.sizes:
            for trained_at in (3, 4):
                documents = published["reduced"][str(trained_at)]
                itemsets = features * (features - 1) / 2
                if size == 4:
                    itemsets *= (features - 2) / 3
                # 100 ns an itemset of the published engine.
                some = int(max(20, min(test, arguments.seconds / (itemsets * 1e-7))))
                result = run([str(arguments.bin / "l2r_bench"), shape, str(some), str(documents),
                              str(size), "1", "lrar", "project"], log)
                lrar, project = result
                rows.append([shape, size, documents, f"{some} of {test}", lrar["seconds"], lrar["hit_rate"], project["seconds"],
                             lrar["seconds"] / project["seconds"], project["cpu_ns_per_itemset"]])
    head = ["shape", "rule size", "|U|", "test documents", "lrar s", "its hit rate",
            "project s (1 thread)", "project / lrar x", "ns an itemset"]
    return head, rows


def main():
    a = common.arguments(__doc__, "bin", "out", shapes={"type": lambda text: text.split(","), "help": "default: all"}, sizes=[3, 4],
                         threads=len(os.sched_getaffinity(0)), seconds=60.0, only={"choices": ["sampling", "ranking"]})
    a.published = shapes(a.bin)
    a.shapes = a.shapes or list(a.published)
    parts, log = [], common.Log(a.out / "results.jsonl")
    if a.only != "ranking":
        parts.append(common.table(*sampling(a, log), "Sampling (tables 5.3 and 5.5 in shape)"))
    if a.only != "sampling":
        parts.append(common.table(*ranking(a, log), "Ranking (CPU part of table 5.6 in shape)"))
    common.write(a.out / "tables.md", "\n".join(parts))
    common.manifest(a.out / "manifest.json", build=common.build(a.bin), threads=a.threads, seed=1)
    print("\n".join(parts))


if __name__ == "__main__":
    main()
