import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import scores_of

import rulerank
from rulerank import RuleRanker, SelectiveSampler, draw_letor, load_letor


@pytest.fixture(scope="module")
def train(drawn):
    return load_letor(drawn / "train.txt")


def program_choices(program, fold, tmp_path, *options):
    program("reduce", "--train", fold / "train.txt", "--out", tmp_path / "r", "--ids", tmp_path / "ids",
            "--discretizer-out", tmp_path / "cuts", *options)
    return pd.read_csv(tmp_path / "ids", sep="\t")


def expect_choices(sampler, expected):
    found = sampler.choices_
    assert found["row"].tolist() == expected["line"].tolist()
    for column in ("partition", "iteration", "rules"):
        assert found[column].tolist() == expected[column].tolist()
    assert sampler.sample_indices_.tolist() == sorted(set(expected["line"]))


@pytest.mark.parametrize("how", [
    {}, {"rule_size": 3, "partitions": 2, "feature_order": "none"}, {"max_documents": 30},
    {"method": "frequency", "bins": 6, "min_support": 2}, {"feature_order": "label", "engine": "ssarp"}])
def test_choices_are_the_programs(program, drawn, tmp_path, train, how):
    options = [word for name, value in how.items() for word in (f"--{name.replace('_', '-')}", value)]
    expected = program_choices(program, drawn, tmp_path, *options)
    sampler = SelectiveSampler(**how).fit(train.X, train.y, train.qid)
    expect_choices(sampler, expected)
    assert sampler.finished_ and len(sampler.query()) == 0


def test_whole_queries(program, drawn, tmp_path, train):
    expected = program_choices(program, drawn, tmp_path, "--whole-queries", "--max-documents", 100)
    sampler = SelectiveSampler(whole_queries=True, max_documents=100).fit(train.X, train.y, train.qid)
    assert sampler.sample_indices_.tolist() == sorted(set(expected["line"]))
    chosen = np.unique(train.qid[sampler.sample_indices_])
    assert np.isin(train.qid, chosen).sum() == len(sampler.sample_indices_)


@pytest.mark.parametrize("dataset", ["MQ2008", "OHSUMED"])
def test_real_data(program, real_data, tmp_path, dataset):
    """The chosen rows, and the ranking by them."""
    fold = real_data(f"letor/{dataset}/Fold1")
    expected = program_choices(program, fold, tmp_path)
    train, test = load_letor(fold / "train.txt"), load_letor(fold / "test.txt")
    sampler = SelectiveSampler().fit(train.X, train.y, train.qid)
    expect_choices(sampler, expected)
    program("rank", "--train", tmp_path / "r", "--discretizer", tmp_path / "cuts", "--test", fold / "test.txt",
            "--regroup", "--out", tmp_path / "s")
    rows = sampler.sample_indices_
    ranker = RuleRanker("rules", cuts=sampler.cuts_).fit(train.X[rows], train.y[rows], train.qid[rows])
    assert (ranker.predict(test.X, test.qid) == scores_of(tmp_path / "s")).all()


@pytest.mark.parametrize("batch", [1, 7])
def test_a_person_in_the_loop_labels_the_same_rows(train, batch):
    whole = SelectiveSampler(rule_size=3).fit(train.X, train.y, train.qid)
    sampler = SelectiveSampler(rule_size=3).fit(train.X, qid=train.qid)
    asked = 0
    while not sampler.finished_:
        rows = sampler.query(batch)
        assert 0 < len(rows) <= batch
        asked += len(rows)
        sampler.teach(train.y[rows])
        known = sampler.labels_ >= 0
        assert known.sum() == asked and (sampler.labels_[known] == train.y[known]).all()
        assert np.isin(sampler.sample_indices_, np.flatnonzero(known)).all()
    assert sampler.sample_indices_.tolist() == whole.sample_indices_.tolist()
    assert sorted(map(tuple, sampler.choices_.to_numpy())) == sorted(map(tuple, whole.choices_.to_numpy()))
    if batch == 1:
        assert asked == len(whole.sample_indices_)
    assert sampler.query().size == 0


def test_rows_apart_known_labels_left_out_rows_and_undo(train):
    order = np.random.default_rng(8).permutation(len(train.y))
    X, y, qid = train.X[order], train.y[order], train.qid[order]
    some = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    sampler = SelectiveSampler(rule_size=3).fit(X, some, qid)
    first = sampler.query()
    assert some[first[0]] == -1
    sampler.teach([None])
    second = sampler.query()
    assert second[0] != first[0] and first[0] not in sampler.sample_indices_
    sampler.teach(y[second])
    assert second[0] in sampler.sample_indices_ and sampler.labels_[second[0]] == y[second[0]]
    assert sampler.undo() and sampler.undo() and not sampler.undo()
    assert sampler.labels_[second[0]] == -1 and sampler.query()[0] == first[0]
    sampler.teach(y[second], second)  # answered in advance
    assert set(sampler.outlook(5)) >= {"rules", "next_rules", "documents", "minority_labels"}


def test_mistakes(train):
    sampler = SelectiveSampler().fit(train.X)
    rows = sampler.query(2)
    with pytest.raises(rulerank.UsageError, match="labels: found 1, expected one for each of 2 rows"):
        sampler.teach([0])
    with pytest.raises(rulerank.UsageError, match="whole number"):
        sampler.teach([0.5, 1])
    sampler.teach([0, 1])
    with pytest.raises(rulerank.UsageError):
        sampler.teach([0], rows[:1])
    with pytest.raises(rulerank.UsageError, match="batch"):
        sampler.query(0)
    for how in ({"rule_size": 1}, {"partitions": 0}, {"feature_order": "random"}, {"engine": "fast"}):
        with pytest.raises(rulerank.UsageError):
            SelectiveSampler(**how).fit(train.X, train.y)
    with pytest.raises(rulerank.UsageError, match="sample is complete"):
        SelectiveSampler().fit(train.X, train.y).teach([1])
    with pytest.raises(rulerank.DataError, match="two bins"):
        SelectiveSampler().fit(np.zeros((5, 2)))


def test_pickles_keep_the_sample(train):
    sampler = SelectiveSampler(rule_size=3).fit(train.X)
    sampler.teach(train.y[sampler.query(3)])
    again = pickle.loads(pickle.dumps(sampler))
    assert again.sample_indices_.tolist() == sampler.sample_indices_.tolist()
    # The sampling continues from the labels.
    more = SelectiveSampler(rule_size=3).fit(train.X, again.labels_)
    assert more.labels_.tolist() == sampler.labels_.tolist()


@pytest.fixture
def in_the_loop():
    """A sampler with two answers, and its data, whose rows are not grouped by query."""
    data = draw_letor(300, 6, 10)
    order = np.random.default_rng(2).permutation(300)
    X, y, qid = data.X[order], data.y[order], data.qid[order]
    sampler = SelectiveSampler(rule_size=3).fit(X, qid=qid)
    sampler.teach([y[sampler.query()[0]]])
    sampler.query()
    return sampler.teach([None]), X, y


@pytest.mark.parametrize("wrong", ["1", 0.5, np.nan, np.inf, -2, 2**31, [1]])
def test_a_refused_label_changes_nothing(in_the_loop, wrong):
    sampler, _, y = in_the_loop
    rows = sampler.query(3)
    labels, chosen = sampler.labels_.copy(), sampler.sample_indices_
    given = np.empty(3, dtype=object)
    given[:2], given[2] = y[rows[:2]], wrong
    with pytest.raises(rulerank.UsageError, match=f"labels: found .* for row {rows[2]}, expected a whole number"):
        sampler.teach(given)
    assert (sampler.labels_ == labels).all() and (sampler.sample_indices_ == chosen).all()
    sampler.teach(y[rows])
    assert (sampler.labels_[rows] == y[rows]).all()
    assert all(sampler.undo() for _ in rows)
    assert (sampler.labels_ == labels).all() and (sampler.query(3) == rows).all()


@pytest.mark.parametrize("wrong", [
    -1, 300, 0.5, np.nan, "1", None, "the first again", "labelled", "left out"])
def test_a_refused_row_changes_nothing(in_the_loop, wrong):
    sampler, _, y = in_the_loop
    rows = sampler.query(2)
    labels = sampler.labels_.copy()
    answered = {"the first again": rows[0], "labelled": np.flatnonzero(labels >= 0)[0], "left out": sampler._given[1]}
    with pytest.raises(rulerank.UsageError, match="rows: found"):
        sampler.teach([0, 0], [rows[0], answered.get(wrong, wrong)])
    assert (sampler.labels_ == labels).all()
    sampler.teach(y[rows], rows)
    assert all(sampler.undo() for _ in rows)
    assert (sampler.labels_ == labels).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda of: pickle.loads(pickle.dumps(of))])
def test_a_copy_of_an_unfinished_sampler_says_so(in_the_loop, copied):
    sampler, X, y = in_the_loop
    again = copied(copied(sampler))
    assert not again.finished_
    for use in (again.query, lambda: again.teach([1]), again.undo, again.outlook):
        with pytest.raises(rulerank.UsageError, match=r"pickled or copied .* fit\(X, labels_\) continues"):
            use()
    assert len(again.fit(X, again.labels_).query()) == 1
    done = copied(again.fit(X, y))
    assert done.finished_ and len(done.query()) == 0


def test_queries_that_matter_and_do_not_come_are_warned_of(train):
    cuts = rulerank.Discretizer(norm="query-minmax").fit(train.X, qid=train.qid).cuts_
    for how in ({"whole_queries": True}, {"norm": "query-zscore"}, {"cuts": cuts}):
        with pytest.warns(UserWarning, match="qid: found none, so all .* rows are one query") as warned:
            SelectiveSampler(**how).fit(train.X, train.y)
        assert [one.filename for one in warned] == [__file__]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SelectiveSampler(**how).fit(train.X, train.y, train.qid)
            SelectiveSampler(qid_column=None, **how).fit(train.X, train.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SelectiveSampler(max_documents=5).fit(train.X, train.y)
