"""The page of `serve` in a real headless browser (chromium and chromedriver, of Debian's chromium-driver).
Where they are missing it ends with 77: skipped.

With RULERANK_SCREENSHOT=FILE.png it keeps a picture of the page."""

import json
import os
import shutil
import sys
import time

import harness
import serve_test
from label_page_test import Browser
from serve_test import IDS, NAMES, TEST


class InABrowser(serve_test.ServeCommand):
    def setUp(self):
        super().setUp()
        self.browser = Browser(self.folder)
        self.addCleanup(self.browser.close)

    def wait(self, script, *arguments):
        deadline = time.monotonic() + harness.HANGS
        while time.monotonic() < deadline:
            found = self.browser.run("return " + script, *arguments)
            if found:
                return found
            time.sleep(0.02)
        self.fail(f"never: {script}; the page says {self.browser.run('return document.body.innerText')}")

    def cells(self, table):
        return self.browser.run("return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map("
                                "row => [...row.cells].map(cell => cell.textContent))", table)

    def expect_no_other_request(self):
        for url in self.browser.requested():
            self.assertTrue(url.startswith((f"http://127.0.0.1:{self.port}/", "data:")), url)

    def test_a_query_by_hand(self):
        """The ranking and what moved each document are those of the server's answer; the first query is an example."""
        self.serve("--model", f"card={self.fit('m.model')}", "--model", f"all={self.fit('n.model', '--members', 'rules,linear')}")
        self.browser.open(f"http://127.0.0.1:{self.port}/")
        self.wait("document.getElementById('body').value.includes('bm25')")
        self.assertEqual(self.browser.run("return [...document.getElementById('model').options].map(o => o.value)"), ["all", "card"])
        self.browser.click("#rank button")
        self.wait("document.querySelectorAll('#ranking tbody tr').length === 2")
        body = {"features": NAMES, "ids": ["<b>first</b>", *IDS[1:8]], "rows": TEST[:8]}
        self.browser.run("document.getElementById('body').value = arguments[0]", json.dumps(body))
        self.browser.click("#rank button")
        self.wait("document.querySelectorAll('#ranking tbody tr').length === 8")
        answer = self.post("/rank", {**body, "model": "all", "explain": True})
        self.assertEqual([row[1] for row in self.cells("#ranking")], [one["id"] for one in answer["ranking"]])
        self.assertEqual([float(row[2]) for row in self.cells("#ranking")], [one["score"] for one in answer["ranking"]])
        self.browser.click("#ranking tbody tr:nth-child(3)")
        why = answer["explanation"]
        want = {f["name"]: adds for f, adds in zip(why["features"], why["documents"][2]["adds"]) if adds}
        told = {name: float(adds) for name, adds in self.cells("#effects") if name != "(base)"}
        self.assertEqual(sorted(told), sorted(want))
        for name, adds in want.items():
            self.assertAlmostEqual(told[name], adds, delta=1e-5 * abs(adds))
        if os.environ.get("RULERANK_SCREENSHOT"):
            self.browser.screenshot(os.environ["RULERANK_SCREENSHOT"])
        self.browser.run("document.getElementById('body').value = arguments[0]", json.dumps({**body, "rows": [[1, 2]]}))
        self.browser.click("#rank button")
        self.wait("!document.getElementById('message').hidden")
        self.assertEqual(self.browser.run("return document.getElementById('message').textContent"),
                         "found 2 values, expected 3 (at /rows/0)")
        self.expect_no_other_request()

    def test_a_token(self):
        self.serve("--model", self.fit("m.model"), "--token-file", self.file("token", b"0123456789abcdef\n"))
        self.browser.open(f"http://127.0.0.1:{self.port}/")
        self.wait("!document.getElementById('token-field').hidden")
        self.browser.type("#token", "0123456789abcdef\n")
        self.wait("document.getElementById('body').value.includes('bm25')")
        self.expect_no_other_request()

    def test_a_search(self):
        docs = self.file("docs.jsonl", serve_test.Search.DOCUMENTS)
        self.expect(0, "features", docs, self.file("topics.tsv", b"1\tred shoe\n"), "--qrels",
                    self.file("qrels", "".join(f"1 0 d{i} {i % 3}\n" for i in range(40)).encode()), "--out", "pool.csv", "--quiet")
        self.serve("--model", self.fit("m.model", train="pool.csv"), "--collection", docs)
        self.browser.open(f"http://127.0.0.1:{self.port}/")
        self.wait("!document.getElementById('search').hidden")
        self.browser.type("#query", "red shoe\n")
        self.wait("document.querySelectorAll('#ranking tbody tr').length > 10")
        want = self.post("/search", {"query": "red shoe"})["ranking"]
        self.assertEqual([row[1] for row in self.cells("#ranking")], [f"{one['id']}: {one['title']}" for one in want])
        self.expect_no_other_request()


if __name__ == "__main__":
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        print("serve_page_test.py: Skipped\nneeds chromium and chromedriver")
        sys.exit(77)
    harness.main()
