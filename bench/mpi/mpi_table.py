#!/usr/bin/env python3
"""Cordeiro 2023, Table 5.1, on the CPU: the published cluster search, `mpi-knn`, compared with `flat` on the same number
of cores.

    mpi_table.py PROGRAM OUT_FOLDER --ranks N [--rows 700000] [--queries 512,1024,2048,4096,8192] [--rounds 3]

Generates rows of 128 floats between 0 and 1; k = 32, l2. `mpi-knn` has N ranks of one thread each, `flat` one process
with N threads; rounds alternate. Writes rows.jsonl (one line per run), manifest.json and table.md: the medians of the
stage `search`, which begins with rows and queries in memory, and of the whole command. `mpi-knn` sums in single
precision: a row is accepted if its distance is within .001 % of that of the neighbour that `flat` has in its place;
any other row fails the run. Needs numpy.
"""

import itertools
import json
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

numpy, = needs.packages("numpy")

DIMENSIONS, K = 128, 32


def draw(path, count, dice):
    """Writes a random .fbin file: two 32-bit numbers and the values."""
    with open(path, "wb") as out:
        numpy.array([count, DIMENSIONS], "<u4").tofile(out)
        dice.random((count, DIMENSIONS), "f4").tofile(out)


def run(program, folder, engine, queries, ranks):
    """The row of a run, and the neighbours' distances."""
    line = [program, "search", "dense", "--collection", "rows.fbin", "--queries", f"{queries}.fbin", "--k", K, "--engine", engine,
            "--device", "cpu", "--quiet", "--out", "out.ibin", "--values", "values.fbin", "--manifest", "manifest.json"]
    if engine == "mpi-knn":
        line = [*common.on_cores(ranks), *line, "--threads", 1]
    else:
        line += ["--threads", ranks]
    environment = common.MPI | {"OMP_NUM_THREADS": str(ranks if engine == "flat" else 1)}
    seconds, _ = common.timed(lambda: common.call(*line, cwd=folder, env=environment, stdin=subprocess.DEVNULL))
    manifest = json.loads((folder / "manifest.json").read_text())
    values = numpy.fromfile(folder / "values.fbin", "<f4")[2:].reshape(queries, K)
    return {"engine": engine, "queries": queries, "ranks": ranks, "search_s": manifest["seconds"]["search"],
            "whole_s": round(seconds, 4),
            "peak_memory_bytes": max(manifest.get("peak_memory_bytes_of_ranks", [manifest["peak_memory_bytes"]]))}, values


def markdown(rows):
    lines = []
    for queries in sorted(rows.values("queries")):
        cells = [str(queries)]
        for what in ("search_s", "whole_s"):
            published, ours = (statistics.median(row[what] for row in rows.where(queries=queries, engine=engine))
                               for engine in ("mpi-knn", "flat"))
            cells += [f"{published:.3f}", f"{ours:.3f}", f"{published / ours:.2f}"]
        lines.append(cells)
    return common.table(["queries", "`mpi-knn`, search s", "`flat`, search s", "ratio", "`mpi-knn`, whole s", "`flat`, whole s",
                         "ratio"], lines)


def main():
    a = common.arguments(__doc__, "program", "out", ranks={"type": int, "required": True}, rows=700000,
                         queries=[512, 1024, 2048, 4096, 8192], rounds=3)
    rows, dice = common.Log(a.out / "rows.jsonl"), numpy.random.default_rng(1)
    with common.scratch() as folder:
        draw(folder / "rows.fbin", a.rows, dice)
        for queries in a.queries:
            draw(folder / f"{queries}.fbin", queries, dice)
        for turn, queries in itertools.product(range(a.rounds), a.queries):
            published, found = run(a.program, folder, "mpi-knn", queries, a.ranks)
            ours, expected = run(a.program, folder, "flat", queries, a.ranks)
            farthest = float(abs(found / expected - 1).max())
            if farthest > 1e-5:
                common.fail(f"{queries} queries: distances differ by {farthest:.2g} of themselves")
            for row in (published, ours):
                rows.add({"round": turn, **row})
            common.write(a.out / "table.md", markdown(rows))
    common.manifest(a.out / "manifest.json", **common.build(a.program))


if __name__ == "__main__":
    main()
