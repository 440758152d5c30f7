#!/usr/bin/env python3
"""Tests claims.py with faults in small pages and a small results folder."""

import pathlib
import tempfile
import unittest

import claims

JSONL = ('{"engine": "mt", "seconds": 0.0786}\n{"engine": "tiles", "seconds": 0.001344}\n'
         '{"engine": "tiles", "threads": 2, "seconds": 0.0007}\n')
TABLE = "| system | MAP |\n| :-- | --: |\n| full | 0.4431 |\n| chosen | 0.4423 |\n"
LINK = "[run.jsonl](bench/results/run/run.jsonl)"
RATIO = ('It is\n  from bench/results/run/run.jsonl\n    {} = value("seconds", engine="mt") / '
         'smallest("seconds", engine="tiles")\n')


class Claims(unittest.TestCase):
    def faults(self, page, claimed="", folder="run", **files):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name).resolve()
            folder = root / "bench" / "results" / folder
            folder.mkdir(parents=True)
            (root / "docs").mkdir()
            (root / "README.md").write_text(page)
            (root / "docs" / "README.claims").write_text(claimed)
            files = {"README.md": "commit 0123abc", "manifest.json": "{}", "run.jsonl": JSONL, "table.md": TABLE,
                     **{key.replace("_", "."): text for key, text in files.items()}}
            for file, text in files.items():
                if text is None:
                    continue
                (folder / file).write_text(text)
            return list(claims.faults(root))

    def expect(self, page, *parts, **given):
        """The page has as many faults as parts, and each part is in one of them, in order."""
        found = self.faults(page, **given)
        self.assertEqual(len(found), len(parts), found)
        for fault, part in zip(found, parts):
            self.assertIn(part, fault)

    def test_figure_that_stands_in_the_file(self):
        self.expect(f"It takes 0.001344 s ({LINK}).")
        self.expect(f"It takes 0.00134 s, rounded ({LINK}).")
        self.expect("MAP .4431 ([table](bench/results/run/table.md)).")

    def test_changed_figure(self):
        self.expect(f"It takes 0.001345 s ({LINK}).", "README.md:1: found 0.001345, which is not in run.jsonl")
        self.expect("MAP .4432 ([table](bench/results/run/table.md)).", "found .4432, which is not in table.md")

    def test_figure_without_link(self):
        self.expect("MAP .4431 is what it gets.", "found .4431, expected a link")
        self.expect("NDCG@10 is 0.44.", "found 0.44, expected a link")
        self.expect("It loses -.014 and takes 2.5/3.5 s.", *[f"found {x}, " for x in ("2.5", "3.5", ".014")])
        self.expect("It is 58 x faster, with 893 MB/s and 12.5 % of the labels, p = .003.",
                    *["expected a link"] * 4)

    def test_link_to_another_paragraph_or_to_prose(self):
        self.expect(f"See {LINK}.\n\nIt takes 0.001344 s.", "README.md:3: found 0.001344, expected a link")
        self.expect("It takes 0.001344 s ([prose](bench/results/run/README.md)).", "expected a link")

    def test_broken_link(self):
        self.expect("It takes 5.25 s ([gone](bench/results/run/gone.jsonl)).",
                    "found a link to bench/results/run/gone.jsonl, which is not there", "found 5.25, expected a link")

    def test_few_digits_need_an_equation(self):
        self.expect(f"It is 58 x faster ({LINK}).", "found 58, which is not in run.jsonl")

    def test_equation(self):
        self.expect(f"It is 112 x faster ({LINK}).", claimed=RATIO.format(112))
        self.expect(f"It is 113 x faster ({LINK}).", "found 113, expected 112.286 = ", claimed=RATIO.format(113))
        self.expect(f"It is fast ({LINK}).", "found a claim about 112, which is no figure", claimed=RATIO.format(112))
        self.expect("It is 112 x faster.", "found a claim from bench/results/run/run.jsonl, expected a link", "expected a link",
                    claimed=RATIO.format(112))

    def test_equation_of_several_rows_or_none(self):
        for column, rows in (('engine="tiles"', "found 2 rows"), ('engine="fish"', "found 0 rows")):
            self.expect(f"It takes 1.3 ms ({LINK}).", rows, "found 1.3, which is not in run.jsonl",
                        claimed=f'It takes\n from bench/results/run/run.jsonl\n 1.3 = 1000 * value("seconds", {column})\n')

    def test_equation_is_no_program(self):
        for program in ('__import__("os")', "(1).real"):
            self.expect(f"It takes 1.3 ms ({LINK}).", "expected numbers", "found 1.3",
                        claimed=f"It takes\n  from bench/results/run/run.jsonl\n    1.3 = {program}\n")

    def test_place_of_claims(self):
        self.expect(f"It is 112 x faster ({LINK}).\n\nIt is slow.", "docs/README.claims:1: found 'It is' 2 times in README.md",
                    "found a claim from", claimed=RATIO.format(112))
        self.expect("Nothing.", "README.claims:1: found 'It is' 0 times", claimed=RATIO.format(112))
        self.expect("Nothing.", "README.claims:1: found 'from x', expected", claimed=" from x\n")
        self.expect("Every 10 s.\n\nAfter 10 s.", "README.md:3: found 10", claimed="Every\n  not measured: 10\n")

    def test_table(self):
        head = "See [table](bench/results/run/table.md):\n\n| what | MAP |\n|---|---|\n"
        self.expect(head + "| all | .4431 |\n| chosen | .4423 |\n")
        self.expect(head + "| all | .4431 |\n| chosen | .4424 |\n", "README.md:6: found .4424")
        self.expect("| what | seconds |\n|---|---|\n| all | 17 |\n", "README.md:3: found 17, expected a link")
        self.expect("| what | seconds |\n|---|---|\n| all | 0.0786 " + LINK + " |\n")

    def test_block_of_code(self):
        self.expect("So it was:\n\n```\nMAP 0.4431\n```\n", "README.md:3: found 0.4431, expected a link")
        self.expect("See [table](bench/results/run/table.md):\n\n```\nMAP 0.4431\n```\n")
        self.expect("What examples.py runs:\n\n```console\nMAP 0.4431\n```\n")

    def test_what_is_no_measurement(self):
        self.expect("A line every 10 s.", claimed="A line\n  not measured: 10\n")
        self.expect("A line now and then.", "found a claim about 10", claimed="A line\n  not measured: 10\n")
        self.expect("Each:\n\n| what | time |\n|---|---|\n| a | 10 |\n", claimed="Each:\n  not measured: table\n")
        self.expect("Rule size 3, k = 30, `--lambda 0.15`, 64 threads, `12 x`.")

    def test_provenance(self):
        self.expect("", "names a commit", README_md="no commit here")
        self.expect("", "names a commit", README_md="LightGBM (SHA-256 0123abc)")
        self.expect("", "found no manifest.json", manifest_json=None)
        self.expect("", "found a date", folder="2026-11-23-run")
        self.expect("", "found a commit with changes in run.jsonl", run_jsonl='{"commit": "0123abc-dirty"}')
        self.expect("", "found a commit with changes in run.jsonl", run_jsonl='{"commit": "0123abc+changes"}')


if __name__ == "__main__":
    unittest.main()
