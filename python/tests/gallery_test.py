"""Executes the notebooks of docs/tutorials/notebooks; docs/tutorials/notebooks.md must show their output.

With RULERANK_UPDATE_GALLERY=1 the page and its pictures are written anew."""

import os
import pathlib
import re
import resource
import sys

import pytest
from conftest import slowness

FOLDER = pathlib.Path(__file__).parents[2] / "docs/tutorials"
PAGE = FOLDER / "notebooks.md"
NAMES = sorted(path.stem for path in (FOLDER / "notebooks").glob("*.ipynb"))
NEEDED = {"comparing": ("lightgbm", "xgboost"), "labelling": ("matplotlib",), "explaining": ("matplotlib",)}
# Trees of other libraries differ slightly between versions; all other figures are equal everywhere.
TOLERANCE = {"comparing": 0.02}
TOGETHER = 60  # processor seconds on a typical machine, so that other processes do not count
HANGS = 900  # seconds after which a cell is considered hung, however busy the machine is
spent = {}


def processor_time():
    """Over the kernels that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """The kernels' settings: separate from the user's; figures as SVG with text."""
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "profile_default").mkdir()
    (folder / "profile_default/ipython_kernel_config.py").write_text(
        "c = get_config()\nc.InlineBackend.figure_formats = {'svg'}\nc.HistoryManager.enabled = False\n")
    (folder / "matplotlibrc").write_text("svg.fonttype: none\nsvg.hashsalt: rulerank\n")
    return os.environ | {"IPYTHONDIR": str(folder), "MPLCONFIGDIR": str(folder), "JUPYTER_PLATFORM_DIRS": "1"}


def executed(name, kernel):
    nbclient = pytest.importorskip("nbclient", exc_type=ImportError)
    pytest.importorskip("ipykernel", exc_type=ImportError)
    for module in NEEDED.get(name, ()):
        pytest.importorskip(module, exc_type=ImportError)
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.read(FOLDER / "notebooks" / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)
    begin = processor_time()
    nbclient.NotebookClient(book, timeout=HANGS, kernel_name="python3",
                            resources={"metadata": {"path": str(FOLDER / "notebooks")}}).execute(env=kernel)
    spent[name] = spent.get(name, 0) + processor_time() - begin
    return book


def shown(book, tag):
    """The text and the figures in the output of cells with the tag."""
    text, pictures = "", []
    for cell in book.cells:
        for output in cell.get("outputs", []) if tag in cell.metadata.get("tags", []) else []:
            text += output.get("text", "")
            if "image/svg+xml" in output.get("data", {}):
                pictures.append(output.data["image/svg+xml"])
    return text, pictures


def words_of(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


def same(found, expected, tolerance):
    """Whether the words are equal, and numbers within the tolerance."""
    found, expected = found.split(), expected.split()
    return len(found) == len(expected) and all(
        a == b or (re.fullmatch(r"\d*\.\d+", a) and re.fullmatch(r"\d*\.\d+", b) and
                   abs(float(a) - float(b)) <= tolerance) for a, b in zip(found, expected))


def section_of(page, name):
    return re.search(rf"^## \[[^]]*\]\(notebooks/{name}\.ipynb\).*?(?=^## |\Z)", page, flags=re.M | re.S)


@pytest.mark.filterwarnings("default")  # of Jupyter's own modules
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook(name, kernel):
    book = executed(name, kernel)
    text, pictures = shown(book, "gallery")
    assert text or pictures
    section = section_of(PAGE.read_text(), name)
    assert section, f"docs/tutorials/notebooks.md has no section of {name}"
    if name == "search_engine" and not (
            pathlib.Path(os.environ.get("RULERANK_TEST_DATA", "")) / "text" / "cranfield").is_dir():
        pytest.skip("executed on the drawn collection; the page shows real data: RULERANK_TEST_DATA has no text/cranfield")
    block, picture = re.search(r"```output\n(.*?)```", section[0], flags=re.S), FOLDER / "notebooks" / f"{name}.svg"
    if os.environ.get("RULERANK_UPDATE_GALLERY"):
        if block:
            PAGE.write_text(PAGE.read_text().replace(
                section[0], section[0][:block.start(1)] + text + section[0][block.end(1):]))
        if pictures:
            sys.path.insert(0, str(FOLDER.parents[1] / "bench"))
            from common import for_dark_pages
            picture.write_text(for_dark_pages(re.sub(r"\s*<metadata>.*?</metadata>", "", pictures[0], flags=re.S)))
        return
    if text:
        assert same(block[1], text, TOLERANCE.get(name, 0)), text
    for one in pictures:
        assert f"notebooks/{name}.svg" in section[0]
        assert words_of(one) == words_of(picture.read_text())


@pytest.mark.filterwarnings("default")
def test_the_search_engine_without_real_data(kernel):
    """The published collection gives the same notebook output."""
    folder = {name: value for name, value in kernel.items() if name != "RULERANK_TEST_DATA"}
    text, _ = shown(executed("search_engine", folder), "gallery")
    assert re.search(r"^BM25( +\d\.\d+){4}$", text, flags=re.M), text


def test_within_a_minute(capsys):
    each = ", ".join(f"{name} {value:.1f}" for name, value in sorted(spent.items()))
    with capsys.disabled():
        print(f"\nnotebooks, seconds of a processor's time: {each}; together {sum(spent.values()):.1f} of {TOGETHER}")
    if set(spent) != set(NAMES):
        pytest.skip(f"not all notebooks were executed: {', '.join(sorted(set(NAMES) - set(spent)))} not")
    assert all(value > 0.05 for value in spent.values()), spent  # kernels are counted
    assert sum(spent.values()) <= TOGETHER * slowness(), spent


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_kept_without_outputs(name):
    nbformat = pytest.importorskip("nbformat", exc_type=ImportError)
    book = nbformat.read(FOLDER / "notebooks" / f"{name}.ipynb", as_version=4)
    assert book.cells[0].cell_type == "markdown" and book.cells[0].source.startswith("# ")
    for cell in book.cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None
            assert set(cell.metadata) <= {"tags"}


def test_the_page_shows_every_notebook():
    page = PAGE.read_text()
    assert sorted(re.findall(r"^## \[[^]]*\]\(notebooks/(\w+)\.ipynb\)", page, flags=re.M)) == NAMES
    for name in NAMES:
        assert re.search(r"```output|\.svg\)", section_of(page, name)[0])
