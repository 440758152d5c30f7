#!/usr/bin/env python3
"""How a job's time, memory and bytes moved change with its MPI ranks, on one host, a core for each rank.

    cluster.py PROGRAM OUT_FOLDER [--ranks 1,2,4,8,16] [--rounds 5] [--scale 1.0] [--only rank,dense,...]

Draws the inputs: documents of web10k's 131 features to rank, texts of rcv1's length (78 different words a document,
drawn by Zipf's law from 134,914), vectors of 784 bytes, words of 3 to 12 letters. --scale multiplies how many there are. Each job
runs with one thread a rank, bound to a core. The rounds take turns, so that a slow minute of the machine meets all numbers of
ranks alike. Outputs are compared with those of one rank before a time is told.

Writes rows.jsonl (a line for each job, number of ranks and round), manifest.json and cluster.md: medians, the efficiency (the time of
one rank over that of N ranks and N) of the whole command and of what is shared out, bytes that the ranks exchanged for a
query, and the most memory of a rank.
"""

import argparse
import collections
import hashlib
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import time

from tables import build, machine

MPIRUN = ["mpirun", "--map-by", "slot:PE=1", "--bind-to", "core"]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}

# A job: the stage that is shared out, the queries, the line. {out} is compared.
Job = collections.namedtuple("Job", "stage queries line")


def draw_documents(program, folder, scale):
    """chosen.txt to learn from and test.txt to rank: the queries of the latter."""
    subprocess.run([program, "sample", "--documents", str(int(1200000 * scale)), "--features", "131", "--labels", "5",
                    "--fold-count", "1", "--out-dir", str(folder / "drawn"), "--quiet"], check=True)
    fold = folder / "drawn" / "Fold1"
    with open(fold / "train.txt", encoding="ascii") as lines, open(folder / "chosen.txt", "w", encoding="ascii") as out:
        for _, line in zip(range(2000), lines):
            out.write(line)
    (fold / "test.txt").rename(folder / "test.txt")
    with open(folder / "test.txt", encoding="ascii") as lines:
        return len({line.split(" ", 2)[1] for line in lines})


def texts_from(piece):
    """Lines of texts, by Zipf's law: their first number, how many, the seed, the words there are."""
    first, count, seed, words = piece
    draw = random.Random(f"{seed} {first}")
    names, sums = [f"w{word}" for word in range(words)], list(itertools.accumulate(1 / rank for rank in range(1, words + 1)))
    return "".join(f"{number}\t{' '.join(draw.choices(names, cum_weights=sums, k=110))}\n" for number in range(first, first + count))


def draw_texts(path, count, draw, words=134914):
    """A piece at a time on each core; the same texts on any number of them."""
    size, seed = 5000, draw.random()
    pieces = [(first, min(size, count - first), seed, words) for first in range(0, count, size)]
    with multiprocessing.Pool(min(len(pieces), len(os.sched_getaffinity(0)))) as pool, open(path, "w", encoding="ascii") as out:
        out.writelines(pool.imap(texts_from, pieces))


def draw_vectors(path, count, draw, dimensions=784):
    with open(path, "wb") as out:
        for _ in range(count):
            out.write(struct.pack("<i", dimensions) + draw.randbytes(dimensions))


def draw_words(path, count, draw):
    path.write_text("".join("".join(draw.choices("abcdefghijklmnop", k=draw.randint(3, 12))) + "\n"
                            for _ in range(count)), encoding="ascii")


def jobs(program, folder, scale, only):
    """The jobs by name, with their inputs drawn."""
    draw, made = random.Random(1), {}
    if "rank" in only:
        queries = draw_documents(program, folder, scale)
        made["rank"] = Job("rank", queries, ["rank", "--train", "chosen.txt", "--test", "test.txt", "--rule-size", "3",
                                              "--out", "{out}"])
    if "text" in only:
        queries = int(10000 * scale)
        draw_texts(folder / "docs.tsv", int(200000 * scale), draw)
        draw_texts(folder / "topics.tsv", queries, draw)
        subprocess.run([program, "search", "text", "--collection", "docs.tsv", "--index", "index", "--quiet"],
                       check=True, cwd=folder)
        made["text"] = Job("search", queries, ["search", "text", "--index", "index", "--queries", "topics.tsv", "--k", "100",
                                               "--out", "{out}"])
    if "dense" in only:
        queries = int(10000 * scale)
        draw_vectors(folder / "base.bvecs", int(60000 * scale), draw)
        draw_vectors(folder / "asked.bvecs", queries, draw)
        made["dense"] = Job("search", queries, ["search", "dense", "--collection", "base.bvecs", "--queries", "asked.bvecs",
                                                 "--k", "100", "--out", "{out}"])
    if "metric" in only:
        queries = int(40000 * scale)
        draw_words(folder / "words.txt", int(80000 * scale), draw)
        draw_words(folder / "asked.txt", queries, draw)
        made["metric"] = Job("search", queries, ["search", "metric", "--collection", "words.txt", "--queries", "asked.txt",
                                                 "--metric", "edit", "--k", "8", "--out", "{out}"])
    return made


def run(program, folder, job, ranks):
    """One run: its row, with the digest of what it wrote."""
    line = [word.format(out="out.txt") for word in job.line]
    begin = time.perf_counter()
    done = subprocess.run([*MPIRUN, "-n", str(ranks), program, *line, "--threads", "1", "--quiet", "--manifest", "manifest.json"],
                          cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"cluster.py: {ranks} ranks: {' '.join(line)}: {done.stderr.decode()}")
    manifest = json.loads((folder / "manifest.json").read_text())
    return {"ranks": ranks, "seconds": seconds, "stages": manifest["seconds"], "exchanges": manifest.get("exchanges", 0),
            "exchanged_bytes": manifest.get("exchanged_bytes", 0),
            "peak_memory_bytes": max(manifest.get("peak_memory_bytes_of_ranks", [manifest["peak_memory_bytes"]])),
            "sha256": hashlib.sha256((folder / "out.txt").read_bytes()).hexdigest()}


def markdown(made, rows):
    lines = ["| job | ranks | seconds | efficiency | shared-out seconds | efficiency | bytes a query | MiB a rank |",
             "|---|---|---|---|---|---|---|---|"]
    for name, job in made.items():
        one = None
        for ranks in sorted({row["ranks"] for row in rows if row["job"] == name}):
            of = [row for row in rows if row["job"] == name and row["ranks"] == ranks]
            whole, shared = (statistics.median(pick(row) for row in of)
                             for pick in (lambda row: row["seconds"], lambda row: row["stages"][job.stage]))
            one = one or (ranks * whole, ranks * shared)
            lines.append(f"| {name} | {ranks} | {whole:.3f} | {one[0] / whole / ranks:.3f} | {shared:.3f} "
                         f"| {one[1] / shared / ranks:.3f} | {of[0]['exchanged_bytes'] / job.queries:.0f} "
                         f"| {max(row['peak_memory_bytes'] for row in of) / 2**20:.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", default="1,2,4,8,16")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="rank,text,dense,metric")
    arguments = parser.parse_args()
    program, out = str(arguments.program.resolve()), arguments.out
    out.mkdir(parents=True, exist_ok=True)
    cores = len(os.sched_getaffinity(0))
    numbers = [int(word) for word in arguments.ranks.split(",") if int(word) <= cores]
    inputs = out / "inputs"
    inputs.mkdir(exist_ok=True)
    made, rows, expected = jobs(program, inputs, arguments.scale, arguments.only.split(",")), [], {}
    with open(out / "rows.jsonl", "w", encoding="ascii") as log:
        for turn in range(arguments.rounds):
            for name, job in made.items():
                for ranks in numbers:
                    row = {"job": name, "round": turn, **run(program, inputs, job, ranks)}
                    if expected.setdefault(name, row["sha256"]) != row["sha256"]:
                        sys.exit(f"cluster.py: {name}: {ranks} ranks wrote other bytes than {numbers[0]}")
                    rows.append(row)
                    print(json.dumps(row), file=log, flush=True)
    (out / "cluster.md").write_text(markdown(made, rows), encoding="ascii")
    (out / "manifest.json").write_text(json.dumps({"command": sys.argv[1:], **build(arguments.program.parent), "machine": machine(),
                                                   "cores": cores}, indent=1) + "\n", encoding="ascii")
    subprocess.run(["rm", "-r", str(inputs)], check=True)


if __name__ == "__main__":
    main()
