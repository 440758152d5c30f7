#!/usr/bin/env python3
"""curve.py: NDCG@10 by the number of labels on a pool of your own, compared with random labels and with one feature.

    curve.py --pool POOL --answers ANSWERS.tsv --held HELD --feature BM25_of_document
             [--labels 10,20,50,100,200] [--draws 10] [--norm query-minmax] [--out CURVE.svg]

POOL has pairs without judgments (label -1). ANSWERS.tsv has columns line and label, as `reduce --oracle file:ANSWERS.tsv` reads them.
HELD has pairs of other queries with judgments. For each number of labels, the script fits three models and ranks HELD by them: `fit` on
the documents that `reduce` chooses, `fit` on random documents with an answer (the mean of --draws draws; 0 for none), and a ridge
regression on the chosen documents. It prints a table with bars, and the differences to --feature, and draws the curve into --out. It
runs the `rulerank` in PATH.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import svg

MEASURE = "NDCG@10"
CHOSEN, RANDOM, RIDGE = "chosen", "random", "ridge, chosen"
STYLES = {CHOSEN: ("on", ""), RANDOM: ("on", "5 3"), RIDGE: ("other", "")}
BAR = 50  # characters of the longest bar


def rulerank(*words):
    done = subprocess.run(["rulerank", *map(str, words), "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.rstrip())
    return done.stdout


def documents_of(path):
    return [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def feature_of(line, name):
    for word in line.partition("#")[0].split()[2:]:
        if word.startswith(name + ":"):
            return word.rpartition(":")[2]
    return "0"


class Story:
    """Fits on labelled lines and ranks the held-out documents, a file of scores a ranking."""

    def __init__(self, arguments, folder):
        self.given, self.folder = arguments, folder
        self.scores = []
        rows = [line.split("\t") for line in arguments.answers.read_text().splitlines()]
        line, label = rows[0].index("line"), rows[0].index("label")
        pool = documents_of(arguments.pool)
        self.labelled = [f"{row[label]} {pool[int(row[line])].split(' ', 1)[1]}" for row in
                         sorted(rows[1:], key=lambda row: int(row[line])) if row[label].isdigit()]

    def file(self, name, lines):
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def rank(self, name, train, members="card"):
        model, scores = self.folder / "model", self.folder / name
        rulerank("fit", "--train", train, "--pool", self.given.pool, "--unlabelled", -1, "--model", model, "--members", members,
                 "--quiet")
        rulerank("rank", "--model", model, "--test", self.given.held, "--unlabelled", -1, "--out", scores, "--quiet")
        self.scores.append(f"{name}={scores}")
        return name

    def chosen(self, labels):
        path = self.folder / f"chosen-{labels}.txt"
        rulerank("reduce", "--train", self.given.pool, "--unlabelled", -1, "--norm", self.given.norm, "--max-documents",
                 labels, "--oracle", f"file:{self.given.answers}", "--out", path, "--quiet")
        return path

    def drawn(self, labels, draw):
        lines = sorted(random.Random(draw).sample(range(len(self.labelled)), min(labels, len(self.labelled))))
        return self.file(f"random-{labels}.txt", [self.labelled[line] for line in lines])

    def evaluated(self):
        """{ranking: measure} and {ranking: (difference to the feature, p)}."""
        feature = self.file("feature", [feature_of(line, self.given.feature) for line in documents_of(self.given.held)])
        found = json.loads(rulerank("evaluate", "--test", self.given.held, "--unlabelled", -1, "--profile", "trec", "--metrics",
                                    MEASURE, "--scores", f"feature={feature}", *self.scores, "--compare", "paired-t", "--json"))
        means = {one["name"]: one["averages"][MEASURE] for one in found["systems"]}
        against = {one["system"]: (one["difference"], one["paired-t"]["p"])
                   for one in found["comparison"]["results"] if one["measure"] == MEASURE}
        return means, against


def curve(story):
    """The numbers of labels, {line: {labels: [ranking]}}, and the ranking by all labels."""
    names, counts = {CHOSEN: {}, RANDOM: {}, RIDGE: {}}, []
    for labels in story.given.labels:
        train = story.chosen(labels)
        count = len(documents_of(train))
        if counts and count <= counts[-1]:
            break  # all has been chosen
        counts.append(count)
        names[CHOSEN][count] = [story.rank(f"chosen-{count}", train)]
        names[RIDGE][count] = [story.rank(f"ridge-{count}", train, "linear")]
        names[RANDOM][count] = [story.rank(f"random-{count}-{draw}", story.drawn(count, draw)) for draw in range(story.given.draws)]
    if not story.given.draws:
        del names[RANDOM]
    return counts, names, story.rank("all", story.file("all.txt", story.labelled))


def verdicts(feature, counts, names, means, against):
    """A sentence for each ranking on chosen documents, and one that says where `fit` on them loses."""
    def sentence(labels, line):
        difference, p = against[names[line][labels][0]]
        return f"{labels} labels, {line}: {difference:+.4f} (p = {p:.2g}{', not significant' if p >= .05 else ''})"

    others = {feature: {labels: ["feature"] for labels in counts}, "ridge regression": names[RIDGE],
              "random documents": names.get(RANDOM, {})}
    lost = []
    for called, rankings in others.items():
        where = [str(labels) for labels in rankings if means[names[CHOSEN][labels][0]] < mean(rankings[labels], means)]
        if where:
            lost.append(f"to {called} with {', '.join(where)} labels")
    return [f"Differences to {feature}:", *(sentence(labels, line) for labels in counts for line in (CHOSEN, RIDGE)),
            f"fit on chosen documents loses {'; '.join(lost) or 'nowhere'}."]


def mean(rankings, means):
    return sum(means[one] for one in rankings) / len(rankings)


def picture(feature, counts, names, means, full):
    labels = {CHOSEN: "fit, chosen documents", RANDOM: "fit, random documents", RIDGE: "ridge, chosen documents"}
    lines = [svg.Line(labels[name], *STYLES[name], [(count, mean(of[count], means)) for count in counts])
             for name, of in names.items()]
    levels = [svg.Level(feature.replace("_", " "), "off", means["feature"]), svg.Level("fit, all labels", "on", means[full])]
    return svg.chart(f"{MEASURE} of held-out queries", "labelled documents", lines, levels)


def report(story, counts, names, means, against, full):
    print(f"{MEASURE} of held-out queries")
    rows = [(f"{labels} labels, {name}", mean(of[labels], means)) for labels in counts for name, of in names.items()]
    rows += [(story.given.feature, means["feature"]), (f"all {len(story.labelled)} labels", means[full])]
    width = max(len(name) for name, _ in rows)
    top = max(value for _, value in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value:.4f}  {'#' * round(BAR * value / top)}")
    print()
    print(*verdicts(story.given.feature, counts, names, means, against), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("pool", "answers", "held"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--feature", required=True)
    parser.add_argument("--labels", type=lambda words: [int(word) for word in words.split(",")], default="10,20,50,100,200")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--norm", default="query-minmax")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        story = Story(arguments, pathlib.Path(folder))
        counts, names, full = curve(story)
        means, against = story.evaluated()
    report(story, counts, names, means, against, full)
    if arguments.out:
        arguments.out.write_text(picture(arguments.feature, counts, names, means, full))


if __name__ == "__main__":
    main()
