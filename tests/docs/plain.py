#!/usr/bin/env python3
"""plain.py [ROOT] [--report]: pages, and the comments and docstrings of all sources, are in plain technical English.

Pages are those of docs/, README.md, CONTRIBUTING.md and the READMEs of bench/. A phrase of NEVER is a fault anywhere outside of
code, and so is an HTML comment in a page of more than a line or 150 characters; a phrase of NEVER_IN_COMMENTS is a fault in a
source. `--report` counts, for each page and each source, the sentences that open with a word of OPENINGS and the words of OTHERS,
which are right in some sentences, and prints the length of sentences in words. It ends with the sums of each module, with public
headers in a separate row.
"""

import ast
import collections
import pathlib
import re
import statistics
import subprocess
import sys

import markdown

NEVER = {  # a phrase: what to write
    "nothing tells": "the difference is not significant",
    "tells? (?:them|the two) apart": "distinguishes",
    "by the clock": "wall time",
    "in counted time|counted time": "simulated time",
    "so many as|so often that|so often as": "as many as, N times",
    "has one smallest place": "is convex, so its minimum is unique",
    "has no say": "has no effect",
    "makes place for": "is dropped for",
    "is theirs to": "the caller must",
    "drawn (?:set|data|documents|collection|sample)s?": "synthetic data",
    "nobody can tell": "it is unknown",
    "takes? away what": "reduces",
    "is waited for": "waits for",
    "what is (?:asked|wanted) of": "the option, the request",
    "two of a kind are": "duplicates are",
}
NEVER_IN_COMMENTS = {  # the same for comments, which are held to more
    "an?other than": "differs from",
    "tells? each other": "exchange",
    "(?:is|are|has been) told": "receives",
    "hears? of": "receives, reports",
    "(?:is|are|was|were) held against": "is compared with",
    "stands? (?:behind|doubled)": "follows, is doubled",
    "one behind the other": "concatenated, one after the other",
    "comes again|that comes twice": "is repeated, a duplicate",
    "so manieth": "n-th",
    "what there is": "the existing ones",
    "what stands": "the text, the value",
    "what is (?:found|said|known|searched|given|there)": "a noun: the results, the message, the arguments",
    "is (?:the |its |an?)?\\w+'s to \\w+": "the caller must",
}
OPENINGS = ("Of", "What", "That of", "The same", "So many", "Such", "Those")
SOURCES = ("*.hpp", "*.cuh", "*.cpp", "*.cu", "*.js", "*.py", "*.sh", "*.cmake", "*CMakeLists.txt", "run", ".ci/run")
OTHERS = ("drawn", "tells", "lies", "stands", "behind", "beside", "less", "widen", "crowded", "handed on", "as they are")


def prose(path):
    """(line, text) of each paragraph, item or row, without code, comments, addresses."""
    for block in markdown.blocks(re.sub(r"<!--.*?-->", lambda m: "\n" * m[0].count("\n"), path.read_text(), flags=re.S)):
        if block.kind != "code":
            yield block.line, re.sub(r"`[^`]*`|\]\([^)]*\)", "", block.text)


def pages(root):
    found = [page for page in markdown.pages(root) if page.name != "CHANGELOG.md"]
    return [*found, root / "CONTRIBUTING.md", *sorted(root.glob("bench/**/README.md"))]


def sources(root):
    """The tracked sources, without this file, which lists the phrases."""
    listed = subprocess.run(["git", "-C", root, "ls-files", *SOURCES], capture_output=True, text=True)
    return [root / path for path in listed.stdout.split() if path != "tests/docs/plain.py"]


def public_headers(root):
    found = set()
    for file in root.rglob("CMakeLists.txt"):
        for listed in re.findall(r"\bPUBLIC_HEADERS\s+([\w/.\s]+?)\s+[A-Z_]{4,}", file.read_text()):
            found |= {file.parent / header for header in listed.split()}
    return found


def comments(path):
    """(line, text) of each docstring and of each run of comment lines that begin in the same column, without code in backquotes."""
    text = path.read_text()
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (said := ast.get_docstring(node)):
                for paragraph in re.split(r"\n\s*\n", said):
                    yield node.body[0].lineno, re.sub(r"`[^`]*`", "", paragraph)
    mark = "///?<?" if re.match(r"\.([hc]pp|cuh?|js)$", path.suffix) else "#"
    column, first, words = None, 0, []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        found = re.search(rf"(?:^|\s)({mark})(?=\s|$)(.*)", line)
        if words and (not found or found.start(1) != column or line[:column].strip()):
            yield first, re.sub(r"`[^`]*`", "", " ".join(words))
            words = []
        if found and not found[2].startswith((" namespace", " NOLINT", " clang-format")):
            column, first = found.start(1), first if words else number
            words.append(found[2].strip())


def texts(root):
    """(path, its paragraphs, the phrases that fail in them) of each page and each source."""
    yield from ((page, prose(page), NEVER) for page in pages(root))
    yield from ((source, comments(source), NEVER | NEVER_IN_COMMENTS) for source in sources(root))


def faults(root):
    for page in pages(root):
        for comment in re.finditer(r"<!--.*?-->", text := page.read_text(), re.S):
            if "\n" in comment[0] or len(comment[0]) > 150:
                line = text.count("\n", 0, comment.start()) + 1
                yield f"{page.relative_to(root)}:{line}: found a comment of more than a line, expected a file beside the page"
    for path, paragraphs, never in texts(root):
        for line, text in paragraphs:
            for phrase, plain in never.items():
                if found := re.search(rf"\b(?:{phrase})\b", re.sub(r"\s+", " ", text), re.I):
                    yield f"{path.relative_to(root)}:{line}: found '{found[0]}', expected plain English, such as: {plain}"


def sentences_of(text):
    return [s for s in re.split(r"(?<=[.!?])\s+", re.sub(r"\s+", " ", text).strip("-|> ")) if s]


def report(root):
    print("file: sentences, of these with an unplain opening; unplain words; words of a sentence, mean and most")
    public, sums = public_headers(root), collections.defaultdict(lambda: [0, 0, 0])
    for path, paragraphs, _ in texts(root):
        sentences = [s for _, text in paragraphs for s in sentences_of(text)]
        openings = sum(bool(re.match(rf"(?:{'|'.join(OPENINGS)})\b(?!.*\?$)", s)) for s in sentences)
        words = sum(len(re.findall(rf"\b(?:{'|'.join(OTHERS)})\b", s)) for s in sentences)
        lengths = [len(s.split()) for s in sentences] or [0]
        name = path.relative_to(root)
        print(f"{name}: {len(sentences)}, {openings}; {words}; {statistics.mean(lengths):.1f}, {max(lengths)}")
        group = "pages" if path.suffix == ".md" else f"{name.parts[0]}, {'public headers' if path in public else 'other'}"
        sums[group] = [a + b for a, b in zip(sums[group], (len(sentences), openings, words))]
    print("module: sentences, of these with an unplain opening; unplain words")
    for group, counts in sums.items():
        print(f"{group}: {counts[0]}, {counts[1]}; {counts[2]}")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--report"]
    root = pathlib.Path(arguments[0]).resolve() if arguments else markdown.ROOT
    if "--report" in sys.argv:
        report(root)
        return 0
    found = list(faults(root))
    print("\n".join([*found, f"{len(found)} faults"]))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
