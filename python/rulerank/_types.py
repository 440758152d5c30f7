"""Types of arguments and results, for type checkers."""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array: typing.TypeAlias = npt.NDArray[typing.Any]
#: Rows of numbers: arrays, frames of pandas, polars and pyarrow, sparse matrices, and arrays of other libraries through DLPack.
Rows: typing.TypeAlias = typing.Union[npt.ArrayLike, "sp.spmatrix", "sp.sparray"]
Vector: typing.TypeAlias = npt.ArrayLike
Path: typing.TypeAlias = typing.Union[str, os.PathLike[str]]
Names: typing.TypeAlias = typing.Union[str, Sequence[str]]
Number: typing.TypeAlias = typing.Union[int, float]
#: An integer from 0.
Count: typing.TypeAlias = typing.Annotated[int, "from 0"]
Bins: typing.TypeAlias = typing.Union[Count, typing.Literal["cv"]]
Partitions: typing.TypeAlias = typing.Union[Count, typing.Literal["auto"]]
#: A number, or "cross-fit" to choose one by cross-fitting.
Penalty: typing.TypeAlias = typing.Union[float, typing.Literal["cross-fit"]]
#: True for progress bars, or a callable of stage, done and total that returns False to stop the work.
Progress: typing.TypeAlias = typing.Union[bool, Callable[[str, int, int], bool]]
RandomState: typing.TypeAlias = typing.Union[int, np.random.RandomState, None]
Labels: typing.TypeAlias = Iterable[typing.Union[int, None]]
#: The path of a file or folder of texts, {id: text} or {id: {field: text}}, or a frame with ids and texts.
Texts: typing.TypeAlias = typing.Union[str, "os.PathLike[str]", Mapping[str, typing.Union[str, Mapping[str, str]]], "Table"]
#: {qid: {docno: label}}, or an object whose `to_dict` returns that, such as ranx's Qrels.
Judgments: typing.TypeAlias = typing.Union[Mapping[str, Mapping[str, int]], "AsDict"]
#: As above with scores, or ranx's Run.
Retrieved: typing.TypeAlias = typing.Union[Mapping[str, Mapping[str, float]], "AsDict"]
Scores: typing.TypeAlias = Mapping[str, npt.ArrayLike]


class Table(typing.Protocol):
    """A frame of pandas or polars, or a table of pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class AsDict(typing.Protocol):
    def to_dict(self) -> Mapping[str, Mapping[str, typing.Any]]: ...
