#!/usr/bin/env python3
"""draw_start_page.py RULERANK: draws docs/reference/verbs/start.png, the page on which `rulerank start` asks for judgments.

The documents, queries and judgments of docs/collection give the labels. Needs chromium, chromedriver and Pillow, as draw_label_page.py does.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from draw_label_page import ROOT, Browser, keep

PICTURE = ROOT / "docs/reference/verbs" / "start.png"
COLLECTION = ROOT / "docs" / "collection"
LABELS = 20
ANSWERED = 12  # of the judgments


def answer(browser, grades, most):
    """Labels documents on a page by the judgments until `most` are labelled, or all are."""
    for answers in range(most + 1):
        while browser.run("return !now || (now.state === 'question' && (busy || now.answers < arguments[0]))", answers):
            pass
        if answers == most or browser.run("return now.state") != "question":
            break
        question = browser.run("return now.question")
        browser.press(str(grades.get((question["qid"], question["docid"]), 0)))


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    grades = {}
    for line in (COLLECTION / "qrels").read_text().splitlines():
        qid, _, document, grade = line.split()
        grades[qid, document] = int(grade)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for text in ("docs.jsonl", "topics.tsv"):
            shutil.copy(COLLECTION / text, folder)
        server = subprocess.Popen(
            [program, "start", "docs.jsonl", "topics.tsv", "--labels", str(LABELS), "--judged-queries", "4", "--label-names",
             "not relevant,relevant,highly relevant", "--listen", "127.0.0.1:0"], cwd=folder, stderr=subprocess.PIPE, text=True)
        browser = Browser(folder)
        try:
            for most in (LABELS, ANSWERED):
                address = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+#\S+", line)))
                browser.open(address)
                browser.type("#labeller", "Anna\n")
                answer(browser, grades, most)
                if most == LABELS:
                    browser.click("#finish")
            keep(browser, PICTURE, 32)
        finally:
            browser.close()
            server.terminate()
            server.communicate()


if __name__ == "__main__":
    main()
