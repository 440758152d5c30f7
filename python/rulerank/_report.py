"""Reports on experiments, models and benchmarks, as one page, or as Markdown and LaTeX."""

from __future__ import annotations

import html
import os
import typing

from . import _core
from ._parameters import checked
from ._run import running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import Count, Path, Progress


def _paths(paths):
    """One path or several."""
    return [os.fspath(paths)] if isinstance(paths, str | os.PathLike) else [os.fspath(path) for path in paths]


class ReportPage(str):
    """A page as text. A notebook shows it in an iframe, because the page's styles would otherwise affect the notebook."""

    def _repr_html_(self) -> str:
        # Otherwise links within the page would lead to the notebook.
        page = self.replace("<head>", '<head><base href="about:srcdoc">', 1)
        return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="Report" '
                'style="width:100%;height:90vh;border:0"></iframe>')

    def __repr__(self) -> str:
        return f"<ReportPage of {len(self)} characters>"  # notebooks store it next to the iframe


@checked
def report(folders: Path | Sequence[Path] = (), out: Path | None = None, *, format: str = "html", figures: str = "svg",
           title: str = "Report", baseline: str = "", metric: str = "", folds: Path = "",
           models: Path | Sequence[Path] = (), bench: Path | Sequence[Path] = (), top: Count = 10,
           n_jobs: int | None = None, verbose: Progress = False) -> ReportPage | None:
    """Makes a self-contained page on experiments, with the same bytes as `rulerank report`.

    Parameters
    ----------
    folders : path or paths written by `rulerank experiment` or `rulerank pipeline`
    out : output path; None: returns the page, a str that a notebook shows in an iframe (`_repr_html_`). Do not use
        `IPython.display.HTML(page)`, which applies the page's styles to the whole notebook
    format : {"html", "markdown", "latex"}; the last two need `out`, and write figures next to it
    figures : {"svg", "pdf"}, for Markdown and LaTeX; PDF needs the program rsvg-convert
    title : of the page
    baseline : the system to compare others with; default: the first
    metric : for wins, losses and learning curves; default: NDCG@10, else the first measure
    folds : folder with Fold1/test.txt and so on; default: the paths in the manifests
    models : path or paths of model files whose strongest features and rules to show
    bench : path or paths of benchmark results, one JSON object per line
    top : maximum number of won and lost queries, rules and features

    Returns
    -------
    ReportPage, a str, without `out`; else None

    Examples
    --------
    >>> from rulerank import RuleRanker, draw_letor, report
    >>> drawn = draw_letor(300, 4)
    >>> RuleRanker().fit(drawn.X, drawn.y, drawn.qid).save("drawn.model")
    >>> page = report(models="drawn.model", title="Drawn")
    >>> "<title>Drawn</title>" in page, "drawn.model" in page
    (True, True)
    """
    folders, models, bench = _paths(folders), _paths(models), _paths(bench)
    if not (folders or models or bench):
        raise UsageError("report: expected folders that experiment or pipeline wrote, models or bench")
    if out is None and (format != "html" or figures != "svg"):
        raise UsageError(f"out: found None, expected a path for format={format!r}, figures={figures!r}")
    options = _core.ReportOptions(folders, title, baseline, metric, os.fspath(folds), models, bench, top)
    with running(n_jobs, verbose=verbose) as run:
        if out is None:
            return ReportPage(_core.report_page(run, options))
        _core.write_report(run, options, format, figures, os.fspath(out))
    return None
