#!/usr/bin/env python3
"""demo.py RULERANK FOLDER: empties FOLDER, tells the story of docs/tutorials/fifty-labels.md and runs its commands there, showing each
with what it prints.

The learning curve comes last, in the terminal and as FOLDER/curve.svg, with where the method loses.
"""

import pathlib
import re
import shutil
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import examples  # noqa: E402

PAGE = ROOT / "docs/tutorials/fifty-labels.md"
CURVE = "python3 docs/tutorials/fifty-labels/curve.py"


def plain(text):
    """Prose of the page as a terminal shows it: its paragraphs, without links and pictures."""
    text = re.sub(r"!\[([^]]*)\]\([^)]*\)", r"(A picture on the page: \1.)", text)
    text = re.sub(r"<!--.*?-->|\*\*", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text), flags=re.S)
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
    return "".join(f"{textwrap.fill(paragraph, 100)}\n\n" for paragraph in paragraphs if paragraph)


def sections(page):
    """The page's sections, that of the learning curve at the end."""
    return sorted(re.split(r"^(?=## )", page, flags=re.M), key=lambda section: CURVE in section)


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    session = examples.Session(program, None, PAGE, folder.resolve())

    def show(command):
        print(command, end="", flush=True)
        print(session.run(re.sub(r"^[$>] ", "", command, flags=re.M)), flush=True)
        if session.code():
            sys.exit(f"demo: error: this command ended with {session.code()}")

    print("This is docs/tutorials/fifty-labels.md, with its commands run now; step 5, the learning curve, comes last.\n")
    for section in sections(PAGE.read_text()):
        end = 0
        for part in examples.PART.finditer(section):
            print(plain(section[end:part.start()]), end="")
            end = part.end()
            if part[2]:
                session.run(" ".join(part[2].split()))
            for command, _ in examples.steps(part[1] or ""):
                show(command)
        print(plain(section[end:]), end="")
    print(f"The pictures are {', '.join(sorted(str(path) for path in folder.glob('*.svg')))}.")


if __name__ == "__main__":
    main()
