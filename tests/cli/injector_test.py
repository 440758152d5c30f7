"""Inputs of every verb are cut short, extended, overwritten and replaced at seeded moments while a run reads them. A run ends
with the output of the file as it was or as it became, or with exit code 3 and the file's name; never with another output,
never by a signal.

And the calls that read and write are short, interrupted, or fail (io_faults.cpp): the output is the same, or there is none, and
the message says why."""

import collections
import contextlib
import itertools
import os
import pathlib
import random
import shutil
import signal
import time

import harness
from over_ranks import documents, fvecs, letor, words


def cut(path, draw):
    os.truncate(path, draw.randrange(path.stat().st_size))


def extend(path, draw):
    data = path.read_bytes()
    with open(path, "ab") as file:
        file.write(data[draw.randrange(len(data)):] or data)


def overwrite(path, draw):
    data = path.read_bytes()
    begin = draw.randrange(len(data))
    with open(path, "r+b") as file:
        file.seek(begin)
        file.write(data[:len(data) - begin][::-1])


def replace(path, draw):
    data = path.read_bytes()
    other = path.with_name("other")
    other.write_bytes(data[draw.randrange(len(data)):])
    other.replace(path)


CHANGES = (cut, extend, overwrite, replace)


class Injector(harness.CommandLine):
    def write_inputs(self, size):
        self.file("train.txt", letor(7, 90 * size, 9))
        self.file("test.txt", letor(8, 50 * size, 9))
        self.file("docs.tsv", documents(1, 300 * size))
        self.file("topics.tsv", documents(2, 40 * size))
        self.file("words.txt", words(1, 300 * size))
        self.file("base.fvecs", fvecs(1, 300 * size))
        draw = random.Random(3)
        self.file("baskets.txt", "".join(" ".join(map(str, sorted(draw.sample(range(12), 5)))) + "\n" for _ in range(900 * size)).encode())
        self.file("qrels", "".join(f"2-{q} 0 1-{d} {draw.randrange(3)}\n" for q in range(40 * size) for d in draw.sample(range(300), 25)).encode())
        self.expect(0, "fit", "--train", "train.txt", "--members", "rules,linear", "--model", "m", "--quiet")
        self.expect(0, "rank", "--model", "m", "--test", "test.txt", "--out", "scores", "--run", "run", "--quiet")
        shutil.copy(self.folder / "run", self.folder / "run2")
        self.expect(0, "features", "--collection", "docs.tsv", "--topics", "topics.tsv", "--candidates-out", "found.run", "--out", "pool",
                    "--quiet")
        self.expect(0, "search", "text", "--collection", "docs.tsv", "--index", "text.index", "--quiet")
        self.expect(0, "search", "dense", "--collection", "base.fvecs", "--index", "dense.index", "--quiet")

    # (line, inputs): each writes `out`.
    LINES = (
        ("reduce --train train.txt --out out", "train.txt"),
        ("rank --train train.txt --test test.txt --out out", "train.txt test.txt"),
        ("rank --model m --test test.txt --out out", "m test.txt"),
        ("fit --train train.txt --members scorecard --model out", "train.txt"),
        ("explain --model m --test test.txt --qid 0 --rank 1 --out out", "m test.txt"),
        ("inspect m --test test.txt --out out", "m test.txt"),
        ("tune --train train.txt --vali test.txt --try-bins 4 --try-rule-size 2 --out out", "train.txt test.txt"),
        ("discretize --train train.txt --apply test.txt --out-dir of", "train.txt test.txt"),
        ("evaluate --test test.txt --scores scores --out out", "test.txt scores"),
        ("evaluate --qrels qrels --run found.run --out out", "qrels found.run"),
        ("fuse --run run run2 --out out", "run run2"),
        ("mine --transactions baskets.txt --min-support 5% --out out", "baskets.txt"),
        ("mine --train train.txt --min-support 5% --out out", "train.txt"),
        ("search text --collection docs.tsv --queries topics.tsv --out out", "docs.tsv topics.tsv"),
        ("search text --index text.index --queries topics.tsv --out out", "text.index topics.tsv"),
        ("search dense --collection base.fvecs --queries base.fvecs --out out", "base.fvecs"),
        ("search dense --index dense.index --queries base.fvecs --out out", "dense.index"),
        ("search metric --collection words.txt --queries words.txt --metric edit --k 3 --out out", "words.txt"),
        ("vectors --collection docs.tsv --dimensions 4 --out out.fvecs", "docs.tsv"),
        ("features --collection docs.tsv --topics topics.tsv --candidates 5 --out out", "docs.tsv topics.tsv"),
        ("pipeline --collection docs.tsv --topics topics.tsv --qrels qrels --candidates 9 --fold-count 3 --random-draws 1 "
         "--permutations 99 --out-dir of", "docs.tsv topics.tsv qrels"),
        ("split --in train.txt --fold-count 3 --out-dir of", "train.txt"),
    )

    def outputs(self):
        """Bytes by name of what a run left, without the files that have seconds in them."""
        paths = [path for name in ("out", "out.fvecs") if (path := self.folder / name).exists()]
        paths += [path for path in (self.folder / "of").rglob("*") if path.suffix in (".run", ".txt")]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def remove_outputs(self):
        shutil.rmtree(self.folder / "of", ignore_errors=True)
        for name in ("out", "out.fvecs", "other"):
            (self.folder / name).unlink(missing_ok=True)

    def run_undisturbed(self, line):
        self.remove_outputs()
        begin = time.monotonic()
        code = self.rulerank(*line.split(), "--quiet").returncode
        return time.monotonic() - begin, code, self.outputs()

    def try_change(self, line, name, change, seconds, before, draw):
        """What became of a run during which an input was changed: 'ended', 'met' (code 3) or 'taken' (the new file was read)."""
        path = self.folder / name
        data = path.read_bytes()
        os.utime(path, (time.time() - 3600,) * 2)
        self.remove_outputs()
        process = self.start(*line.split(), "--quiet")
        time.sleep(draw.uniform(0, seconds))
        is_at_work = harness.hold(process.pid)
        change(path, draw)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
        errors = process.communicate(timeout=harness.HANGS)[1].decode()
        left = self.outputs()
        try:
            if process.returncode == 3:
                self.assertIn(name, errors)
                return "met"
            if (process.returncode, left) == (0, before):
                return "passed" if is_at_work else "ended"
            self.assertEqual((process.returncode, left), self.run_undisturbed(line)[1:],
                             f"neither the old file nor the new one: {errors}")
            return "taken"
        finally:
            path.unlink()
            path.write_bytes(data)

    def inject(self, size, changes, seed):
        self.write_inputs(size)
        draw = random.Random(seed)
        counts = collections.Counter()
        for line, inputs in self.LINES:
            seconds, code, before = self.run_undisturbed(line)
            self.assertEqual(code, 0, line)
            self.assertTrue(before, line)
            for name in inputs.split():
                for change in draw.sample(CHANGES, changes):
                    with self.subTest(line=line, name=name, change=change.__name__):
                        counts[self.try_change(line, name, change, seconds, before, draw)] += 1
        print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
        self.assertGreater(counts["met"], 0)

    def with_io_faults(self, line, faults):
        """Exit code, messages and outputs of a run whose calls behave as `faults` says."""
        self.remove_outputs()
        done = self.rulerank(*line.split(), "--quiet", env={**os.environ, "LD_PRELOAD": str(self.io_faults), "RULERANK_IO_FAULTS": faults})
        return done.returncode, done.stderr.decode(), self.outputs()

    def try_io_faults(self, lines, seed):
        self.io_faults = pathlib.Path(harness.PROGRAM).resolve().parent / "io_faults.so"
        if not self.io_faults.exists():
            self.skipTest(f"needs {self.io_faults}, which is built with the tests")
        self.write_inputs(1)
        draw = random.Random(seed)
        counts = collections.Counter()
        for line, _ in lines:
            _, code, before = self.run_undisturbed(line)
            self.assertEqual(code, 0, line)
            for faults in (f"short {draw.randrange(1000)}", f"interrupted {draw.randrange(1000)}"):
                with self.subTest(line=line, faults=faults):
                    self.assertEqual(self.with_io_faults(line, faults), (0, "", before))
                    counts["the same"] += 1
            # Each call fails once, but for those beyond the first dozens.
            for call in itertools.count():
                with self.subTest(line=line, call=call):
                    code, errors, left = self.with_io_faults(line, f"fails {call}")
                    if code == 0:
                        self.assertEqual(left, before)
                        counts["passed"] += 1
                    else:
                        self.assertIn(code, (1, 3), errors)
                        self.assertRegex(errors, "rulerank: error: .*(Input/output error|No space left on device|cannot be)")
                        self.assertFalse({name for name in left if name.startswith("out")})
                        counts["failed"] += 1
                if code == 0 or call >= 30:
                    break
        print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
        self.assertGreater(counts["failed"], len(lines))

    def test_calls_that_are_short_or_fail(self):
        self.try_io_faults(self.LINES[::4], seed=3)

    def test_slow_calls_of_every_verb_that_are_short_or_fail(self):
        self.try_io_faults(self.LINES, seed=4)

    def test_inputs_that_change(self):
        self.inject(size=2, changes=1, seed=1)

    def test_slow_inputs_that_change_in_every_way(self):
        self.inject(size=4, changes=len(CHANGES), seed=2)


if __name__ == "__main__":
    harness.main()
