#!/usr/bin/env python3
"""The cost of reading an index into a process's own memory: index_opening.py BEFORE AFTER OUT

Two builds of `rulerank` open the same indexes: of texts (24,000,000 postings), of vectors and of a metric (500 MB
each). The last input of a search comes from a pipe, so that the index is open when the memory is measured. `copies`
searches run at once and divide the processors. Writes OUT: medians of the rounds, in which the builds alternate.

ready_s: the stages `open` and `prepare` of the slowest search. memory_mb: Pss of all searches together, which counts
a shared page once. `ranks`: the copies are ranks of one `mpirun`, whose memory is not measured.
"""

import array
import os
import random
import statistics
import subprocess

import common

VALUES = 128


def texts(path, count, draw):
    with path.open("w") as file:
        for d in range(count):
            file.write(f"{d}\t{' '.join(f'w{int(200_000 ** draw.random())}' for _ in range(120))}\n")


def vectors(path, count, draw):
    with path.open("wb") as file:
        file.write(array.array("i", [count, VALUES]).tobytes())
        for begin in range(0, count, 10_000):
            file.write(array.array("f", list(draw.randbytes(VALUES * min(10_000, count - begin)))).tobytes())


def inputs(folder, program, draw):
    """{kind: arguments of the search, ending with the option of the pipe}, and the data of the pipe."""
    texts(folder / "docs.tsv", 200_000, draw)
    texts(folder / "asked.tsv", 1, draw)
    for name, count in (("many", 1_000_000), ("some", 200_000), ("asked", 1)):
        vectors(folder / f"{name}.fbin", count, draw)
    for kind, base, more in (("text", "docs.tsv", []), ("dense", "many.fbin", []),
                             ("metric", "some.fbin", ["--metric", "l2", "--index-type", "sss"])):
        common.call(program, "search", kind, "--collection", base, *more, "--index", kind, "--quiet", cwd=folder)
    return {"text": (["--queries"], "tsv", (folder / "asked.tsv").read_bytes()),
            "dense": (["--queries", "asked.fbin", "--filter"], "txt", b"".join(b"%d\n" % n for n in range(1000))),
            "metric": (["--queries"], "fbin", (folder / "asked.fbin").read_bytes())}


def ready(seconds):
    return seconds["open"] + seconds.get("prepare", 0)


def run(folder, program, kind, asked, copies):
    """ready_s, memory_mb"""
    options, end, sent = asked
    threads = max(1, len(os.sched_getaffinity(0)) // copies)
    running = []
    for copy in range(copies):
        pipe = folder / f"pipe{copy}.{end}"
        os.mkfifo(pipe)
        running.append((pipe, subprocess.Popen([program, "search", kind, "--index", kind, *options, pipe, "--threads", str(threads), "--device",
                                                "cpu", "--out", f"out{copy}", "--json", "--quiet"], cwd=folder, stdout=subprocess.PIPE)))
    opened = [open(pipe, "wb") for pipe, _ in running]
    pss = sum(int(line.split()[1]) for _, process in running for line in open(f"/proc/{process.pid}/smaps_rollup")
              if line.startswith("Pss:"))
    for file in opened:
        file.write(sent)
        file.close()
    seconds = [common.json.loads(process.communicate()[0])["seconds"] for _, process in running]
    for pipe, process in running:
        pipe.unlink()
        if process.returncode:
            common.fail(f"{program} {kind}: exit code {process.returncode}")
    return max(map(ready, seconds)), pss / 1e3


def run_ranks(folder, program, ranks):
    told = common.told(*common.over_ranks(ranks), program, "search", "text", "--index", "text", "--queries", "asked.tsv",
                       "--threads", 1, "--device", "cpu", "--out", "out", "--json", "--quiet", cwd=folder, env=common.MPI)
    return ready(told["seconds"]), 0


def main():
    a = common.arguments(__doc__, "before", "after", "out", rounds=10)
    rows = common.Log(a.out, shown=True)
    with common.scratch() as folder:
        asked = inputs(folder, a.after, random.Random(1))
        cells = [(kind, copies, False) for kind in asked for copies in (1, 2)] + [("text", 2, True)]
        for kind, copies, ranks in cells:
            sides = {name: (lambda program=program: run_ranks(folder, program, copies) if ranks else
                            run(folder, program, kind, asked[kind], copies)) for name, program in (("mapped", a.before), ("read", a.after))}
            for name, found in common.in_turn(a.rounds, sides).items():
                seconds, memory = map(statistics.median, zip(*found))
                rows.add({"case": "opening an index", "index": kind, "copies": copies, "ranks": ranks, "file": name,
                          "ready_s": round(seconds, 3), **({} if ranks else {"memory_mb": round(memory)})})


if __name__ == "__main__":
    main()
