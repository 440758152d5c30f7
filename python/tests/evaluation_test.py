import os
import subprocess

import numpy as np
import pandas as pd
import pytest

import rulerank
from rulerank import compare, evaluate, load_letor

LABELS = np.array([1, 0, 2, 0, 1, 0])
SCORES = np.arange(6, 0, -1)


@pytest.mark.parametrize("profile, ndcg", [
    ("letor", [.3333, .2500, .6247, .7177, 0]), ("standard", [.3333, .2754, .6052, .6988, .6988]),
    ("trec", [.5000, .3801, .6388, .7623, .7623])])
def test_golden_values(profile, ndcg):
    """The ranking 1 0 2 0 1 0 of docs/reference/definitions.md."""
    ties = {"ties": "stable"} if profile == "trec" else {}
    found = evaluate(LABELS, SCORES, metrics="NDCG@1,NDCG@2,NDCG@3,NDCG@5,NDCG@10", profile=profile, **ties)
    assert list(found.values()) == pytest.approx(ndcg, abs=5e-5)
    assert evaluate(LABELS, SCORES, metrics=["MAP"])["MAP"] == pytest.approx(.7556, abs=5e-5)
    assert evaluate(LABELS, SCORES, metrics="MAP", relevant_from=2)["MAP"] == pytest.approx(.3333, abs=5e-5)


@pytest.mark.parametrize("profile", ["letor", "mslr", "standard", "lightgbm", "yahoo"])
def test_values_are_the_programs(program, drawn, tmp_path, profile):
    test = load_letor(drawn / "test.txt")
    rng = np.random.default_rng(5)
    scores = np.round(test.y + rng.normal(size=len(test.y)), 1)  # with ties
    (tmp_path / "s").write_text("".join(f"{s}\n" for s in scores.tolist()))
    metrics = "MAP,NDCG@1-5,MeanNDCG,ERR@10,P@5,MRR,RBP,pFound,bpref,recall@7,tau-b"

    def said(*more):
        lines = program("evaluate", "--test", drawn / "test.txt", "--scores", tmp_path / "s", "--metrics", metrics,
                        "--profile", profile, "--ties", "average", "--format", "tsv", "--digits", 17, *more)
        header, *rows = [line.split("\t") for line in lines.splitlines() if not line.startswith("#")]
        names = header[header.index("MAP"):]
        return names, {row[-len(names) - 1]: [float(cell) for cell in row[-len(names):]] for row in rows}

    how = {"profile": profile, "ties": "average"}
    names, means = said()
    found = evaluate(test.y, scores, test.qid, metrics, **how)
    assert list(found) == names and list(found.values()) == means["s"]
    names, queries = said("--per-query")
    frame = evaluate(test.y, scores, test.qid, metrics, per_query=True, **how)
    assert queries.pop("all") == means["s"]
    assert frame.index.dtype == test.qid.dtype and frame.index.astype(str).tolist() == list(queries) and len(queries) > 5
    assert frame.to_numpy().tolist() == list(queries.values())


def test_queries_apart_and_frames():
    qid = np.array(["a", "b", "a", "b", "a", "b"])
    together = np.argsort(qid, kind="stable")
    found = evaluate(LABELS, SCORES, qid, per_query=True)
    assert found.equals(evaluate(LABELS[together], SCORES[together], qid[together], per_query=True))
    assert evaluate(pd.Series(LABELS), pd.Series(SCORES), pd.Series(qid)) == evaluate(LABELS, SCORES, qid)


def test_fractional_and_unjudged_labels():
    assert evaluate([0.5, 1.5], [1, 2], metrics="NDCG", gain="linear")["NDCG"] == 1
    with pytest.raises(rulerank.UsageError, match="fractional|gain"):
        evaluate([0.5, 1.5], [1, 2], metrics="NDCG")
    assert evaluate([1, -1, 0, 0], [4, 3, 2, 1], metrics="judged@2")["judged@2"] == 0.5


EXPECTED = "expected a number of 0 to 2147483647, or -1 for a row without a label"


@pytest.mark.parametrize("label, found", [
    (np.nan, "label nan"), (np.inf, "label inf"), (-5.5, "label -5.5 is negative"), (-5, "label -5 is negative"),
    (3e9, "label 3000000000 is out of range")])
@pytest.mark.parametrize("others", [[1, 0], [0.5, 0]])
def test_impossible_labels_name_their_row(label, found, others):
    """Errors name the row as given, although rows are grouped by query; in all evaluation functions."""
    y, scores, qid = [*others, label, 2], [4, 3, 2, 1], [1, 2, 1, 2]
    how = {"gain": "linear", "relevant_from": 1}
    X = np.array(scores, dtype=float)[:, np.newaxis]
    ranker = rulerank.RuleRanker("rules").fit(X, [2, 1, 0, 1], qid)
    for judge in (lambda: evaluate(y, scores, qid, "NDCG@4", **how), lambda: evaluate(y, scores, qid, "MAP", **how),
                  lambda: compare(y, {"a": scores, "b": scores}, qid, "MAP", **how), lambda: ranker.score(X, y, qid, **how),
                  lambda: rulerank.metric_scorer("MAP", **how)(ranker, X, y, qid)):
        with pytest.raises(rulerank.DataError, match=f"^y:3:1: {found}, {EXPECTED}$") as raised:
            judge()
        assert (raised.value.file, raised.value.line) == ("y", 3)


@pytest.mark.parametrize("y", [pd.Series([1, 0, None, 2], dtype="Int64"), [1, 0, None, 2], np.array([1, 0, pd.NA, 2], dtype=object)])
def test_missing_labels_of_other_kinds(y):
    with pytest.raises(rulerank.DataError, match="^y:3:"):
        evaluate(y, [4, 3, 2, 1], metrics="MAP")


def test_whole_labels_of_all_types():
    expected = evaluate([1, 0, 2, -1], [4, 3, 2, 1])
    for y in (np.array([1, 0, 2, -1.0]), np.array([1, 0, 2, -1], np.float32), pd.Series([1, 0, 2, -1], dtype="Int64"),
              np.array([1, 0, 2, -1], np.int8), np.array([1, 0, 2, -1], dtype=object)):
        assert evaluate(y, [4, 3, 2, 1]) == expected
    assert evaluate([True, False], [1, 2]) == evaluate([1, 0], [1, 2])


def test_fractional_labels_want_a_threshold():
    y, scores = [1, .5, 2, 0], [4, 3, 2, 1]
    for judge in (lambda **how: evaluate(y, scores, metrics="NDCG@2,P@4,MAP", gain="linear", **how),
                  lambda **how: compare(y, {"a": scores, "b": scores}, metrics="P@4", **how)):
        with pytest.raises(rulerank.UsageError, match="^P@4 with the fractional labels of y needs relevant_from, the lowest relevant label$"):
            judge()
        judge(relevant_from=0.5)
    assert evaluate(y, scores, metrics="MAP,P@4", relevant_from=0.5) == {"MAP": 1, "P@4": 0.75}
    assert evaluate(y, scores, metrics="P@4", relevant_from=1) == {"P@4": 0.5}


def test_the_program_refuses_the_same(program, tmp_path):
    """The program's message for such labels in a file, without the place and the options' names."""
    (tmp_path / "s").write_text("4\n3\n2\n1\n")
    for label, code in (("nan", 3), ("inf", 3), ("-5.5", 3), ("0.5", 2)):
        (tmp_path / "t").write_text(f"1 qid:1 1:1\n{label} qid:1 1:1\n2 qid:1 1:1\n0 qid:1 1:1\n")
        done = subprocess.run([os.environ.get("RULERANK_PROGRAM") or "rulerank", "evaluate", "--test", tmp_path / "t", "--scores", tmp_path / "s",
                               "--metrics", "MAP"], capture_output=True, text=True)
        assert done.returncode == code
        with pytest.raises(rulerank.DataError if code == 3 else rulerank.UsageError) as raised:
            evaluate([1, float(label), 2, 0], [4, 3, 2, 1], metrics="MAP")
        if code == 2:
            assert str(raised.value).replace("of y", f"of {tmp_path / 't'}").replace("relevant_from", "--relevant-from") in done.stderr


@pytest.mark.parametrize("qid", [np.array([7, 3, 7], np.int32), np.array(["b", "a", "b"]), [7, 3, 7], pd.Series(["b", "a", "b"])])
def test_values_of_queries_join_on_the_ids(qid):
    frame = evaluate([1, 0, 0], [1, 2, 3], qid, "MAP", per_query=True)
    ids = pd.DataFrame({"qid": qid})
    joined = ids.join(frame, on="qid")
    assert not joined["MAP"].isna().any() and frame.index.name == "qid"
    assert joined["MAP"].tolist() == [0.5, 0, 0.5]
    assert frame.index.dtype == ids["qid"].dtype


def test_query_ids_that_are_none():
    for qid, said in (([1, np.nan, 2], "^qid:2: found nan, expected an integer or text"),
                      (["a", "b", "x\ud800"], r"^qid:3: found 'x\\ud800', expected characters of Unicode"),
                      (["b\udfff", "a", "b\udfff"], r"^qid:1: found")):
        with pytest.raises(rulerank.DataError, match=said):
            evaluate([1, 0, 2], [1, 2, 3], qid)


@pytest.mark.parametrize("arguments, message", [
    (dict(metrics="NDGC@10"), "NDGC"), (dict(profile="leter"), "leter"), (dict(gain="log"), "log"),
    (dict(relevance=2), "found the parameter 'relevance' of a profile"), (dict(no_relevant=2), "no.relevant|0, 1"),
    (dict(scores=[1, 2]), "one score for each of 6 rows"), (dict(qid=[1, 2]), "qid")])
def test_wrong_arguments(arguments, message):
    with pytest.raises(rulerank.UsageError, match=message):
        evaluate(**{"y": LABELS, "scores": SCORES, **arguments})


def test_scores_that_are_no_numbers():
    with pytest.raises(rulerank.DataError, match="(?i)nan"):
        evaluate(LABELS, np.where(SCORES == 3, np.nan, SCORES))


def test_comparisons_are_the_programs(program_json, drawn, tmp_path):
    test = load_letor(drawn / "test.txt")
    rng = np.random.default_rng(6)
    systems = {name: test.y + rng.normal(size=len(test.y)) * noise for name, noise in (("a", 3), ("b", 1), ("c", 2))}
    for name, scores in systems.items():
        (tmp_path / name).write_text("".join(f"{s!r}\n" for s in scores.tolist()))
    said = program_json("evaluate", "--test", drawn / "test.txt", "--scores", *[tmp_path / n for n in systems],
                        "--metrics", "MAP,NDCG@5", "--compare", "paired-t,fisher", "--reference", "b")
    found = compare(test.y, systems, test.qid, "MAP,NDCG@5", reference="b")
    results = said["comparison"]["results"]
    assert len(found) == len(results) == 4 and set(found["reference"]) == {"b"}
    for (_, row), expected in zip(found.iterrows(), results):
        assert (row["system"], row["metric"]) == (expected["system"], expected["measure"])
        assert (row["difference"], row["wins"], row["losses"]) == (
            expected["difference"], expected["wins"], expected["losses"])
        for test_name, key in (("paired_t", "paired-t"), ("fisher", "fisher")):
            assert (row[f"{test_name}_p"], row[f"{test_name}_p_holm"]) == (
                expected[key]["p"], expected[key]["p_holm"])
    without = compare(test.y, systems, test.qid, "MAP", tests="paired-t")
    assert "fisher_p" not in without and without["reference"].tolist() == ["a", "a"]
    assert compare(test.y, systems, test.qid, "MAP", permutations=1000, random_state=2)["fisher_p"].between(0, 1).all()


@pytest.mark.parametrize("how, message", [
    (dict(reference="z"), "reference: found 'z', expected one of a, b"), (dict(tests="t"), "tests: found 't'"),
    (dict(permutations=0), "permutations|0"), (dict(holm="all"), "holm: found 'all'")])
def test_wrong_comparisons(how, message):
    with pytest.raises(rulerank.UsageError, match=message):
        compare(LABELS, {"a": SCORES, "b": -SCORES}, **how)
    with pytest.raises(rulerank.UsageError, match="expected two or more to compare"):
        compare(LABELS, {"a": SCORES})


@pytest.mark.parametrize("part, value, expected", [
    ("gain", 1, "a name"), ("ties", None, "a name"), ("max_docs", -1, "a whole number from 0"),
    ("max_docs", 2.5, "a whole number from 0"), ("max_label", "4", "a whole number"),
    ("no_relevant", "zero", "a number"), ("rbp_persistence", [0.8], "a number"), ("prel", 0.5, "a list of numbers")])
def test_parts_of_another_type_are_named(part, value, expected):
    with pytest.raises(rulerank.UsageError, match=f"{part}: found .*, expected {expected}"):
        evaluate([1, 0], [1, 2], **{part: value})


def test_complete_is_true_or_false():
    with pytest.raises(rulerank.UsageError, match="complete: found 'yes', expected True or False"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, complete="yes")
