"""A provider for ir_measures that computes its measures with rulerank.

Importing this module registers the provider as "rulerank" in `ir_measures.providers.registry`; `provider` is the instance.
The provider that ir_measures picks by default does not change.

Measures: P, R, Success, Rprec, AP, RR, nDCG (both `dcg`), Bpref and RBP with the parameter `rel` if they have it; ERR with
labels up to 4, as in gdeval; Judged. Not supported: `judged_only`, `gains`, RBP with graded labels.

Scores are compared as doubles, and ties are broken by descending document id, as in trec_eval. The provider pytrec_eval
first rounds scores to single precision; Judged of ir_measures breaks ties by ascending id.
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
    """The measure's name in rulerank, and its parameters as overrides of the profile."""
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
        groups = {}  # measures with the same profile are computed together
        for measure in measures:
            name, parts = _named(measure)
            groups.setdefault(tuple(parts.items()), {})[name] = measure
        self._groups = [(_core.Profile("trec", dict(parts)), named) for parts, named in groups.items()]

    def _iter_calc(self, run):
        retrieved = dict(RunConverter(run).as_dict_of_dict())
        if self.qrel_qids.isdisjoint(retrieved):
            return  # ir_measures supplies the values of queries without results
        for profile, named in self._groups:
            with running(self._n_jobs) as settings:
                _, _, qids, values = _core.evaluate_run(settings, self._qrels, retrieved, ",".join(named), profile)
            for qid, row in zip(qids, values.tolist()):
                for measure, value in zip(named.values(), row):
                    yield _irm.Metric(query_id=qid, measure=measure, value=value)


class RulerankProvider(providers.Provider):
    """Computes ir_measures' measures with rulerank, on `n_jobs` threads (None: all that the process may use)."""

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
