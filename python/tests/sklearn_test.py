"""scikit-learn's own checks of estimators."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from rulerank import DenseNeighbors, Discretizer, MetricNeighbors, RuleRanker, SelectiveSampler

# Expected failures with reasons. scikit-learn does not check estimators of texts, such as TextNeighbors.
ONE_ROW = {"check_fit2d_1sample": "the error is the program's: one row has no feature with two bins"}
EXPECTED = {
    "RuleRanker": ONE_ROW | {
        "check_methods_subset_invariance": "the linear member that is recommended scores a row against the "
                                           "other rows of its query, and without qid all rows are one"},
    "RuleRanker('rules')": ONE_ROW,
    "RuleRanker('card')": ONE_ROW,
    "SelectiveSampler": ONE_ROW,
}


def expected(estimator):
    name = type(estimator).__name__
    return EXPECTED.get(f"{name}({estimator.members!r})" if getattr(estimator, "members", "recommended")
                        != "recommended" else name, {})


@parametrize_with_checks([RuleRanker(), RuleRanker("recommended"), RuleRanker("rules"), Discretizer(), SelectiveSampler(), DenseNeighbors(),
                          MetricNeighbors()],
                         expected_failed_checks=expected)
def test_estimators(estimator, check):
    check(estimator)
