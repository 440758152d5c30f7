"""Line charts as SVG: panels side by side, the horizontal axis logarithmic, one legend."""

import math
import typing
import xml.sax.saxutils

WIDTH, HEIGHT = 400, 240  # of a panel
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


class Panel(typing.NamedTuple):
    title: str
    x_label: str
    lines: list
    levels: list


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


def panel(of, x0, y0):
    xs = [x for line in of.lines for x, _ in line.points]
    ys = [y for line in of.lines for _, y in line.points] + [level.y for level in of.levels]
    low_x, high_x = min(xs) / 1.1, max(xs) * 1.1
    margin = 0.05 * (max(ys) - min(ys)) or 0.05 * abs(max(ys)) or 1  # values may all be one
    low_y, high_y = min(ys) - margin, max(ys) + margin
    left, right = x0 + LEFT, x0 + WIDTH - RIGHT
    top, bottom = y0 + TOP, y0 + HEIGHT - BOTTOM

    def at_x(x):
        return left + (right - left) * math.log(x / low_x) / math.log(high_x / low_x)

    def at_y(y):
        return bottom - (bottom - top) * (y - low_y) / (high_y - low_y)

    out = [text((left + right) / 2, y0 + 18, of.title, size=12, colour="#000"),
           text((left + right) / 2, bottom + 32, of.x_label)]
    levels, decimals = steps(low_y, high_y)
    for y in levels:
        out += [f'<path d="M{left} {at_y(y):.1f}H{right}" stroke="#ddd"/>',
                text(left - 6, at_y(y) + 4, f"{y:.{decimals}f}", "end", 10)]
    for x in (n * 10 ** e for e in range(0, 7) for n in (1, 2, 5)):
        if low_x <= x <= high_x:
            out += [f'<path d="M{at_x(x):.1f} {bottom}v4" stroke="#333"/>',
                    text(at_x(x), bottom + 16, f"{x:,}", size=10)]
    out.append(f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#333"/>')
    for level in of.levels:
        out.append(f'<path d="M{left} {at_y(level.y):.1f}H{right}" stroke="{level.colour}" stroke-width="1.2" '
                   'stroke-dasharray="1 3"/>')
    for line in of.lines:
        if not line.points:
            continue
        path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in line.points)
        dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
        out.append(f'<path d="M{path}" fill="none" stroke="{line.colour}" stroke-width="1.8"{dashes}/>')
        out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.4" fill="{line.colour}"/>' for x, y in line.points]
    return out


def drawn(panels, columns):
    """All panels, `columns` in a row, the first one's lines and levels in the legend."""
    rows = -(-len(panels) // columns)
    marks = [(line.label, line.colour, line.dashes) for line in panels[0].lines]
    marks += [(level.label, level.colour, "1 3") for level in panels[0].levels]
    a_row = 3 * columns // 2 if columns > 1 else 2
    width = columns * WIDTH
    height = rows * HEIGHT + LEGEND_ROW * -(-len(marks) // a_row) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif">', f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for i, one in enumerate(panels):
        out += panel(one, i % columns * WIDTH, i // columns * HEIGHT)
    for i, (label, colour, dashes) in enumerate(marks):
        x, y = LEFT + i % a_row * (width - LEFT) / a_row, rows * HEIGHT + LEGEND_ROW * (i // a_row + 1)
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        out += [f'<path d="M{x:.0f} {y - 4}h30" stroke="{colour}" stroke-width="1.8"{style}/>',
                text(x + 36, y, label, "start")]
    return "\n".join([*out, "</svg>"]) + "\n"
