"""Pickling of the library's objects."""

from . import _core


def take_all_protocols():
    """nanobind's classes support pickle protocols from 2 on; protocols 0 and 1 use the output of 2."""
    for of in vars(_core).values():
        if isinstance(of, type) and "__getstate__" in vars(of):
            of.__reduce_ex__ = _reduce


def _reduce(self, protocol):
    return object.__reduce_ex__(self, max(protocol, 2))
