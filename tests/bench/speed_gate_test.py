#!/usr/bin/env python3
"""speed_gate_test.py PROGRAM: the gate accepts the counts of this build, and fails if a command had fewer instructions before."""

import contextlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import speed_gate

SHORTEST = {name: speed_gate.COMMANDS[name] for name in ("search dense", "mine")}


class SpeedGate(unittest.TestCase):
    def gate(self, counts, *words):
        streams = io.StringIO(), io.StringIO()
        with unittest.mock.patch.object(sys, "argv", ["speed_gate.py", PROGRAM, str(counts), *words]), \
                unittest.mock.patch.multiple(speed_gate, COMMANDS=SHORTEST, PREPARED=[]), \
                contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            return speed_gate.main(), *(stream.getvalue() for stream in streams)

    def test_a_command_that_takes_more_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            counts = pathlib.Path(folder) / "counts.json"
            self.assertEqual(self.gate(counts, "--update")[0], 0)
            code, out, errors = self.gate(counts)
            self.assertEqual((code, errors), (0, ""), out)
            self.assertIn("mine", out)

            kept = json.loads(counts.read_text())
            kept["instructions"]["mine"] = int(kept["instructions"]["mine"] / 1.04)
            counts.write_text(json.dumps(kept))
            code, _, errors = self.gate(counts)
            self.assertEqual(code, 1)
            self.assertRegex(errors, r"^error: mine takes 1\.0[34]\d times the instructions")
            self.assertNotIn("search dense", errors)

            kept["build"] = "compiler GNU 1.0"
            counts.write_text(json.dumps(kept))
            code, out, _ = self.gate(counts)
            self.assertEqual(code, 77)
            self.assertIn("skipped: the counts are those of compiler GNU 1.0", out)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    if not shutil.which("valgrind"):
        print("skipped: found no valgrind")
        sys.exit(77)
    unittest.main()
