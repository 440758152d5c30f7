#!/usr/bin/env python3
"""draw_architecture.py [--check]: draws docs/reference/architecture.svg, the modules and their link lines.

The modules and their dependencies come from the `CMakeLists.txt` of each module, the contents of a module from the table in
docs/reference/architecture.md. An arrow that other arrows imply is left out. --check writes nothing; the exit code is 1 if the
committed picture differs.
"""

import html
import math
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/reference/architecture.svg"

BOX_WIDTH, LINE, PADDING, GAP, ROW_GAP, PASSAGE, MARGIN = 224, 15, 10, 28, 54, 14, 16
CHARACTERS = 33  # of a line in a box


def arguments_of(call):
    """The arguments of a CMake call by their keyword; those before any by the keyword ''."""
    keywords, key = {"": []}, ""
    for word in call.split():
        if re.fullmatch(r"[A-Z_]{4,}", word):
            key = word
            keywords.setdefault(key, [])
        else:
            keywords[key].append(word)
    return keywords


def modules():
    """name: the modules it links, of all library modules, the program and the C library. The library of a module's
    published engines is in the module's folder."""
    uses = {}
    for path in sorted([*ROOT.glob("*/CMakeLists.txt"), *(path for top in ("knn", "labelling", "server") for path in ROOT.glob(f"{top}/*/CMakeLists.txt"))]):
        text = re.sub(r"#.*", "", path.read_text())
        for call in re.findall(r"rulerank_module\(([^)]*)\)", text):
            arguments = arguments_of(call)
            uses[arguments[""][0]] = arguments.get("USES", [])
    for top in "apps", "capi":
        text = re.sub(r"#.*", "", (ROOT / top / "CMakeLists.txt").read_text())
        uses[top] = [name for name in re.findall(r"rulerank::(\w+)", text) if name in uses]
    return uses


def reduced(uses):
    """`uses` without the arrows whose end a longer path reaches (transitive reduction)."""
    reach = {}

    def reached(name):
        if name not in reach:
            reach[name] = set(uses[name]).union(*(reached(used) for used in uses[name]))
        return reach[name]

    return {name: sorted(used for used in set(used_by) if not any(used in reached(other) for other in used_by if other != used))
            for name, used_by in uses.items()}


def holdings():
    """The contents of each module, from the rows of the table in the page."""
    page = (ROOT / "docs/reference/architecture.md").read_text()
    rows = re.findall(r"^\| `([\w/]+)/` \| (.*?) \|$", page, re.M)
    return {name.replace("/", "_"): holds.replace("`", "") for name, holds in rows}


class Layers:
    """Boxes in rows, each row above all that its boxes use; arrows across a row get a passage."""

    def __init__(self, uses):
        self.level = {}
        for name in uses:
            self._place(name, uses)
        self.rows = [[] for _ in range(max(self.level.values()) + 1)]
        for name in sorted(uses):
            self.rows[self.level[name]].append(name)
        self.ways = []  # each arrow: its box, passages, and the box it ends at
        for name in sorted(uses):
            for used in uses[name]:
                way = [name]
                for row in range(self.level[name] - 1, self.level[used], -1):
                    way.append((name, used, row))
                    self.rows[row].append(way[-1])
                self.ways.append(way + [used])
        self.beside = {}
        for way in self.ways:
            for upper, lower in zip(way, way[1:]):
                self.beside.setdefault(upper, []).append(lower)
                self.beside.setdefault(lower, []).append(upper)
        self._order()
        self._spread()

    def _place(self, name, uses):
        if name not in self.level:
            self.level[name] = 1 + max((self._place(used, uses) for used in uses[name]), default=-1)
        return self.level[name]

    def _crossings(self):
        position = {node: i for row in self.rows for i, node in enumerate(row)}
        total = 0
        for r, row in enumerate(self.rows[:-1]):
            below = set(row)
            links = sorted((position[upper], position[lower]) for upper in self.rows[r + 1]
                           for lower in self.beside[upper] if lower in below)
            total += sum(a[0] < b[0] and a[1] > b[1] for i, a in enumerate(links) for b in links[i + 1:])
        return total

    def _order(self):
        """Sorts each row by the positions of the neighbours of its boxes, as long as fewer arrows cross."""
        best, rows = self._crossings(), [list(row) for row in self.rows]
        for sweep in range(24):
            order = range(1, len(self.rows)) if sweep % 2 else range(len(self.rows) - 2, -1, -1)
            for r in order:
                other = self.rows[r - 1 if sweep % 2 else r + 1]
                position = {node: i for i, node in enumerate(other)}

                def mean(node):
                    places = [position[b] for b in self.beside[node] if b in position]
                    return sum(places) / len(places) if places else len(other) / 2

                self.rows[r].sort(key=lambda node: (mean(node), str(node)))
            crossings = self._crossings()
            if crossings < best:
                best, rows = crossings, [list(row) for row in self.rows]
        self.rows = rows

    @staticmethod
    def width(node):
        return BOX_WIDTH if isinstance(node, str) else PASSAGE

    def _spread(self):
        """The middle of each box: near the mean position of its neighbours, without overlaps."""
        self.x = {}
        for row in self.rows:
            at = 0
            for node in row:
                self.x[node] = at + self.width(node) / 2
                at += self.width(node) + GAP
            for node in row:
                self.x[node] -= at / 2
        for _ in range(60):
            for row in self.rows:
                wanted = [math.fsum(self.x[b] for b in self.beside[n]) / len(self.beside[n]) for n in row]
                low, high = list(wanted), list(wanted)
                for i in range(1, len(row)):
                    apart = (self.width(row[i - 1]) + self.width(row[i])) / 2 + GAP
                    low[i] = max(low[i], low[i - 1] + apart)
                for i in range(len(row) - 2, -1, -1):
                    apart = (self.width(row[i + 1]) + self.width(row[i])) / 2 + GAP
                    high[i] = min(high[i], high[i + 1] - apart)
                for node, a, b in zip(row, low, high):
                    self.x[node] = (a + b) / 2


def drawn(uses, held):
    layers = Layers(uses)
    lines = {name: textwrap.wrap(held[name], CHARACTERS) for name in uses}
    height = [PADDING * 2 + LINE * (1 + max(len(lines[n]) for n in row if isinstance(n, str))) for row in layers.rows]
    left = min(layers.x[n] - Layers.width(n) / 2 for row in layers.rows for n in row) - MARGIN
    right = max(layers.x[n] + Layers.width(n) / 2 for row in layers.rows for n in row) + MARGIN
    top, at = [0] * len(height), MARGIN
    for r in range(len(height) - 1, -1, -1):
        top[r] = at
        at += height[r] + ROW_GAP
    x = {node: round(middle - left) for node, middle in layers.x.items()}
    row_of = {node: r for r, row in enumerate(layers.rows) for node in row}

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {round(right - left)} '
        f'{at - ROW_GAP + MARGIN}" width="{round(right - left)}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        "<title>The modules of rulerank; an arrow points to a module that is used</title>",
        "<!-- Drawn by docs/reference/draw_architecture.py from the link lines. -->",
        "<style>",
        ".box{fill:#f6f8fa;stroke:#8c959f}.name{fill:#1f2328;font-weight:600;font-size:14px}",
        ".holds{fill:#424a53}.way{fill:none;stroke:#57606a;stroke-width:1.4}.head{fill:#57606a}",
        "@media (prefers-color-scheme:dark){.box{fill:#161b22;stroke:#6e7681}"
        ".name{fill:#e6edf3}.holds{fill:#b1bac4}.way{stroke:#8b949e}.head{fill:#8b949e}}",
        "</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
    ]

    def ports(node, others):
        """Where the arrows of a box meet its edge, side by side, in the order of their ends."""
        order = sorted(others, key=lambda other: (x[other], str(other)))
        step = min(26, (BOX_WIDTH - 60) / max(len(order) - 1, 1))
        return {other: round(x[node] + (i - (len(order) - 1) / 2) * step) for i, other in enumerate(order)}

    leave, arrive = {}, {}
    for name in uses:
        leave[name] = ports(name, [way[1] for way in layers.ways if way[0] == name])
        arrive[name] = ports(name, [way[-2] for way in layers.ways if way[-1] == name])
    for way in layers.ways:
        px, py = leave[way[0]][way[1]], top[row_of[way[0]]] + height[row_of[way[0]]]
        path = f"M{px} {py}"
        for node in way[1:]:
            last = isinstance(node, str)
            nx = arrive[node][way[-2]] if last else x[node]
            ny = top[row_of[node]] - (1 if last else 0)
            bend = round((ny - py) / 2)
            path += f"C{px} {py + bend} {nx} {ny - bend} {nx} {ny}"
            px, py = nx, ny
            if not last:
                py += height[row_of[node]]
                path += f"V{py}"
        out.append(f'<path class="way" marker-end="url(#head)" d="{path}"/>')
    for name in sorted(uses, key=lambda n: (-row_of[n], x[n])):
        r = row_of[name]
        out.append(f'<rect class="box" x="{x[name] - BOX_WIDTH // 2}" y="{top[r]}" '
                   f'width="{BOX_WIDTH}" height="{height[r]}" rx="6"/>')
        out.append(f'<text class="name" x="{x[name]}" y="{top[r] + PADDING + 12}" text-anchor="middle">{name}/</text>')
        for i, line in enumerate(lines[name]):
            out.append(f'<text class="holds" x="{x[name]}" y="{top[r] + PADDING + 12 + LINE * (i + 1)}" '
                       f'text-anchor="middle">{html.escape(line)}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    uses, held = modules(), holdings()
    missing = sorted(set(uses) - set(held))
    if missing:
        sys.exit(f"docs/reference/architecture.md says nothing of what {', '.join(missing)} holds")
    picture = drawn(reduced(uses), held)
    if "--check" not in sys.argv:
        PICTURE.write_text(picture)
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("docs/reference/architecture.svg differs from the link lines of the modules: run docs/reference/draw_architecture.py")


if __name__ == "__main__":
    main()
