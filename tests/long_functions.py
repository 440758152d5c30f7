#!/usr/bin/env python3
"""long_functions.py ROOT [--list]: fails for a function of more than 60 lines without a stated reason.

The reason is a comment above the function or in its first lines, `Long because ...`. --list prints all functions of more than 60
lines. Functions of C++ and CUDA sources are found by their braces; a lambda or a local class counts as part of its function.
"""

import pathlib
import re
import sys

MOST = 60
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
SKIPPED = {"build", "out", ".git"}

# Text whose braces do not count: comments, raw and plain strings, characters, the preprocessor's lines.
BLANKED = re.compile(
    r'''//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+\''''
    r"""|^[ \t]*\#(?:\\\n|[^\n])*""", re.S | re.M)
# Round brackets in a head that are no parameters.
ATTRIBUTE = re.compile(r"\b(?:alignas|__launch_bounds__|__attribute__|noexcept|decltype)\s*\([^()]*\)")
SCOPE = re.compile(r"^\s*(?:extern\s+\"|(?:inline\s+)?namespace\b)|\b(?:class|struct|union|enum)\b[^()]*$")


def functions(text):
    """(first line, number of lines, name) of each function body."""
    code = BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    around, head, function, brackets = [], 0, None, 0
    for at, character in enumerate(code):
        if character in "([":
            brackets += 1
        elif character in ")]":
            brackets -= 1
        elif character == "{":
            before = ATTRIBUTE.sub(" ", code[head:at])
            # After `: member_` a brace begins the member's value; the body follows `)` or `}`.
            value = brackets or re.search(r"=\s*$|\)\s*:(?!:).*[\w>]\s*$", before, re.S)
            opens = function is None and not value and "(" in before and not SCOPE.search(before)
            around.append("function" if opens else "value" if value else "scope")
            if opens:
                name = re.search(r"([\w:~]+)\s*\(", before)
                begin = head + len(code[head:at]) - len(code[head:at].lstrip())
                function = (begin, len(around), name[1] if name else "?")
            elif function is None and not value:
                head = at + 1
        elif character == "}":
            kind = around.pop() if around else ""
            if function and len(around) < function[1]:
                yield (code.count("\n", 0, function[0]) + 1,
                       code.count("\n", function[0], at) + 1, function[2])
                function = None
            if function is None and kind != "value":
                head = at + 1
        elif character == ";" and function is None and not brackets:
            head = at + 1


def reason_stated(lines, first):
    """Whether the comment above a function, or its first lines, say why it is long."""
    above = first - 1
    while above and re.match(r"\s*(//|template\b)", lines[above - 1]):
        above -= 1
    return re.search(r"//.*\blong because\b", "\n".join(lines[above:first + 8]), re.I)


def main():
    root = pathlib.Path(sys.argv[1])
    long, faults = [], []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.suffix not in SUFFIXES or SKIPPED & set(name.parts[:-1]) or name.parts[0].startswith("build-"):
            continue
        text = path.read_text()
        for first, count, function in functions(text):
            if count > MOST:
                long.append((count, f"{name}:{first}: {function} has {count} lines"))
                if not reason_stated(text.split("\n"), first):
                    faults.append(long[-1])
    for _, line in sorted(long if "--list" in sys.argv else faults, reverse=True):
        print(line)
    if faults:
        sys.exit(f"{len(faults)} functions of more than {MOST} lines, found no comment with `Long because`")
    print(f"{len(long)} functions of more than {MOST} lines, each with its reason")


if __name__ == "__main__":
    main()
