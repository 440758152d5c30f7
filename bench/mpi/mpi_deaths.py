#!/usr/bin/env python3
"""How long a job over MPI ranks survives when one of its ranks is killed.

    mpi_deaths.py PROGRAM OUT_FOLDER [--ranks 2,4] [--kills 5] [--size 20] [--only rank,reduce,...]

Runs each verb that writes files, with the inputs of the tests enlarged `size` times (tests/cli/over_ranks.py), and
the first 5 seconds of a search that takes minutes. A job runs once to its end; then one of its ranks is killed by
SIGKILL, repeatedly, at a uniformly random moment of that time. Seconds are from the kill until mpirun has ended and
no rank is running. A job that ended before its kill is reported as such. The benchmark fails if a job survives for 30
s, if outputs of a successful job are missing, and if an output is neither complete nor absent.

Writes rows.jsonl (one line per kill), manifest.json and deaths.md: the kills, the median and the maximum for each
verb and number of ranks.
"""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

sys.path.insert(0, str(common.ROOT / "tests/cli"))
import harness  # noqa: E402
from over_ranks import ENVIRONMENT, OverRanks, letor, words  # noqa: E402

LIMIT = 30  # seconds that a job may live on
SECONDS = 5


class Jobs(OverRanks):
    """The jobs, in a separate folder."""

    def runTest(self):
        """Not a test; only the functions that start and watch jobs are used."""

    def lines(self, size):
        """(name, arguments, outputs) of each job; no outputs for the job that does not end within SECONDS."""
        for line, *outputs in (*self.lines_of_verbs(size=size), ([*self.PIPELINE, "--out-dir", "of"], "of/table.md")):
            yield " ".join(line[:2]) if line[0] == "search" else line[0], [*line, "--threads", 1], outputs
        self.file("all.txt", letor(5, 3 * size, 12))
        self.expect(0, "split", "--in", "all.txt", "--folds", 5, "--out-dir", "folds")
        yield "experiment", ["experiment", "--folds", "folds", "--reduce-size", 3, "--rank-size", 3, "--random-draws", 2,
                             "--permutations", 99, "--threads", 1, "--quiet", "--out-dir", "of"], ["of/table.md"]
        self.file("long.txt", words(1, 60000, 40))
        yield "search metric of minutes", ["search", "metric", "--collection", "long.txt", "--queries", "long.txt", "--metric",
                                           "edit", "--index-type", "brute", "--threads", 1, "--out", "out"], []

    def begun(self, ranks, line):
        return subprocess.Popen(self.job(ranks, *line), cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def killed(self, ranks, line, after, victim):
        """(seconds until the job ended, its exit code); None if it had ended before."""
        job = self.begun(ranks, line)
        there = self.ranks_of(job, ranks)
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(after)
            return None
        try:
            os.kill(there[victim], signal.SIGKILL)
        except ProcessLookupError:
            job.wait(LIMIT)
            return None
        begin = time.monotonic()
        try:
            code = job.wait(LIMIT)
        except subprocess.TimeoutExpired:
            job.terminate()
            common.fail(f"{line[0]}: rank {victim} of {ranks} killed after {after:.3f} s: the job lived for {LIMIT} s")
        while any(map(self.is_running, there)):
            if time.monotonic() - begin > LIMIT:
                common.fail(f"{line[0]}: a rank was left behind")
            time.sleep(0.01)
        return time.monotonic() - begin, code


def seconds_of(jobs, ranks, line):
    """Seconds from the start of all ranks to the end."""
    job = jobs.begun(ranks, line)
    jobs.ranks_of(job, ranks)
    begin = time.monotonic()
    if job.wait(120) != 0:
        common.fail(f"{' '.join(map(str, line))}: exit code {job.returncode}")
    return time.monotonic() - begin


def taken(jobs, outputs):
    """Removes the existing outputs and returns them, with other files in an --out-dir."""
    found = jobs.taken(*(name for name in outputs if (jobs.folder / name).exists()))
    shutil.rmtree(jobs.folder / "of", ignore_errors=True)
    return found


def kill_ranks(jobs, name, line, outputs, ranks, a, log):
    whole_s = seconds_of(jobs, ranks, line) if outputs else SECONDS
    whole = taken(jobs, outputs)
    if set(whole) != set(outputs):
        common.fail(f"{name}: outputs are missing")
    dice = random.Random(f"{name} {ranks}")
    for _ in range(a.kills):
        after, victim = dice.uniform(0, whole_s), dice.randrange(ranks)
        found = jobs.killed(ranks, line, after, victim)
        in_part = jobs.outputs_left(name=None if outputs else "out")
        left = taken(jobs, outputs)
        wrong = [*map(str, in_part), *(output for output in left if left[output] != whole.get(output))]
        if wrong:
            common.fail(f"{name}: rank {victim} of {ranks} killed after {after:.3f} s: in part or wrong: {', '.join(wrong)}")
        # mpirun ends well where the rank had said that it was done.
        row = {"job": name, "ranks": ranks, "after_s": round(after, 3), "victim": victim,
               "seconds": None if found is None else round(found[0], 3), "code": 0 if found is None else found[1]}
        if found is not None and found[1] == 0 and set(left) != set(outputs):
            common.fail(f"{name}: exit code 0, and outputs are missing")
        log.add(row)


def markdown(rows):
    def line(name, ranks, of):
        lived = [row["seconds"] for row in of if row["seconds"] is not None]
        return [name, ranks, len(lived), len(of) - len(lived),
                *([f"{statistics.median(lived):.2f}", f"{max(lived):.2f}"] if lived else ["-", "-"])]

    return common.table(["job", "ranks", "killed", "had ended before", "seconds until the job was gone, median", "longest"],
                        [*(line(name, ranks, rows.where(job=name, ranks=ranks))
                           for name, ranks in dict.fromkeys((row["job"], row["ranks"]) for row in rows)), line("all", "", rows)])


def main():
    a = common.arguments(__doc__, "program", "out", ranks=[2, 4], kills=5, size=20, only=list)
    harness.PROGRAM = str(a.program)
    jobs, log = Jobs(), common.Log(a.out / "rows.jsonl")
    jobs.setUp()
    try:
        for name, line, outputs in jobs.lines(a.size):
            for ranks in a.ranks if not a.only or name in a.only else ():
                kill_ranks(jobs, name, line, outputs, ranks, a, log)
    finally:
        jobs.doCleanups()
    common.write(a.out / "deaths.md", markdown(log))
    common.manifest(a.out / "manifest.json", **common.build(a.program), mpi=common.mpi())


if __name__ == "__main__":
    main()
