#!/usr/bin/env python3
"""draw.py [--check]: draws the pictures of docs/concepts/how-it-works.md from the documents of its example.

--check writes nothing and names the pictures that differ from the committed ones."""

import html
import itertools
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.with_suffix(".md")
CUT = 0.5  # what width makes of two bins here; the page shows it
FEATURES = (1, 2)


def documents():
    """The training documents and the test documents of the page, as (name, label, values)."""
    files = []
    for file in re.findall(r"<<END\n(.*?)^> END$", PAGE.read_text(), re.S | re.M):
        lines = re.findall(r"^> (\d) qid:(\d) 1:(\S+) 2:(\S+)$", file, re.M)
        files.append([(f"{qid}-{line}", int(label), (float(first), float(second)))
                      for line, (label, qid, first, second) in enumerate(lines, 1)])
    return files


def items(document):
    return {(feature, value >= CUT) for feature, value in zip(FEATURES, document[2])}


def itemsets(of):
    return [frozenset(some) for size in (1, 2) for some in itertools.combinations(sorted(of), size)]


def name(itemset):
    return " and ".join(f"feature {feature} {'≥' if above else '<'} {CUT}" for feature, above in sorted(itemset))


def labels(itemset, train):
    """The labels of the training documents that hold an itemset, highest first."""
    return sorted((document[1] for document in train if itemset <= items(document)), reverse=True)


def sampled(train):
    """The steps of the published sampler: for each iteration the rules of every document, and the chosen document."""
    often = [sum(item in items(other) for item in items(document) for other in train) for document in train]
    rules = [0] * len(train)
    chosen = max(range(len(train)), key=lambda d: (often[d], d))
    steps, sample = [], []
    while chosen not in sample:
        steps.append((rules, chosen))
        sample.append(chosen)
        known = [train[d] for d in sample]
        rules = [sum(len(set(labels(itemset, known))) for itemset in itemsets(items(document))) for document in train]
        chosen = min(range(len(train)), key=lambda d: (rules[d], often[d], -d))
    return steps + [(rules, chosen)]


class Picture:
    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">', f"<title>{html.escape(title)}</title>",
            "<!-- Drawn by docs/concepts/how-it-works/draw.py from the documents of docs/concepts/how-it-works.md. -->",
            "<style>text{fill:#1f2328}.soft{fill:#57606a}.line{stroke:#8c959f;stroke-width:1.2}.box{fill:#f6f8fa;stroke:#8c959f}"
            ".l0{fill:#d0d7de}.l1{fill:#9ec5e8}.l2{fill:#1b6ca8}.l2+text{fill:#fff}.on{fill:#1b6ca8}.off{fill:#eaeef2}"
            ".mark{fill:none;stroke:#b35900;stroke-width:2.4}.cut{stroke:#b35900;stroke-width:1.6}.bound{fill:#9ec5e8}"
            "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#b1bac4}.line{stroke:#8b949e}"
            ".box{fill:#161b22;stroke:#6e7681}.l0{fill:#30363d}.l1{fill:#1f4e79}.l2{fill:#79b8f0}.l2+text{fill:#0d1117}"
            ".on{fill:#79b8f0}.off{fill:#21262d}.mark{stroke:#f0a860}.cut{stroke:#f0a860}.bound{fill:#1f4e79}}</style>"]

    def text(self, x, y, words, style="", anchor="start"):
        shown = f' class="{style}"' if style else ""
        self.parts.append(f'<text{shown} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(str(words))}</text>')

    def rect(self, x, y, width, height, style):
        self.parts.append(f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>')

    def line(self, x, y, to_x, to_y, style="line"):
        self.parts.append(f'<path class="{style}" d="M{x:g} {y:g}L{to_x:g} {to_y:g}"/>')

    def label(self, x, y, label):
        """A training document as its label."""
        self.rect(x, y, 20, 20, f"l{label}")
        self.text(x + 10, y + 15, label, anchor="middle")

    def __str__(self):
        return "\n".join([*self.parts, "</svg>", ""])


def score_picture(train, test):
    """A document's values, its items, and the training documents that hold their sets."""
    document = test[0]
    picture = Picture(720, 330, "How the first test document gets its score")
    picture.text(10, 24, "Training documents (their labels) by the value of a feature, the cut, and the test document")
    for row, feature in enumerate(FEATURES):
        y = 66 + 44 * row
        picture.text(10, y + 15, f"feature {feature}")
        picture.line(90, y + 24, 600, y + 24)
        for _, label, values in train:
            picture.label(80 + 520 * values[row], y, label)
        picture.line(90 + 520 * CUT, y - 6, 90 + 520 * CUT, y + 30, "cut")
        x = 90 + 520 * document[2][row]
        picture.parts.append(f'<path class="mark" d="M{x:g} {y + 20:g}l-6 12h12z"/>')
        picture.text(612, y + 15, f"{document[2][row]} {'≥' if document[2][row] >= CUT else '<'} {CUT}")
    picture.text(10, 176, "Sets of its items")
    picture.text(330, 176, "labels of the documents that hold them")
    picture.text(700, 176, "their mean", anchor="end")
    means = []
    for row, itemset in enumerate(itemsets(items(document))):
        y = 188 + 32 * row
        picture.text(10, y + 15, name(itemset))
        held = labels(itemset, train)
        for column, label in enumerate(held):
            picture.label(330 + 26 * column, y, label)
        means.append(sum(held) / len(held))
        picture.text(700, y + 15, f"{means[-1]:g}", anchor="end")
    picture.line(10, 290, 700, 290)
    picture.text(10, 312, "The score: the mean of these")
    picture.text(700, 312, f"{sum(means) / len(means):g}", anchor="end")
    return picture


def bits_picture(train, _test):
    """The rows of two items over the documents in the order of their labels, and their AND."""
    order = sorted(train, key=lambda document: -document[1])
    picture = Picture(720, 210, "Counting by rows of bits")
    picture.text(10, 24, "Training documents, highest label first")
    for column, document in enumerate(order):
        picture.label(230 + 30 * column, 34, document[1])
    pair = [(1, True), (2, True)]
    for row, itemset in enumerate([frozenset(pair[:1]), frozenset(pair[1:]), frozenset(pair)]):
        y = 74 + 38 * row + (10 if row == 2 else 0)
        picture.text(10, y + 15, name(itemset) if row < 2 else "AND: both")
        counts = [0, 0, 0]
        for column, document in enumerate(order):
            held = itemset <= items(document)
            counts[document[1]] += held
            picture.rect(230 + 30 * column, y, 20, 20, "on" if held else "off")
        picture.text(490, y + 15, f"{counts[2]} of label 2, {counts[1]} of 1, {counts[0]} of 0")
    picture.line(10, 146, 700, 146)
    return picture


def sampling_picture(train, _test):
    """The rules of every document in each iteration, and which one is chosen."""
    steps = sampled(train)
    picture = Picture(720, 118 + 30 * len(train) + 62, "Rules of the chosen documents that apply to each document")
    picture.text(10, 24, "How many rules of the chosen documents apply to each document")
    picture.text(10, 44, "In each iteration the sampler chooses the framed document and asks for its label.", "soft")
    for column, feature in enumerate(FEATURES):
        picture.text(150 + 80 * column, 78, f"feature {feature}", "soft", "middle")
    for column in range(len(steps)):
        picture.text(320 + 84 * column, 78, f"iteration {column}" if column + 1 < len(steps) else "stop", "soft", "middle")
    for row, document in enumerate(train):
        y = 92 + 30 * row
        picture.text(10, y + 15, f"document {document[0]}")
        for column, (_, above) in enumerate(sorted(items(document))):
            picture.text(150 + 80 * column, y + 15, f"{'≥' if above else '<'} {CUT}", anchor="middle")
        for column, (rules, chosen) in enumerate(steps):
            x = 320 + 84 * column
            if any(chosen_before == row for _, chosen_before in steps[:column]):
                picture.label(x + 16, y, document[1])
            picture.text(x, y + 15, rules[row] if column else "–", anchor="middle")
            if chosen == row:
                picture.rect(x - 14, y - 2, 28, 24, "mark")
    y = 92 + 30 * len(train)
    picture.text(10, y + 22, "A coloured square is a label that the sampler has received. The document with the fewest rules differs", "soft")
    picture.text(10, y + 40, "most from the labelled documents. When this document is already labelled, the sampler stops.", "soft")
    return picture


def filter_picture(_train, _test):
    """Bounds of the similarities of eight example documents; the search computes those that may be among the three nearest."""
    bounds = [(.82, .90, .87), (.71, .79, .73), (.66, .74, .665), (.63, .71, .70), (.60, .68, .62), (.44, .52, .47),
              (.30, .38, .33), (.12, .20, .14)]
    k = 3
    threshold = sorted((low for low, _, _ in bounds), reverse=True)[k - 1]
    picture = Picture(720, 60 + 26 * len(bounds) + 50, "Which similarities are computed exactly")
    picture.text(10, 24, f"The {k} most similar of eight documents: a bar spans the bounds of a similarity, a dot is its exact value")
    for row, (low, high, exact) in enumerate(bounds):
        y = 48 + 26 * row
        may = high >= threshold
        picture.text(10, y + 13, f"document {row + 1}")
        picture.rect(110 + 420 * low, y, 420 * (high - low), 18, "bound")
        if may:
            picture.parts.append(f'<circle class="on" cx="{110 + 420 * exact:g}" cy="{y + 9}" r="5"/>')
        picture.text(545, y + 13, "computed exactly" if may else f"not among the {k}", "" if may else "soft")
    x = 110 + 420 * threshold
    picture.line(x, 40, x, 48 + 26 * len(bounds), "cut")
    picture.text(x, 48 + 26 * len(bounds) + 18, f"the {k}rd largest lower bound", "soft", "middle")
    picture.text(10, 48 + 26 * len(bounds) + 42,
                 "Document 4 is more similar than document 3, although its bounds are lower. The exact values decide.", "soft")
    return picture


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: draw.py [--check]")
    train, test = documents()
    other = []
    for drawn in (score_picture, bits_picture, sampling_picture, filter_picture):
        path = FOLDER / f"{drawn.__name__.removesuffix('_picture')}.svg"
        picture = str(drawn(train, test))
        if "--check" not in sys.argv:
            path.write_text(picture)
        elif not path.exists() or path.read_text() != picture:
            other.append(str(path.relative_to(FOLDER.parents[2])))
    if other:
        sys.exit(f"{', '.join(other)}: not what docs/concepts/how-it-works/draw.py draws: run it")


if __name__ == "__main__":
    main()
