#!/usr/bin/env python3
"""How the work over MPI ranks scales on one host: ranks x threads, at two sizes of each job, and what the ranks exchange.

    cluster_scaling.py PROGRAM OUT_FOLDER [--ranks 1,2,4] [--threads 1,4] [--sizes 0.5,1] [--scale 1.0] [--rounds 3] [--seconds S]
                       [--only text,dense,rank,reduce,experiment,mine,tune] [--inputs FOLDER]

Draws the inputs. text: collections of rcv1's shape drawn smaller (78 different words a text, drawn by Zipf's law from 134,914 words; rcv1
has 804,414 texts). dense: rows of 784 bytes. rank, reduce, experiment, tune: documents of web10k's 131 features drawn fewer (web10k has
1.2 million in five folds; experiment has four here, which 1, 2 and 4 ranks share out evenly). mine: transactions of 12 of 400 items. A
size multiplies the rows, texts and documents, not the queries of a search. Each rank has `threads` threads and as many cores of its own
(--map-by slot:PE=K --bind-to core); what needs more cores than the machine has is left out. Rounds take turns, so that a slow minute of the
machine meets all alike. A second call with the same OUT_FOLDER does what is left; --seconds ends a call before the first run behind that time.

Writes rows.jsonl (a line a run), manifest.json and scaling.md: medians, efficiency (the seconds of one rank with the same threads over those
of N ranks and N) of the whole command and of the stage that is shared out, bytes that each rank has been told for a query (text,
dense, rank) and for an exchange (of reduce one or two a feature, and one an iteration), and the most memory of a rank. An answer that is not one rank's ends it.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

from cluster import ENVIRONMENT, draw_texts, draw_vectors
from tables import build, machine

# `stage`: what is shared out, of the manifest's seconds; None: no stage is. `work`: how much there is, in items that the job names.
Job = collections.namedtuple("Job", "stage queries work line")

FULL = {"text": 40000, "text-queries": 4000, "dense": 60000, "dense-queries": 4000, "rank": 40000, "reduce": 40000,
        "experiment": 9000, "mine": 60000, "tune": 600}


def physical_cores():
    """Cores that this process may run on; of a core with two hardware threads one."""
    found = set()
    for cpu in os.sched_getaffinity(0):
        topology = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            found.add(((topology / "physical_package_id").read_text(), (topology / "core_id").read_text()))
        except OSError:
            found.add(cpu)
    return len(found)


def sample(program, folder, name, documents, *more):
    subprocess.run([program, "sample", "--documents", str(documents), "--features", "131", "--labels", "5", *more, "--out-dir",
                    str(folder / name), "--quiet"], check=True)


def draw_transactions(path, count, draw):
    with open(path, "w", encoding="ascii") as out:
        for _ in range(count):
            out.write(" ".join(map(str, sorted({int(400 * draw.random() ** 2) for _ in range(12)}))) + "\n")


def draw(program, folder, size, scale, only):
    """The inputs of a size, once."""
    dice = random.Random(f"{size} {scale}")
    count = {name: max(int(full * scale * (1 if name.endswith("queries") else size)), 20) for name, full in FULL.items()}
    done = folder / "done"
    already = done.read_text().split() if done.exists() else []
    for name in only:
        if name in already:
            continue
        if name == "text":
            draw_texts(folder / "docs.tsv", count["text"], dice)
            draw_texts(folder / "topics.tsv", count["text-queries"], dice)
            subprocess.run([program, "search", "text", "--collection", "docs.tsv", "--index", "index", "--quiet"], check=True, cwd=folder)
        elif name == "dense":
            draw_vectors(folder / "base.bvecs", count["dense"], dice)
            draw_vectors(folder / "asked.bvecs", count["dense-queries"], dice)
        elif name == "mine":
            draw_transactions(folder / "baskets.txt", count["mine"], dice)
        elif name == "rank":
            # The largest part is ranked; of another one 2,000 documents are learnt from.
            sample(program, folder, "rank", count["rank"] * 5 // 3, "--fold-count", "1")
            with open(folder / "rank/Fold1/vali.txt", encoding="ascii") as lines, open(folder / "chosen.txt", "w", encoding="ascii") as out:
                out.writelines(line for _, line in zip(range(2000), lines))
        elif name == "experiment":
            sample(program, folder, name, count[name], "--fold-count", "4")
        else:
            sample(program, folder, name, count[name] * 5 // 3, "--fold-count", "1")
        with open(done, "a", encoding="ascii") as out:
            out.write(name + "\n")
    return count


def jobs(folder, count, only):
    """The jobs by name."""
    made = {}
    if "text" in only:
        made["text"] = Job("search", count["text-queries"], count["text"] * count["text-queries"],
                           ["search", "text", "--index", "index", "--queries", "topics.tsv", "--k", "100", "--out", "out"])
    if "dense" in only:
        made["dense"] = Job("search", count["dense-queries"], count["dense"] * count["dense-queries"],
                            ["search", "dense", "--collection", "base.bvecs", "--queries", "asked.bvecs", "--k", "100", "--out", "out"])
    if "rank" in only:
        with open(folder / "rank/Fold1/train.txt", encoding="ascii") as lines:
            queries = [line.split(" ", 2)[1] for line in lines]
        made["rank"] = Job("rank", len(set(queries)), len(queries), ["rank", "--train", "chosen.txt", "--test", "rank/Fold1/train.txt",
                                                                      "--rule-size", "4", "--out", "out"])
    if "reduce" in only:
        made["reduce"] = Job("reduce", 0, count["reduce"], ["reduce", "--train", "reduce/Fold1/train.txt", "--rule-size", "3",
                                                                       "--partitions", "1", "--max-documents", "1000", "--out", "out"])
    if "experiment" in only:
        made["experiment"] = Job(None, 0, count["experiment"], ["experiment", "--folds", "experiment", "--reduce-size", "3", "--rank-size",
                                                                "4", "--random-draws", "2", "--permutations", "999", "--out-dir", "out"])
    if "mine" in only:
        made["mine"] = Job("mine", 0, count["mine"], ["mine", "--transactions", "baskets.txt", "--kind", "closed", "--min-support",
                                              "0.02%", "--out", "out"])
    if "tune" in only:
        made["tune"] = Job("tune", 0, count["tune"], ["tune", "--train", "tune/Fold1/train.txt", "--vali", "tune/Fold1/vali.txt", "--budget",
                                              "64", "--out", "out"])
    return made


def digest(path):
    """Of a file, or of all files of a folder but its manifest, which has times."""
    files = sorted(one for one in path.rglob("*") if one.is_file() and one.name != "manifest.json") if path.is_dir() else [path]
    total = hashlib.sha256()
    for one in files:
        total.update(f"{one.relative_to(path)}\n".encode() + one.read_bytes())
    return total.hexdigest()


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def run(program, folder, job, ranks, threads):
    out = folder / "out"
    remove(out)
    begin = time.perf_counter()
    done = subprocess.run(["mpirun", "--map-by", f"slot:PE={threads}", "--bind-to", "core", "-n", str(ranks), program, *job.line,
                           "--device", "cpu", "--threads", str(threads), "--quiet", "--manifest", "manifest.json"],
                          cwd=folder, env={**ENVIRONMENT, "OMP_NUM_THREADS": str(threads)}, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"cluster_scaling.py: {ranks} ranks: {' '.join(job.line)}: {done.stderr.decode()}")
    manifest = json.loads((folder / "manifest.json").read_text())
    return {"seconds": round(seconds, 4), "shared_seconds": manifest["seconds"].get(job.stage) if job.stage else None,
            "stages": {name: round(value, 5) for name, value in manifest["seconds"].items()},
            "exchanges": manifest.get("exchanges", 0), "exchanged_bytes": manifest.get("exchanged_bytes", 0),
            "peak_memory_bytes": max(manifest.get("peak_memory_bytes_of_ranks", [manifest["peak_memory_bytes"]])),
            "queries": job.queries, "work": job.work, "sha256": digest(out)}


def medians(rows):
    """A row for each job, size, ranks and threads: the median seconds, the largest memory."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["job"], row["size"], row["threads"], row["ranks"]].append(row)
    told = []
    for (job, size, threads, ranks), of in groups.items():
        shared = [row["shared_seconds"] for row in of if row["shared_seconds"] is not None]
        told.append({**of[0], "job": job, "size": size, "threads": threads, "ranks": ranks, "runs": len(of),
                     "seconds": statistics.median(row["seconds"] for row in of),
                     "shared_seconds": statistics.median(shared) if shared else None,
                     "peak_memory_bytes": max(row["peak_memory_bytes"] for row in of)})
    return told


def efficiency(one, row, what):
    if one is None or not one[what] or not row[what]:
        return "-"
    return f"{one[what] / row[what] / row['ranks']:.3f}"


def markdown(rows):
    told = medians(rows)
    lines = ["| job | size | threads a rank | ranks | runs | seconds | efficiency | shared-out seconds | efficiency | bytes a query "
             "| bytes an exchange | MiB a rank |", "|---" * 12 + "|"]
    for row in told:
        one = next((other for other in told if other["ranks"] == 1 and
                    all(other[key] == row[key] for key in ("job", "size", "threads"))), None)
        shared = "-" if row["shared_seconds"] is None else f"{row['shared_seconds']:.3f}"
        query = f"{row['exchanged_bytes'] / row['queries']:.0f}" if row["queries"] else "-"
        exchange = f"{row['exchanged_bytes'] / row['exchanges']:.0f}" if row["exchanges"] else "-"
        lines.append(f"| {row['job']} | {row['size']:g} | {row['threads']} | {row['ranks']} | {row['runs']} | {row['seconds']:.3f} "
                     f"| {efficiency(one, row, 'seconds')} | {shared} | {efficiency(one, row, 'shared_seconds')} | {query} | {exchange} "
                     f"| {row['peak_memory_bytes'] / 2**20:.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--threads", default="1,4")
    parser.add_argument("--sizes", default="0.5,1")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--only", default="text,dense,rank,reduce,experiment")
    parser.add_argument("--inputs", type=pathlib.Path, help="default: OUT_FOLDER/inputs; kept for a second call")
    a = parser.parse_args()
    begin, program, only = time.monotonic(), str(a.program.resolve()), a.only.split(",")
    a.out.mkdir(parents=True, exist_ok=True)
    inputs = a.inputs or a.out / "inputs"
    cores = physical_cores()
    log = a.out / "rows.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    there = {(row["job"], row["size"], row["threads"], row["ranks"], row["round"]) for row in rows}
    expected = {(row["job"], row["size"]): row["sha256"] for row in rows}
    plans = {}
    for size in map(float, a.sizes.split(",")):
        folder = inputs / f"{size:g}"
        folder.mkdir(parents=True, exist_ok=True)
        plans[size] = folder, jobs(folder, draw(program, folder, size, a.scale, only), only)
    pairs = [(threads, ranks) for threads in map(int, a.threads.split(",")) for ranks in map(int, a.ranks.split(","))
             if threads * ranks <= cores]
    left = 0
    with open(log, "a", encoding="ascii") as out:
        for turn in range(a.rounds):
            for size, (folder, made) in plans.items():
                for name, job in made.items():
                    for threads, ranks in pairs:
                        if (name, size, threads, ranks, turn) in there:
                            continue
                        if time.monotonic() - begin > a.seconds:
                            left += 1
                            continue
                        row = {"job": name, "size": size, "threads": threads, "ranks": ranks, "round": turn,
                               **run(program, folder, job, ranks, threads)}
                        if expected.setdefault((name, size), row["sha256"]) != row["sha256"]:
                            sys.exit(f"cluster_scaling.py: {name}: {ranks} ranks wrote other bytes than an earlier run")
                        rows.append(row)
                        print(json.dumps(row), file=out, flush=True)
    (a.out / "scaling.md").write_text(markdown(rows), encoding="ascii")
    (a.out / "manifest.json").write_text(json.dumps(
        {"command": sys.argv[1:], **build(a.program.parent), "machine": machine(), "cores": cores, "scale": a.scale, "full": FULL,
         "mpi": subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0],
         "runs_left": left}, indent=1) + "\n", encoding="ascii")
    if left:
        print(f"cluster_scaling.py: {left} runs left; the same line does them", file=sys.stderr)


if __name__ == "__main__":
    main()
