"""Labels from a program, such as one that asks a language model."""

from __future__ import annotations

import json
import math
import os
import typing

from . import _core
from ._parameters import check, checked
from ._run import running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from typing_extensions import Self

    from ._types import Count, Path, Progress

#: The members of a question, in the order of `rulerank reduce`; the record of answers identifies questions by their bytes.
MEMBERS = ("qid", "docid", "query", "title", "passage", "text", "features")


class ProgramJudge:
    """Asks a program for labels, as `rulerank reduce --oracle command:CMD` does, with the same messages and the same record.

    The program runs until `close`. It reads a question a line and writes an answer a line, both JSON objects
    (docs/reference/judges.md). Use one judge in one thread.

    Parameters
    ----------
    command : for /bin/sh
    record : path of the file that keeps every answer and failure. A question that it answers already costs no call, so a
        script that stopped can be run again
    max_label : the largest label
    seconds : time without any answer, after which the program is ended
    max_calls, max_cost : maximum number of questions and sum of costs over the whole record; 0: no limit
    verbose : as in `RuleRanker`

    Attributes
    ----------
    calls_, cost_ : questions and costs in the record
    recalled_ : answers that this object took from the record
    problem_ : why the last question without an answer has none

    Examples
    --------
    >>> from rulerank import ProgramJudge
    >>> with ProgramJudge("sed -u -E 's/^(.\"id\":\"[0-9]+\").*/\\1,\"label\":1}/'", "judged", max_label=2) as judge:
    ...     answer, = judge.judge([{"qid": "1", "docid": "a", "query": "wing", "text": "flow over wings"}])
    >>> answer["label"]
    1
    """

    def __init__(self, command: str, record: Path, *, max_label: Count = 4, seconds: float = 60, max_calls: Count = 0,
                 max_cost: float = 0, verbose: Progress = False) -> None:
        check(ProgramJudge.__init__, {"command": command, "record": record, "max_label": max_label, "seconds": seconds,
                                      "max_calls": max_calls, "max_cost": max_cost}.items())
        if not seconds > 0:
            raise UsageError(f"seconds: found {seconds}, expected a number above 0")
        if not max_cost >= 0:
            raise UsageError(f"max_cost: found {max_cost}, expected a number from 0")
        self.max_label = max_label
        self.verbose = verbose
        self._judge = _core.ProgramJudge(command, os.fspath(record), max_label, seconds, max_calls, max_cost)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the program and releases the record."""
        self._judge.close()

    @property
    def calls_(self) -> int:
        return self._judge.calls

    @property
    def cost_(self) -> float:
        return self._judge.cost

    @property
    def recalled_(self) -> int:
        return self._judge.recalled

    @property
    def problem_(self) -> str:
        return self._judge.problem

    @checked
    def judge(self, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """Asks about documents.

        Parameters
        ----------
        questions : a dict for each, with qid and docid, and query, title, passage, text and features ({name: value}; NaN:
            missing) as far as you have them. Other members are sent, too

        Returns
        -------
        list with a dict for each question: label (None: nobody can judge the document), probabilities (empty: not given),
        cost, reason, source and time. None in place of a dict: the program gave no answer, for the reason `problem_`
        """
        requests = [self._request(number, question) for number, question in enumerate(questions)]
        with running(1, verbose=self.verbose) as run:
            return self._judge.judge(run, requests)

    def _request(self, number, question):
        for member in ("qid", "docid"):
            if not isinstance(question.get(member), str):
                raise UsageError(f"questions: found {question.get(member)!r} for {member} of question {number}, "
                                 "expected text")
        for member in ("id", "labels"):
            if member in question:
                raise UsageError(f"questions: found {member} in question {number}, which the judge sets")
        ordered = {member: question[member] for member in MEMBERS if member in question} | dict(question)
        if "features" in ordered:
            ordered["features"] = {str(name): present(value) for name, value in ordered["features"].items()}
        try:
            return json.dumps(ordered | {"labels": list(range(self.max_label + 1))}, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"questions: question {number} is not JSON: {error}") from None


def present(value):
    """A feature's value as a Python number, or None if it is missing."""
    return None if value is None or math.isnan(value) else float(value)
