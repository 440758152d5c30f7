"""The program over MPI ranks if one rank differs, fails, dies or stalls."""

import contextlib
import hashlib
import json
import math
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import time

import harness
from over_ranks import MPIRUN, PATIENT, OverRanks, documents, fvecs, letor, words


class Faults(OverRanks):
    def killed(self, ranks, line, after, victim):
        """The exit of a job one of whose ranks is killed when it has had a processor for that many seconds."""
        job, there = self.start_ranks(ranks, *line)
        self.wait_until(lambda: harness.processor_seconds(there[victim]) >= after, job)
        if job.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(there[victim], signal.SIGKILL)
        output, _ = self.expect_end_of_job(job, there, 5)
        return job.returncode, output

    def test_tune_goes_on_with_other_ranks(self):
        self.needs_mpi()
        self.file("train.txt", letor(7, 60, 20))
        self.file("vali.txt", letor(8, 60, 20))
        tune = [*self.TUNE, "--try-bins", "5,10"]
        line = [*tune, "--resume", "state", "--quiet"]
        one = self.expect(0, *tune, "--quiet")
        expected = self.taken("best.json", "trials.tsv")
        # Killed when the trials that were made first are in the file.
        job, ranks = self.start_ranks(3, *line)
        self.wait_until((self.folder / "state").exists, job)
        with contextlib.suppress(ProcessLookupError):
            os.kill(ranks[2], signal.SIGKILL)
        job.communicate(timeout=harness.HANGS)
        self.expect_nothing_or_whole(job.returncode, expected)
        tried = len(json.loads((self.folder / "state").read_text())["trials"])
        done = self.over_ranks(2, *[word for word in line if word != "--quiet"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"state: kept {harness.counted(tried, 'candidate')} that an earlier run tried".encode(), done.stderr)
        self.assertEqual(done.stdout, one.stdout)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in expected}, expected)

    def test_curves_go_on_with_other_ranks(self):
        self.needs_mpi()
        self.curve_folds(48)
        one = self.expect(0, *self.CURVES, "--out-dir", "one")
        expected = self.curves_in("one")
        for seed, ranks in enumerate((3, 2)):
            draw = random.Random(seed)
            code, output = self.killed(ranks, [*self.CURVES, "--out-dir", "out"], draw.uniform(0.2, 0.8), draw.randrange(ranks))
            # mpirun forwards the tables in pieces of 4 KiB: a rank may be killed between two of them.
            self.assertEqual(output, one.stdout if code == 0 else one.stdout[:len(output)])
            self.expect_nothing_or_whole(code, {"out/curves.tsv": expected["curves.tsv"]})
        done = self.over_ranks(5, *self.CURVES, "--out-dir", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.curves_in("out"), expected)

    def test_slow_ranks_killed_at_random_moments(self):
        self.needs_mpi()
        draw = random.Random(6)
        self.file("baskets.txt", "".join(" ".join(map(str, sorted({int(60 * draw.random() ** 2) for _ in range(25)}))) + "\n"
                                         for _ in range(4000)).encode())
        line = ["mine", "--transactions", "baskets.txt", "--min-support", "0.3%", "--max-size", 7, "--out", "out.txt", "--threads", 1,
                "--quiet"]
        self.expect(0, *line)
        whole = self.taken("out.txt")
        ended = []
        for seed in range(4 + harness.ATTEMPTS):
            if seed >= 4 and True in ended:  # else sooner and sooner
                break
            draw = random.Random(seed)
            (self.folder / "out.txt").unlink(missing_ok=True)
            code, _ = self.killed(3, line, draw.uniform(0, 1.5) * .5 ** max(0, seed - 3), draw.randrange(3))
            ended.append(code != 0)
            self.expect_nothing_or_whole(code, whole)
        self.assertIn(True, ended, "all jobs had ended before")

    def test_slow_ranks_of_each_verb_killed_at_random_moments(self):
        """All outputs are there, whole, or none; pipeline keeps what it has finished, and its table comes last."""
        self.needs_mpi()
        draw = random.Random(9)
        ended = 0
        for line, *outputs in (*self.lines_of_verbs(size=20), ([*self.PIPELINE, "--out-dir", "of"], "of/table.md")):
            with self.subTest(line=line[:2]):
                before = harness.processor_seconds_of_ended()
                self.assertEqual(self.over_ranks(3, *line, "--threads", 1).returncode, 0)
                seconds = (harness.processor_seconds_of_ended() - before) / 3
                whole = self.taken(*outputs)
                for share in (1, .5, .25):  # sooner where it had ended before
                    code, _ = self.killed(3, [*line, "--threads", 1], share * draw.uniform(0.1, 0.7) * seconds, draw.randrange(3))
                    self.expect_nothing_or_whole(code, whole)
                    if code != 0:
                        ended += 1
                        break
                    self.taken(*outputs)
        self.assertGreater(ended, 3, "most jobs had ended before")

    def test_vectors_cut_short_while_ranks_search_them(self):
        """No rank can wait for another then; what each says has its number."""
        self.needs_mpi()
        rows = fvecs(1, 100000)
        rows = struct.pack("<2i", 100000, 8) + b"".join(rows[at + 4:at + 36] for at in range(0, len(rows), 36))
        self.file("base.fbin", rows)  # mapped, as its rows have nothing between them
        self.file("queries.fbin", rows)
        for attempt in range(harness.ATTEMPTS):
            job, ranks = self.start_ranks(3, "search", "dense", "--collection", "base.fbin", "--queries", "queries.fbin", "--threads", 1, "--out",
                                          "out.txt")
            self.let_work(job, .5 ** attempt, *ranks)
            at_work = [harness.hold(rank) for rank in ranks]
            if all(at_work):
                os.truncate(self.folder / "base.fbin", 4096)
            for rank in ranks:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGCONT)
            errors = harness.without_progress(job.communicate(timeout=harness.HANGS)[1]).decode()
            if all(at_work):
                break
            self.assertEqual(job.returncode, 0, errors)  # done too early
            (self.folder / "out.txt").unlink()
        self.assertEqual(job.returncode, 3, errors)
        said = re.findall(r"^rulerank: error: (.*)$", errors, re.MULTILINE)
        self.assertRegex(said[0], r"^rank [0-2]: base.fbin: was cut short while it was read")
        self.assertEqual(len(set(said)), len(said), errors)
        self.assertEqual(self.outputs_left(), [])

    def test_bad_input_of_all_ranks_is_one_message(self):
        self.needs_mpi()
        self.file("train.txt", letor(1, 5, 5))
        self.file("bad.txt", b"0 qid:1 1:x\n")
        done = self.over_ranks(3, "rank", "--train", "train.txt", "--test", "bad.txt", "--out", "out.txt")
        self.expect_failure(done, 3, "rulerank: error: bad.txt:1:")
        done = self.over_ranks(2, "rank", "--train", "train.txt", "--tset", "bad.txt")
        self.expect_failure(done, 2, "see rulerank rank --help")
        self.assertEqual(self.outputs_left(), [])

    def test_bad_input_on_one_rank(self):
        self.needs_mpi()
        good = {"train.txt": letor(1, 5, 5), "test.txt": letor(2, 6, 4)}
        program = self.each_in_its_folder([good, good, {**good, "train.txt": b"0 qid:1 1:x\n"}])
        done = self.over_ranks(3, "rank", "--train", "train.txt", "--test", "test.txt", "--out", "out.txt",
                               program=program)
        self.expect_failure(done, 3, "rulerank: error: rank 2: train.txt:1:")
        self.assertEqual(self.outputs_left(), [])

    def test_other_bytes_on_one_rank(self):
        self.needs_mpi()
        good = {"base.txt": words(1, 30), "asked.txt": words(2, 9)}
        program = self.each_in_its_folder([good, {**good, "base.txt": words(3, 30)}])
        done = self.over_ranks(2, "search", "metric", "--collection", "base.txt", "--queries", "asked.txt",
                               "--metric", "edit", "--out", "out.txt", program=program)
        self.expect_failure(done, 2, "SHA-256 of base.txt: found '")
        self.assertEqual(self.outputs_left(), [])

    def test_another_model_on_one_rank(self):
        self.fit_model("rules")
        model = (self.folder / "model").read_bytes()
        self.expect(0, "fit", "--train", "train.txt", "--model", "model", "--members", "rules", "--rule-size", 2, "--quiet")
        good = {"model": model, "test.txt": letor(2, 6, 4)}
        program = self.each_in_its_folder([good, good, {**good, "model": (self.folder / "model").read_bytes()}])
        done = self.over_ranks(3, "rank", "--model", "model", "--test", "test.txt", "--out", "out.txt", program=program)
        self.expect_failure(done, 2, "SHA-256 of model: found '")
        self.assertIn(b"on rank 2 and", done.stderr)
        self.assertEqual(self.outputs_left(), [])

    def test_another_index_on_one_rank(self):
        """Ranks compare the headers of an index, which have the checksums of all else."""
        self.needs_mpi()
        indexes = []
        for draw in (1, 3):
            self.file("docs.tsv", documents(draw, 30))
            self.expect(0, "search", "text", "--collection", "docs.tsv", "--index", "index", "--quiet")
            indexes.append((self.folder / "index").read_bytes())
        (self.folder / "index").unlink()
        good = {"index": indexes[0], "topics.tsv": documents(2, 9)}
        line = ["search", "text", "--index", "index", "--queries", "topics.tsv", "--out", "out.txt"]
        program = self.each_in_its_folder([good, good, {**good, "index": indexes[1]}])
        done = self.over_ranks(3, *line, program=program)
        self.expect_failure(done, 2, "SHA-256 of index: found 'header ")
        self.assertIn(b"on rank 2 and", done.stderr)
        (self.folder / "r2/index").write_bytes(indexes[0][:70] + b"\x7f" + indexes[0][71:])
        self.expect_failure(self.over_ranks(3, *line, program=program), 3, "rulerank: error: rank 2: index:1:1: ")
        self.assertEqual(self.outputs_left(), [])
        (self.folder / "r2/index").write_bytes(indexes[0])
        self.assertEqual(self.over_ranks(3, *line, "--manifest", "manifest.json", program=program).returncode, 0)
        inputs = json.loads((self.folder / "r0/manifest.json").read_text())["inputs"]
        self.assertEqual({entry["path"]: entry["sha256"] for entry in inputs},
                         {name: hashlib.sha256(content).hexdigest() for name, content in good.items()})

    def test_another_training_file_on_one_rank(self):
        self.needs_mpi()
        good = {"train.txt": letor(1, 9, 9)}
        program = self.each_in_its_folder([good, {"train.txt": letor(2, 9, 9)}])
        done = self.over_ranks(2, "reduce", "--train", "train.txt", "--out", "out.txt", program=program)
        self.expect_failure(done, 2, "SHA-256 of train.txt: found '")
        self.assertEqual(self.outputs_left(), [])

    def test_another_program_on_one_rank(self):
        """A program that was built of another commit."""
        self.needs_mpi()
        commit = re.search(rb"^commit (\S+)$", self.rulerank("--version").stdout, re.MULTILINE)[1]
        other = bytes([ord("0") + (commit[0] == ord("0"))]) + commit[1:]
        changed = self.file("other", pathlib.Path(harness.PROGRAM).read_bytes().replace(commit + b"\0", other + b"\0"))
        changed.chmod(0o755)
        self.assertIn(b"commit " + other + b"\n", subprocess.run([changed, "--version"], capture_output=True, check=True).stdout)
        self.file("base.txt", words(1, 30))
        line = ["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit", "--out", "out.txt"]
        both = [*self.job(2, *line), ":", *self.job(1, *line, program=[changed])[len(MPIRUN):]]
        done = subprocess.run(both, cwd=self.folder, env=PATIENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.HANGS,
                              check=False)
        self.expect_failure(done, 2, f"commit: found '{other.decode()}' on rank 2 and '")
        self.assertEqual(self.outputs_left(), [])

    def test_a_file_that_one_rank_lacks(self):
        self.needs_mpi()
        good = {"train.txt": letor(1, 5, 5), "test.txt": letor(2, 6, 4)}
        program = self.each_in_its_folder([good, {"train.txt": good["train.txt"]}])
        done = self.over_ranks(2, "rank", "--train", "train.txt", "--test", "test.txt", "--out", "out.txt", program=program)
        self.expect_failure(done, 2, "SHA-256 of test.txt: found 'no file' on rank 1 and '")
        self.assertEqual(self.outputs_left(), [])

    def test_another_command_line_on_one_rank(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 30))
        line = ["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit",
                "--out", "out.txt", "--k"]
        done = subprocess.run([*self.job(1, *line, 3), ":", *self.job(1, *line, 4)[len(MPIRUN):]],
                              cwd=self.folder, env=PATIENT, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=harness.HANGS, check=False)
        self.expect_failure(done, 2, "command line: found 'search metric")
        self.assertEqual(self.outputs_left(), [])

    def test_output_that_cannot_be_written(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 30))
        done = self.over_ranks(3, "search", "metric", "--collection", "base.txt", "--queries", "base.txt",
                               "--metric", "edit", "--out", "absent/out.txt")
        self.expect_failure(done, 1, "rulerank: error: rank 0: absent/out.txt: cannot be written")

    def test_what_does_not_run_over_ranks(self):
        self.needs_mpi()
        self.file("a.txt", letor(1, 4, 4))
        self.file("base.txt", words(1, 30))
        for line, message in (
                (["engines"], "engines does not run over MPI ranks"),
                (["rank", "--train", "a.txt", "--test", "-"], "standard input does not run over MPI ranks"),
                (["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit",
                  "--split", 2], "--split does not run over MPI ranks")):
            self.expect_failure(self.over_ranks(2, *line), 2, message + ": found 2 ranks, expected one process")
        self.assertEqual(self.over_ranks(2, "--version").stdout, self.rulerank("--version").stdout)

    def test_a_signal_behind_the_message_adds_none(self):
        """As mpirun sends to the ranks that have not ended yet when the first of a failed job has."""
        self.needs_mpi()
        self.file("bad.txt", b"0 qid:1 1:x\n")
        for _ in range(5):
            job, (first, *_) = self.start_ranks(3, "rank", "--train", "bad.txt", "--test", "bad.txt", "--out", "out.txt")
            message = harness.first_message(job.stderr)
            for _ in range(2):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(first, signal.SIGTERM)
            self.assertTrue(message.startswith(b"rulerank: error: bad.txt:1:"), message)
            self.assertNotIn(b"rulerank: ", job.communicate(timeout=harness.HANGS)[1])
            self.assertNotEqual(job.returncode, 0)

    def test_slow_a_rank_without_memory_ends_the_job(self):
        """Whatever the space is for: below the least memory that is enough, it is what the other rank has found, 24 MB."""
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 2000))
        line = ["search", "dense", "--collection", "base.fvecs", "--queries", "base.fvecs", "--k", 2000, "--out", "out.ivecs", "--threads", 1,
                "--quiet"]
        self.expect(0, *line)
        whole = self.taken("out.ivecs")

        def is_enough(megabytes):
            limited = ["sh", "-c", f'[ "$OMPI_COMM_WORLD_RANK" != 1 ] || ulimit -v {megabytes}000; exec "$0" "$@"', harness.PROGRAM]
            done = self.over_ranks(2, *line, program=limited)
            self.expect_nothing_or_whole(done.returncode, whole)
            (self.folder / "out.ivecs").unlink(missing_ok=True)
            if done.returncode != 0:
                messages.append(done.stderr)
            return done.returncode == 0

        messages = []
        if not is_enough(1400):
            self.skipTest("the program does not start in 1.4 GB of addresses (a sanitizer's does not)")
        too_little, enough = 200, 1400
        while enough - too_little > 10:
            limit = (too_little + enough) // 2
            too_little, enough = (too_little, limit) if is_enough(limit) else (limit, enough)
        # How much it needs differs a little from run to run; what counts is that each ends.
        for limit in range(enough - 50, enough - 10, 10):
            is_enough(limit)
        self.assertTrue(any(b"rulerank: error: rank 1: " in message for message in messages))

    def test_a_killed_rank_ends_the_job(self):
        self.needs_mpi()
        search, *_ = self.long_jobs()
        job, ranks = self.start_ranks(3, *search)
        self.let_work(job, 1, *ranks)
        os.kill(ranks[1], signal.SIGKILL)
        _, errors = self.expect_end_of_job(job, ranks, 5)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(errors, r"rank 1\b.*\n?.*signal 9")
        self.assertEqual(self.outputs_left(), [])

    # A machine may hold up other ranks than the one that a test stops, for longer than the limit; the next limit is longer then.
    LONGEST_LIMIT = 100

    def limit_here(self, least):
        """Seconds in which a rank of a small job that goes on is heard of, and MPI starts and ends, however busy the machine is."""
        begin = time.monotonic()
        self.assertEqual(self.over_ranks(3, "mine", "--transactions", self.file("one.txt", b"1 2\n"), "--min-support", 1).returncode, 0)
        return max(least, min(math.ceil(time.monotonic() - begin), self.LONGEST_LIMIT))

    def long_jobs(self):
        """Lines that take minutes, with one thread a rank."""
        self.file("base.txt", words(1, 150000, 40))
        draw = random.Random(4)
        for name, queries in (("train.txt", 30), ("test.txt", 600)):
            self.file(name, "".join(f"{draw.randrange(3)} qid:{row // 10} " + " ".join(f"{f}:{draw.random():.3f}" for f in range(1, 41)) + "\n"
                                    for row in range(10 * queries)).encode())
        many = ["--rule-size", 6, "--threads", 1, "--out", "out.txt"]
        return (["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit", "--index-type", "brute",
                 "--threads", 1, "--out", "out.txt"],
                ["rank", "--train", "train.txt", "--test", "test.txt", "--engine", "lrar", *many],
                ["reduce", "--train", "train.txt", "--engine", "ssarp", "--partitions", 1, *many])

    def stall(self, line, stalled, limit, beyond_limit):
        """The job, whether it was at work when one of its three ranks was stopped, and what it says."""
        job, ranks = self.start_ranks(3, *line, RULERANK_RANK_TIMEOUT=str(limit))
        self.let_work(job, 1, *ranks)
        begin = time.monotonic()
        if beyond_limit:  # who works is heard of
            self.wait_until(lambda: time.monotonic() - begin > limit + 1, job)
        at_work = job.poll() is None
        others = [rank for rank in ranks if rank != ranks[stalled]]
        _, errors = self.expect_end_of_job(job, others, limit + 5, stopped=ranks[stalled])
        return job, at_work, errors

    def expect_stall_found(self, line, stalled, beyond_limit=False):
        """Stops one of three ranks at work: the job ends and names the stopped rank."""
        limit = self.limit_here(3)
        while True:
            job, at_work, errors = self.stall(line, stalled, limit, beyond_limit)
            found = re.findall(r"rulerank: error: (?:rank (\d) on \S+: no message)?", errors)
            if (at_work and found == [str(stalled)]) or limit > self.LONGEST_LIMIT:
                break
            limit *= 4
        self.assertTrue(at_work, errors)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(errors, rf"rulerank: error: rank {stalled} on \S+: no message for {limit} s")
        self.assertEqual(errors.count("rulerank: error"), 1, errors)
        self.assertEqual(self.outputs_left(), [])

    def test_slow_a_stalled_rank_ends_the_job(self):
        self.needs_mpi()
        search, rank, reduce = self.long_jobs()
        self.expect_stall_found(search, 1, beyond_limit=True)
        for line, stalled in ((search, 0), (rank, 2), (rank, 0), (reduce, 1)):
            with self.subTest(line=line[0], rank=stalled):
                self.expect_stall_found(line, stalled)

    def test_slow_ranks_say_once_that_one_stalls(self):
        """However long mpirun takes to end them: it is stopped for longer than they wait."""
        self.needs_mpi()
        search = self.long_jobs()[0]
        for stalled in (0, 1):
            for attempt in range(3):  # a machine may hold up other ranks for longer than the limit
                limit = 2 * 4 ** attempt
                job, ranks = self.start_ranks(4, *search, RULERANK_RANK_TIMEOUT=str(limit))
                self.let_work(job, 1, *ranks)
                for process in (job.pid, ranks[stalled]):
                    os.kill(process, signal.SIGSTOP)
                time.sleep(2 * limit + 5)
                os.kill(job.pid, signal.SIGCONT)
                errors = job.communicate(timeout=harness.HANGS)[1].decode()
                said = re.findall(r"rulerank: error: (?:rank (\d) on \S+: no message)?", errors)
                if said == [str(stalled)]:
                    break
            self.assertEqual(said, [str(stalled)], errors)

    def stopped_rank(self, line, stalled, limit, wait):
        """Stops one of three ranks when wait(job) returns. Returns the job's code and errors if the other ranks end in time. A rank that
        is stopped after its last message ends when it continues."""
        job, ranks = self.start_ranks(3, *line, RULERANK_RANK_TIMEOUT=str(limit))
        wait(job)
        others = [rank for rank in ranks if rank != ranks[stalled]]
        with harness.OwnSeconds(*others) as took, self.stopped(ranks[stalled], others, took):
            self.expect_end_of_ranks(others, took, 4 * limit + 2 + 5)  # ranks wait a second more each
        with contextlib.suppress(ProcessLookupError):
            os.kill(ranks[stalled], signal.SIGCONT)
        errors = job.communicate(timeout=harness.HANGS)[1].decode()
        return job.returncode, errors

    def test_slow_a_rank_that_stalls_while_mpi_starts_ends_the_job(self):
        self.needs_mpi()
        search = self.long_jobs()[0]
        for stalled in range(3):
            with self.subTest(rank=stalled):
                code, errors = self.stopped_rank(search, stalled, 1, lambda job: time.sleep(.05))
                self.assertNotEqual(code, 0)
                self.assertRegex(errors, r"rulerank: error: (MPI has not started on all ranks within 4 s|rank \d on \S+: no message)")
                self.assertEqual(self.outputs_left(), [])

    def test_slow_a_rank_that_stalls_while_mpi_ends_holds_no_other(self):
        self.needs_mpi()
        self.file("train.txt", letor(7, 9, 9))
        line = ["reduce", "--train", "train.txt", "--out", "out", "--quiet"]
        self.expect(0, *line)
        whole = self.taken("out")

        def written(job):
            self.wait_until((self.folder / "out").exists, job)

        limit = self.limit_here(1)
        for _ in range(3):
            code, errors = self.stopped_rank(line, 0, limit, written)
            while not (self.folder / "out").exists() and limit <= self.LONGEST_LIMIT:
                limit *= 4
                code, errors = self.stopped_rank(line, 0, limit, written)
            if code != 0:
                self.assertRegex(errors, rf"rulerank: error: (MPI has not ended on all ranks within {limit} s|"
                                         r"rank \d on \S+: no message)")
            self.assertEqual(self.taken("out"), whole)

    def test_a_bad_limit_is_refused(self):
        self.needs_mpi()
        for bad in ("", "x", "-1", "86401", "3s"):
            done = subprocess.run(self.job(2, "engines"), env={**PATIENT, "RULERANK_RANK_TIMEOUT": bad},
                                  capture_output=True, timeout=harness.HANGS, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"RULERANK_RANK_TIMEOUT: found '{bad}', expected whole seconds from 0 to 86400".encode(),
                          done.stderr)

    def test_a_build_without_mpi_says_so(self):
        if self.has_mpi:
            self.skipTest("needs a build without MPI")
        done = self.over_ranks(2, "engines")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"started as one of 2 MPI ranks, but this build has no MPI", done.stderr)


if __name__ == "__main__":
    harness.main()
