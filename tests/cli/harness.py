"""Drives the program as a user's script would: lines in, exit code, streams and files out.

A test is a subclass of CommandLine in a NAME_test.py, listed in CMakeLists.txt. Many bad inputs for
one verb are rows of a table:

    class Reduce(CommandLine):
        def test_bad_input(self):
            self.check_rows([
                Row("empty file", b"", "reduce --train {in} --out {out}", 3,
                    "{in}:1:1: no documents"),
            ])

In a row's line and message, {in} is a file that holds the row's bytes, {out} one that held old
text before the run, {NAME} one that holds `files["NAME"]`. Whatever the row, the harness checks the
exit code, that the message is part of standard error, that it names file, line and column of bad
data (3), that a failure says `rulerank: error:` once and leaves {out} as it was and no
other file behind, and that a success says no error.
"""

import dataclasses
import fcntl
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM = ""
OLD = b"what was there before\n"
LOCK = ".rulerank.lock"  # stays in a folder of results where a run was killed; holds nobody up
HANGS = 600  # seconds after which nothing more will come, however busy the machine is


def unhindered():
    """Seconds of a clock that stands still while any task of this machine waits for a processor: those that a machine with
    nothing else to do would take. The plain clock where the kernel does not say (Linux's PSI)."""
    now = time.monotonic()
    try:
        waited = re.match(r"some .* total=(\d+)", pathlib.Path("/proc/pressure/cpu").read_text())
    except OSError:
        return now
    return now - int(waited[1]) / 1e6


def processor_seconds(process):
    """Of all threads of a process, by its id; none of one that is gone."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processor_seconds_of_ended():
    """Of all children of this process that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


@dataclasses.dataclass
class Row:
    name: str
    data: bytes
    line: str
    code: int
    message: str = ""
    files: dict = dataclasses.field(default_factory=dict)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rulerank-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, data=b""):
        """The path of a file in the test's own folder, written with these bytes."""
        path = self.folder / name
        path.write_bytes(data)
        return path

    def rulerank(self, *arguments, **options):
        """Runs the program to its end; standard input is empty unless `input` is given."""
        options.setdefault("input", b"")
        options.setdefault("timeout", HANGS)
        if "stdout" not in options:
            options["stdout"] = subprocess.PIPE
        return subprocess.run([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE,
                              cwd=self.folder, check=False, **options)

    def start(self, *arguments, errors=subprocess.PIPE, **options):
        """Starts the program and does not wait."""
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=errors, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def let_work(self, process, seconds, *workers):
        """Waits until a started program has gone on for so many seconds, and had as many of a processor: it is in the middle of
        its work then, however busy the machine is. The ids are of the processes that work where these are its children."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds or min(map(processor_seconds, workers or (process.pid,))) < seconds:
            self.assertIsNone(process.poll(), "done too early to be stopped")
            self.assertLess(time.monotonic() - begin, HANGS, "it does not work")
            time.sleep(.02)

    def wait_until(self, there, process):
        """Looks often whether something is there, until it is or the program has ended."""
        begin = time.monotonic()
        while not there() and process.poll() is None:
            self.assertLess(time.monotonic() - begin, HANGS, "never there")
            time.sleep(.002)

    def start_fed(self, data, *arguments):
        """Starts the program, which has read these bytes of its standard input and waits for more."""
        theirs, ours = os.pipe()
        process = self.start(*arguments, stdin=theirs)
        os.close(theirs)
        pipe = open(ours, "wb", buffering=0)
        self.addCleanup(pipe.close)
        pipe.write(data)
        self.wait_until(lambda: fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == bytes(4), process)
        time.sleep(.5)
        self.assertIsNone(process.poll())
        return process

    def expect_end(self, process, seconds):
        """A started program ends in so many seconds, and works no longer than these are enough for. What it says."""
        begin, worked = unhindered(), processor_seconds(process.pid) + processor_seconds_of_ended()
        errors = process.communicate(timeout=HANGS)[1].decode()
        self.assertLess(unhindered() - begin, seconds)
        self.assertLess(processor_seconds_of_ended() - worked, seconds * os.cpu_count())
        return errors

    def expect_stopped(self, process, number):
        """A signal ends a started program at once; it says so unless it is killed."""
        process.send_signal(number)
        errors = self.expect_end(process, 1.2)
        self.assertEqual(process.returncode, -9 if number == signal.SIGKILL else 130,
                         f"done too early to be stopped? {errors}")
        self.assertEqual("rulerank: error: interrupted\n" in errors, number != signal.SIGKILL)

    def expect(self, code, *arguments, message="", **options):
        """Runs the program, checks its exit code and a part of standard error, returns the rest."""
        done = self.rulerank(*arguments, **options)
        errors = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, errors)
        self.assertIn(message, errors)
        self.assertEqual(errors.count("rulerank: error: "), 0 if code == 0 else 1, errors)
        return done

    def skip_where_files_cannot_be_limited(self):
        if b"libomp.so" in pathlib.Path(PROGRAM).read_bytes():
            self.skipTest("LLVM's OpenMP, which the thread sanitizer needs, dies of a limit on files")

    def expect_full_disk(self, limit, *arguments, **options):
        """No file may grow beyond `limit` bytes, as on a disk that is full."""
        self.skip_where_files_cannot_be_limited()
        return self.expect(1, *arguments, message="cannot be written: File too large",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
                           **options)

    def check_rows(self, rows):
        for row in rows:
            with self.subTest(row.name):
                self.check_row(row, pathlib.Path(tempfile.mkdtemp(dir=self.folder)))

    def check_row(self, row, folder):
        contents = {"in": row.data, "out": OLD, **row.files}
        names = {}
        for name, data in contents.items():
            names[name] = folder / name
            names[name].write_bytes(data)
        words = [word.format(**names) for word in shlex.split(row.line)]
        done = self.expect(row.code, *words, message=row.message.format(**names))
        if row.code == 3:
            any_name = "|".join(re.escape(str(path)) for path in names.values())
            self.assertRegex(done.stderr.decode(errors="replace"),
                             rf"(?m)^rulerank: error: ({any_name}):[1-9]\d*:[1-9]\d*: \S")
        if row.code != 0:
            self.assertEqual(names["out"].read_bytes(), OLD, "a failure harmed the old output")
            files = [path.name for path in folder.rglob("*") if path.is_file()]
            self.assertEqual(sorted(files), sorted(contents), "a file was left behind")
        elif "{out}" in row.line:
            self.assertNotEqual(names["out"].read_bytes(), OLD, "the output was not written")

    def verbs(self, *below):
        """The verbs that do work, from the program's help: `rank`, `search text`."""
        head = self.rulerank(*below, "--help").stdout.decode().partition("\nOptions:\n")[0]
        usage, _, listed = head.partition("Usage: ")[2].partition("\n")
        if not re.search(r" (VERB|KIND) ", usage):
            return [" ".join(below)]
        names = re.findall(r"(?m)^  (\S+)", listed)
        return [verb for name in names if name not in ("help", "completion")
                for verb in self.verbs(*below, name)]


def main():
    """To be called at a test script's end, whose first argument is the program."""
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM [TEST...]")
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__")
