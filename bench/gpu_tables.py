#!/usr/bin/env python3
"""Compares the published engines and ours on one and several GPUs, in the shapes of the dissertation's tables 5.3, 5.4
and 5.6 to 5.13. Answers are compared before a time is taken.

  gpu_tables.py BIN_FOLDER OUT_FOLDER [--gpus 1,2,4] [--shapes a,b] [--sizes 3,4] [--threads N]
                [--itemsets N] [--data FOLDER] [--only headline|sampling|ranking|real|whole] [--keep ROWS.jsonl]

A published engine that would take long runs on a stated sample: the first partitions and iterations of a shape, or evenly chosen
test documents that fill every GPU at least. An engine with one thread for each document runs on whole folds only, because a sample
would not fill a GPU. By query, as in the published protocol, each call has the mean number of documents of a query. --data: the
folder of OHSUMED and MQ2008. --keep: the rows of an interrupted run, which this run continues. Writes results.jsonl, manifest.json
and tables.md to OUT_FOLDER.
"""

import math
import os
import pathlib

import common
from tables import keep, run, sampling_sample, shapes

CACHE_GIB = 64  # of profl and profl-t: a small cache would flatter ours
PUBLISHED_ITEMSETS = 2.5e9  # of the largest size that a published engine ranks in one run
DEEP = 5e6  # itemsets a document, from which lrar ranks few
FILLS = 1056  # documents that fill a GPU of 132 multiprocessors with a block of 256 threads each
QUERY_SECONDS = 4  # of the engines with a document a thread, by query


def by_engine(rows):
    return {row["engine"].split("/")[0].split(":")[0]: row for row in rows}


def seconds(rows, engine, field="seconds"):
    return rows[engine][field] if engine in rows else None


def over(a, b):
    return a / b if a is not None and b else None


def engines(arguments, *names):
    return [f"{name}@{n}" for name in names for n in arguments.gpus]


def cached(engine):
    return f"{engine}/{CACHE_GIB}" if engine.startswith("profl") else engine


def headline(arguments, log):
    """The targets that name a shape."""
    bench = str(arguments.bin / "l2r_bench")
    threads = str(arguments.threads)
    rows = []

    def add(name, command):
        result = by_engine(run([bench, *command], log))
        tensors = [seconds(result, engine) for engine in engines(arguments, "tensor")]
        one = result["tensor@1"]
        project = result.get("project", {"documents": 0})
        rows.append([name, one["documents"], one["training"], project["seconds"] if project["documents"] == one["documents"]
                     else None, seconds(result, "profl@1"), *tensors, one["device_s"], one["device_itemsets_per_s"],
                     over(seconds(result, "profl@1"), tensors[0]), over(tensors[0], tensors[-1]),
                     " / ".join(f"{1e3 * one[q]:.3f}" for q in ("p10_s", "seconds", "p90_s", "p99_s"))])

    many = engines(arguments, "tensor")
    profl = cached("profl@1")
    for shape, documents, u, names in (("hp2003", 29521, 1091, ["project", *many, profl]),
                                       ("web10k", 240039, 2101, ["project", *many, profl]),
                                       ("web10k", 240039, 7337, [*many, "project:500"]),
                                       ("yahoo2", 103174, 1514, [*many, "project:50"]),
                                       ("hp2003", 1000, 1091, ["project", *many, profl])):
        if shape in arguments.shapes:
            add(shape, [shape, str(documents), str(u), "4", threads, *names])
    with common.scratch() as folder:
        common.call(arguments.bin / "rulerank", "sample", "--documents", 5000, "--features", 64, "--queries", 50, "--folds", 1,
                    "--out-dir", folder, "--quiet")
        fold = folder / "Fold1"
        lines = (fold / "train.txt").read_text().splitlines(keepends=True)
        (fold / "train.txt").write_text("".join(lines[:1091]))
        add("64 features", [str(fold / "train.txt"), str(fold / "test.txt"), "0", "4", threads, "project", *many])
    head = ["input", "documents", "U", f"project s ({threads} threads)", "profl s",
            *[f"tensor s, {n} GPUs" for n in arguments.gpus], "on the device s, 1 GPU", "itemsets/s", "tensor over profl x",
            f"{arguments.gpus[-1]} GPUs over 1 x", "1 GPU p10 / median / p90 / p99 ms"]
    return [common.table(head, rows, "Targets: rule size 4, host to host")]


def sampling(arguments, log):
    rows = []
    bench = str(arguments.bin / "al_bench")
    for shape in arguments.shapes:
        published = arguments.published[shape]
        for size in arguments.sizes:
            result = by_engine(run([bench, shape, str(size), str(arguments.threads), "0", "0",
                                    *engines(arguments, "delta", "prss")], log))
            partitions, iterations = sampling_sample(published, size, arguments.seconds, least=5)
            some = by_engine(run([bench, shape, str(size), "1", str(partitions), str(iterations),
                                  "ssarp", "prss@1", "delta@1"], log))
            prss = [seconds(result, engine) for engine in engines(arguments, "prss")]
            delta = [seconds(result, engine) for engine in engines(arguments, "delta")]
            of, planned = published["partitions"], published["iterations"][str(size)]
            rows.append([shape, size, *prss, *[over(prss[0], s) for s in prss[1:]], *delta, over(prss[0], delta[0]),
                         over(result["prss@1"]["loop_s"], result["delta@1"]["loop_s"]),
                         f"{partitions} of {of} x {iterations} of {planned}", seconds(some, "ssarp"),
                         over(seconds(some, "ssarp"), seconds(some, "prss@1")),
                         over(seconds(some, "ssarp"), seconds(some, "delta@1"))])
    gpus = arguments.gpus
    head = ["shape", "rule size", *[f"prss s, {n} GPUs" for n in gpus], *[f"prss {n} over 1 x" for n in gpus[1:]],
            *[f"delta s, {n} GPUs" for n in gpus], "delta over prss, 1 GPU x", "the same, loops alone x",
            "sample: partitions x iterations", "ssarp s there", "prss over ssarp x", "delta over ssarp x"]
    return [common.table(head, rows, "Sampling (tables 5.3 and 5.4)")]


def by_query(arguments, log, name, command, size, queries_of, features):
    """Rows of the times of a query, and of the cache after all of them."""
    bench = str(arguments.bin / "l2r_bench")
    a_call = round(queries_of["documents"] / queries_of["queries"])
    # A thread takes about 2 us an itemset.
    queries = min(queries_of["queries"], max(1, int(QUERY_SECONDS / (math.comb(features, size - 1) * 2e-6))))
    documents = min(queries_of["documents"], queries * a_call)
    names = [*engines(arguments, "tensor"), "plrar@1", *map(cached, engines(arguments, "profl-t", "profl"))]
    result = {row["engine"].split("~")[0].split("/")[0]: row for row in run(
        [bench, *command(str(documents)), str(size), str(arguments.threads),
         *(f"{engine}~{a_call}" for engine in names)], log)}
    key = [name, result["profl@1"]["training"], size]
    ms = {engine: 1e3 * row["seconds_a_call"] for engine, row in result.items()}
    times = [*key, a_call, f"{documents} of {queries_of['documents']}",
             *(ms[e] for e in ("plrar@1", *engines(arguments, "profl-t", "profl", "tensor"))),
             ms["plrar@1"] / ms["profl@1"], ms["plrar@1"] / ms["profl-t@1"], ms["profl-t@1"] / ms["profl@1"],
             ms["profl@1"] / ms["tensor@1"], result["profl@1"]["gpu_fill"], result["plrar@1"]["gpu_fill"]]
    caches = []
    for engine in engines(arguments, "profl", "profl-t"):
        row = result[engine]
        for items, counts in enumerate(row["cache_by_size"], 2):
            caches.append([*key, engine, row["cache_slots"], items, *counts])
    return times, caches


def ranked(arguments, log, name, command, size, queries_of, features):
    """One input: rows for the tables of the times, of several GPUs, of the cache, and by query."""
    bench = str(arguments.bin / "l2r_bench")
    each = math.comb(features, size - 1)
    itemsets = arguments.itemsets if each < DEEP else arguments.itemsets / 4
    documents = int(max(FILLS * max(arguments.gpus), itemsets / each))
    documents = min(documents, queries_of["documents"])
    some = int(max(20 if each < DEEP else 4, min(documents, arguments.seconds / (each * 2e-7))))
    whole = documents == queries_of["documents"]
    by_thread = ["plrar@1", *map(cached, engines(arguments, "profl-t"))] if whole else []
    result = by_engine(run([bench, *command(str(documents)), str(size), "1", *engines(arguments, "tensor"), f"lrar:{some}",
                            *by_thread, *map(cached, engines(arguments, "profl"))], log))
    lrar = result.pop("lrar")
    # Times are for a query of mean length.
    share = queries_of["documents"] / queries_of["queries"]
    query = {engine: row["seconds"] / row["documents"] * share for engine, row in result.items()}
    serial = lrar["seconds"] / lrar["documents"] * share
    u = lrar["training"]
    key = [name, u, size]
    plrar = query.get("plrar@1")
    profl = [query[e] for e in engines(arguments, "profl")]
    by_thread = [query.get(e) for e in engines(arguments, "profl-t")]
    tensor = [query[e] for e in engines(arguments, "tensor")]
    times = [*key, f"{documents} of {queries_of['documents']}", f"{lrar['documents']}", serial, plrar, by_thread[0], profl[0],
             tensor[0], over(plrar, profl[0]), over(serial, profl[0]), over(plrar, by_thread[0]), over(serial, by_thread[0]),
             over(profl[0], tensor[0]), over(serial, tensor[0])]
    several = [*key]
    for column in (profl, by_thread, tensor):
        several += [*column[1:], *[over(column[0], s) for s in column[1:]]]
    several += [over(plrar, profl[-1]), over(serial, profl[-1]), *[over(t, p) for t, p in zip(by_thread, profl)]]
    row = result["profl@1"]
    cache = [*key, row["documents"], row["hits"], row["misses"], row["prefix_lookups"],
             row["hits"] + row["misses"], row["largest_itemsets"], row["seconds"], row["warm_s"]]
    return times, several, cache, *by_query(arguments, log, name, command, size, queries_of, features)


def ranking_tables(arguments, title, rows):
    gpus = arguments.gpus
    times = ["input", "U", "rule size", "documents ranked", "by lrar", "lrar s a query",
             "plrar s", "profl-t s", "profl s", "tensor s", "profl over plrar x", "profl over lrar x",
             "profl-t over plrar x", "profl-t over lrar x", "tensor over profl x", "tensor over lrar x"]
    several = ["input", "U", "rule size"]
    for engine in ("profl", "profl-t", "tensor"):
        several += [f"{engine} s, {n} GPUs" for n in gpus[1:]]
        several += [f"{engine} {n} over 1 x" for n in gpus[1:]]
    several += [f"profl on {gpus[-1]} over plrar x", f"profl on {gpus[-1]} over lrar x",
                *[f"profl over profl-t, {n} GPUs x" for n in gpus]]
    cache = ["input", "U", "rule size", "documents", "hits", "misses", "prefix look-ups",
             "hits + misses", "documents x C(m, k)", "s, empty cache", "s, filled"]
    query = ["input", "U", "rule size", "documents a query", "documents ranked", "plrar ms",
             *[f"{engine} ms, {n} GPUs" for engine in ("profl-t", "profl", "tensor") for n in gpus], "profl over plrar x",
             "profl-t over plrar x", "profl over profl-t x", "tensor over profl x", "GPU filled by profl", "by plrar"]
    by_size = ["input", "U", "rule size", "engine", "positions of a cache", "items of an itemset", "hits",
               "misses", "hits as a prefix", "misses as a prefix"]
    titles = {"one GPU, a launch of all documents, times a query": times, "several GPUs, a launch of all documents": several,
              "the cache of profl on one GPU, a launch of all documents, k = rule size - 1": cache,
              "by query (tables 5.6 to 5.11)": query,
              "the caches, by query (tables 5.12 and 5.13; a rule of size n has n - 1 items)": by_size}
    columns = [[row[at] for row in rows] for at in range(4)] + [[line for row in rows for line in row[4]]]
    return [common.table(head, of, f"{title}: {what}") for (what, head), of in zip(titles.items(), columns)]


def ranking(arguments, log):
    rows = []
    for shape in arguments.shapes:
        published = arguments.published[shape]
        part = {"documents": published["documents"][2], "queries": published["queries"][2]}
        for trained_at in (3, 4):
            u = str(published["reduced"][str(trained_at)])
            for size in arguments.sizes:
                rows.append(ranked(arguments, log, shape, lambda n, u=u, shape=shape: [shape, n, u], size,
                                   part, published["features"]))
    return ranking_tables(arguments, "Ranking", rows)


def real(arguments, log):
    """Times on the first folds of OHSUMED and MQ2008, trained on all training documents."""
    if arguments.data is None:
        return []
    chosen, rows = [], []
    for name in ("OHSUMED", "MQ2008"):
        train, test = (str(arguments.data / "letor" / name / "Fold1" / f"{part}.txt") for part in ("train", "test"))
        queries = [line.split()[1] for line in open(test)]
        part = {"documents": len(queries), "queries": len(set(queries))}
        for size in arguments.sizes:
            result = by_engine(run([str(arguments.bin / "al_bench"), train, str(size), "1", "0", "0", "ssarp",
                                    *engines(arguments, "prss", "delta")], log))
            chosen.append([name, size, result["ssarp"]["chosen"], seconds(result, "ssarp"),
                           *[seconds(result, e) for e in engines(arguments, "prss", "delta")],
                           over(seconds(result, "ssarp"), seconds(result, "prss@1")),
                           over(seconds(result, "ssarp"), seconds(result, "delta@1"))])
            rows.append(ranked(arguments, log, name, lambda n, train=train, test=test: [train, test, n], size, part, 40))
    gpus = arguments.gpus
    head = ["fold 1 of", "rule size", "chosen", "ssarp s", *[f"prss s, {n} GPUs" for n in gpus],
            *[f"delta s, {n} GPUs" for n in gpus], "prss over ssarp x", "delta over ssarp x"]
    return [common.table(head, chosen, "Real sets: sampling, until the stop rule ends it"),
            *ranking_tables(arguments, "Real sets: ranking", rows)]


def whole(arguments, log):
    """The program from files to files."""
    rows = []
    program = str(arguments.bin / "rulerank")
    for shape in ("hp2003", "web10k"):
        if shape not in arguments.shapes:
            continue
        with common.scratch() as folder:
            fold = folder / "Fold1"
            common.call(program, "sample", "--shape", shape, "--folds", 1, "--out-dir", folder, "--quiet")
            train, test = str(fold / "train.txt"), str(fold / "test.txt")
            megabytes = [os.path.getsize(f) / 1e6 for f in (train, test)]
            some = folder / "some.txt"
            devices = ["cpu", *["cuda:" + ",".join(map(str, range(n))) for n in arguments.gpus]]
            for verb in ("reduce", "rank"):
                answers = set()
                for device in devices:
                    out = folder / "out.txt"
                    options = ["--train", train] if verb == "reduce" else ["--train", str(some), "--test", test]
                    command = [program, verb, *options, "--rule-size", "4", "--out", str(out), "--device", device, "--quiet"]
                    took, _ = common.timed(lambda command=command: common.call(*command))
                    answers.add(out.read_bytes())
                    if verb == "reduce":
                        some.write_bytes(out.read_bytes())
                    log.add({"command": f"{verb} {shape} size 4", "device": device, "wall_s": took})
                    rows.append([shape, verb, sum(megabytes[:1] if verb == "reduce" else megabytes[1:]), device, took])
                if len(answers) != 1:
                    common.fail(f"{verb} {shape}: not the same file on every device")
    return [common.table(["shape", "verb", "MB read", "device", "s"], rows,
                         "Whole commands, from text files to text files, rule size 4")]


def main():
    parts = {"headline": headline, "sampling": sampling, "ranking": ranking, "real": real, "whole": whole}
    parser = common.parser(__doc__, "bin", "out", gpus=[1], shapes={"type": lambda text: text.split(","), "help": "default: all"},
                           sizes=[3, 4], threads=16,
                           seconds={"type": float, "default": 3, "help": "of a serial published engine's sample"},
                           itemsets={"type": float, "default": PUBLISHED_ITEMSETS,
                                     "help": "of the largest size that a published engine ranks in one launch, about"},
                           data=pathlib.Path, keep=pathlib.Path, only={"choices": list(parts), "action": "append"})
    a = parser.parse_args()
    a.published = shapes(a.bin)
    a.shapes = a.shapes or list(a.published)
    if a.gpus[0] != 1:
        parser.error("--gpus begins with 1, which the others are held against")
    if a.keep:
        keep(a.keep)
    common.manifest(a.out / "manifest.json", build=common.build(a.bin), gpus=common.gpus(), threads=a.threads, cache_gib=CACHE_GIB,
                    seed=1)
    done, log = [], common.Log(a.out / "results.jsonl")
    for name in a.only or parts:
        done += parts[name](a, log)
        common.write(a.out / "tables.md", "\n".join(done))
    print("\n".join(done))


if __name__ == "__main__":
    main()
