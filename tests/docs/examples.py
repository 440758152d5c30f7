#!/usr/bin/env python3
"""examples.py RULERANK drawn|real [--update] [PAGE...]: runs the examples of the pages.

The ```console blocks of a page are a session: bash runs them in order, in one empty folder. Lines that begin with "$ " are
commands; a backslash at the end continues a command on the next line, and so does a next line that begins with "> ". The other
lines are the terminal's output, in which ... matches anything. If the commands write a file with the name of a picture of the
page, it is the picture. A comment

    <!-- example: COMMAND -->

is a command that the page does not show. A longer command is a file in the folder of the page: `. $PAGE.sh`. $COLLECTION is
docs/collection; <!-- needs: PROGRAM --> skips a page where the program is missing; $DATA is the folder of the real sets (RULERANK_TEST_DATA). Pages that use $DATA are `real`, the others `drawn`.
--update writes the outputs of the commands into the pages, and pictures into their folders; it keeps an output with ... that
matches.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import markdown

PICTURE = re.compile(r"!\[[^]]*\]\(([\w/.-]+\.svg)\)")
PART = re.compile(r"^```console\n(.*?)^```$|<!-- example: (.*?) -->", re.S | re.M)


def matches(shown, expected):
    pattern = ".*?".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, shown, re.S) is not None


def steps(block):
    """The commands of a block with what they are expected to show."""
    found = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line, ""])
        elif found and not found[-1][1] and (line.startswith("> ") or found[-1][0].endswith("\\\n")):
            found[-1][0] += line
        elif found:
            found[-1][1] += line
    return found


class Session:
    """The terminal's output, command by command, beginning in a folder: by default an empty temporary one."""

    def __init__(self, program, data, page, folder=None):
        self.own = None if folder else tempfile.TemporaryDirectory()
        folder = folder or self.own.name
        self.state = tempfile.NamedTemporaryFile("r")
        self.after = f"0 {folder}"  # the exit code and the folder that a command leaves
        self.environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder),
            "LC_ALL": "C.UTF-8", "CUDA_VISIBLE_DEVICES": "", "OMP_WAIT_POLICY": "passive", "DATA": str(data or ""), "COLUMNS": "100",
            "COLLECTION": str(markdown.ROOT / "docs/collection"), "PAGE": str(page.with_suffix(""))}

    def code(self):
        return int(self.after.split()[0])

    def run(self, command):
        code, folder = self.after.split(maxsplit=1)
        script = f"(exit {code})\n{command}\necho $? $PWD > {self.state.name}"
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=3000)
        self.after = pathlib.Path(self.state.name).read_text().strip()
        # A page has no blanks at the end of a line, and says nothing of how far a slow machine is.
        return re.sub(r" +$|^rulerank: .*: [\d.]+( [kMGT]?B)? of [\d.]+( [kMGT]?B)? \(\d+ %.*\)\n", "", done.stdout.decode(),
                      flags=re.M)


def picture_faults(path, text, folder, update):
    """Pictures of a page that differ from the files that its commands wrote to the folder."""
    faults = []
    for name in PICTURE.findall(text):
        drawn, shown = folder / pathlib.Path(name).name, path.parent / name
        if not drawn.exists() or (shown.exists() and shown.read_bytes() == drawn.read_bytes()):
            continue
        faults.append(f"{path}: {name} is not what the page's commands draw")
        if update:
            shown.write_bytes(drawn.read_bytes())
    return faults


def run_page(path, program, data, update):
    """The faults of a page's examples."""
    text, session, faults = path.read_text(), Session(program, data, path), []
    folder = pathlib.Path(session.after.split(maxsplit=1)[1])

    def replaced(match):
        if match[2]:
            session.run(" ".join(match[2].split()))
            return match[0]
        block = ""
        for command, expected in steps(match[1]):
            shown = session.run(re.sub(r"^[$>] ", "", command, flags=re.M))
            if not matches(shown, expected):
                where = text.count("\n", 0, match.start()) + 1
                faults.append(f"{path}:{where}: {command}found\n{shown}expected\n{expected}")
                expected = expected if "..." in expected else shown
            block += command + expected
        return f"```console\n{block}```"

    updated = PART.sub(replaced, text)
    if update and updated != text:
        path.write_text(updated)
    return faults + picture_faults(path, text, folder, update)


def main():
    program, kind, *rest = sys.argv[1:]
    if pathlib.Path(program).name != "rulerank":
        sys.exit(f"found {program}, expected a program that is called rulerank")
    update = "--update" in rest
    chosen = [pathlib.Path(name).resolve() for name in rest if name != "--update"]
    data = pathlib.Path(os.environ.get("RULERANK_TEST_DATA", "/nonexistent"))
    faults, count, missing = [], 0, []
    for path in chosen or markdown.pages(markdown.ROOT):
        parts = "".join(match[0] for match in PART.finditer(path.read_text()))
        if not parts or ("$DATA" in parts) != (kind == "real"):
            if chosen:
                sys.exit(f"{path} has no examples of the kind {kind}")
            continue
        needed = [f"{name} in $RULERANK_TEST_DATA" for name in re.findall(r"\$DATA/(\w[\w/.-]*)", parts) if not (data / name).exists()]
        needed += [tool for tool in re.findall(r"<!-- needs: (.*?) -->", path.read_text()) if not shutil.which(tool)]
        if needed:
            missing.append(f"needs {needed[0]}")
            print(f"{path}: Skipped", missing[-1], sep="\n")
            continue
        faults += run_page(path, pathlib.Path(program).resolve(), data, update)
        count += 1
    print(*faults, f"{len(faults)} faults in the examples of {count} pages", sep="\n")
    return 1 if faults else 77 if missing and not count else 0


if __name__ == "__main__":
    sys.exit(main())
