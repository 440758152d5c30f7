import json
import sys

import numpy as np
import pytest

from rulerank import DataError, ProgramJudge, SelectiveSampler, UsageError, load_letor

JUDGE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    value = asked["features"]["1"]
    said = {"id": asked["id"], "label": "skip" if value is None else int(value > 0.5), "cost": 0.25}
    if asked["docid"] == "odd":
        said = {"id": asked["id"], "error": "no idea"}
    print(json.dumps(said), flush=True)
"""


@pytest.fixture
def command(tmp_path):
    (tmp_path / "judge.py").write_text(JUDGE)
    return f"{sys.executable} {tmp_path / 'judge.py'}"


def question(docid, value):
    return {"qid": "1", "docid": docid, "features": {"1": value}}


def test_answers_cost_once(command, tmp_path):
    asked = [question("a", 0.75), question("b", np.float32(0.25)), question("c", float("nan"))]
    with ProgramJudge(command, tmp_path / "judged", max_label=2) as judge:
        answers = judge.judge(asked)
        assert [answer["label"] for answer in answers] == [1, 0, None]
        assert answers[0] == answers[0] | {"cost": 0.25, "probabilities": [], "reason": "", "source": "program"}
        assert (judge.calls_, judge.cost_, judge.recalled_) == (3, 0.75, 0)
    with ProgramJudge(command, tmp_path / "judged", max_label=2, max_calls=3) as judge:
        assert judge.judge(asked) == answers
        assert (judge.calls_, judge.recalled_) == (3, 3)
        assert judge.judge([question("d", 0.5)]) == [None]  # beyond the budget
        assert "budget" in judge.problem_


def test_a_question_without_an_answer_has_none(command, tmp_path):
    with ProgramJudge(command, tmp_path / "judged") as judge:
        answers = judge.judge([question("odd", 0.5), question("even", 0.6)])
        assert answers[0] is None and answers[1]["label"] == 1
        assert "no idea" in judge.problem_


def test_the_record_is_the_programs(program, drawn, command, tmp_path):
    """The program asks; Python finds each answer in its record, and then has the program's sample."""
    lines = [line.split(" ", 1)[1] for line in (drawn / "train.txt").read_text().splitlines()]
    pool = tmp_path / "pool.txt"
    pool.write_text("".join(f"-1 {line}\n" for line in lines))
    program("reduce", "--train", pool, "--unlabelled", -1, "--oracle", f"command:{command}", "--max-label", 2,
            "--max-documents", 12, "--judged", tmp_path / "judged", "--out", tmp_path / "reduced", "--ids",
            tmp_path / "ids")
    data = load_letor(pool, unlabelled=-1)
    sampler = SelectiveSampler(max_documents=12).fit(data.X, qid=data.qid)
    recorded = [json.loads(line) for line in (tmp_path / "judged").read_text().splitlines()[1:]]
    with ProgramJudge(command, tmp_path / "judged", max_label=2) as judge:
        while not sampler.finished_:
            rows = sampler.query()
            X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
            asked = [{"qid": str(data.qid[row]), "docid": data.docid[row],
                      "features": {str(f + 1): X[row, f] for f in range(X.shape[1])}} for row in rows]
            sampler.teach([answer["label"] for answer in judge.judge(asked)])
        assert judge.recalled_ == len(recorded) == judge.calls_
    chosen = [int(line.split("\t")[0]) for line in (tmp_path / "ids").read_text().splitlines()[1:]]
    assert sampler.sample_indices_.tolist() == sorted(set(chosen))


@pytest.mark.parametrize("asked, message", [
    ({"docid": "a"}, "questions: found None for qid of question 0, expected text"),
    ({"qid": 1, "docid": "a"}, "questions: found 1 for qid of question 0, expected text"),
    ({"qid": "1", "docid": "a", "labels": [0]}, "questions: found labels in question 0"),
    ({"qid": "1", "docid": "a", "text": {1, 2}}, "questions: question 0 is not JSON")])
def test_bad_questions(command, tmp_path, asked, message):
    with ProgramJudge(command, tmp_path / "judged") as judge, pytest.raises(UsageError, match=message):
        judge.judge([asked])


def test_bad_parameters(command, tmp_path):
    for wrong in ({"seconds": 0}, {"max_cost": -1}, {"max_label": 2.5}, {"max_calls": -1}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            ProgramJudge(command, tmp_path / "judged", **wrong)
    (tmp_path / "other").write_text("no record\n")
    with pytest.raises(DataError, match="other:1"):
        ProgramJudge(command, tmp_path / "other")
    judge = ProgramJudge(command, tmp_path / "judged")
    judge.close()
    with pytest.raises(UsageError, match="closed"):
        judge.judge([question("a", 1.0)])
