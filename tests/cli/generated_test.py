"""Generated commands: small random inputs and options of each verb, compared with definitions and with each other.

A case is a verb and a seed (generated_cases.py). Its command runs, and runs again in ways that must not change a byte: other
threads, engines and seeds, compressed inputs, standard input, a kept index. A test fails for an option of a verb that no case uses
and LEFT_OUT does not list.

RULERANK_GENERATED=FIRST:COMMANDS runs at least this many commands of each verb from the case FIRST on; FIRST:1 repeats one case.
"""

import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import fork_server
import harness
from generated_cases import LEFT_OUT, Case
from generated_lists import evaluate, fuse, judgments, mine
from generated_models import experiment, explain, export, inspect, sample, tune
from generated_rankings import discretize, fit, rank, reduce, split
from generated_searches import dense, metric, text
from generated_texts import features, pipeline, rank_query, vectors

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import options  # noqa: E402

VERBS = {"search dense": dense, "search metric": metric, "search text": text, "evaluate": evaluate, "mine": mine, "fuse": fuse,
         "split": split, "discretize": discretize, "rank": rank, "fit": fit, "reduce": reduce, "judgments": judgments,
         "features": features, "vectors": vectors, "pipeline": pipeline, "rank --query": rank_query,
         "explain": explain, "inspect": inspect, "export": export, "tune": tune, "experiment": experiment, "sample": sample}
OF_LONG_COMMANDS = {features, vectors, pipeline, rank_query, explain, inspect, export, tune, experiment, sample}  # half as many
FIRST, COMMANDS = map(int, os.environ.get("RULERANK_GENERATED", "0:420").split(":"))
AGAIN = 1_000_000  # the first case of a verb's second test, which a core ends within 20 seconds as it does the first
ENOUGH = 400  # commands of a verb, by which every oracle and every option has its turn
FINGERPRINT = re.compile(rb'("(?:fingerprint|context|sha256|[\w/]+\.txt)": ?)"[0-9a-f]+"')  # of options, engines and compressed files, too
MOST_FAULTS = 5  # after which a test ends


class Done:
    """The results of a command: `main` has the bytes of --out, or of standard output."""

    def __init__(self, process, folder):
        same = lambda data: FINGERPRINT.sub(rb'\1""', data)
        self.code, self.stdout, self.errors = process.returncode, same(process.stdout), process.stderr.decode(errors="replace")
        self.files = {str(p.relative_to(folder)): same(p.read_bytes()) for p in folder.rglob("*")
                      if p.is_file() and p.name not in ("manifest.json", harness.LOCK) and not p.name.endswith(".seconds.tsv")}
        self.main = self.files.get("o", self.stdout)

    def rows(self, name=None, by="\t"):
        text = (self.main if name is None else self.files[name]).decode()
        return [line.split(by) for line in text.splitlines()]


class Generated(harness.CommandLine):
    def setUp(self):
        """A folder in memory, where there is one: every output is flushed to its disk."""
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        folder = tempfile.TemporaryDirectory(prefix="rulerank-generated-", dir=memory)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @classmethod
    def setUpClass(cls):
        cls.server = fork_server.serving(harness.PROGRAM, harness.HANGS)

    @classmethod
    def tearDownClass(cls):
        if cls.server is not None:
            cls.server.close()

    def run_program(self, words, stream):
        if self.server is not None:
            return self.server.run(words, stream, self.folder)
        return subprocess.run([harness.PROGRAM, *words], input=stream, capture_output=True, cwd=self.folder, check=False,
                              timeout=harness.HANGS)

    def command(self, words, files, stream=b""):
        for name, data in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        self.shown = shlex.join(["rulerank", *words])
        self.counts["commands"] += 1
        done = Done(self.run_program(words, stream), out)
        self.assertIn(done.code, (0, 2, 3), done.errors)
        self.assertEqual(done.errors.count("rulerank: error: "), int(done.code != 0), done.errors)
        if done.code:
            if words[0] in ("pipeline", "experiment"):  # steps that were done before stay: a run goes on from them
                done.files = {name: data for name, data in done.files.items() if name == "results.json"}
            self.assertEqual((done.stdout, done.files), (b"", {}), "a refusal leaves no output")
        return done

    def run_case(self, case):
        words = [*case.verb.split(), *case.words()]
        for line in case.before:
            made = self.command(line, case.files)
            if made.code and any(part in made.errors for part in case.may_refuse):
                return
            self.assertEqual(made.code, 0, made.errors)
        done = self.command(words, case.files)
        if done.code and not case.refused and any(part in done.errors for part in case.may_refuse):
            case.refused = case.may_refuse
        if case.refused:
            self.assertTrue(done.code and any(part in done.errors for part in case.refused), (case.refused, done.errors))
            self.counts["refusals"] += 1
        else:
            self.assertEqual(done.code, 0, done.errors)
            self.counts["accepted"] += 1
            case.judge(self, done)
            self.counts["judged"] += 1
            self.accepted |= {*case.given}
        given, files, stream = case.other_way()
        other = self.command([*case.verb.split(), *case.words(given)], files, stream)
        self.assertEqual(other.code, done.code, other.errors)
        if "--json" in given and not other.code:
            json.loads(other.stdout)
            other.stdout = done.stdout
        self.assertEqual((other.stdout, other.files), (done.stdout, done.files), "another way to the same result")
        self.counts["same"] += 1
        self.accepted |= {*given} if not done.code else set()
        if done.code or case.extra:
            return
        if case.beside_index is not None:
            for line in (case.given, {o: v for o, v in case.given.items() if o not in case.beside_index}):
                by_index = self.command([*case.verb.split(), *case.words(line), "--index", "kept"], case.files)
                self.assertEqual((by_index.stdout, by_index.files), (done.stdout, done.files), "by an index that was kept")
            self.accepted.add("--index")
            self.counts["by an index"] += 1
        if case.model_of:
            self.counts["by a model"] += 1
            (self.folder / "model").write_bytes(done.main)
            scores = [self.command(line, case.files).stdout for line in case.model_of]
            self.assertEqual(scores[0], scores[1], "the scores of a model and of rank --train")

    def check(self, verb, first=0):
        self.counts, self.accepted, faults, seed = collections.Counter(), set(), [], first + FIRST
        self.shown = verb
        commands = -(-COMMANDS // 2) if VERBS[verb] in OF_LONG_COMMANDS else COMMANDS
        while self.counts["commands"] < commands and len(faults) < MOST_FAULTS:
            try:
                self.run_case(Case(verb, seed, VERBS[verb]))
            except (AssertionError, ArithmeticError, LookupError, ValueError) as error:
                test = "test_slow_" + verb.replace(" --", "_").replace(" ", "_")
                faults.append(f"{self.shown}\n  {type(error).__name__}: {error}\n  repeat it with: RULERANK_GENERATED={seed}:1 "
                              f"python3 tests/cli/generated_test.py build/bin/rulerank Generated.{test}")
            seed += 1
        harness.tell_counts(verb, self.counts, first=first + FIRST, cases=seed - first - FIRST)
        self.assertFalse(faults, "\n" + "\n".join(faults))
        if COMMANDS >= ENOUGH:
            for what in ("judged", "same", "refusals"):
                self.assertGreater(self.counts[what], commands // 200, f"{what}: {dict(self.counts)}")
            never = drawn(verb) - self.accepted
            self.assertFalse(never, "options that no accepted command had")

    def test_every_option_is_drawn_or_left_out(self):
        for verb in VERBS:
            with self.subTest(verb):
                left_out = {**LEFT_OUT[""], **LEFT_OUT.get(verb, {})}
                there = options.printed(harness.PROGRAM, *verb.partition(" --")[0].split())
                self.assertEqual(there - {*left_out}, drawn(verb), "options of the program, and those that cases draw")
                self.assertEqual({*left_out} - there, set(), "LEFT_OUT has options that are none")

    def test_slow_search_dense(self):
        self.check("search dense")

    def test_slow_search_dense_again(self):
        self.check("search dense", AGAIN)

    def test_slow_search_metric(self):
        self.check("search metric")

    def test_slow_search_metric_again(self):
        self.check("search metric", AGAIN)

    def test_slow_search_text(self):
        self.check("search text")

    def test_slow_search_text_again(self):
        self.check("search text", AGAIN)

    def test_slow_evaluate(self):
        self.check("evaluate")

    def test_slow_evaluate_again(self):
        self.check("evaluate", AGAIN)

    def test_slow_mine(self):
        self.check("mine")

    def test_slow_mine_again(self):
        self.check("mine", AGAIN)

    def test_slow_fuse(self):
        self.check("fuse")

    def test_slow_fuse_again(self):
        self.check("fuse", AGAIN)

    def test_slow_split(self):
        self.check("split")

    def test_slow_split_again(self):
        self.check("split", AGAIN)

    def test_slow_discretize(self):
        self.check("discretize")

    def test_slow_discretize_again(self):
        self.check("discretize", AGAIN)

    def test_slow_rank(self):
        self.check("rank")

    def test_slow_rank_again(self):
        self.check("rank", AGAIN)

    def test_slow_fit(self):
        self.check("fit")

    def test_slow_fit_again(self):
        self.check("fit", AGAIN)

    def test_slow_reduce(self):
        self.check("reduce")

    def test_slow_reduce_again(self):
        self.check("reduce", AGAIN)

    def test_slow_judgments(self):
        self.check("judgments")

    def test_slow_judgments_again(self):
        self.check("judgments", AGAIN)

    def test_slow_features(self):
        self.check("features")

    def test_slow_vectors(self):
        self.check("vectors")

    def test_slow_pipeline(self):
        self.check("pipeline")

    def test_slow_rank_query(self):
        self.check("rank --query")

    def test_slow_explain(self):
        self.check("explain")

    def test_slow_inspect(self):
        self.check("inspect")

    def test_slow_export(self):
        self.check("export")

    def test_slow_tune(self):
        self.check("tune")

    def test_slow_experiment(self):
        self.check("experiment")

    def test_slow_sample(self):
        self.check("sample")


def drawn(verb):
    """The options of some cases."""
    return set().union(*(Case(verb, seed, VERBS[verb]).options() for seed in range(400)))


if __name__ == "__main__":
    harness.main()
