#!/usr/bin/env python3
"""The reader beside scikit-learn's load_svmlight_file: the same file, the same machine, one thread.

usage: reader_peer.py PATH/TO/reader_bench [FILE]

Without FILE, reader_bench writes 64 MiB of LETOR text. Both read it several times, in turn, from
the page cache; the best of each counts, in seconds of the processor, which other work on the machine
does not blur. What both read is compared before any time is printed.
Needs scikit-learn (python3 -m venv V && V/bin/pip install scikit-learn).
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import needs

needs.packages("numpy", "sklearn")

import numpy
import sklearn
from sklearn.datasets import load_svmlight_file

ROUNDS = 3


def ours(bench, path):
    report = subprocess.run(
        [bench, f"--file={path}", "--benchmark_format=json", "--benchmark_min_time=0.5"],
        check=True, capture_output=True, text=True,
        env=dict(os.environ, OMP_NUM_THREADS="1"),
    ).stdout
    run = json.loads(report)["benchmarks"][0]
    assert run["time_unit"] == "ms"
    return run["cpu_time"] / 1000, run


def theirs(path):
    begin = time.process_time()
    values, labels, qids = load_svmlight_file(path, query_id=True)
    return time.process_time() - begin, values, labels, qids


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    bench = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[2] if len(sys.argv) == 3 else os.path.join(folder, "letor.txt")
        if len(sys.argv) == 2:
            subprocess.run([bench, f"--write={path}"], check=True)
        size = os.path.getsize(path) / 1e6
        our_time = their_time = float("inf")
        for _ in range(ROUNDS):
            seconds, run = ours(bench, path)
            our_time = min(our_time, seconds)
            seconds, values, labels, qids = theirs(path)
            their_time = min(their_time, seconds)
        same = (
            run["documents"] == len(labels)
            and run["entries"] == values.nnz
            and run["queries"] == 1 + numpy.count_nonzero(numpy.diff(qids))
            and abs(run["sum"] - values.data.sum()) <= 1e-9 * abs(values.data).sum()
        )
        if not same:
            sys.exit("the two readers do not agree, so nothing is timed")
        print(f"{path}: {size:.0f} MB, {len(labels)} documents, {values.nnz} values")
        print(f"rulerank            {our_time * 1000:9.1f} ms {size / our_time:9.1f} MB/s")
        print(f"scikit-learn {sklearn.__version__:<6} {their_time * 1000:9.1f} ms "
              f"{size / their_time:9.1f} MB/s")
        print(f"ratio               {their_time / our_time:9.1f}")


if __name__ == "__main__":
    main()
