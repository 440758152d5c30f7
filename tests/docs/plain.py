#!/usr/bin/env python3
"""plain.py [ROOT] [--report]: pages are in plain technical English.

A phrase of NEVER is a fault wherever it stands outside of code, and so is an HTML comment of more than a line or 150
characters. `--report` counts, page by page, sentences that open with a word of OPENINGS and words of OTHERS, which are right
in some sentences, and the words of a sentence."""

import pathlib
import re
import statistics
import sys

import markdown

NEVER = {  # a phrase: what to write
    "nothing tells": "the difference is not significant",
    "tells? (?:them|the two) apart": "distinguishes",
    "by the clock": "wall time",
    "in counted time|counted time": "simulated time",
    "so many as|so often that|so often as": "as many as, N times",
    "has one smallest place": "is convex, so its minimum is unique",
    "has no say": "has no effect",
    "makes place for": "is dropped for",
    "is theirs to": "the caller must",
    "drawn (?:set|data|documents|collection|sample)s?": "synthetic data",
    "nobody can tell": "it is unknown",
    "takes? away what": "reduces",
    "is waited for": "waits for",
    "what is (?:asked|wanted) of": "the option, the request",
    "two of a kind are": "duplicates are",
}
OPENINGS = ("Of", "What", "That of", "The same", "So many", "Such", "Those")
OTHERS = ("drawn", "tells", "lies", "stands", "behind", "beside", "less", "widen", "crowded", "handed on", "as they are")


def prose(path):
    """(line, text) of each paragraph, item or row, without code, comments, addresses."""
    for block in markdown.blocks(re.sub(r"<!--.*?-->", lambda m: "\n" * m[0].count("\n"), path.read_text(), flags=re.S)):
        if block.kind != "code":
            yield block.line, re.sub(r"`[^`]*`|\]\([^)]*\)", "", block.text)


def pages(root):
    return [page for page in markdown.pages(root) if page.name != "CHANGELOG.md"] + [root / "CONTRIBUTING.md"]


def faults(root):
    for page in pages(root):
        for comment in re.finditer(r"<!--.*?-->", text := page.read_text(), re.S):
            if "\n" in comment[0] or len(comment[0]) > 150:
                yield f"{page.relative_to(root)}:{text.count(chr(10), 0, comment.start()) + 1}: found a comment of more than a line, expected a file beside the page"
        for line, text in prose(page):
            for phrase, plain in NEVER.items():
                if found := re.search(rf"\b(?:{phrase})\b", re.sub(r"\s+", " ", text), re.I):
                    yield f"{page.relative_to(root)}:{line}: found '{found[0]}', expected plain English, such as: {plain}"


def report(root):
    print("page: sentences, of these with an unplain opening; unplain words; words of a sentence, mean and most")
    for page in pages(root):
        sentences = [s for _, text in prose(page) for s in re.split(r"(?<=[.!?])\s+", re.sub(r"\s+", " ", text).strip("-|> ")) if s]
        openings = sum(bool(re.match(rf"(?:{'|'.join(OPENINGS)})\b(?!.*\?$)", s)) for s in sentences)
        words = sum(len(re.findall(rf"\b(?:{'|'.join(OTHERS)})\b", s)) for s in sentences)
        lengths = [len(s.split()) for s in sentences] or [0]
        print(f"{page.relative_to(root)}: {len(sentences)}, {openings}; {words}; {statistics.mean(lengths):.1f}, {max(lengths)}")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--report"]
    root = pathlib.Path(arguments[0]).resolve() if arguments else markdown.ROOT
    if "--report" in sys.argv:
        report(root)
        return 0
    found = list(faults(root))
    print("\n".join([*found, f"{len(found)} faults"]))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
