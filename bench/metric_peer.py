#!/usr/bin/env python3
"""metric_peer.py PROGRAM OUT --vectors FILE: exact k nearest vectors beside pynear and nmslib, one thread.

FILE has SISAP's text, "dimensions rows ...", then the rows. Drawn rows are queries, others the database (l2). The answers of all must
be those of `rulerank search metric --index-type brute`: the same distances within 1e-5 of themselves, the same
rows where these distances are apart. Then a JSON line an engine and k goes to OUT: seconds to make the index and to answer all
queries, the median of --rounds. Needs pynear, nmslib and numpy from PyPI.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"  # pynear's threads, read when it is loaded

import needs

needs.packages("nmslib", "numpy", "pynear")

import nmslib
import numpy
import pynear


def write_fvecs(path, rows):
    head = numpy.full((len(rows), 1), rows.shape[1], dtype="<i4").view("<f4")
    numpy.hstack([head, rows.astype("<f4")]).tofile(path)


def ours(program, folder, kind, k, queries):
    """Distances and rows [queries][k], seconds of the index and of the search."""
    done = subprocess.run([program, "search", "metric", "--collection", folder / "base.fvecs", "--queries",
                           folder / "asked.fvecs", "--index-type", kind, "--k", str(k), "--threads", "1", "--out",
                           folder / "near", "--json", "--quiet"], check=True, capture_output=True)
    near = numpy.loadtxt(folder / "near").reshape(queries, k, 4)
    seconds = json.loads(done.stdout)["seconds"]
    return near[:, :, 3], near[:, :, 2].astype(int), seconds["index"], seconds["search"]


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def of_pynear(base, asked, k, kind):
    index = getattr(pynear, kind)()
    _, made = timed(lambda: index.set(base))
    (rows, distances), took = timed(lambda: index.searchKNN(asked, k))
    rows, distances = numpy.array(rows), numpy.array(distances)
    order = numpy.argsort(distances, axis=1, kind="stable")
    return numpy.take_along_axis(distances, order, 1), numpy.take_along_axis(rows, order, 1), made, took


def of_nmslib(base, asked, k, method):
    index = nmslib.init(method=method, space="l2", data_type=nmslib.DataType.DENSE_VECTOR)
    index.addDataPointBatch(base)
    _, made = timed(lambda: index.createIndex(print_progress=False))
    found, took = timed(lambda: index.knnQueryBatch(asked, k=k, num_threads=1))
    distances = numpy.array([values for _, values in found])
    return distances, numpy.array([rows for rows, _ in found]), made, took


def same(expected, found):
    """Whether distances agree, and rows where no other is as far within what floats round."""
    distances, rows = expected
    near = 1e-5 * numpy.maximum(distances, 1e-30)
    if found[0].shape != distances.shape or (abs(found[0] - distances) > near).any():
        return False
    gap = numpy.diff(distances, axis=1, append=numpy.inf) > 2 * near
    alone = gap[:, :-1][:, 1:] & gap[:, :-1][:, :-1]
    return bool((found[1][:, 1:-1] == rows[:, 1:-1])[alone].all())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--types", default="brute,lc,sss,sss-tree,egnat,m-tree,mvpt")
    parser.add_argument("--k", default="8,16,32")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rows = numpy.loadtxt(arguments.vectors, skiprows=1, dtype=numpy.float32)
    order = numpy.random.default_rng(1).permutation(len(rows))
    asked, base = rows[order[:arguments.queries]], rows[order[arguments.queries:]]
    with tempfile.TemporaryDirectory() as name, open(arguments.out, "w") as lines:
        folder = pathlib.Path(name)
        write_fvecs(folder / "base.fvecs", base)
        write_fvecs(folder / "asked.fvecs", asked)
        for k in map(int, arguments.k.split(",")):
            expected = ours(arguments.program, folder, "brute", k, len(asked))[:2]
            engines = {f"rulerank {kind}": lambda kind=kind: ours(arguments.program, folder, kind, k, len(asked))
                       for kind in arguments.types.split(",")}
            engines |= {f"pynear {kind}": lambda kind=kind: of_pynear(base, asked, k, kind)
                        for kind in ("VPTreeL2Index",)}
            engines |= {f"nmslib {method}": lambda method=method: of_nmslib(base, asked, k, method)
                        for method in ("vptree", "seq_search")}
            for engine, search in engines.items():
                runs = [search() for _ in range(arguments.rounds)]
                agrees = same(expected, runs[0][:2])
                if not agrees and engine.startswith("rulerank"):
                    raise SystemExit(f"{engine}: other answers than brute, k {k}")
                print(json.dumps({"engine": engine, "k": k, "objects": len(base), "queries": len(asked),
                                  "same_answers": agrees,
                                  "build_s": round(statistics.median(run[2] for run in runs), 5),
                                  "search_s": round(statistics.median(run[3] for run in runs), 5)}),
                      file=lines, flush=True)


if __name__ == "__main__":
    main()
