"""The program over MPI ranks on several hosts of a slow network, which slow_network.py simulates."""

import contextlib
import os
import random
import signal
import subprocess
import time

import harness
import over_ranks
import slow_network

HOSTS = 3
LONG = 600  # seconds of silence where no link is cut


def keepalive(seconds):
    """The options of docs/reference/mpi.md for links that are cut, there with 2: mpirun probes 3 times after `seconds` of silence."""
    return ["--mca", "oob_tcp_keepalive_time", str(seconds), "--mca", "oob_tcp_keepalive_intvl", "1",
            "--mca", "oob_tcp_keepalive_probes", "3"]


class SlowNetwork(over_ranks.OverRanks):
    def setUp(self):
        super().setUp()
        self.needs_mpi()
        if reason := slow_network.why_not():
            self.skipTest(reason)

    def network(self, **properties):
        network = slow_network.Network(HOSTS, **properties)
        network.__enter__()
        self.addCleanup(network.__exit__)
        return network

    def line(self, network, *line, silence=LONG):
        return [*network.on(0), "mpirun", *network.mpirun_options(), *keepalive(silence), harness.PROGRAM, *map(str, line)]

    def environment(self):
        return {name: value for name, value in over_ranks.PATIENT.items() if name != "OMPI_MCA_btl"}

    def run_line(self, network, *line):
        return subprocess.run(self.line(network, *line), cwd=self.folder, env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.HANGS, check=False)

    def begin_long_job(self, network, silence=LONG):
        """A search of some minutes; ends by itself when the test does."""
        self.messages = open(self.folder / "messages", "w+b")  # a pipe would be open as long as a lost host's processes
        self.addCleanup(self.messages.close)
        self.file("base.txt", over_ranks.words(1, 60000, 40))
        job = subprocess.Popen(self.line(network, "search", "metric", "--collection", "base.txt", "--queries",
                                         "base.txt", "--metric", "edit", "--index-type", "brute", "--threads", 1,
                                         "--out", "out.txt", silence=silence),
                               cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=self.messages)
        self.addCleanup(self.end, job)
        return job, self.ranks_of(job, HOSTS)

    def end(self, job):
        """And what it started, whatever the network lets mpirun do."""
        job.kill()
        for process in self.of_folder():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        job.wait()

    def expect_end_of(self, job, seconds):
        """The job fails in so many seconds of its processes and leaves no output. Its messages."""
        with harness.OwnSeconds(*self.of_folder()) as took:
            self.assertNotEqual(job.wait(timeout=harness.HANGS), 0)
        self.messages.seek(0)
        errors = self.messages.read().decode()
        self.assertLess(took.seconds, seconds * harness.slowness(), errors)
        self.assertEqual(self.outputs_left(), [])
        return errors

    def test_the_same_bytes_with_delay_and_loss(self):
        self.file("train.txt", over_ranks.letor(1, 12, 12))
        self.file("test.txt", over_ranks.letor(2, 40, 9))
        self.file("base.fvecs", over_ranks.fvecs(1, 500))
        self.file("asked.fvecs", over_ranks.fvecs(2, 60))
        network = self.network(delay=0.005, loss=0.02, retries=slow_network.KERNEL_RETRIES)
        for line in (["rank", "--train", "train.txt", "--test", "test.txt", "--rule-size", 3],
                     ["search", "dense", "--collection", "base.fvecs", "--queries", "asked.fvecs", "--k", 20]):
            expected = self.expect(0, *line).stdout
            done = self.run_line(network, *line)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, expected)
        self.assertGreater(network.carried, 100)
        self.assertGreater(network.dropped, 0)

    def test_slow_a_rank_killed_on_another_host_ends_the_job(self):
        network = self.network(delay=0.005, loss=0.01, retries=slow_network.KERNEL_RETRIES)
        draw = random.Random(3)
        for rank in (1, 2):
            with self.subTest(rank=rank):
                job, ranks = self.begin_long_job(network)
                time.sleep(draw.uniform(0.0, 1.5))
                os.kill(ranks[rank], signal.SIGKILL)
                self.assertRegex(self.expect_end_of(job, 5), rf"rank {rank}\b.*\n?.*signal 9")

    def test_slow_a_cut_link_ends_the_job(self):
        network = self.network()
        for silence in (2, 8, 32):  # a machine that keeps this process, which is the network, waiting cuts other links, too
            network.cuts.clear()
            try:
                job, ranks = self.begin_long_job(network, silence)
            except self.failureException:
                if silence < 32:
                    continue
                raise
            network.cut(2)
            errors = self.expect_end_of(job, 8 + silence)
            # The host that nobody reaches ends its own rank, too.
            with harness.OwnSeconds(*ranks) as took:
                self.expect_end_of_ranks(ranks, took, 30)
            if network.address(2) in errors:
                break
        self.assertIn("lost communication with a remote daemon", errors)
        self.assertIn(network.address(2), errors)


if __name__ == "__main__":
    harness.main()
