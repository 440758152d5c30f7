#!/usr/bin/env python3
"""What each MPI rank holds of a collection: cluster_memory.py PROGRAM OUT

Draws a collection of each kind, searches it over 1, 2 and 4 ranks, shared out by queries and by collection,
and writes the ranks' peak memory as the program's manifests say it: OUT/results.json, OUT/table.md,
OUT/manifest.json. Ends with 1 where a run writes other bytes than one process.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl": "self,vader"}
ROWS, DIMENSIONS, DOCUMENTS, WORDS, QUERIES = 200_000, 64, 50_000, 400_000, 20


def npy(path, rows, draw):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {DIMENSIONS}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for _ in range(rows):
            file.write(struct.pack(f"<{DIMENSIONS}f", *(draw.random() for _ in range(DIMENSIONS))))


def documents(path, count, draw):
    """Words by a law of Zipf's kind: of 200,000, the r-th as often as the logarithm of a random number says."""
    with path.open("w") as file:
        for d in range(count):
            words = (f"w{int(200_000 ** draw.random())}" for _ in range(60))
            file.write(f"{d}\t{' '.join(words)}\n")


def words(path, count, draw):
    with path.open("w") as file:
        for _ in range(count):
            file.write("".join(draw.choices("abcdefghij", k=draw.randint(5, 14))) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("out", type=pathlib.Path)
    line = parser.parse_args()
    program = shutil.which(line.program) or line.program
    draw = random.Random(1)
    rows, manifest = [], None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for make, stem, count in ((npy, "npy", ROWS), (documents, "tsv", DOCUMENTS), (words, "txt", WORDS)):
            make(folder / f"base.{stem}", count, draw)
            make(folder / f"asked.{stem}", QUERIES, draw)
        for verb, stem, more in (("dense", "npy", ["--metric", "l2"]), ("text", "tsv", []),
                                 ("metric", "txt", ["--metric", "edit", "--index-type", "brute"])):
            expected = None
            for ranks, way in ((1, "queries"), (2, "queries"), (4, "queries"), (2, "collection"), (4, "collection")):
                command = ["search", verb, "--collection", f"base.{stem}", "--queries", f"asked.{stem}", "--k", "10",
                           *more, "--threads", "1", "--device", "cpu", "--over-ranks", way, "--out", "near.txt",
                           "--manifest", "manifest.json", "--quiet"]
                run = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), program] if ranks > 1 else \
                    [program]
                subprocess.run([*run, *command], cwd=folder, env=ENVIRONMENT, check=True)
                manifest = json.loads((folder / "manifest.json").read_text())
                found = (folder / "near.txt").read_bytes()
                expected = expected or found
                if found != expected:
                    sys.exit(f"{verb}, {ranks} ranks, {way}: other bytes than one process")
                peaks = manifest.get("peak_memory_bytes_of_ranks", [manifest["peak_memory_bytes"]])
                rows.append({"search": verb, "ranks": ranks, "shared_out": way,
                             "collection_bytes": (folder / f"base.{stem}").stat().st_size,
                             "largest_peak_bytes": max(peaks), "peak_bytes_of_ranks": peaks,
                             "exchanged_bytes": manifest.get("exchanged_bytes", 0),
                             "seconds": manifest["seconds"]["total"]})
                print(rows[-1], flush=True)
    line.out.mkdir(parents=True, exist_ok=True)
    (line.out / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    table = ["| search | ranks | shared out | collection, MB | largest peak of a rank, MB | exchanged, MB |",
             "|---|---|---|---|---|---|"]
    table += [f"| {r['search']} | {r['ranks']} | {r['shared_out']} | {r['collection_bytes'] / 1e6:.1f} "
              f"| {r['largest_peak_bytes'] / 1e6:.1f} | {r['exchanged_bytes'] / 1e6:.2f} |" for r in rows]
    (line.out / "table.md").write_text("\n".join(table) + "\n")
    kept = {name: manifest[name] for name in ("version", "commit", "compiler", "build_type", "machine") if
            name in manifest}
    kept["commands"] = [f"bench/cluster_memory.py rulerank {line.out}"]
    (line.out / "manifest.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
