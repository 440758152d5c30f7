#!/usr/bin/env python3
"""on_gpus.py BIN OUT [--words FILE --vectors FILE]: what is still to be run on a machine with GPUs.

BIN is the folder of the build's programs. Each step writes OUT/NAME.txt and is done once; a second call goes on behind
it. Steps take as many GPUs as there are, and those that need two or four say so and are left for a machine that has
them. compute-sanitizer, and for the peers PyTorch and FlashLib, are taken where they are found. FILEs as of
metric_gpu.py. OUT/manifest.json has the commands, their exit codes and times.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent


def steps_of(a, gpus):
    """(name, GPUs that it needs, command, seconds after which it is cut off)"""
    knn, dense = str(a.bin / "knn_test"), str(a.bin / "dense_bench")
    sanitizer = ["compute-sanitizer", "--error-exitcode", "9", "--tool"]
    yield from ((f"test-{name}", 1, [str(a.bin / name)], 600) for name in ("core_test", "al_test", "l2r_test", "knn_test"))
    yield "memcheck-streams", 1, [*sanitizer, "memcheck", knn, "--gtest_filter=*rows_without_space_are_streamed*/1"], 1800
    yield "racecheck-dense", 1, [*sanitizer, "racecheck", knn, "--gtest_filter=*dense_gpus.few_rows*/1"], 900
    yield "racecheck-metric", 1, [*sanitizer, "racecheck", knn, "--gtest_filter=*metric_gpus.few_objects*/1:"
                                  "*metric_gpus.large_alphabets*/1:*metric_gpus.matrix_of_words*/1"], 1800
    if a.words and a.vectors:
        yield "metric", 1, [sys.executable, str(HERE / "metric_gpu.py"), str(a.bin / "metric_gpu_bench"), str(a.out / "metric"),
                            "--words", a.words, "--vectors", a.vectors], 3600
        yield "metric-two", 2, [sys.executable, str(HERE / "metric_gpu.py"), str(a.bin / "metric_gpu_bench"),
                                str(a.out / "metric-two"), "--words", a.words, "--vectors", a.vectors, "--gpus", "2",
                                "--only", "words-pairs", "words-lc", "vectors-pairs", "vectors-lc"], 1800
    yield "dense-peers", 1, [sys.executable, str(HERE / "dense_peer_gpu.py"), dense, str(a.out / "dense"), "--flashlib"], 1800
    for count in (1, 2, 4):
        if count <= gpus:
            yield (f"dense-rows-on-{count}", 2,
                   [dense, f"devices={count}", "shape=100000000x128xbf16", "k=32", "batches=1,32", "--benchmark_min_time=0.5"], 1800)
            yield (f"dense-queries-on-{count}", 2,
                   [dense, f"devices={count}", "shape=700000x128", "k=32", "batches=8192", "--benchmark_min_time=0.5"], 600)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--words")
    parser.add_argument("--vectors")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    path = a.out / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"steps": {}}
    manifest["gpus"] = names
    failed = []
    for name, needed, command, limit in steps_of(a, len(names)):
        if name in manifest["steps"]:
            continue
        if needed > len(names):
            print(f"{name}: left out, it needs {needed} GPUs and here are {len(names)}")
            continue
        print(name, "...", flush=True)
        started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        begin = time.monotonic()
        with open(a.out / f"{name}.txt", "wb") as output:
            try:
                status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=limit).returncode
            except FileNotFoundError as missing:
                print(f"{name}: {missing.filename} is not here")
                continue
            except subprocess.TimeoutExpired:
                status = f"cut off after {limit} s"
        manifest["steps"][name] = {"started": started, "command": " ".join(command), "status": status,
                                   "seconds": round(time.monotonic() - begin, 1)}
        path.write_text(json.dumps(manifest, indent=2) + "\n")
        if status != 0:
            failed.append(name)
            print(f"{name}: {status}, see {a.out / name}.txt")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
