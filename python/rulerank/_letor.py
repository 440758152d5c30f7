"""Files of documents with labels and queries."""

from __future__ import annotations

import typing
import warnings

import numpy as np
import scipy.sparse as sp

from . import _core
from ._data import as_array, checked_csr, dataset_of, in_doubles, is_frame, queries_of, split_qid
from ._parameters import checked
from ._run import running
from .exceptions import DataError, UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import Count, Path, Progress, RandomState, Rows, Vector


LARGEST_FEATURE = 2**31 - 1  # limit of the library


def numbers_or_bools(rows):
    """A selection of rows as an array."""
    rows = np.asarray(as_array(rows, "rows"))
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iub"):
        raise UsageError(f"rows: found {rows.dtype} of the shape {rows.shape}, expected a list of rows, a bool for each, or a slice")
    return rows if len(rows) else rows.astype(np.int64)


class LetorData(typing.NamedTuple):
    """Documents: `X` [rows x features], `y` [rows] labels, `qid` [rows] integers or text, `docid` and `comments` [rows] text,
    `feature_names` of the columns if the file has names, else None."""

    X: typing.Any
    y: np.ndarray
    qid: np.ndarray
    docid: np.ndarray
    comments: list
    feature_names: list | None

    def take(self, rows: Vector | slice) -> LetorData:
        """A subset of the rows: by their numbers, as from a splitter of scikit-learn, by a bool for each, or by a slice."""
        rows = np.arange(len(self.y))[rows if isinstance(rows, slice) else numbers_or_bools(rows)]
        X = self.X.iloc[rows] if is_frame(self.X) else self.X[rows]
        return LetorData(X, self.y[rows], self.qid[rows], self.docid[rows], [self.comments[row] for row in rows.tolist()],
                         self.feature_names)


@checked
def load_letor(path: Path, *, n_features: Count | None = None, sparse: bool = False, as_frame: bool = False,
               zero_based: bool = False, regroup: bool = False, unlabelled: int | None = None, group_file: Path = "",
               fractional_labels: bool = False, n_jobs: int | None = None, verbose: Progress = False) -> LetorData:
    """Reads SVMlight with qid (LETOR, MSLR, Yahoo!), CSV or TSV; plain, gzip or zstd.

    Column j of X is feature j + 1 of the file (j with `zero_based`), or the j-th name in byte order. A value that a line does
    not list is 0, or no entry of a sparse X; a value listed as missing is NaN. A feature beyond `n_features` raises an error.

    Parameters
    ----------
    n_features : int, columns of X; default: up to the largest feature of the file, or the number of names
    sparse : return X as scipy's CSR
    as_frame : return X as a DataFrame with qid as its first column, which estimators use
    regroup : group the lines of a query if they are apart; X, y and qid are in that order
    unlabelled : the negative label of unlabelled documents
    group_file : path of LightGBM's group sizes, for lines without qid
    fractional_labels : allow fractional labels; y is float

    Returns
    -------
    LetorData

    Examples
    --------
    >>> from rulerank import load_letor
    >>> with open("three.txt", "w") as file:
    ...     _ = file.write("2 qid:a 1:0.5 2:3 #docid = d1\\n0 qid:a 2:1\\n1 qid:b 1:0.25\\n")
    >>> data = load_letor("three.txt")
    >>> data.X.tolist(), data.y.tolist(), data.qid.tolist()
    ([[0.5, 3.0], [0.0, 1.0], [0.25, 0.0]], [2, 0, 1], ['a', 'a', 'b'])
    """
    with running(n_jobs, verbose=verbose) as run:
        data, said = _core.read_dataset(run, str(path), zero_based, regroup, unlabelled, str(group_file),
                                        fractional_labels)
        for message in said:
            warnings.warn(message, stacklevel=3)
        first = 0 if zero_based and not data.feature_names else 1
        if n_features and data.feature_names and n_features != len(data.feature_names):
            raise UsageError(f"n_features: found {n_features}, expected None, or {len(data.feature_names)}: as many as have names in {path}")
        if n_features:
            data.expect_features(n_features - 1 + first, f"n_features={n_features}")
        return _letor_data(run, data, n_features, first, sparse, as_frame)


def _letor_data(run, data, n_features, first, sparse, as_frame):
    """Converts the library's data set to arrays; column 0 is the feature `first`."""
    names = data.feature_names or None
    columns = n_features or (len(names) if names else data.max_feature + 1 - first)
    y = data.fractional_labels()
    y = y if len(y) else data.labels()
    qid, docid, comments = np.asarray(data.qids()), np.asarray(data.docids()), data.comments()
    data.drop_text()  # frees as much memory as X needs
    if sparse:
        values, indices, indptr = data.to_csr(run, columns, first)
        X = sp.csr_matrix((values, indices, indptr), shape=(len(data), columns))
    else:
        X = data.to_dense(run, columns, first)
    if as_frame:
        import pandas as pd

        named = names or [str(f) for f in range(first, first + columns)]
        X = pd.DataFrame.sparse.from_spmatrix(X, columns=named) if sparse else pd.DataFrame(X, columns=named)
        X.insert(0, "qid", qid)
    return LetorData(X, y, qid, docid, comments, names)


@checked
def draw_letor(n_documents: Count, n_features: Count, n_queries: Count = 0, *, n_labels: Count = 3, sparse: bool = False,
               as_frame: bool = False, n_jobs: int | None = None, random_state: RandomState = 1) -> LetorData:
    """Generates synthetic documents like those of LETOR: all documents that `rulerank sample` writes to its folds. Equal
    `random_state` values give equal documents.

    Parameters
    ----------
    n_documents, n_features : int
    n_queries : int; 0: one per hundred documents
    n_labels : int, labels 0 to n_labels - 1, each a quarter as frequent as the one before
    sparse, as_frame : as in `load_letor`

    Returns
    -------
    LetorData

    Examples
    --------
    >>> from rulerank import draw_letor
    >>> drawn = draw_letor(200, 5, 8)
    >>> drawn.X.shape, len(set(drawn.qid))
    ((200, 5), 8)
    """
    with running(n_jobs, random_state) as run:
        data = _core.draw_dataset(run, n_documents, n_features, n_queries, n_labels)
        return _letor_data(run, data, n_features, 1, sparse, as_frame)


def by_number(X, names):
    """X, names, None; if all names are numerals: X with its columns in numeric order, None, the numbers."""
    words = [str(name) for name in names or []]
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 20 for word in words):
        return X, names, None
    numbers = [int(word) for word in words]
    order = np.argsort(numbers, kind="stable")
    numbers = [numbers[column] for column in order]
    for before, number in zip(numbers, numbers[1:]):
        if before == number:
            raise DataError(f"X: found feature {number} twice among its columns, expected each once")
    if numbers[-1] > LARGEST_FEATURE:
        raise DataError(f"X: found feature {numbers[-1]} among its columns, expected at most {LARGEST_FEATURE}")
    if (np.diff(order) > 0).all():
        return X, None, numbers
    return (checked_csr(X) if sp.issparse(X) else X)[:, order], None, numbers


@checked
def dump_letor(path: Path, X: Rows, y: Vector, qid: Vector | None = None, *, docid: Sequence[object] | None = None,
               comments: Sequence[object] | None = None, feature_names: Sequence[str] | None = None,
               qid_column: str | int | None = "qid", n_jobs: int | None = None) -> None:
    """Writes documents as SVMlight with qid, with exact values, atomically. Column j of X is feature j + 1, or has its name in
    `feature_names` or the frame. If all names are numerals, as from `load_letor(as_frame=True)` and pandas' defaults, they are
    the features' numbers, in any order. Read a file that has a feature 0 with `zero_based=True`. The rows of a query are
    written together. NaN is written as missing. For a sparse X only its entries are written, otherwise all values.

    Examples
    --------
    >>> from rulerank import dump_letor
    >>> dump_letor("two.txt", [[0.5, 3], [0, 1]], [2, 0], [7, 7])
    >>> import pathlib
    >>> print(pathlib.Path("two.txt").read_text(), end="")
    2 qid:7 1:0.5 2:3
    0 qid:7 1:0 2:1
    """
    X, qid = split_qid(X, qid, qid_column)
    feature_names, docid, comments = (None if of is None else list(of) for of in (feature_names, docid, comments))
    if is_frame(X):
        feature_names = list(X.columns) if feature_names is None else feature_names
        X = in_doubles(lambda: X.to_numpy(dtype=np.float64), X=X)
    X = X if sp.issparse(X) else in_doubles(lambda: np.ascontiguousarray(X, dtype=np.float64), X=X)
    for name, values, wanted, of in (("feature_names", feature_names, X.shape[1], "columns"),
                                     ("docid", docid, X.shape[0], "rows"), ("comments", comments, X.shape[0], "rows")):
        if values is not None and len(values) != wanted:
            raise UsageError(f"{name}: found {len(values)}, expected one for each of {wanted} {of}")
    X, feature_names, numbers = by_number(X, feature_names)
    queries = queries_of(qid, X.shape[0])
    rows = np.arange(X.shape[0]) if queries.order is None else queries.order
    with running(n_jobs) as run:
        made = dataset_of(run, X, queries, y, feature_names,
                          None if docid is None else [str(docid[i]) for i in rows],
                          None if comments is None else [str(comments[i]) for i in rows], numbers)
        _core.write_dataset(run, made, str(path))
