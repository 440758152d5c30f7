"""Pools for rankers, made from texts."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Mapping

import numpy as np

from . import _core
from ._data import as_array, as_frame, data_error, expect_unicode, in_doubles, is_frame
from ._evaluation import Qrels, _by_query
from ._letor import LetorData, _letor_data
from ._parameters import checked
from ._run import running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import Count, Judgments, Path, Progress, Retrieved, Rows, Texts


ID_COLUMNS = ("id", "docno", "docid", "qid")


def _texts_of_frame(frame, name):
    """{id: {column: text}}; empty cells are left out."""
    ids = [column for column in frame.columns if column in ID_COLUMNS]
    if len(ids) != 1:
        raise UsageError(f"{name}: found the columns {', '.join(map(str, frame.columns))}, expected one of "
                         f"{', '.join(ID_COLUMNS)}, and texts")
    texts = {}
    for row, (one, fields) in enumerate(zip(frame[ids[0]].tolist(), frame.drop(columns=ids).to_dict("records"))):
        if one in texts:
            raise data_error(name, row, f"found the id {one!r} again, expected each id once")
        texts[one] = {field: text for field, text in fields.items() if text is not None and text == text}
    return texts


def _texts_of(given, name):
    """A path, or [(id, [(field, text)])] from a dict or a frame."""
    given = as_frame(given)
    if is_frame(given):
        given = _texts_of_frame(given, name)
    if not isinstance(given, Mapping):
        return str(given)
    texts = []
    for row, (one, text) in enumerate(given.items()):
        fields = list(text.items()) if isinstance(text, Mapping) else [("", text)]
        for field in fields:
            if not all(isinstance(part, str) for part in field):
                raise UsageError(f"{name}: found {field[1]!r} of {one!r}, expected a text, or a dict of fields and their texts")
        for part in (str(one), *(part for field in fields for part in field)):
            expect_unicode(part, name, row)
        texts.append((str(one), fields))
    return texts


def _judgments_of(judgments):
    if judgments is None or isinstance(judgments, Qrels):
        return judgments and judgments._judgments
    values = _by_query(judgments, "qrels")
    return str(judgments) if values is None else _core.Qrels(values)


def _vectors_of(given, name):
    if given is None:
        return None
    rows = np.asarray(as_array(given, name))
    if rows.ndim != 2:
        raise UsageError(f"{name}: found the shape {rows.shape}, expected a row of numbers for each text")
    if rows.dtype not in (np.float32, np.float16, np.int8, np.uint8):
        rows = in_doubles(lambda: rows.astype(np.float64), **{name: rows})
    return np.ascontiguousarray(rows)


@checked
def make_pool(documents: Texts, topics: Texts, judgments: Path | Judgments | Qrels | None = None, *, candidates: Count = 100,
              run: Retrieved | None = None, vectors: Rows | None = None, topic_vectors: Rows | None = None,
              candidates_from: str | None = None, metric: str = "auto", search_engine: str = "auto", dense_metric: str = "cosine",
              fusion: str = "rrf", fusion_norm: str = "min-max", rrf_k: float = 60.0, run_weights: Sequence[float] = (),
              not_relevant: Sequence[int] = (), unjudged: int = -1, mu: float = 2000.0, lambda_: float = 0.1, delta: float = 0.7,
              weighting: str = "bm25", stop_words: str = "smart", stemmer: str = "english", fold: bool = True,
              numbers: bool = True, min_length: Count = 1, max_length: Count = 64, min_documents: Count = 1,
              max_share: float = 1.0, k1: float = 1.2, b: float = 0.75, leave_out_self: bool = False, number_by_position: bool = False,
              as_frame: bool = False, device: str = "cpu", n_jobs: int | None = None, verbose: Progress = False) -> LetorData:
    """Makes pairs of topics and documents with features of their texts, like `rulerank features`.

    A search finds the candidates of each topic; each pair of a topic and a candidate is a row. A topic's rows are in document
    order. A topic without candidates has no row and is named in a warning.

    Parameters
    ----------
    documents : {id: text} or {id: {field: text}}; a frame with a column id, docno, docid or qid and columns of text; or the path of a
        file or folder: TSV, JSON lines, or the formats of TREC or SMART
    topics : in the same formats
    judgments : {qid: {docno: label}}, a `Qrels`, ranx's Qrels, or the path of TREC judgments; a label below 0 means not judged
    candidates : maximum number of nearest documents per topic
    run : {qid: {docno: score}} or ranx's Run, whose documents are the candidates, instead of a search
    vectors, topic_vectors : arrays [documents x dimensions] and [topics x dimensions], in the order of the texts. Their
        similarity is an additional feature
    candidates_from : {"text", "dense", "both"}, the search for candidates; default: both with vectors, else text
    metric : of the text search: {"cosine", "ip", "l2"}, or "auto": suited to the weighting
    search_engine : {"auto", "tiles", "mt", ...}
    dense_metric : {"cosine", "ip", "l2"}, for the vectors
    fusion, fusion_norm, rrf_k, run_weights : fusion of the lists of "both"; weights of text and of vectors
    not_relevant : labels of the judgments that mean 0
    unjudged : the label of unjudged rows: -1 (unlabelled) or 0 (not relevant)
    mu, lambda_, delta : for the features LMIR.DIR, LMIR.JM and LMIR.ABS; lambda_: the collection's weight
    weighting : of the search: "bm25", or SMART notation for documents and topics, such as "lnc.ltc"
    stop_words, stemmer, fold, numbers, min_length, max_length, min_documents, max_share : as in `TextNeighbors`
    k1, b : for bm25, in the search and as a feature
    leave_out_self : exclude the document whose id is the topic's, if documents are their own topics
    number_by_position : number the ids of files in SMART's format 1, 2, ... by position
    as_frame : return X as a DataFrame with qid as its first column

    Returns
    -------
    LetorData with named features, as `load_letor` reads them from the program's file

    Examples
    --------
    >>> from rulerank import make_pool
    >>> documents = {"d1": "Cats chase mice", "d2": "Dogs chase cats", "d3": "Mice eat cheese"}
    >>> pool = make_pool(documents, {"q1": "cats", "q2": "cheese for mice"}, {"q1": {"d2": 2}, "q2": {"d3": 1}})
    >>> list(zip(pool.qid.tolist(), pool.docid.tolist(), pool.y.tolist()))
    [('q1', 'd1', -1), ('q1', 'd2', 2), ('q2', 'd1', -1), ('q2', 'd3', 1)]
    >>> pool.X[:, pool.feature_names.index("covered_query_terms_of_document")].tolist()
    [1.0, 1.0, 1.0, 2.0]
    """
    if (vectors is None) != (topic_vectors is None):
        one, other = ("topic_vectors", "vectors") if vectors is None else ("vectors", "topic_vectors")
        raise UsageError(f"{other}: found None, expected a value, because {one} needs it")
    if candidates_from is not None and vectors is None:
        raise UsageError(f"candidates_from: found {candidates_from!r} without vectors, expected None")
    if run is not None and candidates_from is not None:
        raise UsageError(f"candidates_from: found {candidates_from!r} together with run, expected None, because run has the candidates")
    if run is not None and leave_out_self:
        raise UsageError("leave_out_self: found True together with run, expected False, because run has the candidates")
    if candidates < 1:
        raise UsageError(f"candidates: found {candidates}, expected 1 or more")
    if unjudged not in (-1, 0):
        raise UsageError(f"unjudged: found {unjudged}, expected -1 or 0")
    retrieved = None if run is None else _by_query(run, "run")
    if run is not None and retrieved is None:
        raise UsageError(f"run: found {type(run).__name__}, expected {{qid: {{docno: score}}}} or ranx's Run")
    source = candidates_from or ("text" if vectors is None else "both")
    with running(n_jobs, device=device, verbose=verbose) as how:
        text = _core.TextOptions(stop_words, stemmer, fold, numbers, min_length, max_length, min_documents, max_share)
        text.set_weighting(weighting, k1, b)
        options = _core.PoolOptions(source, None if metric == "auto" else metric, text, search_engine, dense_metric, leave_out_self)
        options.set_models(mu, lambda_, delta)
        options.set_fusion(fusion, fusion_norm, rrf_k, list(run_weights))
        made, without, asked = _core.make_pool(
            how, _texts_of(documents, "documents"), _texts_of(topics, "topics"), _judgments_of(judgments), retrieved,
            _vectors_of(vectors, "vectors"), _vectors_of(topic_vectors, "topic_vectors"), text, number_by_position, options,
            candidates, unjudged, list(not_relevant))
        if without:
            named = ", ".join(map(repr, without[:3])) + (", ..." if len(without) > 3 else "")
            warnings.warn(f"topics: {len(without)} of {asked} have no candidate document and get no row: {named}", stacklevel=3)
        return _letor_data(how, made, None, 1, False, as_frame)
