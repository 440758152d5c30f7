"""A benchmark's JSON lines as rows to pick from, Markdown tables and bars as SVG."""

import gzip
import json
import typing

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


def kept(out):
    """The rows of a run that is kept whole: rows.jsonl, plain or .gz, where `case` names the file that a row was in."""
    for path, opened in ((out / "rows.jsonl", open), (out / "rows.jsonl.gz", gzip.open)):
        if path.exists():
            with opened(path, "rt", encoding="utf-8") as lines:
                return [json.loads(line) for line in lines]
    return []


def names(out, begin):
    """The names of a run's files of rows that begin with `begin`, in order of the files."""
    found = {path.stem for path in out.glob("*.jsonl")} | {row["case"] for row in kept(out)}
    return sorted((name for name in found if name.startswith(begin)), key=lambda name: f"{name}.jsonl")


def read(out, name):
    """The rows of NAME.jsonl, or of the case NAME of a run that is kept whole."""
    path = out / f"{name}.jsonl"
    if path.exists():
        return Rows(json.loads(line) for line in path.read_text().splitlines())
    return Rows({field: value for field, value in row.items() if field != "case"} for row in kept(out) if row["case"] == name)


def table(head, lines):
    form = lambda cell: cell if isinstance(cell, str) else f"{cell:,}" if isinstance(cell, int) else f"{cell:.3f}"
    rows = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join(rows + ["| " + " | ".join(form(cell) for cell in line) + " |" for line in lines]) + "\n"


class Bars(typing.NamedTuple):
    """Bars in groups of (name, values) under one axis; a value that is None was not measured."""
    title: str
    groups: list


def bars(title, groups, labels):
    """One panel of bars, all at most 1: the normalized figures."""
    return panels_of_bars([Bars(title, groups)], labels)


def width_of(panel, step):
    return 64 + sum(step * len(values) + 16 for _, values in panel.groups)


def panel_of_bars(panel, y0, width, step, normalized):
    left, top, height = 44, y0 + 40, 190
    most = 1 if normalized else max(value for _, values in panel.groups for value in values if value is not None) * 1.2
    out = [svg_lines.text(width / 2, y0 + 20, panel.title, size=12, colour="#000")]
    levels, decimals = ((0, .25, .5, .75, 1), 2) if normalized else svg_lines.steps(0, most)
    for level in levels:
        y = top + height * (1 - level / most)
        out += [f'<path d="M{left} {y:.1f}H{width - 10}" stroke="#ddd"/>',
                svg_lines.text(left - 6, y + 4, f"{level:g}" if normalized else f"{level:,.{decimals}f}", "end", 10)]
    x = left + 8
    for name, values in panel.groups:
        for i, value in enumerate(values):
            if value is None:
                continue
            y = top + height * (1 - value / most)
            out.append(f'<rect x="{x + i * step}" y="{y:.1f}" width="{step - 2}" height="{height * value / most:.1f}" '
                       f'fill="{COLOURS[i]}"/>')
            if not normalized:
                at = x + i * step + step / 2 + 1
                out.append(f'<text x="{at:.1f}" y="{y - 3:.1f}" transform="rotate(-90 {at:.1f} {y - 3:.1f})" font-size="8" '
                           f'fill="#333">{value:.3g}</text>')
        out.append(svg_lines.text(x + step * len(values) / 2, top + height + 16, name, size=9))
        x += step * len(values) + 16
    return out


def panels_of_bars(panels, labels, normalized=True):
    """Panels one below the other, one legend. Where values are not normalized each stands above its bar."""
    a_panel = 260
    most = max(panels, key=lambda panel: sum(len(values) for _, values in panel.groups))
    # So wide that the names below the groups, letters of about 5, do not run into each other.
    names = max((5 * len(name) - 12) // len(values) for panel in panels for name, values in panel.groups)
    step = max(11, names, min(24, (520 - 64 - 16 * len(most.groups)) // sum(len(values) for _, values in most.groups)))
    width = max(520, 110 * len(labels), *(width_of(panel, step) for panel in panels))
    height = a_panel * len(panels) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" font-family="sans-serif">', f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for i, panel in enumerate(panels):
        out += panel_of_bars(panel, i * a_panel, width, step, normalized)
    for i, label in enumerate(labels):
        at = 44 + i * (width - 44) / len(labels)
        out += [f'<rect x="{at:.0f}" y="{height - 30}" width="10" height="10" fill="{COLOURS[i]}"/>',
                svg_lines.text(at + 16, height - 21, label, "start")]
    return "\n".join([*out, "</svg>"]) + "\n"
