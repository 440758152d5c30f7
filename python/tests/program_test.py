"""The command that the wheel installs."""

import pathlib
import subprocess
import sys

import rulerank


def test_the_environment_has_the_command():
    program = pathlib.Path(sys.executable).parent / "rulerank"
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    assert done.stdout.startswith(f"rulerank {rulerank.__version__}")
