"""Pictures as SVG, without a package, for light and dark pages: a page of parts, and a chart of labelled lines."""

import math
import typing
import xml.sax.saxutils

STYLE = ("text{fill:#1f2328}.soft{fill:#57606a}.line{fill:none;stroke:#8c959f}.grid{fill:none;stroke:#d0d7de}"
         ".on{fill:#0b6e4f;stroke:#0b6e4f}.off{fill:#b35900;stroke:#b35900}.other{fill:#1b6ca8;stroke:#1b6ca8}"
         ".g0{fill:#e4e8ec}.g1{fill:#a9d8c4}.g2{fill:#3f9d78}.g3{fill:#064a34}"
         "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#b1bac4}.line{stroke:#8b949e}.grid{stroke:#30363d}"
         ".on{fill:#56d3a3;stroke:#56d3a3}.off{fill:#f0a860;stroke:#f0a860}.other{fill:#79b8f0;stroke:#79b8f0}"
         ".g0{fill:#21262d}.g1{fill:#1c5540}.g2{fill:#38a97d}.g3{fill:#a8f0d3}}")

LEFT, RIGHT, TOP, BOTTOM = 48, 190, 34, 38  # margins of a chart
WIDTH, HEIGHT = 640, 280
LABEL_ROW = 16


class Line(typing.NamedTuple):
    label: str
    style: str  # a class of STYLE
    dashes: str
    points: list  # of (x, y), x ascending


class Level(typing.NamedTuple):
    label: str
    style: str
    y: float


def text(x, y, words, anchor="start", style="", size=12):
    shown = f' class="{style}"' if style else ""
    return (f'<text{shown} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
            f"{xml.sax.saxutils.escape(words)}</text>")


def box(x, y, width, height, style):
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" stroke="none"/>'


def document(width, height, title, parts):
    """The text of a picture with its title on top."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'font-family="system-ui, sans-serif">', f"<title>{xml.sax.saxutils.escape(title)}</title>", f"<style>{STYLE}</style>",
        text(8, 18, title, size=13), *parts, "</svg>"]) + "\n"


def steps(low, high):
    """Round values between two others, four to ten of them, and how many decimals they have."""
    decimals = -math.floor(math.log10(high - low))
    step = 10.0 ** -decimals
    if (high - low) / step < 4:
        decimals += 1
        step /= 2 if (high - low) / (step / 2) >= 4 else 5
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)], max(0, decimals)


def apart(places):
    """{label: y}, moved so that no two are nearer than a row."""
    found, last = {}, -math.inf
    for label, y in sorted(places.items(), key=lambda one: one[1]):
        found[label] = last = max(y, last + LABEL_ROW)
    return found


def chart(title, x_label, lines, levels):
    """The text of a chart over a logarithmic axis: Lines, and Levels across all of it, each with its label at the right."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points] + [level.y for level in levels]
    low_x, high_x = min(xs) / 1.1, max(xs) * 1.1
    margin = 0.05 * (max(ys) - min(ys)) or 0.05 * abs(max(ys)) or 1  # values may all be one
    low_y, high_y = min(ys) - margin, max(ys) + margin
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def at_x(x):
        return LEFT + (right - LEFT) * math.log(x / low_x) / math.log(high_x / low_x)

    def at_y(y):
        return bottom - (bottom - TOP) * (y - low_y) / (high_y - low_y)

    out = [text((LEFT + right) / 2, bottom + 32, x_label, "middle", "soft")]
    ticks, decimals = steps(low_y, high_y)
    for y in ticks:
        out += [f'<path class="grid" d="M{LEFT} {at_y(y):.1f}H{right}"/>',
                text(LEFT - 6, at_y(y) + 4, f"{y:.{decimals}f}", "end", "soft", 11)]
    for x in sorted(set(xs)):
        out += [f'<path class="line" d="M{at_x(x):.1f} {bottom}v4"/>', text(at_x(x), bottom + 16, f"{x:,}", "middle", "soft", 11)]
    out.append(f'<path class="line" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
    for level in levels:
        out.append(f'<path class="{level.style}" d="M{LEFT} {at_y(level.y):.1f}H{right}" stroke-dasharray="1 3"/>')
    for line in lines:
        path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in line.points)
        dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
        out.append(f'<path class="{line.style}" style="fill:none" d="M{path}" stroke-width="2"{dashes}/>')
        out += [f'<circle class="{line.style}" cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.6"/>' for x, y in line.points]
    ends = {level.label: level.y for level in levels} | {line.label: line.points[-1][1] for line in lines}
    for label, y in apart({label: at_y(y) for label, y in ends.items()}).items():
        out += [f'<path class="line" d="M{right + 1} {at_y(ends[label]):.1f}L{right + 10} {y:.1f}"/>', text(right + 13, y + 4, label)]
    return document(WIDTH, HEIGHT, title, out)
