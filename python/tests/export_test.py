"""Exports that libraries of PyPI read: the tests of the program's verb export, run by the Python that has these libraries."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "tests/cli/export_test.py"


@pytest.mark.parametrize("test", ["Libraries", "Queries.test_duckdb"])
def test_libraries(test, program):
    path = os.environ.get("RULERANK_PROGRAM") or shutil.which("rulerank")
    done = subprocess.run([sys.executable, SCRIPT, path, test], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
