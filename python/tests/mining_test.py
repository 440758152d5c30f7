import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from ranker_test import OfType, OnlyDlpack

import rulerank
from rulerank import mine_itemsets, mine_rules

GOLDEN = ["ABDE", "BCE", "ABDE", "ABCE", "ABCDE", "BCD"]


def as_dict(frame):
    return {"".join(sorted(map(str, items))): support for items, support in zip(frame["itemsets"], frame["support"])}


def test_golden_itemsets_and_rules():
    """The database that docs/reference/definitions.md works by hand."""
    found = as_dict(mine_itemsets(GOLDEN, 3))
    expected = {6: "B", 5: "E BE", 4: "A C D AB AE BC BD ABE", 3: "AD CE DE ABD ADE BCE BDE ABDE"}
    assert {k: round(6 * v) for k, v in found.items()} == {
        items: count for count, sets in expected.items() for items in sets.split()}
    strong = mine_rules(GOLDEN, 3, 0.9)
    of_all = {("".join(sorted(a)), "".join(sorted(c))) for a, c in zip(strong.antecedents, strong.consequents)
              if len(a) + len(c) == 4}
    assert of_all == {("ABD", "E"), ("ADE", "B"), ("BDE", "A"), ("AD", "BE"), ("DE", "AB")}


@pytest.fixture(scope="module")
def baskets():
    rng = np.random.default_rng(9)
    return rng.random((300, 12)) < rng.uniform(0.1, 0.8, 12)


def test_every_input_gives_the_same(baskets):
    expected = as_dict(mine_itemsets(baskets, 0.2))
    assert len(expected) > 20
    lists = [np.flatnonzero(row).tolist() for row in baskets]
    with pytest.raises(rulerank.UsageError, match="transactions: found an array on device 0 of DLPack's kind 2"):
        mine_itemsets(OfType(baskets, device=(2, 0)), 0.2)
    for one in (lists, OnlyDlpack(baskets), OnlyDlpack(baskets.astype(np.int8)), sp.csr_matrix(baskets), sp.csc_array(baskets), pd.DataFrame(baskets),
                [map(str, row) for row in lists]):
        assert as_dict(mine_itemsets(one, 0.2)) == expected
    for engine in ("vertical", "apriori", "bruteforce"):
        assert as_dict(mine_itemsets(baskets, "20%", engine=engine)) == expected
    assert as_dict(mine_itemsets(baskets, 60)) == expected


def test_sparse_frames_stay_sparse(baskets, monkeypatch):
    expected = as_dict(mine_itemsets(baskets, 0.2))
    frame = pd.DataFrame(baskets).astype(pd.SparseDtype(bool, False))
    monkeypatch.setattr(pd.DataFrame, "to_numpy", None)
    assert as_dict(mine_itemsets(frame, 0.2)) == expected


def test_zeros_and_ones_of_all_types(baskets):
    expected = as_dict(mine_itemsets(baskets, 0.2))
    frame = pd.DataFrame(baskets)
    mixed = frame.astype({0: int, 1: float, 2: object, 3: "boolean", 4: pd.SparseDtype(bool, False), 5: "Int8"})
    for one in (baskets.astype(np.uint8), baskets.astype(float), baskets.astype(object), sp.csr_matrix(baskets.astype(float)),
                frame.astype("boolean"), frame.astype(pd.SparseDtype(float, np.nan)), frame.astype(pd.SparseDtype(bool, True)), mixed):
        assert as_dict(mine_itemsets(one, 0.2)) == expected


@pytest.mark.parametrize("cell", [np.nan, None, pd.NA, "yes", "True", "0", 2, -1, 0.5, pd.Timestamp("2026-01-01"), [1]])
def test_other_cells_name_row_and_column(cell):
    rows = [[True, False, True], [False, True, cell], [True, True, False]]
    frame = pd.DataFrame(rows, columns=["bread", "jam", "tea"])
    with pytest.raises(rulerank.DataError, match="^transactions:2:3: found .* in column 'tea', expected True, False, 0 or 1$") as raised:
        mine_rules(frame)
    assert (raised.value.file, raised.value.line, raised.value.column) == ("transactions", 2, 3)
    with pytest.raises(rulerank.DataError, match="^transactions:2:3: found .* in column 2, expected"):
        mine_itemsets(frame.to_numpy(dtype=object))
    if isinstance(cell, (int, float)):
        for one in (np.array(rows, dtype=float), sp.csr_matrix(np.array(rows, dtype=float)), sp.coo_array(np.array(rows, dtype=float))):
            with pytest.raises(rulerank.DataError, match="^transactions:2:3: found .* in column 2, expected"):
                mine_itemsets(one)


def test_frames_and_arrays_of_one_wrong_type():
    for one, found in ((np.array([["bread", "jam"]]), "'bread'"), (pd.DataFrame({"a": pd.to_datetime(["1970-01-01"])}), ".*1970-01-01"),
                       (np.array([[1j]]), "1j"), (pd.DataFrame({"a": [np.nan]}, dtype=pd.SparseDtype(float, np.nan)), "nan")):
        with pytest.raises(rulerank.DataError, match=f"^transactions:1:1: found .*{found}"):
            mine_itemsets(one)
    for one in (np.array([1, 0, 1]), np.array(["bread", "jam"]), np.zeros((1, 1, 1))):
        with pytest.raises(rulerank.UsageError, match="transactions: found the shape .*, expected booleans .transactions x items., or lists"):
            mine_itemsets(one)
    with pytest.raises(rulerank.DataError, match="^transactions:2: found nan, expected items"):
        mine_itemsets(pd.Series([["bread"], np.nan]))


def test_conviction_without_a_counterexample():
    """Infinite; 1 if every transaction has the consequent, as in the program."""
    rules = mine_rules([["a", "b", "c"], ["a", "b", "c"], ["a"], ["a", "b"]], 1, 1.0)
    found = {("".join(sorted(a)), "".join(sorted(c))): value for a, c, value in zip(rules.antecedents, rules.consequents, rules.conviction)}
    assert found["c", "b"] == np.inf and found["b", "a"] == 1 and found["c", "a"] == 1


def test_mlxtend_finds_the_same(baskets):
    frequent_patterns = pytest.importorskip("mlxtend.frequent_patterns", exc_type=ImportError)
    frame = pd.DataFrame(baskets, columns=[f"item {i}" for i in range(baskets.shape[1])])
    expected = frequent_patterns.fpgrowth(frame, min_support=0.25, use_colnames=True, max_len=3)
    found = mine_itemsets(frame, 0.25, max_size=3)
    assert list(found.columns) == list(expected.columns)
    assert as_dict(found) == as_dict(expected)

    expected = frequent_patterns.association_rules(expected, num_itemsets=len(frame), metric="confidence",
                                                   min_threshold=0.6)
    found = mine_rules(frame, 0.25, 0.6, max_size=3)
    assert list(found.columns[:len(expected.columns)]) == list(expected.columns)
    assert list(found.columns[len(expected.columns):]) == ["chi_square", "p", "p_holm"]

    def by_sides(rules):
        names = [tuple(sorted(a)) + ("->",) + tuple(sorted(c)) for a, c in zip(rules.antecedents, rules.consequents)]
        return rules.drop(columns=["antecedents", "consequents"]).set_index(pd.Index(names)).sort_index()

    left, right = by_sides(found)[list(expected.columns[2:])], by_sides(expected)
    assert list(left.index) == list(right.index) and len(left) > 20
    # Below 0 mlxtend still divides by 1 - P(Y), not by P(Y) as Shortliffe and Buchanan do.
    below = right["certainty"] < 0
    of_y = right["consequent support"]
    right.loc[below, "certainty"] *= ((1 - of_y) / of_y)[below]
    assert below.any() and not below.all()
    for column in left:
        assert np.allclose(left[column], right[column], rtol=1e-9, atol=1e-12), column


def test_the_program_finds_the_same(program, tmp_path, baskets):
    lists = [np.flatnonzero(row).tolist() for row in baskets]
    (tmp_path / "t").write_text("".join(" ".join(map(str, row)) + "\n" for row in lists))
    for kind in ("all", "closed", "maximal"):
        said = program("mine", "--transactions", tmp_path / "t", "--min-support", "15%", "--kind", kind,
                       "--format", "json")
        expected = [json.loads(line) for line in said.splitlines()]
        found = mine_itemsets(lists, 0.15, kind=kind)
        assert [(sorted(map(str, items)), round(300 * support)) for items, support in
                zip(found["itemsets"], found["support"])] == [
            (sorted(one["items"]), one["support"]) for one in expected]
    said = program("mine", "--transactions", tmp_path / "t", "--min-support", "15%", "--rules",
                   "--min-confidence", "70%", "--format", "json")
    expected = [json.loads(line) for line in said.splitlines()]
    found = mine_rules(lists, 0.15, 0.7)
    assert len(found) == len(expected) > 5
    for (_, row), one in zip(found.iterrows(), expected):
        assert row["confidence"] == one["confidence"] and row["p_holm"] == one["p_holm"]


def test_real_data(program, real_data, tmp_path):
    path = real_data("fim/mushroom.dat")
    said = program("mine", "--transactions", path, "--min-support", "40%", "--format", "borgelt")
    found = mine_itemsets([line.split() for line in path.read_text().splitlines()], 0.4)
    assert len(found) == len(said.splitlines())


@pytest.mark.parametrize("how", [dict(min_support=1.5), dict(min_support="10 %%"), dict(kind="some"),
                                 dict(engine="eclat"), dict(min_size=3, max_size=2)])
def test_wrong_arguments(how):
    with pytest.raises(rulerank.UsageError):
        mine_itemsets(GOLDEN, **how)


def test_no_transactions_and_empty_ones():
    assert len(mine_itemsets([[], [], ["a"]], 1)) == 1
    assert len(mine_itemsets([[], []], 1)) == 0
    assert list(mine_rules([["a"]], 1).columns[:2]) == ["antecedents", "consequents"]
    with pytest.raises(rulerank.UsageError, match="confidence"):
        mine_rules(GOLDEN, 1, 1.5)


def test_a_share_of_k_transactions_is_reached_by_k():
    for count in (3, 7, 49, 97, 82688):
        for k in {1, 2, 3, count // 3, count - 1} - {0}:
            rows = [["a"]] * k + [["b"]] * (count - k)
            found = mine_itemsets(rows, min_support=k / count)
            assert frozenset(["a"]) in set(found.itemsets), (k, count)
            if k < count // 2:
                more = mine_itemsets(rows, min_support=np.nextafter(k / count, 1))
                assert frozenset(["a"]) not in set(more.itemsets), (k, count)
