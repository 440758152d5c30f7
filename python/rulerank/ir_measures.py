"""A provider of ir_measures: its measures by rulerank's code.

Importing this module registers the provider as "rulerank" in `ir_measures.providers.registry`; `provider` is it.
What ir_measures itself picks for a measure stays as it is.

Measures: P, R, Success, Rprec, AP, RR, nDCG (both `dcg`), Bpref and RBP with the parameter `rel` where they have
it, ERR with labels up to 4 as gdeval has it, Judged. Not: `judged_only`, `gains`, RBP of graded labels.

Scores are compared as doubles, and equal ones are in descending order of document ids, trec_eval's. The provider
pytrec_eval first rounds scores to single precision; Judged of ir_measures has equal scores in ascending order.
"""

import ir_measures as _irm
from ir_measures import measures, providers
from ir_measures.providers.base import NOT_PROVIDED, Any, Choices
from ir_measures.util import QrelsConverter, RunConverter

from . import _core
from ._run import running

__all__ = ["RulerankProvider", "provider"]

NAMES = {"P": "P", "R": "recall", "Success": "success", "Rprec": "Rprec", "AP": "MAP", "RR": "MRR",
         "nDCG": "NDCG", "ERR": "ERR", "RBP": "RBP", "Bpref": "bpref", "Judged": "judged"}


def _named(measure):
    """The measure's name here, and the parts of the profile that its parameters are."""
    params = {name: measure[name] for name in measure.SUPPORTED_PARAMS if measure[name] is not NOT_PROVIDED}
    name = NAMES[measure.NAME] + (f"@{params['cutoff']}" if "cutoff" in params else "")
    parts = {}
    if "rel" in params:
        parts["relevant_from"] = params["rel"]
    if "p" in params:
        parts["rbp_persistence"] = params["p"]
    if params.get("dcg") == "exp-log2":
        parts["gain"] = "exponential"
    if measure.NAME == "ERR":
        parts["max_label"] = 4
    return name, parts


class _Evaluator(providers.Evaluator):
    def __init__(self, measures, qrels, n_jobs):
        measures = list(measures)
        super().__init__(measures, set(qrels))
        self._qrels, self._n_jobs = _core.Qrels(qrels), n_jobs
        groups = {}  # measures under the same profile are computed together
        for measure in measures:
            name, parts = _named(measure)
            groups.setdefault(tuple(parts.items()), {})[name] = measure
        self._groups = [(_core.Profile("trec", dict(parts)), named) for parts, named in groups.items()]

    def _iter_calc(self, run):
        retrieved = dict(RunConverter(run).as_dict_of_dict())
        if self.qrel_qids.isdisjoint(retrieved):
            return  # ir_measures gives the values of queries that found nothing
        for profile, named in self._groups:
            with running(self._n_jobs) as settings:
                _, _, qids, values = _core.evaluate_run(settings, self._qrels, retrieved, ",".join(named), profile)
            for qid, row in zip(qids, values.tolist()):
                for measure, value in zip(named.values(), row):
                    yield _irm.Metric(query_id=qid, measure=measure, value=value)


class RulerankProvider(providers.Provider):
    """ir_measures' measures by rulerank, on `n_jobs` threads (None: all that the process may use)."""

    NAME = "rulerank"
    SUPPORTED_MEASURES = [
        measures._P(cutoff=Any(), rel=Any(), judged_only=Choices(False)),
        measures._R(cutoff=Any(), rel=Any(), judged_only=Choices(False)),
        measures._Success(cutoff=Any(), rel=Any(), judged_only=Choices(False)),
        measures._Rprec(rel=Any(), judged_only=Choices(False)),
        measures._AP(cutoff=Any(), rel=Any(), judged_only=Choices(False)),
        measures._RR(cutoff=Any(), rel=Any(), judged_only=Choices(False)),
        measures._nDCG(cutoff=Any(), dcg=Any(), gains=Choices(NOT_PROVIDED), judged_only=Choices(False)),
        measures._Bpref(rel=Any()),
        measures._RBP(cutoff=Any(), p=Any(), rel=Any(required=True)),
        measures._ERR(cutoff=Any()),
        measures._Judged(cutoff=Any(required=True)),
    ]

    def __init__(self, n_jobs=None):
        super().__init__()
        self._n_jobs = n_jobs

    def _evaluator(self, measures, qrels):
        for measure in measures:
            if not self.supports(measure):
                raise ValueError(f"unsupported measure {measure}")
        return _Evaluator(measures, dict(QrelsConverter(qrels).as_dict_of_dict()), self._n_jobs)


provider = providers.register(RulerankProvider())
