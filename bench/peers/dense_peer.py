#!/usr/bin/env python3
"""Compares exact search in dense vectors on the CPU with FAISS's flat index: same files, same threads, one run.

    dense_peer.py DENSE_BENCH OUT_FOLDER [--threads N] [--shapes 70000x784,...] [--k 32,128] [--batches 1,16,32,128]
                  [--metrics l2,ip] [--turns 2] [--scratch FOLDER]

Rows and queries are random normal values with a fixed seed, written as .npy to --scratch. dense_bench compares its results with the
definition, bit for bit, before it times them. The neighbours that FAISS finds and ours lack must be as near as our farthest one,
within the rounding of a float.

FAISS runs with every setting that a user can give it. The fastest setting of each batch counts and is stored:
  row by row, or by OpenBLAS (distance_compute_blas_threshold);
  by OpenBLAS with 1,024 rows at once (the default), 4,096 and 16,384 (distance_compute_blas_database_bs);
  with the kernels that OpenBLAS picks for the processor, and with those of OPENBLAS_CORETYPE Haswell and SkylakeX if the processor
  has AVX2 and AVX-512. The wheel contains OpenBLAS 0.3.15 of 2021, which uses SSE3 kernels on a processor that it does not know.
A setting is dropped if its first search takes more than 1.3 times as long as the fastest one with the same kernels. Row by row is
not tried for larger batches once it takes more than twice as long. The results also have the first search of each setting
("first_ms"), the kernels that OpenBLAS picked by itself ("picked"), and the number of cores that FAISS used: processor seconds
divided by wall seconds.

Each side has several turns (--turns), which alternate. A turn searches each batch at least three times and takes the median; the
better turn of each side is reported. Times are of whole calls, with rows and queries in memory. Writes results.jsonl and table.md.
Needs numpy and faiss-cpu from PyPI.
"""

import concurrent.futures
import ctypes
import sys
from importlib.metadata import version
import multiprocessing
import os
import pathlib
import platform
import statistics
import time
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

needs.expect("faiss")
numpy, = needs.packages("numpy")

BLOCKS = (1024, 4096, 16384)


def draw(path, rows, dimensions, seed):
    random = numpy.random.default_rng(seed)
    values = numpy.lib.format.open_memmap(path, "w+", numpy.float32, (rows, dimensions))
    for begin in range(0, rows, 1 << 17):
        part = values[begin:begin + (1 << 17)]
        part[:] = random.standard_normal(part.shape, numpy.float32)


def ours(bench, rows, queries, metric, k, batches, threads):
    """Median seconds by batch size."""
    report = common.told(bench, f"rows={rows}", f"queries={queries}", f"metric={metric}", f"k={k}", f"threads={threads}", "batches="
                         + ",".join(map(str, batches)), "--benchmark_format=json", "--benchmark_min_time=0.1",
                         "--benchmark_repetitions=3", "--benchmark_report_aggregates_only=true")
    medians = {}
    for run in report["benchmarks"]:
        if run["aggregate_name"] == "median" and run["name"].startswith("flat/"):
            medians[int(run["run_name"].split("/")[-2])] = run["real_time"] / 1000
    return medians


def core_types():
    """Values of OPENBLAS_CORETYPE for this processor; with the first, OpenBLAS decides."""
    info = pathlib.Path("/proc/cpuinfo")
    flags = set(info.read_text().split()) if info.exists() else set()
    return ["", *(name for name, flag in (("Haswell", "avx2"), ("SkylakeX", "avx512f")) if flag in flags)]


def openblas_kernels():
    """The kernels of the OpenBLAS that this process has loaded with FAISS; None where it has none."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        path = line.split()[-1]
        if "openblas" in path and "numpy" not in path:
            name = ctypes.CDLL(path).openblas_get_corename
            name.restype = ctypes.c_char_p
            return name().decode()
    return None


def search_with_faiss(paths, metric, k, batches, threads, core_type):
    """In a process of its own, since OpenBLAS picks its kernels when it is loaded: the kernels; by the size of the batch the median
    seconds of the fastest setting, the setting, the cores that it used, and what was found; and the first search of each setting in ms."""
    import faiss
    faiss.omp_set_num_threads(threads)
    rows, queries = (numpy.load(path, mmap_mode="r") for path in paths)
    index = faiss.IndexFlat(rows.shape[1], {"l2": faiss.METRIC_L2, "ip": faiss.METRIC_INNER_PRODUCT}[metric])
    index.add(numpy.ascontiguousarray(rows))
    kernels = openblas_kernels()
    settings = [(1, block) for block in BLOCKS]
    if not core_type:
        settings.append((1 << 30, BLOCKS[0]))

    def name_of(setting):
        return "row by row" if setting[0] > 1 else f"OpenBLAS {kernels}, {setting[1]} rows"

    def search(setting, batch):
        faiss.cvar.distance_compute_blas_threshold, faiss.cvar.distance_compute_blas_database_bs = setting
        begin, used = time.perf_counter(), time.process_time()
        found = index.search(batch, k)[1]
        return time.perf_counter() - begin, time.process_time() - used, found

    best, tried = {}, {}
    for n in sorted(batches):
        batch = numpy.ascontiguousarray(queries[:n])
        search(settings[0], batch)
        first = {setting: search(setting, batch)[0] for setting in settings}
        tried[n] = {name_of(setting): round(1000 * seconds, 4) for setting, seconds in first.items()}
        settings = [setting for setting in settings if setting[0] == 1 or first[setting] <= 2 * min(first.values())]
        for setting in settings:
            if first[setting] > 1.3 * min(first.values()):
                continue
            times, used = [], []
            while len(times) < 3 or (sum(times) < 0.5 and len(times) < 30):
                seconds, of_threads, found = search(setting, batch)
                times.append(seconds)
                used.append(of_threads)
            median = statistics.median(times)
            if n not in best or median < best[n][0]:
                best[n] = median, name_of(setting), round(sum(used) / sum(times), 2), found[:3]
    return kernels, best, tried


def theirs(paths, metric, k, batches, threads):
    """The best of all core types by batch size, as in search_with_faiss; the kernels that OpenBLAS selected; all first searches."""
    best, picked, tried = {}, None, {n: {} for n in batches}
    for core_type in core_types():
        with unittest.mock.patch.dict(os.environ, {"OPENBLAS_CORETYPE": core_type}):
            if not core_type:
                del os.environ["OPENBLAS_CORETYPE"]
            with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                kernels, found, of_type = process.submit(search_with_faiss, paths, metric, k, batches, threads, core_type).result()
        picked = picked or kernels
        for n in batches:
            best[n] = min(best.get(n, found[n]), found[n], key=lambda one: one[0])
            tried[n].update(of_type[n])
    return best, picked, tried


def values_of(rows, query, metric):
    """The defined values, one per row, smaller is nearer; computed on all cores."""
    query = query.astype(numpy.float64)

    def of(begin):
        part = rows[begin:begin + (1 << 13)].astype(numpy.float64)
        return -(part @ query) if metric == "ip" else ((part - query) ** 2).sum(axis=1)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return numpy.concatenate(list(threads.map(of, range(0, len(rows), 1 << 13))))


def check(values, k, found):
    """Expects FAISS's neighbours of the first queries to be the k nearest, within the rounding of a float."""
    for q, ids in enumerate(found):
        farthest = numpy.partition(values[q], k - 1)[k - 1]
        scale = abs(values[q]).max()
        assert (values[q][ids] <= farthest + 1e-5 * scale).all(), "FAISS finds others"


def main():
    a = common.arguments(__doc__, "bench", "out", threads=len(os.sched_getaffinity(0)), k=[32, 128], batches=[1, 16, 32, 128],
                         shapes=["70000x784", "1275219x128", "3000000x300", "300000x128"], metrics=["l2", "ip"], turns=2,
                         scratch=pathlib.Path)
    lines = common.Log(a.out / "results.jsonl", shown=True)
    with common.scratch(dir=a.scratch) as folder:
        for shape in a.shapes:
            count, dimensions = map(int, shape.split("x"))
            paths = [os.path.join(folder, name) for name in ("rows.npy", "queries.npy")]
            draw(paths[0], count, dimensions, 1)
            draw(paths[1], max(a.batches), dimensions, 2)
            rows, queries = (numpy.load(path, mmap_mode="r") for path in paths)
            for metric in a.metrics:
                values = [values_of(rows, query, metric) for query in queries[:3]]
                for k in a.k:
                    turns = common.in_turn(a.turns, {"own": lambda: ours(a.bench, *paths, metric, k, a.batches, a.threads),
                                                     "peer": lambda: theirs(paths, metric, k, a.batches, a.threads)})
                    _, picked, tried = turns["peer"][-1]
                    for n in a.batches:
                        seconds = min(turn[n] for turn in turns["own"])
                        of_peer, setting, cores, found = min((turn[0][n] for turn in turns["peer"]), key=lambda one: one[0])
                        check(values, k, found)
                        lines.add({"shape": shape, "metric": metric, "k": k, "queries": n, "threads": a.threads,
                                   "rulerank_ms": round(1000 * seconds, 4), "faiss_ms": round(1000 * of_peer, 4),
                                   "ratio": round(of_peer / seconds, 3), "setting": setting, "cores": cores, "picked": picked,
                                   "first_ms": tried[n], "faiss": version("faiss-cpu"),
                                   "rows_gb_s": round(count * dimensions * 4 / seconds / 1e9, 2),
                                   "processor": platform.processor() or platform.machine()})
            for path in paths:
                os.unlink(path)
    columns = ("shape", "metric", "k", "queries", "rulerank_ms", "faiss_ms", "ratio", "setting", "cores", "rows_gb_s")
    common.write(a.out / "table.md", common.table(columns, [[str(row[name]) for name in columns]
                                                            for row in sorted(lines, key=lambda row: row["ratio"])]))


if __name__ == "__main__":
    main()
