#!/usr/bin/env python3
"""Counts the instructions of ten whole commands, and fails if a command takes more than before.

    speed_gate.py PROGRAM COUNTS [--most 1.02] [--update]

COUNTS is a JSON file: the compiler and the instruction set of the counted build, and the instructions of each command. A command
that takes more than --most times its count is counted once more; if it still does, the script prints the ratio and fails. A count
depends neither on the machine's speed nor on other work: valgrind's callgrind adds up the instructions of one thread. --update
writes the counts of PROGRAM, so the difference of the file shows in review what a change costs.

The gate compares with the COUNTS of the merge base, not with a build of it. A build would take CI's stage `build` once more, 12 minutes of
90 that the stages share, because CI begins without a compiler cache. Increases below --most add up until somebody updates the file;
the difference to the COUNTS of an older commit shows their sum.

Without valgrind, or with a compiler or an instruction set other than those of COUNTS, nothing is compared: exit code 77, with the
reason."""

import concurrent.futures
import json
import os
import random
import re
import shlex
import shutil
import struct
import sys

import common

# A command's inputs are those that write_inputs() and the commands before it make.
PREPARED = ["sample --documents 40000 --features 20 --queries 800 --out-dir large",
            "sample --documents 1000 --features 10 --queries 50 --out-dir small",
            "fit --train small/Fold1/train.txt --model rules.model --members rules",
            "fit --train small/Fold1/train.txt --model card.model --members card"]
COMMANDS = {
    "reduce": "reduce --train large/Fold1/train.txt --rule-size 4 --out {out}",
    "discretize": "discretize --train large/Fold1/train.txt --out-dir cut --discretizer-out {out}",
    "fit a card": "fit --train small/Fold1/train.txt --members card --model {out}",
    "rank by rules": "rank --model rules.model --test large/Fold1/vali.txt --out {out}",
    "rank by a card": "rank --model card.model --test large/Fold1/train.txt --out {out}",
    "evaluate": "evaluate --test large/Fold1/train.txt --scores scores.txt --metrics MAP,NDCG@10 --out {out}",
    "mine": "mine baskets.txt --min-support 2% --out {out}",
    "search text": "search text --collection documents.tsv --queries topics.tsv --k 10 --out {out}",
    "search dense": "search dense --collection base.fvecs --queries queries.fvecs --k 10 --out {out}",
    "search metric": "search metric --metric edit --collection words.txt --queries asked.txt --radius 2 --out {out}",
}
COUNTED = re.compile(r"Collected : (\d+)")


def write_inputs(folder):
    draw = random.Random(1)
    letters = ["".join(draw.choices("abcdefghij", k=draw.randint(3, 9))) for _ in range(6000)]

    def texts(name, count, length):
        return "".join(f"{name}{d}\t{' '.join(letters[int(draw.paretovariate(1)) % 6000] for _ in range(length))}\n" for d in range(count))

    def vectors(rows):
        return b"".join(struct.pack("<i32f", 32, *(draw.gauss(0, 1) for _ in range(32))) for _ in range(rows))

    common.write(folder / "documents.tsv", texts("d", 1500, 60))
    common.write(folder / "topics.tsv", texts("q", 40, 4))
    common.write(folder / "words.txt", "".join(f"{word}\n" for word in letters[:5000]))
    common.write(folder / "asked.txt", "".join(f"{word}\n" for word in letters[5000:]))
    common.write(folder / "scores.txt", "".join(f"{draw.random()}\n" for _ in range(24000)))
    common.write(folder / "baskets.txt", "".join(
        " ".join(map(str, sorted({int(draw.paretovariate(0.6)) % 200 for _ in range(20)}))) + "\n" for _ in range(8000)))
    (folder / "base.fvecs").write_bytes(vectors(8000))
    (folder / "queries.fvecs").write_bytes(vectors(300))


def build_of(program):
    """Its compiler, and the instructions that it uses under valgrind."""
    version = common.output("valgrind", "--tool=none", "-q", program, "--version").splitlines()
    return ", ".join(line for line in version if line.startswith(("compiler ", "instruction set ")))


def instructions(program, folder, name):
    """The instructions of one run of a command, which must exit with 0 and write its output."""
    out = folder / f"{name.replace(' ', '_')}.out"
    line = shlex.split(COMMANDS[name].format(out=out))
    run = common.call("valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", program, *line, "--threads", "1", "--quiet",
                      cwd=folder)
    counted = COUNTED.search(run.stderr)
    if not counted or not out.stat().st_size:
        common.fail(f"{' '.join(line)}: no count, or no output: {run.stderr}")
    return int(counted[1])


def main():
    a = common.arguments(__doc__, "program", "counts", most=1.02, update=False)
    if not shutil.which("valgrind"):
        print("skipped: found no valgrind; install Debian's valgrind")
        return 77
    build = build_of(a.program)
    kept = json.loads(a.counts.read_text("utf-8")) if not a.update else {}
    if not a.update and kept["build"] != build:
        print(f"skipped: the counts are those of {kept['build']}; this is {build}")
        return 77
    with common.scratch() as folder, concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        write_inputs(folder)
        for line in PREPARED:
            common.call(a.program, *shlex.split(line), "--quiet", cwd=folder)
        found = dict(zip(COMMANDS, pool.map(lambda name: instructions(a.program, folder, name), COMMANDS)))
        if not a.update:
            for name in [name for name in COMMANDS if found[name] > a.most * kept["instructions"][name]]:
                found[name] = min(found[name], instructions(a.program, folder, name))
    if a.update:
        common.write(a.counts, json.dumps({"build": build, "instructions": found}, indent=1) + "\n")
        return 0
    ratios = {name: found[name] / kept["instructions"][name] for name in COMMANDS}
    print(common.table(["command", "million instructions", "of those kept"],
                       [[name, f"{found[name] / 1e6:.0f}", f"{ratio:.3f}"] for name, ratio in ratios.items()]), end="")
    slower = [name for name, ratio in ratios.items() if ratio > a.most]
    for name in slower:
        print(f"error: {name} takes {ratios[name]:.3f} times the instructions in {a.counts}, expected at most {a.most}; where the "
              "change is worth it, --update writes the new count", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
