"""Frequent itemsets and association rules, as data frames with mlxtend's column names."""

from __future__ import annotations

import math
import numbers
import typing

import numpy as np
import scipy.sparse as sp

from . import _core
from ._data import as_array, as_frame, checked_csr, data_error, is_frame
from ._parameters import checked
from ._run import running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from ._types import Count, Number, Progress


def _refuse(row, column, name, value):
    raise data_error("transactions", row, f"found {value!r} in column {name!r}, expected True, False, 0 or 1", column)


def _is_boolean(cell):
    return isinstance(cell, numbers.Real | np.bool_) and (cell == 0 or cell == 1)


def _booleans(cells, names, first=0):
    """The cells [rows x columns] as booleans; `first`: the number of the first column."""
    if cells.dtype == bool:
        return cells
    if cells.dtype.kind in "iuf":
        good = (cells == 0) | (cells == 1)
    elif cells.dtype == object:
        good = np.fromiter(map(_is_boolean, cells.ravel()), bool, cells.size).reshape(cells.shape)
    else:  # text, dates
        good = np.zeros(cells.shape, bool)
    if not good.all():
        row, column = map(int, np.argwhere(~good)[0])
        value = cells[row, column]
        _refuse(row, first + column, names[column], value.item() if cells.dtype.kind in "iufUS" else value)
    return cells.astype(bool)


def _sparse_booleans(matrix, names):
    """CSR of booleans; duplicate entries are summed, as in SciPy."""
    matrix = checked_csr(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    bad = np.flatnonzero(~((matrix.data == 0) | (matrix.data == 1)))
    if len(bad):
        column = int(matrix.indices[bad[0]])
        _refuse(int(np.searchsorted(matrix.indptr, bad[0], "right")) - 1, column, names[column], matrix.data[bad[0]].item())
    return sp.csr_matrix(matrix, dtype=bool)


def _frame_booleans(frame, names):
    """The cells of a frame as CSR of booleans."""
    types = list(frame.dtypes)
    if types and all(hasattr(one, "fill_value") and one.fill_value == 0 for one in types):  # pandas' Sparse
        return _sparse_booleans(frame.sparse.to_coo(), names)
    if len(set(types)) == 1:
        return sp.csr_matrix(_booleans(frame.to_numpy(), names))
    cells = np.empty(frame.shape, bool)  # column by column: pandas would make objects of mixed booleans and numbers
    for column, name in enumerate(names):
        cells[:, [column]] = _booleans(frame.iloc[:, [column]].to_numpy(), [name], column)
    return sp.csr_matrix(cells)


def _items(row, transaction):
    try:
        return set(transaction)
    except TypeError as error:
        raise data_error("transactions", row, f"found {transaction!r}, expected items ({error})") from error


def _transactions(transactions):
    """The library's transactions, their number, and the items' names."""
    transactions = as_array(as_frame(transactions), "transactions")
    if is_frame(transactions):
        names = list(transactions.columns)
        if not all(isinstance(name, numbers.Number) for name in names):
            names = [name if isinstance(name, str) else str(name) for name in names]
        matrix = _frame_booleans(transactions, names)
    elif sp.issparse(transactions) or (isinstance(transactions, np.ndarray) and (transactions.ndim != 1 or transactions.dtype != object)):
        if transactions.ndim != 2:
            raise UsageError(f"transactions: found the shape {transactions.shape}, expected booleans [transactions x items], or lists "
                             "of items")
        names = list(range(transactions.shape[1]))
        matrix = _sparse_booleans(transactions, names) if sp.issparse(transactions) else sp.csr_matrix(_booleans(transactions, names))
    else:
        rows = [_items(row, one) for row, one in enumerate(transactions)]
        names = list(set().union(*rows))
        try:
            names.sort()
        except TypeError:
            names.sort(key=str)
        number = {name: i for i, name in enumerate(names)}
        begin = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        entries = np.fromiter((number[name] for row in rows for name in row), np.uint32, begin[-1])
        return _core.Transactions(begin, entries, len(names)), len(rows), names
    matrix.eliminate_zeros()
    return _core.Transactions(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32),
                              matrix.shape[1]), matrix.shape[0], names


def _support(min_support, count):
    """The program's form of a support: a number of transactions (of `count` in total), or a percentage."""
    if isinstance(min_support, str):
        return min_support
    if isinstance(min_support, numbers.Integral) and not isinstance(min_support, bool):
        return str(int(min_support))
    if not 0 <= min_support <= 1:
        raise UsageError(f"min_support: found {min_support}, expected a share up to 1.0, or a whole number "
                         "of transactions")
    # The smallest k with k / count >= min_support in double arithmetic.
    least = math.floor(min_support * count)
    while count and least / count < min_support:
        least += 1
    while least > 1 and (least - 1) / count >= min_support:
        least -= 1
    return str(max(least, 1))


@checked
def mine_itemsets(transactions: Any, min_support: Number | str = 0.5, *, min_size: Count = 1, max_size: Count = 0,
                  kind: str = "all", engine: str = "auto", n_jobs: int | None = None,
                  verbose: Progress = False) -> pd.DataFrame:
    """Finds frequent itemsets, like `rulerank mine`.

    Parameters
    ----------
    transactions : lists of items; or a frame, array or sparse matrix of booleans [transactions x items], whose columns are the
        items. Cells are True, False, 0 or 1; others (NaN, text, counts) raise an error. Frames of pandas' Sparse booleans stay
        sparse
    min_support : a share of the transactions (0.1), a count (500), or text such as "10%"
    min_size, max_size : number of items; max_size 0: no limit
    kind : {"all", "closed", "maximal"}
    engine : {"auto", "vertical", "apriori", "bruteforce"}

    Returns
    -------
    DataFrame with the columns support (a share) and itemsets (frozensets), like mlxtend's `fpgrowth`

    Examples
    --------
    >>> from rulerank import mine_itemsets
    >>> found = mine_itemsets([["bread", "butter"], ["bread", "butter", "jam"], ["bread"]], 0.6)
    >>> [(sorted(items), round(share, 2)) for items, share in zip(found["itemsets"], found["support"])]
    [(['bread'], 1.0), (['bread', 'butter'], 0.67), (['butter'], 0.67)]
    """
    import pandas as pd

    rows, count, names = _transactions(transactions)
    with running(n_jobs, verbose=verbose) as run:
        support, sets = _core.mine_itemsets(run, rows, _support(min_support, count), min_size, max_size, kind, engine,
                                            names)
    return pd.DataFrame({"support": support, "itemsets": pd.Series(sets, dtype=object)})


@checked
def mine_rules(transactions: Any, min_support: Number | str = 0.5, min_confidence: float = 0.8, *, max_size: Count = 0,
               max_consequent: Count = 0, engine: str = "auto", n_jobs: int | None = None,
               verbose: Progress = False) -> pd.DataFrame:
    """Finds strong association rules, like `rulerank mine --rules`.

    Parameters
    ----------
    transactions, min_support, engine : as in `mine_itemsets`
    min_confidence : of a rule, 0 to 1
    max_size : number of items of a rule, both sides together; 0: no limit
    max_consequent : number of items in the consequent; 0: no limit

    Returns
    -------
    DataFrame with mlxtend's columns: antecedents, consequents, antecedent support, consequent support, support, confidence,
    lift, representativity, leverage, conviction, zhangs_metric, jaccard, certainty, kulczynski; then chi_square, its p-value,
    and p_holm, the p-value after Holm's correction. Differences to mlxtend: a certainty below 0 is divided by P(Y); conviction
    is infinite if confidence is 1, but 1 if every transaction has the consequent, where mlxtend's is infinite too

    Examples
    --------
    >>> from rulerank import mine_rules
    >>> rules = mine_rules([["bread", "butter"], ["bread", "butter", "jam"], ["bread"]], 0.6, 0.9)
    >>> [(set(a), set(c), float(conf)) for a, c, conf in rules[["antecedents", "consequents", "confidence"]].values]
    [({'butter'}, {'bread'}, 1.0)]
    """
    import pandas as pd

    rows, count, names = _transactions(transactions)
    with running(n_jobs, verbose=verbose) as run:
        found = _core.mine_rules(run, rows, _support(min_support, count), min_confidence, max_size, max_consequent,
                                 engine, names)
    for side in ("antecedents", "consequents"):
        found[side] = pd.Series(found[side], dtype=object)
    found["zhangs_metric"] = found.pop("zhang")
    # The share of transactions without missing values: all of them.
    found["representativity"] = np.ones(len(found["support"]))
    first = ["antecedents", "consequents", "antecedent support", "consequent support", "support", "confidence",
             "lift", "representativity", "leverage", "conviction", "zhangs_metric", "jaccard", "certainty",
             "kulczynski"]
    return pd.DataFrame(found)[first + [name for name in found if name not in first]]
