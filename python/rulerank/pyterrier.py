"""Rule rankers for PyTerrier pipelines: re-rank documents by the column `features`. Needs neither Java nor
Terrier."""

import numpy as np
import pandas as pd
import pyterrier as _pt

from ._ranker import RuleRanker
from .exceptions import UsageError

__all__ = ["RuleRankerTransformer"]


class RuleRankerTransformer(_pt.Estimator):
    """Scores the documents of each query by a `RuleRanker`: adds score and rank to a frame with qid, docno and features (an
    array of numbers per row).

    ranker : RuleRanker, fitted or not; None: RuleRanker(), a card
    """

    def __init__(self, ranker=None):
        super().__init__()
        self.ranker = RuleRanker() if ranker is None else ranker

    @staticmethod
    def _expect_columns(results):
        """Raises PyTerrier's own error, which its inspection of pipelines expects."""
        _pt.validate.result_frame(results, extra_columns=["features"])

    @staticmethod
    def _features(results):
        lengths = results["features"].map(np.size)
        if lengths.nunique() > 1:
            row = int(np.flatnonzero(lengths != lengths.iloc[0])[0])
            raise UsageError(f"results: found {lengths.iloc[row]} features in row {row + 1}, expected "
                             f"{lengths.iloc[0]} as in the first")
        return np.stack(results["features"].to_list()).astype(np.float64, copy=False)

    @staticmethod
    def _expect_labels(qrels):
        for refused, way_out in ((pd.to_numeric(qrels["label"], errors="coerce") < 0,
                                  "qrels[qrels.label >= 0] leaves such judgments out, qrels.label.clip(0) makes them 0"),
                                 (qrels["label"].isna(), "qrels.dropna(subset=['label']) leaves such judgments out")):
            if refused.any():
                first = qrels[refused].iloc[0]
                raise UsageError(f"qrels: query {first['qid']}: found the label {first['label']} of document {first['docno']}, "
                                 f"expected 0 or more: {way_out}")

    def fit(self, topics_or_res_tr, qrels_tr, topics_or_res_va=None, qrels_va=None):
        """Fits the ranker to results with features and their labels.

        topics_or_res_tr : frame with qid, docno, features
        qrels_tr : frame with qid, docno, label; a document without a judgment gets label 0, as in PyTerrier's own
        topics_or_res_va, qrels_va : ignored; PyTerrier passes them to every estimator
        """
        self._expect_columns(topics_or_res_tr)
        if len(topics_or_res_tr) == 0:
            raise UsageError("results: found no row, expected some to learn from")
        X = self._features(topics_or_res_tr)
        if qrels_tr.duplicated(["qid", "docno"]).any():
            twice = qrels_tr[qrels_tr.duplicated(["qid", "docno"])].iloc[0]
            raise UsageError(f"qrels: query {twice['qid']}: found document {twice['docno']} twice")
        self._expect_labels(qrels_tr)
        labels = topics_or_res_tr[["qid", "docno"]].merge(
            qrels_tr[["qid", "docno", "label"]], on=["qid", "docno"], how="left")["label"].fillna(0)
        self.ranker.fit(X, labels.to_numpy(), topics_or_res_tr["qid"].to_numpy())
        return self

    def transform(self, inp):
        """The frame with score and rank, in the same row order; among equal scores the earlier row ranks first. Raises
        PyTerrier's `InputValidationError` if qid, docno or features is missing, even without rows."""
        self._expect_columns(inp)
        results = inp.copy()
        if len(results):
            results["score"] = self.ranker.predict(self._features(inp), inp["qid"].to_numpy())
        else:
            results["score"] = np.empty(0)
        return _pt.model.add_ranks(results)
