#!/usr/bin/env python3
"""claims.py [ROOT] [--history]: every measured figure in the pages is in a results file.

A figure is a ratio (58 x), a time, a rate, a share in percent, a p value, a value of a measure
(.4431), or a number in a table whose heading names one of these. Its paragraph, its row, or the paragraph in
front of its table or block of code, links to a file under bench/results, and the figure

- is in that file: in the same digits, or with three digits or more as a number that rounds to it;
- or follows from it, and the page's claims say how;
- or is no measurement, and the page's claims say so: `not measured: 10; 0.5`, or for a whole table `not measured: table`.

The claims of docs/X.md are in docs/X.claims, those of README.md in docs/README.claims:

    WORDS of one paragraph or row, in front of its claims
      from bench/results/BENCHMARK/x.jsonl
        58 = value("seconds", engine="mt") / value("seconds", engine="tiles")
      not measured: 10; 0.5

(`results.py` says what an expression may be). The paragraph or row links to the file.

A README.md of a results folder is prose about the results and counts for no figure. Each folder there
has the name of a benchmark, not a date, and has a manifest.json. A README or a manifest names the
commit that was measured, one without changes. With --history, in a
clone with the whole history, the commit is in it, or bench/results/README.md says why not. A number after
`SHA-256` is no commit.

Blocks of code in ```console are run and compared by examples.py, those in ```pycon by
python/tests/docs_test.py, those in ```output are compared with a notebook's by python/tests/gallery_test.py, so they are
not looked at here.
CHANGELOG.md may have times, with a link as in other pages.
"""

import dataclasses
import decimal
import pathlib
import re
import subprocess
import sys

import markdown
import results

# A number, and a list or range of numbers that share the unit after it.
NUMBER = r"(?<![\w.,^])(?<!\w-)(?:\d{1,3}(?:,\d{3})+|\d+|(?=\.\d))(?:\.\d+)?(?:e[-+]?\d+)?"
LIST = rf"({NUMBER}(?:(?:, and |, | and | to | or | / |/)(?:about )?{NUMBER})*)"
UNITS = r"(?:ns|us|µs|ms|s|seconds?|minutes?|min|hours?|h)"
FIGURES = [re.compile(pattern) for pattern in (
    rf"{LIST} (?:x|times)(?! ?\d)\b",
    rf"{LIST} {UNITS}\b(?!/)",
    rf"{LIST} (?:[kMGT]i?B|[a-z]+)/s\b",
    rf"{LIST} %",
    r"\bp(?: \(\w+\))? [=<] (0?\.\d+|\d+(?:\.\d+)?e-\d+)",
    r"\b(?:MAP|NDCG@?\d*|ERR@?\d*|recall@?\d*|F1|accuracy)(?: is| of|:)? (0?\.\d+)",
    r"(?<![\w.,])((?:\.\d\d+|0\.\d{4,})(?:e[-+]?\d+)?)(?![\d.]*\w)",
)]
MEASURED = re.compile(
    r"\b(MAP|NDCG(@\d+)?|MeanNDCG|ERR(@\d+)?|recall(@\d+)?|accuracy|F1|ratio|seconds|ms|us|time|times|"
    r"rounds|figure)\b|/s\b", re.I)


def numbers(text):
    return re.findall(NUMBER, text)


def figures(block):
    """The figures of a block as numbers, in order, each once."""
    text = block.text if block.kind == "code" else markdown.prose(block.text)
    found = []
    if block.kind == "row" and any(MEASURED.search(cell) for cell in block.header[1:]):
        for cell in markdown.cells(text)[1:]:
            found += numbers(cell)
    for pattern in FIGURES:
        for match in pattern.finditer(text):
            found += numbers(match[1])
    return list(dict.fromkeys(found))


def significant(figure):
    return len(re.sub(r"e.*|[.,]", "", figure).lstrip("0"))


def rounds_to(value, figure):
    """Whether a number, rounded to the digits of the figure, is the figure."""
    printed = decimal.Decimal(figure.replace(",", ""))
    unit = decimal.Decimal(1).scaleb(printed.as_tuple().exponent)
    return abs(decimal.Decimal(value) - printed) <= unit / 2 * decimal.Decimal("1.000000001")


def stands_in(figure, file):
    plain = figure.replace(",", "")
    if file.tabular and {plain, "0" + plain, plain.lstrip("0")} & file.literals:
        return True
    return significant(figure) >= 3 and any(rounds_to(number, figure) for number in file.numbers)


@dataclasses.dataclass
class Claim:
    """The entries below one line of words in a file of claims."""

    line: int
    words: str
    equations: list = dataclasses.field(default_factory=list)  # (file, figure, expression)
    free: list = dataclasses.field(default_factory=list)


def claims_of(root, page):
    """The file of a page's claims."""
    return (root / "docs" / page.relative_to(root / "docs" if page.is_relative_to(root / "docs") else root)).with_suffix(".claims")


def read_claims(path):
    """The claims of a file, and the faults of its form."""
    claims, faults, file = [], [], ""
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else (), 1):
        what = line.strip()
        if line and line == what:
            claims.append(Claim(number, line))
        elif claims and what.startswith("from "):
            file = what[5:]
        elif claims and what.startswith("not measured:"):
            claims[-1].free += [word.strip() for word in what[13:].split(";")]
        elif claims and file and " = " in what:
            claims[-1].equations.append((file, *what.split(" = ", 1)))
        elif what:
            faults.append(f"{path}:{number}: found '{what}', expected 'from FILE', 'FIGURE = EXPRESSION' or 'not measured: ...'")
    return claims, faults


class Page:
    """The figures of one page and what supports them."""

    def __init__(self, root, path, files):
        self.root, self.path, self.files = root, path, files
        self.claims, self.faults = read_claims(claims_of(root, path))

    def fault(self, block, words):
        self.faults.append(f"{self.path.relative_to(self.root)}:{block.line}: {words}")

    def linked(self, block, text):
        """The results files that a text links to."""
        found = []
        for target in markdown.targets(text):
            file = (self.path.parent / target).resolve()
            if not file.is_relative_to(self.root / "bench" / "results"):
                continue
            if not file.exists():
                self.fault(block, f"found a link to {target}, which is not there")
            elif file.is_file() and file.name != "README.md" and file.suffix not in (".svg", PACKED):
                if file not in self.files:
                    self.files[file] = results.Results(file)
                found.append(self.files[file])
        return found

    def claimed(self, block, text, linked):
        """The checked figures that the claims of a text derive, and the figures that they declare as no measurements."""
        derived, free, text = set(), set(), " ".join(text.split())
        for claim in (claim for claim in self.claims if claim.words in text):
            free.update(claim.free)
            for name, figure, expression in claim.equations:
                files = [file for file in linked if file.path == (self.root / name).resolve()]
                if not files:
                    self.fault(block, f"found a claim from {name}, expected a link to it beside it")
                    continue
                try:
                    value = results.evaluated(files[0], expression)
                except (ValueError, SyntaxError, ZeroDivisionError) as error:
                    self.fault(block, f"{expression}: {error}")
                    continue
                derived.add(figure)
                if not re.fullmatch(NUMBER, figure) or not rounds_to(value, figure):
                    self.fault(block, f"found {figure}, expected {value:.6g} = {expression}")
        return derived, free

    def check(self):
        unused, blocks = {}, markdown.blocks(self.path.read_text())
        texts = [" ".join(block.text.split()) for block in blocks if block.kind != "code"]
        for claim in self.claims:
            if (count := sum(claim.words in text for text in texts)) != 1:
                self.faults.append(f"{claims_of(self.root, self.path).relative_to(self.root)}:{claim.line}: found '{claim.words}' "
                                   f"{count} times in {self.path.name}, expected words of one paragraph or row")
        for block in blocks:
            if block.kind == "code" and block.language in ("console", "output", "pycon"):
                continue
            context = block.before + "\n" + ("" if block.kind == "code" else block.text)
            linked = self.linked(block, context)
            derived, free = self.claimed(block, context, linked)
            for figure in figures(block):
                word = "table" if block.kind == "row" and "table" in free else figure
                if word in derived or word in free:
                    unused[word] = False
                elif not linked:
                    self.fault(block, f"found {figure}, expected a link to its results file beside it")
                elif not any(stands_in(figure, file) for file in linked):
                    names = ", ".join(file.path.name for file in linked)
                    self.fault(block, f"found {figure}, which is not in {names}")
            for word in derived | free:
                unused.setdefault(word, block)
        for word, block in unused.items():
            if block:
                self.fault(block, f"found a claim about {word}, which is no figure here")
        return self.faults


PACKED = ".gz"  # data, on which no claim is based alone
COMMIT = re.compile(r"(?<!SHA-256 )\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")


def result_folders(root):
    """Each results folder, and the commits that its README and manifests name."""
    for folder in sorted(path for path in (root / "bench" / "results").iterdir() if path.is_dir()):
        about = [path.read_text() for path in [folder / "README.md", *folder.glob("*manifest*.json")]
                 if path.exists()]
        yield folder, COMMIT.findall("\n".join(about))


def history(root):
    """The commits of results that the history does not have, and no word says why."""
    told = COMMIT.findall((root / "bench" / "results" / "README.md").read_text())
    for folder, commits in result_folders(root):
        for commit in sorted(set(commits)):
            known = subprocess.run(["git", "-C", root, "cat-file", "-e", commit + "^{commit}"],
                                   capture_output=True, check=False).returncode == 0
            if not known and not any(commit.startswith(short) for short in told):
                yield f"{folder.relative_to(root)}: found the commit {commit}, which is not in the history"


def provenance(root):
    """The faults of the results folders themselves."""
    for folder, commits in result_folders(root):
        name = folder.relative_to(root)
        if re.match(r"\d{4}-\d\d", folder.name):
            yield f"{name}: found a date, expected the name of a benchmark"
        if not (folder / "manifest.json").exists():
            yield f"{name}: found no manifest.json, expected one"
        if not commits:
            yield f"{name}: found no README or manifest that names a commit, expected one"
        changed = [path.name for path in sorted(folder.iterdir())
                   if path.is_file() and path.suffix != PACKED and re.search(
            r"\b[0-9a-f]{7,40}(-dirty|\+changes|-modified)", path.read_text())]
        if changed:
            yield f"{name}: found a commit with changes in {', '.join(changed)}, expected a clean one"


def faults(root):
    files, pages = {}, markdown.pages(root)
    for path in sorted(set((root / "docs").rglob("*.claims")) - {claims_of(root, page) for page in pages}):
        yield f"{path.relative_to(root)}: found claims without their page"
    for path in pages:
        yield from Page(root, path, files).check()
    yield from provenance(root)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--history"]
    root = pathlib.Path(arguments[0]).resolve() if arguments else markdown.ROOT
    found = list(faults(root)) + (list(history(root)) if "--history" in sys.argv else [])
    print(*found, f"{len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
