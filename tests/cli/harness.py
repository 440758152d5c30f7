"""Drives the program as a user's script would: lines in, exit code, streams and files out.

A test is a subclass of CommandLine in a NAME_test.py, listed in CMakeLists.txt. Many bad inputs for
one verb are rows of a table:

    class Reduce(CommandLine):
        def test_bad_input(self):
            self.check_rows([
                Row("empty file", b"", "reduce --train {in} --out {out}", 3,
                    "{in}:1:1: found no documents"),
            ])

In a row's line and message, {in} is a file with the row's bytes, {out} a file with old text before
the run, and {NAME} a file with `files["NAME"]`. For each row, the harness checks the exit code, that
the message is part of standard error, and that a message about bad data (3) names file, line and
column. A failure must print `rulerank: error:` once, keep the bytes of {out} and leave no other file.
A success must print no error.
"""

import dataclasses
import fcntl
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

PROGRAM = ""
OLD = b"what was there before\n"
LOCK = ".rulerank.lock"  # stays in a folder of results where a run was killed; holds nobody up
HANGS = 900  # seconds after which nothing more will come, however busy the machine is
SHOWS = 120  # seconds after which a page in a browser will not show what a test waits for
ATTEMPTS = 20  # to meet a program in the middle of its work
# How far a program is, which it says each 10 seconds off a terminal.
PROGRESS = re.compile(rb"^rulerank: (?!error|warning)[^\n]*: [\d.]+( [kMGT]?B)?"
                      rb"( of [\d.]+( [kMGT]?B)? \(\d+ %(, [\d.]+ (s|min|h) left)?\))?\n", re.MULTILINE)


def without_progress(errors):
    """Standard error without the lines of progress, which depend on the duration."""
    return PROGRESS.sub(b"", errors)


def first_message(errors):
    """The first line of a stream that does not say how far the program is."""
    return next((line for line in errors if not PROGRESS.fullmatch(line)), b"")


def counted(count, one):
    """`1 candidate`, `2 candidates`: the program's words where it depends on the machine how many there are."""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def tell_counts(test, counts, **facts):
    """Prints what a test counted, and adds it to the file that $RULERANK_COUNTS names, a JSON line a test."""
    print(f"{test}:", ", ".join(f"{count} {word}" for word, count in [*facts.items(), *sorted(counts.items())]))
    if "RULERANK_COUNTS" in os.environ:
        with open(os.environ["RULERANK_COUNTS"], "a", encoding="utf-8") as file:
            file.write(json.dumps({"test": test, **facts, **dict(sorted(counts.items()))}) + "\n")


def slowness():
    """How many times longer than on a usual machine a piece of work has a processor here and now, at least 1."""
    usual, least = 0.01, float("inf")
    for _ in range(3):
        begin = time.thread_time()
        sum(n * n for n in range(200_000))
        least = min(least, time.thread_time() - begin)
    return max(1.0, least / usual)


def threads_of(process):
    """(id, state, seconds of a processor) of each thread of a process, by its id; none of one that is gone."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return
    for thread in threads:
        folder = pathlib.Path(f"/proc/{process}/task/{thread}")
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
        try:
            seconds = int((folder / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            pass  # a kernel that does not say it exactly
        if fields[0] not in "ZX":
            yield int(thread), fields[0], seconds


def is_asleep(process):
    """Whether all threads of a process wait, and none of them for a processor or a disk."""
    states = {state for _, state, _ in threads_of(process)}
    return bool(states) and states <= set("SI")


def hold(process):
    """Stops a process, by its id; whether it was there to be stopped."""
    while states := {state for _, state, _ in threads_of(process)}:
        if states <= set("Tt"):
            return True
        try:
            os.kill(process, signal.SIGSTOP)
        except ProcessLookupError:
            break
        time.sleep(.001)
    return False


class OwnSeconds:
    """How long processes take by themselves while a `with` block runs: the seconds in which their busiest thread has a
    processor, and those in which all their threads sleep, and so does this process, for which they may wait. On a machine
    with nothing else to do these are the seconds of a clock. While a process is stopped, or waits for a processor or a
    disk, none pass. The processes are ids, or functions that tell those of now."""

    APART, MOST = .01, .05  # seconds between two looks; a sleep is no longer where this process was held up

    def __init__(self, *processes):
        self.processes, self.seconds = processes, 0.0
        self.ended = threading.Event()
        self.watcher = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.watcher.join()

    def look(self):
        """The threads with their seconds, and whether all sleep."""
        ids = [one for process in self.processes for one in (process() if callable(process) else [process])]
        theirs = [thread for process in ids for thread in threads_of(process)]
        ours = [thread for thread in threads_of(os.getpid()) if thread[0] != threading.get_native_id()]
        asleep = bool(theirs) and all(state in "SI" for _, state, _ in theirs + ours)
        return {thread: seconds for thread, _, seconds in theirs}, asleep

    def watch(self):
        last, (before, asleep) = time.monotonic(), self.look()
        while not self.ended.wait(self.APART):
            now, (threads, still) = time.monotonic(), self.look()
            worked = max((seconds - before.get(thread, 0) for thread, seconds in threads.items()), default=0)
            slept = min(now - last, self.MOST) if asleep and still else 0
            self.seconds += max(worked, slept)
            last, before, asleep = now, threads, still


def processor_seconds(process):
    """The processor time of all threads of a process, by its id; 0 if the process has ended."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processor_seconds_of_ended():
    """The processor time of all children of this process that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def fvecs(rows):
    """Rows of floats as .fvecs has them."""
    return b"".join(struct.pack(f"<i{len(row)}f", len(row), *row) for row in rows)


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

    def read(self, *names):
        """The bytes of a file in the test's own folder."""
        return self.folder.joinpath(*names).read_bytes()

    def read_text(self, *names):
        return self.read(*names).decode()

    def files_in(self, name, without=("manifest.json",)):
        """{path: bytes} of the files in a folder; a manifest has times, and the lock of a killed run stays."""
        folder = self.folder / name
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
                if path.is_file() and path.name not in (*without, LOCK)}

    def real(self, *names):
        """The path of real data; the test is skipped where it is missing."""
        path = pathlib.Path(os.environ.get("RULERANK_TEST_DATA", "absent"), *names)
        if not path.exists():
            self.skipTest(f"needs {'/'.join(names)} in $RULERANK_TEST_DATA")
        return path

    def rulerank(self, *arguments, **options):
        """Runs the program to its end; standard input is empty unless `input` is given."""
        options.setdefault("input", b"")
        options.setdefault("timeout", HANGS)
        if "stdout" not in options:
            options["stdout"] = subprocess.PIPE
        done = subprocess.run([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE,
                              cwd=self.folder, check=False, **options)
        done.stderr = without_progress(done.stderr)
        return done

    def start(self, *arguments, errors=subprocess.PIPE, **options):
        """Starts the program and does not wait."""
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=errors, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def let_work(self, process, seconds, *workers):
        """Waits until a started program has gone on for so many seconds, and had as many of a processor, or has ended: it is in
        the middle of its work in between, however busy the machine is. The ids are of the processes that work where these are
        its children."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds or min(map(processor_seconds, workers or (process.pid,))) < seconds:
            if process.poll() is not None:
                return
            self.assertLess(time.monotonic() - begin, HANGS, "it does not work")
            time.sleep(.01)

    def wait_until(self, there, process):
        """Looks often whether something is there, until it is or the program has ended."""
        begin = time.monotonic()
        while not there() and process.poll() is None:
            self.assertLess(time.monotonic() - begin, HANGS, "never there")
            time.sleep(.002)

    def held_at_work(self, begin, is_over=lambda: False, code=0):
        """Starts a program and stops it in the middle of its work; expect_stopped() continues it. begin(share) starts it and
        waits, for that share of the usual time. If the program has ended with `code`, or is_over() is true, before it is
        stopped, another start follows: this process may have had to wait, or the machine is fast."""
        for attempt in range(ATTEMPTS):
            process = begin(.5 ** attempt)
            if hold(process.pid) and not is_over():
                return process
            process.kill()
            errors = process.communicate(timeout=HANGS)[1]
            self.assertIn(process.returncode, (code, -signal.SIGKILL), errors)
        self.fail("always done too early to be stopped")

    def start_fed(self, data, *arguments):
        """Starts the program, which has read these bytes of its standard input and waits for more."""
        theirs, ours = os.pipe()
        process = self.start(*arguments, stdin=theirs)
        os.close(theirs)
        pipe = open(ours, "wb", buffering=0)
        self.addCleanup(pipe.close)
        pipe.write(data)
        self.wait_until(lambda: fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == bytes(4), process)
        begin = asleep = time.monotonic()
        while time.monotonic() - asleep < .2:
            asleep = asleep if is_asleep(process.pid) else time.monotonic()
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic() - begin, HANGS, "it does not wait")
            time.sleep(.01)
        return process

    def expect_end(self, process, seconds):
        """Expects that a started program ends within `seconds` of its own time, and uses at most these seconds of every core;
        gives its standard error."""
        most = seconds * slowness()
        worked = processor_seconds(process.pid) + processor_seconds_of_ended()
        with OwnSeconds(process.pid) as took:
            process.send_signal(signal.SIGCONT)
            errors = process.communicate(timeout=HANGS)[1].decode()
        self.assertLess(took.seconds, most, errors)
        self.assertLess(processor_seconds_of_ended() - worked, most * os.cpu_count(), errors)
        return errors

    def expect_stopped(self, process, number):
        """A signal ends a started program, which may be held, at once; it says so unless it is killed."""
        process.send_signal(number)
        errors = self.expect_end(process, 1.2)
        self.assertEqual(process.returncode, -9 if number == signal.SIGKILL else 130, errors)
        self.assertEqual("rulerank: error: interrupted\n" in errors, number != signal.SIGKILL)

    def expect(self, code, *arguments, message="", **options):
        """Runs the program, checks its exit code and a part of standard error, returns the rest."""
        done = self.rulerank(*arguments, **options)
        errors = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, errors)
        self.assertIn(message, errors)
        self.assertEqual(errors.count("rulerank: error: "), 0 if code == 0 else 1, errors)
        return done

    def told(self, *arguments, **options):
        """The JSON that a run prints which ends well."""
        return json.loads(self.expect(0, *arguments, **options).stdout)

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
    result = unittest.main(module="__main__", exit=False).result
    if result.wasSuccessful() and result.testsRun and len(result.skipped) == result.testsRun:
        print(f"{sys.argv[0]}: Skipped", result.skipped[0][1], sep="\n")  # which tests/summary.py shows
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
