#!/usr/bin/env python3
"""options.py RULERANK: the pages and the program's help name the same options.

Every option that `rulerank VERB --help-all` lists is in the verb's page, in a page that it links to for them, or in
docs/reference/command-line.md. Every option in the first column of a table there is an option of the verb, or of all verbs. Options
after `rulerank VERB` in the pages' blocks of code are the verb's.
"""

import re
import subprocess
import sys

import markdown

REFERENCE = markdown.ROOT / "docs/reference"
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
# The pages that a verb's own page names for some of its options.
MORE = {"reduce": ["../guides/labelling.md", "../guides/whole-queries.md", "../guides/two-stages.md"], "experiment": ["verbs/tune.md"],
        "vectors": ["verbs/search.md"], "features": ["verbs/pipeline.md", "verbs/search.md"],
        "pipeline": ["verbs/experiment.md", "verbs/tune.md", "verbs/search.md", "verbs/reduce.md"]}


def printed(program, *verb):
    """All options of a verb."""
    return listed(subprocess.run([program, *verb, "--help-all"], check=True, capture_output=True, text=True).stdout)


def listed(text):
    """The options that a help lists, each with its other names at the beginning of a line."""
    names = r"^  (?:[A-Z]+, )?((?:-\w|--[a-z][\w-]*)(?:, ?(?:-\w|--[a-z][\w-]*))*)"
    return {option for line in re.findall(names, text, re.M) for option in OPTION.findall(line)}


def first_column(text):
    """The options in the first cells of a page's tables."""
    return {option for block in markdown.blocks(text) if block.kind == "row" and block.header
            for option in OPTION.findall(markdown.cells(block.text)[0])}


def commands(text, verbs):
    """(verb, option) for the commands in a page's blocks of code."""
    for block in markdown.blocks(text):
        if block.kind == "code":
            joined = re.sub(r"\\\n", " ", block.text)
            for verb, rest in re.findall(rf"^(?:\$ |> |    )? *rulerank ({verbs})\b([^\n|;&>]*)", joined, re.M):
                for option in OPTION.findall(rest):
                    yield verb, option


def faults(program):
    pages = sorted((REFERENCE / "verbs").glob("*.md"))
    options = {page.stem: printed(program, page.stem) for page in pages}
    options["search"] |= set.union(*(printed(program, "search", what) for what in ("text", "dense", "metric")))
    shared = (REFERENCE / "command-line.md").read_text()
    for page in pages:
        texts = [page.read_text()] + [(REFERENCE / name).read_text() for name in MORE.get(page.stem, [])]
        documented = {option for text in [*texts, shared] for option in OPTION.findall(text)}
        for option in sorted(options[page.stem] - documented):
            yield f"{page.stem} {option}: found in the help, expected it in {page.name} or command-line.md"
        for option in sorted(first_column(texts[0]) - options[page.stem]):
            yield f"{page.stem} {option}: found in {page.name}, expected it in the help"
    for option in sorted(first_column(shared) - set.union(*options.values())):
        yield f"{option}: found in command-line.md, expected it in some help"
    for page in markdown.pages(markdown.ROOT):
        text = page.read_text()
        for verb, option in commands(text, "|".join(options)):
            # An example of a wrong option shows what the program says of it.
            if option not in options[verb] and f"rulerank: error: found '{option}'" not in text:
                yield f"{page.relative_to(markdown.ROOT)}: found rulerank {verb} {option}, which it does not take"


def main():
    found = list(faults(sys.argv[1]))
    print(*found, f"{len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
