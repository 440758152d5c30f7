"""The program, synthetic data and real data. The tests use the installed package: run pytest from another folder."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from rulerank import load_letor

# Shells start background jobs with Ctrl-C ignored; the tests, and the processes that they start, restore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def program():
    """Runs the program rulerank ($RULERANK_PROGRAM) with arguments; gives its standard output."""
    path = os.environ.get("RULERANK_PROGRAM") or shutil.which("rulerank")
    if not path:
        pytest.skip("needs the program: RULERANK_PROGRAM is not set")

    def run(*arguments, cwd=None):
        done = subprocess.run([path, *map(str, arguments)], cwd=cwd, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def program_json(program):
    return lambda *arguments: json.loads(program(*arguments, "--json", "--quiet"))


@pytest.fixture(scope="session")
def drawn(program, tmp_path_factory):
    """The folder Fold1 of a small synthetic data set."""
    folder = tmp_path_factory.mktemp("drawn")
    program("sample", "--documents", 1200, "--features", 12, "--queries", 40, "--folds", 3,
            "--out-dir", folder, "--quiet")
    return folder / "Fold1"


@pytest.fixture(scope="session")
def train(drawn):
    return load_letor(drawn / "train.txt")


@pytest.fixture(scope="session")
def test(drawn):
    return load_letor(drawn / "test.txt")


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data sets ($RULERANK_TEST_DATA)."""
    folder = os.environ.get("RULERANK_TEST_DATA")
    if not folder:
        pytest.skip("real data: RULERANK_TEST_DATA is not set")

    def path(name):
        found = pathlib.Path(folder) / name
        if not found.exists():
            pytest.skip(f"real data {name} not in $RULERANK_TEST_DATA")
        return found

    return path


def slowness():
    """How many times the usual processor time a fixed piece of work takes here and now; at least 1."""
    usual, least = 0.01, float("inf")
    for _ in range(3):
        begin = time.thread_time()
        sum(n * n for n in range(200_000))
        least = min(least, time.thread_time() - begin)
    return max(1.0, least / usual)


def scores_of(path):
    return [float(line) for line in pathlib.Path(path).read_text().split()]
