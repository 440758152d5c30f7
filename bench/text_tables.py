#!/usr/bin/env python3
"""Search in synthetic collections of the published shapes, as in the dissertation's tables 5.15 to 5.26: compares the
published engines and ours on the CPU and on one and several GPUs, and checks the neighbours before timing.

  text_tables.py BIN_FOLDER OUT_FOLDER [--gpus 1,2,4] [--shapes a,b] [--queries N] [--k K]
                 [--threads N] [--draws N] [--keep ROWS.jsonl]

--queries 0: the published number of each shape. --draws: the number of random sets of queries, whose mean times are
reported. A shape may be the path of a real collection.

mt answers a stated sample of the queries. Writes results.jsonl, manifest.json and tables.md to OUT_FOLDER.
"""

import pathlib
import statistics

import common
from gpu_tables import over
from tables import keep, run

SHAPES = ["20ng", "4uni", "acm", "reuters90", "medline", "rcv1"]
GROUPS = [1, 5, 20, 50]
THREADS = [1, 6, 12]


def engines(arguments):
    some = max(20, arguments.queries // 25)
    names = [f"mt~{n}:{some}" for n in THREADS] + [f"tiles~{n}" for n in (1, arguments.threads)]
    names += ["gknn@1", "gt@1"]  # all queries a call, as fish
    for gpus in arguments.gpus:
        names += [f"{fish}+{group}@{gpus}" for fish in ("fish", "fish-intra") for group in GROUPS]
        names += [f"tiles@{gpus}"]
    return names + ["tiles@1:1"]


def mean(draws):
    """The rows of the first draw, with the mean times of all."""
    return [{**row, "seconds_a_query": statistics.mean(rows[i]["seconds_a_query"] for rows in draws)}
            for i, row in enumerate(draws[0])]


def main():
    arguments = common.arguments(__doc__, "bin", "out", gpus=[1], shapes=SHAPES, queries=500, k=30, threads=16, draws=1,
                                 keep=pathlib.Path)
    if arguments.keep:
        keep(arguments.keep)
    common.manifest(arguments.out / "manifest.json", build=common.build(arguments.bin), gpus=common.gpus(),
                    queries=arguments.queries, k=arguments.k, threads=arguments.threads, draws=arguments.draws)

    times, ready, memory, speed, several, groups, balance = [], [], [], [], [], [], []
    last = arguments.gpus[-1]
    log = common.Log(arguments.out / "results.jsonl")
    for shape in arguments.shapes:
        collection, shape = shape, pathlib.Path(shape).name
        rows = mean([run([str(arguments.bin / "text_bench"), collection, str(arguments.queries), str(arguments.k),
                          str(arguments.threads), f"seed={draw + 2}", *engines(arguments)], log)
                     for draw in range(arguments.draws)])
        by = {row["engine"].split(":")[0]: row for row in rows if row["engine"] != "tiles@1:1"}
        one = next(row for row in rows if row["engine"] == "tiles@1:1")
        ms = {name: row["seconds_a_query"] * 1e3 for name, row in by.items()}
        best = min(ms[f"fish+{group}@1"] for group in GROUPS)
        of = by["tiles@1"]
        times.append([shape, of["documents"], of["postings"], of["postings_of_a_query"], *[ms[f"mt~{n}"] for n in THREADS],
                      ms["tiles~1"], ms[f"tiles~{arguments.threads}"], ms["gknn@1"], ms["gt@1"], ms["fish+1@1"], ms["tiles@1"],
                      one["seconds_a_query"] * 1e3])
        ready.append([shape, *[by[f"mt~{n}"]["index_s"] for n in THREADS],
                      *[by[e]["ready_s"] for e in ("tiles~1", "gknn@1", "gt@1", "fish+1@1", "tiles@1", f"tiles@{last}")]])
        memory.append([shape, of["index_bytes"] / 1e6,
                       *[by[e]["host_bytes"] / 1e6 for e in ("mt~1", "mt~12", "tiles~1", f"tiles~{arguments.threads}")],
                       *[by[e]["device_bytes"] / 1e6 for e in ("gknn@1", "gt@1", "fish+1@1", "tiles@1", f"tiles@{last}")]])
        speed.append([shape, over(ms["mt~1"], ms["tiles~1"]), over(ms["mt~1"], ms["fish+1@1"]), over(ms["gt@1"], ms["fish+1@1"]),
                      over(ms["gknn@1"], ms["fish+1@1"]), over(ms["fish+1@1"], ms["tiles@1"]), over(best, ms["tiles@1"]),
                      over(ms[f"tiles~{arguments.threads}"], ms["tiles@1"]), over(ms["mt~1"], ms["mt~6"]), over(ms["mt~1"],
                                                                                                                ms["mt~12"])])
        several.append([shape, *[ms[f"tiles@{n}"] * 1e3 for n in arguments.gpus],
                        *[over(ms["tiles@1"], ms[f"tiles@{n}"]) for n in arguments.gpus[1:]],
                        *[over(ms["fish+1@1"], ms[f"fish+1@{n}"]) for n in arguments.gpus[1:]]])
        groups.append([shape, *[ms[f"fish+{g}@{n}"] for n in arguments.gpus for g in GROUPS]])
        balance += [[shape, gpus, *[ms[f"fish-intra+{g}@{gpus}"] for g in GROUPS],
                     *[over(ms[f"fish-intra+{g}@{gpus}"], ms[f"fish+{g}@{gpus}"]) for g in GROUPS],
                     *[by[f"{fish}+1@{gpus}"]["busiest_block_a_query"] for fish in ("fish", "fish-intra")]]
                    for gpus in arguments.gpus]

    n = arguments.threads
    gpus = arguments.gpus
    tables = {
        "Milliseconds a query (table 5.15)": (
            ["shape", "documents", "postings", "of a query's lists", *[f"mt, {t} threads" for t in THREADS], "tiles, 1 thread",
             f"tiles, {n} threads", "gknn, 1 GPU", "gt, 1 GPU", "fish, 1 GPU", "tiles, 1 GPU", "tiles, 1 GPU, one query"], times),
        "Seconds to make an engine ready, from the index in memory (table 5.16)": (
            ["shape", *[f"the index itself, {t} threads" for t in THREADS], "tiles, CPU", "gknn", "gt", "fish", "tiles, 1 GPU",
             f"tiles, {last} GPUs"], ready),
        "Megabytes: the index, what engines on the CPU add to it at most, what GPUs hold (table 5.22)": (
            ["shape", "index", "mt, 1 thread", "mt, 12 threads", "tiles, 1 thread", f"tiles, {n} threads", "gknn", "gt", "fish",
             "tiles, 1 GPU", f"tiles, {last} GPUs together"], memory),
        "Ratios, one GPU where not told (tables 5.17 and 5.19)": (
            ["shape", "tiles over mt, 1 thread x", "fish over mt x", "fish over gt x", "fish over gknn x", "tiles over fish x",
             "tiles over fish's best group x", f"tiles over its {n} threads x", "mt, 6 threads over 1 x", "12 over 1 x"], speed),
        "Several GPUs: microseconds a query of tiles, ratios (table 5.18)": (
            ["shape", *[f"tiles us, {g} GPUs" for g in gpus], *[f"{engine} {g} over 1 x" for engine in ("tiles", "fish") for g in gpus[1:]]],
            several),
        "fish: milliseconds a query by group and GPUs (tables 5.23 and 5.24)": (
            ["shape", *[f"group {g}, {d} GPUs" for d in gpus for g in GROUPS]], groups),
        "fish: balance within blocks, milliseconds a query, and between over within (tables 5.25, 5.26)": (
            ["shape", "GPUs", *[f"within, group {g}" for g in GROUPS], *[f"between over within, group {g} x" for g in GROUPS],
             "postings of the busiest block, between", "within"], balance)}
    text = "\n".join(common.table(head, rows, title) for title, (head, rows) in tables.items())
    common.write(arguments.out / "tables.md", text)
    print(text)


if __name__ == "__main__":
    main()
