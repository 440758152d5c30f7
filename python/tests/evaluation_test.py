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
    """The ranking 1 0 2 0 1 0 of docs/definitions.md."""
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
    assert frame.index.tolist() == list(queries) and len(queries) > 5
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


@pytest.mark.parametrize("arguments, message", [
    (dict(metrics="NDGC@10"), "NDGC"), (dict(profile="leter"), "leter"), (dict(gain="log"), "log"),
    (dict(relevance=2), "found a part 'relevance' of a profile"), (dict(no_relevant=2), "no.relevant|0, 1"),
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
    with pytest.raises(rulerank.UsageError, match="two systems"):
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
