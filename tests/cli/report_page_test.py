"""The page of `report` in a real headless browser (chromium and chromedriver, of Debian's chromium-driver). Without them the test
exits with 77 (skipped).

RULERANK_SCREENSHOT=FOLDER keeps pictures of the page."""

import base64
import json
import os
import re
import shutil
import sys

import harness
from label_page_test import Browser
from report_test import EVIL, drawn_experiment

ENTER, LEFT, RIGHT, HOME, END, TAB = "\ue007", "\ue012", "\ue014", "\ue011", "\ue010", "\ue004"

# The contrast (WCAG 2: 4.5 for text, 3 for graphics) of colours with the page's background, lowest first.
CONTRASTS = """
const light = colour => {
  const [r, g, b] = colour.match(/[\\d.]+/g).map(v => v / 255).map(v => v > 0.04045 ? ((v + 0.055) / 1.055) ** 2.4 : v / 12.92);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const paper = light(getComputedStyle(document.body).backgroundColor);
return [...document.querySelectorAll(arguments[0])].map(e => light(getComputedStyle(e)[arguments[1]]))
  .map(l => (Math.max(l, paper) + 0.05) / (Math.min(l, paper) + 0.05)).sort((a, b) => a - b);"""

# The unreadable words of charts: cut off by the chart or the window, overlapping, or with letters smaller than arguments[0]
# pixels.
UNREADABLE = """
const found = [];
for (const figure of document.querySelectorAll('figure')) {
  const words = [...figure.querySelectorAll(':scope > svg text')].map(t => [t.textContent, t.getBoundingClientRect(),
    t.ownerSVGElement.getBoundingClientRect(), parseFloat(getComputedStyle(t).fontSize) * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b)]);
  for (const item of figure.querySelectorAll('.legend li, .bars span')) {
    const range = document.createRange();
    range.selectNodeContents(item);
    words.push([item.textContent, range.getBoundingClientRect(), figure.getBoundingClientRect(), parseFloat(getComputedStyle(item).fontSize)]);
  }
  for (const [i, [text, at, room, size]] of words.entries()) {
    if (at.left < Math.max(0, room.left) - 1 || at.right > Math.min(innerWidth, room.right) + 1 || at.top < room.top - 1 ||
        at.bottom > room.bottom + 1) found.push('cut off: ' + text);
    if (size < arguments[0]) found.push('small: ' + text);
    for (const [other, it] of words.slice(i + 1))
      if (at.left < it.right - 1 && it.left < at.right - 1 && at.top < it.bottom - 2 && it.top < at.bottom - 2)
        found.push('on each other: ' + text + ' | ' + other);
  }
}
return found;"""


class InABrowser(harness.CommandLine):
    def setUp(self):
        super().setUp()
        drawn_experiment(self, qid=lambda qid: f"{qid}{EVIL}", docid=lambda docid: f"{docid}{EVIL}")
        lines = [{"engine": engine, "shape": "web", "seconds": seconds, "bytes": 2e6, "ops": ops, "peak_bytes_per_s": 4.28e12,
                  "peak_ops_per_s": 989e12} for engine, seconds, ops in (("one", 1e-4, 1e6), ("many", 2e-4, 1e8))]
        self.file("roof.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
        self.expect(0, "report", "result", "--bench", "roof.jsonl", "--out", "page.html")
        self.address = f"file://{self.folder}/page.html"
        self.browser = Browser(self.folder)
        self.addCleanup(self.browser.close)
        self.browser.open("about:blank")
        self.browser.requested()  # of the tab that chromium opens by itself

    def open(self):
        self.browser.open(self.address)
        if self.browser.run("return document.documentElement.dataset.ready") != "yes":
            self.skipTest("built without d3: the page has no script")

    def text(self, css):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", css)

    def expect_quiet(self):
        """Nothing was asked for but the page, and the console has nothing."""
        self.assertEqual(set(self.browser.requested()), {self.address})
        self.assertEqual(self.browser.log("browser"), [])
        self.assertNotEqual(self.browser.run("return document.title"), "taken")

    def picture(self, name):
        if folder := os.environ.get("RULERANK_SCREENSHOT"):
            self.browser.screenshot(f"{folder}/{name}.png")

    def test_clicks_and_keys(self):
        with harness.OwnSeconds(self.browser.processes) as took:
            self.open()
        self.assertLess(took.seconds, 5 * harness.slowness())
        summary = self.text(".summary")
        self.assertRegex(summary, r"^NDCG@10: [+−-]\d\.\d{4} on average over the queries; \d+ won, ")
        # A click on a line's name takes the line away, another brings it back.
        figure = "figure[data-chart]:has(> svg .line)"
        lines = f"return document.querySelectorAll('{figure} > svg .line').length"
        before = self.browser.run(lines)
        self.assertGreater(before, 3)
        self.browser.click(f"{figure} .legend button")
        self.assertEqual(self.browser.run(lines), before - 1)
        self.browser.click(f"{figure} .legend button")
        self.assertEqual(self.browser.run(lines), before)
        # A query that was won: its documents.
        self.browser.click(".part .columns button")
        self.assertIn(EVIL, self.text(".query h4"))
        self.assertIn(EVIL, self.text(".query td:last-child"))
        self.assertIn("rules on the score of document", self.text(".query"))
        self.assertNotIn("> 10", self.text(".query table"))
        self.picture("query")
        # Keys: the first and the last query of the picture.
        self.browser.run("document.querySelector('.part figure svg').focus()")
        self.browser.press(HOME)
        first = self.text(".part .says")
        self.browser.press(RIGHT)
        self.assertNotEqual(self.text(".part .says"), first)
        self.browser.press(LEFT)
        self.assertEqual(self.text(".part .says"), first)
        self.browser.press(END)
        self.browser.press(ENTER)
        last = self.text(".part .says").split(":")[0]
        self.assertTrue(self.text(".query h4").startswith(last.split(" (")[0][:12]))
        # A query that is neither won nor lost: no rules, and why.
        middle = self.browser.run("const rows = [...document.querySelectorAll('.part .columns button')].map(b => b.textContent);"
                                  "return JSON.parse(document.getElementById('data').textContent).parts[0].qids"
                                  ".find(qid => !rows.includes(qid));")
        self.browser.run("const s = document.querySelector('.choices input'); s.value = arguments[0];"
                         "s.dispatchEvent(new Event('change'))", middle)
        self.assertRegex(self.text(".query"), "Rules of .* on this query are not in this page, which has them for queries that")
        # Another measure, another pair.
        for label, value in (("measure", "0"), ("system", "3"), ("against", "2")):
            self.browser.run("const s = document.querySelector(`[data-choice='${arguments[0]}']`); s.value = arguments[1];"
                             "s.dispatchEvent(new Event('change'))", label, value)
        self.assertNotEqual(self.text(".summary"), summary)
        self.assertTrue(self.text(".summary").startswith("MAP: "))
        self.browser.run("const s = document.querySelector(`[data-choice='system']`); s.value = s.options.length - 1;"
                         "s.dispatchEvent(new Event('change'))")
        self.assertIn("Rules of feature are not shown: the folder keeps no training set or model of feature.",
                      self.text(".query"))
        self.expect_quiet()

    def test_tables_are_sorted_by_a_click(self):
        self.open()
        column = ("return [...document.querySelector('table').rows].slice(1).map(row => row.cells[arguments[0]].textContent)")
        state = "return [...document.querySelectorAll('table')[0].tHead.rows[0].cells].map(head => head.getAttribute('aria-sort'))"
        names = self.browser.run(column, 0)
        documents = self.browser.run(column, 1)
        self.assertIn("", documents)
        press = "document.querySelector('table').tHead.rows[0].cells[arguments[0]].querySelector('button').focus()"
        self.browser.run(press, 1)
        self.browser.press(ENTER)
        known = [float(text) for text in documents if text]
        shown = self.browser.run(column, 1)
        self.assertEqual([float(text) for text in shown if text], sorted(known, reverse=True))
        self.assertEqual(shown[-1], "")  # none: last either way
        self.assertEqual(self.browser.run(state)[:3], [None, "descending", None])
        self.browser.press(ENTER)
        shown = self.browser.run(column, 1)
        self.assertEqual([float(text) for text in shown if text], sorted(known))
        self.assertEqual(shown[-1], "")
        self.browser.click("table th:first-child button")
        self.assertEqual(self.browser.run(column, 0), sorted(names))
        self.assertEqual(self.browser.run(state)[:2], ["ascending", None])
        # Values have marks of significance before them.
        self.browser.click("table th:nth-child(3) button")
        values = [float(text.strip("\u2191\u2193 ")) for text in self.browser.run(column, 2)]
        self.assertEqual(values, sorted(values, reverse=True))
        self.expect_quiet()

    def test_a_table_that_is_cut_shows_it(self):
        """A shadow at the side on which there is more, without a script too."""
        self.browser.develop("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.develop("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
        self.browser.open(self.address)

        def edges():
            """How dark the paper right of the table's middle row is, at its last pixels."""
            self.browser.screenshot(self.folder / "cut.png")
            return (self.folder / "cut.png").read_bytes()

        cut = self.browser.run("const of = document.querySelector('.scroll'); of.scrollIntoView(); return of.scrollWidth > of.clientWidth + 20")
        self.assertTrue(cut)
        before = edges()
        self.browser.run("document.querySelector('.scroll').style.background = 'none'")
        self.assertNotEqual(before, edges())

    def test_numbers_of_the_script_are_those_of_the_text(self):
        self.open()
        said = self.text(".summary")
        static = self.browser.run(
            "const [system, against] = [...document.querySelectorAll('.choices select')].map(s => s.selectedOptions[0].textContent);"
            "return [...document.querySelectorAll('details')].find(d => d.querySelector('summary').textContent === "
            "`${system} against ${against}`).querySelector('p').textContent")
        self.assertEqual(said.split("queries; ")[1].replace(" after Holm's correction", ""),
                         static.split("average; ")[1].replace(" after Holm's correction.", ""))

    def test_nothing_overlaps_or_is_wider_than_a_phone(self):
        for width in (1100, 390):
            self.browser.call("POST", "/window/rect", {"width": width, "height": 820})
            self.open()
            self.picture(f"page-{width}")
            shown = self.browser.run("return [document.documentElement.scrollWidth, window.innerWidth]")
            self.assertLessEqual(shown[0], shown[1])
            empty = self.browser.run(
                "return [...document.querySelectorAll('figure > svg')].filter(svg => svg.getBoundingClientRect().height < 30 "
                "|| !svg.querySelector('.line, .bar, .mark, path[class^=s]')).length")
            self.assertEqual(empty, 0)
            overlapping = self.browser.run("""
                const hits = [];
                for (const svg of document.querySelectorAll('figure > svg')) {
                  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
                  for (const [i, [a, p]] of texts.entries())
                    for (const [b, q] of texts.slice(i + 1))
                      if (p.width && q.width && p.left < q.right - 1 && q.left < p.right - 1 &&
                          p.top < q.bottom - 2 && q.top < p.bottom - 2) hits.push(a + ' | ' + b);
                }
                return hits;""")
            self.assertEqual(overlapping, [])
            self.expect_quiet()

    def test_several_experiments_are_no_wider_than_a_phone(self):
        """Their names are long, in lists to choose from too."""
        names = ["result", "another_experiment_with_a_name_" + 60 * "x", "and-one-more-of-the-same-kind-with-random-seed-7"]
        for name in names[1:]:
            shutil.copytree(self.folder / "result", self.folder / name)
        self.expect(0, "report", *names, "--out", "page.html")
        for script in (True, False):
            self.browser.develop("Emulation.setScriptExecutionDisabled", value=not script)
            self.browser.develop("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
            self.browser.open(self.address)
            self.picture(f"several-{script}")
            shown = self.browser.run("return [document.documentElement.scrollWidth, window.innerWidth]")
            self.assertEqual(shown, [360, 360])
            wide = self.browser.run("return [...document.querySelectorAll('select, nav a')].map(of => of.getBoundingClientRect())"
                                    ".filter(at => at.right > window.innerWidth + 1).length")
            self.assertEqual(wide, 0)

    def test_links_are_large_enough_for_a_finger(self):
        """24 pixels and more (WCAG 2.2, target size), where one is under the other, too."""
        self.browser.develop("Emulation.setDeviceMetricsOverride", width=390, height=820, deviceScaleFactor=2, mobile=True)
        self.browser.open(self.address)
        heights = self.browser.run("return [...document.querySelectorAll('nav a')].map(of => of.getBoundingClientRect().height)")
        self.assertGreater(len(heights), 2)
        self.assertGreaterEqual(min(heights), 24)

    def test_the_first_measure_is_seen_on_a_phone(self):
        """The table of means: names and the first measure are there without scrolling, the names with it too."""
        names = ["result", "another_experiment_with_a_name_" + 60 * "x"]
        shutil.copytree(self.folder / "result", self.folder / names[1])
        cells = ("const [table, cell] = [document.querySelector('table'), arguments[0]];"
                 "return [...table.rows].map(row => row.cells[cell]).map(of => {const text = document.createRange();"
                 "text.selectNodeContents(of); const at = text.getBoundingClientRect(), all = of.getBoundingClientRect();"
                 "return [of.textContent, Math.min(at.left, all.left), Math.max(at.right, all.right)]})")
        for folders in (names[:1], names):
            self.expect(0, "report", *folders, "--out", "page.html")
            for width in (390, 360):
                self.browser.develop("Emulation.setDeviceMetricsOverride", width=width, height=820, deviceScaleFactor=2, mobile=True)
                self.browser.open(self.address)
                self.picture(f"means-{len(folders)}-{width}")
                name, documents, measure = (self.browser.run(cells, column) for column in range(3))
                self.assertEqual([column[0][0] for column in (name, documents, measure)], ["system", "training documents", "MAP"])
                for column in (name, documents, measure):
                    for text, left, right in column:
                        self.assertGreaterEqual(left, 0, text)
                        self.assertLessEqual(right, width, text)
                self.browser.run("document.querySelector('.scroll').scrollLeft = 1000")
                for (text, left, right), (_, behind, _) in zip(self.browser.run(cells, 0), self.browser.run(cells, 4)):
                    self.assertGreaterEqual(left, 0, text)
                    self.assertLess(right, width / 2, text)

    def test_light_dark_and_print(self):
        papers = []
        for scheme in ("light", "dark"):
            self.browser.develop("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.open()
            papers.append(self.browser.run("return getComputedStyle(document.body).backgroundColor"))
            self.assertGreater(self.browser.run(CONTRASTS, "p, td, th, h2, summary, figcaption, caption", "color")[0], 4.5)
            self.assertGreater(self.browser.run(CONTRASTS, "svg text", "fill")[0], 4.5)
            self.assertGreater(self.browser.run(CONTRASTS, "svg .line", "stroke")[0], 3)
            self.picture(scheme)
            self.assertNotEqual(self.browser.run("return getComputedStyle(document.querySelector('.part .hint')).display"), "none")
        self.assertNotEqual(*papers)
        # On paper, though the screen is dark: black on white, everything unfolded, nothing that is there to be clicked.
        self.browser.develop("Emulation.setEmulatedMedia", media="print",
                             features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertEqual(self.browser.run("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertGreater(self.browser.run(CONTRASTS, "p, td, th, h2, summary, figcaption, caption", "color")[0], 4.5)
        for css in ("nav", ".choices", ".skip", ".part .hint"):
            self.assertEqual(self.browser.run("return getComputedStyle(document.querySelector(arguments[0])).display", css),
                             "none")
        folded = "return [...document.querySelectorAll('details td')].filter(td => !td.getBoundingClientRect().height).length"
        self.assertGreater(self.browser.run("return document.querySelectorAll('details:not([open]) td').length"), 10)
        self.assertEqual(self.browser.run(folded), 0)
        # A4 between chromium's margins holds the widest table, that of NDCG@1 to NDCG@10.
        self.browser.develop("Emulation.setDeviceMetricsOverride", width=717, height=1000, deviceScaleFactor=1, mobile=False)
        widths = self.browser.run("return [...document.querySelectorAll('table')].map(of => of.getBoundingClientRect().right)")
        self.assertLessEqual(max(widths), 717)
        pdf = base64.b64decode(self.browser.develop("Page.printToPDF")["data"])
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(len(re.findall(rb"/Type */Page\b", pdf)), 2)
        self.expect_quiet()

    def test_all_measures_of_a_wide_table_are_printed(self):
        """The 22 measures of LETOR: in one table on a screen, in several on A4."""
        measures = ["MAP", *(f"NDCG@{k}" for k in range(1, 11)), *(f"P@{k}" for k in range(1, 11)), "MeanNDCG"]
        self.expect(0, "experiment", "--folds", "data", "--out-dir", "wide", "--rank-size", "3", "--random-draws", "3",
                    "--permutations", "1000", "--metrics", "MAP,NDCG@1-10,P@1-10,MeanNDCG")
        self.expect(0, "report", "wide", "--out", "page.html")
        self.open()
        cells = """return [...document.querySelectorAll('main table')].filter(of => of.getBoundingClientRect().height)
          .map(of => [...of.rows].map(row => [...row.cells].map(cell => {
            const text = document.createRange();
            text.selectNodeContents(cell);
            return [cell.textContent, text.getBoundingClientRect().left, text.getBoundingClientRect().right]})))"""

        def values(tables):
            return {(row[0][0], name[0]): cell[0] for head, *rows in tables if ("training" in str(head) or "@" in str(head)) and "difference" not in str(head)
                    for row in rows for name, cell in zip(head, row)}

        on_screen = self.browser.run(cells)
        self.assertEqual([cell[0] for cell in on_screen[0][0]], ["system", "training documents", *measures])
        whole = values(on_screen[:1])
        self.assertGreater(len(whole), 5 * len(measures))
        self.browser.develop("Emulation.setEmulatedMedia", media="print")
        self.browser.develop("Emulation.setDeviceMetricsOverride", width=717, height=1000, deviceScaleFactor=1, mobile=False)
        printed = self.browser.run(cells)
        self.picture("wide-print")
        self.assertGreater(len(printed), len(on_screen))
        self.assertEqual({at: text for at, text in values(printed).items() if at in whole}, whole)
        for table in printed:
            for row in table:
                for text, left, right in row:
                    self.assertGreaterEqual(left, 0, text)
                    self.assertLessEqual(right, 717, text)
        if folder := os.environ.get("RULERANK_SCREENSHOT"):
            with open(f"{folder}/wide.pdf", "wb") as out:
                out.write(base64.b64decode(self.browser.develop("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]))
        self.expect_quiet()

    def test_tab_leads_to_a_chart(self):
        self.open()
        self.browser.press(TAB)
        self.assertEqual(self.browser.run("return document.activeElement.className"), "skip")
        for _ in range(60):
            self.browser.press(TAB)
            if self.browser.run("return document.activeElement.matches('.part figure svg')"):
                break
        else:
            self.fail("no Tab leads to the chart of queries")
        self.assertNotEqual(self.browser.run("return getComputedStyle(document.activeElement).outlineStyle"), "none")
        self.browser.press(RIGHT)
        self.assertTrue(self.text(".part .says").startswith("Query "))
        self.browser.press(ENTER)
        self.assertTrue(self.text(".query h4").startswith("Query "))
        self.browser.press(TAB)  # and on: no trap
        self.assertFalse(self.browser.run("return document.activeElement.matches('.part figure svg')"))

    def test_charts_without_javascript_on_a_phone(self):
        """All lines of the largest chart are named in words that can be read, and nothing of a chart is cut off."""
        self.browser.develop("Emulation.setScriptExecutionDisabled", value=True)
        for width in (360, 400, 1100):
            self.browser.develop("Emulation.setDeviceMetricsOverride", width=width, height=820, deviceScaleFactor=2, mobile=width < 600)
            self.browser.open(self.address)
            shown = self.browser.run("return [document.documentElement.scrollWidth, window.innerWidth]")
            self.assertLessEqual(shown[0], shown[1])
            self.assertEqual(shown[1], width)
            self.browser.run("document.querySelectorAll('details').forEach(of => { of.open = true; })")
            self.assertEqual(self.browser.run(UNREADABLE, 9), [])
            lines, names = self.browser.run(
                "const most = of => Math.max(...[...document.querySelectorAll('figure:has(.legend)')].map(of));"
                "return [most(f => new Set([...f.querySelectorAll(':scope > svg > [class]')].flatMap(e => "
                "[...e.classList].filter(one => /^s\\d$/.test(one)))).size), most(f => f.querySelectorAll('.legend > li').length)]")
            self.assertEqual(lines, names)
            self.assertGreater(names, 3)
            for i, figure in enumerate(["figure:has(.legend)", "figure:has(.bars)"]):
                self.browser.run("document.querySelector(arguments[0]).scrollIntoView()", figure)
                self.picture(f"charts-{width}-{i}")

    def test_without_javascript(self):
        """In a browser without scripts, the page shows its tables and static charts."""
        self.browser.develop("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.open(self.address)
        self.assertNotEqual(self.browser.run("return document.documentElement.dataset.ready"), "yes")
        self.assertGreater(self.browser.run("return document.querySelectorAll('figure > svg path').length"), 20)
        self.assertIn("full-rank-3 (baseline)", self.text("table"))
        self.assertIn("rules on", self.text("main"))
        self.picture("without-script")
        self.expect_quiet()


if __name__ == "__main__":
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        print("report_page_test.py: Skipped\nneeds chromium and chromedriver")
        sys.exit(77)
    harness.main()
