"""The build backend that pip calls: scikit-build-core's, with progress on the terminal.

pip keeps to itself what a backend prints, unless it is called with -v, and compiling takes minutes.
"""

import contextlib
import os
import re
import threading
import time

from scikit_build_core import build as _scikit
from scikit_build_core.build import *  # noqa: F403: re-export the other hooks unchanged

SECONDS = 10  # between two lines
STEP = re.compile(rb"\[(\d+)/(\d+)\]")


@contextlib.contextmanager
def progress():
    """Passes standard output on, and every SECONDS says on the terminal, if there is one, how far ninja is."""
    try:
        terminal = open("/dev/tty", "w")
    except OSError:
        yield
        return
    output = os.dup(1)
    reading, writing = os.pipe()

    def pass_on():
        told = time.monotonic()
        with open(reading, "rb", buffering=0) as source:
            while said := source.read(65536):
                os.write(output, said)
                if (step := STEP.search(said)) and time.monotonic() - told > SECONDS:
                    told = time.monotonic()
                    terminal.write(f"\n  rulerank: compiled {int(step[1])} of {int(step[2])} ")
                    terminal.flush()

    thread = threading.Thread(target=pass_on)
    with terminal:
        os.dup2(writing, 1)
        os.close(writing)
        thread.start()
        try:
            yield
        finally:
            os.dup2(output, 1)  # closes the pipe's last write end
            thread.join()
            os.close(output)


def build_wheel(*arguments, **named):
    with progress():
        return _scikit.build_wheel(*arguments, **named)


def build_editable(*arguments, **named):
    with progress():
        return _scikit.build_editable(*arguments, **named)
