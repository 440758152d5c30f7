"""Tests the cost model of bench/mpi/mpi_model.py: it recovers known costs, and reports a held-out error."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).parents[2] / "bench"
LATENCY, BYTE = 2e-4, 4e-9  # seconds
JOBS = {"text": (0.3, 1e-9, 0, 4e-8), "reduce": (0.2, 2e-5, 1e-5, 3e-4)}


def rows(slower=1.0):
    """`slower`: what four ranks take more than the model says."""
    for job, (start, alone, threaded, shared) in JOBS.items():
        for size in (0.5, 1, 2):
            for threads in (1, 4):
                for ranks in (1, 2, 4):
                    work = size * (1e8 if job == "text" else 2e4)
                    exchanges, moved = (10, 4e6) if job == "text" else (400, 1e5)
                    if ranks == 1:
                        exchanges = moved = 0
                    seconds = (start + alone * work + threaded * work / threads + shared * work / threads / ranks +
                               LATENCY * exchanges + BYTE * moved)
                    yield {"job": job, "size": size, "threads": threads, "ranks": ranks, "round": 0, "shared_seconds": None,
                           "seconds": seconds * (slower if ranks == 4 else 1), "exchanges": exchanges, "exchanged_bytes": moved,
                           "peak_memory_bytes": 1e7 + (1 if job == "text" else 1000 + 3000 / ranks) * work, "queries": 1000,
                           "work": work, "sha256": ""}


class ClusterModel(unittest.TestCase):
    def fit(self, of, beyond=()):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in of))
            (folder / "far").mkdir()
            (folder / "far/rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in beyond))
            more = ["--beyond", folder / "far"] if beyond else []
            subprocess.run([sys.executable, BENCH / "mpi/mpi_model.py", folder, folder / "out", *more], check=True)
            self.assertIn("Held out", (folder / "out/model.md").read_text())
            return json.loads((folder / "out/model.json").read_text())

    def test_finds_the_costs(self):
        told = self.fit(rows())
        self.assertLess(told["held_out"]["largest_percent"], 1)
        for job, costs in JOBS.items():
            self.assertAlmostEqual(told["jobs"][job]["d"] / costs[3], 1, delta=0.02)
            self.assertAlmostEqual(told["jobs"][job]["a"], costs[0], delta=0.02)
        self.assertAlmostEqual(told["jobs"]["reduce"]["bytes_an_item"], 1000, delta=10)
        self.assertAlmostEqual(told["jobs"]["reduce"]["bytes_an_item_of_part"], 3000, delta=30)
        self.assertAlmostEqual(told["needs"]["label_from"]["gib_a_machine"], 4e10 / 2**30, delta=0.5)
        needs = told["needs"]["text_at_10000"]  # 1 million texts: 0.04 s of a thread for a query
        self.assertAlmostEqual(needs["thread_seconds_a_query"], 0.04, delta=0.001)
        self.assertAlmostEqual(needs["machines"], 25, delta=1)
        self.assertAlmostEqual(told["needs"]["text_of_a_billion"]["gib"], 1e7 / 2**30 + 1e12 / 2**30, delta=1)
        self.assertEqual(told["needs"]["text_of_a_billion"]["parts"], 4)

    def test_tells_an_error_of_what_it_has_not_seen(self):
        told = self.fit(rows(slower=1.5))
        self.assertGreater(told["held_out"]["largest_percent"], 10)
        self.assertTrue(all(one["ranks"] == 4 and one["size"] == 2 for one in told["held_out_runs"]))

    def test_tells_the_error_beyond_its_rows(self):
        far = [{**row, "work": 10 * row["work"], "size": 20, "seconds": 12.0} for row in rows() if row["size"] == 2
               and row["job"] == "text"]
        told = self.fit(rows(), [*far, {**far[0], "job": "unknown"}])
        self.assertEqual(told["beyond"]["runs"], len(far))
        start, alone, _, shared = JOBS["text"]
        one = next(row for row in told["beyond_runs"] if (row["threads"], row["ranks"]) == (1, 1))
        self.assertAlmostEqual(one["model"], start + (alone + shared) * 2e9, delta=1)
        self.assertAlmostEqual(one["error_percent"], 100 * (one["model"] / 12 - 1), delta=0.1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
