"""Small inputs from the field, each read as intended or refused with its position: the cases of ../shared/cases/field. Each case is
a folder whose README has the command."""

import dataclasses
import itertools
import os
import pathlib
import re
import shlex
import shutil

import harness

CASES = pathlib.Path(os.environ.get(
    "RULERANK_FIELD_CASES", pathlib.Path(__file__).resolve().parents[2].parent / "shared/cases/field"))


@dataclasses.dataclass
class Case:
    name: str
    output: list  # the beginning of each line of standard output
    message: str = ""  # a part of standard error
    code: int = 0
    more: str = ""  # options after the README's command
    instead: str = ""  # a command instead of the README's


ROWS = [
    Case("baskets-comment", ["bread (50)", "bread sugar (50)", "coffee (75)", "coffee milk (75)",
                             "coffee milk sugar (50)", "coffee sugar (50)", "milk (75)", "milk sugar (50)", "sugar (75)"],
         "m_hash.txt:1: left out 3 lines of comments"),
    Case("baskets-long", [], 'm_long.csv:1:1: found the header "order,item", expected items', 3),
    Case("baskets-long", ["juice (2)", "milk (2)"],
         instead="rulerank mine --transactions m_long.csv --form pairs --separator , --min-support 2"),
    Case("baskets-quoted", ["bread (2)", "milk (2)", "tomato, green (2)"]),
    Case("baskets-trailing-commas", ["coffee (2)", "coffee yogurt (2)", "whole milk (2)", "yogurt (2)"]),
    Case("bz2", [], "s_ranklib.txt.bz2:1:1: found bzip2, expected text, gzip or zstd", 3),
    Case("csv-pandas-index", ["", "", "", ""], "c_index.csv: left out the first column, which has no name"),
    Case("csv-text-column", ["", ""], "n_query.csv: left out the column query, whose values are not numbers"),
    Case("csv-text-column", ["", ""], more="--skip-columns query"),
    Case("edit-nfd", ["0\t1\t0\t0"]),
    Case("fimi-spmf-lines", ["apple (3)", "apple orange (2)", "apple tomato (2)", "orange (2)", "tomato (2)"]),
    Case("fuse-single-hit", ["q1 Q0 Y 1 1 ", "q1 Q0 Z 2 0.5 ", "q1 Q0 X 3 0 "]),
    Case("fuse-single-hit", ["q1 Q0 X 1 1.1111111111111112 ", "q1 Q0 Y 2 1 ", "q1 Q0 Z 3 0.5555"], more="--norm max"),
    Case("group-bom", ["1", "0"]),
    Case("jsonl-gold", ["0\t1\td1\t"], "left out the members reasoning, gold_ids and gold_answer"),
    Case("jsonl-qid-query", ["1\t1\t1\t"]),
    Case("mine-share-digits", ["1 (", "1 2 (", "2 (", "3 ("]),
    Case("npy-fortran", ["0\t1\t40\t0.4722992435348633"]),
    Case("qrels-csv-quepid", [], "run_q.txt:1:1: found no query that q_quepid.csv judges", 3),
    Case("qrels-float", ["profile trec; 2 queries", "system MAP NDCG", "run_q 1.0000 0.9567"]),
    Case("run-blank-docid", [], "run_spaceid.txt:1:11: found 'York' as rank in a line of 7 words", 3),
    Case("run-msmarco", ["profile trec; 2 queries", "system MRR", "ms3 0.7500"]),
    Case("scores-catboost", ["profile letor; 1 query", "system MAP", "cb 1.0000"]),
    Case("self-hits", ["a1\t1\ta2\t"], more="--leave-out-self"),
    Case("svm-comment-docid", [f"1 Q0 {document} " for document in (1366, 1246, 1367, 1368, 1370, 55146, 61410)]),
    Case("text-elision-fr", [f"{query}\t{rank}\t{document}\t" for query, found in
                                 (("309", ("d3", "d1")), ("319", ("d1", "d3")), ("320", ("d3", "d2")), ("318", ("d3", "d2")))
                                 for rank, document in enumerate(found, 1)]),
    Case("topics-fire", ["176\t1\ta\t"]),
    Case("topics-xml-web", ["101\t1\t", "101\t2\t"]),
    Case("trec-entities", ["q1\t1\td1\t", "q2\t1\td1\t"]),
    Case("trec-less-than", ["q1\t1\td1\t"]),
    Case("tsv-header-docs", ["q1\t1\t1\t"]),
    Case("utf16-words", ["", ""]),
    Case("words-with-counts", ["0\t1\t0\t2"], "read as a word and its count; the counts"),
]


class Field(harness.CommandLine):
    def run_case(self, case):
        folder = CASES / case.name
        for path in folder.iterdir():
            shutil.copy(path, self.folder)
        readme = (folder / "README").read_text()
        command = case.instead or re.search("^command: (.*)$", readme, re.MULTILINE).group(1)
        words = shlex.split(f"{command} {case.more}")
        self.assertEqual(words[0], "rulerank")
        return self.expect(case.code, *words[1:], message=case.message).stdout.decode()

    def test_the_cases(self):
        if not CASES.is_dir():
            self.skipTest(f"needs {CASES}, or its path in $RULERANK_FIELD_CASES")
        for case in ROWS:
            with self.subTest(f"{case.name} {case.more}".strip()):
                lines = [line if "\t" in line else " ".join(line.split()) for line in self.run_case(case).splitlines()]
                for found, begin in itertools.zip_longest(lines, case.output, fillvalue=""):
                    self.assertTrue(found.startswith(begin), f"{found!r}, expected {begin!r} ...")


if __name__ == "__main__":
    harness.main()
