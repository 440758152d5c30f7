#!/usr/bin/env python3
"""Compares the reader with scikit-learn's load_svmlight_file: same file, same machine, one thread.

    reader_peer.py PATH/TO/reader_bench [FILE]

Without FILE, reader_bench writes 64 MiB of LETOR text. Both read it several times, alternately, from the page cache. The best time
of each counts, in CPU seconds, which other processes hardly affect. Results are compared before a time is printed. Needs
scikit-learn (python3 -m venv V && V/bin/pip install scikit-learn).
"""

import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

numpy, sklearn = needs.packages("numpy", "sklearn")

numpy, sklearn = needs.packages("numpy", "sklearn")

from sklearn.datasets import load_svmlight_file

ROUNDS = 3


def ours(bench, path):
    run = common.told(bench, f"--file={path}", "--benchmark_format=json", "--benchmark_min_time=0.5",
                      env=dict(os.environ, OMP_NUM_THREADS="1"))["benchmarks"][0]
    assert run["time_unit"] == "ms"
    return run["cpu_time"] / 1000, run


def theirs(path):
    begin = time.process_time()
    values, labels, qids = load_svmlight_file(path, query_id=True)
    return time.process_time() - begin, values, labels, qids


def main():
    a = common.arguments(__doc__, "bench", "file?")
    bench = a.bench
    with common.scratch() as folder:
        path = str(a.file or folder / "letor.txt")
        if not a.file:
            common.call(bench, f"--write={path}")
        size = os.path.getsize(path) / 1e6
        found = common.in_turn(ROUNDS, {"ours": lambda: ours(bench, path), "theirs": lambda: theirs(path)})
        our_time, their_time = (min(one[0] for one in of) for of in found.values())
        run, (_, values, labels, qids) = found["ours"][-1][1], found["theirs"][-1]
        if not (run["documents"] == len(labels) and run["entries"] == values.nnz and run["queries"] == 1
                + numpy.count_nonzero(numpy.diff(qids)) and abs(run["sum"] - values.data.sum()) <= 1e-9 * abs(values.data).sum()):
            common.fail("the two readers do not agree, so nothing is timed")
        print(f"{path}: {size:.0f} MB, {len(labels)} documents, {values.nnz} values")
        print(f"rulerank            {our_time * 1000:9.1f} ms {size / our_time:9.1f} MB/s")
        print(f"scikit-learn {sklearn.__version__:<6} {their_time * 1000:9.1f} ms {size / their_time:9.1f} MB/s")
        print(f"ratio               {their_time / our_time:9.1f}")


if __name__ == "__main__":
    main()
