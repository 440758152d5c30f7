#!/usr/bin/env python3
"""kinds.py: every page of docs/ is in the folder of its kind, and its first sentence names its purpose and its readers.

    tutorials   learn by doing          This tutorial ... for ...
    guides      one goal                This guide ... for ...
    concepts    one idea                This page explains ... for ...
    reference   complete and dry        This page ... for ..., or `VERB` ... for ...
    studies     measurements            This page ... for ...

docs/index.md lists them.
"""

import re
import sys

import markdown

BEGINS = {"tutorials": r"(This tutorial|These tutorials) ", "guides": r"This guide ", "concepts": r"This page explains ",
          "reference": r"(This page|`{stem}`) ", "studies": r"This page "}


def faults():
    docs = markdown.ROOT / "docs"
    for page in sorted(docs.rglob("*.md")):
        kind, name = page.relative_to(docs).parts[0], page.relative_to(markdown.ROOT)
        if page == docs / "index.md":
            continue
        if kind not in BEGINS:
            yield f"{name}: found a page in no folder of {', '.join(BEGINS)}"
            continue
        text = re.sub(r"<!--.*?-->", "", page.read_text(), flags=re.S)
        blocks = [block for block in markdown.blocks(text) if not block.text.startswith("# ")]
        first = " ".join(blocks[0].text.split())
        sentence = re.match(r".*?[.:](?= |$)", first)
        if not (sentence and re.match(BEGINS[kind].format(stem=page.stem), first) and " for " in sentence[0]):
            yield f"{name}: found '{first[:60]}', expected a sentence '{BEGINS[kind].format(stem=page.stem)}... for ...'"


found = list(faults())
print(*found, f"{len(found)} faults", sep="\n")
sys.exit(1 if found else 0)
