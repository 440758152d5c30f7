#!/usr/bin/env python3
"""links.py: every relative link of the pages, and of those below bench/, leads to a file, and its part after # to a heading. Every
page has a link to it, and begins with an example."""

import re
import sys

import markdown


# Pages that need no example: lists of pages and figures, definitions, a module without public headers.
WITHOUT_EXAMPLE = {"index.md", "glossary.md", "benchmarks.md", "definitions.md", "architecture.md", "bitmaps.md"}


def anchors(path):
    """The names that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults():
    pages = markdown.pages(markdown.ROOT) + [markdown.ROOT / "CONTRIBUTING.md"]
    for page in pages + sorted((markdown.ROOT / "bench").rglob("*.md")):
        for match in re.finditer(r"\]\(([^)\s]+)\)", page.read_text()):
            target, _, anchor = match[1].partition("#")
            path = (page.parent / target).resolve() if target else page
            if re.match(r"\w+:", target):
                continue
            if not path.exists():
                yield f"{page.relative_to(markdown.ROOT)}: found a link to {target}, which is not there"
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                yield f"{page.relative_to(markdown.ROOT)}: found no heading for {match[1]}"
        if page.name not in WITHOUT_EXAMPLE and page.is_relative_to(markdown.ROOT / "docs"):
            first = re.split(r"^## ", page.read_text(), maxsplit=1, flags=re.M)[0]
            if not any(block.kind == "code" for block in markdown.blocks(first)):
                yield f"{page.relative_to(markdown.ROOT)}: found no example before the first heading"
    shown = {(page.parent / target).resolve() for page in pages for target in markdown.targets(page.read_text())}
    for page in pages:
        if page.is_relative_to(markdown.ROOT / "docs") and page.name != "index.md" and page not in shown:
            yield f"{page.relative_to(markdown.ROOT)}: found no link to this page"


found = list(faults())
print(*found, f"{len(found)} faults", sep="\n")
sys.exit(1 if found else 0)
