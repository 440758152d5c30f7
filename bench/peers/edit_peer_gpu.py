#!/usr/bin/env python3
"""Edit distances of all pairs on a GPU: `pairs` compared with StringZilla, in one run.

    edit_peer_gpu.py METRIC_GPU_BENCH WORDS OUT_FOLDER [--rounds 5] [--queries 1000]

WORDS has one word per line. metric_gpu_bench part=matrix samples database and queries from it and writes them to
files; StringZilla (PyPI stringzillas-cuda) computes the distances of the first --queries of them to all words,
including the copy of its matrix of 8-byte results to the host, by code points of UTF-8 and by bytes. A sample of its
distances by code points is compared with the dynamic program. Writes results.jsonl and manifest.json.
"""

import importlib.metadata
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

numpy, stringzilla, stringzillas = needs.packages("numpy", "stringzilla", "stringzillas")


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        last, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            last, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, last + (x != y))
    return row[-1]


def time_peer(words, queries, rounds, code_points):
    """Distances [queries][words], and the median of the seconds."""
    scope = stringzillas.DeviceScope(gpu_device=0)
    engine = (stringzillas.LevenshteinDistancesUTF8 if code_points else stringzillas.LevenshteinDistances)(capabilities=scope)
    database = stringzilla.Strs(words)
    asked = stringzilla.Strs(queries)
    found = numpy.zeros((len(queries), len(words)), numpy.uint64)
    # The first round warms up.
    times = [common.timed(lambda: engine(asked, database, device=scope, out=found))[0] for _ in range(rounds + 1)]
    return found, statistics.median(times[1:])


def expect_right(found, words, queries):
    draw = random.Random(1)
    for _ in range(2000):
        q, w = draw.randrange(len(queries)), draw.randrange(len(words))
        if found[q, w] != distance(queries[q], words[w]):
            common.fail(f"StringZilla: {queries[q]} and {words[w]} are {found[q, w]} apart")


def main():
    a = common.arguments(__doc__, "bench", "words", "out", rounds=5, queries=1000)
    a.out.mkdir(parents=True, exist_ok=True)
    ours = common.told(a.bench, f"words={a.words}", "part=matrix", f"rounds={a.rounds}", f"write={a.out}")
    words = (a.out / "words.txt").read_text().split("\n")[:-1]
    queries = (a.out / "queries.txt").read_text().split("\n")[:-1][:a.queries]
    lines = [{"engine": "pairs", **ours}]
    for code_points in (True, False):
        found, seconds = time_peer(words, queries, a.rounds, code_points)
        if code_points:
            expect_right(found, words, queries)
        rate = len(words) * len(queries) / seconds
        lines.append({"engine": "stringzilla", "letters": "code points" if code_points else "bytes",
                      "objects": len(words), "queries": len(queries), "to_host_s": seconds, "pairs_per_s_to_host": rate,
                      "pairs_on_device_over_it": ours["pairs_per_s"] / rate,
                      "pairs_to_host_over_it": ours["pairs_per_s_to_host"] / rate})
    common.write_rows(a.out / "results.jsonl", lines)
    common.manifest(a.out / "manifest.json", gpu=common.gpus()[0], **{
        name: importlib.metadata.version(name) for name in ("stringzillas-cuda", "stringzilla")})


if __name__ == "__main__":
    main()
