#!/usr/bin/env python3
"""Classes of documents by their nearest neighbours, on four collections: whether neighbours are
right shows in how often they vote for the right class.

  text_classes.py PROGRAM DATA_FOLDER OUT_FOLDER

DATA_FOLDER has 20news-bydate/20news-bydate-{train,test} (a folder a class), r8/{train,test}.txt
(class, tab, text), mr/{text,label}_{train,test}.txt, and trec6/{TREC,labels}.txt. A line of
TREC.txt begins with the fine class of its question, which is left out. Every training document is
a candidate; texts become terms as `rulerank search text` makes them, with its stop words and without.
Writes classes.jsonl, classes.md and classes-manifest.json into OUT_FOLDER.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile

import tables

KS = (1, 5, 10, 15, 30)
VOTES = ("majority", "similarity")
STOP_WORDS = ("smart", "none")


def lines(path):
    return [line.rstrip(b"\r") for line in path.read_bytes().rstrip(b"\n").split(b"\n")]


def newsgroups(data):
    folder = data / "20news-bydate"
    return folder / "20news-bydate-train", folder / "20news-bydate-test"


def r8(data):
    return [[line.split(b"\t", 1) for line in lines(data / "r8" / f"{part}.txt")]
            for part in ("train", "test")]


def mr(data):
    return [list(zip(lines(data / "mr" / f"label_{part}.txt"), lines(data / "mr" / f"text_{part}.txt")))
            for part in ("train", "test")]


def trec6(data):
    parts = {b"train": [], b"test": []}
    texts = lines(data / "trec6" / "TREC.txt")
    labels = [line.split(b"\t") for line in lines(data / "trec6" / "labels.txt")]
    if len(texts) != len(labels):
        raise SystemExit(f"trec6: {len(texts)} questions and {len(labels)} labels")
    for text, (_, part, label) in zip(texts, labels):
        parts[part].append((label, text.split(b" ", 1)[1]))
    return [parts[b"train"], parts[b"test"]]


COLLECTIONS = {"20news-bydate": newsgroups, "r8": r8, "mr": mr, "trec6": trec6}


def inputs(name, data, folder):
    """Paths of training and test documents, and the options that say how they are read."""
    found = COLLECTIONS[name](data)
    if isinstance(found[0], pathlib.Path):
        return [*found, []]
    paths = []
    for part, rows in zip(("train", "test"), found):
        paths.append(pathlib.Path(folder) / f"{name}-{part}.tsv")
        paths[-1].write_bytes(b"".join(b"%d\t%s\t%s\n" % (at, label.strip(), text) for at, (label, text)
                                       in enumerate(rows, 1)))
    return [*paths, ["--labels"]]


def checksum(path):
    """SHA-256 of a file, or of the names and contents of a folder's files in byte order."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    of = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        of.update(str(file.relative_to(path)).encode() + b"\0" + file.read_bytes())
    return of.hexdigest()


def answer(*line):
    return subprocess.run([str(word) for word in line], check=True, capture_output=True, text=True).stdout


def markdown(rows):
    text = ""
    for stop_words in STOP_WORDS:
        text += f"\nStop words: {stop_words}\n\n"
        text += "| collection | train | test | votes | " + " | ".join(f"k = {k}" for k in KS) + " |\n"
        text += "| :-- | --: | --: | :-- |" + " --: |" * len(KS) + "\n"
        for name in COLLECTIONS:
            for votes in VOTES:
                of = {row["k"]: row for row in rows if (row["collection"], row["votes"],
                      row["stop_words"]) == (name, votes, stop_words)}
                cells = " | ".join(f"{of[k]['accuracy']:.4f} / {of[k]['macro_f1']:.4f}" for k in KS)
                text += (f"| {name} | {of[1]['documents']:,} | {of[1]['queries']:,} | {votes} | "
                         f"{cells} |\n")
    return "Accuracy (which is micro-F1 too) / macro-F1\n" + text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    given = parser.parse_args()
    rows, sums = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in COLLECTIONS:
            train, test, reading = inputs(name, given.data, folder)
            sums.update({path.name: checksum(path) for path in (train, test)})
            index = pathlib.Path(folder) / "index"
            for stop_words in STOP_WORDS:
                answer(given.program, "search", "text", "--quiet", "--collection", train, "--index",
                       index, "--stop-words", stop_words, *reading)
                for votes in VOTES:
                    for k in KS:
                        told = json.loads(answer(
                            given.program, "search", "text", "--quiet", "--index", index, "--queries",
                            test, *reading, "--k", k, "--votes", votes, "--out", os.devnull, "--json"))
                        row = {"collection": name, "stop_words": stop_words, "votes": votes, "k": k,
                               **{key: told[key] for key in ("documents", "terms", "queries", "engine",
                                                             "accuracy", "micro_f1", "macro_f1")}}
                        rows.append(row)
                        print(json.dumps(row), flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "classes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (given.out / "classes.md").write_text(markdown(rows))
    (given.out / "classes-manifest.json").write_text(json.dumps({
        "command": "text_classes.py PROGRAM DATA_FOLDER OUT_FOLDER",
        "date": datetime.date.today().isoformat(), "build": tables.build(given.program.parent),
        "machine": tables.machine(), "sha256": sums}, indent=2) + "\n")


if __name__ == "__main__":
    main()
