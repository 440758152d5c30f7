#!/usr/bin/env python3
"""Classes of documents by their nearest neighbours, on four collections: the better the neighbours, the more often they
vote for the right class.

  text_classes.py PROGRAM DATA_FOLDER OUT_FOLDER

DATA_FOLDER has 20news-bydate/20news-bydate-{train,test} (one folder per class), r8/{train,test}.txt (class, tab,
text), mr/{text,label}_{train,test}.txt, and trec6/{TREC,labels}.txt. A line of TREC.txt begins with the fine class of
its question, which is removed. Every training document is a candidate; texts become terms as in `rulerank search
text`, with and without its stop words. Writes classes.jsonl, classes.md and classes-manifest.json to OUT_FOLDER.
"""

import itertools
import os
import pathlib

import common

KS = (1, 5, 10, 15, 30)
VOTES = ("majority", "similarity")
STOP_WORDS = ("smart", "none")


def lines(path):
    return [line.rstrip(b"\r") for line in path.read_bytes().rstrip(b"\n").split(b"\n")]


def newsgroups(data):
    folder = data / "20news-bydate"
    return folder / "20news-bydate-train", folder / "20news-bydate-test"


def r8(data):
    return [[line.split(b"\t", 1) for line in lines(data / "r8" / f"{part}.txt")] for part in ("train", "test")]


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
        paths.append(folder / f"{name}-{part}.tsv")
        paths[-1].write_bytes(b"".join(b"%d\t%s\t%s\n" % (at, label.strip(), text) for at, (label, text) in enumerate(rows, 1)))
    return [*paths, ["--labels"]]


def markdown(rows):
    parts = ["Accuracy (which is micro-F1 too) / macro-F1\n"]
    for stop_words in STOP_WORDS:
        lines = []
        for name, votes in itertools.product(COLLECTIONS, VOTES):
            of = {row["k"]: row for row in rows
                  if (row["collection"], row["votes"], row["stop_words"]) == (name, votes, stop_words)}
            lines.append([name, of[1]["documents"], of[1]["queries"], votes,
                          *(f"{of[k]['accuracy']:.4f} / {of[k]['macro_f1']:.4f}" for k in KS)])
        parts += [f"Stop words: {stop_words}\n",
                  common.table(["collection", "train", "test", "votes", *(f"k = {k}" for k in KS)], lines)]
    return "\n".join(parts)


def main():
    a = common.arguments(__doc__, "program", "data", "out")
    rows, sums = common.Log(a.out / "classes.jsonl", shown=True), {}
    with common.scratch() as folder:
        index = folder / "index"
        for name in COLLECTIONS:
            train, test, reading = inputs(name, a.data, folder)
            sums.update({path.name: common.checksum(path) for path in (train, test)})
            for stop_words in STOP_WORDS:
                common.call(a.program, "search", "text", "--quiet", "--collection", train, "--index", index, "--stop-words",
                            stop_words, *reading)
                for votes, k in itertools.product(VOTES, KS):
                    told = common.told(a.program, "search", "text", "--quiet", "--index", index, "--queries", test, *reading, "--k",
                                       k, "--votes", votes, "--out", os.devnull, "--json")
                    rows.add({"collection": name, "stop_words": stop_words, "votes": votes, "k": k, **{
                        key: told[key] for key in ("documents", "terms", "queries", "engine", "accuracy", "micro_f1", "macro_f1")}})
    common.write(a.out / "classes.md", markdown(rows))
    common.manifest(a.out / "classes-manifest.json", build=common.build(a.program), sha256=sums)


if __name__ == "__main__":
    main()
