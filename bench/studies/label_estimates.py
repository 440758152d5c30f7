#!/usr/bin/env python3
"""Compares the estimate of `reduce --oracle ask` with the number of documents that it asks about in the end.

  label_estimates.py PROGRAM DATA_FOLDER OUT_FOLDER [--sets OHSUMED,MQ2008] [--sizes 3,4] [--folds 1,2,3,4,5] [--skip 0.3]

On each set, with two ways to cut features, the answers are the training set's own labels, one by one. An estimate is requested as
soon as there is one, and then at intervals: the expected number of documents and its bounds, compared with the final number. With
--skip, this share of the documents, chosen at random, is skipped whenever it is asked about. The exit code is 1 unless the chosen
documents are those of a run with all labels, the first estimate of each run has the final number within its bounds, and so have 95
of 100 estimates of each set.

Sets of DATA_FOLDER/letor, with Fold1..5/train.txt: OHSUMED, MQ2008, OHSUMED-LETOR2, MQ2008-agg. Texts: `collection`, the synthetic
one of docs/, and Cranfield of DATA_FOLDER/text/cranfield. Their pools are made by `features` with 50 or 100 candidates for each
topic, or with the number in the name (Cranfield-40). They are normalized by query-minmax; a name that ends with -raw has no
normalization. Fold F leaves out every fifth topic, beginning with topic F. The answers are the collection's judgments, 0 for a pair
without one and for Cranfield's grade 5 (a raw -1); with a name that ends with -skips, a skip.

Writes results.jsonl, tables.md and manifest.json to OUT_FOLDER. All sets of a fold run before the next fold, so an interrupted run
has the folds before.
"""

import collections
import itertools
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

LETOR = {"OHSUMED": ("width", "tube"), "MQ2008": ("frequency", "tube"), "OHSUMED-LETOR2": ("width", "tube"),
         "MQ2008-agg": ("frequency", "tube")}
TEXT_CUTS = ("frequency", "tube")
TEXT = re.compile(r"(collection|Cranfield)(?:-(\d+))?(-raw)?(-skips)?")
COLLECTION = common.ROOT / "docs/collection"
ASKED_AT = (8, 10, 15, 20, 30, 45, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1200, 2000, 3000)
ENOUGH = 10  # labels other than the most common one, below which there is no estimate
SENTENCE = re.compile(r"by (\d+) documents? up to the end \((\d+) to (\d+)\)")


def letor_lines(data, name, fold):
    """The lines of a training set, and its labels."""
    lines = (data / "letor" / name / f"Fold{fold}" / "train.txt").read_bytes().splitlines(True)
    return lines, [line.split(b" ", 1)[0].decode() for line in lines]


def text_pool(program, data, name, folder):
    """The lines of a text pool, in the order of its topics, and the answers."""
    collection, candidates, _, skips = TEXT.fullmatch(name).groups()
    cranfield = collection == "Cranfield"
    if cranfield:
        place = data / "text" / "cranfield"
        texts = [place / "cran.all.1400", "--topics", place / "cran.qry", "--number-by-position", "--candidates", candidates
                 or "100"]
        judgments = place / "QRelsCorrectedforTRECeval"
    else:
        texts = [COLLECTION / "docs.jsonl", "--topics", COLLECTION / "topics.tsv", "--candidates", candidates or "50"]
        judgments = COLLECTION / "qrels"
    common.call(program, "features", "--quiet", "--collection", *texts, "--out", folder / "pairs")
    grades = {(topic, document): "0" if cranfield and grade == "5" else grade
              for topic, _, document, grade in map(str.split, judgments.read_text().splitlines())}
    lines = (folder / "pairs").read_bytes().splitlines(True)
    pairs = [re.search(r" qid:(\S+) .*docid = (\S+)", line.decode()).groups() for line in lines]
    return lines, pairs, [grades.get(pair, "skip" if skips else "0") for pair in pairs]


def part(program, data, name, fold):
    """The lines of a fold's documents and their labels."""
    if name in LETOR:
        return letor_lines(data, name, fold)
    with common.scratch() as folder:
        lines, pairs, labels = text_pool(program, data, name, folder)
    topics = {topic: t for t, topic in enumerate(dict.fromkeys(topic for topic, _ in pairs))}
    kept = [d for d, (topic, _) in enumerate(pairs) if topics[topic] % 5 != fold - 1]
    return [lines[d] for d in kept], [labels[d] for d in kept]


def minority(answers):
    """For each answer, how many labels up to it differ from the most common one."""
    counts = collections.Counter()
    for answer in answers:
        if answer != "skip":
            counts[answer] += 1
        yield counts.total() - max(counts.values(), default=0)


def estimates(program, lines, labels, options):
    """(answers, minority labels, expected, low, high, left) at each point, with the labels answered in turn."""
    with common.scratch() as folder:
        run = common.program(program, "--device", "cpu", *options, cwd=folder)
        rest = [line.split(b" ", 1)[1] for line in lines]
        pool = ["reduce", "--train", "pool", "--unlabelled", "-1"]
        (folder / "pool").write_bytes(b"".join(b"-1 " + line for line in rest))
        (folder / "labels").write_text("line\tlabel\n" + "".join(f"{d}\t{label}\n" for d, label in enumerate(labels)))
        run(*pool, "--out", "want", "--oracle", "file:labels", "--resume", "order")
        if "skip" not in labels:
            (folder / "train").write_bytes(b"".join(label.encode() + b" " + line for label, line in zip(labels, rest)))
            run("reduce", "--train", "train", "--out", "all")
            assert (folder / "all").read_bytes() == (folder / "want").read_bytes()
        order = [int(row.split("\t")[0]) for row in (folder / "order").read_text().splitlines()[2:]]
        known = list(minority(labels[d] for d in order))
        first = next((n for n, others in enumerate(known, 1) if others >= ENOUGH), len(order))
        points = [n for n in sorted({first, *ASKED_AT}) if first <= n < len(order)]
        # The first estimate is shown automatically.
        words = "".join(("e\n" if n in points[1:] else "") + labels[d] + "\n" for n, d in enumerate(order))
        shown = run(*pool, "--out", "got", "--oracle", "ask", "--resume", "state", input=words).stderr
        if any((folder / a).read_bytes() != (folder / b).read_bytes() for a, b in (("want", "got"), ("order", "state"))):
            common.fail(f"{' '.join(options)}: not what all labels choose")
        found = [tuple(map(int, numbers)) for numbers in SENTENCE.findall(shown)]
        assert len(found) == len(points), (found, points)
        return [(n, known[n - 1], *numbers, len(order) - n) for n, numbers in zip(points, found)]


def summary(points):
    """The cells of a table row."""
    worst = max(points, key=lambda row: row["factor"])
    share = lambda n: f"{n} ({100 * n / len(points):.1f} %)"
    first = [row["within"] for row in points if row["first"]]
    return [len(points), share(sum(row["factor"] <= 1.5 for row in points)), share(sum(row["within"] for row in points)),
            f"{sum(first)} of {len(first)}", min(row["ratio"] for row in points), max(row["ratio"] for row in points),
            "{answers}: {expected} ({low} to {high}), {left}".format(**worst)]


def tables(sets, points):
    """The table of the results: for each set each kind of cuts and rule size, and the total."""
    rows = []
    for name in [one for one in sets if any(row["set"] == one for row in points)]:
        of_set = [row for row in points if row["set"] == name]
        for cuts, size in sorted({(row["cuts"], row["rule_size"]) for row in of_set}):
            rows.append([name, cuts, size, *summary([row for row in of_set if (row["cuts"], row["rule_size"]) == (cuts, size)])])
        rows.append([name, "all", "", *summary(of_set)])
    rows.append(["all", "", "", *summary(points)])
    return common.table(["set", "cuts", "--rule-size", "estimates", "within a factor of 1.5", "within their bounds",
                         "of first ones", "smallest ratio", "largest ratio", "the worst: answers: expected (bounds), what came"],
                        rows, "Documents still asked about: estimates and what it was")


def main():
    parser = common.parser(__doc__, "program", "data", "out", sets=["OHSUMED", "MQ2008"], sizes=[3, 4], folds=[1, 2, 3, 4, 5],
                           skip=0.0)
    a = parser.parse_args()
    if unknown := [name for name in a.sets if name not in LETOR and not TEXT.fullmatch(name)]:
        parser.error(f"--sets: found {', '.join(unknown)}, expected {', '.join(LETOR)}, collection or Cranfield")
    common.manifest(a.out / "manifest.json", build=common.build(a.program), sets=a.sets, sizes=a.sizes, folds=a.folds,
                    **({"skip": a.skip} if a.skip else {}))
    points = common.Log(a.out / "results.jsonl")
    for fold, name in itertools.product(a.folds, a.sets):
        lines, answers_of = part(a.program, a.data, name, fold)
        chance = random.Random(f"Fold{fold} {a.skip}")
        labels = ["skip" if chance.random() < a.skip else label for label in answers_of]
        for cuts, size in itertools.product(LETOR.get(name, TEXT_CUTS), a.sizes):
            options = ["--rule-size", str(size), "--method", cuts]
            if name not in LETOR and "-raw" not in name:
                options += ["--norm", "query-minmax"]
            for n, point in enumerate(estimates(a.program, lines, labels, options)):
                answers, known, expected, low, high, left = point
                row = {"set": name, "cuts": cuts, "rule_size": size, "fold": fold, "answers": answers, "minority": known,
                       "first": int(n == 0), "expected": expected, "low": low, "high": high, "left": left,
                       "ratio": round(expected / left, 3), "factor": round(max(expected / left, left / expected), 3),
                       "within": int(low <= left <= high)}
                points.add(row)
        text = tables(a.sets, points)
        common.write(a.out / "tables.md", text)
    print(text)
    wrong = [name for name in a.sets if sum(of := [row["within"] for row in points if row["set"] == name]) < 0.95 * len(of)]
    if wrong:
        common.fail(f"{', '.join(wrong)}: more than 5 of 100 estimates are beyond their bounds")
    if missed := [row for row in points if row["first"] and not row["within"]]:
        common.fail(f"{len(missed)} first estimates are beyond their bounds, such as {missed[0]}")


if __name__ == "__main__":
    main()
