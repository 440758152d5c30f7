#!/usr/bin/env python3
"""gpu_checks.py BIN OUT [--jobs 5] [--limit SECONDS] [--only PATTERN]: runs the tests of GPU code, with and without compute-sanitizer.

BIN is the folder of a build's programs. The tests that need a GPU are those that a test program skips without one: a first run of
each program finds them and keeps the list in OUT/tests.json, which is used again if it exists. The tests run in shards: first plain,
with RULERANK_TEST_GPUS=4 for tests that may name one GPU several times; then under compute-sanitizer's memcheck; then those of RACES
under racecheck. A step that takes more than --limit is cut off and counts as failed. --only runs the steps whose names match a
regular expression. Few jobs are fastest, because processes take turns on a GPU.

Writes OUT/checks.tsv (for each step: exit code, seconds, tests passed, skipped and failed, the sanitizer's summary), OUT/checks.log
(the output of failed steps) and OUT/manifest.json. The exit code is 1 if a step failed.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

import common

# Test programs with CUDA code, and the number of shards under memcheck. The plain tests have a third as many shards.
PROGRAMS = {"core": 1, "al": 4, "knn_dense": 12, "knn_metric": 4, "knn_sparse": 8, "l2r": 12}
# Kernels of `delta` wait for each other, so a GPU cannot be named twice.
DISTINCT_DEVICES = ("al",)
# Memcheck takes tests of one device, because those of 2 and 4 repeat the same kernels, and none of real data or of many repetitions, which
# take minutes.
ONE_DEVICE = re.compile(r"/[24]$|_on_[24]$|stops|mnist|several_threads|number_of_threads|without_space_are_streamed|slow_|real_folds|golden")
RACES = {"knn_dense": ("few_rows/1", "far_rows/1", "long_rows/1"), "knn_metric": ("few_objects/1", "matrix_of_words/1", "large_alphabets/1"),
         "al": ("labels_that_an_oracle_brings_in_late/1", "budgets_fixed_iterations_and_oracles/1", "a_large_support_stops_after_two_documents/prss", "itemsets_of_many_items/prss"),
         "knn_sparse": ("cosine_and_ties_by_hand/on_gpus_1", "few_weights_on_gpus_1", "few_weights_on_1", "unknown_terms_on_1", "ltc_fish"), "l2r": ("plain_profl", "plain_tensor", "plain_plrar")}
NO_GPU = re.compile(r"Skipped\n.*(driver|GPU|device).*\n+\[  SKIPPED \] (\S+)")


def gpu_tests(a):
    """The tests of each program that need a GPU."""
    kept = a.out / "tests.json"
    if not kept.exists():
        without = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
        found = {name: [test for _, test in NO_GPU.findall(common.output(a.bin / f"{name}_test", env=without))] for name in PROGRAMS}
        common.write(kept, json.dumps(found, indent=1) + "\n")
    return json.loads(kept.read_text())


def steps(a):
    """(name, command, variables of the environment)"""
    sanitizer = ["compute-sanitizer", "--error-exitcode", "9", "--report-api-errors", "no", "--tool"]
    tests = gpu_tests(a)
    for name, shards in PROGRAMS.items():
        variables = {} if name in DISTINCT_DEVICES else {"RULERANK_TEST_GPUS": "4"}
        few = max(1, shards // 3)
        for shard in range(few):
            yield (f"test {name} {shard + 1}/{few}", [a.bin / f"{name}_test"],
                   variables | {"GTEST_FILTER": ":".join(tests[name][shard::few])})
    for name, shards in PROGRAMS.items():
        single = [test for test in tests[name] if not ONE_DEVICE.search(test)]
        for shard in range(shards):
            yield (f"memcheck {name} {shard + 1}/{shards}", [*sanitizer, "memcheck", a.bin / f"{name}_test"],
                   {"GTEST_FILTER": ":".join(single[shard::shards])})
    for name, ends in RACES.items():
        for end in ends:
            filtered = ":".join(test for test in tests[name] if test.endswith(end))
            yield f"racecheck {name} {end}", [*sanitizer, "racecheck", a.bin / f"{name}_test"], {"GTEST_FILTER": filtered}


def run(a, step):
    name, command, variables = step
    begin = time.monotonic()
    try:
        done = subprocess.run(list(map(str, command)), env=os.environ | variables | {"OMP_NUM_THREADS": "2"}, timeout=a.limit,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as cut:
        status, output = "cut off", cut.stdout or b""
    output = output.decode(errors="replace")
    counts = [len(set(re.findall(rf"\[ +{word} +\] (\S+\.\S+)", output))) for word in ("OK", "SKIPPED", "FAILED")]
    errors = re.search(r"(ERROR|RACECHECK) SUMMARY: (.*)", output)
    print(name, status, flush=True)
    return [name, status, round(time.monotonic() - begin, 1), *counts, errors[2] if errors else ""], output


def main():
    a = common.arguments(__doc__, "bin", "out", jobs=5, limit=280.0, only="")
    a.out.mkdir(parents=True, exist_ok=True)
    common.manifest(a.out / "manifest.json", build=common.build(a.bin), gpus=common.gpus())
    bad = 0
    with (open(a.out / "checks.tsv", "w") as table, open(a.out / "checks.log", "w") as log,
          concurrent.futures.ThreadPoolExecutor(a.jobs) as pool):
        print("step", "exit_code", "seconds", "passed", "skipped", "failed", "sanitizer", sep="\t", file=table, flush=True)
        for done in concurrent.futures.as_completed([pool.submit(run, a, step) for step in steps(a) if re.search(a.only, step[0])]):
            row, output = done.result()
            print(*row, sep="\t", file=table, flush=True)
            if row[1] != 0:
                bad += 1
                print(f"=== {row[0]}: {row[1]}", output[-20000:], sep="\n", file=log, flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
