"""Threads, signals and progress during calls."""

import io
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import slowness
from sklearn.model_selection import GridSearchCV, GroupKFold

import rulerank
from rulerank import RuleRanker

HANGS = 900  # seconds after which the work is considered hung, however busy the machine is


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(3)
    return rng.normal(size=(300, 8)), rng.integers(0, 3, 300), np.arange(300) // 10


@pytest.fixture(scope="module")
def long_work():
    """A ranker, and documents that take it minutes."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 4, size=(20000, 60)).astype(float)
    ranker = RuleRanker("rules", rule_size=6, method="width", bins=4, n_jobs=1)
    return ranker.fit(X[:2000], rng.integers(0, 3, 2000)), X


def test_the_installed_package_is_tested():
    source = pathlib.Path(__file__).parent.parent
    assert not pathlib.Path(rulerank.__file__).is_relative_to(source)
    assert (pathlib.Path(rulerank.__file__).parent / "_core.pyi").stat().st_size > 1000


def interrupted_when(is_time, work):
    """Runs the work and sends Ctrl-C when `is_time` says so. Returns the processor seconds used from then on, so that other
    processes do not count."""
    begun, ended, sent = threading.Event(), threading.Event(), []

    def interrupt():
        begun.wait()
        while not is_time():
            if ended.wait(0.01):
                return
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            begun.set()
            work()
        return time.process_time() - sent[0]
    finally:
        ended.set()
        thread.join()


def after_seconds_of_work(seconds):
    """A function that returns whether this process has used this many processor seconds since this call."""
    begin = time.process_time()
    return lambda: time.process_time() - begin > seconds


def test_ctrl_c_stops_within_a_second(long_work):
    ranker, X = long_work
    assert interrupted_when(after_seconds_of_work(0.5), lambda: ranker.predict(X)) < slowness()  # of its one thread
    assert len(ranker.predict(X[:1])) == 1


def test_ctrl_c_at_a_prompt(tmp_path):
    script = tmp_path / "work.py"
    script.write_text("import numpy as np, rulerank\n"
                      "X = np.random.default_rng(1).integers(0, 4, size=(20000, 60)).astype(float)\n"
                      "r = rulerank.RuleRanker('rules', rule_size=6, method='width', n_jobs=1).fit(X[:2000], np.arange(2000) % 3)\n"
                      "print('ready', flush=True)\n"
                      "r.predict(X)\n")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as at:
        assert at.stdout.readline() == "ready\n"
        time.sleep(0.3)
        at.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in at.communicate(timeout=HANGS)[1]
        assert at.returncode == -signal.SIGINT


def test_other_threads_run_meanwhile(long_work):
    ranker, X = long_work
    stop = threading.Event()
    worker_ranker = RuleRanker("rules", rule_size=6, method="width", bins=4, n_jobs=1,
                               verbose=lambda *_: not stop.is_set())
    worker_ranker.model_, worker_ranker._scorers = ranker.model_, ranker._scorers
    failures = []

    def work():
        try:
            worker_ranker.predict(X)
        except rulerank.Interrupted as error:
            failures.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    begin = time.process_time()
    for _ in range(20):
        time.sleep(0.01)
    assert time.process_time() - begin < 2 * slowness() and worker.is_alive()
    stop.set()
    worker.join(HANGS)
    assert not worker.is_alive() and len(failures) == 1


def test_threads_share_a_ranker(small):
    X, y, qid = small
    ranker = RuleRanker("rules,scorecard,linear").fit(X, y, qid)
    expected = RuleRanker("rules,scorecard,linear", n_jobs=1).fit(X, y, qid).predict(X, qid)
    found = [None] * 8
    threads = [threading.Thread(target=lambda k=k: found.__setitem__(k, ranker.predict(X, qid))) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        assert (one == expected).all()


def test_calls_keep_their_threads(small):
    """Successive calls reuse the threads of the first; concurrent calls each have their own."""
    X, y, qid = small
    ranker = RuleRanker("rules", n_jobs=2).fit(X, y, qid)

    def threads():
        return {task.name for task in pathlib.Path("/proc/self/task").iterdir()}

    def twice(*_):
        if ranker.verbose is twice:
            ranker.verbose = False
            found.append(ranker.predict(X, qid))
        return True

    found = [ranker.predict(X, qid)]
    before = threads()
    for _ in range(20):
        found.append(ranker.predict(X, qid))
    assert threads() <= before  # threads of an earlier test may still be ending
    ranker.set_params(verbose=twice).predict(X, qid)
    assert len(found) == 22 and all((one == found[0]).all() for one in found)


def predict_in_child(ranker, X, qid, answers):
    answers.put(ranker.predict(X, qid))


def test_a_forked_process_goes_on(small):
    X, y, qid = small
    ranker = RuleRanker("rules").fit(X, y, qid)
    expected = ranker.predict(X, qid)
    forking = multiprocessing.get_context("fork")
    answers = forking.Queue()
    child = forking.Process(target=predict_in_child, args=(ranker, X, qid, answers))
    child.start()
    assert (answers.get(timeout=HANGS) == expected).all()
    child.join()


def test_searches_in_several_processes(small):
    X, y, qid = small
    X = np.column_stack([qid, X])
    found = [GridSearchCV(RuleRanker("rules", qid_column=0), {"rule_size": [2, 3]}, cv=GroupKFold(2), n_jobs=n)
             .fit(X, y, groups=qid).cv_results_["mean_test_score"].tolist() for n in (1, 2)]
    assert found[0] == found[1]


def test_progress_is_reported(long_work, monkeypatch):
    ranker, X = long_work
    heard = []

    def hear(stage, done, total):
        heard.append((stage, done, total))
        return len(heard) < 3

    ranker = rulerank.RuleRanker(**{**ranker.get_params(), "verbose": hear}).fit(X[:2000], np.arange(2000) % 3)
    heard.clear()
    with pytest.raises(rulerank.Interrupted, match="interrupted"):
        ranker.predict(X)
    assert len(heard) == 3
    assert all(isinstance(stage, str) and 0 <= done <= total for stage, done, total in heard)

    def fail(*_):
        raise ZeroDivisionError("own")

    with pytest.raises(ZeroDivisionError, match="own"):
        ranker.set_params(verbose=fail).predict(X)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    interrupted_when(lambda: heard[0][0] in sys.stderr.getvalue(), lambda: ranker.set_params(verbose=True).predict(X))


def test_a_callable_stops_work_that_is_done_in_no_time(small):
    heard = []

    def hear(*progress):
        heard.append(progress)
        return goes_on

    goes_on = False
    for call in (lambda: RuleRanker("rules", verbose=hear).fit(*small),
                 lambda: RuleRanker("rules").fit(*small).set_params(verbose=hear).predict(small[0])):
        with pytest.raises(rulerank.Interrupted, match="interrupted"):
            call()
        assert len(heard) == 1  # and never again
        heard.clear()
    goes_on = np.False_
    with pytest.raises(rulerank.Interrupted, match="interrupted"):
        RuleRanker("rules", verbose=hear).fit(*small)


@pytest.mark.parametrize("answer", [None, True, np.True_, 0, 3, "", 1.5])
def test_what_a_callable_returns_but_false_goes_on(small, answer):
    heard = []

    def hear(*progress):
        heard.append(progress)
        return answer

    assert RuleRanker("rules", verbose=hear).fit(*small).predict(small[0]) is not None and heard


def test_all_exceptions_are_of_one_class():
    for name in ("DataError", "UsageError", "DeviceError", "OutputError", "Interrupted"):
        assert issubclass(getattr(rulerank, name), rulerank.RulerankError)
    assert issubclass(rulerank.DataError, ValueError) and issubclass(rulerank.OutputError, OSError)


def test_public_names_have_docstrings():
    for name in rulerank.__all__:
        one = getattr(rulerank, name)
        assert one.__doc__, name
        if isinstance(one, type):
            for method in vars(one):
                if not method.startswith("_") and callable(getattr(one, method)) and \
                        method not in ("transform", "fit", "query", "teach"):
                    assert getattr(one, method).__doc__, (name, method)


@pytest.mark.parametrize("verbose", [True, 1, 2, np.True_])
def test_what_is_true_shows_bars(small, capsys, verbose):
    RuleRanker("rules", verbose=verbose).fit(*small)
    assert "%" in capsys.readouterr().err


@pytest.mark.parametrize("verbose", [False, 0, np.False_, None])
def test_what_is_false_shows_none(small, capsys, verbose):
    RuleRanker("rules", verbose=verbose).fit(*small)
    assert capsys.readouterr().err == ""
