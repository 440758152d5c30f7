#!/usr/bin/env python3
"""write_interface.py interface.json FOLDER: writes rulerank.h, and rulerank_c.map for the linker.

interface.json describes each type, code and function of the C interface: arguments, documentation, errors, and the
interface number since which it exists; `versions` has the version of rulerank that brought each number, from 1. The linker exports the functions of the description and nothing else, each
with its number as symbol version.
"""

import json
import pathlib
import sys
import textwrap

WIDTH = 100
# The last arguments of each function that can fail.
ERROR_TEXT = [{"type": "char *", "name": "error"}, {"type": "size_t", "name": "error_size"}]


def functions(interface):
    """The functions, those of several value types once for each type."""
    for function in interface["functions"]:
        for i, kind in enumerate(function.get("types", [""])):
            one = {**function, "name": function["name"].replace("{type}", kind),
                   "version": interface["versions"][function["since"] - 1]}
            one["arguments"] = [{**argument, "type": argument["type"].replace("{type}", kind)}
                                for argument in function["arguments"]]
            if i > 0:
                first = function["name"].replace("{type}", function["types"][0])
                one.update(doc=[f"As {first}, of {kind} values."], errors={})
            if function["returns"] == "rulerank_code":
                one["arguments"] += ERROR_TEXT
            yield one


def comment(lines):
    """Lines as a comment of C."""
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def documentation(function):
    lines = list(function["doc"])
    for code, meaning in function.get("errors", {}).items():
        lines += textwrap.wrap(f"{code}: {meaning}.", WIDTH, initial_indent="  ", subsequent_indent="    ")
    return comment([*lines, f"Since interface {function['since']}, rulerank {function['version']}."])


def joined(kind, name):
    """`int x`, `char *x`."""
    return kind + name if kind.endswith("*") else f"{kind} {name}"


def declaration(function):
    begin = joined(function["returns"], function["name"]) + "("
    words = [joined(one["type"], one["name"]) for one in function["arguments"]] or ["void"]
    whole = begin + ", ".join(words) + ");"
    if len(whole) <= WIDTH:
        return whole
    lines = textwrap.wrap(", ".join(word.replace(" ", "\0") for word in words), WIDTH - 4)  # no argument is split
    return begin + "\n    " + "\n    ".join(lines).replace("\0", " ") + ");"


def header(interface):
    parts = [comment(interface["head"]),
             "#ifndef RULERANK_H\n#define RULERANK_H\n\n#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif",
             "/* The number of this interface. A later one only adds to it. */\n"
             f"#define RULERANK_INTERFACE {interface['interface']}"]
    for one in interface["types"]:
        parts.append(f"{comment(one['doc'])}\ntypedef struct {one['name']} {one['name']};")
    codes = ",\n".join(f"  {one['name']} = {one['value']} /* {one['doc']} */" for one in interface["codes"])
    parts.append("/* How a call ended. The exit codes of the program have the same meanings. */\n"
                 f"typedef enum rulerank_code {{\n{codes}\n}} rulerank_code;")
    parts += [f"{documentation(one)}\n{declaration(one)}" for one in functions(interface)]
    parts.append("#ifdef __cplusplus\n}\n#endif\n\n#endif /* RULERANK_H */")
    return "\n\n".join(parts) + "\n"


def linker_map(interface):
    parts, before = [], ""
    for since in range(1, interface["interface"] + 1):
        names = [f"    {one['name']};" for one in functions(interface) if one["since"] == since]
        hidden = "  local: *;\n" if since == 1 else ""
        parts.append(f"RULERANK_{since} {{\n  global:\n" + "\n".join(names) + f"\n{hidden}}}{before};")
        before = f" RULERANK_{since}"
    return "\n".join(parts) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: write_interface.py interface.json FOLDER")
    interface = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ("rulerank.h", header(interface)), ("rulerank_c.map", linker_map(interface)):
        path = folder / name
        if not path.exists() or path.read_text() != text:  # what is compiled with an equal one is up to date
            path.write_text(text)


if __name__ == "__main__":
    main()
