#!/usr/bin/env python3
"""house.py OUT [COMMIT...]: measures the size and the coupling of the sources at each commit, from git.

OUT gets table.md with a column for each commit, and manifest.json, which names the commits. Nothing is checked out or built. Sources
are C++, CUDA, Python, JavaScript and CSS; a module is a root folder.

A line is duplicated if it belongs to a run of 10 or more lines that occurs in two or more places of the C++ and CUDA sources. Blank
lines, comments, includes and lines without a letter are ignored, and so are blanks within a line.
"""

import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from long_functions import MOST, functions  # noqa: E402

CPP = {".cpp", ".hpp", ".cu", ".cuh"}
SOURCES = CPP | {".py", ".js", ".css", ".c"}
RUN = 10  # lines of a duplicate, at least


def git(*arguments, data=None):
    return subprocess.run(["git", "-C", ROOT, *arguments], input=data, capture_output=True, check=True).stdout


def files_of(commit):
    """path: (bytes of the blob, its text or None if it is not text)."""
    entries = [re.fullmatch(r"\S+ blob (\w+) +(\d+)\t(.*)", line) for line in
               git("-c", "core.quotePath=false", "ls-tree", "-r", "-l", commit).decode().splitlines()]
    entries = [entry for entry in entries if entry]
    stream = git("cat-file", "--batch", data="\n".join(entry[1] for entry in entries).encode())
    files, at = {}, 0
    for entry in entries:
        begin = stream.index(b"\n", at) + 1
        at = begin + int(entry[2]) + 1
        try:
            text = stream[begin:at - 1].decode()
        except UnicodeDecodeError:
            text = None
        files[entry[3]] = int(entry[2]), text
    return files


def is_test(path):
    return bool(re.search(r"_test\.\w+$|(^|/)tests/", path))


def public_headers(files):
    """The headers that modules list as public, except those of modules marked INTERNAL."""
    found = set()
    for path, (_, text) in files.items():
        if not path.endswith("CMakeLists.txt") or text is None:
            continue
        for call in re.findall(r"^rulerank_module\(([^)]*)\)", re.sub(r"#.*", "", text), re.M):
            words = call.split()
            if "INTERNAL" in words or "PUBLIC_HEADERS" not in words:
                continue
            for word in words[words.index("PUBLIC_HEADERS") + 1:]:
                if re.fullmatch(r"[A-Z_]{4,}", word):
                    break
                found.add((pathlib.PurePosixPath(path).parent / word).as_posix())
    return found


def duplicated_lines(sources):
    """The number of lines in runs that occur at least twice, and the number of all lines."""
    places, lines = collections.defaultdict(list), {}
    for path, text in sources.items():
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        kept = ["".join(line.split()) for line in text.split("\n")]
        lines[path] = [line for line in kept if re.search(r"[A-Za-z]", line) and not line.startswith("#include")]
        for i in range(len(lines[path]) - RUN + 1):
            places["\n".join(lines[path][i:i + RUN])].append((path, i))
    again = {(path, i + k) for found in places.values() if len(found) > 1 for path, i in found for k in range(RUN)}
    return len(again), sum(map(len, lines.values()))


def measured(commit):
    """name: value, in the order of the table."""
    files = files_of(commit)
    texts = {path: text for path, (_, text) in files.items() if text is not None}
    sources = {path: text for path, text in texts.items() if pathlib.PurePosixPath(path).suffix in SOURCES}
    cpp = {path: text for path, text in sources.items() if pathlib.PurePosixPath(path).suffix in CPP}
    lines = {path: text.count("\n") for path, text in sources.items()}
    product = {path: count for path, count in lines.items() if not is_test(path)}
    levels = collections.Counter(pathlib.PurePosixPath(path).parent.as_posix() for path in files)
    public = public_headers(files)
    roots = {path.split("/")[0] for path in cpp}
    crossing, private = 0, 0
    for path, text in cpp.items():
        for header in re.findall(r'^#include "([^"]+)"', text, re.M):
            if header.split("/")[0] in roots - {path.split("/")[0]}:
                crossing += 1
                private += header not in public
    longest = max(((count, f"{name} in {path}") for path, text in cpp.items()
                   for _, count, name in functions(text)), default=(0, ""))
    long = sum(count > MOST for text in cpp.values() for _, count, _ in functions(text))
    file = max(cpp, key=lines.get)
    code = max((path for path in cpp if not is_test(path)), key=lines.get)
    folder = max(levels, key=levels.get)
    sourced = max((path for path in levels if path.split("/")[0] in roots), key=levels.get)
    twice, of = duplicated_lines(cpp)
    results = {path for path in files if path.startswith("bench/results/")}
    table = {
        "files": len(files),
        "checkout, bytes": sum(size for size, _ in files.values()),
        "`bench/results`, files": len(results),
        "`bench/results`, bytes": sum(files[path][0] for path in results),
        "lines of sources": sum(lines.values()),
        "lines of sources without tests": sum(product.values()),
        "lines of pages (Markdown)": sum(text.count("\n") for path, text in texts.items()
                                         if path.endswith(".md") and path not in results),
        "most files on one level": f"{levels[folder]:,} (`{folder}`)",
        "most files on one level, of a folder with C++": f"{levels[sourced]:,} (`{sourced}`)",
        "includes that cross modules": crossing,
        "these of private headers": private,
        "public headers": len(public),
        "longest C++ file, lines": f"{lines[file]:,} (`{file}`)",
        "longest C++ file without tests, lines": f"{lines[code]:,} (`{code}`)",
        "longest function, lines": f"{longest[0]:,} (`{longest[1].split(' in ')[0]}`)",
        f"functions of more than {MOST} lines": long,
        f"duplicated lines (runs of {RUN} or more)": twice,
        "lines that were compared for it": of,
    }
    for root in sorted(roots | {"python"}):
        if of_root := sum(n for path, n in product.items() if path.startswith(root + "/")):
            table[f"lines in `{root}/`, without tests"] = of_root
    return table


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    commits = [git("rev-parse", "--short=8", name).decode().strip() for name in sys.argv[2:] or ["efd0518", "HEAD"]]
    columns = [measured(commit) for commit in commits]
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = [["what", *commits], [":--", *["--:"] * len(commits)]]
    for name in names:
        cells = [column.get(name, 0) for column in columns]
        rows.append([name, *(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells)])
    out.mkdir(parents=True, exist_ok=True)
    (out / "table.md").write_text("".join("| " + " | ".join(row) + " |\n" for row in rows))
    manifest = {
        "date": datetime.date.today().isoformat(),
        "commits": {commit: git("show", "-s", "--format=%cI %s", commit).decode().strip() for commit in commits},
        "clean": True,
        "machine": "any: the script reads git alone",
        "data": "the sources of these commits",
        "commands": ["bench/house.py bench/results/house " + " ".join(commits)],
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
