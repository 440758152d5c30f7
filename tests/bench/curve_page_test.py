#!/usr/bin/env python3
"""curve_page_test.py PROGRAM: tables of docs/learning-curves.md out of results made by hand, and those of the page itself."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import curve_page

GOALS = """## All labels

- A: recommended .5000 / .4000; chosen for the set: linear .5100 / .4100
- B: recommended .3000 / .2000; chosen for the set: rules .3100 / .2100

| set | peer, the better of its settings | recommended less it | chosen for the set less it |
| :-- | --: | --: | --: |
| A | ranksvm, validated .5010 / .4010 | -.0010 ± .0020 / -.0010 ± .0030 | the same |
| A | linear, defaults .4900 / .3900 | +.0100 ± .0020 / +.0100 ± .0030 | the same |
| B | xgboost, validated .2900 / .1900 | +.0100 ± .0200 / +.0100 ± .0300 | the same |

## Few labels

| labels | set | recommended, chosen | the best peer on any sample | less it | trees | less them | less itself | less LightGBM with all labels |
| :-- | --: | --: | --: | --: | --: | --: | --: | --: |
| 1% | A | .4000 / .3000 | lightgbm, defaults, queries .3000 / .2000 | +.1000 ± .0100 / +.1000 ± .0200 | x | +.1100 ± .0100 / .1 | +.1200 ± .0100 / .1 | -.1000 ± .0100 / .1 |
| 1% | B | .2000 / .1000 | ranksvm-zscore, cross-fitted, chosen .2100 / .1100 | -.0100 ± .0100 / -.0100 ± .0200 | x | +.0110 ± .0100 / .1 | +.0120 ± .0100 / .1 | -.2000 ± .0100 / .1 |

## More
"""
PAGE = """before

<!-- table: all-labels -->

old

<!-- end of table -->

between

<!-- table: few-labels -->

old

<!-- end of table -->

after
"""
EXPECTED = """before

<!-- table: all-labels -->

| set | recommended | other | recommended less it | from |
|---|---|---|---|---|
| A | .5000 / .4000 | rank SVM .5010 / .4010 | -.0010 ± .0020 / -.0010 ± .0030 | [goals.md](curves/goals.md) |
| | | Neural RankGAM .4950 / .3950 | +.0050 ± .0010 / +.0050 ± .0020 | [A.md](neural/A.md) |
| | | ridge regression, by its defaults .4900 / .3900 | +.0100 ± .0020 / +.0100 ± .0030 | [goals.md](curves/goals.md) |
| B | .3000 / .2000 | Neural RankGAM .3500 / .2500 | -.0500 ± .0010 / -.0500 ± .0020 | [B.md](neural/B.md) |
| | | XGBoost .2900 / .1900 | +.0100 ± .0200 / +.0100 ± .0300 | [goals.md](curves/goals.md) |

<!-- end of table -->

between

<!-- table: few-labels -->

| labels | set | recommended, chosen, MAP / NDCG@10 | the best other | recommended less it | less the best boosted trees | less itself on random documents | less LightGBM with all labels | from |
|---|---|---|---|---|---|---|---|---|
| 1 % | B | .2000 / .1000 | rank SVM of z-scores, chosen .2100 / .1100 | -.0100 ± .0100 | +.0110 ± .0100 | +.0120 ± .0100 | -.2000 ± .0100 | [goals.md](curves/goals.md) |
| | A | .4000 / .3000 | LightGBM, random queries .3000 / .2000 | +.1000 ± .0100 | +.1100 ± .0100 | +.1200 ± .0100 | -.1000 ± .0100 | [goals.md](curves/goals.md) |

<!-- end of table -->

after
"""


class Page(unittest.TestCase):
    def written_anew(self, page):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in ("curves", "neural"):
                (folder / name).mkdir()
            (folder / "curves" / "goals.md").write_text(GOALS, "utf-8")
            for name, row in (("A", ".4950 / .3950 | +.0050 ± .0010 / +.0050 ± .0020"),
                              ("B", ".3500 / .2500 | -.0500 ± .0010 / -.0500 ± .0020")):
                (folder / "neural" / f"{name}.md").write_text(f"| neural\\_gam | 0.1 |\n\n| neural_gam | {row} |\n", "utf-8")
            (folder / "page.md").write_text(page, "utf-8")
            return curve_page.written_anew(folder / "page.md", folder / "curves", folder / "neural")

    def test_tables(self):
        self.assertEqual(self.written_anew(PAGE), EXPECTED)

    def test_a_page_without_a_place_for_a_table(self):
        with self.assertRaisesRegex(curve_page.common.Failed, "found 0 places for the table few-labels"):
            self.written_anew(PAGE.replace("few-labels", "other"))

    def test_the_page_has_the_tables_of_what_it_quotes(self):
        page = ROOT / "docs" / "learning-curves.md"
        text = page.read_text("utf-8")
        curves, networks = (re.search(rf"\(\.\./(bench/results/{name})/", text)[1] for name in ("curves", "neural-gam"))
        self.assertEqual(curve_page.written_anew(page, ROOT / curves, ROOT / networks), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
