import gzip
import os
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from ranker_test import OnlyDlpack

import rulerank
from rulerank import draw_letor, dump_letor, load_letor

TEXT = """2 qid:q1 1:0.5 3:1 # docid = A first
0 qid:q1 1:nan 2:-2.5
# a comment alone
1 qid:q2 3:1e-300 #docid = B
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "d.txt").write_text(TEXT)
    return tmp_path / "d.txt"


def test_what_is_read(path, tmp_path):
    X, y, qid, docid, comments, names = load_letor(path)
    assert np.array_equal(X, [[.5, 0, 1], [np.nan, -2.5, 0], [0, 0, 1e-300]], equal_nan=True)
    assert y.tolist() == [2, 0, 1] and y.dtype == np.int32
    assert qid.tolist() == ["q1", "q1", "q2"]
    assert docid.tolist() == ["A", "q1-2", "B"]
    assert comments[0] == "docid = A first" and names is None
    with gzip.open(tmp_path / "d.gz", "wt") as file:
        file.write(TEXT)
    assert np.array_equal(load_letor(tmp_path / "d.gz").X, X, equal_nan=True)


def test_a_file_that_is_cut_while_it_is_read(tmp_path):
    path, whole = tmp_path / "d.txt", "0 qid:1 " + " ".join(f"{f}:0.25" for f in range(1, 200)) + "\n"
    outcomes = set()
    for wait in range(24):
        path.write_text(whole * 3000)
        cut = threading.Timer(.0005 * wait, os.truncate, [path, 0])
        cut.start()
        try:
            outcomes.add(len(load_letor(path).y))
        except rulerank.DataError as error:
            assert error.file == str(path)
        cut.join()
    assert outcomes <= {0, 3000}


def test_sparse_and_wider(path):
    found = load_letor(path, sparse=True)
    assert found.X.nnz == 5 and found.X.shape == (3, 3)
    assert np.array_equal(found.X.toarray(), load_letor(path).X, equal_nan=True)
    assert load_letor(path, n_features=5).X.shape == (3, 5)
    assert load_letor(path, n_features=5, sparse=True).X.shape == (3, 5)


def test_frames_and_tables(path, tmp_path):
    frame = load_letor(path, as_frame=True).X
    assert list(frame.columns) == ["qid", "1", "2", "3"]
    (tmp_path / "d.csv").write_text("label,qid,b,a\n1,7,0.5,\n0,7,1,2\n")
    X, y, qid, _, _, names = load_letor(tmp_path / "d.csv")
    assert names == ["a", "b"] and qid.tolist() == [7, 7] and qid.dtype == np.int64
    assert np.array_equal(X, [[np.nan, .5], [2, 1]], equal_nan=True)


@pytest.mark.parametrize("sparse", [False, True])
def test_round_trip(path, tmp_path, sparse):
    found = load_letor(path, sparse=sparse)
    dump_letor(tmp_path / "again", found.X, found.y, found.qid, docid=found.docid)
    again = load_letor(tmp_path / "again", sparse=sparse)
    dense = [one.X.toarray() if sparse else one.X for one in (found, again)]
    assert np.array_equal(*dense, equal_nan=True)
    for one, other in zip(found[1:4], again[1:4]):
        assert one.tolist() == other.tolist()


def test_named_features_and_queries_apart(tmp_path):
    X = pd.DataFrame({"z": [1.0, 2, 3], "a": [4.0, 5, 6]})
    dump_letor(tmp_path / "d", X, [0, 1, 2], ["u", "v", "u"])
    again = load_letor(tmp_path / "d")
    assert again.feature_names == ["a", "z"] and again.qid.tolist() == ["u", "u", "v"]
    assert again.X.tolist() == [[4, 1], [6, 3], [5, 2]] and again.y.tolist() == [0, 2, 1]


@pytest.mark.parametrize("text, place", [
    ("1 qid:1 1:x\n", (1, 11)), ("0 qid:1 1:1\n-1 qid:1 1:1\n", (2, 1)), ("0.5 qid:1 1:1\n", (1, 1))])
def test_bad_files_name_line_and_column(tmp_path, text, place):
    (tmp_path / "d").write_text(text)
    with pytest.raises(rulerank.DataError) as caught:
        load_letor(tmp_path / "d")
    assert (caught.value.line, caught.value.column) == place
    assert caught.value.file == str(tmp_path / "d")
    assert str(caught.value).startswith(f"{tmp_path}/d:{place[0]}:{place[1]}: ")


def test_errors_name_arguments(tmp_path):
    for text, message in (("-1 qid:1 1:1\n", "(or unlabelled=-1 if it means that the document has no label)"),
                          ("qid,a\n1,2\n", "found no column label, expected one (or unlabelled=-1 if no label is known)"),
                          ("label,Label,qid,a\n1,1,1,2\n", "found the columns label and Label, expected one of them"),
                          ("label,qid,a\n1,1,2024-01-02\n", "looks like a date, expected a number"),
                          ("1 qid:1\n1 qid:2\n1 qid:1\n", "; regroup=True gathers them")):
        (tmp_path / "d").write_text(text)
        with pytest.raises(rulerank.DataError) as caught:
            load_letor(tmp_path / "d")
        assert message in str(caught.value) and "--" not in str(caught.value)


def test_other_options(tmp_path):
    (tmp_path / "d").write_text("0.5 1:1\n-1 1:2\n")
    with pytest.warns(UserWarning):
        found = load_letor(tmp_path / "d", fractional_labels=True, unlabelled=-1)
    assert found.y.tolist() == [0.5, -1.0]
    (tmp_path / "zero").write_text("1 qid:1 0:3 2:4\n")
    assert load_letor(tmp_path / "zero", zero_based=True).X.tolist() == [[3, 0, 4]]
    (tmp_path / "apart").write_text("1 qid:1 1:1\n0 qid:2 1:2\n2 qid:1 1:3\n")
    assert load_letor(tmp_path / "apart", regroup=True).y.tolist() == [1, 2, 0]


def test_unwritable(tmp_path):
    with pytest.raises(rulerank.OutputError):
        dump_letor(tmp_path / "no" / "d", np.zeros((1, 1)), [0])
    with pytest.raises(OSError):
        dump_letor(tmp_path / "no" / "d", sp.csr_matrix(np.ones((1, 1))), [0])


def test_some_rows(path):
    rows = [2, 0]
    for how in ({}, {"sparse": True}, {"as_frame": True}):
        data = load_letor(path, **how)
        part = data.take(rows)
        dense = [np.asarray(of.X.toarray() if sp.issparse(of.X) else of.X[list("123")] if "as_frame" in how else of.X)
                 for of in (part, data)]
        assert np.array_equal(dense[0], dense[1][rows], equal_nan=True)
        assert part.y.tolist() == [1, 2] and part.qid.tolist() == ["q2", "q1"] and part.docid.tolist() == ["B", "A"]
        assert part.comments == [data.comments[2], data.comments[0]] and part.feature_names is None


@pytest.mark.parametrize("rows, expected", [
    (slice(1, None), [1, 2]), (slice(None, None, -2), [2, 0]), ([], []), (np.array([]), []), (range(0), []), ([-1], [2]),
    ([True, False, True], [0, 2]), (np.array([False, True, False]), [1]), (OnlyDlpack(np.array([2, 1])), [2, 1])])
@pytest.mark.parametrize("how", [{}, {"sparse": True}, {"as_frame": True}])
def test_rows_by_slices_bools_and_none(path, rows, expected, how):
    data = load_letor(path, **how)
    part = data.take(rows)
    assert part.X.shape[0] == len(expected) and part.docid.tolist() == [data.docid[row] for row in expected]
    assert part.comments == [data.comments[row] for row in expected]
    assert part.y.tolist() == data.y[expected].tolist() if expected else len(part.y) == len(part.qid) == 0


@pytest.mark.parametrize("rows, message", [(1, r"rows: found int64 of the shape \(\)"), ([0.5], "rows: found float64"), ("12", "rows: found"),
                                           ([[0, 1]], r"of the shape \(1, 2\)")])
def test_rows_that_are_none(path, rows, message):
    with pytest.raises(rulerank.UsageError, match=message):
        load_letor(path).take(rows)


def test_drawn_documents_are_the_programs(program, tmp_path):
    program("sample", "--documents", 600, "--features", 9, "--queries", 30, "--labels", 4, "--seed", 3, "--out-dir",
            tmp_path, "--quiet")
    parts = [load_letor(tmp_path / "Fold1" / f"{part}.txt") for part in ("train", "vali", "test")]
    drawn = draw_letor(600, 9, 30, n_labels=4, random_state=3)
    assert np.array_equal(drawn.X, np.concatenate([part.X for part in parts])) and drawn.X.shape == (600, 9)
    assert drawn.y.tolist() == [label for part in parts for label in part.y] and max(drawn.y) == 3
    assert drawn.qid.tolist() == [qid for part in parts for qid in part.qid]
    again = draw_letor(600, 9, 30, n_labels=4, random_state=3, sparse=True, n_jobs=1)
    assert np.array_equal(again.X.toarray(), drawn.X)
    assert list(draw_letor(60, 2, as_frame=True).X.columns) == ["qid", "1", "2"]
    assert not np.array_equal(draw_letor(600, 9, 30).X, drawn.X)
    with pytest.raises(rulerank.UsageError):
        draw_letor(10, 9, 30)


@pytest.mark.parametrize("about", ["feature_names", "docid", "comments"])
@pytest.mark.parametrize("values", [[], ["a"], ["a", "b", "c", "d"]])
def test_dumping_wants_a_name_for_each(tmp_path, about, values):
    with pytest.raises(rulerank.UsageError, match=f"{about}: found {len(values)}, expected one for each of 3"):
        dump_letor(tmp_path / "d", np.eye(3), [0, 1, 2], **{about: values})
    assert not list(tmp_path.iterdir())


def test_dumping_takes_names_of_any_kind(tmp_path):
    names = ["a", "b", "c"]
    for of in (names, tuple(names), np.array(names), pd.Series(names, index=[7, 8, 9]), pd.Index(names)):
        dump_letor(tmp_path / "d", pd.DataFrame(np.eye(3)), [0, 1, 2], docid=of, feature_names=of)
        assert load_letor(tmp_path / "d").docid.tolist() == names


def test_numeral_columns_are_feature_numbers(path, tmp_path):
    data = load_letor(path, as_frame=True)
    for columns, lines in ((["qid", "3", "1"], ["2 qid:q1 1:0.5 3:1", "0 qid:q1 1:NaN 3:0", "1 qid:q2 1:0 3:1e-300"]),
                           (["qid", "2"], ["2 qid:q1 2:0", "0 qid:q1 2:-2.5", "1 qid:q2 2:0"])):
        dump_letor(tmp_path / "d", data.X[columns], data.y)
        assert (tmp_path / "d").read_text().splitlines() == lines
        again = load_letor(tmp_path / "d", as_frame=True).X
        assert np.array_equal(again[sorted(columns[1:])], data.X[sorted(columns[1:])], equal_nan=True)
    sparse = load_letor(path, sparse=True)
    dump_letor(tmp_path / "d", sp.coo_matrix(sparse.X), sparse.y, sparse.qid, feature_names=["12", "7", "10"])
    assert (tmp_path / "d").read_text().splitlines() == ["2 qid:q1 10:1 12:0.5", "0 qid:q1 7:-2.5 12:NaN", "1 qid:q2 10:1e-300"]


def test_columns_from_0_are_read_zero_based(tmp_path):
    X = np.arange(6.0).reshape(2, 3)
    dump_letor(tmp_path / "d", pd.DataFrame(X), [1, 0], [5, 5])
    assert (tmp_path / "d").read_text() == "1 qid:5 0:0 1:1 2:2\n0 qid:5 0:3 1:4 2:5\n"
    with pytest.raises(rulerank.DataError, match="found feature 0, expected 1 or more .or zero_based=True if features begin with 0"):
        load_letor(tmp_path / "d")
    again = load_letor(tmp_path / "d", zero_based=True, as_frame=True)
    assert np.array_equal(again.X[list("012")], X)
    dump_letor(tmp_path / "e", again.X, again.y)
    assert (tmp_path / "e").read_bytes() == (tmp_path / "d").read_bytes()
    dump_letor(tmp_path / "e", pd.DataFrame(X)[[2, 1]], [1, 0], [5, 5])
    assert (tmp_path / "e").read_text() == "1 qid:5 1:1 2:2\n0 qid:5 1:4 2:5\n"


@pytest.mark.parametrize("columns, message", [
    (["a", "a"], r'X: column 2: found the name "a" again, expected each column once'),
    (["1", "01"], "X: found feature 1 twice among its columns"), ([3, 3], "X: found feature 3 twice"),
    (["1", str(2**31)], "X: found feature 2147483648 among its columns, expected at most 2147483647"),
    (["1", "9" * 5000], 'expected text that a line of SVMlight can hold'),
    (["1", "a"], 'feature name "1", expected text that a line'), (["a", ""], "X: column 2: found the name \"\", expected the column's name"),
    (["a\tb", "c"], r'X: column 1: found the name "a\\x09b" with a control character'),
    (["a", "b\ud800"], r"X: column 2: found the name 'b\\ud800' with a lone surrogate, expected text")])
def test_dumping_refuses_columns_that_no_file_holds(tmp_path, columns, message):
    frame = pd.DataFrame(np.eye(2), columns=pd.Index(columns, dtype=object))  # pyarrow rejects lone surrogates
    for X, names in ((frame, None), (np.eye(2), columns)):
        with pytest.raises(rulerank.DataError, match=message):
            dump_letor(tmp_path / "d", X, [0, 1], [1, 1], feature_names=names)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", [{}, {"sparse": True}, {"as_frame": True}])
def test_features_beyond_the_columns_are_an_error(path, tmp_path, how):
    with pytest.raises(rulerank.DataError, match="d.txt:1:1: found feature 3, expected at most 2, as n_features=2 says") as caught:
        load_letor(path, n_features=2, **how)
    assert caught.value.line == 1
    with pytest.raises(rulerank.DataError, match="d.txt:2:1: found feature 2, expected at most 1"):
        (tmp_path / "d.txt").write_text("1 qid:1 1:1\n1 qid:1 2:1\n")
        load_letor(path, n_features=1, **how)
    with pytest.raises(rulerank.DataError, match="d.txt:2:1: found feature 2, expected at most 1"):
        load_letor(path, n_features=2, zero_based=True, **how)
    assert load_letor(path, n_features=3, zero_based=True, **how).X.shape[1] == 3 + ("as_frame" in how)
    (tmp_path / "d.csv").write_text("label,qid,b,a\n1,7,0.5,\n0,7,1,2\n")
    assert load_letor(tmp_path / "d.csv", n_features=2, **how).feature_names == ["a", "b"]
    for wrong in (1, 3):
        with pytest.raises(rulerank.UsageError, match=f"n_features: found {wrong}, expected None, or 2: as many as have names"):
            load_letor(tmp_path / "d.csv", n_features=wrong, **how)
