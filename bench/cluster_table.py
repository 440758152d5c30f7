#!/usr/bin/env python3
"""Cordeiro 2023, Table 5.1, on the CPU in shape: the published search on a cluster, `mpi-knn`, beside `flat`, on as many cores.

    cluster_table.py PROGRAM OUT_FOLDER --ranks N [--rows 700000] [--queries 512,1024,2048,4096,8192] [--rounds 3]

Rows of 128 floats between 0 and 1 are drawn, k = 32, l2. `mpi-knn` is N ranks of one thread each, `flat` one process of N threads. The
rounds take turns. Writes rows.jsonl (a line a run), manifest.json and table.md: the medians of the stage `search`, in which rows and
queries are in memory, and of the whole command. `mpi-knn` sums in single precision: a row whose distance is within .001 % of the
neighbour's that `flat` has in its place is as good; another one ends the run. Needs numpy.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import needs

needs.packages("numpy")

import numpy

from cluster import ENVIRONMENT, MPIRUN
from tables import build, machine

DIMENSIONS, K = 128, 32


def draw(path, count, dice):
    """An .fbin file: two 32-bit numbers and the values."""
    with open(path, "wb") as out:
        numpy.array([count, DIMENSIONS], "<u4").tofile(out)
        dice.random((count, DIMENSIONS), "f4").tofile(out)


def run(program, folder, engine, queries, ranks):
    """The row of a run, and the neighbours' distances."""
    line = [program, "search", "dense", "--collection", "rows.fbin", "--queries", f"{queries}.fbin", "--k", str(K), "--engine", engine,
            "--device", "cpu", "--quiet", "--out", "out.ibin", "--values", "values.fbin", "--manifest", "manifest.json"]
    if engine == "mpi-knn":
        line = [*MPIRUN, "-n", str(ranks), *line, "--threads", "1"]
    else:
        line += ["--threads", str(ranks)]
    begin = time.perf_counter()
    done = subprocess.run(line, cwd=folder, env=ENVIRONMENT | {"OMP_NUM_THREADS": str(ranks if engine == "flat" else 1)}, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"cluster_table.py: {' '.join(line)}: {done.stderr.decode()}")
    manifest = json.loads((folder / "manifest.json").read_text())
    values = numpy.fromfile(folder / "values.fbin", "<f4")[2:].reshape(queries, K)
    return {"engine": engine, "queries": queries, "ranks": ranks, "search_s": manifest["seconds"]["search"], "whole_s": round(seconds, 4),
            "peak_memory_bytes": max(manifest.get("peak_memory_bytes_of_ranks", [manifest["peak_memory_bytes"]]))}, values


def markdown(rows):
    lines = ["| queries | `mpi-knn`, search s | `flat`, search s | ratio | `mpi-knn`, whole s | `flat`, whole s | ratio |", "|--:" * 7 + "|"]
    for queries in sorted({row["queries"] for row in rows}):
        cells = [str(queries)]
        for what in ("search_s", "whole_s"):
            published, ours = (statistics.median(row[what] for row in rows if row["queries"] == queries and row["engine"] == engine)
                               for engine in ("mpi-knn", "flat"))
            cells += [f"{published:.3f}", f"{ours:.3f}", f"{published / ours:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--rows", type=int, default=700000)
    parser.add_argument("--queries", default="512,1024,2048,4096,8192")
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    program, numbers = str(a.program.resolve()), list(map(int, a.queries.split(",")))
    a.out.mkdir(parents=True, exist_ok=True)
    rows, dice = [], numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder, open(a.out / "rows.jsonl", "w", encoding="ascii") as log:
        folder = pathlib.Path(folder)
        draw(folder / "rows.fbin", a.rows, dice)
        for queries in numbers:
            draw(folder / f"{queries}.fbin", queries, dice)
        for turn in range(a.rounds):
            for queries in numbers:
                published, found = run(program, folder, "mpi-knn", queries, a.ranks)
                ours, expected = run(program, folder, "flat", queries, a.ranks)
                farthest = float(abs(found / expected - 1).max())
                if farthest > 1e-5:
                    sys.exit(f"cluster_table.py: {queries} queries: distances differ by {farthest:.2g} of themselves")
                for row in (published, ours):
                    rows.append({"round": turn, **row})
                    print(json.dumps(rows[-1]), file=log, flush=True)
                (a.out / "table.md").write_text(markdown(rows), encoding="ascii")
    (a.out / "manifest.json").write_text(json.dumps({"command": sys.argv[1:], **build(a.program.parent), "machine": machine()}, indent=1) + "\n",
                                         encoding="ascii")


if __name__ == "__main__":
    main()
