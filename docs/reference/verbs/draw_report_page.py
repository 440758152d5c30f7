#!/usr/bin/env python3
"""draw_report_page.py RULERANK: draws docs/reference/verbs/report.png, the top of a page of `rulerank report` in a browser.

The page shows an experiment on synthetic documents. Needs chromium and chromedriver, as the page's tests do, and Pillow, which makes
the file small.
"""

import pathlib
import subprocess
import sys
import tempfile

from draw_label_page import ROOT, Browser, keep

PICTURE = ROOT / "docs/reference/verbs" / "report.png"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*arguments):
            subprocess.run([program, *arguments, "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        run("sample", "--documents", "6000", "--features", "20", "--queries", "150", "--out-dir", "drawn")
        run("experiment", "--folds", "drawn", "--out-dir", "result", "--rank-size", "3", "--random-draws", "3",
            "--permutations", "1000", "--metrics", "MAP,NDCG@1,NDCG@10")
        run("report", "result", "--title", "Synthetic documents", "--out", "page.html")
        browser = Browser(folder)
        try:
            browser.call("POST", "/window/rect", {"width": 1100, "height": 1500})
            browser.open(f"file://{folder}/page.html")
            end = browser.run("return Math.ceil(document.querySelector('table').getBoundingClientRect().bottom)")
            frame = 1500 - browser.run("return innerHeight")
            browser.call("POST", "/window/rect", {"width": 1100, "height": end + 12 + frame})
            keep(browser, PICTURE, 64)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
