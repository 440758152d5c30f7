import html.parser
import pathlib
import pickle
import shutil

import pytest

import rulerank
from rulerank import report


@pytest.fixture(scope="module")
def result(program, tmp_path_factory):
    """An experiment on synthetic data, a model and a benchmark's lines."""
    folder = tmp_path_factory.mktemp("report")
    program("sample", "--documents", 600, "--features", 9, "--queries", 30, "--fold-count", 3, "--out-dir", "data",
            "--quiet", cwd=folder)
    program("experiment", "--folds", "data", "--out-dir", "result", "--rank-size", 3, "--random-draws", 3,
            "--permutations", 1000, "--metrics", "MAP,NDCG@1,NDCG@10", "--quiet", cwd=folder)
    program("fit", "--train", "data/Fold1/train.txt", "--model", "a.model", "--quiet", cwd=folder)
    (folder / "b.jsonl").write_text('{"engine": "x", "seconds": 2, "bytes": 1e9, "ops": 1e9}\n')
    return folder


OPTIONS = dict(title="<T>", baseline="feature", metric="MAP", models="a.model", bench=["b.jsonl"], top=3)
WORDS = ["--title", "<T>", "--baseline", "feature", "--metric", "MAP", "--model", "a.model", "--bench", "b.jsonl",
         "--top", 3]


def test_the_programs_bytes(program, result, monkeypatch):
    monkeypatch.chdir(result)
    program("report", "result", "--out", "p.html", *WORDS, "--quiet")
    report(["result"], "q.html", **OPTIONS)
    expected = (result / "p.html").read_text()
    assert "&lt;T&gt;" in expected and "Roofline" in expected
    assert (result / "q.html").read_text() == expected
    assert report(pathlib.Path("result"), n_jobs=1, **OPTIONS) == expected
    for side in ("p", "q"):
        (result / side).mkdir()
    for form in ("markdown", "latex"):
        program("report", "result", "--format", form, "--out", "p/r.txt", *WORDS, "--quiet")
        report("result", result / "q" / "r.txt", format=form, **OPTIONS)
        written = [path.relative_to(result / "p") for path in sorted((result / "p").rglob("*.*"))]
        assert len(written) > 5
        for name in written:
            assert (result / "q" / name).read_bytes() == (result / "p" / name).read_bytes(), name


def test_a_notebook_shows_it_in_a_frame(result, monkeypatch):
    """A browser decodes the attribute to the page, none of which is markup of the notebook."""
    monkeypatch.chdir(result)
    page = report("result", title='"<T>" & co')

    class Reader(html.parser.HTMLParser):
        found = []

        def handle_starttag(self, tag, attrs):
            self.found.append((tag, dict(attrs)))

    reader = Reader()
    reader.feed(page._repr_html_())
    (tag, attributes), = reader.found
    assert tag == "iframe" and attributes["sandbox"] == "allow-scripts"
    assert attributes["srcdoc"] == page.replace("<head>", '<head><base href="about:srcdoc">') != page
    assert isinstance(page, str) and page.startswith("<!DOCTYPE html>") and len(repr(page)) < 100
    assert pickle.loads(pickle.dumps(page)) == page


def test_figures_in_pdf(program, result, monkeypatch):
    if not shutil.which("rsvg-convert"):
        pytest.skip("needs rsvg-convert (Debian: librsvg2-bin)")
    monkeypatch.chdir(result)
    program("report", "result", "--format", "latex", "--figures", "pdf", "--out", "v.tex", "--quiet")
    report("result", "w.tex", format="latex", figures="pdf")
    made = sorted((result / "w-figures").glob("*.pdf"))
    assert len(made) > 4
    for path in made:
        assert path.read_bytes() == (result / "v-figures" / path.name).read_bytes()


def test_wrong_arguments(result, monkeypatch):
    monkeypatch.chdir(result)
    for how, said in ((dict(format="word", out="x"), "'word', expected one of html, markdown, latex"),
                      (dict(format="latex"), "out: found None"), (dict(figures="pdf"), "out: found None"),
                      (dict(figures="gif", out="x"), "'gif', expected one of svg, pdf"),
                      (dict(figures="pdf", out="x"), "a page holds its own figures"),
                      (dict(format="latex", out="-"), "format latex needs a file for out"),
                      (dict(baseline="nobody"), "'nobody', expected one of"),
                      (dict(bench="b.jsonl", out="b.jsonl"), "b.jsonl")):
        with pytest.raises(rulerank.UsageError, match=said):
            report("result", **how)
    with pytest.raises(rulerank.UsageError, match="expected folders"):
        report()
    with pytest.raises(rulerank.DataError, match="found neither results.json nor curves.tsv"):
        report(result)
    with pytest.raises(rulerank.OutputError):
        report("result", result / "none" / "x.html")
    monkeypatch.setenv("PATH", str(result))
    with pytest.raises(rulerank.OutputError, match="rsvg-convert, which was not found; install it .Debian: librsvg2-bin."):
        report("result", "x.tex", format="latex", figures="pdf")
    assert not (result / "x").exists() and not (result / "x.tex").exists()
