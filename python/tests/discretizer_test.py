import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rulerank
from rulerank import Discretizer, load_letor


@pytest.mark.parametrize("how", [{}, {"method": "width", "bins": 4}, {"method": "frequency"},
                                 {"bins": "cv"}, {"norm": "query-zscore"}])
def test_bins_are_the_programs(program, drawn, tmp_path, how):
    options = [word for name, value in how.items() for word in (f"--{name}", value)]
    program("discretize", "--train", drawn / "train.txt", "--apply", drawn / "test.txt", "--out-dir",
            tmp_path, "--model", tmp_path / "cuts.json", *options)
    train, test = load_letor(drawn / "train.txt"), load_letor(drawn / "test.txt")
    fitted = Discretizer(**how).fit(train.X, qid=train.qid)
    codes = fitted.transform(test.X, qid=test.qid)
    expected = load_letor(tmp_path / "test.txt").X
    assert codes.dtype == np.uint8
    assert (codes == expected).all()
    fitted.save(tmp_path / "own.json")
    assert (tmp_path / "own.json").read_bytes() == (tmp_path / "cuts.json").read_bytes()
    assert (Discretizer.load(tmp_path / "cuts.json").transform(test.X, test.qid) == codes).all()
    assert (pickle.loads(pickle.dumps(fitted)).transform(test.X, test.qid) == codes).all()


def test_golden_cuts():
    """The cuts that docs/definitions.md works by hand."""
    X = np.array([0, 0, 0, 0, .1, .2, .2, .3, .5, 1]).reshape(-1, 1)
    for method, cuts in (("tube", [.0001, .5001, .9999]), ("width", [.25, .5, .75]), ("frequency", [.2, .3])):
        fitted = Discretizer(method, bins=4).fit(X)
        assert fitted.feature_cuts_[0] == pytest.approx(cuts)
        assert (fitted.transform(X)[:, 0] == np.searchsorted(fitted.feature_cuts_[0], X[:, 0], "right")).all()


def test_codes_are_no_copy():
    X = np.random.default_rng(1).normal(size=(100, 3))
    codes = Discretizer().fit(X).transform(X)
    assert not codes.flags.owndata and not codes.flags.writeable
    assert codes.strides[0] == 1


def test_missing_values_constant_columns_and_names():
    X = pd.DataFrame({"b": [1.0, 2, np.nan, 4], "a": [0.0, 0, 0, 0], "c": [0.0, 1, 0, 1]})
    fitted = Discretizer("width", bins=2).fit(X)
    assert list(fitted.get_feature_names_out()) == ["b", "c"]
    assert [len(cuts) for cuts in fitted.feature_cuts_] == [1, 0, 1]
    assert fitted.transform(X).tolist() == [[0, 0], [0, 1], [2, 0], [1, 1]]
    assert fitted.set_output(transform="pandas").transform(X).columns.tolist() == ["b", "c"]
    none = Discretizer("width", bins=2, missing_values="none").fit(X)
    assert none.transform(X)[2, 0] == 255
    sparse = Discretizer("width", bins=2, unlisted="missing").fit(sp.csr_matrix(np.array([[1.0], [0], [3]])))
    assert sparse.transform(sp.csr_matrix(np.array([[1.0], [0], [3]])))[:, 0].tolist() == [0, 2, 1]


def test_damaged_pickles():
    state = Discretizer().fit(np.arange(9.0).reshape(-1, 1)).cuts_.__getstate__()
    for wrong in (state[:-1], "", "[]", state.replace("cuts", "cats")):
        with pytest.raises(rulerank.DataError, match="the pickled cuts"):
            rulerank._core.Cuts.__new__(rulerank._core.Cuts).__setstate__(wrong)
