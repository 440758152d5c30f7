"""`reduce --oracle command:CMD`: labels from a program, its record, its budgets and its failures."""

import http.server
import json
import os
import pathlib
import signal
import sys
import threading
import time

import harness
from harness import Row
from labels_test import draw

JUDGES = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/judges"


class Judge(harness.CommandLine):
    COMMON = ["--device", "cpu", "--method", "width", "--bins", "4", "--partitions", "3"]
    POOL = ["reduce", "--train", "pool", "--unlabelled", "-1", "--max-label", "2", *COMMON]

    def setUp(self):
        super().setUp()
        self.labels, whole, pool = draw(60, 1)
        self.file("whole", whole)
        self.file("pool", pool)
        self.file("qrels", "".join(f"{d // 10} 0 D{d} {label}\n" for d, label in enumerate(self.labels)).encode())
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, "--out", "want", "--ids", "want.tsv")
        self.want = self.read("want"), self.read("want.tsv")

    def noisy(self, *more):
        return f"command:{sys.executable} {JUDGES / 'noisy.py'} qrels --accuracy 1 {' '.join(more)}"

    def by_program(self, code, oracle, *more):
        done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle", oracle, *more)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stderr.decode()

    def record(self, path="out.judged"):
        lines = [json.loads(line) for line in self.read(path).decode().splitlines()]
        self.assertEqual(lines[0], {"rulerank": "judgments of a program", "version": 1})
        return lines[1:]

    def test_the_same_choice_as_from_a_table(self):
        chosen = self.want[0].count(b"\n")
        for batch in ("0", "1", "7", "60"):
            (self.folder / "out.judged").unlink(missing_ok=True)
            self.by_program(0, self.noisy(), "--batch", batch, "--resume", f"answers{batch}")
            self.assertEqual((self.read("out"), self.read("ids")), self.want)
            record = self.record()
            if batch == "0":
                self.assertEqual(len(record), chosen, "no question is wasted")
            for line in record:
                self.assertEqual(line["label"], self.labels[int(line["docid"][1:])])
                self.assertEqual(line["source"], "noisy-1.0")
                self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        # The record answers a second run, whatever the budget.
        self.by_program(0, self.noisy(), "--judge-calls", "1")
        self.assertEqual((self.read("out"), len(self.record())), (self.want[0], len(record)))

    def test_a_budget_of_calls(self):
        message = self.by_program(5, self.noisy(), "--judge-calls", "4", "--pending", "pending")
        self.assertIn("the budget of calls is used up; see out.judged", message)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(len(self.record()), 4)
        self.assertGreater(self.read("pending").count(b"\n"), 1)
        self.by_program(0, self.noisy(), "--judge-calls", "100")
        self.assertEqual(self.read("out"), self.want[0])

    def test_failures_lose_nothing(self):
        # Ends after the fifth question.
        five = """for i in 1 2 3 4 5; do read -r line || exit; printf '%s\\n' "$line"; done"""
        crashes = f"{five} | {self.noisy()[len('command:'):]}"
        message = self.by_program(0, "command:" + crashes, "--batch", "60")
        self.assertEqual(self.read("out"), self.want[0], message)
        failed = [line["failed"] for line in self.record() if "failed" in line]
        self.assertTrue(failed and all(why.startswith("the program ended: ") for why in failed), failed)
        message = self.by_program(5, "command:echo no", "--judged", "other")
        self.assertIn('found "no", expected a JSON object with the id of a question; see other', message)
        self.assertIn("need labels", message)

    def test_a_full_disk_loses_nothing(self):
        limit = 900  # some answers fit
        self.expect_full_disk(limit, *self.POOL, "--out", "out", "--oracle", self.noisy())
        self.assertFalse((self.folder / "out").exists())
        kept = len(self.record())
        self.assertGreater(kept, 0)
        self.by_program(0, self.noisy())
        self.assertEqual(self.read("out"), self.want[0])
        self.assertEqual(len(self.record()), self.want[0].count(b"\n"))

    def test_killed_at_any_time(self):
        slow = f"{self.noisy()[len('command:'):]} | while read -r line; do sleep .05; echo \"$line\"; done"
        for after in (.1, .3, .5):
            run = self.start(*self.POOL, "--out", "out", "--oracle", "command:" + slow)
            time.sleep(after)
            run.send_signal(signal.SIGKILL if after > .2 else signal.SIGINT)
            run.communicate()
        self.by_program(0, "command:" + slow)
        self.assertEqual(self.read("out"), self.want[0])
        known = [line["docid"] for line in self.record() if "label" in line]
        self.assertEqual(len(known), len(set(known)))

    def test_rounds(self):
        rounds = ["--max-documents", "6", "--rounds", "2", "--per-query", "1", "--committee", "rules,ranksvm"]
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, *rounds, "--out", "want", "--ids", "want.tsv")
        self.by_program(0, self.noisy(), *rounds)
        self.assertEqual((self.read("out"), self.read("ids")), (self.read("want"), self.read("want.tsv")))

    def test_a_model_over_http(self):
        asked, labels = [], self.labels

        class Endpoint(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.append((self.headers["Authorization"], body))
                if len(asked) == 2:
                    return self.send_error(429)
                text = body["messages"][0]["content"]
                number = int(text.split("Text: D")[1].split("\n")[0])
                content = f'I think:\n{{"label": {labels[number]}, "reason": "as it is"}}'
                reply = json.dumps({"model": "model-1", "choices": [{"message": {"content": content}}],
                                    "usage": {"total_tokens": 100}}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Endpoint)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for name, value in {"JUDGE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions",
                            "JUDGE_MODEL": "model", "JUDGE_KEY": "s3cret", "JUDGE_PRICE": "2"}.items():
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name)
        oracle = f"command:{sys.executable} {JUDGES / 'chat.py'}"
        messages = self.by_program(0, oracle, "--manifest", "manifest")
        self.assertEqual(self.read("out"), self.want[0])
        record = self.record()
        self.assertEqual([line["failed"] for line in record if "failed" in line],
                         ["the program reports: the endpoint answered with status 429"])
        answer = next(line for line in record if "label" in line)
        self.assertEqual((answer["source"], answer["reason"], answer["cost"]), ("model-1", "as it is", .2))
        self.assertTrue(all(key == "Bearer s3cret" for key, _ in asked))
        for written in (messages, self.read("out.judged").decode(), self.read("manifest").decode()):
            self.assertNotIn("s3cret", written)

    def test_bad_input(self):
        usage = lambda name, line, message: Row(name, self.read("pool"), "reduce --train {in} --out {out} --unlabelled -1 " + line,
                                                2, message)
        self.check_rows([
            usage("no command", "--oracle command:", "--oracle: found an empty command, expected command:CMD"),
            usage("a record of nobody", "--judged {in}x", "--judged needs --oracle command:CMD"),
            usage("calls of nobody", "--judge-calls 3", "--judge-calls needs --oracle command:CMD"),
            Row("no record", self.read("pool"),
                "reduce --train {in} --out {out} --unlabelled -1 --oracle command:cat --judged {record}", 3,
                "{record}:1:1: found no record of a program's answers", files={"record": b"1 2 3\n"}),
        ])


if __name__ == "__main__":
    harness.main()
