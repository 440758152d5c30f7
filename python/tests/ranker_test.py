import copy
import ctypes
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import scores_of
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import rulerank
from rulerank import RuleRanker, evaluate, load_letor

MEMBERS = ["recommended", "rules", "scorecard", "card", "linear", "joint", "rules,scorecard,linear"]


@pytest.fixture(scope="module")
def fitted(train):
    return RuleRanker("rules").fit(train.X, train.y, train.qid)


def program_scores(program, drawn, tmp_path, members):
    program("fit", "--train", drawn / "train.txt", "--members", members, "--model", tmp_path / "m")
    program("rank", "--model", tmp_path / "m", "--test", drawn / "test.txt", "--out", tmp_path / "s")
    return np.array(scores_of(tmp_path / "s"))


@pytest.mark.parametrize("members", MEMBERS)
def test_scores_and_model_files_are_the_programs(program, drawn, tmp_path, train, test, members):
    expected = program_scores(program, drawn, tmp_path, members)
    ranker = RuleRanker(members).fit(train.X, train.y, train.qid)
    assert (ranker.predict(test.X, test.qid) == expected).all()
    assert ranker.model_.to_bytes() == (tmp_path / "m").read_bytes()
    if members == "recommended":
        assert set(ranker.recommendation_) == {"name", "members", "reason"}

    ranker.save(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes() == (tmp_path / "m").read_bytes()
    assert (RuleRanker.load(tmp_path / "m").predict(test.X, test.qid) == expected).all()


def test_options_are_the_programs(program, drawn, tmp_path, train, test):
    program("rank", "--train", drawn / "train.txt", "--test", drawn / "test.txt", "--out", tmp_path / "s",
            "--rule-size", 4, "--min-support", 2, "--min-confidence", 0.05, "--support-weight", -0.25,
            "--smoothing", 5, "--feature-share", 0.7, "--method", "frequency", "--bins", 7,
            "--norm", "query-minmax")
    ranker = RuleRanker("rules", rule_size=4, min_support=2, min_confidence=0.05, support_weight=-0.25,
                        smoothing=5, feature_share=0.7, method="frequency", bins=7, norm="query-minmax")
    ranker.fit(train.X, train.y, train.qid)
    assert (ranker.predict(test.X, test.qid) == scores_of(tmp_path / "s")).all()


@pytest.mark.parametrize("dataset", ["MQ2008", "OHSUMED"])
def test_real_data(program, real_data, tmp_path, dataset):
    fold = real_data(f"letor/{dataset}/Fold1")
    expected = program_scores(program, fold, tmp_path, "recommended")
    train, test = load_letor(fold / "train.txt"), load_letor(fold / "test.txt")
    ranker = RuleRanker("recommended").fit(train.X, train.y, train.qid)
    assert (ranker.predict(test.X, test.qid) == expected).all()
    said = program("evaluate", "--test", fold / "test.txt", "--scores", tmp_path / "s", "--metrics",
                   "NDCG@10,MAP", "--format", "tsv", "--digits", 17)
    values = [float(cell) for cell in said.splitlines()[-1].split("\t")[1:]]
    assert list(evaluate(test.y, expected, test.qid, "NDCG@10,MAP").values()) == values
    assert ranker.score(test.X, test.y, test.qid) == values[0]


def layouts(X):
    yield "float64", X
    yield "Fortran", np.asfortranarray(X)
    yield "strided", np.repeat(X, 2, axis=0)[::2]
    yield "list", X.tolist()
    yield "frame", pd.DataFrame(X, columns=[str(i + 1) for i in range(X.shape[1])])
    yield "csr", sp.csr_matrix(X)
    yield "csc", sp.csc_matrix(X)
    yield "csr array, 64-bit indices", sp.csr_array((lambda m: (m.data, m.indices.astype(np.int64), m.indptr.astype(np.int64)))(sp.csr_matrix(X)), shape=X.shape)
    yield "DLPack", OnlyDlpack(X)


class OnlyDlpack:
    """An array of a library that NumPy supports only through DLPack."""

    def __init__(self, array):
        self._array = array
        self.shape = array.shape

    def __dlpack__(self, **how):
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OfType(OnlyDlpack):
    """As above with another type of values or device, for libraries that are not installed."""

    def __init__(self, array, code=None, device=(1, 0)):
        super().__init__(array)
        self._code, self._device = code, device

    def __dlpack__(self, **how):
        how.pop("max_version", None)  # so that the capsule holds a DLTensor itself
        capsule = self._array.__dlpack__(**how)
        if self._code is not None:
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            code = ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + 20)  # dtype.code
            code.value = self._code
        return capsule

    def __dlpack_device__(self):
        return self._device


BFLOAT = 4  # DLPack's kDLBfloat


def test_labels_query_ids_and_scores_come_through_dlpack(train, test):
    """Other libraries' arrays are accepted wherever NumPy's are."""
    def foreign(of, **also):
        return [OnlyDlpack(np.array(one)) for one in (of.X, of.y, of.qid.astype(np.int64))]

    X, y, qid = foreign(train)
    Z, labels, queries = foreign(test)
    ranker = RuleRanker("rules").fit(X, y, qid)
    own = RuleRanker("rules").fit(train.X, train.y, train.qid)
    scores = own.predict(test.X, test.qid)
    assert ranker.model_.to_bytes() == own.model_.to_bytes()
    assert (ranker.predict(Z, queries) == scores).all()
    assert ranker.score(Z, labels, queries) == own.score(test.X, test.y, test.qid)
    assert rulerank.metric_scorer("MAP")(ranker, Z, labels, queries) == rulerank.metric_scorer("MAP")(
        own, test.X, test.y, test.qid)
    assert ranker.explain(Z, 3, queries).score == own.explain(test.X, 3, test.qid).score
    assert evaluate(labels, OnlyDlpack(scores), queries) == evaluate(test.y, scores, test.qid)
    other = test.X[:, 0].astype(np.float32)
    options = {"permutations": 1000}
    found = rulerank.compare(labels, {"a": OnlyDlpack(scores), "b": OnlyDlpack(other)}, queries, **options)
    assert found.equals(rulerank.compare(test.y, {"a": scores, "b": other}, test.qid, **options))
    sampler = rulerank.SelectiveSampler().fit(X, y, qid)
    assert (sampler.sample_indices_ == rulerank.SelectiveSampler().fit(train.X, train.y, train.qid).sample_indices_).all()
    asked = rulerank.SelectiveSampler().fit(X, qid=qid)
    rows = asked.query(3)
    asked.teach(OnlyDlpack(train.y[rows]), OnlyDlpack(rows))
    assert (asked.labels_[rows] == train.y[rows]).all()


def test_dlpack_labels_and_query_ids_that_cannot_be_read(train):
    def on_gpu(of):
        return OfType(np.array(of), device=(2, 0))

    X, y, qid = train.X, train.y, train.qid.astype(np.int64)
    for name, call in {"y": lambda: RuleRanker("rules").fit(X, on_gpu(y), qid), "qid": lambda: RuleRanker("rules").fit(X, y, on_gpu(qid)),
                       "scores": lambda: evaluate(y, on_gpu(X[:, 0]), qid)}.items():
        with pytest.raises(rulerank.UsageError, match=f"^{name}: found an array on device 0 of DLPack's kind 2, .* {name}.cpu"):
            call()
    for call in (lambda: evaluate(on_gpu(y), X[:, 0], qid), lambda: rulerank.SelectiveSampler().fit(X, on_gpu(y), qid)):
        with pytest.raises(rulerank.UsageError, match="^y: found an array on device 0"):
            call()
    with pytest.raises(rulerank.UsageError, match="^scores: .* expected values of a type that NumPy has"):
        evaluate(y, OfType(X[:, 0].astype(np.float32), BFLOAT), qid)


@pytest.mark.parametrize("estimator", [RuleRanker("rules"), rulerank.Discretizer(), rulerank.SelectiveSampler(),
                                       rulerank.DenseNeighbors()])
def test_arrays_on_a_gpu_are_an_error(estimator):
    X = OfType(np.eye(4, dtype=np.float32), device=(2, 1))
    with pytest.raises(rulerank.UsageError, match="X: found an array on device 1 of DLPack's kind 2, expected an array in the memory of the CPU"):
        estimator.fit(X, [1, 0, 0, 0])


def test_types_that_numpy_lacks():
    with pytest.raises(rulerank.UsageError, match="X: found OfType, which NumPy cannot read .*, expected values of"):
        RuleRanker("rules").fit(OfType(np.ones((4, 2), np.uint16), BFLOAT), [1, 0, 0, 0])


def test_every_layout_gives_the_same_scores(train, test, fitted):
    expected = fitted.predict(test.X, test.qid)
    for (name, X), (_, Y) in zip(layouts(train.X), layouts(test.X)):
        ranker = RuleRanker("rules").fit(X, train.y, train.qid)
        if name != "frame":  # a frame's features are sorted by name
            assert ranker.model_.to_bytes() == fitted.model_.to_bytes(), name
        assert (ranker.predict(Y, test.qid) == expected).all(), name


def test_single_precision_is_read_as_it_is(train, test):
    ranker = RuleRanker("rules").fit(train.X.astype(np.float32), train.y, train.qid)
    wide = RuleRanker("rules").fit(train.X.astype(np.float32).astype(float), train.y, train.qid)
    assert ranker.model_.to_bytes() == wide.model_.to_bytes()


def test_queries_in_any_order(train, test):
    """The rows of a query need not be contiguous; those of each query keep their order."""
    ranker = RuleRanker("rules,linear").fit(train.X, train.y, train.qid)
    expected = ranker.predict(test.X, test.qid)
    position = np.concatenate([np.arange(n) for n in np.unique(test.qid, return_counts=True)[1]])
    order = np.lexsort((test.qid, position))
    assert (test.qid[order][1:] != test.qid[order][:-1]).sum() > 100
    assert (ranker.predict(test.X[order], test.qid[order]) == expected[order]).all()


@pytest.mark.parametrize("kind", [str, float, lambda q: f"query {q}"])
def test_query_ids_of_any_type(train, test, kind):
    ranker = RuleRanker("linear").fit(train.X, train.y, train.qid)
    ids = np.array([kind(q) for q in test.qid.tolist()])
    assert (ranker.predict(test.X, ids) == ranker.predict(test.X, test.qid)).all()


def test_query_ids_as_a_column_of_X(train, test):
    expected = RuleRanker("linear").fit(train.X, train.y, train.qid).predict(test.X, test.qid)

    def frame(of):
        return pd.DataFrame(of.X, columns=[f"f{i:02}" for i in range(of.X.shape[1])]).assign(qid=of.qid)

    of_frame = RuleRanker("linear").fit(frame(train), train.y)
    assert (of_frame.predict(frame(test)) == expected).all()
    assert of_frame.n_features_in_ == train.X.shape[1]
    by_number = RuleRanker("linear", qid_column=-1)
    by_number.fit(np.column_stack([train.X, train.qid]), train.y)
    assert (by_number.predict(np.column_stack([test.X, test.qid])) == expected).all()
    sparse = RuleRanker("linear", qid_column=0).fit(sp.csr_matrix(np.column_stack([train.qid, train.X])), train.y)
    # Sums of z-scores skip unlisted values of a sparse row, and are rounded differently.
    assert np.allclose(sparse.predict(sp.csr_matrix(np.column_stack([test.qid, test.X]))), expected, atol=1e-12)
    with pytest.raises(rulerank.UsageError, match="both qid and the column 'qid'"):
        of_frame.predict(frame(test), test.qid)


def test_named_features_are_those_of_a_table(program, drawn, tmp_path, train, test):
    """A frame gives the model of a CSV file with its header, and that model ranks frames."""
    names = [f"n{(7 * i) % train.X.shape[1]:02}" for i in range(train.X.shape[1])]
    for name, of in (("train", train), ("test", test)):
        table = pd.DataFrame(of.X, columns=names)
        table.insert(0, "qid", of.qid)
        table.insert(0, "label", of.y)
        table.to_csv(tmp_path / f"{name}.csv", index=False, float_format="%.17g")
    program("fit", "--train", tmp_path / "train.csv", "--members", "rules,linear", "--model", tmp_path / "m")
    program("rank", "--model", tmp_path / "m", "--test", tmp_path / "test.csv", "--out", tmp_path / "s")
    ranker = RuleRanker("rules,linear").fit(pd.DataFrame(train.X, columns=names), train.y, train.qid)
    assert ranker.model_.to_bytes() == (tmp_path / "m").read_bytes()
    frame = pd.DataFrame(test.X, columns=names)
    assert (ranker.predict(frame, test.qid) == scores_of(tmp_path / "s")).all()
    loaded = RuleRanker.load(tmp_path / "m")
    assert (loaded.predict(frame[frame.columns[::-1]], test.qid) == scores_of(tmp_path / "s")).all()
    with pytest.raises(rulerank.DataError, match="found features with numbers, expected a frame"):
        loaded.predict(test.X, test.qid)
    importances = dict(zip(names, ranker.feature_importances_))
    plain = RuleRanker("rules,linear").fit(train.X, train.y, train.qid).feature_importances_
    assert np.allclose(list(importances.values()), plain, atol=1e-3)


@pytest.mark.parametrize("members, params", [
    ("rules", {"rule_size": 2, "min_support": 2, "min_confidence": 0.01, "support_weight": -0.5, "smoothing": 3,
               "feature_share": 0.5, "method": "width", "bins": 7, "norm": "query-minmax", "missing_values": "zero",
               "unlisted": "missing"}),
    ("rules", {"bins": "cv", "method": "frequency"}),
    ("scorecard", {"loss": "list", "points_penalty": 0.01, "smoothness": 1, "bins": 5}),
    ("scorecard", {"points_penalty": "cross-fit", "folds": 3}),
    ("linear", {"strength": 30, "folds": 4, "missing_values": "none"}),
    ("linear", {"linear_scale": "pool"}),
    ("joint", {"pairs": 3, "folds": 3, "method": "frequency", "bins": 6}),
    ("linear,rules,scorecard", {"rule_size": 2, "strength": 3, "loss": "point"})])
@pytest.mark.parametrize("named", [False, True])
def test_a_loaded_ranker_knows_what_the_file_says(train, test, tmp_path, members, params, named):
    train = train.take(slice(240))  # limits the time of cross-validation
    columns = [f"n{(5 * i) % 12:02}" for i in range(12)]
    X, Z = (pd.DataFrame(of.X, columns=columns) if named else of.X for of in (train, test))
    fitted = RuleRanker(members, **params).fit(X, train.y, train.qid)
    fitted.save(tmp_path / "m")
    loaded = RuleRanker.load(tmp_path / "m")
    assert loaded.get_params() == fitted.get_params()
    assert loaded.n_features_in_ == fitted.n_features_in_ == 12
    assert hasattr(loaded, "feature_names_in_") == named
    if named:  # in the order of the file, whatever the columns' order was
        assert loaded.feature_names_in_.tolist() == sorted(columns)
        assert loaded.feature_importances_.tolist() == fitted.feature_importances_[np.argsort(columns)].tolist()
    else:
        assert loaded.feature_importances_.tolist() == fitted.feature_importances_.tolist()
    for one in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert (one.predict(Z, test.qid) == fitted.predict(Z, test.qid)).all()
    assert clone(loaded).fit(X, train.y, train.qid).model_.to_bytes() == fitted.model_.to_bytes()
    assert RuleRanker.load(tmp_path / "m", n_jobs=2, folds=9).get_params() == fitted.get_params() | {"n_jobs": 2, "folds": 9}


@pytest.mark.parametrize("target", ["labels", "members"])
def test_a_loaded_card_is_fitted_again(train, test, tmp_path, target):
    fitted = RuleRanker("card", max_features=4, max_points=20, target=target).fit(train.X, train.y, train.qid)
    scores = fitted.predict(test.X, test.qid)
    assert (scores == np.round(scores)).all() and 0 <= scores.min() and scores.max() <= 80
    fitted.save(tmp_path / "m")
    loaded = RuleRanker.load(tmp_path / "m")
    assert loaded.members == "card" and loaded.target == target and loaded.max_points == 20
    assert (clone(loaded).fit(train.X, train.y, train.qid).predict(test.X, test.qid) == scores).all()


def with_a_column(X, values):
    return np.column_stack([X, np.full(len(X), values)])


def test_an_edited_card_is_fitted_again(program, drawn, train, test, tmp_path):
    first = RuleRanker(max_features=3).fit(train.X, train.y, train.qid)
    text = first.card_text()
    program("fit", "--train", drawn / "train.txt", "--members", "card", "--max-features", 3, "--model", tmp_path / "m")
    assert program("inspect", "--model", tmp_path / "m", "--format", "card") == text
    again = RuleRanker(card=text).fit(train.X, train.y, train.qid)
    assert again.card_text() == text
    assert (again.predict(test.X) == first.predict(test.X)).all()
    edited = text.splitlines()
    least = next(k for k, line in enumerate(edited) if line.startswith("  least"))
    edited[least + 1] = edited[least + 1].rsplit(maxsplit=1)[0] + " ?"
    (tmp_path / "edited.card").write_text("\n".join(edited))
    program("fit", "--train", drawn / "train.txt", "--members", "card", "--card", tmp_path / "edited.card", "--model", tmp_path / "m")
    edited = RuleRanker(card="\n".join(edited)).fit(train.X, train.y, train.qid).card_text()
    assert edited == program("inspect", "--model", tmp_path / "m", "--format", "card")
    with pytest.raises(rulerank.UsageError, match="expected a card"):
        RuleRanker("linear").fit(train.X, train.y, train.qid).card_text()


def test_a_card_is_exported(train, test, tmp_path):
    ranker = RuleRanker(max_features=3).fit(train.X, train.y, train.qid)
    ranker.export(tmp_path / "mine.py", "python")
    module = {}
    exec((tmp_path / "mine.py").read_text(), module)
    documents = [{f"f{column + 1}": value for column, value in enumerate(row)} for row in test.X]
    assert [module["score"](document) for document in documents] == list(ranker.predict(test.X, test.qid))
    with pytest.raises(rulerank.UsageError, match="expected one card or scorecard"):
        RuleRanker("linear").fit(train.X, train.y, train.qid).export(tmp_path / "mine.h", "c")
    with pytest.raises(rulerank.UsageError, match="format: found 'C'"):
        ranker.export(tmp_path / "mine.h", "C")


def test_units_and_origins_of_features(program, train, tmp_path):
    table = {0: ("EUR", "catalog.price"), 2: ("", "log")}
    ranker = RuleRanker("linear", feature_table=table).fit(train.X, train.y, train.qid)
    assert ranker.feature_table_ == table
    assert RuleRanker("linear").fit(train.X, train.y, train.qid).feature_table_ == {}
    ranker.save(tmp_path / "m")
    assert "catalog.price" in program("inspect", "--model", tmp_path / "m")
    loaded = RuleRanker.load(tmp_path / "m")
    assert loaded.feature_table_ == loaded.feature_table == table
    assert clone(loaded).fit(train.X, train.y, train.qid).model_.to_bytes() == ranker.model_.to_bytes()
    frame = pd.DataFrame(train.X, columns=[f"column {i}" for i in range(train.X.shape[1])])
    named = RuleRanker(max_features=3, feature_table={"column 1": ("ms", ""), 0: ("EUR", "")}).fit(frame, train.y, train.qid)
    assert named.feature_table_ == {"column 0": ("EUR", ""), "column 1": ("ms", "")}
    wide = RuleRanker("linear", feature_table={train.X.shape[1]: ("ms", "")})
    wide.fit(sp.csr_matrix(with_a_column(train.X, 0)), train.y, train.qid)  # no row lists the last column


def test_directions_of_a_card():
    X = np.array([[d * 7 % 10, d * 13 % 11] for d in range(300)])
    y, qid = [d * 7 % 10 * 3 // 10 for d in range(300)], [d // 10 for d in range(300)]
    how = {"target": "labels", "smoothness": 0.1}
    assert "rising 1\n" in RuleRanker(**how).fit(X, y, qid).card_text()
    assert "g 1\n" not in RuleRanker(**how, monotone={0: "falling"}).fit(X, y, qid).card_text()
    frame = pd.DataFrame(X, columns=["tf idf", "age"])
    for column in (0, "tf idf"):
        text = RuleRanker(**how, monotone={column: "falling"}).fit(frame, y, qid).card_text()
        assert "tf idf" not in text and "age" in text


@pytest.mark.parametrize("members", ["rules", "scorecard", "linear", "joint", "recommended"])
def test_a_loaded_ranker_takes_as_many_columns_as_the_fitted_one(train, test, tmp_path, members):
    """Whatever rows list: of a sparse X the last columns may have no value, and a wider X may have a column of query ids."""
    for make in (np.asarray, sp.csr_matrix, sp.coo_matrix, sp.bsr_matrix, sp.lil_matrix):
        fitted = RuleRanker(members).fit(make(with_a_column(train.X, 0)), train.y, train.qid)
        fitted.save(tmp_path / "m")
        loaded = RuleRanker.load(tmp_path / "m")
        assert loaded.n_features_in_ == fitted.n_features_in_ == 13
        X = make(with_a_column(test.X, 0))
        for one in (loaded, pickle.loads(pickle.dumps(loaded))):
            assert (one.predict(X, test.qid) == fitted.predict(X, test.qid)).all()
        assert loaded.explain(X, 0, test.qid).score == fitted.explain(X, 0, test.qid).score
        assert clone(loaded).fit(make(with_a_column(train.X, 0)), train.y, train.qid).model_.to_bytes() == fitted.model_.to_bytes()
        for columns, other in ((12, test.X), (14, np.column_stack([test.qid, with_a_column(test.X, 0)])), (13, None)):
            for one in (fitted, loaded):
                if other is None:
                    one.predict(X, test.qid)
                    continue
                with pytest.raises(ValueError, match=f"X has {columns} features, but RuleRanker is expecting 13 features"):
                    one.predict(make(other), test.qid)
                with pytest.raises(ValueError, match=f"X has {columns} features"):
                    one.explain(make(other), 0, test.qid)


def test_a_ranker_of_the_program_knows_the_features_that_rows_list(program, drawn, tmp_path, train, test):
    program("fit", "--train", drawn / "train.txt", "--members", "rules", "--model", tmp_path / "m", "--quiet")
    loaded = RuleRanker.load(tmp_path / "m")
    assert loaded.n_features_in_ == 12
    assert (loaded.predict(test.X, test.qid) == RuleRanker("rules").fit(train.X, train.y, train.qid).predict(test.X, test.qid)).all()
    with pytest.raises(ValueError, match="X has 13 features, but RuleRanker is expecting 12 features"):
        loaded.predict(np.column_stack([test.qid, test.X]))


def test_a_loaded_ranker_takes_columns_by_their_names(train, test, tmp_path):
    expected = RuleRanker("rules").fit(train.X, train.y, train.qid).predict(test.X, test.qid)
    names = [f"n{i:02}" for i in range(12)]
    RuleRanker("rules").fit(pd.DataFrame(train.X, columns=names), train.y, train.qid).save(tmp_path / "m")
    loaded = RuleRanker.load(tmp_path / "m")
    frame = pd.DataFrame(test.X, columns=names)
    assert (loaded.predict(frame[names[::-1]].assign(more=1.0), test.qid) == expected).all()
    with pytest.raises(ValueError, match="n03"):
        loaded.predict(frame.drop(columns="n03"), test.qid)
    again = loaded.fit(frame, test.y, test.qid)  # from now on columns must have this order
    with pytest.raises(ValueError, match="order"):
        again.predict(frame[names[::-1]], test.qid)


def test_grid_search_finds_the_programs_ndcg(program, drawn, tmp_path, train):
    """With groups of GroupKFold, query ids as a column, in a pipeline: the NDCG of each part is what the
    program says of the same documents."""
    X = np.column_stack([train.qid, train.X])
    pipeline = make_pipeline(FunctionTransformer(), RuleRanker("rules", qid_column=0))
    search = GridSearchCV(pipeline, {"ruleranker__rule_size": [2, 3]}, cv=GroupKFold(3))
    search.fit(X, train.y, groups=train.qid)
    for k, (fit, held_out) in enumerate(GroupKFold(3).split(X, train.y, train.qid)):
        for name, rows in (("fit", fit), ("held_out", held_out)):
            rulerank.dump_letor(tmp_path / name, train.X[rows], train.y[rows], train.qid[rows])
        for size, found in zip([2, 3], search.cv_results_[f"split{k}_test_score"]):
            program("rank", "--train", tmp_path / "fit", "--test", tmp_path / "held_out", "--out",
                    tmp_path / "s", "--rule-size", size)
            said = program("evaluate", "--test", tmp_path / "held_out", "--scores", tmp_path / "s",
                           "--metrics", "NDCG@10", "--format", "tsv", "--digits", 17)
            assert found == float(said.splitlines()[-1].split("\t")[1])


def test_grid_search_with_qid_as_an_argument(train):
    import sklearn

    by_column = GridSearchCV(RuleRanker("linear", qid_column=0), {"strength": [3, 30]}, cv=GroupKFold(3))
    by_column.fit(np.column_stack([train.qid, train.X]), train.y, groups=train.qid)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RuleRanker("linear").set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, {"strength": [3, 30]}, cv=GroupKFold(3))
        search.fit(train.X, train.y, groups=train.qid, qid=train.qid)
    assert (search.cv_results_["mean_test_score"] == by_column.cv_results_["mean_test_score"]).all()


def test_warnings_name_the_line_of_the_caller(train):
    for call in (lambda: RuleRanker("rules").fit(train.X, train.y),
                 lambda: RuleRanker("rules", qid_column=None).fit(train.X, train.y).set_params(qid_column="qid").score(train.X, train.y)):
        with pytest.warns(UserWarning, match="so all .* rows are one query") as warned:
            call()
        assert [one.filename for one in warned] == [__file__]


def test_groups_without_qid_are_warned_of(train):
    """groups of a search cut its folds and go no further: a ranker that gets no qid says so, where it is fitted and judged."""
    with pytest.warns(UserWarning, match="qid: found none, so all .* rows are one query; pass qid") as said:
        GridSearchCV(RuleRanker("rules"), {"rule_size": [2]}, cv=GroupKFold(3)).fit(train.X, train.y, groups=train.qid)
    assert len({str(one.message).split(" rows")[0] for one in said}) > 2  # of the folds, and of all rows
    assert "searches pass groups to the splitter alone" in str(said[0].message)
    ranker = RuleRanker("rules").fit(train.X, train.y, train.qid)
    with pytest.warns(UserWarning, match="qid: found none, so all 5 rows are one query"):
        ranker.score(train.X[:5], train.y[:5])
    with pytest.raises(TypeError, match="groups"):
        RuleRanker("rules").fit(train.X, train.y, groups=train.qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleRanker("rules", qid_column=None).fit(train.X, train.y).score(train.X, train.y)
        ranker.predict(train.X[:5])
        frame = pd.DataFrame(train.X).rename(columns=str).assign(qid=train.qid)
        RuleRanker("rules").fit(frame, train.y).score(frame, train.y)


@pytest.mark.parametrize("members, norm, portable", [
    ("card", "none", True), ("rules", "none", True), ("scorecard", "query-zscore", False), ("linear", "none", False),
    ("joint", "none", False), ("card,scorecard", "none", False)])
def test_rankers_say_whether_scores_depend_on_the_list(train, members, norm, portable):
    X = np.column_stack([train.qid, train.X])
    ranker = RuleRanker(members, norm=norm, qid_column=0).fit(X, train.y)
    assert ranker.portable_ is portable
    assert ranker.portability_.startswith("portable") is portable
    rows = np.arange(7)
    assert (ranker.predict(X[rows[:1]]) == ranker.predict(X)[:1]).all() == portable
    by_name = pd.DataFrame(train.X).rename(columns=str)
    ranker = RuleRanker(members, norm=norm).fit(by_name.assign(qid=train.qid), train.y)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ranker.predict(by_name)
    assert ["so all" in str(one.message) for one in said] == [] if portable else [True]


def test_scorers_take_any_measure(train):
    X = np.column_stack([train.qid, train.X])
    ranker = RuleRanker("rules", qid_column=0).fit(X, train.y)
    scorer = rulerank.metric_scorer("MAP", profile="standard", relevant_from=2)
    expected = evaluate(train.y, ranker.predict(X), train.qid, "MAP", profile="standard", relevant_from=2)
    assert scorer(ranker, X, train.y) == expected["MAP"]


def test_scorers_take_pipelines_searches_and_other_estimators(train):
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_val_score

    X, scorer = np.column_stack([train.qid, train.X]), rulerank.metric_scorer("MAP")
    pipeline = make_pipeline(FunctionTransformer(lambda rows: rows * 1.0), RuleRanker("rules", qid_column=0)).fit(X, train.y)
    expected = evaluate(train.y, pipeline.predict(X), train.qid, "MAP")["MAP"]
    assert scorer(pipeline, X, train.y) == expected != pipeline.score(X, train.y)
    search = GridSearchCV(RuleRanker("rules", qid_column=0), {"min_confidence": [0.01, 0.1]}, cv=GroupKFold(3), scoring=scorer)
    search.fit(X, train.y, groups=train.qid)
    assert scorer(search, X, train.y) == evaluate(train.y, search.predict(X), train.qid, "MAP")["MAP"]
    inner = GridSearchCV(RuleRanker("rules", qid_column=0), {"min_confidence": [0.01, 0.1]}, cv=3)
    nested = cross_val_score(inner, X, train.y, cv=3, scoring=scorer)
    assert np.isfinite(nested).all()
    ridge = make_pipeline(FunctionTransformer(), Ridge()).fit(train.X, train.y)
    with pytest.warns(UserWarning, match="qid: found none, so all"):
        scorer(ridge, train.X, train.y)
    assert scorer(ridge, train.X, train.y, train.qid) == evaluate(train.y, ridge.predict(train.X), train.qid, "MAP")["MAP"]


def test_scorers_are_given_the_qid_of_a_search(train):
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RuleRanker("linear").set_fit_request(qid=True).set_score_request(qid=True)
        options = {"param_grid": {"strength": [3, 30]}, "cv": GroupKFold(3)}
        own = GridSearchCV(ranker, **options).fit(train.X, train.y, groups=train.qid, qid=train.qid)
        scorer = rulerank.metric_scorer("NDCG@10").set_score_request(qid=True)
        search = GridSearchCV(ranker, scoring=scorer, **options)
        search.fit(train.X, train.y, groups=train.qid, qid=train.qid)
        assert (search.cv_results_["mean_test_score"] == own.cv_results_["mean_test_score"]).all()
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="qid"):
            GridSearchCV(ranker, scoring=rulerank.metric_scorer("NDCG@10"), **options).fit(
                train.X, train.y, groups=train.qid, qid=train.qid)
    again = pickle.loads(pickle.dumps(search))
    assert again.best_params_ == own.best_params_
    assert again.scorer_(again.best_estimator_, train.X, train.y, train.qid) == own.best_estimator_.score(
        train.X, train.y, train.qid)
    assert repr(again.scorer_) == "metric_scorer('NDCG@10', profile='letor')"


def test_pickles_hold_the_checked_bytes_of_the_model_file(fitted, test):
    bytes_ = pickle.dumps(fitted)
    assert fitted.model_.to_bytes() in bytes_
    expected = fitted.predict(test.X, test.qid)
    again = pickle.loads(bytes_)
    assert (again.predict(test.X, test.qid) == expected).all()
    assert (copy.deepcopy(fitted).predict(test.X, test.qid) == expected).all()
    at = bytes_.index(fitted.model_.to_bytes()) + len(fitted.model_.to_bytes()) - 5
    damaged = bytes_[:at] + bytes([bytes_[at] ^ 1]) + bytes_[at + 1:]
    with pytest.raises(rulerank.DataError, match="the pickled model"):
        pickle.loads(damaged)


def test_clones_keep_cuts(train, test):
    cuts = rulerank.Discretizer("frequency", bins=5).fit(train.X).cuts_
    ranker = RuleRanker("rules", cuts=cuts).fit(train.X, train.y, train.qid)
    other = RuleRanker("rules", method="frequency", bins=5).fit(train.X, train.y, train.qid)
    copied = clone(ranker).fit(train.X, train.y, train.qid)
    for one in (other, copied):
        assert one.model_.to_bytes() == ranker.model_.to_bytes()


def test_explanations_are_the_programs(program_json, drawn, tmp_path, train, test, program):
    program("fit", "--train", drawn / "train.txt", "--members", "rules,scorecard,linear", "--model",
            tmp_path / "m")
    qid = test.qid[50]
    said = program_json("explain", "--model", tmp_path / "m", "--test", drawn / "test.txt", "--qid", qid,
                        "--rank", 2, "--top", 5)
    ranker = RuleRanker("rules,scorecard,linear").fit(train.X, train.y, train.qid)
    rows = np.flatnonzero(test.qid == qid)
    scores = ranker.predict(test.X, test.qid)
    second = rows[np.argsort(-scores[rows], kind="stable")[1]]
    found = ranker.explain(test.X, second, test.qid, top=5)
    assert found.score == scores[second] == said["document"]["score"]
    assert found.rank == said["document"]["rank"] == 2
    assert [member.kind for member in found.members] == ["rules", "scorecard", "linear"]
    assert abs(sum(member.part for member in found.members) - found.score) < 1e-12
    for member, expected in zip(found.members, said["members"]):
        assert (member.part, member.mean, member.deviation) == (
            expected["part"], expected["mean"], expected["deviation"])
    rules = found.members[0]
    expected = said["members"][0]
    assert rules.details["numerator"] == int(expected["document"]["numerator"])
    assert rules.details["denominator"] == int(expected["document"]["denominator"])
    assert rules.details["rule_count"] == expected["document"]["rules"]
    assert rules.items["moves"].tolist() == [one["moved"]["value"] for one in expected["split"]["items"]]
    up = rules.rules[rules.rules["moves"] > 0]
    assert up["share"].tolist() == [int(one["share"]["numerator"]) for one in expected["up"]["most"]]
    assert up["moves"].tolist() == [one["moved"]["value"] for one in expected["up"]["most"]]
    assert abs(rules.items["moves"].sum() - (rules.score - rules.details["mean_label"])) < 1e-12
    assert rules.details["numerator"] / rules.details["denominator"] == pytest.approx(rules.score)
    assert abs(found.members[1].terms["adds"].sum() - found.members[1].score) < 1e-12
    assert str(second) in str(found)

    first = rows[np.argmax(scores[rows])]
    compared = ranker.explain(test.X, first, test.qid, against=second)
    assert compared.score == (scores[first], scores[second])
    assert compared.rank == (1, 2)
    assert ranker.explain(test.X[rows]).row == np.argmax(scores[rows])
    for wrong in ({}, {"row": first, "against": 0}, {"row": len(test.X)}):
        with pytest.raises((rulerank.UsageError, IndexError)):
            ranker.explain(test.X, qid=test.qid, **wrong)


def test_importances_are_what_inspect_prints(program_json, drawn, tmp_path, train, program):
    program("fit", "--train", drawn / "train.txt", "--members", "rules", "--model", tmp_path / "m")
    said = program_json("inspect", "--model", tmp_path / "m")
    ranker = RuleRanker("rules").fit(train.X, train.y, train.qid)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    moved = {int(one["feature"]): one["moved"] for one in said["members"][0]["features"]}
    expected = np.array([moved.get(f + 1, 0) for f in range(train.X.shape[1])])
    assert ranker.feature_importances_ == pytest.approx(expected / expected.sum())


def test_rows_without_a_label(train):
    y = train.y.copy()
    y[::2] = -1
    ranker = RuleRanker("rules").fit(train.X, y, train.qid)
    other = RuleRanker("rules", cuts=rulerank.Discretizer().fit(train.X).cuts_)
    other.fit(train.X[1::2], train.y[1::2], train.qid[1::2])
    # The models differ in the features that look normalized within queries: all rows tell these, as they tell the cuts.
    assert np.array_equal(ranker.predict(train.X), other.predict(train.X))


@pytest.mark.parametrize("how, message", [
    ({"members": "rule"}, "members: found 'rule'"),
    ({"members": "rules,rules"}, "each once"),
    ({"rule_size": 4}, "rule_size: found 4, and no member is of the kind rules"),
    ({"members": "card", "points_penalty": "cross-fit"}, "points_penalty: found 'cross-fit', expected a number"),
    ({"members": "card", "target": "pool"}, "target: found 'pool'"),
    ({"monotone": {0: "up"}}, 'monotone:1:1: found "up", expected rising, falling, free or either'),
    ({"feature_table": {0: "EUR"}}, "feature_table: found 'EUR' for 0, expected two texts"),
    ({"feature_table": {99: ("EUR", "")}}, 'feature_table:2:1: found "100", expected a feature\'s number'),
    ({"feature_table": {0: ("EUR\t", "")}}, "feature_table:2:7: found more than 3 cells"),
    ({"card": "rising 1\n  3 4\n"}, 'card:2:3: found "3" as the first bin, expected least'),
    ({"members": "rules", "max_features": 3}, "no member is of the kind card"),
    ({"members": "linear", "loss": "list"}, "loss: found 'list'"),
    ({"members": "rules", "rule_size": 1}, "rule size|size"),
    ({"members": "rules", "method": "tubes"}, "found 'tubes'"),
    ({"members": "rules", "bins": 1}, "bins|2"),
    ({"members": "rules", "bins": 0}, "bins"),
    ({"members": "rules", "bins": "10"}, "bins"),
    ({"members": "scorecard", "loss": "pairs"}, "pairs"),
    ({"members": "rules", "device": "gpu"}, "device: found 'gpu', expected cpu"),
    ({"members": "rules", "n_jobs": 0}, "n_jobs"),
])
def test_wrong_parameters(train, how, message):
    with pytest.raises(rulerank.UsageError, match=message):
        RuleRanker(**how).fit(train.X, train.y, train.qid)


def test_wrong_data_names_its_place(train):
    X, y = train.X.copy(), train.y.copy()
    X[3, 2] = np.inf
    with pytest.raises(rulerank.DataError, match="inf") as caught:
        RuleRanker("rules").fit(X, y, train.qid)
    assert (caught.value.line, caught.value.file) == (4, "X")
    y = y.astype(float)
    y[5] = 0.5
    with pytest.raises(rulerank.DataError, match="y:6: found the label 0.5"):
        RuleRanker("rules").fit(train.X, y, train.qid)
    with pytest.raises(rulerank.DataError, match="found the label -2"):
        RuleRanker("rules").fit(train.X, np.where(np.arange(len(y)) == 7, -2, train.y), train.qid)
    with pytest.raises(rulerank.UsageError, match="qid: found the shape"):
        RuleRanker("rules").fit(train.X, train.y, train.qid[1:])
    with pytest.raises(rulerank.DataError, match="qid: found a number that is not whole"):
        RuleRanker("rules").fit(train.X, train.y, train.qid + 0.5)
    with pytest.raises(rulerank.DeviceError, match="no CUDA device|there is no"):
        if rulerank.devices():
            pytest.skip("needs a machine without a GPU")
        RuleRanker("rules", device="cuda").fit(train.X, train.y, train.qid)


def test_damaged_model_files(fitted, tmp_path):
    path = tmp_path / "m"
    fitted.save(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(rulerank.DataError, match=str(path)):
        RuleRanker.load(path)
    with pytest.raises(rulerank.OutputError):
        fitted.save(tmp_path / "missing" / "m")


@pytest.mark.parametrize("qid, message", [
    (np.array([1, None, 2, 2], dtype=object), "qid:2: found None"),
    (["a", np.nan, "b", "b"], "qid:2: found nan"),
    (pd.Series(["a", "b", None, "b"]), "qid:3: found (None|nan)"),
    (np.array([1, 1, 2.5, 2], dtype=object), "qid:3: found 2.5"),
    ([1, 1, "b", "b"], "qid:3: found both 'b' and 1"),
    (np.array(["a", 2, "b", "b"], dtype=object), "qid:2: found both 2 and 'a'")])
def test_query_ids_are_integers_or_text(qid, message):
    with pytest.raises(rulerank.DataError, match=message):
        evaluate([1, 0, 1, 0], [1, 2, 3, 4], qid)
    with pytest.raises(rulerank.DataError, match=message):
        RuleRanker("rules").fit(np.eye(4), [1, 0, 1, 0], qid)


def test_query_ids_may_be_objects():
    y, scores, X = [1, 0, 1, 0], [1, 2, 3, 4], np.eye(4)
    expected = evaluate(y, scores, [1, 1, 2, 2])
    for qid in (["a", "a", "b", "b"], [1, 1, 2, 2]):
        assert evaluate(y, scores, qid) == evaluate(y, scores, np.array(qid, dtype=object)) == expected
        RuleRanker("rules").fit(X, y, np.array(qid, dtype=object))


@pytest.mark.parametrize("y", [
    ["2", "0", "1", "0"], np.array(["2", "0", "1", "0"]), np.array(["2", 0, 1, 0], dtype=object),
    ["2", None, "1", "0"]])
def test_labels_are_no_text(y):
    with pytest.raises(rulerank.DataError, match="y:1: found the label '2', expected a number"):
        RuleRanker("rules").fit(np.eye(4), y)
    with pytest.raises(rulerank.DataError, match="y:1: found the label '2', expected a number"):
        evaluate(y, [1, 2, 3, 4])
    with pytest.raises(rulerank.DataError, match="y:1: found the label '2', expected a number"):
        rulerank.SelectiveSampler().fit(np.eye(4), y)


def test_labels_may_be_objects_that_are_numbers():
    y = np.array([2, 0, 1, 0], dtype=object)
    assert evaluate(y, [1, 2, 3, 4]) == evaluate(y.astype(int), [1, 2, 3, 4])
    RuleRanker("rules").fit(np.eye(4), y)


@pytest.mark.parametrize("spoil, message", [
    (lambda X: X.indices.__setitem__(2, 4), "indices must be < 4"),
    (lambda X: X.indices.__setitem__(2, 2**31 - 1), "indices must be < 4"),
    (lambda X: X.indices.__setitem__(2, -1), "indices must be >= 0"),
    (lambda X: X.indptr.__setitem__(2, 9), "non-decreasing"),
    (lambda X: X.indptr.__setitem__(-1, 1000), "index pointer"),
    (lambda X: X.indptr.__setitem__(-1, 0), "non-decreasing")])
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_sparse_matrices_that_point_outside_themselves(tmp_path, make, spoil, message):
    X, y = make(np.eye(4)), [1, 0, 1, 0]
    ranker = RuleRanker("rules").fit(X, y)
    spoil(X)
    for use in (lambda: RuleRanker("rules").fit(X, y), lambda: RuleRanker("rules").fit(X, y, [2, 1, 2, 1]),
                lambda: RuleRanker("rules", qid_column=0).fit(X, y), lambda: ranker.predict(X),
                lambda: rulerank.dump_letor(tmp_path / "d", X, y), lambda: rulerank.mine_itemsets(X)):
        with pytest.raises(rulerank.DataError, match=f"X: found a sparse matrix that is not valid: .*{message}"):
            use()


def framed(data):
    return pd.DataFrame(data.X, columns=[f"f{column}" for column in range(data.X.shape[1])])


@pytest.mark.parametrize("how", [{"members": "linear"}, {"members": "rules,linear"}, {"members": "rules", "norm": "query-minmax"}])
def test_predicting_without_the_column_of_query_ids_is_warned_of(train, test, how):
    ranker = RuleRanker(**how).fit(framed(train).assign(qid=train.qid), train.y)
    rows = framed(test)
    with pytest.warns(UserWarning, match=f"qid: found none, so all {len(rows)} rows are one query") as warned:
        ranker.predict(rows)
    assert [one.filename for one in warned] == [__file__]
    with pytest.warns(UserWarning, match="so all .* rows are one query") as warned:
        pickle.loads(pickle.dumps(ranker)).score(rows, test.y)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (ranker.predict(rows, test.qid) == ranker.predict(rows.assign(qid=test.qid))).all()
        ranker.predict(rows[:1])
        RuleRanker("rules").fit(framed(train).assign(qid=train.qid), train.y).predict(rows)  # each row by itself
        RuleRanker(**how).fit(framed(train), train.y, train.qid).predict(rows)


@pytest.mark.parametrize("name", ["total\nscore", "a\tb", "a\x7f", "a\x85b", "a\u200fb", "\u202eb", "a\u2066", "a\ud800", ""])
def test_names_that_no_model_file_holds_are_an_error_of_fit(train, name):
    X = framed(train)
    X.columns = pd.Index([name if column == "f2" else column for column in X.columns], dtype=object)  # pyarrow refuses half of a pair in text
    for estimator in (RuleRanker("rules"), RuleRanker("linear"), RuleRanker("scorecard"), rulerank.Discretizer(), rulerank.SelectiveSampler(max_documents=3)):
        with pytest.raises(rulerank.DataError, match="X: column 3: found the name .*, expected "):
            estimator.fit(X, train.y, qid=train.qid)


def test_names_of_other_characters_are_kept(train, test, tmp_path):
    names = ["a b", "a:b", "a#b", 'a"b', "a,b", "=a", "café", "e\u0301", "a\u2028b", "\ufeffb", "a\u200bb", "x" * 10000]
    train, test = framed(train).set_axis(names, axis=1).assign(qid=train.qid, y=train.y), framed(test).set_axis(names, axis=1).assign(qid=test.qid)
    for members in ("rules", "linear"):
        ranker = RuleRanker(members).fit(train.drop(columns="y"), train["y"])
        ranker.save(tmp_path / "model")
        for again in (RuleRanker.load(tmp_path / "model"), pickle.loads(pickle.dumps(ranker))):
            assert (again.predict(test) == ranker.predict(test)).all()


def test_features_are_selected_with_query_ids_as_an_argument(train):
    """Selectors of scikit-learn use only the columns of X, qid among them: query ids are a separate argument."""
    from sklearn.feature_selection import RFE, SelectFromModel

    X, ranker = framed(train), RuleRanker("rules", method="width", bins=4)
    expected = ranker.fit(X, train.y, train.qid).feature_importances_
    chosen = SelectFromModel(ranker).fit(X, train.y, qid=train.qid)
    assert list(chosen.get_feature_names_out()) == list(X.columns[expected >= expected.mean()])
    assert chosen.transform(X).shape == (len(X), (expected >= expected.mean()).sum())
    pipeline = make_pipeline(SelectFromModel(ranker).set_output(transform="pandas"), RuleRanker("rules", method="width", bins=4))
    pipeline.fit(X, train.y, selectfrommodel__qid=train.qid, ruleranker__qid=train.qid)
    assert list(pipeline[-1].feature_names_in_) == list(chosen.get_feature_names_out())
    assert RFE(ranker, n_features_to_select=3, step=4).fit(X, train.y, qid=train.qid).support_.sum() == 3
