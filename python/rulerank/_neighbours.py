"""Exact nearest neighbours of text, dense vectors and objects of metric spaces."""

from __future__ import annotations

import pathlib
import tempfile
import typing
from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import as_array, as_frame, expect_unicode, of_another_library, validated
from ._parameters import checked
from ._run import Running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from typing_extensions import Self

    from ._types import Array, Count, Path, Progress, Rows, Vector


def rows_of(fitted, X, reset=False):
    """Vectors in their own type, also through DLPack, without a copy if they are in row-major order. Other types become doubles."""
    if of_another_library(X):
        try:
            X = np.from_dlpack(X)
        except (BufferError, RuntimeError, TypeError):  # of a type that NumPy lacks, such as bfloat16
            if reset and len(getattr(X, "shape", ())) == 2:
                fitted.n_features_in_ = int(X.shape[1])
            return X
    return validated(fitted, as_frame(X), reset=reset, order="C", ensure_all_finite=False, dtype=[
        np.float64, np.float32, np.float16, np.int8, np.uint8, np.int32])


def objects_of(X, what):
    """A list of words, texts or objects. Raises for a frame or dict, whose iteration would give names."""
    if isinstance(X, str):
        raise UsageError(f"X: found a text, expected a list of {what}s")
    if hasattr(X, "columns") or isinstance(X, Mapping):
        raise UsageError(f"X: found a {type(X).__name__}, expected a list of {what}s, such as one column of a frame")
    return X.to_pylist() if hasattr(X, "to_pylist") else list(X)  # pyarrow's elements are not str


def strings_of(X, what):
    """A list of words or texts; raises for other elements."""
    strings = objects_of(X, what)
    for i, one in enumerate(strings):
        if not isinstance(one, str):
            raise UsageError(f"X: found {one!r} at {i}, expected a {what}")
        expect_unicode(one, "X", i)
    return strings


def found(values, rows, return_distance):
    return (values, rows) if return_distance else rows


def found_in_range(begin, values, rows, return_distance):
    """Lists of arrays, one per query."""
    return found(np.split(values, begin[1:-1]), np.split(rows, begin[1:-1]), return_distance)


class Neighbours(Running, BaseEstimator):
    """Shared by the three searches."""

    def _index_of(self):
        check_is_fitted(self, "index_")
        return self.index_

    def _k(self, n_neighbors):
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if k < 1:
            raise UsageError(f"n_neighbors: found {k}, expected 1 or more")
        return min(int(k), max(1, self.index_.rows))

    def _filter(self, rows):
        if rows is None:
            return np.empty(0, np.uint64)
        rows = np.asarray(as_array(rows, "filter"))
        if rows.dtype != bool or rows.shape != (self.index_.rows,):
            raise UsageError(f"filter: found {rows.dtype} of the shape {rows.shape}, expected a bool for each of "
                             f"{self.index_.rows} rows")
        words = np.zeros(-(-len(rows) // 64) * 8, np.uint8)
        packed = np.packbits(rows, bitorder="little")
        words[:len(packed)] = packed
        return words.view(np.uint64)

    @checked
    def save(self, path: Path) -> None:
        """Writes the index file, for the program's option `--index`. Not possible for objects under a callable, and for an
        index in parts."""
        with self._running() as run:
            self._index_of().save(run, str(path))

    @classmethod
    @checked
    def load(cls, path: Path, **params: Any) -> Self:
        """Reads an index written by `save` or the program into memory, with the parameters in the file. `path` may be a list of
        the parts of an index, written by MPI ranks. `params` override the file's parameters."""
        made = cls(**params)
        made._open(path)
        made.set_params(**made._parameters_of_file() | params)
        if dimensions := getattr(made.index_, "dimensions", 0):
            made.n_features_in_ = dimensions
        return made

    def _parameters_of_file(self):
        return self.index_.parameters

    def __getstate__(self):
        """Pickles the index as the bytes of its file."""
        state = dict(super().__getstate__())
        if "index_" in state:
            with tempfile.TemporaryDirectory() as folder:
                self.save(f"{folder}/index")
                state["index_"] = pathlib.Path(folder, "index").read_bytes()
        return state

    def __setstate__(self, state):
        state = dict(state)
        index = state.pop("index_", None)
        super().__setstate__(state)
        if index is not None:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "index").write_bytes(index)
                self._open(f"{folder}/index")


class DenseNeighbors(Neighbours):
    """Exact nearest rows among dense vectors, like `rulerank search dense`.

    Rows of float32, float16, bfloat16, int8 and uint8 are searched in place without a copy: do not modify the array while
    the index is in use. Doubles are rounded to float32, in a copy.

    Parameters
    ----------
    n_neighbors : int
    metric : {"l2", "ip", "cosine"}; values of ip and cosine are similarities, largest first
    engine : {"auto", "flat", ...}
    device, n_jobs, verbose : as in `RuleRanker`

    Examples
    --------
    >>> from rulerank import DenseNeighbors
    >>> distances, rows = DenseNeighbors(2).fit([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]]).kneighbors([[0.0, 0.0]])
    >>> distances.tolist(), rows.tolist()
    ([[0.0, 1.0]], [[0, 2]])
    """

    def __init__(self, n_neighbors: Count = 5, *, metric: str = "l2", engine: str = "auto", device: str = "cpu",
                 n_jobs: int | None = None, verbose: Progress = False) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.engine = engine
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Rows, y: object = None) -> Self:
        """X : array [rows x dimensions], or an object that supports DLPack."""
        X = rows_of(self, X, reset=True)
        with self._running() as run:
            self.index_ = _core.DenseIndex.build(run, X, self.metric, self.engine)
        return self

    def _open(self, path):
        with self._running() as run:
            self.index_ = _core.DenseIndex.open(run, str(path), self.engine)

    @checked
    def kneighbors(self, X: Rows, n_neighbors: Count | None = None, return_distance: bool = True, *,
                   filter: Vector | None = None) -> tuple[Array, Array] | Any:
        """(values, rows), both [queries x k], nearest first, ties by ascending row. Missing neighbours are -1 and NaN.
        `filter` [rows] of bool: the rows that may be found."""
        index = self._index_of()
        k, allowed = self._k(n_neighbors), self._filter(filter)
        with self._running() as run:
            return found(*index.search(run, rows_of(self, X), k, allowed), return_distance)

    @checked
    def radius_neighbors(self, X: Rows, radius: float, return_distance: bool = True, *,
                         filter: Vector | None = None) -> tuple[list[Array], list[Array]] | Any:
        """For each query all rows within distance `radius`, or for ip and cosine with at least that similarity: lists of
        arrays, values and rows."""
        index = self._index_of()
        allowed = self._filter(filter)
        with self._running() as run:
            return found_in_range(*index.search_range(run, rows_of(self, X), radius, allowed), return_distance)

    def _parameters_of_file(self):
        return {"metric": {"inner_product": "ip"}.get(self.index_.metric, self.index_.metric)}


class MetricNeighbors(Neighbours):
    """Exact nearest objects of a metric space, like `rulerank search metric`: vectors, words, or any objects with a
    callable.

    Parameters
    ----------
    n_neighbors : int
    metric : {"l1", "l2", "linf", "angular"} for vectors, "edit" for words, or a callable of two objects that returns their
        distance and is a metric. "angular" is pi / 2 between a zero vector and any other, 0 between two zero vectors
    index : {"auto", "brute", "lc", "sss", "sss-tree", "egnat", "m-tree", "mvpt"}
    bucket, alpha : of the index; bucket 0: suited to its type
    letters : {"code-points", "bytes"}, the unit of edits for words
    check_metric : number of random triples of objects in which `fit` looks for violations of the metric axioms (asymmetry, a
        nonzero distance from an object to itself, or a violated triangle inequality); raises if it finds any, because an
        index would miss objects. 0: none
    n_jobs, verbose : as in `RuleRanker`

    Examples
    --------
    >>> from rulerank import MetricNeighbors
    >>> words = ["ranking", "banking", "linking"]
    >>> distances, rows = MetricNeighbors(2, metric="edit").fit(words).kneighbors(["barking"])
    >>> distances.tolist(), [words[row] for row in rows[0]]
    ([[1.0, 2.0]], ['banking', 'ranking'])
    """

    def __init__(self, n_neighbors: Count = 5, *, metric: str | Callable[[Any, Any], float] = "l2", index: str = "auto",
                 bucket: Count = 0, alpha: float = 0.4, letters: str = "code-points", check_metric: Count = 0,
                 n_jobs: int | None = None, verbose: Progress = False) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.index = index
        self.bucket = bucket
        self.alpha = alpha
        self.letters = letters
        self.check_metric = check_metric
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Rows | Sequence[Any], y: object = None) -> Self:
        """X : array [rows x dimensions], words, or objects."""
        with self._running() as run:
            options = _core.MetricOptions(self.index, self.bucket, self.alpha)
            triples = self.check_metric
            if callable(self.metric):
                self.index_ = _core.MetricIndex.of_objects(run, objects_of(X, "object"), self.metric, options, triples)
            elif self.metric == "edit":
                self.index_ = _core.MetricIndex.of_words(run, strings_of(X, "word"), self.letters, options, triples)
            else:
                X = rows_of(self, X, reset=True)
                self.index_ = _core.MetricIndex.of_vectors(run, X, self.metric, options, triples)
        return self

    def _queries(self, X):
        if self.index_.kind == "vectors":
            return rows_of(self, X)
        return strings_of(X, "word") if self.index_.kind == "words" else objects_of(X, "object")

    @checked
    def kneighbors(self, X: Rows | Sequence[Any], n_neighbors: Count | None = None, return_distance: bool = True, *,
                   filter: Vector | None = None) -> tuple[Array, Array] | Any:
        """(distances, rows), both [queries x k], nearest first, ties by ascending row. Missing neighbours are -1 and NaN.
        `filter` [rows] of bool: the objects that may be found."""
        index = self._index_of()
        k, allowed = self._k(n_neighbors), self._filter(filter)
        with self._running() as run:
            return found(*index.search(run, self._queries(X), k, allowed), return_distance)

    @checked
    def radius_neighbors(self, X: Rows | Sequence[Any], radius: float, return_distance: bool = True, *,
                         filter: Vector | None = None) -> tuple[list[Array], list[Array]] | Any:
        """For each query all objects within distance `radius`: lists of arrays, distances and rows."""
        index = self._index_of()
        allowed = self._filter(filter)
        with self._running() as run:
            return found_in_range(*index.search_range(run, self._queries(X), radius, allowed), return_distance)

    def _open(self, path):
        with self._running() as run:
            self.index_ = _core.MetricIndex.open(run, str(path))


class TextNeighbors(Neighbours):
    """Exact nearest text documents, like `rulerank search text`.

    Parameters
    ----------
    n_neighbors : int
    weighting : SMART notation for documents and queries, such as "lnc.ltc", or "bm25"
    stop_words : "smart", "none", `file:PATH` with one word per line, or "words:a the" with the words themselves, as `load`
        returns those of a file
    stemmer : "english", "porter", "german", ... or "none"
    fold : remove case and accents
    numbers : keep words without letters
    min_length, max_length : drop words with fewer or more characters
    min_documents, max_share : drop terms that occur in fewer documents, or in a larger share of them
    k1, b : for bm25
    engine : {"auto", "tiles", "mt", ...}
    device, n_jobs, verbose : as in `RuleRanker`

    Examples
    --------
    >>> from rulerank import TextNeighbors
    >>> texts = ["Cats chase mice", "Dogs chase cats", "Mice eat cheese"]
    >>> TextNeighbors(2).fit(texts).kneighbors(["cats or mice"], return_distance=False).tolist()
    [[0, 1]]
    """

    def __init__(self, n_neighbors: Count = 5, *, weighting: str = "lnc.ltc", stop_words: str = "smart",
                 stemmer: str = "english", fold: bool = True, numbers: bool = True, min_length: Count = 1,
                 max_length: Count = 64, min_documents: Count = 1, max_share: float = 1.0, k1: float = 1.2,
                 b: float = 0.75, engine: str = "auto", device: str = "cpu", n_jobs: int | None = None, verbose: Progress = False) -> None:
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.fold = fold
        self.numbers = numbers
        self.min_length = min_length
        self.max_length = max_length
        self.min_documents = min_documents
        self.max_share = max_share
        self.k1 = k1
        self.b = b
        self.engine = engine
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Sequence[str], y: object = None, *, ids: Sequence[object] | None = None) -> Self:
        """X : texts. `ids` : of the documents; default: their numbers."""
        texts = strings_of(X, "text")
        ids = [] if ids is None else [str(one) for one in ids]
        if ids and len(ids) != len(texts):
            raise UsageError(f"ids: found {len(ids)}, expected one for each of {len(texts)} documents")
        for row, one in enumerate(ids):
            expect_unicode(one, "ids", row)
        with self._running() as run:
            options = _core.TextOptions(self.stop_words, self.stemmer, self.fold, self.numbers, self.min_length,
                                        self.max_length, self.min_documents, self.max_share)
            options.set_weighting(self.weighting, self.k1, self.b)
            self.index_ = _core.TextIndex.build(run, texts, ids, options, self.engine)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    @property
    def ids_(self) -> Array:
        """The ids of the documents."""
        return np.asarray(self._index_of().ids)

    @checked
    def kneighbors(self, X: Sequence[str], n_neighbors: Count | None = None, return_distance: bool = True, *,
                   filter: Vector | None = None, pad: bool = False) -> tuple[Array, Array] | Any:
        """(similarities, rows), both [queries x k], most similar first: documents that share a term with the query. Missing
        neighbours are -1 and NaN. `filter` [documents] of bool: the documents that may be found. `pad`: fill up with other
        documents."""
        index = self._index_of()
        k, allowed = self._k(n_neighbors), self._filter(filter)
        with self._running() as run:
            return found(*index.search(run, strings_of(X, "text"), k, allowed, pad), return_distance)

    @checked
    def radius_neighbors(self, X: Sequence[str], radius: float, return_distance: bool = True, *,
                         filter: Vector | None = None) -> tuple[list[Array], list[Array]] | Any:
        """For each query all documents with a similarity of at least `radius`: lists of arrays, similarities and rows."""
        index = self._index_of()
        allowed = self._filter(filter)
        with self._running() as run:
            return found_in_range(*index.search_range(run, strings_of(X, "text"), radius, allowed), return_distance)

    def _open(self, path):
        with self._running() as run:
            self.index_ = _core.TextIndex.open(run, str(path), self.engine)
