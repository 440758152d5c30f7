#!/usr/bin/env python3
"""messages.py [ROOT] [--list [FOLDER...]] [--report]: errors, warnings, notes and the help of options are in plain technical English.

A message is a text that the sources throw, raise, warn of, print, write to a report or page, or give to an option as its help.
Phrases of plain.py or UNPLAIN are faults, and so is an error of an input that names no file. `--list` prints all messages, or those
of some folders: place, kind and text, with … for a value between two strings. `--report` counts kinds and openings.
"""

import ast
import collections
import dataclasses
import pathlib
import re
import sys

import markdown
import plain

UNPLAIN = {  # of messages: a phrase, and what to write
    r"behind": "after, less than",
    r"beside": "cannot be combined with, together with",
    r"is not there(?: yet)?": "is missing, was not found, does not exist",
    r"(?:is|are|of) another's|that of another one": "belongs to a different ...",
    r"wants? (?:a )?labels?": "needs a label",
    r"to say which|are meant\?|named alike": "what to do",
    r"passed over": "left out",
    r"(?:done|begins?|tuned|started) anew": "runs again",
    r"goes? on(?: after| from)?": "continues",
    r"took (?:cpu|cuda)": "selected",
    r"(?:one|k) a (?:line|document|query|fold|feature|row)|a (?:row|(?:JSON )?line) each": "one on each line, one for each ...",
    r"(?:one (?!on\b)\w+|name|words|document) a line": "on each line",
    r"likewise|comes? on top|as long again": "a full statement",
    r"(?:this|that) one first": "(this is the first)",
    r"there is none to|and there (?:is|are) (?:none|neither)": "no ... was found",
    r"not (?:what|where) .* is": "what differs",
}
SKIPPED = re.compile(r"_test\.|_testing\.|testing\.hpp|_reference\.|fuzz|^(bench|build[^/]*|docs|out|packaging|tests)/|/tests/|(smart_stop_words|entities)\.cpp")
KINDS = {  # the innermost of these calls around a string decides
    "usage_error": "usage", "unknown_name": "usage", "expect_none_of": "usage", "refuse_options": "usage",
    "error": "input", "line_fault": "input", "text_fault": "input", "archive_fault": "input", "fail": "input", "read_json": "input",
    "device_error": "device", "output_error": "output", "refusal": "answer", "warn": "warning", "say": "note", "say_at_start": "note"}
OPTIONS = re.compile(r"(add_\w+|\w+_option|renamed_\w+|group|help_group|footer|type_name|default_str|set_version_flag)$")
SENTENCE = re.compile(r"[^\W\d_]{2,} .*[^\W\d_]{2,}")
TOKENS = re.compile(
    r"""(?P<gap>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*|\s+)"""
    r"""|R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"|"(?P<string>(?:\\.|[^"\\\n])*)\""""
    r"""|(?P<other>'(?:\\.|[^'\\\n])+'|0[xX][\da-fA-F']+|\d[\d.']*\w*|(?:\w|::)+|.)""", re.S | re.M)


@dataclasses.dataclass
class Message:
    path: str
    line: int
    kind: str
    text: str
    place: str = ""  # of an input's error, as the source has it

    def __str__(self):
        return f"{self.path}:{self.line}: {self.kind}: {self.text}"


def strings(text):
    """(line, calls around it from the innermost, text) of each string of a C++ source; a call is (name, first argument's offset)."""
    around, templates, name, line, said = [], [], "", 1, None
    for token in TOKENS.finditer(text):
        part = token["raw"] if token["raw"] is not None else token["string"]
        if part is not None:
            said = (said[0], said[1] + part) if said else (line, part)
        elif shown := token["other"]:
            if said:
                yield said[0], around[::-1], said[1]
                said = None
            if shown in "({[":
                around.append((name.split("::")[-1], token.end()))
            elif shown in ")}]" and around:
                around.pop()
            if shown == "<":
                templates.append(name)
            name = templates.pop() if shown == ">" and templates else shown if re.match(r"\w", shown) else ""
            if shown == ";":
                templates.clear()
        line += token[0].count("\n")


def cpp_messages(path, text):
    """The strings of one call are one message."""
    found = {}
    for line, calls, said in strings(text):
        name, begin = next((call for call in calls if call[0] in KINDS or (path.startswith("apps/") and OPTIONS.match(call[0]))), ("", line))
        if not name and not SENTENCE.search(said):
            continue
        if (name, begin) in found:
            if re.search(r"\W", said):
                found[name, begin].text += f" … {said.strip()}"
            continue
        place = re.match(r"\s*(\{[^}]*\}|[^,;]*)", text[begin:])[1] if name == "error" else ""
        found[name, begin] = Message(path, line, KINDS.get(name, "option" if name else "text"), said, place)
    yield from (one for one in found.values() if one.kind != "option" or SENTENCE.search(one.text))


def python_messages(path, text):
    """The errors and warnings of a Python source."""
    for node in ast.walk(ast.parse(text)):
        call = node.exc if isinstance(node, ast.Raise) else node
        kind = "raised" if call is not node else "warning"
        if isinstance(call, ast.Call) and (call is not node or ast.unparse(call.func) == "warnings.warn"):
            for argument in call.args[:1 if kind == "warning" else None]:
                if "'" in (said := ast.unparse(argument)) or '"' in said:
                    yield Message(path, call.lineno, kind, said)


def page_messages(path, text):
    """The texts of a page, and the strings of its script that are sentences."""
    pattern = r">([^<>{}]*[a-z] [a-z][^<>{}]*)<" if path.endswith(".html") else r"\"((?:\\.|[^\"\\\n])*[a-z] [a-z](?:\\.|[^\"\\\n])*)\""
    for found in re.finditer(pattern, text):
        yield Message(path, text.count("\n", 0, found.start(1)) + 1, "page", re.sub(r"\s+", " ", found[1]).strip())


READERS = {**dict.fromkeys((".cpp", ".hpp", ".cu", ".cuh"), cpp_messages), ".py": python_messages,
           **dict.fromkeys((".html", ".js"), page_messages)}


def messages(root, folders=("",)):
    """All messages below some folders of the project, in the order of their places."""
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.suffix in READERS and not SKIPPED.search(name) and name.startswith(tuple(folders)) and path.is_file():
            yield from READERS[path.suffix](name, path.read_text())


def faults(root):
    for one in messages(root):
        for phrase, better in {**plain.NEVER, **UNPLAIN}.items():
            if found := re.search(rf"\b(?:{phrase})\b", one.text, re.I):
                yield f"{one.path}:{one.line}: found '{found[0]}' in a message, expected plain English, such as: {better}"
        if re.match(r"\{\s*(?:\{\}|\"\")?\s*[,}]", one.place):
            yield f"{one.path}:{one.line}: found an error of an input without a file, expected the file that it is about"


def report(root):
    every = list(messages(root))
    for kind, count in collections.Counter(one.kind for one in every).most_common():
        print(f"{kind}: {count}")
    opens = re.compile(rf"(?:^|\. )(?:{'|'.join(plain.OPENINGS)})\b")
    for one in every:
        if one.kind != "text" and opens.search(one.text):
            print(f"opens unplainly: {one}")


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--list" in sys.argv:
        for one in messages(markdown.ROOT, words or ("",)):
            print(one)
        return 0
    root = pathlib.Path(words[0]).resolve() if words else markdown.ROOT
    if "--report" in sys.argv:
        report(root)
        return 0
    found = list(faults(root))
    print("\n".join([*found, f"{len(found)} faults"]))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
