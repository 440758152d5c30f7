#!/usr/bin/env python3
"""report_page.py PAGE.html...: measures how large pages of `report` are, and how soon a headless chromium has them ready.

One JSON line for each page: bytes, the number of queries that the script has, the median and the maximum of five loads, error
messages of scripts, and requests other than the page. A load is the time in milliseconds from the start of the navigation to the
end of the page's scripts, on a desktop (1100 pixels) and a phone (390). Needs chromium and chromedriver, as
tests/cli/report_page_test.py does.
"""

import json
import statistics
import sys

import common

sys.path.insert(0, str(common.ROOT / "tests/cli"))
import label_page_test  # noqa: E402

LOADS = 5
READY = "const t = performance.timing; return document.documentElement.dataset.ready && t.domComplete - t.navigationStart"


def measured(browser, page):
    address = page.as_uri()
    line = {"page": page.name, "bytes": page.stat().st_size}
    for name, width in (("desktop", 1100), ("phone", 390)):
        browser.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": 820, "deviceScaleFactor": 1, "mobile": name == "phone"}})
        times = []
        for _ in range(LOADS):
            browser.open(address)
            times.append(browser.run(READY))
        line |= {f"{name}_ms": statistics.median(times), f"{name}_longest_ms": max(times)}
    line["queries"] = browser.run("return JSON.parse(document.getElementById('data').textContent).parts.reduce("
                                  "(n, part) => n + part.qids.length, 0)")
    line["errors"] = len(browser.log("browser"))
    line["other_requests"] = len(set(browser.requested()) - {address})
    return line


def main():
    pages = common.arguments(__doc__, "pages+").pages
    with common.scratch() as folder:
        browser = label_page_test.Browser(folder)
        try:
            browser.open("about:blank")
            browser.requested()  # of the tab that chromium opens itself
            for page in pages:
                print(json.dumps(measured(browser, page)))
        finally:
            browser.close()


if __name__ == "__main__":
    main()
