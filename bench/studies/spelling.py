#!/usr/bin/env python3
"""The effect of --correct: topics with random mistakes, searched with and without it.

  spelling.py PROGRAM CRANFIELD_FOLDER OUT_FOLDER [--seeds 10] [--permutations 100000]

CRANFIELD_FOLDER has cran.all.1400, cran.qry and QRelsCorrectedforTRECeval (grade 5 counts as 0). A mistake in a word
of at least 4 ASCII letters is one of four with equal probability: a letter is deleted, inserted or replaced, or two
neighbours are swapped (two edits to Levenshtein, one to a typist); the first letter is kept. Topics are misspelt in
one word each, in a tenth, and in a quarter of such words, chosen at random by a seed; `none` are the original topics.
BM25, 1,000 documents per topic. recall@100, recall@1000 and MAP with all judgments by `evaluate --profile trec`, p of
the paired t-test and of Fisher's test (seed 1), the mean over the seeds, the number of corrected words, and seconds.
Writes results.json and table.md, and exits with 1 if topics without unknown words changed.
"""

import collections
import json
import pathlib
import random
import re
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

MEASURES = ("recall@100", "recall@1000", "MAP")
WORD = re.compile(rb"[A-Za-z]{4,}")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def mistaken(word, draw):
    """The word with one random mistake; always differs from the word."""
    while True:
        at, kind = draw.randrange(1, len(word)), draw.randrange(4)
        put = draw.choice(LETTERS) if kind in (1, 2) else word[at:at + 2][::-1] if kind == 3 else ""
        wrong = word[:at] + put + word[at + (1, 0, 1, 2)[kind]:]
        if wrong != word:
            return wrong


def misspelt(topics, how, seed):
    """The topics with mistakes, and {wrong word: word} of each topic by position."""
    draw = random.Random(f"{seed}-{how}")
    parts, changes, topic, in_text, wrong = [], {}, 0, False, []
    words = collections.defaultdict(list)
    for line in topics.split(b"\n"):
        if line.startswith(b".I"):
            topic, in_text = topic + 1, False
        elif line.startswith(b".W"):
            in_text = True
        elif in_text:
            words[topic] += [(topic, len(parts), found) for found in WORD.finditer(line)]
        parts.append(line)
    for found in filter(None, words.values()):
        if how == "one word":
            wrong.append(draw.choice(found))
        elif how != "none":
            wrong += [one for one in found if draw.random() < float(how)]
    for topic, at, found in reversed(sorted(wrong, key=lambda one: (one[1], one[2].start()))):
        word = found.group().decode().lower()
        new = mistaken(word, draw)
        parts[at] = parts[at][:found.start()] + new.encode() + parts[at][found.end():]
        changes[(str(topic), new)] = word
    return b"\n".join(parts), changes


def main():
    given = common.arguments(__doc__, "program", "cranfield", "out", seeds=10, permutations=100_000)
    folder = pathlib.Path(tempfile.mkdtemp())
    collection = given.cranfield / "cran.all.1400"
    common.write(folder / "qrels", common.cranfield_qrels(given.cranfield))
    index = {}
    for name, more in (("plain", []), ("words", ["--correct"])):
        shown = common.told(given.program, "search", "text", "--collection", collection, "--index", folder / name, "--weights",
                            "bm25", "--json", "--quiet", *more)
        index[name] = {"bytes": (folder / name).stat().st_size, "seconds": sum(
            shown["seconds"].get(stage, 0) for stage in ("read", "weigh"))}

    def search(name, queries, run_file, *more):
        return common.told(given.program, "search", "text", "--index", folder / name, "--queries", queries, "--number-by-position",
                           "--k", 1000, "--run", run_file, "--out", folder / "neighbours", "--json", "--quiet", *more)

    def judge(*more):
        return common.told(given.program, "evaluate", "--qrels", folder / "qrels", "--profile", "trec", "--metrics",
                           ",".join(MEASURES), "--json", "--quiet", *more)

    results = {"index": index, "rows": []}
    same = True
    topics = (given.cranfield / "cran.qry").read_bytes().replace(b"\r", b"")
    for how in ("none", "one word", "0.1", "0.25"):
        rows = []
        for seed in range(1, (given.seeds if how != "none" else 1) + 1):
            text, wrong = misspelt(topics, how, seed)
            (folder / "queries.qry").write_bytes(text)
            plain = search("plain", folder / "queries.qry", folder / "as-they-are.run")
            fixed = search("words", folder / "queries.qry", folder / "corrected.run", "--correct")
            replaced = fixed["corrections"]
            touched = {one["query"] for one in replaced}
            lists = [{}, {}]
            for into, name in zip(lists, ("as-they-are.run", "corrected.run")):
                for line in (folder / name).read_text().splitlines():
                    into.setdefault(line.split()[0], []).append(line)
            same = same and all(lists[0].get(q) == lists[1].get(q) for q in set(lists[0]) | set(lists[1]) if q not in touched)
            compare = ["--compare", "paired-t,fisher", "--permutations", given.permutations] if seed == 1 else []
            report = judge("--run", folder / "as-they-are.run", folder / "corrected.run", *compare)
            averages = {one["name"]: one["averages"] for one in report["systems"]}
            row = {"seed": seed, "wrong": len(wrong), "replaced": len(replaced),
                   "right": sum(wrong.get((one["query"], one["word"])) == one["replacement"] for one in replaced),
                   "other": sum((one["query"], one["word"]) not in wrong for one in replaced), "averages": averages,
                   "seconds": {"as they are": plain["seconds"], "corrected": fixed["seconds"]}}
            if seed == 1:
                row["comparison"] = report["comparison"]["results"]
            rows.append(row)
        results["rows"].append({"mistakes": how, "draws": rows})
    common.write(given.out / "results.json", json.dumps(results, indent=1) + "\n")
    common.write(given.out / "table.md", table(results))
    print(table(results), end="")
    if not same:
        common.fail("topics without a replaced word changed")


def table(results):
    """The results as Markdown."""
    mean, lines, compared = statistics.fmean, [], []
    for row in results["rows"]:
        draws = row["draws"]
        for name in ("as-they-are", "corrected"):
            more = ["", ""] if name == "as-they-are" else [
                f"{mean(d['right'] for d in draws):.1f} of {mean(d['wrong'] for d in draws):.1f}",
                f"{mean(d['replaced'] - d['right'] for d in draws):.1f}"]
            lines.append([row["mistakes"], name, *(f"{mean(d['averages'][name][m] for d in draws):.4f}" for m in MEASURES), *more])
        for one in draws[0]["comparison"]:
            tests = one.get("tests", one)
            difference = draws[0]["averages"]["corrected"][one["measure"]] - draws[0]["averages"]["as-they-are"][one["measure"]]
            compared.append([row["mistakes"], one["measure"], f"{difference:+.4f}", p_of(tests, "paired"), p_of(tests, "fisher")])
    last = results["rows"][-1]["draws"]
    stages = [[f"{name}: {stage}", f"{statistics.median(d['seconds'][name].get(stage, 0) for d in last):.4f}"]
              for name, stages in (("as they are", ("open", "prepare", "nearest")),
                                   ("corrected", ("open", "prepare", "dictionary", "correct", "nearest"))) for stage in stages]
    stages += [[f"index {what}: made, {results['index'][name]['bytes']} bytes", f"{results['index'][name]['seconds']:.4f}"]
               for name, what in (("plain", "without words"), ("words", "with words"))]
    return "\n".join([common.table(["mistakes", "topics", *MEASURES, "mistakes put right", "other words replaced"], lines),
                      "Of seed 1, corrected against as they are, 225 topics:\n",
                      common.table(["mistakes", "measure", "difference", "p (paired t)", "p (Fisher)"], compared),
                      common.table(["stage", "seconds (median of the draws with a quarter of the words)"], stages)])


def p_of(tests, name):
    """The p of a test under any of its names in reports."""
    for key, value in tests.items():
        if name in key:
            return f"{value['p'] if isinstance(value, dict) else value:.3g}"
    return ""


if __name__ == "__main__":
    main()
