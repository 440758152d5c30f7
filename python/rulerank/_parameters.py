"""Checks of arguments and parameters against the types in signatures, for all estimators and functions."""

import collections.abc
import functools
import inspect
import numbers
import os
import sys
import types
import typing

import numpy as np

from . import _core
from . import _types
from .exceptions import UsageError

Function = typing.TypeVar("Function", bound=collections.abc.Callable)


def whole(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def real(value):
    """Whether the value is a number that a double can represent."""
    if isinstance(value, numbers.Integral):
        return whole(value) and abs(value) <= sys.float_info.max
    return isinstance(value, numbers.Real)


#: For each type in signatures: its name in messages, and a test of values. Parameters of other types are not checked.
KINDS = {
    bool: ("True or False", lambda value: isinstance(value, (bool, np.bool_))),
    int: ("a whole number", lambda value: whole(value) and -2**63 <= value < 2**64),
    _types.Count: ("a whole number from 0", lambda value: whole(value) and 0 <= value < 2**31),
    float: ("a number", real),
    str: ("text", lambda value: isinstance(value, str)),
    type(None): ("None", lambda value: value is None),
    os.PathLike: ("a path", lambda value: isinstance(value, os.PathLike)),
    collections.abc.Sequence: ("a list", np.iterable),
    collections.abc.Mapping: ("a dict", lambda value: isinstance(value, collections.abc.Mapping)),
    collections.abc.Callable: ("a callable", callable),
    _types.Table: ("a frame", lambda value: hasattr(value, "columns")),
    np.random.RandomState: ("a RandomState", lambda value: isinstance(value, np.random.RandomState)),
    _core.Cuts: ("cuts_ of an estimator", lambda value: isinstance(value, _core.Cuts)),
}


def kind_of(annotation):
    if typing.get_origin(annotation) is typing.Literal:
        words = typing.get_args(annotation)
        return " or ".join(map(repr, words)), lambda value: isinstance(value, str) and value in words
    origin, (of, *_) = typing.get_origin(annotation), typing.get_args(annotation) or (None,)
    if origin is collections.abc.Sequence and of in (int, float):
        words, accepts = KINDS[of]
        return f"a list of {words.removeprefix('a ')}s", lambda value: np.iterable(value) and all(map(accepts, value))
    return KINDS.get(annotation) or KINDS.get(origin)


@functools.cache
def expected_of(function):
    """{parameter: (default, accepted kinds)} for the parameters whose types are all in KINDS."""
    names = vars(typing) | vars(sys.modules[function.__module__]) | vars(_types)
    expected = {}
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = parameter.annotation
        try:
            annotation = eval(annotation, names) if isinstance(annotation, str) else annotation
        except (AttributeError, NameError):
            continue  # imported for type checkers only
        union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
        kinds = [kind_of(one) for one in (typing.get_args(annotation) if union else [annotation])]
        # `verbose` accepts any truth value, as in scikit-learn.
        if None not in kinds and annotation != _types.Progress and parameter.kind is not parameter.VAR_KEYWORD:
            expected[name] = parameter.default, kinds
    return expected


def check(function, values):
    """Raises for the first (name, value) that the function's signature does not accept."""
    expected = expected_of(function)
    for name, value in values:
        default, kinds = expected.get(name, (value, ()))
        if value is not default and not any(accepts(value) for _, accepts in kinds):
            try:
                shown = repr(value)
            except ValueError:  # Python does not convert integers of more than 4,300 digits
                shown = ""
            words = [word for word, _ in kinds]
            raise UsageError(f"{name}: found {shown if 0 < len(shown) < 60 else type(value).__name__}, expected "
                             + " or ".join([", ".join(words[:-1])] * (len(words) > 1) + words[-1:]))


def checked(function: Function) -> Function:
    """Decorator: checks the arguments before the call."""
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*arguments, **named):
        check(function, [*zip(names, arguments), *named.items()])
        return function(*arguments, **named)

    return call
