"""Signals in the middle of the work: a second's patience, exit code 130, no half file."""

import os
import signal
import time

import harness


class Interruption(harness.CommandLine):
    def setUp(self):
        super().setUp()
        # So much that no machine is done before the signal comes.
        self.rulerank("sample", "--documents", "60000", "--features", "60", "--queries", "60",
                      "--folds", "1", "--out-dir", "drawn")
        train = next((self.folder / "drawn").rglob("train.txt"))
        os.mkdir(self.folder / "out")
        self.out = self.folder / "out" / "r.txt"
        self.out.write_bytes(harness.OLD)
        self.line = ["reduce", "--train", train, "--out", self.out, "--rule-size", "4",
                     "--engine", "ssarp", "--device", "cpu"]

    def started(self):
        process = self.start(*self.line)
        time.sleep(1)
        self.assertIsNone(process.poll(), "done too early to be interrupted")
        return process

    def check_output(self):
        self.assertEqual(self.out.read_bytes(), harness.OLD)
        self.assertEqual(os.listdir(self.out.parent), ["r.txt"])

    def check_interrupted(self, process, patience):
        begin = time.monotonic()
        errors = process.communicate(timeout=20)[1].decode()
        self.assertLess(time.monotonic() - begin, patience)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("rulerank: error: interrupted\n", errors)
        self.check_output()

    def test_signals_stop_within_a_second(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.started()
                process.send_signal(number)
                self.check_interrupted(process, 1.2)

    def test_a_second_signal_ends_it_at_once(self):
        process = self.started()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        self.check_interrupted(process, 1.0)

    def test_a_kill_leaves_no_half_file(self):
        process = self.started()
        process.kill()
        process.communicate(timeout=20)
        self.check_output()


if __name__ == "__main__":
    harness.main()
