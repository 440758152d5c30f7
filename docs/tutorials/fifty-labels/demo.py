#!/usr/bin/env python3
"""demo.py RULERANK FOLDER: empties FOLDER, and shows the text of docs/tutorials/fifty-labels.md with its commands, which run there now."""

import pathlib
import re
import shutil
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import examples  # noqa: E402

PAGE = ROOT / "docs/tutorials/fifty-labels.md"


def plain(text):
    """Prose of the page as a terminal shows it: its paragraphs, without links and pictures."""
    text = re.sub(r"<!--.*?-->|!\[([^]]*)\]\([^)]*\)|\*\*", "", text, flags=re.S)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    found = ""
    for paragraph in filter(None, map(str.strip, re.split(r"\n\s*\n", text))):
        kept = re.match(r"[|#-]", paragraph)  # tables, headings and lists keep their lines
        found += (paragraph if kept else textwrap.fill(" ".join(paragraph.split()), 100)) + "\n\n"
    return found


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    session = examples.Session(program, None, PAGE, folder.resolve())
    page, end = PAGE.read_text(), 0
    for part in examples.PART.finditer(page):
        print(plain(page[end:part.start()]), end="")
        end = part.end()
        if part[2]:
            session.run(" ".join(part[2].split()))
        for command, _ in examples.steps(part[1] or ""):
            print(command, end="", flush=True)
            print(session.run(re.sub(r"^[$>] ", "", command, flags=re.M)), flush=True)
            if session.code():
                sys.exit(f"demo: error: this command ended with {session.code()}")
    print(f"The files and pictures of this run are in {folder}.\n")
    print(plain(page[end:]).rstrip())


if __name__ == "__main__":
    main()
