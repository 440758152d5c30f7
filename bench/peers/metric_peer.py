#!/usr/bin/env python3
"""metric_peer.py PROGRAM OUT --vectors FILE: exact k nearest vectors compared with pynear and nmslib, one thread.

FILE is in SISAP's text format, "dimensions rows ...", then the rows. Random rows are queries, the others the database
(l2). All results must equal those of `rulerank search metric --index-type brute`: the same distances within 1e-5
relative, and the same rows unless distances are that close. Then a JSON line per engine and k is written to OUT:
seconds to make the index and to answer all queries, the median of --rounds. Needs pynear, nmslib and numpy from PyPI.
"""

import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

os.environ["OMP_NUM_THREADS"] = "1"  # pynear's threads, read when it is loaded
nmslib, numpy, pynear = needs.packages("nmslib", "numpy", "pynear")


def write_fvecs(path, rows):
    head = numpy.full((len(rows), 1), rows.shape[1], dtype="<i4").view("<f4")
    numpy.hstack([head, rows.astype("<f4")]).tofile(path)


def ours(program, folder, kind, k, queries):
    """Distances and rows [queries][k], seconds of the index and of the search."""
    seconds = common.told(program, "search", "metric", "--collection", folder / "base.fvecs", "--queries", folder / "asked.fvecs",
                          "--index-type", kind, "--k", k, "--threads", 1, "--out", folder / "near", "--json", "--quiet")["seconds"]
    near = numpy.loadtxt(folder / "near").reshape(queries, k, 4)
    return near[:, :, 3], near[:, :, 2].astype(int), seconds["index"], seconds["search"]


def of_pynear(base, asked, k, kind):
    index = getattr(pynear, kind)()
    made, _ = common.timed(lambda: index.set(base))
    took, (rows, distances) = common.timed(lambda: index.searchKNN(asked, k))
    rows, distances = numpy.array(rows), numpy.array(distances)
    order = numpy.argsort(distances, axis=1, kind="stable")
    return numpy.take_along_axis(distances, order, 1), numpy.take_along_axis(rows, order, 1), made, took


def of_nmslib(base, asked, k, method):
    index = nmslib.init(method=method, space="l2", data_type=nmslib.DataType.DENSE_VECTOR)
    index.addDataPointBatch(base)
    made, _ = common.timed(lambda: index.createIndex(print_progress=False))
    took, found = common.timed(lambda: index.knnQueryBatch(asked, k=k, num_threads=1))
    distances = numpy.array([values for _, values in found])
    return distances, numpy.array([rows for rows, _ in found]), made, took


def same(expected, found):
    """Whether distances agree, and rows unless others are equally far within the rounding of floats."""
    distances, rows = expected
    near = 1e-5 * numpy.maximum(distances, 1e-30)
    if found[0].shape != distances.shape or (abs(found[0] - distances) > near).any():
        return False
    gap = numpy.diff(distances, axis=1, append=numpy.inf) > 2 * near
    alone = gap[:, :-1][:, 1:] & gap[:, :-1][:, :-1]
    return bool((found[1][:, 1:-1] == rows[:, 1:-1])[alone].all())


def main():
    a = common.arguments(__doc__, "program", "lines", vectors={"required": True}, queries=500,
                         types=["brute", "lc", "sss", "sss-tree", "egnat", "m-tree", "mvpt"], k=[8, 16, 32], rounds=3)
    rows = numpy.loadtxt(a.vectors, skiprows=1, dtype=numpy.float32)
    order = numpy.random.default_rng(1).permutation(len(rows))
    asked, base = rows[order[:a.queries]], rows[order[a.queries:]]
    log = common.Log(a.lines)
    with common.scratch() as folder:
        write_fvecs(folder / "base.fvecs", base)
        write_fvecs(folder / "asked.fvecs", asked)
        for k in a.k:
            expected = ours(a.program, folder, "brute", k, len(asked))[:2]
            engines = {f"rulerank {kind}": lambda kind=kind: ours(a.program, folder, kind, k, len(asked)) for kind in a.types}
            engines["pynear VPTreeL2Index"] = lambda: of_pynear(base, asked, k, "VPTreeL2Index")
            engines |= {f"nmslib {method}": lambda method=method: of_nmslib(base, asked, k, method)
                        for method in ("vptree", "seq_search")}
            for engine, search in engines.items():
                runs = [search() for _ in range(a.rounds)]
                agrees = same(expected, runs[0][:2])
                if not agrees and engine.startswith("rulerank"):
                    common.fail(f"{engine}: other answers than brute, k {k}")
                log.add({"engine": engine, "k": k, "objects": len(base), "queries": len(asked), "same_answers": agrees,
                         "build_s": round(statistics.median(run[2] for run in runs), 5),
                         "search_s": round(statistics.median(run[3] for run in runs), 5)})


if __name__ == "__main__":
    main()
