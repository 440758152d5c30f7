#!/usr/bin/env python3
"""metric_counters.py BENCH OUT --words FILE --vectors FILE: memory transactions and divergence of searches on a GPU.

The counters of figures 4.1, 4.2, 4.4, 4.5 and 4.8 and table 4.1 of Barrientos 2011, read by NVIDIA's profiler ncu
from the kernels of metric_gpu_bench, one process per search: --queries queries among the objects of
bench/metric_gpu.py. Writes OUT/counters.jsonl, one line per search with the counts per query, and
OUT/counters-manifest.json; bench/metric_gpu.py OUT --tables draws them with the times. The benchmark answers twice,
and the second time counts. A call continues after the last one, and starts no process after --seconds. The clocks are
not changed (--clock-control none), because the counts do not depend on them.
"""

import csv
import json
import re
import subprocess
import sys
import time

import common

METRICS = {  # of all kernels of a search
    "requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    "sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "device_sectors": ["dram__sectors_read.sum", "dram__sectors_write.sum"],
    "branches": ["smsp__sass_inst_executed_op_branch.sum"],
    "divergent_branches": ["smsp__sass_branch_targets_threads_divergent.sum"],
    "instructions": ["smsp__inst_executed.sum"],
    "thread_instructions": ["smsp__thread_inst_executed.sum"],
}


def searches(a):
    """The arguments of each search, range searches first."""
    for kinds in ("ranges", "kNN"):
        for data, file in (("vectors", a.vectors), ("words", a.words)):
            ranges = [f"radii={r}" for r in (1, 2, 3)] if data == "words" else [f"share={s}" for s in (".01", ".1", "1")]
            setting = "radii=" if data == "words" else "share="
            for engine in ("sss-objects", "sss-pivots", "lc-growing", "brute-sort"):
                if kinds == "kNN" and engine == "sss-pivots":
                    continue
                for alpha in (".4", ".5", ".66") if engine == "sss-objects" else (".66",) if engine == "sss-pivots" else (".4",):
                    for of in [[one, "k="] for one in ranges] if kinds == "ranges" else [[f"k={k}", setting] for k in (8, 16, 32)]:
                        yield data, [f"{data}={file}", "part=search", f"engines={engine}", f"alpha={alpha}",
                                     f"queries={a.queries}", *of, "batches=0", "rounds=1", "cpu=4", "serial=1"]


def profiled(a, line, metrics):
    """The benchmark's line, and {launch: {metric: value}} of its kernels, in order."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)]
    if "engines=brute-sort" not in line:
        command += ["--kernel-name", "regex:search_queries"]
    command += ["--launch-count", str(a.launches), a.bench, *line]
    done = subprocess.run(command, capture_output=True, text=True, timeout=a.limit)
    lost = set(re.findall(r"Failed to find metric (\S+)", done.stdout + done.stderr))
    if lost:
        raise LookupError(lost)
    if done.returncode != 0:
        raise RuntimeError((done.stdout + done.stderr)[-2000:])
    rows = done.stdout.splitlines()
    told = [json.loads(row) for row in rows if row.startswith("{")]
    head = next((i for i, row in enumerate(rows) if row.startswith('"ID"')), None)
    if len(told) != 1 or head is None:
        raise RuntimeError(f"{len(told)} lines of the bench: " + done.stdout[-2000:])
    table = csv.DictReader(row for row in rows[head:] if row.startswith('"'))
    launches = [{name: float(row[name].replace(",", "")) for name in metrics} for row in table if row["ID"]]
    return told[0], launches, done.stderr


def of_last_search(told, launches, engine):
    """The launches of the second answer: for `brute-sort` half of all launches, for others the number that the benchmark reports."""
    count = told["launches"]
    if engine == "brute-sort":
        if len(launches) % 2 != 0:
            raise RuntimeError(f"{len(launches)} launches of two searches")
        count = len(launches) // 2
    if not 0 < count <= len(launches):
        raise RuntimeError(f"{len(launches)} launches, {count} of a search")
    return launches[-count:]


def row_of(a, data, line, metrics):
    told, launches, messages = profiled(a, line, metrics)
    some = of_last_search(told, launches, told["engine"])
    a_query = {field: sum(launch.get(name, 0) for launch in some for name in names) / told["queries"]
               for field, names in METRICS.items() if all(name in metrics for name in names)}
    if a_query.get("instructions"):
        a_query["threads_an_instruction"] = a_query["thread_instructions"] / a_query["instructions"]
    build = next((row for row in messages.splitlines() if row.startswith("commit ")), "")
    kept = {name: told[name] for name in ("engine", "alpha", "k", "percent", "radius", "objects", "queries", "evaluations",
                                          "launches") if name in told}
    return {"data": data, **kept, "profiled_launches": len(some), **a_query}, build


def main():
    a = common.arguments(__doc__, "bench", "out", words={"required": True}, vectors={"required": True}, queries=264,
                         launches={"type": int, "default": 200, "help": "kernels that are profiled at most, of a process"},
                         limit={"type": float, "default": 60, "help": "seconds of a process"},
                         seconds={"type": float, "default": 550, "help": "no process is begun after them"})
    a.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + a.seconds - a.limit / 2
    lines, manifest = a.out / "counters.jsonl", a.out / "counters-manifest.json"
    seen = json.loads(manifest.read_text()) if manifest.exists() else {"done": [], "lost": []}
    metrics = [name for names in METRICS.values() for name in names if name not in seen["lost"]]
    failed = 0
    for data, line in searches(a):
        key = f"{data} {' '.join(line[2:])}"
        if key in seen["done"]:
            continue
        if time.monotonic() > end:
            print("stopped by --seconds; the same call goes on")
            failed += 1
            break
        try:
            try:
                row, build = row_of(a, data, line, metrics)
            except LookupError as error:
                seen["lost"] += sorted(error.args[0])
                metrics = [name for name in metrics if name not in error.args[0]]
                row, build = row_of(a, data, line, metrics)
        except (RuntimeError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
            print(f"{key}: {error}", flush=True)
            failed += 1
            continue
        with open(lines, "a") as out:
            out.write(json.dumps(row) + "\n")
        seen["done"].append(key)
        seen.update(build=build, ended=common.now(), metrics=metrics)
        manifest.write_text(json.dumps(seen, indent=2) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
