#!/usr/bin/env python3
"""on_gpus.py BIN OUT [--words FILE --vectors FILE] [--only STEP...]: runs the steps that are still to be run on a machine with GPUs.

BIN is the folder of the build's programs. Each step writes OUT/NAME.txt, and some also the folder OUT/NAME. A second call skips the
steps that succeeded and repeats the others after deleting their files; an interrupted step of RESUMED is continued instead. Steps
that need two or four GPUs are left for a machine that has them, with a message. FAISS and `flat` on the CPU have one turn instead of
two in the cells whose two turns exceed the limit: 3000000x300 with 4,096 and 8,192 queries. compute-sanitizer, NVIDIA's profiler
ncu, and the peers PyTorch, FlashLib, FAISS and StringZilla are used if they are installed. The FILEs are those of metric_gpu.py.
OUT/manifest.json has the commands, their exit codes and times. The exit code is 1 if a step failed or was cut off.
"""

import json
import shutil
import subprocess
import sys
import time

import common

RESUMED = ("metric", "metric-two", "metric-counters")  # what they wrote stays
COUNTERS = ",".join(("dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sector_hit_rate.pct", "l1tex__t_sector_hit_rate.pct",
                     "smsp__issue_active.avg.pct_of_peak_sustained_active"))
PCIE = 63e9  # bytes a second, one way: 16 lanes of PCI Express 5


def script(name):
    """The begin of a command that runs a script of this folder."""
    return [sys.executable, str(common.ROOT / "bench" / name)]


def steps_of(a, gpus):
    """(name, GPUs that it needs, command, seconds after which it is cut off)"""
    dense = str(a.bin / "dense_bench")
    yield "checks", 1, [*script("gpu_checks.py"), str(a.bin), str(a.out / "checks")], 7200
    yield "dense-published", 1, [str(a.bin / "dense_published_bench")], 1800
    yield "dense-published-flat", 1, [str(a.bin / "dense_published_bench"), "engine=flat", "rounds=5"], 900
    yield ("dense-streamed", 1, [dense, "devices=1", "device_bytes=2000000000", f"rate={PCIE}", "shape=3000000x300", "k=32",
                                 "batches=1,128,1024", "--benchmark_min_time=0.5"], 600)
    # Cordeiro 2023, Table 5.1, on the CPU, compared with FAISS from PyPI in the fastest of its settings, as in dense-faiss-SHAPE-METRIC.
    for name, batches in (("to-2048", "512,1024,2048"), ("4096", "4096"), ("8192", "8192")):
        turns = "2" if name == "to-2048" else "1"
        yield f"dense-cpu-{name}", 1, [*script("peers/dense_peer.py"), dense, str(a.out / f"dense-cpu-{name}"), "--shapes", "700000x128",
                                       "--k", "32", "--metrics", "l2", "--batches", batches, "--turns", turns], 600
    for shape in ("70000x784", "300000x128", "1275219x128", "3000000x300"):
        turns = "1" if shape == "3000000x300" else "2"
        for metric in ("l2", "ip"):
            name = f"dense-faiss-{shape}-{metric}"
            yield name, 1, [*script("peers/dense_peer.py"), dense, str(a.out / name), "--shapes", shape, "--metrics",
                            metric, "--turns", turns], 590
    if a.words and a.vectors:
        sets = ["--words", a.words, "--vectors", a.vectors]
        gpu_bench, metric = str(a.bin / "metric_gpu_bench"), script("metric_gpu.py")
        yield "metric", 1, [*metric, gpu_bench, str(a.out / "metric"), *sets, "--limit", "80", "--resume"], 590
        yield "edit-peer", 1, [*script("peers/edit_peer_gpu.py"), gpu_bench, a.words, str(a.out / "edit-peer"), "--rounds", "5"], 280
        # Ends itself before the limit, and says by its exit code that it is to be called again.
        yield ("metric-counters", 1, [*script("metric_counters.py"), gpu_bench, str(a.out / "metric-counters"),
                                      *sets, "--seconds", "520"], 590)
        # On the CPU: seconds of schedules, which want 16 cores that do nothing else.
        yield ("metric-schedules", 1, [*script("metric_schedules.py"), str(a.bin / "metric_schedule_bench"),
                                       str(a.out / "metric-schedules"), *sets, "--part", "seconds", "--threads", "1,2,4,8,16",
                                       "--word-queries", "160", "--vector-queries", "240", "--limit", "60"], 590)
        yield "metric-two", 2, [*metric, gpu_bench, str(a.out / "metric-two"), *sets, "--gpus", "2", "--resume",
                                "--only", "words-pairs", "words-lc", "vectors-pairs", "vectors-lc"], 1800
    peers = [*script("peers/dense_peer_gpu.py"), dense]
    # Uniform values, where many rows have nearly equal distances: flat alone, with the peers, and with the published engines.
    for shape in ("70000x784", "300000x128", "1275219x128", "3000000x300"):
        yield (f"dense-uniform-{shape}", 1, [dense, "devices=1", "values=uniform", f"shape={shape}", "k=32,128", "batches=1,32,128",
                                             "--benchmark_min_time=0.1"], 120)
        yield (f"dense-peers-uniform-{shape}", 1,
               [*peers, str(a.out / f"dense-peers-uniform-{shape}"), "--cells", "crowded", "--shapes", shape, "--values", "uniform",
                "--flashlib"], 120)
    for shape in ("70000x784", "3000000x300"):
        yield (f"dense-published-{shape}", 1,
               [str(a.bin / "dense_published_bench"), "batches", f"shape={shape}", "engine=flat,ppk,sbq,gs", "rounds=5"], 120)
    # 2^10 to 2^15 rows, compared with gs; rows that bounds separate badly.
    yield "dense-few-rows", 1, [str(a.bin / "dense_published_bench"), "rows", "engine=flat,gs", "rounds=5"], 120
    yield "dense-near", 1, [str(a.bin / "dense_published_bench"), "clusters", "far", "engine=flat,ppk,sbq,gs", "rounds=5"], 120
    yield "dense-left", 1, [*peers, str(a.out / "dense-left"), "--cells", "left", "--flashlib"], 1800
    profiled = ["ncu", "--clock-control", "none", "--section", "SpeedOfLight", "--section", "LaunchStats", "--section", "Occupancy",
                "--section", "MemoryWorkloadAnalysis"]
    cells = [(shape, k, batch) for k in (32, 128) for shape in ("70000x784", "300000x128", "1275219x128", "3000000x300")
             for batch in (1, 32, 128)]
    cells += [("1000000x128", 16, 4096), ("10000000x128xbf16", 10, 1), ("10000000x128xbf16", 128, 1)]
    for shape, k, batch in cells:
        # Behind the shadow and the search that checks the answers: the kernels of one search, which profiling makes long enough
        # for the bench, or, where that makes many, of a few.
        skip = "6" if batch > 1000 else "50"
        yield (f"ncu-{shape}-{k}-{batch}", 1, [*profiled, "--launch-skip", skip, "--launch-count", "15", dense, "devices=1",
                                               f"shape={shape}", f"k={k}", f"batches={batch}", "--benchmark_min_time=0.02"], 300)
    for engine, launches in (("ppk", 12), ("ppb", 1), ("sbq", 6), ("gs", 6)):
        # The first kernels of its first search, 512 queries in 700,000 x 128; what follows them is not waited for.
        yield (f"ncu-{engine}", 1, [*profiled, "--metrics", COUNTERS, "--kill", "yes", "--launch-count", str(launches),
                                    str(a.bin / "dense_published_bench"), "queries", "rounds=1", f"engine={engine}"], 300)
    # All cells of PERFORMANCE.md's tables, a step a shape.
    for shape in ("70000x784", "300000x128", "1275219x128", "3000000x300", "1000000x128", "700000x128", "10000000x128xbf16"):
        yield f"dense-peers-{shape}", 1, [*peers, str(a.out / f"dense-peers-{shape}"), "--shapes", shape, "--flashlib", "--tune",
                                          "6"], 590
    yield "dense-large", 1, [*peers, str(a.out / "dense-large"), "--cells", "large"], 300
    yield "dense-more", 1, [*peers, str(a.out / "dense-more"), "--cells", "more", "--flashlib", "--tune", "3"], 1800
    for count in (1, 2, 4):
        if count <= gpus:
            yield (f"dense-rows-on-{count}", count,
                   [dense, f"devices={count}", "shape=100000000x128xbf16", "k=32", "batches=1,32", "--benchmark_min_time=0.5"],
                   1800)
            yield (f"dense-queries-on-{count}", 2,
                   [dense, f"devices={count}", "shape=700000x128", "k=32", "batches=8192", "--benchmark_min_time=0.5"], 600)
            # 2 GB of rows: four GPUs are two groups.
            yield (f"dense-both-on-{count}", 4,
                   [dense, f"devices={count}", "shape=4000000x128", "k=32", "batches=32,8192", "--benchmark_min_time=0.5"], 600)


def main():
    a = common.arguments(__doc__, "bin", "out", words=str, vectors=str, only={"nargs": "+", "default": [], "help": "these steps"})
    a.out.mkdir(parents=True, exist_ok=True)
    names = common.gpus()
    path = a.out / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"steps": {}}
    manifest["gpus"] = names
    failed = []
    for name, needed, command, limit in steps_of(a, len(names)):
        if manifest["steps"].get(name, {}).get("status") == 0 or (a.only and name not in a.only):
            continue
        if needed > len(names):
            print(f"{name}: left out, it needs {needed} GPUs and here are {len(names)}")
            continue
        if shutil.which(command[0]) is None:
            print(f"{name}: left out, {command[0]} is not here")
            continue
        print(name, "...", flush=True)
        manifest["steps"].pop(name, None)
        if name not in RESUMED:
            shutil.rmtree(a.out / name, ignore_errors=True)
        (a.out / name).mkdir(exist_ok=True)
        started = common.now()
        begin = time.monotonic()
        with open(a.out / f"{name}.txt", "wb") as output:
            try:
                status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=limit).returncode
            except subprocess.TimeoutExpired:
                status = f"cut off after {limit} s"
        manifest["steps"][name] = {"started": started, "command": " ".join(command), "status": status,
                                   "seconds": round(time.monotonic() - begin, 1)}
        if not any((a.out / name).iterdir()):
            (a.out / name).rmdir()
        common.write(path, json.dumps(manifest, indent=2) + "\n")
        if status != 0:
            failed.append(name)
            print(f"{name}: {status}, see {a.out / name}.txt")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
