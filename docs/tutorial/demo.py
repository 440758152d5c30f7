#!/usr/bin/env python3
"""demo.py RULERANK FOLDER: empties FOLDER, runs the commands of docs/tutorial.md there, shows each with what it prints.

The learning curve comes last, in the terminal and as FOLDER/curve.svg, with where the method loses.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import examples  # noqa: E402

PAGE = ROOT / "docs" / "tutorial.md"
PART = re.compile(rf"^(## [^\n]*)$|{examples.PART.pattern}", re.S | re.M)
CURVE = "python3 docs/tutorial/curve.py"


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    session = examples.Session(program, None, folder.resolve())
    last = ""

    def show(command):
        print(command, end="", flush=True)
        print(session.run(re.sub(r"^[$>] ", "", command, flags=re.M)), flush=True)
        if session.code():
            sys.exit(f"demo: error: this command ended with {session.code()}")

    for heading, block, hidden in re.findall(PART, PAGE.read_text()):
        if heading:
            print(f"\n{heading.strip()}\n")
        elif hidden:
            session.run(" ".join(hidden.split()))
        for command, _ in examples.steps(block):
            if CURVE in command:
                last = command
            else:
                show(command)
    print("\n## What labels are worth, and where the method loses\n")
    show(last)
    print(f"pictures: {', '.join(sorted(str(path) for path in folder.glob('*.svg')))}; the story: docs/tutorial.md")


if __name__ == "__main__":
    main()
