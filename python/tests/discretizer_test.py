import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import rulerank
from rulerank import Discretizer, RuleRanker, draw_letor, load_letor


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
    loaded = Discretizer.load(tmp_path / "cuts.json")
    assert (loaded.transform(test.X, test.qid) == codes).all()
    assert loaded.get_params() == fitted.get_params()
    assert loaded.n_features_in_ == fitted.n_features_in_
    assert (pickle.loads(pickle.dumps(fitted)).transform(test.X, test.qid) == codes).all()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_a_loaded_one_takes_as_many_columns_as_the_fitted_one(tmp_path, make):
    X = np.column_stack([np.random.default_rng(3).normal(size=(30, 3)), np.zeros(30)])
    fitted = Discretizer("width", bins=3).fit(make(X))
    fitted.save(tmp_path / "cuts")
    loaded = Discretizer.load(tmp_path / "cuts")
    assert loaded.n_features_in_ == 4 and loaded.get_params() == fitted.get_params()
    for one in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert (one.transform(make(X)) == fitted.transform(make(X))).all()
        assert [cuts.tolist() for cuts in one.feature_cuts_] == [cuts.tolist() for cuts in fitted.feature_cuts_]
        for wrong in (X[:, :3], np.column_stack([X, X])):
            with pytest.raises(ValueError, match="features, but Discretizer is expecting 4 features"):
                one.transform(make(wrong))


def test_golden_cuts():
    """The cuts that docs/reference/definitions.md works by hand."""
    X = np.array([0, 0, 0, 0, .1, .2, .2, .3, .5, 1]).reshape(-1, 1)
    for method, cuts in (("tube", [.0001, .5001, .9999]), ("width", [.25, .5, .75]), ("frequency", [.2, .3])):
        fitted = Discretizer(method, bins=4).fit(X)
        assert fitted.feature_cuts_[0] == pytest.approx(cuts)
        assert (fitted.transform(X)[:, 0] == np.searchsorted(fitted.feature_cuts_[0], X[:, 0], "right")).all()


def test_in_a_pipeline(drawn):
    """Bins as features of another estimator, and the bins searched for."""
    train, test = load_letor(drawn / "train.txt"), load_letor(drawn / "test.txt")
    steps = make_pipeline(Discretizer(bins=4, qid_column=None), OneHotEncoder(handle_unknown="ignore"), Ridge())
    assert list(steps[:1].fit(train.X).get_feature_names_out()) == [f"x{i}" for i in range(train.X.shape[1])]
    predicted = steps.fit(train.X, train.y).predict(test.X)
    cutting = Discretizer(bins=4).fit(train.X)
    encoder = OneHotEncoder(handle_unknown="ignore").fit(cutting.transform(train.X))
    by_hand = Ridge().fit(encoder.transform(cutting.transform(train.X)), train.y)
    assert (predicted == by_hand.predict(encoder.transform(cutting.transform(test.X)))).all()
    search = GridSearchCV(steps, {"discretizer__bins": [2, 6]}, cv=3).fit(train.X, train.y)
    assert search.best_params_["discretizer__bins"] in (2, 6)
    assert len(set(search.cv_results_["mean_test_score"])) == 2


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


@pytest.fixture
def with_qid():
    drawn = draw_letor(600, 6, 30)
    frame = pd.DataFrame(drawn.X, columns=list("fedcba"))
    frame["c"] = 1.0  # has no bins
    frame.insert(2, "qid", drawn.qid)
    return frame, drawn.y


def test_names_out_pass_over_the_query_ids(with_qid):
    X, _ = with_qid
    fitted = Discretizer("width", bins=3).fit(X)
    for names in (None, X.columns, list(X.columns.drop("qid"))):
        assert list(fitted.get_feature_names_out(names)) == list("abdef")  # frames' features are sorted by name
    step = FunctionTransformer(feature_names_out="one-to-one")
    assert list(make_pipeline(step, Discretizer("width", bins=3)).fit(X).get_feature_names_out()) == list("abdef")
    by_number = Discretizer("width", bins=3, qid_column=2).fit(X.to_numpy())
    assert list(by_number.get_feature_names_out(X.columns)) == list("fedba")
    assert list(by_number.get_feature_names_out(X.columns.drop("qid"))) == list("fedba")
    assert list(Discretizer("width", bins=3, qid_column=-1).fit(X.to_numpy()[:, [0, 1, 2]]).get_feature_names_out(["u", "v", "w"])) == ["u", "v"]


@pytest.mark.parametrize("names, message", [
    (list("abcdef"), "input_features is not equal to feature_names_in_"), (list("fedcb"), "input_features is not equal"),
    (list("fedcbag"), "input_features is not equal"), (["qid", "qid", *"fedcb"], "input_features is not equal")])
def test_names_out_of_other_columns_are_an_error(with_qid, names, message):
    X, _ = with_qid
    with pytest.raises(ValueError, match=message):
        Discretizer("width", bins=3).fit(X).get_feature_names_out(names)
    of_array = Discretizer("width", bins=3).fit(X.drop(columns="qid").to_numpy())
    if len(names) != 6:
        with pytest.raises(ValueError, match="input_features should have length equal to number of features"):
            of_array.get_feature_names_out([name.upper() for name in names])


def test_bins_and_query_ids_of_columns_for_a_ranker(with_qid):
    """Columns that scikit-learn names by `get_feature_names_out`: the next ranker finds the query ids, and no bins instead."""
    X, y = with_qid
    columns = ColumnTransformer([("queries", "passthrough", ["qid"]),
                                 ("bins", Discretizer("width", bins=3, norm="query-minmax"), list(X.columns))],
                                verbose_feature_names_out=False).set_output(transform="pandas")
    bins = columns.fit_transform(X)
    assert list(bins.columns) == list(columns.get_feature_names_out()) == ["qid", *"abdef"]
    expected = Discretizer("width", bins=3, norm="query-minmax").set_output(transform="pandas").fit_transform(X)
    assert (bins.drop(columns="qid") == expected).all(axis=None) and (bins["qid"] == X["qid"]).all()
    ranker = RuleRanker("rules", method="width", bins=3)
    pipeline = make_pipeline(columns, ranker)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pipeline.fit(X, y).score(X, y)
    assert found == ranker.fit(expected, y, X["qid"]).score(expected, y, X["qid"])
    assert list(pipeline[-1].feature_names_in_) == list("abdef")


def test_normalizing_without_queries_is_warned_of(with_qid):
    X, _ = with_qid
    alone = X.drop(columns="qid")
    fitted = Discretizer("width", bins=3, norm="query-zscore").fit(X)
    for call in (lambda: Discretizer(norm="query-zscore").fit(alone), lambda: fitted.transform(alone),
                 lambda: fitted.set_output(transform="pandas").transform(alone)):
        with pytest.warns(UserWarning, match="qid: found none, so all 600 rows are one query") as warned:
            call()
        assert [one.filename for one in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Discretizer("width").fit_transform(alone)
        Discretizer("width", norm="query-zscore", qid_column=None).fit_transform(alone)
        by_argument = Discretizer("width", bins=3, norm="query-zscore").fit_transform(alone, qid=X["qid"])
        assert (by_argument == Discretizer("width", bins=3, norm="query-zscore").fit_transform(X)).all()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickles(with_qid, protocol):
    X, y = with_qid
    for fitted in (Discretizer("width", bins=3).fit(X), RuleRanker("rules", method="width", bins=3).fit(X, y)):
        use = fitted.transform if isinstance(fitted, Discretizer) else fitted.predict
        copy = pickle.loads(pickle.dumps(fitted, protocol))
        assert (use(X) == getattr(copy, use.__name__)(X)).all()
