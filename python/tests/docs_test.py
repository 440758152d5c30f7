"""Runs the examples of docs/reference/python.md and of the docstrings, and compares their output."""

import doctest
import inspect
import pathlib
import re

import pytest

import rulerank

PAGES = pathlib.Path(__file__).parents[2]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # PyTerrier's own calls of pandas
def test_the_page_of_the_package(tmp_path, monkeypatch):
    for name in ("ir_measures", "pyterrier"):
        pytest.importorskip(name, exc_type=ImportError)
    monkeypatch.chdir(tmp_path)  # an empty folder, and nothing but the package
    page = PAGES / "docs/reference/python.md"
    text = page.read_text()
    # Blanks out everything but examples, so that lines keep their numbers.
    shown = "".join(part if i % 2 else re.sub(r".*", "", part)
                    for i, part in enumerate(re.split(r"(?<=```pycon\n)(.*?)(?=```)", text, flags=re.S)))
    test = doctest.DocTestParser().get_doctest(shown, {}, page.name, str(page), 0)
    assert len(test.examples) > 20
    said = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert result.failed == 0, "".join(said)


def with_examples():
    """The package's functions and estimators."""
    named = {name: getattr(rulerank, name) for name in rulerank.__all__}
    return [name for name, what in named.items() if inspect.isfunction(what) or hasattr(what, "fit")]


@pytest.mark.parametrize("name", with_examples())
def test_the_docstring_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(getattr(rulerank, name)), {}, name, None, 0)
    assert len(test.examples) > 1, f"{name} has no example"
    said = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert result.failed == 0, "".join(said)


def test_the_readmes_lines(program, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    block, = re.findall(r"```python\n(.*?)```", (PAGES / "README.md").read_text(), flags=re.S)
    exec(compile(block, "README.md", "exec"), {})
    means, card = capsys.readouterr().out.split("\n", 1)
    assert f"The first line that it prints is `{means}`" in (PAGES / "README.md").read_text()
    assert card.startswith("# A feature: ")
    program("sample", "--documents", 6000, "--features", 20, "--queries", 150, "--out-dir", "drawn", "--quiet")
    program("rank", "--model", "drawn.model", "--test", "drawn/Fold1/test.txt", "--out", "scores")
