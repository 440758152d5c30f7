import gzip

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


def test_sparse_wider_and_narrower(path):
    found = load_letor(path, sparse=True)
    assert found.X.nnz == 5 and found.X.shape == (3, 3)
    assert np.array_equal(found.X.toarray(), load_letor(path).X, equal_nan=True)
    assert load_letor(path, n_features=5).X.shape == (3, 5)
    assert load_letor(path, n_features=2).X.shape == (3, 2)
    assert load_letor(path, n_features=2, sparse=True).X.nnz == 3


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
