"""Signals during the work and full disks: exit codes, an end within a second, and no incomplete file. experiment_test.py continues
interrupted experiments."""

import functools
import os
import shutil
import signal
import struct

import harness


class Interruption(harness.CommandLine):
    def setUp(self):
        super().setUp()
        # So much that few machines are done before the signal comes.
        self.expect(0, "sample", "--documents", "60000", "--features", "60", "--queries", "60",
                    "--folds", "1", "--out-dir", "drawn")
        train = next((self.folder / "drawn").rglob("train.txt"))
        self.out = self.folder / "out"
        self.old = {name: harness.OLD for name in ("r.txt", "r.tsv", "r.run")}
        self.lay_out()
        out = ["--train", train, "--out", self.out / "r.txt", "--device", "cpu"]
        for name, rows in (("base", 200000), ("asked", 40000)):
            (self.folder / f"{name}.u8bin").write_bytes(struct.pack("<2I", rows, 128) + os.urandom(rows * 128))
        for name, rows, words in (("docs", 20000, 60), ("topics", 2000, 5)):
            (self.folder / f"{name}.tsv").write_text("".join(
                f"{d}\t{' '.join(f'w{(d * 7919 + w * w * 31) % 4001}' for w in range(words))}\n" for d in range(rows)))
        rank = ["rank", *out, "--run", self.out / "r.run", "--test", train, "--rule-size", "6"]
        self.lines = {
            "reduce": ["reduce", *out, "--ids", self.out / "r.tsv", "--rule-size", "4",
                       "--engine", "ssarp"],
            "rank": [*rank, "--engine", "project"],
            "rank, lrar": [*rank[:-1], "4", "--engine", "lrar", "--cache-memory", "64MB"],
            "search dense": ["search", "dense", "--collection", "base.u8bin", "--queries", "asked.u8bin",
                             "--device", "cpu", "--out", self.out / "r.txt", "--run", self.out / "r.run"],
            "search dense, radius": ["search", "dense", "--collection", "base.u8bin", "--queries", "asked.u8bin",
                                     "--device", "cpu", "--radius", "1", "--out", self.out / "r.txt"],
            "search metric": ["search", "metric", "--collection", "base.u8bin", "--queries", "asked.u8bin", "--device", "cpu",
                              "--metric", "l1", "--index-type", "brute", "--out", self.out / "r.txt",
                              "--run", self.out / "r.run"],
            "search metric, radius": ["search", "metric", "--collection", "base.u8bin", "--queries", "asked.u8bin", "--device",
                                      "cpu", "--metric", "l1", "--index-type", "brute", "--radius", "1", "--out",
                                      self.out / "r.txt"],
            "search metric, index": ["search", "metric", "--collection", "base.u8bin", "--queries", "asked.u8bin", "--metric",
                                     "l1", "--index-type", "lc", "--index", self.out / "r.tsv", "--out", self.out / "r.txt"],
            "features": ["features", "--collection", "docs.tsv", "--topics", "topics.tsv", "--device", "cpu", "--candidates",
                         "1000", "--out", self.out / "r.txt", "--candidates-out", self.out / "r.run"],
            # Soon done with one system, never with the other.
            "experiment": [*self.EXPERIMENT, "--rank-size", "2,6", "--out-dir", self.out / "e"],
        }

    EXPERIMENT = ["experiment", "--folds", "drawn", "--reduce-size", "none", "--baselines", "full",
                  "--device", "cpu", "--permutations", "1"]

    def lay_out(self):
        """The outputs of an earlier run, and nothing else."""
        shutil.rmtree(self.out, ignore_errors=True)
        os.mkdir(self.out)
        for name, data in self.old.items():
            (self.out / name).write_bytes(data)

    def has_written(self):
        """Whether an output is in the place of an old file, or the experiment has the results of both systems."""
        return (any((self.out / name).read_bytes() != data for name, data in self.old.items()) or
                (self.out / "e" / "scores" / "full-rank-6" / "Fold1.txt").exists())

    def held(self, line):
        """A program that is held in the middle of its work."""
        def begin(share):
            self.lay_out()
            process = self.start(*line)
            self.let_work(process, .7 * share)
            if line[0] == "experiment":
                self.wait_until((self.out / "e" / "runs" / "full-rank-2" / "Fold1.run").exists, process)
            return process

        return self.held_at_work(begin, self.has_written)

    @functools.cached_property
    def whole(self):
        """The files that a complete experiment writes for the system that was finished before the interruption."""
        self.expect(0, *self.EXPERIMENT, "--rank-size", "2", "--out-dir", "whole")
        return {f"e/{name}": data for name, data in self.files_in(self.folder / "whole", without=()).items()}

    def check_output(self):
        """The old files are as they were. An experiment keeps what it has of a fold, each file
        with the bytes that one which is not interrupted writes."""
        left = self.files_in(self.out, without=())
        self.assertEqual({name: left.pop(name, None) for name in self.old}, self.old)
        if not (self.out / "e").exists():
            self.assertEqual(left, {})
            return
        self.assertEqual(sorted(left), ["e/reduced/Fold1-cuts.json", "e/runs/full-rank-2/Fold1.run",
                                        "e/scores/full-rank-2/Fold1.txt"])
        for name, data in left.items():
            self.assertTrue(data == self.whole[name], f"{name} has other bytes")
        shutil.rmtree(self.out / "e")

    def check_interrupted(self, process, patience):
        errors = self.expect_end(process, patience)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("rulerank: error: interrupted\n", errors)
        self.check_output()

    def test_slow_signals_stop_within_a_second(self):
        for name, line in self.lines.items():
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(name, signal=number):
                    process = self.held(line)
                    process.send_signal(number)
                    self.check_interrupted(process, 1.2)

    def test_a_second_signal_ends_it_at_once(self):
        process = self.held(self.lines["reduce"])
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)  # two of a kind that come while it is held would be one
        self.check_interrupted(process, 1.0)

    def test_a_kill_leaves_no_half_file(self):
        for name, line in self.lines.items():
            with self.subTest(name):
                process = self.held(line)
                process.kill()
                process.communicate(timeout=harness.HANGS)
                self.assertEqual(process.returncode, -signal.SIGKILL)
                self.check_output()

    def test_signals_while_it_waits_for_its_input(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.start_fed(b"0 qid:1 1:1\n0 qid:2 1:2\n", "rank", "--train", train, "--test", "-", "--out",
                                         self.out / "r.txt")
                self.expect_stopped(process, number)
                self.check_output()


class FullDisk(harness.CommandLine):
    """No file of the program may grow beyond a limit, which is met where a disk would be full."""

    TRAIN = b"".join(b"%d qid:%d 1:%d 2:%d 3:%d\n" % (d % 3, d // 8, d % 7, d % 5, d % 4)
                     for d in range(200))

    def test_every_verb(self):
        self.file("train.txt", self.TRAIN)
        self.file("scores", b"1\n" * 200)
        self.file("docs.tsv", b"".join(b"D%d\trye bread %d\n" % (d, d % 7) for d in range(60)))
        self.file("topics.tsv", b"T1\trye bread\nT2\tbread 5\n")
        self.file("few.txt", b"".join(b"-1 qid:1 1:%d 2:5 # docid = D%d\n" % (d, d) for d in range(60)))
        self.file("own.txt", b"0 qid:1 7:2 # docid = D3\n")
        os.mkdir(self.folder / "d")
        train = ["--train", "train.txt"]
        lines = {
            "reduce": ["reduce", *train, "--out", "d/o"],
            "reduce, ids": ["reduce", *train, "--out", "/dev/null", "--ids", "d/o"],
            "reduce, model": ["reduce", *train, "--out", "/dev/null", "--model", "d/o"],
            "fit": ["fit", *train, "--model", "d/o"],
            "rank": ["rank", *train, "--test", "train.txt", "--out", "d/o"],
            "rank, run": ["rank", *train, "--test", "train.txt", "--out", "/dev/null", "--run",
                          "d/o"],
            "discretize": ["discretize", *train, "--out-dir", "d"],
            "evaluate": ["evaluate", "--test", "train.txt", "--scores", "scores", "--per-query",
                         "--out", "d/o"],
            "split": ["split", "--in", "train.txt", "--folds", "3", "--out-dir", "d"],
            "sample": ["sample", "--documents", "600", "--features", "9", "--queries", "30",
                       "--folds", "1", "--out-dir", "d"],
            "features": ["features", "--collection", "docs.tsv", "--topics", "topics.tsv", "--out", "d/o"],
            "features, candidates": ["features", "--collection", "docs.tsv", "--topics", "topics.tsv", "--out", "/dev/null",
                                     "--candidates-out", "d/o"],
            "features, joined": ["features", "--pool", "few.txt", "--join", "own.txt", "--out", "d/o"],
            "manifest": ["engines", "--manifest", "d/o"],
        }
        for name, line in lines.items():
            for old in ({}, {"o": harness.OLD}):
                with self.subTest(name, old=bool(old)):
                    for file, data in old.items():
                        (self.folder / "d" / file).write_bytes(data)
                    self.expect_full_disk(90, *line)
                    self.assertEqual(self.files_in(self.folder / "d", without=()), old)
                    (self.folder / "d" / "o").unlink(missing_ok=True)

    def test_rank_in_the_middle_of_its_output(self):
        train = self.file("train.txt", self.TRAIN)
        test = self.file("test.txt", b"".join(b"0 qid:%d 1:%d 2:%d 3:%d\n" %
                                              (d // 9, d % 7, d % 5, d % 4) for d in range(30000)))
        out = self.folder / "out"
        line = ["rank", "--train", train, "--test", test, "--out", out / "s", "--run", out / "r"]
        os.mkdir(out)
        self.expect(0, *line)
        whole = self.files_in(out, without=())
        self.assertGreater(len(whole["r"]), len(whole["s"]) + 1)
        self.assertGreater(len(whole["s"]), 300_000)  # written piece by piece
        for name in whole:
            (out / name).write_bytes(harness.OLD)
        old = self.files_in(out, without=())
        # In the scores; at their last byte; after them, in the run.
        for limit in (300_000, len(whole["s"]) - 1, len(whole["s"]), len(whole["r"]) - 1):
            with self.subTest(limit):
                self.expect_full_disk(limit, *line)
                self.assertEqual(self.files_in(out, without=()), old)
        self.expect(0, *line)
        self.assertEqual(self.files_in(out, without=()), whole)


if __name__ == "__main__":
    harness.main()
