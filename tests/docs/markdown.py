"""Splits pages into blocks, for the checks of this folder."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pages(root):
    """README.md, CHANGELOG.md and every page below docs/."""
    return [path for path in (root / "README.md", root / "CHANGELOG.md") if path.exists()] + sorted(
        (root / "docs").rglob("*.md"))


@dataclasses.dataclass
class Block:
    """A paragraph, an item of a list, a row of a table, or a block of code."""

    kind: str  # text, row or code
    line: int  # its first, from 1
    text: str
    before: str  # the paragraph in front of a table or a block of code, else empty
    language: str = ""  # of a block of code
    header: tuple = ()  # of a row: the cells of its table's first row


def cells(row):
    """The cells of a table's row."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def blocks(text):
    """The blocks of a page, in order."""
    found, lines, at, paragraph = [], text.split("\n"), 0, ""
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif fence := re.match(r" *(```+|~~~+) *(\w*)", line):
            end = at + 1
            while end < len(lines) and not lines[end].strip().startswith(fence[1]):
                end += 1
            found.append(Block("code", at + 1, "\n".join(lines[at + 1:end]), paragraph, fence[2]))
            at = end + 1
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            found.append(Block("code", at + 1, "\n".join(lines[at:end]), paragraph))
            at = end
        elif line.lstrip().startswith("|"):
            header, first = tuple(cells(line)), at
            while at < len(lines) and lines[at].lstrip().startswith("|"):
                if at == first or not re.fullmatch(r"[\s|:-]+", lines[at]):
                    found.append(Block("row", at + 1, lines[at], paragraph,
                                       header=() if at == first else header))
                at += 1
        else:
            end = at + 1
            while end < len(lines) and lines[end].strip() and not re.match(
                    r" *(```|~~~|\||[-*] |\d+\. |#)", lines[end]):
                end += 1
            paragraph = "\n".join(lines[at:end])
            found.append(Block("text", at + 1, paragraph, ""))
            at = end
    return found


def targets(text):
    """The targets of a text's links, without what follows a #."""
    return [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]


def prose(text):
    """A text without comments, code and the targets of links."""
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"(`+).*?\1", " ", text, flags=re.S)
    return re.sub(r"\]\([^)\s]+\)", "]", text)
