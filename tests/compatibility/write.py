#!/usr/bin/env python3
"""write.py PROGRAM FOLDER

Writes one small file of each kind that PROGRAM keeps for later runs (models, cuts, indexes, answers, an experiment) into FOLDER, with
the data and the results that a later program must give with them. Run it once for a release and keep the folder beside this script,
named by the version. tests/cli/compatibility_test.py holds every later program to it.
"""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

#: Name of the kept file: the commands that write it. `{of}` is the file.
WRITE = {
    "rules.model": ["fit --train train.txt --members rules --model {of}"],
    "scorecard.model": ["fit --train train.txt --members scorecard --loss point --model {of}"],
    "linear.model": ["fit --train train.txt --members linear --model {of}"],
    "several.model": ["fit --train train.txt --members rules,scorecard,linear --model {of}"],
    "cuts.json": ["discretize --train train.txt --method tube --out-dir cut --cuts {of}",
                  "reduce --train train.txt --discretizer-out {of} --out reduced.tmp"],
    "text.index": ["search text --collection documents.tsv --index {of}"],
    "dense.index": ["search dense --collection rows.fvecs --index {of}"],
    "lc.index": ["search metric --collection rows.fvecs --metric l2 --index-type lc --index {of}",
                 "search metric --collection rows.fvecs --metric l2 --type lc --index {of}",
                 "search metric --collection rows.fvecs --metric l2 --engine lc --index {of}"],
    "words.index": ["search metric --collection words.txt --metric edit --index {of}"],
    "answers.tsv": ["reduce --train pool.txt --unlabelled -1 --oracle file:labels.csv --pending pending.tmp --resume {of} --out reduced.tmp"],
    "experiment": ["experiment --folds folds --systems rules,linear --budgets 20%,100% --ways chosen --out-dir {of}"],
}
#: Name of the kept file: the command that reads it, the same in all versions, and its output.
READ = {
    "rules.model": ("rank --model {of} --test test.txt --out {out}", "rules.scores"),
    "scorecard.model": ("rank --model {of} --test test.txt --out {out}", "scorecard.scores"),
    "linear.model": ("rank --model {of} --test test.txt --out {out}", "linear.scores"),
    "several.model": ("rank --model {of} --test test.txt --out {out}", "several.scores"),
    "cuts.json": ("reduce --train train.txt --discretizer {of} --out {out}", "cut.reduced"),
    "text.index": ("search text --index {of} --queries queries.tsv --k 3 --out {out}", "text.found"),
    "dense.index": ("search dense --index {of} --queries asked.fvecs --k 3 --out {out}", "dense.found"),
    "lc.index": ("search metric --index {of} --queries asked.fvecs --k 3 --out {out}", "lc.found"),
    "words.index": ("search metric --index {of} --queries asked.txt --k 3 --out {out}", "words.found"),
    "answers.tsv": ("reduce --train pool.txt --unlabelled -1 --oracle file:all.csv --resume {of} --out {out}", "answered.reduced"),
    "experiment": ("report {of} --format markdown --out {out}", None),
}


def vectors(path, rows):
    path.write_bytes(b"".join(struct.pack(f"<i{len(row)}f", len(row), *row) for row in rows))


def write_data(run, folder):
    run("sample --documents 240 --features 4 --queries 12 --folds 3 --seed 5 --out-dir folds")
    shutil.copy(folder / "folds/Fold1/train.txt", folder / "train.txt")
    shutil.copy(folder / "folds/Fold1/test.txt", folder / "test.txt")
    lines = (folder / "train.txt").read_text().splitlines()
    (folder / "pool.txt").write_text("".join(f"-1 {line.split(' ', 1)[1]}\n" for line in lines))
    labels = [f"{number},{line.split(' ', 1)[0]}" for number, line in enumerate(lines)]
    (folder / "all.csv").write_text("\n".join(["line,label", *labels]) + "\n")
    (folder / "labels.csv").write_text("\n".join(["line,label", *labels[::2]]) + "\n")
    chance = random.Random(5)
    words = ["".join(chance.choice("abc") for _ in range(4)) for _ in range(30)]
    text = lambda: " ".join(chance.choice(words) for _ in range(8))
    (folder / "documents.tsv").write_text("".join(f"d{n}\t{text()}\n" for n in range(20)))
    (folder / "queries.tsv").write_text("".join(f"q{n}\t{text()}\n" for n in range(3)))
    (folder / "words.txt").write_text("\n".join(dict.fromkeys(words)) + "\n")
    (folder / "asked.txt").write_text("abca\nbbbb\n")
    row = lambda: [chance.randrange(9) for _ in range(3)]
    vectors(folder / "rows.fvecs", [row() for _ in range(40)])
    vectors(folder / "asked.fvecs", [row() for _ in range(3)])


def main():
    program, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True)

    def run(line):
        return subprocess.run(["rulerank", *line.split(), "--quiet"], executable=program, cwd=folder, capture_output=True, text=True)

    def must(line):
        done = run(line)
        if done.returncode:
            sys.exit(f"{line}: {done.stderr}")

    write_data(must, folder)
    kept = []
    for of, ways in WRITE.items():
        failed = []
        for way in ways:  # versions name options differently
            done = run(way.format(of=of))
            if (folder / of).exists():
                break
            failed.append(f"{way}: {done.stderr}")
        else:
            sys.exit("\n".join(failed))
        command, expected = READ[of]
        if expected:
            must(command.format(of=of, out=expected))
        kept.append({"file": of, "command": command, "expected": expected})
    for path in [*folder.glob("*.tmp"), *folder.glob("folds/Fold[2-9]"), folder / "cut"]:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    (folder / "files.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
