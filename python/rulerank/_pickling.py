"""Pickles of the objects that the library gives."""

from . import _core


def take_all_protocols():
    """nanobind's classes can be pickled by protocols from 2 on; 0 and 1 get what 2 writes."""
    for of in vars(_core).values():
        if isinstance(of, type) and "__getstate__" in vars(of):
            of.__reduce_ex__ = _reduce


def _reduce(self, protocol):
    return object.__reduce_ex__(self, max(protocol, 2))
