#!/usr/bin/env python3
"""pictures.py KIND OUT.svg TITLE: a picture of what the program prints, from standard input.

    paste -d ' ' FIRST.scores SECOND.scores HELD.txt | pictures.py ranking OUT.svg TITLE
    rulerank evaluate ... --per-query --format tsv | pictures.py queries OUT.svg TITLE
    rulerank explain ... --json | pictures.py explanation OUT.svg TITLE

ranking: the grades of each query's first ten documents, by the first scores and by the second. queries: by how much the second
system is above or below the first on each query, by the first measure. explanation: what each feature adds to a card's score.
"""

import collections
import csv
import json
import pathlib
import sys

import svg

WIDTH, LEFT, CELL, FIRST = 640, 48, 14, 10
GRADES = ["0, not relevant", "1", "2", "3, best"]


def ranking(lines):
    queries = collections.defaultdict(list)
    for line in lines:
        first, second, label, qid = line.split()[:4]
        queries[qid].append((float(first), float(second), max(0, int(label))))
    cell = min(CELL, (WIDTH - LEFT - 8) / len(queries))
    parts, y = [], 56
    for n, name in enumerate(["BM25", "the card"]):
        parts.append(svg.text(8, y - 6, f"{name}: a column for each query, its first document on top", style="soft"))
        for q, documents in enumerate(queries.values()):
            order = sorted(documents, key=lambda document: -document[n])[:FIRST]
            parts += [svg.box(LEFT + q * cell, y + r * CELL, cell - 2, CELL - 2, f"g{document[2]}") for r, document in enumerate(order)]
        parts += [svg.text(LEFT - 8, y + r * CELL + 11, str(r + 1), "end", "soft", 11) for r in (0, FIRST - 1)]
        y += FIRST * CELL + 30
    for grade, words in enumerate(GRADES):
        x = LEFT + 150 * grade
        parts += [svg.box(x, y - 20, CELL - 2, CELL - 2, f"g{grade}"), svg.text(x + 18, y - 9, f"grade {words}")]
    return y, parts


def queries(lines):
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    measure = list(rows[0])[2]
    of = collections.defaultdict(dict)
    for row in rows:
        if row["query"] != "all":
            of[row["query"]][row["system"]] = float(row[measure])
    first, second = dict.fromkeys(row["system"] for row in rows)
    bars = sorted(((values[second] - values[first], name) for name, values in of.items()), reverse=True)
    high, low = max(bars[0][0], 0), min(bars[-1][0], 0)
    scale, width = 160 / (high - low or 1), (WIDTH - LEFT - 8) / len(bars)
    middle, parts = 40 + high * scale, []
    for i, (value, _) in enumerate(bars):
        y = middle - max(value, 0) * scale
        parts.append(svg.box(LEFT + i * width, y, width - 2, abs(value) * scale, "on" if value > 0 else "off"))
    parts.append(f'<path class="line" d="M{LEFT} {middle:.1f}H{WIDTH - 8}"/>')
    parts += [svg.text(LEFT - 6, middle - value * scale + 4, f"{value:+.2f}" if value else "0", "end", "soft", 11)
              for value in sorted({low, 0, high})]
    better, worse = sum(value > 0 for value, _ in bars), sum(value < 0 for value, _ in bars)
    parts.append(svg.text(LEFT, middle + 18, f"better on {better} queries, most on {bars[0][1]}"))
    parts.append(svg.text(WIDTH - 8, middle - 8, f"worse on {worse}, most on {bars[-1][1]}", "end"))
    return 216, parts


def explanation(lines):
    terms = json.load(lines)["document"]["terms"]
    bars = sorted(((term["adds"], term["name"].replace("_", " ")) for term in terms), key=lambda bar: (-abs(bar[0]), bar[1]))
    names, row = 260, 20
    most = max(abs(value) for value, _ in bars) or 1
    parts = []
    for i, (value, name) in enumerate(bars):
        y = 32 + i * row
        parts += [svg.text(names - 8, y + 12, name, "end"),
                  svg.box(names, y, 300 * abs(value) / most, row - 5, "on" if value >= 0 else "off"),
                  svg.text(names + 6 + 300 * abs(value) / most, y + 12, f"{value:+g}", style="soft")]
    return 32 + row * len(bars) + 8, parts


def main():
    kinds = {"ranking": ranking, "queries": queries, "explanation": explanation}
    if len(sys.argv) != 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    height, parts = kinds[sys.argv[1]](sys.stdin)
    pathlib.Path(sys.argv[2]).write_text(svg.document(WIDTH, height, sys.argv[3], parts))


if __name__ == "__main__":
    main()
