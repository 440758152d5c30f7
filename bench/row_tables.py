"""A benchmark's JSON lines as rows to pick from, Markdown tables and bars as SVG."""

import json

import svg_lines

COLOURS = ["#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6b4e9b", "#555555"]


class Rows(list):
    def where(self, **fields):
        return Rows(row for row in self if all(row.get(name) == value for name, value in fields.items()))

    def one(self, **fields):
        found = self.where(**fields)
        return found[0] if found else None

    def values(self, name):
        """In their order, each once."""
        return list(dict.fromkeys(row[name] for row in self))


def read(out, name):
    path = out / f"{name}.jsonl"
    return Rows(json.loads(line) for line in path.read_text().splitlines()) if path.exists() else Rows()


def table(head, lines):
    form = lambda cell: cell if isinstance(cell, str) else f"{cell:,}" if isinstance(cell, int) else f"{cell:.3f}"
    rows = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join(rows + ["| " + " | ".join(form(cell) for cell in line) + " |" for line in lines]) + "\n"


def bars(title, groups, labels):
    """Bars in groups of (name, values), all at most 1: the normalized figures."""
    step, left, top, height = 11, 44, 40, 190
    width = left + sum(step * len(values) + 16 for _, values in groups) + 20
    width = max(width, 520)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + height + 70}" width="{width}" '
           f'height="{top + height + 70}" font-family="sans-serif">',
           f'<rect width="{width}" height="{top + height + 70}" fill="#fff"/>',
           svg_lines.text(width / 2, 20, title, size=12, colour="#000")]
    for level in (0, .25, .5, .75, 1):
        y = top + height * (1 - level)
        out += [f'<path d="M{left} {y:.1f}H{width - 10}" stroke="#ddd"/>',
                svg_lines.text(left - 6, y + 4, f"{level:g}", "end", 10)]
    x = left + 8
    for name, values in groups:
        for i, value in enumerate(values):
            out.append(f'<rect x="{x + i * step}" y="{top + height * (1 - value):.1f}" width="{step - 2}" '
                       f'height="{height * value:.1f}" fill="{COLOURS[i]}"/>')
        out.append(svg_lines.text(x + step * len(values) / 2, top + height + 16, name, size=9))
        x += step * len(values) + 16
    for i, label in enumerate(labels):
        at = left + i * (width - left) / len(labels)
        out += [f'<rect x="{at:.0f}" y="{top + height + 40}" width="10" height="10" fill="{COLOURS[i]}"/>',
                svg_lines.text(at + 16, top + height + 49, label, "start")]
    return "\n".join([*out, "</svg>"]) + "\n"
