"""Learning to rank from few labels, with models a person can read."""

from importlib.metadata import version as _version

from . import exceptions
from ._core import commit as _commit
from ._core import devices
from ._discretizer import Discretizer
from ._evaluation import Qrels, compare, evaluate, metric_scorer
from ._explanation import Explanation, ListExplanation, MemberExplanation
from ._judge import ProgramJudge
from ._letor import LetorData, draw_letor, dump_letor, load_letor
from ._mining import mine_itemsets, mine_rules
from ._neighbours import DenseNeighbors, MetricNeighbors, TextNeighbors
from ._pickling import take_all_protocols as _take_all_protocols
from ._pool import make_pool
from ._ranker import RuleRanker
from ._report import report
from ._run import over_ranks
from ._sampler import SelectiveSampler
from .exceptions import DataError, DeviceError, Interrupted, OutputError, RulerankError, UsageError

_take_all_protocols()

__version__ = _version("rulerank")
__commit__ = _commit()

__all__ = ["DataError", "DenseNeighbors", "DeviceError", "Discretizer", "Explanation", "Interrupted",
           "LetorData", "ListExplanation", "MemberExplanation", "MetricNeighbors", "OutputError", "ProgramJudge", "Qrels", "RuleRanker", "RulerankError",
           "SelectiveSampler", "TextNeighbors", "UsageError", "compare", "devices", "draw_letor", "dump_letor", "evaluate",
           "exceptions", "load_letor", "make_pool", "metric_scorer", "mine_itemsets", "mine_rules", "over_ranks",
           "report"]
