#!/usr/bin/env python3
"""rows.py halves|pool|ranking OUT.svg TITLE [FEATURE]: a picture with a row for each topic of what is on standard input.

    (sed 's/^/learn\\t/' OURS.tsv; sed 's/^/judge\\t/' HELD.tsv) | rows.py halves OUT.svg TITLE
    rows.py pool OUT.svg TITLE BM25_of_document < POOL.txt
    paste -d ' ' MINE.scores HELD.txt | rows.py ranking OUT.svg TITLE

halves: the topics' words, in a column for each half. pool: a tick for each candidate of a topic at its value of the
feature. ranking: a topic's first ten documents by their scores, each a square with the label that the document has.
"""

import collections
import pathlib
import re
import sys
import textwrap

import svg_lines

WIDTH, ROW, TOP = 560, 18, 34
NAMES, RIGHT = 60, 20  # what the columns beside a picture take
FIRST, WORDS = 10, 54  # documents of a row, characters of a topic
COLOURS = {"learn": "#0b6e4f", "judge": "#c1440e"}
LABELS = [("-1", "nobody judged", "#fff"), ("0", "not relevant", "#d9d9d9"), ("1", "relevant", "#8fc7b1"),
          ("2", "very relevant", "#0b6e4f")]


def halves(lines, title):
    columns = collections.defaultdict(list)
    for line in lines:
        half, topic, words = line.rstrip("\n").split("\t")
        columns[half].append(f"{topic} {words}")
    parts = []
    for c, (half, topics) in enumerate(columns.items()):
        x = 12 + c * WIDTH / len(columns)
        parts.append(svg_lines.text(x, TOP + 10, f"{len(topics)} to {half} by", "start", 12, COLOURS[half]))
        parts += [svg_lines.text(x, TOP + 12 + ROW * (r + 1), textwrap.shorten(one, WORDS, placeholder=" ..."), "start", 9)
                  for r, one in enumerate(topics)]
    return svg_lines.document(WIDTH, TOP + 20 + ROW * max(map(len, columns.values())), parts, title)


def pool(lines, title, feature):
    values = collections.defaultdict(list)
    for line in lines:
        found = re.search(f" {re.escape(feature)}:(\\S+)", line)
        if not found:
            sys.exit(f"rows.py: error: found a line without {feature}, expected it in each")
        values[line.split()[1].removeprefix("qid:")].append(float(found[1]))
    low, high = min(map(min, values.values())), max(map(max, values.values()))
    scale = (WIDTH - NAMES - RIGHT) / (high - low or 1)
    parts = []
    for r, (topic, of) in enumerate(values.items()):
        y = TOP + r * ROW
        ticks = "".join(f"M{NAMES + (value - low) * scale:.1f} {y + 2}v{ROW - 6}" for value in sorted(of))
        parts += [svg_lines.text(NAMES - 8, y + 12, topic, "end"),
                  f'<path d="{ticks}" stroke="{COLOURS["learn"]}" stroke-opacity=".6"/>']
    y = TOP + len(values) * ROW + 12
    parts += [svg_lines.text(NAMES, y, f"{low:.1f}", "start", 10), svg_lines.text(WIDTH - RIGHT, y, f"{high:.1f}", "end", 10),
              svg_lines.text((WIDTH + NAMES) / 2, y, feature.replace("_", " "))]
    return svg_lines.document(WIDTH, y + 10, parts, title)


def ranking(lines, title):
    documents = collections.defaultdict(list)
    for line in lines:
        score, label, topic = line.split()[:3]
        documents[topic.removeprefix("qid:")].append((-float(score), len(documents[topic.removeprefix("qid:")]), label))
    colours, parts = {label: colour for label, _, colour in LABELS}, []
    for r, (topic, of) in enumerate(documents.items()):
        y = TOP + r * ROW
        parts.append(svg_lines.text(NAMES - 8, y + 12, topic, "end"))
        parts += [f'<rect x="{NAMES + i * 30}" y="{y + 1}" width="26" height="{ROW - 4}" fill="{colours[label]}" stroke="#999"/>'
                  for i, (_, _, label) in enumerate(sorted(of)[:FIRST])]
    for r, (_, words, colour) in enumerate(LABELS):
        parts += [f'<rect x="390" y="{TOP + 1 + r * ROW}" width="26" height="{ROW - 4}" fill="{colour}" stroke="#999"/>',
                  svg_lines.text(424, TOP + 12 + r * ROW, words, "start")]
    y = TOP + len(documents) * ROW + 12
    parts.append(svg_lines.text(NAMES, y, f"rank 1 to {FIRST}", "start", 10))
    return svg_lines.document(WIDTH, y + 10, parts, title)


def main():
    kinds = {"halves": (halves, 4), "pool": (pool, 5), "ranking": (ranking, 4)}
    if len(sys.argv) < 4 or sys.argv[1] not in kinds or len(sys.argv) != kinds[sys.argv[1]][1]:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(kinds[sys.argv[1]][0](sys.stdin, *sys.argv[3:]))


if __name__ == "__main__":
    main()
