"""The configuration of Sphinx for the site of the pages; build.py runs it. It changes pages while they are read, so the files in the
repository need nothing for the site."""

import html
import pathlib
import re
import shutil
from urllib.parse import unquote

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx import addnodes

SITE = pathlib.Path(__file__).resolve().parent
ROOT = SITE.parents[1]

project = "rulerank"
author = copyright = "the rulerank developers"
release = re.search(r"project\(rulerank VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "bench/results/**.md", "reference/**.md"]
exclude_patterns = ["docs/site"]
extensions = ["myst_parser", "breathe", "sphinx.ext.napoleon", "autoapi.extension"]

myst_heading_anchors = 6
# Pages of results begin with ## or ###; not all that terminals show is a session to Pygments.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
napoleon_use_ivar = True
napoleon_use_param = False
highlight_language = "none"
default_role = "literal"

breathe_default_project = "rulerank"

autoapi_dirs = ["../python/rulerank"]  # next to the source: build.py copies it there
autoapi_generate_api_docs = False
autoapi_options = ["members", "undoc-members", "imported-members"]

# Signatures name types of other libraries and of private headers, which have no page.
nitpick_ignore_regex = [("cpp:identifier", ".*"), ("py:.*", ".*")]

toc_object_entries = False  # Sphinx puts those of all headers of a page under its last one

html_theme = "furo"
html_title = "rulerank"
html_extra_path = [str(SITE / "index.html")]
html_static_path = [str(SITE / "site.css")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False


def what_doxygen_said(app, config):
    config.breathe_projects = {"rulerank": str(pathlib.Path(app.srcdir).parent / "doxygen" / "xml")}


def add_what_the_site_needs(app, docname, source):
    """The order of the pages to the first page, the reference to those of modules; results need no place in it."""
    if docname == root_doc:
        contents = (SITE / "contents.myst").read_text()
        source[0] += "\n" + re.sub(r"^\?/(.*)\n", lambda page: page[0][1:] if page[1] in app.env.found_docs else "",
                                   contents, flags=re.M)
    elif docname.startswith("docs/reference/modules/"):
        reference = docname.replace("docs/reference/modules", "reference")
        if reference in app.env.found_docs:
            source[0] += f"\n\n## Reference\n\n[Every declaration of its public headers](/{reference}.md)\n"
    elif docname.startswith("bench/"):
        title = "" if re.search(r"^#", source[0], re.M) else f"# {docname.removeprefix('bench/results/')}\n\n"
        source[0] = "---\norphan: true\n---\n" + title + source[0]


def link_to_files(app, doctree):
    """Resolves links to files and folders that are not pages: the site has them at their paths in the repository."""
    docname = app.env.docname
    for node in [*doctree.findall(addnodes.download_reference), *doctree.findall(addnodes.pending_xref)]:
        target, _, anchor = unquote(node["reftarget"]).partition("#")
        if node["reftype"] != "myst" or not target or target.startswith("/"):
            continue
        path = (ROOT / docname).parent.joinpath(target).resolve()
        if path.is_dir() and (path / "README.md").exists() and path.is_relative_to(ROOT / "bench"):
            node["reftarget"] = target.rstrip("/") + "/README.md"
        elif path.is_dir() or path.is_file() and path.suffix != ".md":
            app.env.metadata[docname].setdefault("files", set()).add(path.relative_to(ROOT))
            address = target.rstrip("/") + "/index.html" if path.is_dir() else target
            node.replace_self(nodes.reference("", "", *node.children, refuri=address))


def contents(app, pagename, templatename, context, doctree):
    """The theme's list of all pages. Sphinx's own copies every heading of the site for each page, which took longest."""
    def listed(**_):
        parts = []
        for tree in app.env.tocs[root_doc].findall(addnodes.toctree):
            parts.append(f'<p class="caption" role="heading"><span class="caption-text">{tree["caption"]}</span></p><ul>')
            for _, name in tree["entries"]:
                current = "current " if name == pagename else ""
                parts.append(f'<li class="{current}toctree-l1"><a class="{current}reference internal" href="'
                             f'{context["pathto"](name)}">{html.escape(app.env.titles[name].astext())}</a></li>')
            parts.append("</ul>")
        return "".join(parts)

    context["toctree"] = listed


def write_files(app, failure):
    """The files that pages link to, and lists of the folders."""
    for path in sorted({path for about in app.env.metadata.values() for path in about.get("files", ())}):
        to = pathlib.Path(app.outdir) / path
        to.parent.mkdir(parents=True, exist_ok=True)
        if not (ROOT / path).is_dir():
            shutil.copyfile(ROOT / path, to)
            continue
        shutil.copytree(ROOT / path, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for folder in [to, *(inner for inner in to.rglob("*") if inner.is_dir())]:
            name = html.escape(str(folder.relative_to(app.outdir)))
            lines = [f'<li><a href="{html.escape(file.name)}{"/index.html" if file.is_dir() else ""}">'
                     f"{html.escape(file.name)}</a></li>" for file in sorted(folder.iterdir())]
            (folder / "index.html").write_text(
                f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{name}</title><h1>{name}</h1>\n<ul>\n'
                + "\n".join(lines) + "\n</ul></html>\n")


def mend_theme(app, failure):
    """Debian's furo 2022.12 takes a style sheet from where Debian's web servers have it, and its script begins with an import,
    which a page's plain scripts may not have: here both are whole."""
    static = pathlib.Path(app.outdir, "_static")
    for sheet in static.rglob("*.css"):
        def beside(found):
            shutil.copy(f"/usr/share{found[0]}", sheet.parent)
            return pathlib.Path(found[0]).name

        sheet.write_text(re.sub(r"/javascript/[\w./-]+\.css", beside, sheet.read_text()))
    script = static / "scripts" / "furo.js"
    script.write_text(re.sub(r'^import \w+ from "\./([\w.-]+)";$', lambda found: (script.parent / found[1]).read_text(),
                             script.read_text(), flags=re.M))


def setup(app):
    app.add_lexer("output", TextLexer)  # what a program prints
    app.connect("config-inited", what_doxygen_said)
    app.connect("source-read", add_what_the_site_needs)
    app.connect("doctree-read", link_to_files, priority=100)  # before Sphinx collects downloads
    app.connect("html-page-context", contents, priority=400)  # before the theme asks for it
    app.connect("build-finished", write_files)
    app.connect("build-finished", mend_theme)
    return {"parallel_read_safe": True}
