#!/usr/bin/env python3
"""cuda_compile_times.py BUILD SINCE: fails if a CUDA file compiles for more than 90 s.

Reads the times of the files that ninja compiled in the folder BUILD after the file SINCE was written. A file that took longer is
compiled once more, alone and without ccache, because other jobs slow a compilation down; only the second time counts.
"""

import os
import pathlib
import subprocess
import sys
import time

MOST = 90


def compiled(build, since):
    """object: seconds, of the CUDA objects of ninja's log; the last entry of each."""
    found = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, written, output, _ = line.split("\t")
        if output.endswith(".cu.o") and int(written) >= since:
            found[output] = (int(end) - int(begin)) / 1000
    return found


def alone(build, output):
    (build / output).unlink(missing_ok=True)
    begin = time.monotonic()
    subprocess.run(["ninja", "-C", build, output], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"CCACHE_DISABLE": "1"})
    return time.monotonic() - begin


def name_of(output):
    return output.replace("CMakeFiles/", "").replace(".o", "")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: cuda_compile_times.py BUILD FILE: the CUDA files of BUILD that were compiled after FILE was written")
    build, since = pathlib.Path(sys.argv[1]), os.stat(sys.argv[2]).st_mtime_ns
    times = compiled(build, since)
    if not times:
        print("no CUDA file was compiled")
        return
    slowest = sorted(times, key=times.get, reverse=True)
    print(f"{len(times)} CUDA files, the slowest (from ccache less):",
          ", ".join(f"{name_of(o)} {times[o]:.0f} s" for o in slowest[:3]))
    over = [(o, alone(build, o)) for o in slowest if times[o] > MOST]
    over = [f"{name_of(o)} {s:.0f} s" for o, s in over if s > MOST]
    if over:
        sys.exit(f"found {', '.join(over)}, expected at most {MOST} s for a CUDA file: divide it")


if __name__ == "__main__":
    main()
