"""Learning to rank with association rules, and active learning that picks the few documents worth
labelling."""

from importlib.metadata import version as _version

from . import _core, exceptions
from ._core import commit as _commit
from ._core import devices
from ._discretizer import Discretizer
from ._evaluation import Qrels, compare, evaluate, metric_scorer
from ._explanation import Explanation, MemberExplanation
from ._letor import LetorData, draw_letor, dump_letor, load_letor
from ._mining import mine_itemsets, mine_rules
from ._neighbours import DenseNeighbors, MetricNeighbors, TextNeighbors
from ._ranker import RuleRanker
from ._report import report
from ._sampler import SelectiveSampler
from .exceptions import DataError, DeviceError, Interrupted, OutputError, RulerankError, UsageError

for _of in vars(_core).values():
    if isinstance(_of, type) and "__getstate__" in vars(_of):  # nanobind's classes know protocols from 2 on
        _of.__reduce_ex__ = lambda self, protocol: object.__reduce_ex__(self, max(protocol, 2))

__version__ = _version("rulerank")
__commit__ = _commit()

__all__ = ["DataError", "DenseNeighbors", "DeviceError", "Discretizer", "Explanation", "Interrupted",
           "LetorData", "MemberExplanation", "MetricNeighbors", "OutputError", "Qrels", "RuleRanker", "RulerankError",
           "SelectiveSampler", "TextNeighbors", "UsageError", "compare", "devices", "draw_letor", "dump_letor", "evaluate",
           "exceptions", "load_letor", "metric_scorer", "mine_itemsets", "mine_rules", "report"]
