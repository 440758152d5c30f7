#!/usr/bin/env python3
"""build_time.py [--out FILE] [--phases] [--limit SECONDS] [--budget FILE] [-DOPTION=VALUE ...] [TARGET ...]

Builds TARGETs (default: all) from nothing in a temporary folder, without ccache, and prints the processor time (user +
system) by target and by source. --phases divides the time of a C++ source: its front end (includes, parsing, templates),
measured by a second run with -fsyntax-only, and code generation, the rest. --out keeps the measurements as JSON lines.
--limit fails where the whole build takes more than SECONDS of processor time. --budget FILE says which targets take more
than FILE, a JSON object of targets and seconds, gives them.

    build_time.py rulerank                          what `./run demo` builds, but for -DRULERANK_CUDA=OFF
    build_time.py -DCMAKE_CUDA_ARCHITECTURES=80     what `./run test` builds on a machine without a GPU
    build_time.py --report FILE [--budget FILE]     the tables of measurements that were kept
    build_time.py --log FILE COMMAND...             runs one command of a compiler and appends its measurement to FILE: the
                                                    launcher (CMAKE_CXX_COMPILER_LAUNCHER) of these builds and of CI's
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = re.compile(r"CMakeFiles/([^/]+)\.dir/")
PHASES = "BUILD_TIME_PHASES"  # set in the environment of the launcher by --phases


def seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def launch(log, command):
    """Runs COMMAND and appends {"target", "source", "seconds", "front_end"} to LOG; returns its exit status."""
    output = command[command.index("-o") + 1] if "-o" in command else ""
    source = command[command.index("-c") + 1] if "-c" in command else ""
    target = TARGET.search(output)
    status = subprocess.run(command).returncode
    row = {"target": target[1] if target else os.path.basename(output), "source": source or "(link)",
           "seconds": round(seconds_of_children(), 3)}
    if os.environ.get(PHASES) and source.endswith((".cpp", ".cxx")):
        subprocess.run([*command, "-fsyntax-only"], stderr=subprocess.DEVNULL)
        row["front_end"] = round(seconds_of_children() - row["seconds"], 3)
    if row["target"].startswith("cmTC_"):  # CMake tries the compiler
        return status
    with open(log, "a") as file:  # one short write: lines of compilers that run at once do not mix
        file.write(json.dumps(row) + "\n")
    return status


def rows_of(log):
    try:
        with open(log) as file:
            return [json.loads(line) for line in file]
    except (OSError, ValueError) as failure:
        sys.exit(f"error: {log}: found no measurements of build_time.py, expected JSON lines that --out or --log wrote ({failure})")


def by_target(rows):
    """target: [commands, seconds, seconds of the front end]"""
    targets = {}
    for row in rows:
        of = targets.setdefault(row["target"], [0, 0.0, 0.0])
        of[0] += 1
        of[1] += row["seconds"]
        of[2] += row.get("front_end", 0)
    return targets


def name_of(source):
    """A source below the project's root by its path there, a batch by its target and number."""
    batch = re.search(r"CMakeFiles/([^/]+)\.dir/Unity/unity_(\w+)_cxx", source)
    return f"{batch[1]}, batch {batch[2]}" if batch else os.path.relpath(source, ROOT) if source.startswith(ROOT) else source


def table(rows, most=20):
    """Targets with what they cost, then the `most` sources that cost most; seconds of processor time."""
    phases = any("front_end" in row for row in rows)
    lines = [f"{'target':28}{'commands':>9}{'seconds':>9}{'front end':>11}" if phases
             else f"{'target':28}{'commands':>9}{'seconds':>9}"]
    targets = by_target(rows)
    for name, (count, seconds, front) in sorted(targets.items(), key=lambda item: -item[1][1]):
        lines.append(f"{name:28}{count:9}{seconds:9.1f}" + (f"{front:11.1f}" if phases else ""))
    lines += [f"{'all':28}{len(rows):9}{sum(row['seconds'] for row in rows):9.1f}", ""]
    for row in sorted(rows, key=lambda row: -row["seconds"])[:most]:
        front = f" of which front end {row['front_end']:.1f}" if "front_end" in row else ""
        lines.append(f"{row['seconds']:9.1f}  {name_of(row['source'])}{front}")
    return "\n".join(lines)


def over_budget(rows, path):
    """One line a target that took more than its seconds in the file, or is not in it."""
    with open(path) as file:
        budget = json.load(file)
    return [f"error: {name}: found {seconds:.0f} s of processor time, expected at most {budget.get(name, 0)} ({path})"
            for name, (_, seconds, _) in sorted(by_target(rows).items()) if seconds > budget.get(name, 0)]


def build(options, targets, log, phases):
    """Builds from nothing; returns the processor time of all of it, seconds."""
    for program in "cmake", "ninja":
        if not shutil.which(program):
            sys.exit(f"error: found no {program}, expected it in $PATH; ./run deps installs it")
    launcher = f"{sys.executable};{os.path.abspath(__file__)};--log;{log}"
    launchers = [f"-DCMAKE_{language}_{kind}_LAUNCHER={launcher}" for language in ("CXX", "CUDA")
                 for kind in ("COMPILER", "LINKER")]
    environment = os.environ | {"CCACHE_DISABLE": "1"} | ({PHASES: "1"} if phases else {})
    with tempfile.TemporaryDirectory() as folder:
        before = seconds_of_children()
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *launchers, *options], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", *(targets or ["all"])],
                       check=True, env=environment)
        return seconds_of_children() - before


def main():
    if sys.argv[1:2] == ["--log"]:
        return launch(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--out", "--budget", "--report"):
        parser.add_argument(option, metavar="FILE")
    parser.add_argument("--limit", type=float, metavar="SECONDS")
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("-D", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    a = parser.parse_args()
    whole = None
    with tempfile.TemporaryDirectory() as folder:
        log = a.report or a.out or os.path.join(folder, "log")
        if not a.report:
            open(log, "w").close()
            whole = build([f"-D{option}" for option in a.D], a.targets, log, a.phases)
        elif not os.path.exists(log):
            print("nothing was compiled")
            return 0
        rows = rows_of(log)
    print(table(rows))
    if whole is not None:
        print(f"\nthe whole build: {whole:.0f} s of processor time, {whole / 60:.1f} minutes")
    print(*(over_budget(rows, a.budget) if a.budget else []), sep="\n")
    if a.limit and whole is not None and whole > a.limit:
        sys.exit(f"build_time.py: found {whole:.0f} s of processor time, expected at most {a.limit:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
