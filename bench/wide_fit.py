#!/usr/bin/env python3
"""Measures what `fit` costs with many features.

    wide_fit.py PROGRAM OUT_FOLDER [--features 46,136,300,700] [--documents 10000] [--labels 0] [--threads 2]

Each number of features is a synthetic set of 10,000 training documents in 200 queries. Whole commands, once each: `fit` without options,
which fits a card and compares it with other models; the card alone; and the recommended members. With `--labels N`, `fit` has N labels,
which `reduce` chooses, and the other documents as the pool. Writes rows.jsonl (wall and processor seconds, peak memory), table.md and
manifest.json.
"""

import common
from peers.fit_peer import timed

WAYS = {"default": [], "card": ["--members", "card"], "recommended": ["--members", "recommended"]}


def main():
    a = common.arguments(__doc__, "program", "out", features=[46, 136, 300, 700], documents=10000, labels=0, threads=2)
    log = common.Log(a.out / "rows.jsonl", shown=True)
    for features in a.features:
        with common.scratch() as folder:
            # The training set of one split has three fifths of the documents.
            common.call(a.program, "sample", "--documents", a.documents * 5 // 3, "--features", features, "--queries", 333, "--fold-count", 1,
                        "--out-dir", folder / "drawn", "--quiet")
            train = pool = folder / "drawn/Fold1/train.txt"
            if a.labels:
                train = folder / "chosen.txt"
                common.call(a.program, "reduce", pool, "--out", train, "--max-documents", a.labels, "--quiet")
            for way, words in WAYS.items():
                seconds, memory, _, cpu = timed([a.program, "fit", train, *(["--pool", pool] if a.labels else []), "--model", "model", *words,
                                                 "--threads", a.threads, "--quiet"], folder)
                log.add({"features": features, "documents": sum(1 for _ in open(pool, "rb")), "labels": a.labels or "all", "fit": way,
                         "seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "memory_bytes": memory})
    common.write(a.out / "table.md", common.table(
        ["features", "documents", "labels", "fit", "s", "CPU s", "MiB"],
        [[row["features"], row["documents"], row["labels"], row["fit"], row["seconds"], row["cpu_seconds"], round(row["memory_bytes"] / 2**20)]
         for row in log]))
    common.manifest(a.out / "manifest.json", threads=a.threads, **common.build(a.program))


if __name__ == "__main__":
    main()
