#!/usr/bin/env python3
"""Times whole commands on the CPU and on one GPU; the rule of --device auto is fitted to the results.

    python3 bench/studies/auto_rule.py build/bin/rulerank FOLDER [letor] [text] [metric] > commands.jsonl

Generates data sets of several sizes in FOLDER and runs reduce and rank (letor), search text (text) and search metric (metric) on each
of them, three times, in turn with --device cpu and --device cuda:0, with 1 thread and with all threads. A JSON line for each command
has the sizes that the rule uses, and the seconds of each run. If the outputs of the two devices differ, the line says so and the
exit code is 1.
"""

import filecmp
import itertools
import json
import os
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

ROUNDS = 3
given = common.arguments(__doc__, "program", "folder", "what*")
program, folder = given.program, given.folder
folder.mkdir(parents=True, exist_ok=True)
differ = False


def seconds(*words):
    return round(common.timed(lambda: common.call(program, *words))[0], 4)


def lines_of(path):
    return len(path.read_bytes().splitlines())


def measure(verb, arguments, **sizes):
    """One row: the command on both devices, in turn."""
    global differ
    for threads in (1, os.cpu_count()):
        row = {"command": " ".join(verb), **sizes, "threads": threads, "cpu_s": [], "gpu_s": []}
        for _ in range(ROUNDS):
            for device, key in (("cpu", "cpu_s"), ("cuda:0", "gpu_s")):
                out = folder / f"out-{key}"
                row[key].append(seconds(*verb, *arguments, "--out", out, "--device", device, "--threads", threads, "--quiet"))
        row["same"] = filecmp.cmp(folder / "out-cpu_s", folder / "out-gpu_s", shallow=False)
        differ |= not row["same"]
        print(json.dumps(row), flush=True)


def letor():
    for documents, features in ((10_000, 46), (50_000, 59), (20_000, 131), (250_000, 59), (150_000, 131)):
        fold = folder / f"{documents}x{features}"
        seconds("sample", "--documents", documents, "--features", features, "--queries",
                documents // 100, "--folds", 5, "--out-dir", fold, "--quiet")
        train, test = fold / "Fold1/train.txt", fold / "Fold1/test.txt"
        for size in (3, 4):
            measure(["reduce"], ["--train", train, "--rule-size", size],
                    documents=lines_of(train), features=features, rule_size=size)
        reduced = folder / "reduced.txt"
        seconds("reduce", "--train", train, "--rule-size", 4, "--out", reduced, "--quiet")
        for size in (3, 4):
            measure(["rank"], ["--train", reduced, "--test", test, "--rule-size", size], training_documents=lines_of(reduced),
                    test_documents=lines_of(test), features=features, rule_size=size)


def text():
    """Documents of 80 words out of 30,000, whose frequency falls with their rank."""
    draw, terms = random.Random(1), 30_000
    words = [f"w{i}" for i in range(terms)]
    cumulated = list(itertools.accumulate(1 / (i + 5) for i in range(terms)))
    for count, prefix in ((100_000, "d"), (20_000, "q")):
        with open(folder / f"{prefix}.tsv", "w") as file:
            for i in range(count):
                line = " ".join(draw.choices(words, cum_weights=cumulated, k=80))
                file.write(f"{prefix}{i}\t{line}\n")
    for documents, queries in ((10_000, 100), (10_000, 2_000), (100_000, 2_000), (100_000, 20_000)):
        for name, count in (("d", documents), ("q", queries)):
            with open(folder / f"{name}.tsv") as all_of, open(folder / f"{name}-part.tsv", "w") as part:
                part.writelines(itertools.islice(all_of, count))
        measure(["search", "text"], ["--collection", folder / "d-part.tsv", "--queries", folder / "q-part.tsv", "--k", 30],
                documents=documents, queries=queries, words=80)


def metric():
    """Words of 3 to 16 of 20 letters, short ones more often used; vectors of 20 dimensions."""
    draw = random.Random(1)
    letters, often = "eaosrnidlctumpbgvyqh", list(itertools.accumulate(1 / (i + 3) for i in range(20)))

    def write_words(name, count):
        lengths = draw.choices(range(3, 17), weights=[1, 3, 5, 8, 11, 13, 13, 12, 10, 8, 6, 4, 2, 1], k=count)
        (folder / name).write_text("".join(
            "".join(draw.choices(letters, cum_weights=often, k=length)) + "\n" for length in lengths))

    def write_vectors(name, count, dimensions=20):
        with open(folder / name, "wb") as file:  # .fvecs: dimensions, then the values, of each row
            for _ in range(count):
                file.write(struct.pack(f"<i{dimensions}f", dimensions, *(draw.gauss(0, 1) for _ in range(dimensions))))

    for objects, queries in ((50_000, 1_000), (50_000, 10_000), (50_000, 40_000), (500_000, 40_000)):
        write_words("words.txt", objects)
        write_words("asked.txt", queries)
        for what in (["--k", 8], ["--radius", 1], ["--radius", 2]):
            measure(["search", "metric"],
                    ["--collection", folder / "words.txt", "--queries", folder / "asked.txt", "--metric", "edit", *what],
                    objects=objects, queries=queries, search=" ".join(map(str, what)))
    for objects, queries in ((20_000, 2_000), (96_000, 2_000), (96_000, 24_000)):
        write_vectors("rows.fvecs", objects)
        write_vectors("asked.fvecs", queries)
        for name in ("l2", "l1"):
            measure(["search", "metric"],
                    ["--collection", folder / "rows.fvecs", "--queries", folder / "asked.fvecs", "--metric", name, "--k", 30],
                    objects=objects, queries=queries, dimensions=20, metric=name)


for name in [path.name for path in given.what] or ("letor", "text", "metric"):
    {"letor": letor, "text": text, "metric": metric}[name]()
sys.exit(1 if differ else 0)
