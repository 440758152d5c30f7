#!/usr/bin/env python3
"""The dissertation's tables 5.3, 5.5 and the CPU part of 5.6 in shape: published engine and ours
side by side, one run, answers compared before a time is taken.

  tables.py BIN_FOLDER OUT_FOLDER [--shapes a,b] [--sizes 3,4] [--threads N] [--seconds S]
            [--only sampling|ranking]

Published engines that would take longer than S seconds (default 60) run on a stated sample: the
first partitions and iterations of a shape, or evenly chosen test documents. Writes results.jsonl,
manifest.json and tables.md into OUT_FOLDER.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys


def shapes(bin_folder):
    """The published sizes by name, as the program has them."""
    told = subprocess.run([str(bin_folder / "rulerank"), "sample", "--list-shapes", "--json"],
                          capture_output=True, text=True, check=True).stdout
    return {shape["shape"]: shape for shape in json.loads(told)}


kept = {}  # rows of an earlier run, by command


def keep(path):
    """Commands whose rows are in that file are not run again."""
    for line in open(path):
        row = json.loads(line)
        kept.setdefault(row["command"], []).append(row)


def place(argument):
    """A path without what leads to the data."""
    if argument.startswith("save=/"):
        return "save=" + pathlib.Path(argument).name
    return "/".join(pathlib.Path(argument).parts[-3:]) if argument.startswith("/") else argument


def run(command, log):
    name = " ".join([pathlib.Path(command[0]).name, *map(place, command[1:])])
    rows = kept.get(name)
    if rows is None:
        print("+", *command[1:], file=sys.stderr, flush=True)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"tables.py: {' '.join(command)}: {done.stderr.strip()}")
        rows = [{"command": name, **json.loads(line)} for line in done.stdout.splitlines() if line.startswith("{")]
        for row in rows:
            row["input"] = place(row["input"])
    for row in rows:
        log.write(json.dumps(row) + "\n")
    log.flush()
    return rows


def sampling_sample(shape, size, seconds, least=20):
    """Partitions and iterations that the serial published engine does in about that time."""
    documents, partitions = shape["documents"][0], shape["partitions"]
    planned = shape["iterations"][str(size)]
    # Seconds of one iteration of one partition, from 12 items a document and 4 ns an itemset.
    each = documents * {3: 78, 4: 298}[size] * 1e-8
    if planned * each <= seconds:
        return max(1, min(partitions, int(seconds / (planned * each)))), planned
    return 1, max(least, int(seconds / each))


def sampling(arguments, log):
    rows = []
    for shape in arguments.shapes:
        published = arguments.published[shape]
        for size in arguments.sizes:
            partitions, iterations = sampling_sample(published, size, arguments.seconds)
            program = str(arguments.bin / "al_bench")
            one = run([program, shape, str(size), "1", str(partitions), str(iterations), "ssarp", "delta"], log)
            many = run([program, shape, str(size), str(arguments.threads), str(partitions),
                        str(iterations), "delta", "pssarp"], log)
            whole = run([program, shape, str(size), str(arguments.threads), "0", "0", "delta"], log)
            of, planned = published["partitions"], published["iterations"][str(size)]
            rows.append([shape, size, f"{partitions} of {of} x {iterations} of {planned}",
                         one[0]["seconds"], many[1]["seconds"], one[1]["seconds"],
                         one[0]["seconds"] / one[1]["seconds"],
                         one[0]["seconds"] / many[1]["seconds"], whole[0]["seconds"],
                         whole[0]["chosen"]])
    head = ["shape", "size", "partitions x iterations timed", "ssarp s",
            f"pssarp s ({arguments.threads} threads)", "delta s (1 thread)", "delta / ssarp x",
            "pssarp / ssarp x", f"whole shape: delta s ({arguments.threads} threads)", "|U|"]
    return head, rows


def ranking(arguments, log):
    rows = []
    for shape in arguments.shapes:
        published = arguments.published[shape]
        test, features = published["documents"][2], published["features"]
        for size in arguments.sizes:
            for trained_at in (3, 4):
                documents = published["reduced"][str(trained_at)]
                itemsets = features * (features - 1) / 2
                if size == 4:
                    itemsets *= (features - 2) / 3
                # 100 ns an itemset of the published engine.
                some = int(max(20, min(test, arguments.seconds / (itemsets * 1e-7))))
                result = run([str(arguments.bin / "l2r_bench"), shape, str(some), str(documents),
                              str(size), "1", "lrar", "project"], log)
                lrar, project = result
                rows.append([shape, size, documents, f"{some} of {test}", lrar["seconds"],
                             lrar["hit_rate"], project["seconds"],
                             lrar["seconds"] / project["seconds"], project["cpu_ns_per_itemset"]])
    head = ["shape", "rule size", "|U|", "test documents", "lrar s", "its hit rate",
            "project s (1 thread)", "project / lrar x", "ns an itemset"]
    return head, rows


def markdown(title, head, rows):
    def text(value):
        if value is None:
            return ""
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    lines = [f"## {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(text(v) for v in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def build(bin_folder):
    """Version, commit, compiler, instruction set of what was measured, as the program tells them."""
    told = subprocess.run([str(bin_folder / "rulerank"), "--version"], capture_output=True, text=True,
                          check=True).stdout
    return dict(line.split(" ", 1) for line in told.splitlines() if " " in line)


def machine():
    cpu = ""
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernel": platform.release()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--shapes", help="default: all")
    parser.add_argument("--sizes", default="3,4")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=["sampling", "ranking"])
    arguments = parser.parse_args()
    arguments.published = shapes(arguments.bin)
    arguments.shapes = arguments.shapes.split(",") if arguments.shapes else list(arguments.published)
    arguments.sizes = [int(s) for s in arguments.sizes.split(",")]
    arguments.out.mkdir(parents=True, exist_ok=True)
    started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    parts = []
    with open(arguments.out / "results.jsonl", "w") as log:
        if arguments.only != "ranking":
            parts.append(markdown("Sampling (tables 5.3 and 5.5 in shape)", *sampling(arguments, log)))
        if arguments.only != "sampling":
            parts.append(markdown("Ranking (CPU part of table 5.6 in shape)", *ranking(arguments, log)))
    (arguments.out / "tables.md").write_text("\n".join(parts))
    (arguments.out / "manifest.json").write_text(json.dumps(
        {"command": " ".join(["tables.py", *sys.argv[3:]]), "started": started, "build": build(arguments.bin),
         "machine": machine(),
         "threads": arguments.threads, "seed": 1}, indent=2) + "\n")
    print("\n".join(parts))


if __name__ == "__main__":
    main()
