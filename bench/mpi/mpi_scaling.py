#!/usr/bin/env python3
"""How work over MPI ranks scales on one host: ranks × threads, at two sizes of each job, and the data that ranks
exchange.

    mpi_scaling.py PROGRAM OUT_FOLDER [--preset short|long] [--ranks 1,2,4] [--threads 1,4] [--sizes 1,0.5] [--scale 1.0] [--rounds 3]
                       [--seconds S] [--only text,text-parts,dense,rank,reduce,experiment,mine,tune] [--copies-size 0.5|--no-copies]
                       [--inputs FOLDER]

Generates the inputs. text: collections of rcv1's shape (78 distinct words per text, by Zipf's law from 134,914
words). text-parts: the same with an index in four parts; each rank has one or more. dense: rows of 784 bytes. rank,
reduce, experiment, tune: documents with web10k's 131 features (web10k has 1.2 million in five folds). mine:
transactions of 12 of 400 items. Preset short: jobs of seconds, smaller collections, four folds. long: jobs of at
least half a minute on one rank with one thread: rcv1's 804,414 texts; web10k's 240,000 documents of a test set,
ranked by the 2,101 documents that sampling chose there; five folds. A size multiplies the rows, texts and documents,
but not the queries of a search. Each rank has `threads` threads and the same number of cores (--map-by slot:PE=K
--bind-to core); combinations that need more cores than the machine has are skipped. Rounds alternate between all
combinations, so that a slow minute of the machine affects all equally. Another call with the same OUT_FOLDER does the
remaining runs; --seconds starts no run after that time.

The machine's own losses with many active cores are measured separately: at one size (--copies-size, default the
smallest), with one thread each, as many copies of one process as the largest number of ranks run at once, bound like
ranks. They exchange nothing, and would take as long as a single process on independent cores.

Writes rows.jsonl (one line per run), copies.jsonl, manifest.json and scaling.md. Seconds are the minimum over rounds,
separately for each column, because other load on a host only adds time. efficiency: the seconds of one rank with the
same threads, divided by N times those of N ranks, for the whole command and for the divided stage. Further columns:
the first rank's other seconds, including waiting for later ranks; bytes that each rank receives per query (text,
dense, rank) and per exchange (for reduce mostly one per iteration); and the largest memory of a rank. The benchmark
fails if a result differs from that of one rank.
"""

import collections
import hashlib
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402


# `stage`: what is shared out, of the manifest's seconds; None: no stage is. `work`: how much there is, in items that the job names.
Job = collections.namedtuple("Job", "stage queries work line")

PRESETS = {"short": {"text": 40000, "text-queries": 4000, "dense": 60000, "dense-queries": 4000, "rank": 40000, "chosen": 2000,
                     "reduce": 40000, "experiment": 9000, "folds": 4, "mine": 60000, "tune": 600},
           "long": {"text": 804414, "text-queries": 6000, "dense": 60000, "dense-queries": 24000, "rank": 240000, "chosen": 2101,
                    "reduce": 80000, "experiment": 20000, "folds": 5, "mine": 600000, "tune": 6000}}
SIZES = {"short": "1,0.5", "long": "1,0.25"}
PARTS = 4


def physical_cores():
    """Cores that this process may use, with one hardware thread of each."""
    found = set()
    for cpu in os.sched_getaffinity(0):
        topology = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            found.add(((topology / "physical_package_id").read_text(), (topology / "core_id").read_text()))
        except OSError:
            found.add(cpu)
    return len(found)


def sample(program, folder, name, documents, *more):
    common.call(program, "sample", "--documents", documents, "--features", 131, "--labels", 5, *more, "--out-dir", folder / name,
                "--quiet")


def texts_from(piece):
    """Random lines of texts by Zipf's law, given their first number, their count, the seed and the number of words."""
    first, count, seed, words = piece
    dice = random.Random(f"{seed} {first}")
    names, sums = [f"w{word}" for word in range(words)], list(itertools.accumulate(1 / rank for rank in range(1, words + 1)))
    return "".join(f"{number}\t{' '.join(dice.choices(names, cum_weights=sums, k=110))}\n"
                   for number in range(first, first + count))


def draw_texts(path, count, dice, words=134914):
    """Generates texts in pieces on all cores; the result does not depend on their number."""
    size, seed = 5000, dice.random()
    pieces = [(first, min(size, count - first), seed, words) for first in range(0, count, size)]
    with multiprocessing.Pool(min(len(pieces), len(os.sched_getaffinity(0)))) as pool, open(path, "w", encoding="ascii") as out:
        out.writelines(pool.imap(texts_from, pieces))


def draw_vectors(path, count, dice, dimensions=784):
    with open(path, "wb") as out:
        for _ in range(count):
            out.write(struct.pack("<i", dimensions) + dice.randbytes(dimensions))


def draw_transactions(path, count, draw):
    with open(path, "w", encoding="ascii") as out:
        for _ in range(count):
            out.write(" ".join(map(str, sorted({int(400 * draw.random() ** 2) for _ in range(12)}))) + "\n")


def draw_collection(program, folder, name, count, dice):
    """Generates texts, their queries and an index in one file (text) or in parts."""
    if not (folder / "topics.tsv").exists():
        draw_texts(folder / "docs.tsv", count["text"], dice)
        draw_texts(folder / "topics.tsv", count["text-queries"], dice)
    over = common.over_ranks(PARTS) if name == "text-parts" else []
    cores = str(max(len(os.sched_getaffinity(0)) // (PARTS if over else 1), 1))
    common.call(*over, program, "search", "text", "--collection", "docs.tsv", "--index", "parts" if over else "index", "--quiet",
                "--threads", cores, cwd=folder, env=common.MPI | {"OMP_NUM_THREADS": cores}, stdin=subprocess.DEVNULL)


def draw(program, folder, size, scale, preset, only):
    """Generates the inputs of a size once; returns their numbers."""
    dice = random.Random(f"{size} {scale}")
    full = PRESETS[preset]
    grows = [name for name in full if name not in ("chosen", "folds") and not name.endswith("queries")]
    count = {name: full[name] if name == "folds" else max(int(full[name] * scale * (size if name in grows else 1)), 20)
             for name in full}
    done = folder / "done"
    already = done.read_text().split() if done.exists() else []
    for name in only:
        if name in already:
            continue
        if name in ("text", "text-parts"):
            draw_collection(program, folder, name, count, dice)
        elif name == "dense":
            draw_vectors(folder / "base.bvecs", count["dense"], dice)
            draw_vectors(folder / "asked.bvecs", count["dense-queries"], dice)
        elif name == "mine":
            draw_transactions(folder / "baskets.txt", count["mine"], dice)
        elif name == "rank":
            # The largest part is ranked; of another one documents are learnt from.
            sample(program, folder, "rank", count["rank"] * 5 // 3, "--fold-count", "1")
            with open(folder / "rank/Fold1/vali.txt", encoding="ascii") as lines, open(folder / "chosen.txt", "w", encoding="ascii") as out:
                out.writelines(line for _, line in zip(range(count["chosen"]), lines))
        elif name == "experiment":
            sample(program, folder, name, count[name], "--fold-count", str(count["folds"]))
        else:
            sample(program, folder, name, count[name] * 5 // 3, "--fold-count", "1")
        with open(done, "a", encoding="ascii") as out:
            out.write(name + "\n")
    return count


def jobs(folder, count, only):
    """The jobs by name."""
    of_rank = []
    if "rank" in only:
        with open(folder / "rank/Fold1/train.txt", encoding="ascii") as documents:
            of_rank = [line.split(" ", 2)[1] for line in documents]
    search = ("search", count["text-queries"], count["text"] * count["text-queries"])
    lines = {"text": (*search, "search text --index index --queries topics.tsv --k 100"),
             "text-parts": (*search, "search text --index parts --queries topics.tsv --k 100"),
             "dense": ("search", count["dense-queries"], count["dense"] * count["dense-queries"],
                       "search dense --collection base.bvecs --queries asked.bvecs --k 100"),
             "rank": ("rank", len(set(of_rank)), len(of_rank), "rank --train chosen.txt --test rank/Fold1/train.txt --rule-size 4"),
             "reduce": ("reduce", 0, count["reduce"],
                        "reduce --train reduce/Fold1/train.txt --rule-size 3 --partitions 1 --max-documents 1000"),
             "experiment": (None, 0, count["experiment"], "experiment --folds experiment --reduce-size 3 --rank-size 4 "
                            "--random-draws 2 --permutations 999"),
             "mine": ("mine", 0, count["mine"], "mine --transactions baskets.txt --kind closed --min-support 0.02%"),
             "tune": ("tune", 0, count["tune"], "tune --train tune/Fold1/train.txt --vali tune/Fold1/vali.txt --budget 64")}
    return {name: Job(stage, queries, work, [*line.split(), "--out-dir" if name == "experiment" else "--out", "out"])
            for name, (stage, queries, work, line) in lines.items() if name in only}


def digest(path):
    """The digest of a file, or of all files of a folder except its manifest, which contains times."""
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


def timed(command, folder, threads):
    """Seconds of a command over MPI."""
    return common.timed(lambda: common.call(*command, cwd=folder, env=common.MPI | {"OMP_NUM_THREADS": str(threads)},
                                            stdin=subprocess.DEVNULL))[0]


def run(program, folder, job, ranks, threads):
    out = folder / "out"
    remove(out)
    seconds = timed([*common.on_cores(ranks, threads), program, *job.line, "--device", "cpu", "--threads", str(threads), "--quiet",
                     "--manifest", "manifest.json"], folder, threads)
    manifest = json.loads((folder / "manifest.json").read_text())
    return {"seconds": round(seconds, 4), "shared_seconds": manifest["seconds"].get(job.stage) if job.stage else None,
            "stages": {name: round(value, 5) for name, value in manifest["seconds"].items()},
            "exchanges": manifest.get("exchanges", 0), "exchanged_bytes": manifest.get("exchanged_bytes", 0),
            "peak_memory_bytes": max(manifest.get("peak_memory_bytes_of_ranks", [manifest["peak_memory_bytes"]])),
            "queries": job.queries, "work": job.work, "sha256": digest(out)}


def run_copies(program, folder, job, copies):
    """Runs copies of a process with one thread at once, each with separate outputs; the environment says that each is alone, so they are not ranks."""
    for copy in range(copies):
        remove(folder / f"out.{copy}")
    alone = 'r=$OMPI_COMM_WORLD_RANK; export OMPI_COMM_WORLD_SIZE=1; exec "$0" "$@" "out.$r" --manifest "manifest.$r"'
    if job.line[-1] != "out":
        common.fail(f"{' '.join(job.line)}: the output is not last")
    seconds = timed([*common.on_cores(copies), "sh", "-c", alone, program, job.line[0], *job.line[1:-2], "--device", "cpu", "--threads",
                     "1", "--quiet", job.line[-2]], folder, 1)
    manifests = [json.loads((folder / f"manifest.{copy}").read_text()) for copy in range(copies)]
    if {"ranks"} & set().union(*manifests):
        common.fail("copies ran as ranks")
    digests = {digest(folder / f"out.{copy}") for copy in range(copies)}
    if len(digests) != 1:
        common.fail(f"{' '.join(job.line)}: copies wrote different bytes")
    shared = max(one["seconds"][job.stage] for one in manifests) if job.stage else None
    return {"seconds": round(seconds, 4), "shared_seconds": shared, "sha256": digests.pop()}


def best(rows):
    """One row for each job, size, ranks and threads: the minimum seconds, the maximum memory."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["job"], row["size"], row["threads"], row["ranks"]].append(row)
    told = []
    for (job, size, threads, ranks), of in groups.items():
        shared = [row["shared_seconds"] for row in of if row["shared_seconds"] is not None]
        told.append({**of[0], "job": job, "size": size, "threads": threads, "ranks": ranks, "runs": len(of),
                     "seconds": min(row["seconds"] for row in of), "shared_seconds": min(shared) if shared else None,
                     "other_seconds": min(row["stages"]["total"] - row["shared_seconds"] for row in of) if shared else None,
                     "peak_memory_bytes": max(row["peak_memory_bytes"] for row in of)})
    return told


def efficiency(one, row, what):
    if one is None or not one[what] or not row[what]:
        return "-"
    return f"{one[what] / row[what] / row['ranks']:.3f}"


def markdown(rows):
    told, lines = best(rows), []
    for row in told:
        one = next((other for other in told if other["ranks"] == 1 and
                    all(other[key] == row[key] for key in ("job", "size", "threads"))), None)
        shared, other = ("-" if row[of] is None else f"{row[of]:.3f}" for of in ("shared_seconds", "other_seconds"))
        query = f"{row['exchanged_bytes'] / row['queries']:.0f}" if row["queries"] else "-"
        exchange = f"{row['exchanged_bytes'] / row['exchanges']:.0f}" if row["exchanges"] else "-"
        lines.append([row["job"], f"{row['size']:g}", row["threads"], row["ranks"], row["runs"], f"{row['seconds']:.3f}",
                      efficiency(one, row, "seconds"), shared, efficiency(one, row, "shared_seconds"), other, query, exchange,
                      f"{row['peak_memory_bytes'] / 2**20:.1f}"])
    return common.table(["job", "size", "threads a rank", "ranks", "runs", "least seconds", "efficiency",
                         "least shared-out seconds", "efficiency", "least other seconds", "bytes a query", "bytes an exchange",
                         "MiB a rank"], lines)


def markdown_of_copies(rows, copies):
    """The losses without any exchange."""
    told = [row for row in best(rows) if row["threads"] == 1 and row["ranks"] == 1]
    groups = collections.defaultdict(list)
    for row in copies:
        groups[row["job"], row["size"], row["copies"]].append(row)
    lines = []
    for (job, size, number), of in groups.items():
        one = next((row for row in told if (row["job"], row["size"]) == (job, size)), None)
        seconds = min(row["seconds"] for row in of)
        alone = ["-", "-"] if one is None else [f"{one['seconds']:.3f}", f"{one['seconds'] / seconds:.3f}"]
        lines.append([job, f"{size:g}", number, len(of), f"{seconds:.3f}", *alone])
    return common.table(["job", "size", "copies at once", "runs", "least seconds", "one process, least seconds", "ratio"], lines)


class Log:
    """The runs of this and earlier calls, and the time of this call."""

    def __init__(self, out, seconds):
        self.begin, self.seconds, self.left = time.monotonic(), seconds, 0
        self.paths = {"ranks": out / "rows.jsonl", "copies": out / "copies.jsonl"}
        self.rows = {kind: common.read_rows(path) for kind, path in self.paths.items()}
        self.there = {(kind, *self.key(kind, row)) for kind, rows in self.rows.items() for row in rows}
        self.expected = {(row["job"], row["size"]): row["sha256"] for rows in self.rows.values() for row in rows}

    @staticmethod
    def key(kind, row):
        return row["job"], row["size"], row.get("threads"), row[kind], row["round"]

    def add(self, kind, row, make):
        """Does the run of this row, unless it is done or there is no time."""
        if (kind, *self.key(kind, row)) in self.there:
            return
        if time.monotonic() - self.begin > self.seconds:
            self.left += 1
            return
        row |= make()
        if self.expected.setdefault((row["job"], row["size"]), row["sha256"]) != row["sha256"]:
            common.fail(f"{row['job']}: {row[kind]} {kind} wrote other bytes than an earlier run")
        self.rows[kind].append(row)
        with open(self.paths[kind], "a", encoding="ascii") as out:
            print(json.dumps(row), file=out)


def measure(log, program, plans, threads_ranks, rounds, copies, copies_size):
    for turn, (threads, of_ranks) in itertools.product(range(rounds), threads_ranks.items()):
        for size, (folder, made) in plans.items():
            for name, job in made.items():
                for ranks in of_ranks:
                    log.add("ranks", {"job": name, "size": size, "threads": threads, "ranks": ranks, "round": turn},
                            lambda folder=folder, job=job, ranks=ranks, threads=threads: run(program, folder, job, ranks, threads))
                if threads == 1 and copies > 1 and size == copies_size:
                    log.add("copies", {"job": name, "size": size, "copies": copies, "round": turn},
                            lambda folder=folder, job=job: run_copies(program, folder, job, copies))


def main():
    parser = common.parser(
        __doc__, "program", "out", preset={"choices": PRESETS, "default": "short"}, ranks=[1, 2, 4], threads=[1, 4],
        sizes={"help": "default: " + "; ".join(f"{name}: {sizes}" for name, sizes in SIZES.items())}, scale=1.0, rounds=3,
        seconds=float("inf"), only=["text", "text-parts", "dense", "rank", "reduce", "experiment"],
        copies_size={"type": float, "help": "one of the sizes; default: the smallest"}, no_copies=False,
        inputs={"type": common.path_of, "help": "default: OUT_FOLDER/inputs; kept for a second call"})
    a = parser.parse_args()
    sizes = list(map(float, (a.sizes or SIZES[a.preset]).split(",")))
    copies_size = a.copies_size or min(sizes)
    if copies_size not in sizes:
        parser.error(f"--copies-size: found {copies_size:g}, expected one of --sizes")
    a.out.mkdir(parents=True, exist_ok=True)
    inputs = a.inputs or a.out / "inputs"
    cores = physical_cores()
    log, plans = Log(a.out, a.seconds), {}
    for size in sizes:
        folder = inputs / f"{size:g}"
        folder.mkdir(parents=True, exist_ok=True)
        plans[size] = folder, jobs(folder, draw(a.program, folder, size, a.scale, a.preset, a.only), a.only)
    drawn = time.monotonic() - log.begin
    threads_ranks = {threads: [ranks for ranks in a.ranks if threads * ranks <= cores] for threads in a.threads}
    measure(log, a.program, plans, threads_ranks, a.rounds, 0 if a.no_copies else min(max(a.ranks), cores), copies_size)
    rows, copies = log.rows["ranks"], log.rows["copies"]
    common.write(a.out / "scaling.md", markdown(rows) + ("\n" + markdown_of_copies(rows, copies) if copies else ""))
    common.manifest(a.out / "manifest.json", **common.build(a.program), cores=cores, scale=a.scale, preset=a.preset,
                    full=PRESETS[a.preset], seconds_of_drawing=round(drawn, 1), mpi=common.mpi(), runs_left=log.left)
    if log.left:
        print(f"mpi_scaling.py: {log.left} runs left; the same line does them", file=sys.stderr)


if __name__ == "__main__":
    main()
