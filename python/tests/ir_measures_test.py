"""Compares the provider for ir_measures with its other providers."""

import shutil
import subprocess
import sys

import pandas as pd
import pytest

ir_measures = pytest.importorskip("ir_measures", exc_type=ImportError)
from ir_measures import AP, ERR, P, R, RBP, RR, Bpref, Judged, Rprec, Success, nDCG  # noqa: E402
from qrels_test import drawn_judgments  # noqa: E402
from rulerank.ir_measures import RulerankProvider, provider  # noqa: E402

BINARY = [P @ 5, P(rel=2) @ 10, R @ 20, R(rel=3) @ 5, Success @ 1, Success(rel=3) @ 3, Rprec, Rprec(rel=2),
          AP, AP @ 10, AP(rel=2), RR, RR(rel=3), Bpref, Bpref(rel=2)]


def values_of(of, measures, qrels, run):
    return {(metric.query_id, str(metric.measure)): metric.value for metric in of.iter_calc(measures, qrels, run)}


@pytest.mark.parametrize("ties", [False, True])
def test_values_are_those_of_pytrec_eval(ties):
    qrels, run = drawn_judgments(ties)
    measures = [*BINARY, nDCG, nDCG @ 10]
    ours = values_of(provider, measures, qrels, run)
    theirs = values_of(ir_measures.pytrec_eval, measures, qrels, run)
    assert ours.keys() == theirs.keys() and len(ours) == 30 * len(measures)
    assert list(ours.values()) == pytest.approx([theirs[key] for key in ours], abs=1e-12)
    assert all(len({ours[f"q{q}", str(m)] for q in range(30)}) > 1 for m in measures)
    ours, theirs = (of.calc_aggregate(measures, qrels, run) for of in (provider, ir_measures.pytrec_eval))
    assert [ours[m] for m in measures] == pytest.approx([theirs[m] for m in measures], abs=1e-12)


def test_scores_that_single_precision_makes_equal():
    """pytrec_eval sees a tie there, and ranks the larger id first; we compare doubles."""
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1 + 1e-9, "b": 1.0}}
    assert provider.calc_aggregate([RR], qrels, run)[RR] == 1
    assert ir_measures.pytrec_eval.calc_aggregate([RR], qrels, run)[RR] == 0.5


def test_values_are_those_of_gdeval():
    """Equal to 5 digits: ERR with labels up to 4, and NDCG with exponential gains."""
    if not shutil.which("perl"):
        pytest.skip("needs perl, which gdeval is written in")
    qrels, run = drawn_judgments(ties=True)
    qrels.pop("q0")  # nothing relevant: it omits such queries
    qrels, run = ({query[1:]: of for query, of in queries.items()} for queries in (qrels, run))  # it requires numbers
    measures = [ERR @ 10, ERR @ 3, nDCG(dcg="exp-log2") @ 10]
    ours, theirs = (values_of(of, measures, qrels, run) for of in (provider, ir_measures.gdeval))
    assert ours.keys() == theirs.keys()
    assert list(ours.values()) == pytest.approx([theirs[key] for key in ours], abs=1e-5)


def test_values_are_those_of_ir_measures_own_judged():
    qrels, run = drawn_judgments(ties=False)
    measures = [Judged @ 5, Judged @ 100]
    assert values_of(provider, measures, qrels, run) == pytest.approx(
        values_of(ir_measures.judged, measures, qrels, run), abs=1e-12)


def test_rank_biased_precision():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    measure = RBP(p=0.5, rel=2)
    value = provider.calc_aggregate([measure], {"q": {"a": 2, "b": 1, "c": 3}}, run)[measure]
    assert value == pytest.approx(0.5 * (1 + 0.5**2))


def test_what_it_takes():
    assert all(provider.supports(m) for m in [*BINARY, RR @ 10, nDCG, nDCG(dcg="exp-log2") @ 5, ERR, ERR @ 20,
                                              RBP(rel=1), Judged @ 10])
    others = [nDCG(gains={1: 2}) @ 5, P(judged_only=True) @ 5, RBP, Judged, ir_measures.NumRet]
    for measure in others:
        assert not provider.supports(measure)
        with pytest.raises(ValueError, match="unsupported measure"):
            provider.evaluator([measure], {"q": {"a": 1}})


def test_registered_and_all_forms_of_input():
    assert ir_measures.providers.registry["rulerank"] is provider
    qrels, run = drawn_judgments(ties=True)
    expected = provider.calc_aggregate([AP, nDCG @ 10], qrels, run)
    judged = pd.DataFrame([(q, d, v) for q, of in qrels.items() for d, v in of.items()],
                          columns=["query_id", "doc_id", "relevance"])
    found = [ir_measures.ScoredDoc(q, d, v) for q, of in run.items() for d, v in of.items()]
    assert provider.calc_aggregate([AP, nDCG @ 10], judged, iter(found)) == expected
    assert RulerankProvider(n_jobs=1).calc_aggregate([AP, nDCG @ 10], judged, found) == expected
    evaluator = provider.evaluator([AP], qrels)
    assert evaluator.calc_aggregate(run) == evaluator.calc_aggregate(run) == {AP: expected[AP]}


def test_a_run_of_other_queries_found_nothing():
    qrels, run = {"q": {"a": 1}}, {"p": {"a": 1.0}}
    assert provider.calc_aggregate([AP, P @ 5], qrels, run) == {AP: 0, P @ 5: 0}


def test_labels_above_gdevals():
    with pytest.raises(Exception, match="max.label"):
        provider.calc_aggregate([ERR @ 5], {"q": {"a": 5}}, {"q": {"a": 1.0}})


def test_the_package_does_not_import_it():
    code = "import sys, rulerank; sys.exit(any(m in sys.modules for m in ('ir_measures', 'pyterrier', 'ranx')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
