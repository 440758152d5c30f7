#!/usr/bin/env python3
"""bars.py topics|explanation|run OUT.svg [TITLE]: a chart of bars of what the program prints on standard input.

    rulerank evaluate ... --per-query --format tsv | bars.py topics OUT.svg
    rulerank explain ... --json | bars.py explanation OUT.svg
    rulerank rank ... --run - | bars.py run OUT.svg

topics: by how much the second system is above or below the first, topic by topic, on the first measure. explanation:
the features that add most to the score of a document, up or down: of several members each, in units of the score. run: the
scores of the first documents.
"""

import collections
import csv
import json
import pathlib
import sys

import svg_lines

WIDTH, ROW, NAMES, MARGIN = 560, 18, 250, 60
UP, DOWN, MOST = "#0b6e4f", "#c1440e", 12


def topics(lines):
    """[(topic, difference)], the best first."""
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    measure = list(rows[0])[2]
    of = collections.defaultdict(dict)
    for row in rows:
        if row["query"] != "all":
            of[row["query"]][row["system"]] = float(row[measure])
    first, second = dict.fromkeys(row["system"] for row in rows)
    return sorted(((name, values[second] - values[first]) for name, values in of.items()), key=lambda one: (-one[1], one[0]))


def explanation(lines):
    """[(feature, what it adds)], the largest first; what adds 0 is left out."""
    said = json.load(lines)
    adds = collections.Counter()
    members = said.get("members") or [said]
    if not all("terms" in member["document"] for member in members):
        sys.exit("bars.py: error: found a member of rules, expected members with terms (scorecard, linear)")
    for member in members:
        unit = member.get("deviation", 1) * len(members)
        for term in member["document"]["terms"]:
            adds[term["name"].replace("_", " ")] += term["adds"] / unit
    return sorted(adds.items(), key=lambda one: (-abs(one[1]), one[0]))[:MOST]


def run(lines):
    """[(document, score)] of the first query."""
    rows = [line.split() for line in lines]
    return [(row[2], float(row[4])) for row in rows if row[0] == rows[0][0]][:MOST]


def drawn(bars, title):
    height = ROW * len(bars) + 40
    top, bottom = max(0, *(value for _, value in bars)), min(0, *(value for _, value in bars))
    scale = (WIDTH - NAMES - 2 * MARGIN) / (top - bottom or 1)
    low = NAMES + MARGIN - bottom * scale  # where 0 is
    out = []
    for i, (name, value) in enumerate(bars):
        y, length = 30 + i * ROW, abs(value) * scale
        begin = low if value >= 0 else low - length
        out += [svg_lines.text(NAMES - 8, y + 12, name, "end"),
                f'<rect x="{begin:.1f}" y="{y + 2}" width="{length:.1f}" height="{ROW - 5}" fill="{UP if value >= 0 else DOWN}"/>',
                svg_lines.text(low + length + 4 if value >= 0 else low - length - 4, y + 12, f"{value:+.3f}",
                               "start" if value >= 0 else "end", 10)]
    out.append(f'<path d="M{low:.1f} 28v{ROW * len(bars)}" stroke="#333"/>')
    return svg_lines.document(WIDTH, height, out, title)


def main():
    kinds = {"topics": topics, "explanation": explanation, "run": run}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(drawn(kinds[sys.argv[1]](sys.stdin), (sys.argv + [sys.argv[1]])[3]))


if __name__ == "__main__":
    main()
