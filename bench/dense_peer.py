#!/usr/bin/env python3
"""Exact search in dense vectors on the CPU beside FAISS's flat index: the same files, the same threads, one run.

    dense_peer.py DENSE_BENCH OUT_FOLDER [--threads N] [--shapes 70000x784,...] [--k 32,128] [--batches 1,16,32,128]
                  [--metrics l2,ip] [--scratch FOLDER]

Rows and queries are normal values, drawn with a seed and written as .npy to --scratch. dense_bench holds its answers
against the definition, to the bit, before it times them. FAISS's are held against ours: a neighbour that we do not
have must be as near as our farthest, within a float's rounding. FAISS compares small batches row by row and larger ones
by OpenBLAS; both ways are tried for every batch, and the faster one counts. Each side has two turns, one after the other's;
in a turn each batch is searched three times or more and the median counts, and of a side's two turns the better one. Whole calls,
rows and queries in memory. Writes results.jsonl and table.md.
Needs numpy and faiss-cpu from PyPI.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

import faiss
import numpy

METRICS = {"l2": faiss.METRIC_L2, "ip": faiss.METRIC_INNER_PRODUCT}


def draw(path, rows, dimensions, seed):
    random = numpy.random.default_rng(seed)
    values = numpy.lib.format.open_memmap(path, "w+", numpy.float32, (rows, dimensions))
    for begin in range(0, rows, 1 << 17):
        part = values[begin:begin + (1 << 17)]
        part[:] = random.standard_normal(part.shape, numpy.float32)


def ours(bench, rows, queries, metric, k, batches, threads):
    """Median seconds by the size of the batch."""
    report = subprocess.run(
        [bench, f"rows={rows}", f"queries={queries}", f"metric={metric}", f"k={k}", f"threads={threads}",
         "batches=" + ",".join(map(str, batches)), "--benchmark_format=json", "--benchmark_min_time=0.1", "--benchmark_repetitions=3",
         "--benchmark_report_aggregates_only=true"], check=True, capture_output=True, text=True).stdout
    medians = {}
    for run in json.loads(report)["benchmarks"]:
        if run["aggregate_name"] == "median" and run["name"].startswith("flat/"):
            medians[int(run["run_name"].split("/")[-2])] = run["real_time"] / 1000
    return medians


def theirs(index, queries, k):
    """The median seconds of the faster way, and what was found."""
    best = float("inf")
    for by_blas in (False, True):
        faiss.cvar.distance_compute_blas_threshold = 1 if by_blas else 1 << 30
        times = []
        while len(times) < 3 or (sum(times) < 0.5 and len(times) < 30):
            begin = time.perf_counter()
            found = index.search(queries, k)
            times.append(time.perf_counter() - begin)
        best = min(best, statistics.median(times))
    return best, found


def check(rows, queries, metric, k, found):
    """FAISS's neighbours of the first queries are the k nearest, within a float's rounding."""
    for q in range(min(3, len(queries))):
        query = queries[q].astype(numpy.float64)
        values = numpy.empty(len(rows))
        for begin in range(0, len(rows), 1 << 16):
            part = rows[begin:begin + (1 << 16)].astype(numpy.float64)
            values[begin:begin + len(part)] = (-(part @ query) if metric == "ip"
                                               else ((part - query) ** 2).sum(axis=1))
        farthest = numpy.partition(values, k - 1)[k - 1]
        scale = abs(values).max()
        assert (values[found[1][q]] <= farthest + 1e-5 * scale).all(), "FAISS finds others"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shapes", default="70000x784,1275219x128,3000000x300,300000x128")
    parser.add_argument("--k", default="32,128")
    parser.add_argument("--batches", default="1,16,32,128")
    parser.add_argument("--metrics", default="l2,ip")
    parser.add_argument("--scratch", type=pathlib.Path)
    a = parser.parse_args()
    faiss.omp_set_num_threads(a.threads)
    a.out.mkdir(parents=True, exist_ok=True)
    batches = [int(n) for n in a.batches.split(",")]
    lines = []
    with tempfile.TemporaryDirectory(dir=a.scratch) as folder, \
            open(a.out / "results.jsonl", "w", encoding="ascii") as log:
        for shape in a.shapes.split(","):
            count, dimensions = map(int, shape.split("x"))
            paths = [os.path.join(folder, name) for name in ("rows.npy", "queries.npy")]
            draw(paths[0], count, dimensions, 1)
            draw(paths[1], max(batches), dimensions, 2)
            rows, queries = (numpy.load(path, mmap_mode="r") for path in paths)
            for metric in a.metrics.split(","):
                index = faiss.IndexFlat(dimensions, METRICS[metric])
                index.add(numpy.ascontiguousarray(rows))
                for k in map(int, a.k.split(",")):
                    own, peer, found = [], [], None
                    for _ in range(2):
                        own.append(ours(a.bench, *paths, metric, k, batches, a.threads))
                        peer.append({})
                        for n in batches:
                            peer[-1][n], found = theirs(index, numpy.ascontiguousarray(queries[:n]), k)
                    check(rows, queries, metric, k, found)
                    for n in batches:
                        seconds, of_peer = (min(turn[n] for turn in turns) for turns in (own, peer))
                        row = {"shape": shape, "metric": metric, "k": k, "queries": n, "threads": a.threads,
                               "rulerank_ms": round(1000 * seconds, 4), "faiss_ms": round(1000 * of_peer, 4),
                               "ratio": round(of_peer / seconds, 3), "faiss": faiss.__version__,
                               "rows_gb_s": round(count * dimensions * 4 / seconds / 1e9, 2),
                               "processor": platform.processor() or platform.machine()}
                        print(json.dumps(row), file=log, flush=True)
                        print(json.dumps(row), flush=True)
                        lines.append(row)
                del index
            for path in paths:
                os.unlink(path)
    lines.sort(key=lambda row: row["ratio"])
    columns = ("shape", "metric", "k", "queries", "rulerank_ms", "faiss_ms", "ratio", "rows_gb_s")
    (a.out / "table.md").write_text("\n".join(
        ["| " + " | ".join(columns) + " |", "|" + " --: |" * len(columns),
         *("| " + " | ".join(str(row[name]) for name in columns) + " |" for row in lines)]) + "\n", "ascii")


if __name__ == "__main__":
    main()
