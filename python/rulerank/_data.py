"""Conversion of arrays and frames to the library's data sets; it only reorders rows."""

import dataclasses
import numbers
import sys
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d, validate_data

from . import _core
from ._parameters import whole
from .exceptions import DataError, UsageError


def is_frame(X):
    return hasattr(X, "columns") and hasattr(X, "iloc")


def as_frame(X):
    """Converts an Arrow-compatible table, such as those of polars and pyarrow, to a pandas frame; returns anything else unchanged."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if is_frame(X) or names is None or not hasattr(X, "__arrow_c_stream__"):
        return X
    return pd.DataFrame({name: np.asarray(X[name]) for name in names})


HOST_MEMORY = (1, 3)  # DLPack's kDLCPU and kDLCUDAHost


def of_another_library(X, name="X"):
    """Whether X is an array to be read through DLPack. Raises for one that the CPU cannot read; the message calls it `name`."""
    if not hasattr(X, "__dlpack__") or hasattr(X, "__arrow_c_array__") or isinstance(X, np.ndarray) or is_frame(X):
        return False
    kind, number = X.__dlpack_device__()
    if kind not in HOST_MEMORY:
        raise UsageError(f"{name}: found an array on device {number} of DLPack's kind {int(kind)}, expected an array "
                         f"in the memory of the CPU, such as {name}.cpu()")
    return True


def as_array(X, name="X"):
    """Another library's array through DLPack, without a copy; returns anything else unchanged."""
    if not of_another_library(X, name):
        return X
    try:
        return np.from_dlpack(X)
    except (BufferError, RuntimeError, TypeError) as error:
        raise UsageError(f"{name}: found {type(X).__name__}, which NumPy cannot read ({error}), expected values of "
                         + ("float32 or float64" if name == "X" else "a type that NumPy has")) from error


def split_qid(X, qid, qid_column):
    """X without the column of query ids, and the query ids or None."""
    X = as_frame(X)
    if qid_column is None:
        return as_array(X), qid
    if is_frame(X):
        if qid_column not in X.columns:
            if qid is None and qid_column != "qid":
                raise UsageError(f"qid_column: found {qid_column!r}, expected the name of a column of X")
            return X, qid
        if qid is not None:
            raise UsageError(f"qid: found both qid and the column {qid_column!r} of X, expected one of them")
        return X.drop(columns=qid_column), X[qid_column].to_numpy()
    if hasattr(X, "columns"):  # its column of query ids would become a feature
        raise UsageError(f"X: found {type(X).__name__} of {type(X).__module__.split('.')[0]}, expected a frame of "
                         "pandas, polars or pyarrow")
    X = as_array(X)
    if isinstance(qid_column, str):
        return X, qid
    if qid is not None:
        raise UsageError(f"qid: found both qid and column {qid_column} of X, expected one of them")
    if not sp.issparse(X):
        X = np.asarray(X)
    if X.ndim != 2 or not whole(qid_column) or not -X.shape[1] <= qid_column < X.shape[1]:
        raise UsageError(f"qid_column: found {qid_column!r}, expected the number of a column of X, whose shape is "
                         f"{X.shape}")
    column = qid_column % X.shape[1]
    rest = np.delete(np.arange(X.shape[1]), column)
    if sp.issparse(X):
        X = checked_csr(X)
        return X[:, rest], np.asarray(X[:, [column]].todense()).ravel()
    return X[:, rest], X[:, column]


def columns_of_file(X, names):
    """X for an estimator loaded from a file: of a frame, only the columns named there."""
    if names is None:
        return X
    if not is_frame(X):
        raise DataError("X: found features with numbers, expected a frame with the columns of feature_names_in_")
    return X[list(names)] if set(names) <= set(X.columns) else X


def warn_of_one_query(qid, qid_column, rows, calls=1):
    """Warns if query ids were probably intended but not given. `calls`: number of frames between the user's line and this function."""
    if qid is None and qid_column is not None and rows > 1:
        warnings.warn(f"qid: found none, so all {rows} rows are one query; pass qid, or set qid_column to a column of X "
                      "(scikit-learn's searches pass groups to the splitter alone), or set qid_column=None for one query",
                      stacklevel=2 + calls)


@dataclasses.dataclass
class Queries:
    """Rows grouped by query. `names`: ids as text; `ids`: ids as given. `order`: the permutation that groups each query's
    rows, or None if they are grouped."""

    sizes: list
    names: list
    ids: np.ndarray
    order: np.ndarray | None = None

    @property
    def rows(self):
        return sum(self.sizes)

    def grouped(self, values):
        return values if self.order is None or values is None else values[self.order]

    def ungrouped(self, values):
        if self.order is None:
            return values
        there = np.empty_like(values)
        there[self.order] = values
        return there


def qid_array(qid, rows):
    given = as_array(qid, "qid")
    qid = np.asarray(given)
    if qid.ndim != 1 or len(qid) != rows:
        raise UsageError(f"qid: found the shape {qid.shape}, expected one id for each of {rows} rows")
    if qid.dtype.kind == "f":
        for row in np.flatnonzero(~np.isfinite(qid)):
            raise data_error("qid", int(row), f"found {qid[row]}, expected an integer or text, because each row belongs to a query")
        whole = qid.astype(np.int64, copy=True)
        if (whole != qid).any():
            raise DataError("qid: found a number that is not whole, expected integers or text")
        return whole
    if qid.dtype.kind == "O" or (qid.dtype.kind == "U" and isinstance(given, (list, tuple))):
        expect_ids(given if isinstance(given, (list, tuple)) else qid)  # NumPy converts a mixed list to text
    return qid


def data_error(of, row, said, column=None):
    """An error at a row and column of the array `of`; both count from 0."""
    error = DataError(f"{of}:{row + 1}:{'' if column is None else f'{column + 1}:'} {said}")
    error.file, error.line, error.column = of, row + 1, 0 if column is None else column + 1
    return error


def in_doubles(convert, **arrays):
    """Returns `convert()`, which converts these arrays to doubles. Raises for an integer that is too large for a double."""
    try:
        return convert()
    except OverflowError as error:
        for of, values in arrays.items():
            for place, one in np.ndenumerate(np.asarray(values, dtype=object)):
                if isinstance(one, numbers.Integral) and abs(one) > sys.float_info.max:
                    raise data_error(of, place[0], f"found a whole number of {int(one).bit_length()} bits, expected one that "
                                     "a double holds, 1024 at most", *place[1:2]) from error
        raise


def validated(estimator, X, *y, **how):
    """X, or X and y, as returned by scikit-learn's validate_data."""
    return in_doubles(lambda: validate_data(estimator, X, *y, **how), X=X, **dict(zip("y", y)))


def expect_unicode(text, of, row):
    """Raises for text that cannot be encoded as UTF-8: a lone surrogate."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise data_error(of, row, f"found {text!r}, expected characters of Unicode: {text[error.start]!r} is half of one") from error


def expect_ids(qid):
    """Raises unless these objects are all integers or all text."""
    kinds = set(map(type, qid))
    if all(issubclass(kind, str) for kind in kinds) or all(issubclass(kind, numbers.Integral) for kind in kinds):
        return
    for row, one in enumerate(qid):
        if not isinstance(one, (numbers.Integral, str)):
            raise DataError(f"qid:{row + 1}: found {one!r}, expected an integer or text")
        if isinstance(one, str) != isinstance(qid[0], str):
            raise DataError(f"qid:{row + 1}: found both {one!r} and {qid[0]!r}, expected either integers or text")


def queries_of(qid, rows):
    """Groups rows by query; without query ids all rows are one query."""
    if qid is None:
        return Queries([rows], ["1"], np.array(["1"]))
    qid = qid_array(qid, rows)
    if rows == 0:
        return Queries([], [], qid)
    order = None
    begin = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    first = qid[begin]
    if not (first[1:] > first[:-1]).all() and len(np.unique(first)) < len(begin):
        _, first, of = np.unique(qid, return_index=True, return_inverse=True)
        order = np.argsort(first[of], kind="stable")
        qid = qid[order]
        begin = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1])))
    sizes = np.diff(np.append(begin, rows))
    names = list(map(str, qid[begin].tolist()))
    if qid.dtype.kind not in "iu":
        for at, name in zip(begin.tolist(), names):
            expect_unicode(name, "qid", at if order is None else int(order[at]))
    return Queries(sizes.tolist(), names, qid[begin], order)


def column_of(y):
    """A vector with one number per row. Skips scikit-learn's check for numeric arrays, because it takes longer than
    evaluating a small set."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iuf":
        return y
    y = column_or_1d(as_array(y, "y"))
    expect_numbers(y)
    return in_doubles(lambda: y.astype(np.float64), y=y) if y.dtype.kind == "O" else y


def expect_numbers(y):
    """Raises for labels that are not numbers, including text and pandas' NA."""
    y = np.asarray(y)
    if y.dtype.kind in "OUS":
        for row, one in enumerate(y.ravel().tolist()):
            if isinstance(one, (str, bytes)) or not hasattr(one, "__float__"):
                raise DataError(f"y:{row + 1}: found the label {one!r}, expected a number")


def whole_labels(y):
    """Labels as int32. Accepts -1 (unlabelled); raises for other negative labels."""
    y = column_of(y)
    if y.dtype.kind == "f":
        bad = np.flatnonzero(~(np.floor(y) == y))
        if len(bad):
            raise DataError(f"y:{bad[0] + 1}: found the label {y[bad[0]]}, expected a whole number")
    if len(y) and (y.min() < -1 or y.max() > np.iinfo(np.int32).max):
        bad = np.flatnonzero((y < -1) | (y > np.iinfo(np.int32).max))[0]
        raise DataError(f"y:{bad + 1}: found the label {y[bad]}, expected 0 or more, or -1 for a row "
                        "without a label")
    return np.ascontiguousarray(y, dtype=np.int32)


def checked_csr(X):
    """X as a CSR matrix with validated indices, because SciPy and the library do not check bounds. Does not modify X."""
    X = X.tocsr()
    try:
        checked = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
        checked.check_format(full_check=True)
        if (np.diff(checked.indptr) < 0).any():  # check_format skips this if there are no values
            raise ValueError("indptr must be a non-decreasing sequence")
    except ValueError as error:
        raise DataError(f"X: found a sparse matrix that is not valid: {error}") from error
    return checked


def names_of(columns):
    """Column names as text. Raises for names that cannot be stored in files."""
    names = [str(name) for name in columns]
    for number, name in enumerate(names, 1):
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise DataError(f"X: column {number}: found the name {name!r} with a lone surrogate, expected text") from error
    return names


def dataset_of(run, X, queries, y=None, names=None, ids=None, comments=None, numbers=None):
    """`X`: validated float32 or float64, or CSR. `names`: of the columns, or None. `numbers`: of the columns, ascending; default: 1, 2, ..."""
    X = queries.grouped(checked_csr(X) if sp.issparse(X) else X)
    labels = np.zeros(X.shape[0], np.int32) if y is None else queries.grouped(whole_labels(y))
    about = {"group_sizes": queries.sizes, "qids": queries.names,
             "names": [] if names is None else names_of(names), "numbers": list(numbers or []),
             "ids": list(ids or []), "comments": list(comments or [])}
    if sp.issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return _core.sparse_dataset(run, X.data.astype(np.float64, copy=False), X.indices, X.indptr,
                                    labels, **about)
    return _core.dense_dataset(run, np.ascontiguousarray(X), labels, **about)
