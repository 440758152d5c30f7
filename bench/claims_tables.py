#!/usr/bin/env python3
"""Makes the tables of the runs that README and docs/studies/benchmarks.md quote.

    claims_tables.py FOLDER

FOLDER has one or more of sampling.jsonl and pssarp.jsonl of al_bench, search.jsonl of text_bench, and peers.jsonl of
text_peer_gpu.py. Whole runs are compared with whole runs, loops with loops, and the worst rows are printed with the best. Writes
FOLDER/tables.md. A ratio is the median over the rounds, with its minimum and maximum in brackets.
"""

import common


def bracketed(ratio):
    return None if ratio is None else common.between(ratio)


def sampling(found):
    body = []
    for published, ours in zip(found[::2], found[1::2]):
        assert (published["engine"], ours["engine"]) == ("prss@1", "delta@1"), "not prss, then delta"
        body.append([ours["input"], ours["rule_size"], ours["rounds"], published["seconds"], ours["seconds"],
                     bracketed(ours["whole_ratio"]), published["loop_s"], ours["loop_s"], bracketed(ours["loop_ratio"])])
    return common.table(["shape", "rule size", "rounds", "prss s", "delta s", "whole over whole x", "prss, loops s",
                         "delta, loops s", "loops over loops x"], body,
                        "Sampling on one H200: `delta` over `prss`, from bin codes in memory to chosen documents")


def pssarp(found):
    body, serial = [], None
    for row in found:
        if row["engine"] == "ssarp":
            serial = row
        body.append([row["input"], row["rule_size"], row["iterations"], row["engine"].partition("~")[0], row["threads"],
                     row["seconds"], bracketed(row["whole_ratio"]), row["loop_s"], bracketed(row["loop_ratio"])]
                    if row is not serial else [row["input"], row["rule_size"], row["iterations"], "ssarp", 1, row["seconds"], None,
                                               row["loop_s"], None])
    return common.table(["shape", "rule size", "iterations", "engine", "threads", "whole s", "over ssarp x", "loops s",
                         "over ssarp x"], body, "`pssarp` over `ssarp`, one process, the first partition")


def by_input(found):
    inputs = {}
    for row in found:
        inputs.setdefault(row["input"], {})[row["engine"].partition(":")[0]] = row
    return inputs


def ratio(of, over):
    """The ratio of times a query, and of times for all queries plus the preparation of each side."""
    a_query = [a / b for a, b in zip(of["round_s"], over["round_s"])]
    queries = over["all_queries"]
    whole = [(of["ready_s"] + queries * a) / (over["ready_s"] + queries * b) for a, b in zip(of["round_s"], over["round_s"])]
    return common.between(a_query), common.between(whole)


def search(found):
    cpu, gpu = [], []
    for name, engines in by_input(found).items():
        one, many = engines["tiles~1"], next(row for e, row in engines.items() if e.startswith("tiles~") and e != "tiles~1")
        mt = engines["mt~1"]
        cpu.append([name, mt["seconds_a_query"] * 1e3, one["seconds_a_query"] * 1e3, one["ready_s"], *ratio(mt, one),
                    many["seconds_a_query"] * 1e3, *ratio(engines["mt~12"], many)])
        ours = engines["tiles@1"]
        fish = {e: row for e, row in engines.items() if e.startswith("fish+")}
        best = min(fish, key=lambda e, fish=fish: fish[e]["seconds_a_query"])
        gpu.append([name, ours["seconds_a_query"] * 1e6, ours["ready_s"],
                    *(cell for e in ("gknn@1", "gt@1", "fish+1@1") for cell in ratio(engines[e], ours)),
                    best.partition("@")[0].partition("+")[2], *ratio(fish[best], ours), ratio(many, ours)[0]])
    queries = found[0]["all_queries"]
    return "\n".join([common.table(["shape", "mt, 1 thread, ms a query", "tiles, 1 thread, ms", "tiles ready s", "a query x",
                                    f"ready and {queries} queries x", "tiles, 16 threads, ms", "over mt on 12, a query x",
                                    "ready and all x"], cpu, f"Search on the CPU: `tiles` over `mt`, k = {found[0]['k']}"),
                      common.table(["shape", "tiles us a query", "ready s", "gknn: a query x", "ready and all x", "gt: a query x",
                                    "ready and all x", "fish: a query x", "ready and all x", "best group of fish", "it: a query x",
                                    "ready and all x", "tiles on 16 threads: a query x"], gpu,
                                   f"Search on one H200, {queries} queries a call for all engines: `tiles` over the published ones")])


def peers(found):
    body = []
    for name in dict.fromkeys(row["input"] for row in found):
        timed = [row for row in found if row["input"] == name and "seconds_a_query" in row]
        ours = next(row for row in timed if row["form"] == "tiles")
        for row in sorted(timed, key=lambda r: r["seconds_a_query"]):
            if row is not ours:
                body.append([name, row["form"], row["batch"], row["seconds_a_query"] * 1e6, bracketed(row["ratio"]),
                             row["ready_s"], bracketed(row["whole_ratio"])])
        body += [[name, row["form"], None, None, row["not_timed"], None, None]
                 for row in found if row["input"] == name and "not_timed" in row]
    return common.table(["input", "form", "batch", "us a query", "a query x", "ready s", "ready and 500 queries x"], body,
                        "Search on one H200: forms of other libraries over `tiles`, fastest first")


def main():
    folder = common.arguments(__doc__, "folder").folder
    found = {tabled: common.read_rows(folder / f"{tabled.__name__}.jsonl") for tabled in (sampling, pssarp, search, peers)}
    common.write(folder / "tables.md", "\n".join(tabled(rows) for tabled, rows in found.items() if rows))


if __name__ == "__main__":
    main()
