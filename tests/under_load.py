#!/usr/bin/env python3
"""Runs COMMAND, such as `ctest --preset default -E slow_ --schedule-random -j 4`, on a machine that other work slows down.

--busy N runs N processes that only count. --stop stops some of COMMAND's processes, chosen at random, for 10 to 500 ms at a time
(SIGSTOP, SIGCONT). The exit status is COMMAND's. A test that fails here and passes alone depends on the machine's speed."""

import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

NEVER_STOPPED = ("ctest",)  # its stops would count towards its tests' times


def descendants(root):
    """The ids of `root` and of the processes that it and its children started, without ctest and without those that are stopped
    or dead."""
    parents, found, more = {}, set(), {root}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            state, parent = rest.split()[:2]
            parents[int(path.parent.name)] = (int(parent), name, state)
    while more:
        found |= {process for process in more if process in parents and parents[process][1] not in NEVER_STOPPED
                  and parents[process][2] not in "TtZX"}
        more = {process for process, (parent, _, _) in parents.items() if parent in more}
    return sorted(found)


def stop_at_random(root, choice):
    """Stops a third of the processes for some time and lets them go on."""
    stopped = [process for process in descendants(root) if choice.random() < 1 / 3]
    try:
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        time.sleep(choice.uniform(0.01, 0.5))
    finally:
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
    time.sleep(choice.uniform(0.01, 1.0))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--busy", type=int, default=0)
    options.add_argument("--stop", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("command", nargs=argparse.REMAINDER)
    how = options.parse_args()
    if not how.command:
        options.error("found no command, expected one to run")
    if not shutil.which(how.command[0]):
        options.error(f"found no program {how.command[0]}, expected a command")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(how.busy)]
    choice = random.Random(how.seed)
    try:
        job = subprocess.Popen(how.command)
        while job.poll() is None:
            if how.stop:
                stop_at_random(job.pid, choice)
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    job.wait(1)
        return job.returncode
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
