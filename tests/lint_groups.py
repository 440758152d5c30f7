#!/usr/bin/env python3
"""lint_groups.py FOLDER: joins the batches of a build for clang-tidy, which spends most of its time on headers.

FOLDER has compile_commands.json of a build in batches. Writes FOLDER/groups/compile_commands.json and sources that include several
batches each, of libraries or of tests, and prints the files to read, one on each line. A group has the definitions and include folders of
all its batches. Programs stay alone, and so do sources that are a batch of their own because they are compiled with other options.
"""

import json
import pathlib
import shlex
import sys

GROUPS = {"library": 8, "test": 8}  # as many as a folder has batches, whose names may be the same


def kind_of(file):
    """The kind of a source: sources of one kind may share a group; None: the source stays alone."""
    target = file.parent.parent.name.removesuffix(".dir")
    if file.suffix != ".cxx" or target.endswith(("_fuzz", "_bench")) or target == "rulerank":
        return None
    return "test" if target.endswith("_test") else "library"


def flags_of(entry):
    words = shlex.split(entry["command"])
    return words[:words.index("-o")]


def union(commands):
    """All words of the commands in their order; an -isystem stays with its folder."""
    found = {}
    for command in commands:
        words = iter(command)
        for word in words:
            found[(word, next(words)) if word == "-isystem" else (word,)] = True
    return [word for key in found for word in key]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(__file__).resolve().parent.parent
    groups, alone = {}, []
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        relative = file.relative_to(folder) if file.is_relative_to(folder) else file.relative_to(root)
        if file.suffix not in (".c", ".cpp", ".cxx") or relative.parts[0] in ("tests", "generated"):
            continue
        kind = kind_of(file)
        if kind:
            groups.setdefault(kind, []).append(entry)
        else:
            alone.append(entry)
    (folder / "groups").mkdir(exist_ok=True)
    for kind, entries in groups.items():
        for number in range(GROUPS[kind]):
            group = entries[number::GROUPS[kind]]  # neighbours, which are of one folder, are in different groups
            file = folder / "groups" / f"{kind}_{number}.cpp"
            file.write_text("".join(f'#include "{entry["file"]}"\n' for entry in group))
            command = [*union(map(flags_of, group)), "-o", f"{file}.o", "-c", str(file)]
            alone.append({"directory": group[0]["directory"], "command": shlex.join(command), "file": str(file)})
    alone.reverse()  # the groups, which take longest, first
    (folder / "groups" / "compile_commands.json").write_text(json.dumps(alone, indent=1))
    print(*dict.fromkeys(entry["file"] for entry in alone), sep="\n")


if __name__ == "__main__":
    main()
