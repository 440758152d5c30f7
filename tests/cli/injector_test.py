"""Inputs of every verb are cut short, extended, overwritten and replaced at seeded moments while a run reads them. A run ends with
the output of the old file or of the new one, or with exit code 3 and the file's name; never with another output, never by a signal.

System calls that read and write are short, interrupted, or fail (io_faults.cpp): the output is the same, or there is none and the
message says why."""

import collections
import contextlib
import gzip
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import threading
import time

import harness
from generated_searches import npy
from over_ranks import documents, fvecs, letor, words

ADDRESS = re.compile(r"http://(127\.0\.0\.1:\d+)/#([0-9a-f]{32})$", re.MULTILINE)
SERVER = re.compile(r"rulerank: serve at http://(127\.0\.0\.1:\d+)/$", re.MULTILINE)
TOKEN = "0123456789abcdef"


def cut(path, draw):
    os.truncate(path, draw.randrange(path.stat().st_size))


def extend(path, draw):
    data = path.read_bytes()
    with open(path, "ab") as file:
        file.write(data[draw.randrange(len(data)):] or data)


def overwrite(path, draw):
    data = path.read_bytes()
    begin = draw.randrange(len(data))
    with open(path, "r+b") as file:
        file.seek(begin)
        file.write(data[:len(data) - begin][::-1])


def replace(path, draw):
    data = path.read_bytes()
    other = path.with_name("other")
    other.write_bytes(data[draw.randrange(len(data)):])
    other.replace(path)


CHANGES = (cut, extend, overwrite, replace)


def forms_of(texts):
    """Texts in TSV as JSON lines, CSV, and TREC's forms of documents and of topics."""
    rows = [line.split("\t") for line in texts.decode().splitlines()]
    return {"jsonl": "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in rows),
            "csv": "id,text\n" + "".join(f"{name},{text}\n" for name, text in rows),
            "trec": "".join(f"<DOC>\n<DOCNO>{name}</DOCNO>\n<TEXT>{text}</TEXT>\n</DOC>\n" for name, text in rows),
            "topics": "".join(f"<top>\n<num> Number: {name}\n<title> {text}\n</top>\n" for name, text in rows)}


def answer_page(host, token):
    """Labels all documents that a page asks about, and ends it; asks again where an answer could not be kept."""
    def post(path, **body):
        link = http.client.HTTPConnection(host, timeout=harness.HANGS)
        with contextlib.closing(link):
            link.request("POST", path, json.dumps({"labeller": "An", **body}), {
                "Origin": f"http://{host}", "Content-Type": "application/json", "X-Rulerank-Token": token})
            reply = link.getresponse()
            text = reply.read()
            return json.loads(text) if reply.status == 200 else post("/next")

    state = post("/next")
    while state["state"] == "question":
        document = state["question"]["document"]
        state = post("/answer", document=document, answer=document % 3)
    post("/finish")


def ask_server(host):
    """The server's answer to a query; empty if it fails."""
    link = http.client.HTTPConnection(host, timeout=harness.HANGS)
    with contextlib.closing(link):
        link.request("POST", "/search", json.dumps({"query": "red"}), {"Authorization": f"Bearer {TOKEN}"})
        reply = link.getresponse()
        text = reply.read()
        return text if reply.status == 200 else b""


def idx(labels):
    return b"\0\0\x08\1" + len(labels).to_bytes(4, "big") + bytes(labels)


class Injector(harness.CommandLine):
    def write_inputs(self, size):
        train, texts, topics = letor(7, 90 * size, 9), documents(1, 300 * size), documents(2, 40 * size)
        self.file("train.txt", train)
        self.file("train.txt.gz", gzip.compress(train))
        rows = [line.split() for line in train.decode().splitlines()]
        self.file("train.csv", ("label,qid,docid,f1,f2,f3\n" + "".join(
            ",".join([row[0], row[1][4:], row[-1], *(x.partition(":")[2] for x in row[2:5])]) + "\n" for row in rows)).encode())
        self.file("plain.txt", "".join(" ".join([row[0], *row[2:5]]) + "\n" for row in rows).encode())
        self.file("sizes", "".join(f"{len([*of])}\n" for _, of in itertools.groupby(row[1] for row in rows)).encode())
        self.file("test.txt", letor(8, 50 * size, 9))
        self.file("docs.tsv", texts)
        self.file("topics.tsv", topics)
        self.file("few.tsv", documents(2, 8))
        for name, data in (("docs", texts), ("topics", topics)):
            for form, text in forms_of(data).items():
                self.file(f"{name}.{form}", text.encode())
        self.file("docs.tsv.gz", gzip.compress(texts))
        self.file("words.txt", words(1, 300 * size))
        draw = random.Random(3)
        base = [[draw.randrange(7) for _ in range(8)] for _ in range(300 * size)]
        self.file("base.fvecs", fvecs(1, 300 * size))
        self.file("base.npy", npy(base))
        self.file("baskets.txt", "".join(" ".join(map(str, sorted(draw.sample(range(12), 5)))) + "\n" for _ in range(900 * size)).encode())
        self.file("qrels", "".join(f"2-{q} 0 1-{d} {draw.randrange(3)}\n" for q in range(40 * size) for d in draw.sample(range(300), 25)).encode())
        self.file("ratings.csv", ("query,docid,rating\n" + "".join(
            f"{name},1-{d},{draw.randrange(3)}\n" for name in range(40 * size) for d in range(30))).encode())
        self.file("log.jsonl", "".join(json.dumps({"responseHeader": {"params": {"fl": "id,[features]", "q": str(q)}}, "response": {
            "docs": [{"id": f"1-{d}", "[features]": f"a={draw.randrange(9)},b={draw.random()}"} for d in range(40)]}}) + "\n"
            for q in range(40 * size)).encode())
        self.file("found.txt", "".join(f"{i}\n" for i in range(0, 300 * size, 2)).encode())
        self.file("found.ids", "".join(f"1-{i}\n" for i in range(0, 300 * size, 2)).encode())
        self.file("monotone", b"rising 1\nfalling 2\nfree 3\n")
        self.write_small_inputs(size, train, draw)
        for line in self.MADE:
            self.expect(0, *line.split(), "--quiet")
        shutil.copy(self.folder / "run", self.folder / "run2")
        (self.folder / "theirs").mkdir(exist_ok=True)
        for fold in (1, 2, 3):
            tested = self.read(f"folds/Fold{fold}/test.txt").count(b"\n")
            self.file(f"theirs/Fold{fold}.txt", "".join(f"{n % 7}\n" for n in range(tested)).encode())

    def write_small_inputs(self, size, train, draw):
        self.file("whole.txt", train)
        self.file("names", b"1 one\n2 two\n3 three\n")
        self.file("guide", b"2: answers the query\n")
        self.file("token", TOKEN.encode())
        self.file("appear", b"both\n0 antecedent\n1 consequent\n")
        self.file("set.json", json.dumps({"featureset": {"features": [
            {"name": name, "params": ["words"], "template": {"match": {name: "{{words}}"}}} for name in ("one", "two", "three")]}}).encode())
        self.file("bench.jsonl", b'{"engine": "a", "input": "x", "seconds": 2.0, "bytes": 10, "ops": 20, "threads": 2}\n' * 9)
        judged = self.read("qrels").decode().splitlines(keepends=True)
        self.file("qrels2", "".join(f"{line.rsplit(' ', 1)[0]} {draw.randrange(3)}\n" for line in judged).encode())
        self.file("people", "".join(line for line in judged if int(line.split()[0][2:]) < 20).encode())
        self.file("clicks.csv", ("docid,clicks\n" + "".join(f"1-{d},{draw.randrange(9)}\n" for d in range(300 * size))).encode())
        self.file("asked.fvecs", fvecs(2, 40 * size))
        self.file("labels.idx", idx([draw.randrange(3) for _ in range(300 * size)]))
        self.file("row-ids", "".join(f"r{n}\n" for n in range(300 * size)).encode())
        for name, count in (("classed.tsv", 300 * size), ("asked.tsv", 40)):
            rows = [line.split("\t") for line in documents(3, count).decode().splitlines()]
            self.file(name, "".join(f"{name}\tclass{draw.randrange(3)}\t{text}\n" for name, text in rows).encode())
        self.file("labels", ("line\tlabel\n" + "".join(f"{n}\t{line[:1].decode()}\n" for n, line in enumerate(train.splitlines()))).encode())
        self.file("numbers", b"".join(b"-1" + line[1:] + b"\n" for line in letor(9, 20 * size, 9).splitlines()))

    # Inputs that the program makes.
    MADE = (
        "fit --train train.txt --members rules,linear --model m",
        "fit --train train.txt --members card --model card.m",
        "fit --train train.txt --members card --target labels --model labels.m",
        "fit --train train.txt --pool whole.txt --members card --model pool.m",
        "inspect card.m --format card --out card",
        "tune --train train.txt --vali test.txt --try-bins 4 --try-rule-size 2 --out settings",
        "rank --model m --test test.txt --out scores --run run",
        "features --collection docs.tsv --topics topics.tsv --candidates-out found.run --qrels qrels --unjudged 0 --candidates 30 --out pool",
        "features --collection docs.tsv --topics topics.tsv --candidates 10 --feature-table-out table.tsv --out unlabelled",
        "discretize --train train.txt --out-dir cut --discretizer-out cuts",
        "fit --train pool --members linear --model text.m",
        "split --in test.txt --fold-count 3 --out-dir folds",
        "experiment --folds folds --out-dir result --rank-size 2 --reduce-size none --baselines full,feature --permutations 99",
        "search text --collection docs.tsv --index text.index",
        "search dense --collection base.fvecs --index dense.index",
        "search metric --collection base.fvecs --metric l2 --index-type lc --index metric.index",
    )

    # (line, inputs): each writes `out`, or into the folder `of`. Pages for labels are answered.
    LINES = (
        ("reduce --train train.txt --out out", "train.txt"),
        ("rank --train train.txt --test test.txt --out out", "train.txt test.txt"),
        ("rank --model m --test test.txt --out out", "m test.txt"),
        ("fit --train train.txt --members scorecard --model out", "train.txt"),
        ("explain --model m --test test.txt --qid 0 --rank 1 --out out", "m test.txt"),
        ("inspect m --test test.txt --out out", "m test.txt"),
        ("tune --train train.txt --vali test.txt --try-bins 4 --try-rule-size 2 --out out", "train.txt test.txt"),
        ("discretize --train train.txt --apply test.txt --out-dir of", "train.txt test.txt"),
        ("evaluate --test test.txt --scores scores --out out", "test.txt scores"),
        ("evaluate --qrels qrels --run found.run --out out", "qrels found.run"),
        ("fuse --run run run2 --out out", "run run2"),
        ("mine --transactions baskets.txt --min-support 5% --out out", "baskets.txt"),
        ("mine --train train.txt --min-support 5% --out out", "train.txt"),
        ("search text --collection docs.tsv --queries topics.tsv --out out", "docs.tsv topics.tsv"),
        ("search text --index text.index --queries topics.tsv --out out", "text.index topics.tsv"),
        ("search dense --collection base.fvecs --queries base.fvecs --out out", "base.fvecs"),
        ("search dense --index dense.index --queries base.fvecs --out out", "dense.index"),
        ("search metric --collection words.txt --queries words.txt --metric edit --k 3 --out out", "words.txt"),
        ("vectors --collection docs.tsv --dimensions 4 --out out.fvecs", "docs.tsv"),
        ("features --collection docs.tsv --topics topics.tsv --candidates 5 --out out", "docs.tsv topics.tsv"),
        ("pipeline --collection docs.tsv --topics topics.tsv --qrels qrels --candidates 9 --fold-count 3 --random-draws 1 "
         "--permutations 99 --out-dir of", "docs.tsv topics.tsv qrels"),
        ("split --in train.txt --fold-count 3 --out-dir of", "train.txt"),
        ("judgments --in ratings.csv --to rre --out out", "ratings.csv"),
        ("judgments --in qrels --to srw --queries topics.tsv --out out", "qrels topics.tsv"),
        ("judgments --in log.jsonl --to letor --judgments ratings.csv --queries-out out.queries --out out", "log.jsonl ratings.csv"),
        ("label --pool unlabelled --show docs.tsv --topics topics.tsv --max-documents 5 --resume of/answers --out out --listen 127.0.0.1:0",
         "unlabelled docs.tsv topics.tsv"),
        ("start --collection docs.tsv --topics few.tsv --dir of --labels 6 --judged-queries 2 --candidates 4 --guidelines guide "
         "--listen 127.0.0.1:0", "docs.tsv few.tsv"),
        ("report result --out out", "result/results.json result/manifest.json result/runs/feature/Fold1.run folds/Fold1/test.txt"),
        ("report result --model card.m --out out", "card.m"),
        ("experiment --folds folds --out-dir of --rank-size 2 --reduce-size 2 --baselines full --permutations 99",
         "folds/Fold1/train.txt folds/Fold2/vali.txt folds/Fold3/test.txt"),
        ("experiment --folds folds --out-dir of --systems feature,rules --budgets 50% --ways random", "folds/Fold1/train.txt"),
        ("search metric --index metric.index --queries base.fvecs --k 3 --out out", "metric.index base.fvecs"),
        ("search metric --collection base.npy --queries base.fvecs --filter found.txt --k 3 --out out", "base.npy found.txt"),
        ("search dense --collection base.npy --queries base.npy --filter found.txt --k 3 --out out", "base.npy found.txt"),
        ("search text --collection docs.jsonl --queries topics.topics --filter found.ids --out out", "docs.jsonl topics.topics found.ids"),
        ("search text --collection docs.csv --queries topics.csv --out out", "docs.csv topics.csv"),
        ("search text --collection docs.trec --queries topics.jsonl --out out", "docs.trec topics.jsonl"),
        ("search text --collection docs.tsv.gz --queries topics.tsv --out out", "docs.tsv.gz"),
        ("fit --train plain.txt --group sizes --members linear --model out", "plain.txt sizes"),
        ("fit --train train.txt --members card --monotone monotone --model out", "monotone"),
        ("fit --train train.txt --settings settings --model out", "settings"),
        ("fit --train train.txt --card card --model out", "card"),
        ("fit --train train.txt.gz --members linear --model out", "train.txt.gz"),
        ("rank --train train.csv --test train.csv --out out", "train.csv"),
        ("rank --model text.m --query red --collection docs.tsv --out out", "text.m docs.tsv"),
        ("rank --model text.m --query red --collection docs.tsv --index text.index --out out", "text.index docs.tsv"),
        ("features --collection docs.trec --topics topics.csv --qrels qrels --run found.run --out out", "docs.trec topics.csv qrels found.run"),
        ("explain --model text.m --test pool --qid 2-1 --all --out out", "text.m pool"),
        ("rank --model m --test test.txt --out out --run out.run", "m"),
        ("reduce --train train.txt --out out --ids out.ids --discretizer-out out.cuts", "train.txt"),
        ("tune --train train.txt --vali test.txt --try-bins 4 --try-rule-size 2 --out out --trials out.trials", "train.txt"),
        ("search text --collection docs.tsv --queries topics.tsv --out out --run out.run", "docs.tsv"),
        ("search dense --collection base.npy --queries base.npy --out out.ivecs --values out.fvecs --run out.run", "base.npy"),
        ("search metric --collection base.npy --queries base.npy --k 3 --out out --run out.run", "base.npy"),
        ("vectors --collection docs.tsv --topics topics.tsv --dimensions 4 --out out.npy --ids-out out.ids --topics-out out.fvecs", "topics.tsv"),
        ("features --collection docs.tsv --topics topics.tsv --candidates 5 --out out --candidates-out out.run", "docs.tsv"),
        ("agreement --labels qrels qrels2 --pool unlabelled --out out", "qrels qrels2 unlabelled"),
        ("export --model card.m --to c --names names --check test.txt --out out", "card.m names test.txt"),
        ("export --model card.m --to elasticsearch --names names --feature-set set.json --out out", "set.json"),
        ("serve --model text.m --collection docs.tsv --index text.index --token-file token --access-log of/log --listen 127.0.0.1:0",
         "text.m docs.tsv text.index token"),
        ("sample --documents 60 --features 3 --queries 6 --out-dir of", ""),
        ("discretize --train train.txt --out-dir of --discretizer-out of/cuts", "train.txt"),
        ("discretize --discretizer cuts --apply test.txt --out-dir of", "cuts"),
        ("fit --train train.txt --pool whole.txt --discretizer cuts --members linear --model out", "whole.txt cuts"),
        ("fit --train pool --members linear --feature-table table.tsv --model out", "table.tsv"),
        ("explain --train train.txt --test test.txt --names names --qid 0 --rank 1 --out out", "names"),
        ("inspect --model labels.m --names names --train train.txt --bootstrap 2 --out out", "names train.txt"),
        ("inspect --model pool.m --train train.txt --pool whole.txt --bootstrap 2 --out out", "pool.m train.txt whole.txt"),
        ("evaluate --qrels people --machine-qrels qrels2 --human-sample random --run found.run --out out", "people qrels2"),
        ("evaluate --folds folds --feature 1 --out out", "folds/Fold2/test.txt"),
        ("experiment --folds folds --out-dir of --rank-size 2 --reduce-size none --baselines feature --permutations 99 "
         "--settings settings --scores theirs=theirs", "theirs/Fold1.txt settings"),
        ("report result --folds folds --bench bench.jsonl --out out", "bench.jsonl"),
        ("search text --collection classed.tsv --queries asked.tsv --labels --votes majority --classes out.classes --out out", "classed.tsv"),
        ("search dense --collection base.fvecs --queries base.fvecs --ids row-ids --query-ids row-ids --labels labels.idx "
         "--query-labels labels.idx --votes majority --classes out.classes --out out", "row-ids labels.idx"),
        ("vectors --collection docs.tsv --dimensions 4 --out out.npy --topics few.tsv --topics-out out.topics.npy --topic-ids-out out.ids "
         "--fold-in topics.tsv --fold-in-out out.more.npy --fold-in-ids-out out.more", "topics.tsv"),
        ("fuse --run run run2 --distances run2 --out out", "run2"),
        ("features --pool unlabelled --join clicks.csv --names-out out.names --out out", "unlabelled clicks.csv"),
        ("features --collection docs.tsv --topics topics.tsv --candidates 5 --vectors base.fvecs --topic-vectors asked.fvecs "
         "--feature-table-out out.table --out out", "base.fvecs asked.fvecs"),
        ("mine --transactions baskets.txt --min-support 5% --rules --appear appear --out out", "appear"),
        ("mine --train train.txt --discretizer cuts --min-support 5% --out out", "cuts"),
        ("reduce --train train.txt --discretizer cuts --oracle file:labels --out out", "labels cuts"),
        ("label --pool numbers --unlabelled -1 --names names --guidelines guide --max-documents 3 --resume of/answers --ids out.ids "
         "--discretizer-out out.cuts --out out --listen 127.0.0.1:0", "names guide"),
    )

    # Verbs and options that name files, and why no line has them.
    LEFT_OUT = {verb: {option: why for why, options in of.items() for option in options} for verb, of in {
        "": {"the same for all verbs: common_test.py": ("--manifest",), "read as by fit": ("--group",), "a program": ("--lightgbm",)},
        "rank": {"read as by fit": ("--card", "--discretizer", "--monotone", "--settings")},
        "explain": {"read as by fit": ("--card", "--discretizer", "--monotone", "--settings")},
        "tune": {"read as by fit": ("--discretizer",), "is also extended: tune_test.py": ("--resume",)},
        "reduce": {"read as by label": ("--names", "--show", "--topics"), "exit code 5: labels_test.py": ("--pending",),
                   "are also extended: labels_test.py, judge_test.py": ("--resume", "--judged")},
        "label": {"read as by reduce": ("--discretizer",), "is also extended: judge_test.py": ("--judged",)},
        "pipeline": {"read as by experiment": ("--scores",), "read as by features": ("--vectors", "--topic-vectors")},
        "serve": {"read by OpenSSL: serve_test.py": ("--certificate", "--client-roots", "--key")}}.items()}

    def run_line(self, line, meanwhile=lambda process: None, faults=None):
        """Exit code, messages and outputs of a run whose pages for labels are answered."""
        shutil.rmtree(self.folder / "of", ignore_errors=True)
        for path in self.folder.glob("out*"):
            path.unlink()
        (self.folder / "of").mkdir()
        env = {**os.environ, "LD_PRELOAD": str(self.io_faults), "RULERANK_IO_FAULTS": faults} if faults else None
        process, said = self.start(*line.split(), "--quiet", env=env), []

        def read():
            for raw in process.stderr:
                said.append(raw.decode())
                for host in SERVER.findall(said[-1]):
                    said.pop()
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        (self.folder / "out").write_bytes(ask_server(host))
                    process.terminate()
                    break
                for page in ADDRESS.findall(said[-1] if said else ""):
                    said.pop()
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        answer_page(*page)
        reader = threading.Thread(target=read)
        reader.start()
        meanwhile(process)
        reader.join()
        process.communicate(timeout=harness.HANGS)
        return process.returncode, "".join(said), self.outputs()

    def outputs(self):
        """Bytes by name of what a run left, without the files that have seconds in them."""
        paths = [*self.folder.glob("out*"), *(path for path in (self.folder / "of").rglob("*") if path.suffix in (".run", ".txt", ".md"))]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def try_change(self, line, name, change, seconds, before, draw):
        """The outcome of a run during which an input was changed: 'ended', 'met' (code 3) or 'taken' (the new file was read)."""
        path = self.folder / name
        data = path.read_bytes()
        os.utime(path, (time.time() - 3600,) * 2)
        is_at_work = None

        def disturb(process):
            nonlocal is_at_work
            time.sleep(draw.uniform(0, seconds))
            is_at_work = harness.hold(process.pid)
            change(path, draw)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
        try:
            code, errors, left = self.run_line(line, disturb)
            if code == 3:
                self.assertIn(name, errors)
                return "met"
            if (code, left) == (0, before):
                return "passed" if is_at_work else "ended"
            undisturbed = self.run_line(line)
            self.assertEqual((code, left), (undisturbed[0], undisturbed[2]), f"neither the old file nor the new one: {errors}")
            return "taken"
        finally:
            path.unlink()
            path.write_bytes(data)

    def inject(self, lines, size, changes, seed):
        self.write_inputs(size)
        draw = random.Random(seed)
        counts = collections.Counter()
        for line, inputs in lines:
            begin = time.monotonic()
            code, errors, before = self.run_line(line)
            seconds = time.monotonic() - begin
            self.assertEqual(code, 0, (line, errors))
            self.assertTrue(before, line)
            for name in inputs.split():
                for change in draw.sample(CHANGES, changes):
                    with self.subTest(line=line, name=name, change=change.__name__):
                        counts[self.try_change(line, name, change, seconds, before, draw)] += 1
        harness.tell_counts("inputs that change", counts, seed=seed, lines=len(lines))
        self.assertGreater(counts["met"], 0)

    def try_io_faults(self, lines, seed):
        self.io_faults = pathlib.Path(harness.PROGRAM).resolve().parent / "io_faults.so"
        if not self.io_faults.exists():
            self.skipTest(f"needs {self.io_faults}, which is built with the tests")
        self.write_inputs(1)
        draw = random.Random(seed)
        counts = collections.Counter()
        for line, _ in lines:
            code, errors, before = self.run_line(line)
            self.assertEqual(code, 0, (line, errors))
            for faults in (f"short {draw.randrange(1000)}", f"interrupted {draw.randrange(1000)}"):
                with self.subTest(line=line, faults=faults):
                    self.assertEqual(self.run_line(line, faults=faults), (0, "", before))
                    counts["the same"] += 1
            # Each call fails once, but for those beyond the first dozens. After a call whose failure does not matter, such as the
            # close of a lock, others may follow.
            written, passed = [name for name in before if name.startswith("out")], 0
            for call in itertools.count():
                with self.subTest(line=line, call=call):
                    code, errors, left = self.run_line(line, faults=f"fails {call}")
                    if code == 0:
                        self.assertEqual(left, before)
                        counts["passed"] += 1
                        passed += 1
                    else:
                        passed = 0
                        self.assertIn(code, (1, 3), errors)
                        self.assertRegex(errors, "rulerank: error: .*(Input/output error|No space left on device|cannot be)")
                        kept = {name: data for name, data in left.items() if name.startswith("out")}
                        # The first of several may be in its place.
                        self.assertLess(len(kept), max(len(written), 1), list(kept))
                        self.assertTrue(all(before[name] == data for name, data in kept.items()), list(kept))
                        counts["failed"] += 1
                if passed == 3 or call >= 30:
                    break
        harness.tell_counts("calls that are short or fail", counts, seed=seed, lines=len(lines))
        self.assertGreater(counts["failed"], len(lines))

    def test_every_verb_and_option_with_files_has_a_line(self):
        completion = self.expect(0, "completion", "bash").stdout.decode()
        lines, found = [line for line, _ in self.LINES], 0
        for verb, options in re.findall(r"(?ms)^    '([^']+)'\)\n(.*?)^      esac", completion):
            own = [line.split() for line in lines if line.startswith(verb + " ")]
            left_out = {**self.LEFT_OUT[""], **self.LEFT_OUT.get(verb, {})}
            for option in re.findall(r"(?m)^ +(--[\w-]+)(?:\|\S+)?\) _rulerank_files ;;", options):
                found += 1
                with self.subTest(verb=verb, option=option):
                    self.assertTrue(option in left_out or any(option in words for words in own))
        self.assertGreater(found, 150)

    def test_calls_that_are_short_or_fail(self):
        self.try_io_faults(self.LINES[::6], seed=3)

    def test_slow_calls_of_a_third_of_the_lines(self):
        self.try_io_faults(self.LINES[::3], seed=4)

    def test_slow_calls_of_another_third_of_the_lines(self):
        self.try_io_faults(self.LINES[1::3], seed=5)

    def test_slow_calls_of_the_last_third_of_the_lines(self):
        self.try_io_faults(self.LINES[2::3], seed=6)

    def test_slow_inputs_that_change(self):
        self.inject(self.LINES, size=2, changes=1, seed=1)

    def test_slow_inputs_of_a_third_of_the_lines_that_change_in_every_way(self):
        self.inject(self.LINES[::3], size=4, changes=len(CHANGES), seed=2)

    def test_slow_inputs_of_another_third_of_the_lines_that_change_in_every_way(self):
        self.inject(self.LINES[1::3], size=4, changes=len(CHANGES), seed=3)

    def test_slow_inputs_of_the_last_third_of_the_lines_that_change_in_every_way(self):
        self.inject(self.LINES[2::3], size=4, changes=len(CHANGES), seed=4)


if __name__ == "__main__":
    harness.main()
