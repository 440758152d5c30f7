#!/usr/bin/env python3
"""The memory of each MPI rank for its inputs: mpi_memory.py PROGRAM OUT

Generates a collection of each kind and searches it over 1, 2 and 4 ranks, divided by queries and by collection;
generates documents with features, reduces them over 1, 2 and 4 ranks, and ranks them by a model. Writes the ranks'
peak memory from the program's manifests: OUT/results.json, OUT/table.md, OUT/manifest.json. Exits with 1 if a run
writes other bytes than one process.
"""

import json
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

ENVIRONMENT = common.MPI | {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl": "self,vader"}
ROWS, DIMENSIONS, DOCUMENTS, WORDS, QUERIES = 200_000, 64, 50_000, 400_000, 20
LETOR, FEATURES = 40_000, 131  # documents of the shape of WEB10K's


def npy(path, rows, draw):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {DIMENSIONS}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for _ in range(rows):
            file.write(struct.pack(f"<{DIMENSIONS}f", *(draw.random() for _ in range(DIMENSIONS))))


def documents(path, count, draw):
    """Random words out of 200,000 with a Zipf-like distribution: the rank is the exponential of a random number."""
    with path.open("w") as file:
        for d in range(count):
            words = (f"w{int(200_000 ** draw.random())}" for _ in range(60))
            file.write(f"{d}\t{' '.join(words)}\n")


def words(path, count, draw):
    with path.open("w") as file:
        for _ in range(count):
            file.write("".join(draw.choices("abcdefghij", k=draw.randint(5, 14))) + "\n")


def letor(path, count, draw):
    """Features of three kinds: with few values, with many, and 0 in most documents."""
    with path.open("w") as file:
        for d in range(count):
            values = (draw.randrange(20) if f % 3 == 0 else round(draw.random(), 4) if f % 3 == 1 or draw.random() < .2 else 0
                      for f in range(FEATURES))
            file.write(f"{draw.randrange(3)} qid:{d // 20} " +
                       " ".join(f"{f + 1}:{value}" for f, value in enumerate(values)) + "\n")


WAYS = ((1, "queries"), (2, "queries"), (4, "queries"), (2, "collection"), (4, "collection"))
PARTS = tuple((ranks, "lines") for ranks in (1, 2, 4))


def jobs(folder, program, draw):
    """(name, measured input, arguments of the program, division for each number of ranks) of each job."""
    for make, stem, count in ((npy, "npy", ROWS), (documents, "tsv", DOCUMENTS), (words, "txt", WORDS)):
        make(folder / f"base.{stem}", count, draw)
        make(folder / f"asked.{stem}", QUERIES, draw)
    for verb, stem, more in (("dense", "npy", ["--metric", "l2"]), ("text", "tsv", []),
                             ("metric", "txt", ["--metric", "edit", "--index-type", "brute"])):
        yield (f"search {verb}", f"base.{stem}", ["search", verb, "--collection", f"base.{stem}", "--queries", f"asked.{stem}",
                                                  "--k", "10", *more], WAYS)
    letor(folder / "letor.txt", LETOR, draw)
    letor(folder / "few.txt", 2_000, draw)
    common.call(program, "fit", "--train", "few.txt", "--model", "model", "--members", "linear", "--quiet", cwd=folder)
    yield "reduce", "letor.txt", ["reduce", "--train", "letor.txt", "--rule-size", "3"], PARTS
    yield "rank", "letor.txt", ["rank", "--model", "model", "--test", "letor.txt"], PARTS


def run(folder, program, command, ranks, way):
    """The bytes that the job writes, and its manifest."""
    more = ["--over-ranks", way] if command[0] == "search" else []
    launch = common.over_ranks(ranks) if ranks > 1 else []
    common.call(*launch, program, *command, *more, "--threads", 1, "--device", "cpu", "--out", "out.txt", "--manifest",
                "manifest.json", "--quiet", cwd=folder, env=ENVIRONMENT)
    return (folder / "out.txt").read_bytes(), json.loads((folder / "manifest.json").read_text())


def main():
    a = common.arguments(__doc__, "program", "out")
    rows = []
    with common.scratch() as folder:
        for job, measured, command, ways in jobs(folder, a.program, random.Random(1)):
            expected = None
            for ranks, way in ways:
                found, manifest = run(folder, a.program, command, ranks, way)
                expected = expected or found
                if found != expected:
                    common.fail(f"{job}, {ranks} ranks, {way}: other bytes than one process")
                peaks = manifest.get("peak_memory_bytes_of_ranks", [manifest["peak_memory_bytes"]])
                rows.append({"job": job, "ranks": ranks, "shared_out": way, "input_bytes": (folder / measured).stat().st_size,
                             "largest_peak_bytes": max(peaks), "peak_bytes_of_ranks": peaks,
                             "exchanged_bytes": manifest.get("exchanged_bytes", 0), "seconds": manifest["seconds"]["total"]})
                print(rows[-1], flush=True)
    common.write(a.out / "results.json", json.dumps(rows, indent=1) + "\n")
    common.write(a.out / "table.md", common.table(
        ["job", "ranks", "shared out", "input, MB", "largest peak of a rank, MB", "exchanged, MB"],
        [[r["job"], r["ranks"], r["shared_out"], f"{r['input_bytes'] / 1e6:.1f}", f"{r['largest_peak_bytes'] / 1e6:.1f}",
          f"{r['exchanged_bytes'] / 1e6:.2f}"] for r in rows]))
    common.manifest(a.out / "manifest.json", **common.build(a.program))


if __name__ == "__main__":
    main()
