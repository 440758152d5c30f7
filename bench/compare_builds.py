#!/usr/bin/env python3
"""Runs the CPU benchmarks of two builds, BEFORE and AFTER (folders with the *_bench programs), in turn, N rounds (10). Prints the
median time of each measurement in both, and the ratios after / before of the medians and of the fastest rounds. A ratio above 1
means that AFTER is slower. To see what the machine adds, compare a build with a copy of itself.

Each benchmark has one thread. --jobs N runs N benchmarks at a time, each on a processor of its own. --data is a folder with the real
data sets (default: $RULERANK_TEST_DATA). --out keeps every measurement as JSON lines.

    cmake --preset bench && cmake --build --preset bench      # in a checkout of each commit
    bench/compare_builds.py ../old/out/bench/bin out/bench/bin --data build/data

Single calls below 20 microseconds, and measurements that only one build reports, are left out and listed."""

import concurrent.futures
import json
import os
import pathlib
import queue
import statistics
import tempfile

import common

GOOGLE = ["--benchmark_format=json", "--benchmark_min_time=0.05"]
# Benchmark: its arguments. {data} is the folder of the real sets, {queries} a file with some words of its English dictionary.
COMMANDS = {
    "bitmaps": GOOGLE,
    "discretizer": GOOGLE,
    "eval": GOOGLE,
    "reader": ["--benchmark_filter=threads:1$", *GOOGLE],
    "analyzer": ["{data}/text/cranfield/cran.all.1400", *GOOGLE],
    "dense": ["shape=20000x128", "k=32", "threads=1", "batches=1,32,1024", *GOOGLE],
    "al": ["td2003", "3", "1", "1", "20", "ssarp", "delta"],
    "l2r": ["hp2003", "2000", "300", "4", "1", "project", "lrar:100"],
    "text": ["20ng", "200", "30", "1", "mt:50", "tiles"],
    "mine": ["{data}/fim/mushroom.dat", "all", "vertical", "1", "400"],
    "metric": ["words={data}/metric/dictionaries/English.dic", "objects=8000", "queries=60", "share=", "radii=2", "k=10"],
    "metric_vectors": ["vectors={data}/metric/mnist-pca20/mnist_pca20_40150.ascii", "objects=20000", "queries=60", "share=", "k=10"],
    "edit": ["database={data}/metric/dictionaries/English.dic", "queries={queries}", "radius=2", "k=10", "rounds=1"],
}
SHORTEST = 20e-6  # seconds; Google's benchmarks repeat what is shorter
REPEATED = ("p10_s", "p90_s", "p99_s", "brute_ms")  # fields that hold what another measurement holds
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def is_google(name):
    return COMMANDS[name][-len(GOOGLE):] == GOOGLE


def of_google(report):
    return {one["name"]: one["cpu_time"] * UNITS[one["time_unit"]] for one in report["benchmarks"]}


def seconds_of(field, value):
    """The seconds that a field of a line holds, or None where it holds something else."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or field in REPEATED:
        return None
    if field in ("seconds", "cpu_seconds", "seconds_a_query") or (field.endswith("_s") and not field.endswith("pairs_s")):
        return float(value)
    return value * 1e-3 if field.endswith("_ms") else None


def of_lines(text):
    found = {}
    for number, line in enumerate(text.splitlines()):
        row = json.loads(line)
        name = " ".join(str(row[key]) for key in ("engine", "index", "kind", "what", "k", "radius") if key in row)
        for field, value in row.items():
            seconds = seconds_of(field, value)
            if seconds:
                found[f"{number} {name}: {field}"] = seconds
    return found


def measured(folder, name, files, processor):
    """{measurement: seconds} of one run of a benchmark; `files` are the values of {data} and {queries}."""
    program = pathlib.Path(folder) / f"{name.split('_vectors')[0]}_bench"
    text = output_of(program, [word.format(**files) for word in COMMANDS[name]], processor)
    return of_google(json.loads(text)) if is_google(name) else of_lines(text)


def output_of(program, words, processor):
    return common.output(program, *words, env=os.environ | {"OMP_NUM_THREADS": "1"},
                         preexec_fn=lambda: os.sched_setaffinity(0, {processor}))


def rounds_of(name, folders, files, rounds, processors):
    """{measurement: ([seconds before], [seconds after])}"""
    processor, found = processors.get(), {}
    try:
        for number in range(rounds):
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                for what, seconds in measured(folders[side], name, files, processor).items():
                    found.setdefault(what, ([], []))[side].append(seconds)
    finally:
        processors.put(processor)
    return found


def comparable(name, sides, rounds):
    """Whether both builds reported a measurement in each round, and it is long enough to be measured."""
    return all(len(side) == rounds for side in sides) and (is_google(name) or statistics.median(sides[0]) >= SHORTEST)


def main():
    how = common.arguments(__doc__, "before", "after", data={"default": os.environ.get("RULERANK_TEST_DATA")}, rounds=10,
                           only={"nargs": "+", "choices": COMMANDS, "default": list(COMMANDS), "metavar": "NAME",
                                 "help": ", ".join(COMMANDS)}, jobs=1, out=pathlib.Path)
    if not how.data:
        common.fail("no data sets; expected --data FOLDER or $RULERANK_TEST_DATA")
    processors = queue.Queue()
    usable = sorted(os.sched_getaffinity(0))
    if how.jobs > len(usable):
        common.fail(f"found --jobs {how.jobs}, expected at most {len(usable)}, the processors here")
    for job in range(how.jobs):  # far from each other: neighbours may share a core
        processors.put(usable[job * len(usable) // how.jobs])
    with tempfile.NamedTemporaryFile() as queries, concurrent.futures.ThreadPoolExecutor(how.jobs) as pool:
        queries.writelines((pathlib.Path(how.data) / "metric/dictionaries/English.dic").read_bytes().splitlines(True)[::300])
        queries.flush()
        files = {"data": how.data, "queries": queries.name}
        jobs = {name: pool.submit(rounds_of, name, (how.before, how.after), files, how.rounds, processors) for name in how.only}
    rows, left_out = [], []
    for name, job in jobs.items():
        for what, (before, after) in job.result().items():
            if not comparable(name, (before, after), how.rounds):
                left_out.append(f"{name} {what}")
                continue
            rows.append({"benchmark": name, "measurement": what, "before": before, "after": after,
                         "ratio": statistics.median(after) / statistics.median(before), "fastest": min(after) / min(before)})
    if how.out:
        common.write_rows(how.out, ({**row, "ratio": round(row["ratio"], 4), "fastest": round(row["fastest"], 4), **{
            side: [float(f"{x:.4g}") for x in row[side]] for side in ("before", "after")}} for row in rows))
    print(f"{'benchmark and measurement':70} {'before s':>10} {'after s':>10} {'ratio':>6} {'fastest':>7}")
    for row in sorted(rows, key=lambda row: -row["ratio"]):
        print(f"{row['benchmark'] + ' ' + row['measurement']:70} {statistics.median(row['before']):10.4g} "
              f"{statistics.median(row['after']):10.4g} {row['ratio']:6.3f} {row['fastest']:7.3f}")
    for name in how.only:
        mine = [row for row in rows if row["benchmark"] == name]
        if mine:
            print(f"{name}: {len(mine)} measurements, ratio {statistics.median(row['ratio'] for row in mine):.3f} in the median, "
                  f"{max(row['ratio'] for row in mine):.3f} at most; of the fastest rounds "
                  f"{statistics.median(row['fastest'] for row in mine):.3f}, {max(row['fastest'] for row in mine):.3f}")
    if left_out:
        print(f"left out ({len(left_out)}):", *left_out, sep="\n  ")


if __name__ == "__main__":
    main()
