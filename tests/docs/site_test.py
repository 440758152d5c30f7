#!/usr/bin/env python3
"""site_test.py FOLDER: builds the site in FOLDER without a warning, and checks it. Every link leads to a file and an anchor; nothing
is loaded from elsewhere; every page has a language, a title, a heading, and words for its pictures; every public header and every
name of the Python package has its entry. If packages for the site are missing it exits with 77 (skipped)."""

import ast
import html.parser
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

import markdown

BUILD = markdown.ROOT / "docs/site/build.py"
OUTSIDE = re.compile(r"(?:https?:)?//", re.I)
# Attributes whose addresses a browser loads with a page, unlike links that a reader may click.
LOADED = {("script", "src"), ("img", "src"), ("img", "srcset"), ("link", "href"), ("iframe", "src"), ("source", "src"),
          ("object", "data"), ("embed", "src"), ("use", "href"), ("image", "href"), ("video", "src"), ("audio", "src")}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads, self.tags, self.mute, self.language = set(), [], [], set(), 0, ""
        self.text = path.read_text()
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.add(tag)
        self.anchors.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        if tag == "html":
            self.language = attributes.get("lang")
        if tag == "img" and not attributes.get("alt"):
            self.mute += 1
        for key, value in attributes.items():
            if (tag, key) in LOADED and value:
                self.loads.append(value)
            elif tag == "a" and key == "href" and value:
                self.links.append(value)


def faults(site):
    """The faults of the pages below a folder."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in page.links + page.loads:
            if OUTSIDE.match(address) or re.match(r"(?:mailto|data):", address):
                if address in page.loads and OUTSIDE.match(address):
                    yield f"{name}: found {address}, which is loaded from elsewhere"
                continue
            parts = urllib.parse.urlsplit(address)
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                yield f"{name}: found a link to {address}, expected a file"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{name}: found a link to {address}, expected an anchor there"
        if not page.language:
            yield f"{name}: found no language"
        if page.mute:
            yield f"{name}: found a picture without words"
        yield from (f"{name}: found no {tag}" for tag in ("title", "h1")
                    if tag not in page.tags and str(name) not in ("index.html", "search.html"))
    for path in sorted(site.rglob("*.css")):
        for address in re.findall(r"(?:url\(|@import(?!\s*url))\s*[\"']?([^\"')]+)", path.read_text()):
            if OUTSIDE.match(address):
                yield f"{path.relative_to(site)}: found {address}, which is loaded from elsewhere"
            elif not address.startswith("data:") and not (path.parent / address).is_file() or address.startswith("/"):
                yield f"{path.relative_to(site)}: found {address}, expected a file beside it"


def entries(site):
    """The declarations without an entry in the reference."""
    module = importlib.util.spec_from_file_location("build", BUILD)
    build = importlib.util.module_from_spec(module)
    module.loader.exec_module(build)
    for name, headers in build.public_headers().items():
        text = (site / "reference" / f"{name}.html").read_text()
        sections = re.split(r"<h2>", text)
        for header in headers:
            part = next((part for part in sections if part.startswith(header)), "")
            if 'class="sig sig-object cpp"' not in part:
                yield f"reference/{name}.html: found no declaration of {header}"
    package = ast.parse((markdown.ROOT / "python/rulerank/__init__.py").read_text())
    names = next(ast.literal_eval(line.value) for line in package.body
                 if isinstance(line, ast.Assign) and line.targets[0].id == "__all__")
    anchors = Page(site / "reference/python.html").anchors
    for name in names:
        if name != "exceptions" and not anchors & {f"rulerank.{name}", f"rulerank.exceptions.{name}"}:
            yield f"reference/python.html: found no {name}: docs/site/python.myst does not list it"
    for page in markdown.pages(markdown.ROOT):
        if page.name != "README.md" and not (site / page.relative_to(markdown.ROOT).with_suffix(".html")).exists():
            yield f"{page.relative_to(markdown.ROOT)}: found no page of it"


def test_what_is_found():
    """A site with one of each fault."""
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        (site / "good.html").write_text('<html lang="en"><title>t</title><h1 id="here">h</h1><a href="#here">a</a>'
                                        '<a href="https://example.org">away</a><img src="p.svg" alt="words"></html>')
        (site / "p.svg").write_text("<svg/>")
        assert not list(faults(site)), list(faults(site))
        (site / "bad.html").write_text('<html><a href="good.html#there">a</a><a href="none.html">b</a><img src="p.svg">'
                                       '<script src="https://example.org/s.js"></script></html>')
        (site / "bad.css").write_text("@import '//example.org/a.css'; b { src: url(https://example.org/f.woff2) } "
                                       "c { src: url('/usr/f.png') }")
        found = "\n".join(faults(site))
        for words in ("good.html#there, expected an anchor", "none.html, expected a file", "without words", "no language",
                      "no title", "no h1", "s.js, which is loaded", "a.css, which is loaded", "f.woff2, which is loaded",
                      "f.png, expected a file beside"):
            assert words in found, (words, found)


def main():
    test_what_is_found()
    folder = pathlib.Path(sys.argv[1]).resolve()
    built = subprocess.run([sys.executable, BUILD, folder], text=True, capture_output=True, check=False)
    print(built.stdout, built.stderr)
    if built.returncode == 77:
        print(f"site_test.py: Skipped\n{built.stdout.strip().removeprefix('skipped: ')}")
        return 77
    if built.returncode:
        return 1
    found = [*faults(folder / "html"), *entries(folder / "html")]
    print(*found, f"{len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
