#!/usr/bin/env python3
"""site_browser_test.py FOLDER: opens the site that site_test.py left in FOLDER in a real headless browser. The site requests nothing
from elsewhere, logs no error, shows its pictures, answers its search, and fits the width of a phone.

RULERANK_SCREENSHOT=FOLDER keeps pictures of the pages. Without the site, chromium or chromedriver it exits with 77 (skipped)."""

import contextlib
import functools
import http.server
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time

import markdown

sys.path.insert(0, str(markdown.ROOT / "tests/cli"))
import harness

PAGES = ("docs/index", "docs/concepts/how-it-works", "docs/reference/verbs/reduce", "docs/studies/benchmarks", "reference/eval", "reference/python")


def main():
    html = pathlib.Path(sys.argv[1]).resolve() / "html"
    if not ((html / "index.html").exists() and shutil.which("chromedriver") and shutil.which("chromium")):
        print("site_browser_test.py: Skipped\nneeds the site, chromium and chromedriver")
        return 77
    from label_page_test import Browser  # of tests/cli

    with tempfile.TemporaryDirectory() as folder, served(html) as address:
        browser = Browser(folder)
        try:
            look(browser, address, html)
        finally:
            browser.close()
    return 0


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """The address of a server of the folder."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


def wait(browser, script):
    deadline = time.monotonic() + harness.SHOWS
    while not (found := browser.run("return " + script)):
        assert time.monotonic() < deadline, script
        time.sleep(0.05)
    return found


def look(browser, address, html):
    browser.open("about:blank")
    browser.requested()  # of the tab that chromium opens by itself
    browser.open(f"{address}index.html")
    wait(browser, "location.pathname == '/docs/index.html'")
    for width in (1300, 390):
        browser.call("POST", "/window/rect", {"width": width, "height": 900})
        for page in PAGES:
            browser.open(f"{address}{page}.html")
            assert browser.run("return document.querySelectorAll('h1').length") == 1, page
            wait(browser, "[...document.images].every(i => i.complete)")
            broken = browser.run("return [...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
            assert not broken, (page, broken)
            wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 1, f"{page}: {wide} pixels too wide for {width}"
            picture(browser, f"{page}-{width}")
    # A reader's choice of light or dark, which pictures follow.
    background = "return getComputedStyle(document.body).backgroundColor"
    browser.call("POST", "/window/rect", {"width": 1300, "height": 900})
    browser.open(f"{address}docs/concepts/how-it-works.html")
    seen = set()
    for _ in range(2):
        browser.run("document.querySelector('.theme-toggle').click()")
        seen.add((browser.run("return document.body.dataset.theme"), browser.run(background),
                  browser.run("return getComputedStyle(document.images[0]).colorScheme")))
        browser.run("document.documentElement.style.scrollBehavior = 'auto'; document.images[0].scrollIntoView()")
        picture(browser, f"theme-{browser.run('return document.body.dataset.theme')}")
    assert {(theme, scheme) for theme, _, scheme in seen} == {("light", "light"), ("dark", "dark")}, seen
    assert len({color for _, color, _ in seen}) == 2, seen
    browser.open(f"{address}search.html?q=discretizer")
    found = wait(browser, "document.querySelectorAll('#search-results li').length")
    assert found >= 3, found
    # The pages work from the folder, without a server.
    browser.open(f"file://{html}/docs/concepts/how-it-works.html")
    wait(browser, "[...document.images].every(i => i.complete && i.naturalWidth)")
    addresses = set(browser.requested())
    assert len(addresses) > 2 * len(PAGES), addresses
    away = [asked for asked in addresses if not asked.startswith((address, f"file://{html}/", "data:"))]
    assert not away, away
    said = [entry["message"] for entry in browser.log("browser")
            if entry["level"] != "INFO" and "/favicon.ico " not in entry["message"]]
    assert not said, said


def picture(browser, name):
    if to := os.environ.get("RULERANK_SCREENSHOT"):
        browser.screenshot(f"{to}/{name.replace('/', '-')}.png")


if __name__ == "__main__":
    sys.exit(main())
