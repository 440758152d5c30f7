"""The page of `label` in a real headless browser (chromium and chromedriver, of Debian's chromium-driver). Without them the test
exits with 77 (skipped).

RULERANK_SCREENSHOT=FILE.png keeps a picture of the page."""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import harness
from label_test import LabelServer


class Browser:
    """A headless chromium, driven over the WebDriver protocol (W3C) that chromedriver speaks."""

    def __init__(self, folder):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       cwd=folder)
        for line in self.driver.stdout:
            found = re.search(rb"on port (\d+)", line)
            if found and b"successfully" in line:
                self.port = int(found[1])
                break
        self.session = ""
        for attempt in range(5):
            try:
                self.session = "/session/" + self.new_session(f"{folder}/chromium{attempt}")
                return
            except RuntimeError as error:  # of a machine on which chromium is not there within chromedriver's minute
                failed = error
        self.driver.kill()
        self.driver.communicate()
        raise failed

    def new_session(self, folder):
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--disable-background-networking", "--window-size=1100,820", f"--user-data-dir={folder}"]}
        hangs = 1000 * harness.HANGS
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "timeouts": {"script": hangs, "pageLoad": hangs},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        return made["sessionId"]

    def call(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.HANGS)
        link.request(method, self.session + path, json.dumps(body) if body is not None else None,
                     {"Content-Type": "application/json"})
        value = json.loads(link.getresponse().read())["value"]
        link.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(value["message"])
        return value

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, css):
        return next(iter(self.call("POST", "/element", {"using": "css selector", "value": css}).values()))

    def click(self, css):
        self.call("POST", f"/element/{self.find(css)}/click", {})

    def type(self, css, text):
        self.call("POST", f"/element/{self.find(css)}/value", {"text": text})

    def press(self, key):
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def develop(self, command, **parameters):
        """A command of Chrome's DevTools protocol."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("GET", "/screenshot")))

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def requested(self):
        """The addresses that pages asked for, but those of the tab that chromium opens by itself."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("chrome://")]

    def processes(self):
        """The ids of the processes that work for it."""
        parents = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        found, more = set(), {self.driver.pid}
        while more:
            found |= more
            more = {process for process, parent in parents.items() if parent in found} - found
        return found

    def close(self):
        try:
            self.call("DELETE", "")
        except (OSError, RuntimeError, http.client.HTTPException):
            pass
        self.driver.terminate()
        self.driver.communicate()


class InABrowser(LabelServer):
    def setUp(self):
        super().setUp()
        self.answered = []
        self.browser = Browser(self.folder)
        self.addCleanup(self.browser.close)

    def wait(self, script, *arguments):
        deadline = time.monotonic() + harness.SHOWS
        while time.monotonic() < deadline:
            found = self.browser.run("return " + script, *arguments)
            if found:
                return found
            time.sleep(0.02)
        self.fail(f"never: {script}; the page says {self.browser.run('return document.body.innerText')}")

    def begin(self, *more):
        self.serve(*more)
        self.browser.open(self.address)
        self.browser.type("#labeller", "An\n")

    def document(self, answers):
        """The document on the page when so many have been answered."""
        docid = self.wait("busy === false && now && (now.answers === arguments[0] || now.state === 'done') && "
                          "(now.state === 'done' ? 'done' : document.getElementById('docid').textContent)", answers)
        return docid if docid == "done" else int(docid[1:])

    def test_by_click_and_by_key_to_the_end(self):
        self.begin()
        answers = 0
        while (document := self.document(answers)) != "done":
            label = self.labels[document]
            if answers == 2:  # a wrong one, taken back by a click
                self.browser.press(str((label + 1) % 3))
                self.document(3)
                self.browser.click("#undo")
                self.assertEqual(self.document(2), document)
            if answers == 3:
                self.browser.press("t")
                self.assertIn("More of the same. " * 60, self.browser.run("return document.getElementById('text').textContent"))
                self.browser.press("t")
                marked = self.browser.run("return [...document.querySelectorAll('#text mark')].map(m => m.textContent)")
                self.assertIn("winged", marked)
                self.assertEqual(self.browser.run("return document.querySelectorAll('#question img, #question script').length"), 0)
                self.assertIn("<script>", self.browser.run("return document.getElementById('text').textContent + "
                                                           "document.getElementById('title').textContent"))
            if answers == 32:  # 10 labels other than the most frequent one
                self.wait("document.getElementById('expected').textContent.includes('more expected')")
                if os.environ.get("RULERANK_SCREENSHOT"):
                    self.browser.screenshot(os.environ["RULERANK_SCREENSHOT"])
            if answers % 2:
                self.browser.press(str(label))
            else:
                self.browser.click(f"#label-{label}")
            answers += 1
        self.assertGreater(answers, 32)
        self.assertNotIn("taken", self.browser.run("return document.title"))
        self.browser.press("\ue007")
        self.wait("document.getElementById('progress').textContent.startsWith('Ended')")
        self.expect_result()
        self.assertEqual([entry["message"] for entry in self.browser.log("browser")], [])
        for url in self.browser.requested():
            self.assertTrue(url.startswith((f"http://127.0.0.1:{self.port}/", "data:")), url)
            self.assertNotIn(self.token, url.split("#")[0])

    def texts(self, css):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", css)

    def test_what_stands_beside_the_text(self):
        """Why, what it brings, the features and the labelled neighbours are those that the program sends."""
        self.begin()
        for answers in range(12):
            document = self.document(answers)
            if answers in (0, 1, 5, 11):
                asked = self.post("/show", document=document)["question"]
                self.assertEqual(self.browser.run("return document.getElementById('why').textContent"), asked["why"])
                self.assertRegex(asked["why"], r"^the (most representative document|document with the fewest rules \(\d+\)) of "
                                 r"partition [0-2]$")
                self.assertEqual(self.texts("#brings li"), asked["brings"])
                self.assertRegex(asked["brings"][0], r"^\d+ of its \d+ itemsets of at most \d features? (is|are) new here")
                rows = self.pool_values(document)
                shown = list(zip(self.texts("#features td:first-child"), self.texts("#features td:last-child")))
                self.assertEqual(shown, [(f["value"], f["range"]) for f in asked["features"]])
                self.assertGreater(len(shown), 3)
                for value, about in shown:
                    number = re.match(r"feature (\d+) ", about)[1]
                    self.assertEqual(float(value), float(rows[number]))
                near = self.texts("#neighbours li")
                self.assertEqual(len(near), min(answers, 3))
                for line, label, neighbour in zip(near, self.texts("#neighbours b"), asked["neighbours"]):
                    of = int(neighbour["docid"][1:])
                    self.assertIn(of, self.answered)
                    self.assertEqual(label, f"label {self.labels[of]}")
                    self.assertTrue(line.startswith(f"label {self.labels[of]} Wing {of}"), line)
                    same = sum(rows[f] == value for f, value in self.pool_values(of).items())
                    self.assertIn(f"(D{of}, {same} of 14 features equal", line)
            self.answered.append(document)
            self.browser.press(str(self.labels[document]))
        self.document(12)

    def pool_values(self, document):
        """{feature: value} of a line of the pool; four values and four bins: alike is equal."""
        line = self.read("pool").decode().splitlines()[document]
        return dict(word.split(":") for word in line.partition(" # ")[0].split()[2:])

    def test_undo_and_estimate_by_key(self):
        self.begin()
        first = self.document(0)
        self.browser.press("e")
        self.wait("document.getElementById('expected').textContent === 'too few answers to estimate how many more'")
        self.browser.press(str(self.labels[first]))
        second = self.document(1)
        self.browser.press("s")
        self.document(2)
        self.browser.press("u")
        self.assertEqual(self.document(1), second)
        self.browser.press("u")
        self.assertEqual(self.document(0), first)
        for answers in range(31):
            document = self.document(answers)
            self.browser.press(str(self.labels[document]))
        self.document(31)
        self.wait("!estimating && estimatedAt === 30")
        by_itself = self.browser.run("return document.getElementById('expected').textContent")
        self.browser.run("document.getElementById('expected').textContent = ''")
        self.browser.press("e")
        self.wait("!estimating && estimatedAt === 31")
        found = self.post("/estimate")
        self.assertEqual(self.browser.run("return document.getElementById('expected').textContent"),
                         f"about {found['documents']} more expected ({found['low']} to {found['high']})")
        done = self.browser.run("const bar = document.getElementById('done'); return [bar.hidden, bar.value, bar.max]")
        self.assertEqual(done, [False, 31, 31 + found["documents"]])
        self.assertRegex(by_itself, r"^about \d+ more expected \(\d+ to \d+\)$")

    def test_notes_and_undo_back_to_an_answer(self):
        self.begin()
        asked = []
        for answers in range(4):
            asked.append(self.document(answers))
            if answers == 1:
                self.browser.type("#note", "only 2 pages\n")  # a digit in a note is no label
            self.browser.press(str(self.labels[asked[-1]]))
        self.document(4)
        self.browser.click("#mine summary")
        self.wait("document.querySelectorAll('#mine tr').length === 4")
        self.assertIn("(only 2 pages)", self.texts("#mine tr")[2])
        self.assertEqual(self.browser.run("return document.getElementById('note').value"), "")
        if os.environ.get("RULERANK_SCREENSHOT_MINE"):
            self.browser.screenshot(os.environ["RULERANK_SCREENSHOT_MINE"])
        self.browser.click("#mine tr:nth-child(3) button:last-child")
        self.assertEqual(self.document(1), asked[1])
        self.wait("document.querySelectorAll('#mine tr').length === 1")

    def test_two_labellers_differ_and_the_program_is_killed(self):
        self.begin("--answers", "2")
        document = self.document(0)
        self.post("/answer", "Bo", document=document, answer=(self.labels[document] + 1) % 3)
        self.browser.press("s")
        self.wait("!document.getElementById('disputes').hidden")
        shown = self.browser.run("return document.getElementById('disputes').innerText")
        self.assertRegex(shown, rf"document D{document}.*Bo: \d, An: skip")
        self.browser.click("#disputes button")
        self.wait("document.getElementById('before').textContent === 'You answered skip.'")
        self.process.kill()
        self.process.communicate()
        self.browser.press("0")
        self.wait("document.getElementById('message').textContent.startsWith('The program has stopped')")
        self.serve("--answers", "2")
        self.browser.open(self.address)
        self.browser.type("#labeller", "An\n")  # another port is another site: it has no name yet
        self.wait("now && !document.getElementById('disputes').hidden")
        self.assertEqual(self.browser.run("return now.disputes.length"), 1)

    def test_a_name_that_is_refused_can_be_given_anew(self):
        self.serve()
        self.browser.open(self.address)
        self.browser.type("#labeller", "@anna\n")
        self.wait("document.getElementById('message').textContent.includes('found an invalid name of a labeller')")
        self.assertFalse(self.browser.run("return document.getElementById('name').hidden"))
        self.assertIsNone(self.browser.run("return localStorage.getItem('rulerank labeller')"))
        self.browser.run("document.getElementById('labeller').value = ''")
        # Read the focus when the form is hidden: the browser moves it only when it draws the page again.
        self.browser.run("new MutationObserver(() => focused = document.activeElement.tagName)"
                         ".observe(document.getElementById('name'), {attributes: true})")
        self.browser.type("#labeller", "Кириллова-Александрова\n")
        self.document(0)
        self.assertEqual(self.browser.run("return focused"), "BODY", "the first key would go to the hidden field")
        self.assertTrue(self.browser.run("return document.getElementById('name').hidden"))
        self.assertEqual(self.browser.run("return localStorage.getItem('rulerank labeller')"), "Кириллова-Александрова")

    def test_without_the_token_nothing_is_shown(self):
        self.serve()
        self.browser.open(self.address.split("#")[0])
        self.wait("document.getElementById('message').textContent.includes('lacks the part from #')")
        self.assertTrue(self.browser.run("return document.getElementById('question').hidden"))


if __name__ == "__main__":
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        print("label_page_test.py: Skipped\nneeds chromium and chromedriver")
        sys.exit(77)
    harness.main()
