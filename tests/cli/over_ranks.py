"""Functions that the tests over MPI ranks share."""

import contextlib
import gzip
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import threading
import time

import harness

RANKS = (1, 2, 3, 5)
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
# As root in a container, which Open MPI asks about; MPI's own memory is not ours to check for leaks.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl": "self,vader",
               "ASAN_OPTIONS": "detect_leaks=0", "OMP_NUM_THREADS": "1"}
# For tests in which no rank may time out, however slow the machine is. An mpirun that was stopped and continues forwards no signal
# to its ranks, because forwarding fails while mpirun starts them.
PATIENT = {**ENVIRONMENT, "RULERANK_RANK_TIMEOUT": str(harness.HANGS), "OMPI_MCA_ess_base_forward_signals": "none"}


def letor(seed, queries, most):
    """Queries of 1 to `most` documents: some ranks have few, some none."""
    draw = random.Random(seed)
    return b"".join(b"%d qid:%d 1:%d 2:%d 3:%.2f # docid = D%d-%d\n"
                    % (draw.randrange(3), q, draw.randrange(9), draw.randrange(5), draw.random(), q, d)
                    for q in range(queries) for d in range(draw.randint(1, most)))


def fvecs(seed, rows):
    draw = random.Random(seed)
    return b"".join(struct.pack("<i8f", 8, *(draw.randrange(7) for _ in range(8))) for _ in range(rows))


def documents(seed, count):
    draw = random.Random(seed)
    return "".join(f"{seed}-{d}\t{' '.join(draw.choices('red blue green warm cold wet dry old'.split(), k=5))}\n"
                   for d in range(count)).encode()


def words(seed, count, length=8):
    draw = random.Random(seed)
    return "".join("".join(draw.choices("abcd", k=draw.randint(3, length))) + "\n"
                   for _ in range(count)).encode()


def labels(seed, count):
    draw = random.Random(seed)
    return struct.pack(">BBBBI", 0, 0, 8, 1, count) + bytes(draw.randrange(3) for _ in range(count))


class OverRanks(harness.CommandLine):
    def setUp(self):
        super().setUp()
        if shutil.which("mpirun") is None:
            self.skipTest("needs mpirun of Open MPI")
        self.has_mpi = b"\nMPI none\n" not in self.rulerank("--version").stdout

    def needs_mpi(self):
        if not self.has_mpi:
            self.skipTest("needs a build with MPI")

    def job(self, ranks, *line, program=None):
        return [*MPIRUN, "-n", str(ranks), *(program or [harness.PROGRAM]), *map(str, line)]

    def start_ranks(self, ranks, *line, **environment):
        """A job and its processes, by rank; all of them are there before the first begins."""
        gate = self.folder / f"gate-{len(list(self.folder.glob('gate-*')))}"
        os.mkfifo(gate)
        behind = ["sh", "-c", ': <"$0" && exec "$@"', gate, harness.PROGRAM]
        job = subprocess.Popen(self.job(ranks, *line, program=behind), cwd=self.folder, env={**PATIENT, **environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        there = self.ranks_of(job, ranks)
        self.addCleanup(open(gate, "wb").close)  # open until then: a rank may have to come to it yet
        return job, there

    def expect_end_of_ranks(self, ranks, took, seconds):
        """In so many of their seconds; mpirun may end just before those that it killed, which are init's then."""
        started, most = time.monotonic(), seconds * harness.slowness()
        while any(map(self.is_running, ranks)):
            self.assertLess(took.seconds, most, "a rank was left behind")
            self.assertLess(time.monotonic() - started, harness.HANGS, "a rank was left behind")
            time.sleep(0.05)

    def expect_end_of_job(self, job, ranks, seconds, stopped=None):
        """Expects that a job ends within `seconds` of its ranks' own time, counted from when the rank `stopped` is stopped, if one
        is named; gives its standard output and standard error."""
        with harness.OwnSeconds(job.pid, *ranks) as took, self.stopped(stopped, ranks, took):
            said = job.communicate(timeout=harness.HANGS)
            self.assertLess(took.seconds, seconds * harness.slowness(), said[1])
            self.expect_end_of_ranks(ranks, took, seconds)
        return said[0], harness.without_progress(said[1]).decode()

    @contextlib.contextmanager
    def stopped(self, rank, others, took):
        """In the block a rank is stopped, and again when somebody lets it go on while all others run: then the seconds begin anew."""
        ended = threading.Event()

        def stop():
            with contextlib.suppress(ProcessLookupError):
                os.kill(rank, signal.SIGSTOP)

        def keep():
            while not ended.wait(0.05) and all(map(self.is_running, others)):
                if any(state not in "Tt" for _, state, _ in harness.threads_of(rank)):
                    stop()
                    took.seconds = 0

        if rank is None:
            yield
            return
        stop()
        keeper = threading.Thread(target=keep)
        keeper.start()
        try:
            yield
        finally:
            ended.set()
            keeper.join()

    def over_ranks(self, ranks, *line, program=None):
        done = subprocess.run(self.job(ranks, *line, program=program), cwd=self.folder, env=PATIENT,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.HANGS, check=False)
        done.stderr = harness.without_progress(done.stderr)
        return done

    def expect_same_bytes(self, line, *outputs, message=True, over=RANKS):
        """Any number of ranks writes the bytes of one process."""
        for name in outputs:
            (self.folder / name).unlink(missing_ok=True)
        one = self.expect(0, *line)
        expected = {name: (self.folder / name).read_bytes() for name in outputs}
        self.assertTrue(any(expected.values()) or one.stdout)
        for ranks in over:
            with self.subTest(line=line[:2], ranks=ranks):
                for name in outputs:
                    (self.folder / name).unlink()
                done = self.over_ranks(ranks, *line)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, one.stdout)
                for name in outputs:
                    self.assertEqual((self.folder / name).read_bytes(), expected[name], name)
                if message:
                    self.assertEqual(done.stderr.count(b"rulerank: "), one.stderr.count(b"rulerank: "))

    def expect_same_folder(self, line, folder, ranks=RANKS):
        """Any number of ranks writes the files of one process into --out-dir."""
        one = self.expect(0, *line, "--out-dir", "one")
        expected = self.files_in("one")
        self.assertTrue(expected)
        for count in ranks:
            with self.subTest(line=line[:2], ranks=count):
                done = self.over_ranks(count, *line, "--out-dir", f"{folder}{count}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, one.stdout)
                self.assertEqual(self.files_in(f"{folder}{count}"), expected)

    def expect_failure(self, done, code, message):
        """One message, by the first rank, and nobody's output."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count(b"rulerank: error: "), 1, done.stderr)
        self.assertIn(message, done.stderr.decode())

    def each_in_its_folder(self, files):
        """A program that starts rank R in the folder rR, with files[R] as the files there."""
        for rank, contents in enumerate(files):
            (self.folder / f"r{rank}").mkdir()
            for name, data in contents.items():
                (self.folder / f"r{rank}" / name).write_bytes(data)
        return ["sh", "-c", 'cd "r$OMPI_COMM_WORLD_RANK" && exec "$0" "$@"', harness.PROGRAM]

    def taken(self, *names):
        """The contents of outputs, whose files it removes."""
        held = {}
        for name in names:
            held[name] = (self.folder / name).read_bytes()
            (self.folder / name).unlink()
        return held

    def outputs_left(self, name="out.txt"):
        """And files that are not in their places yet."""
        return [path for path in self.folder.rglob("*") if path.name == name or ".partial-" in path.name]

    def expect_nothing_or_whole(self, code, whole):
        """Checks the outputs of a job after one of its ranks was killed: each output is complete or missing, because the job may
        have been about to end; a job with exit code 0 has all of them."""
        left = {name: (self.folder / name).read_bytes() for name in whole if (self.folder / name).exists()}
        self.assertEqual(left, {name: data for name, data in whole.items() if code == 0 or name in left})
        self.assertEqual(self.outputs_left(name=None), [])

    def is_running(self, process):
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def of_folder(self):
        """The processes that work in the test's folder."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if pathlib.Path(os.readlink(process / "cwd")) == self.folder.resolve():
                    yield int(process.name)

    def ranks_of(self, job, count):
        """The processes of a job in the test's folder, by rank."""
        begin = time.monotonic()
        while time.monotonic() - begin < harness.HANGS:
            found = {}
            for process in self.of_folder():
                try:
                    environment = pathlib.Path(f"/proc/{process}/environ").read_bytes()
                except OSError:
                    continue
                if rank := re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", environment):
                    found[int(rank[1])] = process
            if len(found) == count:
                return [found[rank] for rank in range(count)]
            self.assertIsNone(job.poll(), "the job ended before its ranks were there")
            time.sleep(0.05)
        self.fail(f"found no {count} ranks of {job.args}")

    def fit_model(self, members):
        self.needs_mpi()
        self.file("train.txt", letor(1, 12, 12))
        self.expect(0, "fit", "--train", "train.txt", "--model", "model", "--members", members, "--quiet")

    def parts_to_tune(self):
        self.file("train.txt", letor(7, 30, 12))
        self.file("vali.txt", letor(8, 20, 12))

    TUNE = ["tune", "--train", "train.txt", "--vali", "vali.txt", "--out", "best.json", "--trials", "trials.tsv"]

    CURVES = ["experiment", "--folds", "folds", "--systems", "rules,scorecard,linear", "--budgets", "5%,20%", "--ways",
              "chosen,random,margin", "--random-draws", 2, "--quiet"]

    def curve_folds(self, queries=24):
        self.file("all.txt", letor(5, queries, 12))
        self.expect(0, "split", "--in", "all.txt", "--folds", 3, "--out-dir", "folds")

    def curves_in(self, folder):
        """But for seconds."""
        return {name: data for name, data in self.files_in(folder).items() if not name.endswith(".seconds.tsv")}

    PIPELINE = ["pipeline", "--collection", "docs.tsv", "--topics", "topics.tsv", "--qrels", "qrels", "--fold-count", 3, "--candidates",
                30, "--random-draws", 1, "--permutations", 99, "--quiet"]

    def lines_of_verbs(self, size=1):
        """(line, output...) of each verb that writes files, and their inputs, `size` times as large as the smallest ones."""
        self.file("train.txt", letor(7, 9 * size, 9))
        self.file("vali.txt", letor(8, 5 * size, 9))
        self.file("packed.gz", gzip.compress(letor(8, 30 * size, 3)))
        self.file("docs.tsv", documents(1, 60 * size))
        self.file("topics.tsv", documents(2, 9 * size))
        self.file("base.txt", words(1, 60 * size))
        self.file("base.fvecs", fvecs(1, 50 * size))
        draw = random.Random(3)
        self.file("baskets.txt", "".join(" ".join(map(str, sorted(draw.sample(range(12), 5)))) + "\n"
                                         for _ in range(90 * size)).encode())
        self.file("qrels", "".join(f"2-{q} 0 1-{d} {draw.randrange(3)}\n"
                                   for q in range(9 * size) for d in draw.sample(range(60 * size), 25)).encode())
        return ((["rank", "--train", "train.txt", "--test", "vali.txt", "--test", "packed.gz", "--out", "a.out", "--out", "b.out",
                  "--run", "a.run", "--run", "b.run"], "a.out", "b.out", "a.run", "b.run"),
                (["reduce", "--train", "train.txt", "--partitions", 3, "--out", "out", "--ids", "ids"], "out", "ids"),
                ([*self.TUNE, "--try-bins", 4, "--try-rule-size", 2, "--quiet"], "best.json", "trials.tsv"),
                (["mine", "--transactions", "baskets.txt", "--min-support", "5%", "--out", "out"], "out"),
                (["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv", "--out", "out"], "out"),
                (["search", "dense", "--collection", "base.fvecs", "--queries", "base.fvecs", "--out", "out"], "out"),
                (["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit", "--k", 3,
                  "--out", "out"], "out"))
