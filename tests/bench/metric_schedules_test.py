#!/usr/bin/env python3
"""Tests the figures of bench/metric_schedules.py: worked by hand, and from files that end in the middle of a line."""

import gzip
import importlib.util
import itertools
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import common
import metric_schedules

DEALT = ("local", "bulk-local", "bulk-circular", "hybrid")
THREADS = (1, 2, 4)
DATA = {"words": [(1, ""), (2, "")], "vectors": [(1.5, ".1"), (4.5, "1")]}


def heads(data, indexes=("lc", "sss")):
    for index, (radius, share) in itertools.product(indexes, DATA[data]):
        yield {"data": data, "objects": 100, "queries": 10, "index": index, "radius": radius, "share": share}


def seconds_of(schedule, threads):
    """`local` needs 4 seconds divided by the threads; the other schedules need up to a few quarters of a second more."""
    return 4.0 / threads + (0 if threads == 1 else 0.25 * ("local", "shared", *DEALT[1:]).index(schedule))


def counted_rows(data):
    for head in heads(data):
        yield {**head, "row": "index", "evaluations": 40, "found": 2, "build_s": 0.5}
        for threads, schedule, traffic in itertools.product(THREADS, DEALT, ("high", "low")):
            yield {**head, "row": "counted", "schedule": schedule, "threads": threads, "superstep": 1024, "traffic": traffic,
                   "end": 10 / threads, "throughput": threads, "response": 1, "efficiency": 1, "unit_efficiency": 1,
                   "evaluations": 40, "supersteps": 3, "messages": 4}
        for parts in THREADS[1:]:
            yield {**head, "row": "split", "parts": parts, "end": 3, "evaluations": 60, "seconds": 1, "build_s": 0.5}


def timed_rows(data, index):
    """The rows of several threads, with low traffic on the largest number of threads."""
    for head in heads(data, [index]):
        yield {**head, "row": "index", "evaluations": 40, "found": 2, "build_s": 0.5}
        for threads, schedule in itertools.product(THREADS[1:], ("shared", *DEALT)):
            yield {**head, "row": "seconds", "schedule": schedule, "threads": threads, "superstep": 1024,
                   "seconds": seconds_of(schedule, threads), "efficiency": 1, "supersteps": 3, "messages": 4, "critical": 0}
            if threads == THREADS[-1]:
                yield {**head, "row": "clocked", "schedule": schedule, "threads": threads, "superstep": 1024, "traffic": "low",
                       "unit_s": 0.4, "end": 10 * seconds_of(schedule, threads), "throughput": 2, "response": 1.5, "efficiency": 1}
        for parts in THREADS[1:]:
            yield {**head, "row": "split", "parts": parts, "end": 3, "evaluations": 60, "seconds": 3.0, "build_s": 0.5}


def alone_rows(data, index):
    for head in heads(data, [index]):
        yield {**head, "row": "seconds", "schedule": "local", "threads": 1, "superstep": 1024, "seconds": 4.0,
               "efficiency": 1, "supersteps": 0, "messages": 0, "critical": 0}


def jobs():
    """All lines of a whole run, by name."""
    some = {data: list(counted_rows(data)) for data in DATA}
    for data, index in itertools.product(DATA, ("lc", "sss")):
        some[f"seconds-{data}-{index}"] = list(timed_rows(data, index))
        some[f"seconds-{data}-{index}-1"] = list(alone_rows(data, index))
    some["critical"] = [{**row, "critical": 9} for row in timed_rows("words", "lc") if row["row"] != "clocked"]
    counted = [row for row in counted_rows("words") if row["row"] == "counted" and row["threads"] == 4]
    some["figure-3.5"] = [{**row, "traffic": "figure-3.5"} for row in counted if row["traffic"] == "high"]
    some["supersteps"] = [{**row, "superstep": length} for row in counted for length in (64, 1024)]
    return some


class Drawn(unittest.TestCase):
    def draw(self, some, cores=16, kept=None):
        """tables.md, and the panels of each figure by its name; none is empty. `kept` is the name of the one file of a run."""
        with tempfile.TemporaryDirectory(prefix="rulerank-bench-") as name:
            out = pathlib.Path(name)
            for job, rows in ({} if kept else some).items():
                (out / f"{job}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
            if kept:
                with (gzip.open if kept.endswith(".gz") else open)(out / kept, "wt") as lines:
                    lines.writelines(json.dumps({"case": job, **row}) + "\n" for job, rows in some.items() for row in rows)
            manifest = {"files": {f"{job}.jsonl": {"build": f"commit 0, a processor, {cores} cores"} for job in some}}
            (out / "manifest.json").write_text(json.dumps(manifest))
            with unittest.mock.patch.object(common, "draw") as drawn:
                metric_schedules.draw(out)
            figures = {call.args[0].name: call.args[1] for call in drawn.call_args_list}
            for panel in itertools.chain(*figures.values()):
                self.assertTrue(any(line.points for line in panel.lines) if isinstance(panel, common.Lines) else
                                any(value is not None for _, values in panel.groups for value in values), panel.title)
            return (out / "tables.md").read_text(), figures

    def test_whole_lines_give_all_figures(self):
        tables, figures = self.draw(jobs())
        self.assertEqual(sorted(figures), sorted(
            ["figure-3.2.svg", "figure-3.5.svg", "figure-3.6.svg", "figure-3.7.svg", "figure-3.8.svg", "figure-3.9.svg",
             *(f"figure-{figure}-{data}.svg" for figure in ("3.3", "3.4", "3.10", "3.11") for data in DATA),
             *(f"figure-{figure}-{data}-seconds.svg" for figure in ("3.3", "3.4", "3.7", "3.10") for data in DATA)]))
        # Four threads: local 1 s, shared 1.25, then 1.5, 1.75 and 2, of 10 queries; alone 4.
        self.assertIn("Figure 3.3 by the clock, words: 4 threads", tables)
        self.assertIn("Of the largest, 200 ms a query", tables)
        self.assertIn("| `lc`, r = 1 | 0.625 | 0.500 | 0.750 | 0.875 | 1.000 | 400.000 |", tables)
        self.assertIn("speed-up over one thread, r = 2", tables)
        self.assertIn("| `lc`, bulk-circular | 1.455 | 2.286 |", tables)
        self.assertIn("| `lc`, r = 1 | 100.000 | 300.000 | 3.000 | 0.500 |", tables)
        self.assertIn("| `sss`, 1 % | 10 | 400.000 | 0.500 | 1.500 | 0.500 | 1.500 |", tables)

    def test_a_run_that_is_kept_as_one_file(self):
        whole = self.draw(jobs())
        for kept in ("rows.jsonl", "rows.jsonl.gz"):
            with self.subTest(kept):
                self.assertEqual(self.draw(jobs(), kept=kept), whole)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
    def test_figures_are_svg_and_the_same_each_time(self):
        _, figures = self.draw(jobs())
        with tempfile.TemporaryDirectory(prefix="rulerank-bench-") as name:
            for figure, panels in figures.items():
                with self.subTest(figure):
                    one, two = pathlib.Path(name) / figure, pathlib.Path(name) / "again.svg"
                    for path in (one, two):
                        common.draw(path, panels, len(panels))
                    self.assertEqual(one.read_bytes(), two.read_bytes())
                    texts = [of.text for of in xml.etree.ElementTree.parse(one).iter() if of.text]
                    for panel in panels:
                        self.assertIn(panel.title, texts)
                    self.assertLessEqual(set(panels[0].labels if isinstance(panels[0], common.Bars) else
                                             [line.label for line in panels[0].lines if line.points]), set(texts))

    def test_threads_without_cores_are_not_compared(self):
        tables, _ = self.draw(jobs(), cores=2)
        self.assertIn("Figure 3.3 by the clock, words: 2 threads", tables)
        self.assertNotIn("Figure 3.3 by the clock, words: 4 threads", tables)

    def test_the_largest_radius_that_was_got_through(self):
        several = list(timed_rows("vectors", "lc"))
        larger = next(i for i, row in enumerate(several) if row["share"] == "1" and row.get("threads") == 4)
        tables, figures = self.draw({"seconds-vectors-lc": several[:larger + 1],
                                     "seconds-vectors-lc-1": list(alone_rows("vectors", "lc"))})
        self.assertIn("speed-up over one thread, .1 %", tables)
        self.assertNotIn(", 1 %", tables)
        self.assertIn("figure-3.7-vectors-seconds.svg", figures)

    def test_no_index_got_through_the_most_threads(self):
        several = list(timed_rows("words", "lc"))
        first = next(i for i, row in enumerate(several) if row.get("threads") == 4)
        tables, _ = self.draw({"seconds-words-lc": several[:first + 1], "seconds-words-lc-1": list(alone_rows("words", "lc"))})
        self.assertIn("Figure 3.3 by the clock, words: 2 threads", tables)
        self.assertIn("| `lc`, r = 1 | 0.750 |", tables)

    def test_lines_cut_off_anywhere_are_drawn(self):
        whole = jobs()
        for job, rows in whole.items():
            for kept in range(len(rows)):
                with self.subTest(job=job, kept=kept):
                    for others in ({}, whole) if kept % 10 == 0 else ({},):
                        tables, _ = self.draw({**others, job: rows[:kept],
                                               **({f"{job}-1": whole[f"{job}-1"]} if f"{job}-1" in whole else {})})
                        self.assertTrue(tables.startswith("# Schedules of queries"))


class CutOff(unittest.TestCase):
    def test_lines_until_then_stay(self):
        with tempfile.TemporaryDirectory(prefix="rulerank-bench-") as name:
            folder = pathlib.Path(name)
            bench, out = folder / "bench", folder / "out"
            head = json.dumps({**list(alone_rows("words", "lc"))[0], "threads": 4})
            bench.write_text(f"#!/bin/sh\necho 'commit 0, a processor, 16 cores' >&2\necho '{head}'\nexec sleep 3000\n")
            bench.chmod(0o755)
            for limit in ("1", "10", "100"):  # until a machine, however busy, has come to the line
                arguments = ["metric_schedules.py", str(bench), str(out), "--words", "w", "--vectors", "v", "--only", "critical",
                             "--limit", limit, "--note", "alone"]
                with unittest.mock.patch.object(sys, "argv", arguments):
                    metric_schedules.main()
                if (out / "critical.jsonl").read_text():
                    break
            manifest = json.loads((out / "manifest.json").read_text())
            self.assertEqual(manifest["note"], "alone")
            self.assertTrue(manifest["files"]["critical.jsonl"]["cut_off"])
            self.assertEqual(manifest["files"]["critical.jsonl"]["build"], "commit 0, a processor, 16 cores")
            self.assertEqual((out / "critical.jsonl").read_text(), head + "\n")
            self.assertIn("| `lc`, r = 1 | local | 1.000 |", (out / "tables.md").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
