#!/usr/bin/env python3
"""curve.py: what labels are worth on a pool of your own, beside random labels and a single feature.

    curve.py --pool POOL --answers ANSWERS.tsv --held HELD --feature BM25_of_document
             [--labels 10,20,50,100,200] [--draws 10] [--norm query-minmax] [--out CURVE.svg]

POOL is a file without judgments (label -1), ANSWERS.tsv has the columns line and label of it, as `reduce --oracle
file:ANSWERS.tsv` reads them; HELD is a file of other topics with judgments. For each number of labels the documents
that `reduce` chooses are fitted, and so are, in --draws random draws (0 for none), as many of those with an answer;
each model ranks HELD. Three rankers beside each other: what `fit` recommends on the chosen documents and on the random
ones, and a ridge regression on the chosen ones. A table and bars of NDCG@10 go to standard output, with what is
better than --feature or worse, and by how much; the curve goes to --out. The program `rulerank` is the one in PATH.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import svg_lines

MEASURE = "NDCG@10"
CHOSEN, RANDOM, RIDGE = "chosen", "random", "ridge, chosen"
COLOURS = {CHOSEN: ("#0b6e4f", ""), RANDOM: ("#0b6e4f", "5 3"), RIDGE: ("#2b5c9e", "")}
BAR = 50  # characters of the longest bar


def rulerank(*words):
    done = subprocess.run(["rulerank", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
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

    def rank(self, name, train, *members):
        model, scores = self.folder / "model", self.folder / name
        rulerank("fit", "--train", train, "--pool", self.given.pool, "--unlabelled", -1, "--model", model, *members)
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
        names[RIDGE][count] = [story.rank(f"ridge-{count}", train, "--members", "linear")]
        names[RANDOM][count] = [story.rank(f"random-{count}-{draw}", story.drawn(count, draw)) for draw in range(story.given.draws)]
    if not story.given.draws:
        del names[RANDOM]
    return counts, names, story.rank("all", story.file("all.txt", story.labelled))


def verdicts(feature, counts, names, means, against):
    """Sentences on who wins and who loses, by the figures alone."""
    def sign(difference, p):
        kind = "above" if difference > 0 else "below"
        return f"{abs(difference):.4f} {kind} {feature} (p {p:.2g}{', too little to tell' if p > .05 else ''})"

    said = [f"{labels} labels, {line}: {sign(*against[names[line][labels][0]])}" for labels in counts for line in (CHOSEN, RIDGE)]
    others = {feature: {labels: ["feature"] for labels in counts}, "ridge regression on the same documents": names[RIDGE],
              "random documents": names.get(RANDOM, {})}
    lost = []
    for called, rankings in others.items():
        where = [str(labels) for labels in rankings if means[names[CHOSEN][labels][0]] < mean(rankings[labels], means)]
        if where:
            lost.append(f"to {called} with {', '.join(where)} labels")
    return said + ["Where the method, fit on chosen documents, loses: " + ("; ".join(lost) or "nowhere here") + "."]


def mean(rankings, means):
    return sum(means[one] for one in rankings) / len(rankings)


def picture(feature, counts, names, means, full):
    lines = [svg_lines.Line({CHOSEN: "fit, chosen documents", RANDOM: "fit, random documents",
                             RIDGE: "ridge, chosen documents"}[name], *COLOURS[name],
                            [(labels, mean(of[labels], means)) for labels in counts]) for name, of in names.items()]
    levels = [svg_lines.Level(feature.replace("_", " "), "#c1440e", means["feature"]),
              svg_lines.Level("fit, all labels", "#0b6e4f", means[full])]
    return svg_lines.chart(f"{MEASURE} of held-out topics", "labelled documents", lines, levels)


def report(story, counts, names, means, against, full):
    print(f"{MEASURE} of held-out topics")
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
