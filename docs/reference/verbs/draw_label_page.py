#!/usr/bin/env python3
"""draw_label_page.py RULERANK: draws docs/reference/verbs/label.png, the page of `rulerank label` in a browser.

The script generates the pool, with texts of a few sentences. Needs chromium and chromedriver, as the page's tests do, and Pillow,
which makes the file small.
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[3]
PICTURE = ROOT / "docs/reference/verbs" / "label.png"
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from label_page_test import Browser  # noqa: E402

QUERIES = ["which wings bear flutter at high speed", "how hot does the nose of a blunt body get"]
SUBJECTS = ["A thin wing", "A swept wing", "A flat plate", "A blunt body", "A cone at incidence"]
EVENTS = ["bears flutter up to a speed that its stiffness sets", "is heated most where the flow comes to rest",
          "loses lift when the flow leaves its upper side", "was tested at speeds between 200 and 900 m/s"]
FEATURES = ["BM25 of title", "BM25 of text", "length", "year", "citations", "words in title"]


def write_pool(folder):
    chance = random.Random(3)
    with open(folder / "pool.txt", "w") as pool, open(folder / "documents.jsonl", "w") as texts:
        for number in range(60):
            values = " ".join(f"{f}:{chance.randrange(1, 9) * (0.5 if f < 3 else 4)}" for f in range(1, 7))
            pool.write(f"-1 qid:{1 + number // 30} {values} #docid = W{number}\n")
            subject = chance.choice(SUBJECTS)
            text = " ".join(f"{chance.choice(SUBJECTS)} {chance.choice(EVENTS)}." for _ in range(7))
            texts.write(json.dumps({"id": f"W{number}", "title": f"{subject} {chance.choice(EVENTS)}", "text": text}) + "\n")
    (folder / "topics.tsv").write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(QUERIES, 1)))
    (folder / "names.tsv").write_text("".join(f"{n}\t{name}\n" for n, name in enumerate(FEATURES, 1)))


def keep(browser, picture, colours):
    """Writes a picture of the window without its scroll bars, in few colours."""
    browser.run("document.documentElement.style.scrollbarWidth = 'none'")
    browser.screenshot(picture)
    Image.open(picture).convert("RGB").quantize(colours, method=Image.Quantize.MAXCOVERAGE, dither=0).save(picture, optimize=True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_pool(folder)
        server = subprocess.Popen(
            [program, "label", "--pool", "pool.txt", "--show", "documents.jsonl", "--topics", "topics.tsv", "--names",
             "names.tsv", "--label-names", "not relevant,mentions it,answers in part,answers",
             "--max-documents", "20", "--listen", "127.0.0.1:0"], cwd=folder, stderr=subprocess.PIPE, text=True)
        browser = None
        try:
            address = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
            browser = Browser(folder)
            browser.open(address)
            browser.type("#labeller", "Anna\n")
            for answers in range(13):
                while browser.run("return busy || !now || now.answers < arguments[0]", answers):
                    pass
                if answers < 12:
                    browser.press(str(answers % 4))
            keep(browser, PICTURE, 32)
        finally:
            if browser:
                browser.close()
            server.kill()
            server.communicate()


if __name__ == "__main__":
    main()
