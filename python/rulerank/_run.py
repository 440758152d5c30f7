"""Settings of calls: threads, seed, device, progress bars."""

from __future__ import annotations

import contextlib
import contextvars
import numbers
import os
import typing

from sklearn.utils import check_random_state

from . import _core
from ._parameters import check
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: The ranks of `over_ranks` in the current context.
current_ranks = contextvars.ContextVar("current_ranks", default=None)


@contextlib.contextmanager
def over_ranks(ranks: Any) -> Iterator[None]:
    """Distributes the calls in the `with` block over ranks: choosing documents, scores, mining, pools and searches.
    Each rank must make the same calls with the same arguments in the same order, and gets the full result. If the work of a
    call fails on one rank, the call raises on all ranks.

    Parameters
    ----------
    ranks : mpi4py's `MPI.COMM_WORLD`, or any object with `rank`, `size` and `allgather(value)`. Start the script with
        `mpirun -n 4 python -m mpi4py script.py`, which ends all ranks when one fails.

    Examples
    --------
    >>> from rulerank import DenseNeighbors, over_ranks
    >>> class Alone:
    ...     rank, size = 0, 1
    ...     def allgather(self, value):
    ...         return [value]
    >>> with over_ranks(Alone()):
    ...     DenseNeighbors(1).fit([[0.0], [3.0]]).kneighbors([[2.0]], return_distance=False).tolist()
    [[1]]
    """
    size, rank = getattr(ranks, "size", None), getattr(ranks, "rank", None)
    if not isinstance(size, int) or not isinstance(rank, int) or not callable(getattr(ranks, "allgather", None)):
        raise UsageError(f"ranks: found {type(ranks).__name__}, expected an object with rank, size and allgather, such as "
                         "mpi4py's MPI.COMM_WORLD")
    if not 0 <= rank < size:
        raise UsageError(f"ranks: found rank {rank} of {size}, expected one from 0 to {size - 1}")
    token = current_ranks.set(ranks if size > 1 else None)
    try:
        yield
    finally:
        current_ranks.reset(token)


class ProgressBars:
    """A tqdm bar for the current stage."""

    def __init__(self):
        self._stage, self._bar = None, None

    def __call__(self, stage, done, total):
        from tqdm.auto import tqdm

        if stage != self._stage:
            self.close()
            self._stage, self._bar = stage, tqdm(desc=stage, total=total or None)
        self._bar.update(done - self._bar.n)
        return True

    def close(self):
        if self._bar is not None:
            self._bar.close()
        self._stage, self._bar = None, None


def threads_of(n_jobs):
    """The library's number of threads. None and -1: 0, which means all that the process may use."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise UsageError("n_jobs: found 0, expected a number of threads, None or -1")
    if n_jobs >= 2**31:
        raise UsageError("n_jobs: found 2**31 or more, expected a number of threads, None or -1")
    return n_jobs if n_jobs > 0 else max(1, len(os.sched_getaffinity(0)) + 1 + n_jobs)


def seed_of(random_state):
    if random_state is None:
        return 1
    if isinstance(random_state, numbers.Integral):
        if not 0 <= random_state < 2**64:
            raise UsageError(f"random_state: found {random_state}, expected a whole number from 0")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


@contextlib.contextmanager
def running(n_jobs=None, random_state=1, device="cpu", verbose=False):
    """The settings of a call. `verbose`: a truth value, for progress bars; or a callable of stage, done and total (0:
    unknown) that returns False to stop the work."""
    called = verbose if callable(verbose) else None
    bars = ProgressBars() if verbose and called is None else None
    try:
        yield _core.RunSettings(threads_of(n_jobs), seed_of(random_state), device, bars or called,
                                current_ranks.get())
    finally:
        if bars is not None:
            bars.close()


class Running:
    """Runs an estimator's work with its parameters n_jobs, random_state, device and verbose."""

    def _running(self):
        check(type(self).__init__, vars(self).items())
        return running(self.n_jobs, getattr(self, "random_state", 1), getattr(self, "device", "cpu"), self.verbose)
