"""Pictures as SVG, without a package: a page of them, and a chart of lines over a logarithmic axis with its legend."""

import math
import typing
import xml.sax.saxutils

WIDTH, HEIGHT = 400, 240  # of a chart
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 28, 38
LEGEND_ROW = 18


class Line(typing.NamedTuple):
    label: str
    colour: str
    dashes: str
    points: list  # of (x, y)


class Level(typing.NamedTuple):
    label: str
    colour: str
    y: float


def text(x, y, words, anchor="middle", size=11, colour="#333"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
            f"{xml.sax.saxutils.escape(words)}</text>")


def steps(low, high):
    """Round values between two others, four to ten of them, and how many decimals they have."""
    decimals = -math.floor(math.log10(high - low))
    step = 10.0 ** -decimals
    if (high - low) / step < 4:
        decimals += 1
        step /= 2 if (high - low) / (step / 2) >= 4 else 5
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)], max(0, decimals)


def document(width, height, parts, title=""):
    """The text of a picture on white, with its title on top."""
    head = [text(width / 2, 18, title, size=12, colour="#000")] if title else []
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                      'font-family="sans-serif">', f'<rect width="{width}" height="{height}" fill="#fff"/>', *head, *parts,
                      "</svg>"]) + "\n"


def chart(title, x_label, lines, levels):
    """The text of a chart: Lines, and Levels across all of it."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points] + [level.y for level in levels]
    low_x, high_x = min(xs) / 1.1, max(xs) * 1.1
    margin = 0.05 * (max(ys) - min(ys)) or 0.05 * abs(max(ys)) or 1  # values may all be one
    low_y, high_y = min(ys) - margin, max(ys) + margin
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM

    def at_x(x):
        return left + (right - left) * math.log(x / low_x) / math.log(high_x / low_x)

    def at_y(y):
        return bottom - (bottom - top) * (y - low_y) / (high_y - low_y)

    out = [text((left + right) / 2, 18, title, size=12, colour="#000"), text((left + right) / 2, bottom + 32, x_label)]
    ticks, decimals = steps(low_y, high_y)
    for y in ticks:
        out += [f'<path d="M{left} {at_y(y):.1f}H{right}" stroke="#ddd"/>',
                text(left - 6, at_y(y) + 4, f"{y:.{decimals}f}", "end", 10)]
    for x in (n * 10 ** e for e in range(0, 7) for n in (1, 2, 5)):
        if low_x <= x <= high_x:
            out += [f'<path d="M{at_x(x):.1f} {bottom}v4" stroke="#333"/>', text(at_x(x), bottom + 16, f"{x:,}", size=10)]
    out.append(f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#333"/>')
    for level in levels:
        out.append(f'<path d="M{left} {at_y(level.y):.1f}H{right}" stroke="{level.colour}" stroke-width="1.2" '
                   'stroke-dasharray="1 3"/>')
    for line in lines:
        if not line.points:
            continue
        path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in line.points)
        dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
        out.append(f'<path d="M{path}" fill="none" stroke="{line.colour}" stroke-width="1.8"{dashes}/>')
        out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.4" fill="{line.colour}"/>' for x, y in line.points]
    marks = [(line.label, line.colour, line.dashes) for line in lines] + [(level.label, level.colour, "1 3") for level in levels]
    for i, (label, colour, dashes) in enumerate(marks):
        x, y = LEFT + i % 2 * (WIDTH - LEFT) / 2, HEIGHT + LEGEND_ROW * (i // 2 + 1)
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        out += [f'<path d="M{x:.0f} {y - 4}h30" stroke="{colour}" stroke-width="1.8"{style}/>', text(x + 36, y, label, "start")]
    return document(WIDTH, HEIGHT + LEGEND_ROW * -(-len(marks) // 2) + 12, out)
