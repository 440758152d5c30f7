#!/usr/bin/env python3
"""build.py FOLDER: builds the pages of docs/ as a site, FOLDER/html, with Sphinx.

FOLDER/source has links to the pages at their paths in the repository, and the library's reference, `reference/MODULE.md`, which
Doxygen makes from the public headers. A warning of Doxygen or Sphinx is an error. The script needs Debian's packages (`./run deps
--all`), but neither a built program nor a network; if packages are missing it names them and exits with 77 (skipped)."""

import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

SITE = pathlib.Path(__file__).resolve().parent
ROOT = SITE.parents[1]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "bench")
PACKAGES = {"sphinx": "python3-sphinx", "myst_parser": "python3-myst-parser", "breathe": "python3-breathe",
            "autoapi": "python3-sphinx-autoapi", "furo": "furo"}


def interpreter():
    """The first Python that has Sphinx and its extensions: this one, or Debian's. Ends with 77 where none has."""
    looked = "import importlib.util as i, sys; print(*(p for p in sys.argv[1:] if i.find_spec(p) is None))"
    for python in (sys.executable, "/usr/bin/python3"):
        lacking = subprocess.run([python, "-c", looked, *PACKAGES], text=True, capture_output=True, check=True)
        missing = [PACKAGES[name] for name in lacking.stdout.split()]
        if not missing:
            break
    missing += [] if shutil.which("doxygen") else ["doxygen"]
    if missing:
        print(f"skipped: the site needs {', '.join(missing)}")
        sys.exit(77)
    return python


def public_headers():
    """The installed headers of each module that has some, as its CMakeLists.txt lists them."""
    found = {}
    for file in sorted([*ROOT.glob("*/CMakeLists.txt"), *ROOT.glob("knn/*/CMakeLists.txt")]):
        folder = file.parent.relative_to(ROOT).as_posix()
        for options, listed in re.findall(r"rulerank_module\(([^()]*?)PUBLIC_HEADERS(.*?)\sSOURCES", file.read_text(), re.S):
            if "INTERNAL" in options:
                continue
            found[folder.replace("/", "_")] = [f"{folder}/{header}" for header in re.findall(r"[\w/]+\.hpp", listed)]
    return found


def doxygen(folder, headers):
    """Writes Doxygen's description of the headers to folder/xml. Returns the name of each header there."""
    folder.mkdir()
    settings = (SITE / "Doxyfile").read_text() + f"""
INPUT = {" ".join(str(ROOT / header) for header in headers)}
OUTPUT_DIRECTORY = {folder}
STRIP_FROM_PATH = {ROOT}
INPUT_FILTER = "{sys.executable} {SITE}/grouped_header.py {ROOT}"
"""
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    namespaces = {"rulerank", *(f"rulerank::{header.split('/')[0]}" for header in headers)}
    for file in (folder / "xml").glob("group__*.xml"):
        tree = xml.etree.ElementTree.parse(file)
        for section in tree.iter("sectiondef"):
            for member in section.findall("memberdef"):
                # Breathe prints a function's name from here; it lists a member of a class with its class.
                name = member.findtext("qualifiedname")
                member.find("name").text = name
                if name.rpartition("::")[0] not in namespaces:
                    section.remove(member)
        tree.write(file, encoding="utf-8", xml_declaration=True)
    names = {}
    for file in (folder / "xml").glob("*_8hpp.xml"):
        compound = xml.etree.ElementTree.parse(file).find("compounddef")
        names[compound.find("location").get("file")] = compound.get("id")
    return names


def threads(header):
    """The comment of a header on all its declarations, before its namespace."""
    said = re.search(r"^((?://(?!/).*\n)+)namespace rulerank", (ROOT / header).read_text(), re.M)
    return re.sub(r"^// ?", "", said[1], flags=re.M) if said else ""


def library_page(module, headers, names):
    """A module's reference: its smallest programs, and each header as a group that grouped_header.py made."""
    page = module.partition("_")[0]  # the searches have one page
    text = (f"# {module}: public headers\n\nWhat it is for, and how its parts go together: "
            f"[the module {page}](/docs/reference/modules/{page}.md).\n")
    programs = sorted((ROOT / "tests/package/outside").glob(f"{module}.cpp"))
    if programs:
        text += "\nIts shortest programs, which tests build and run:\n"
    for program in programs:
        text += f"\n```cpp\n{program.read_text()}```\n"
    for header in headers:
        group = re.sub(r"\W", "_", header.removesuffix(".hpp"))
        text += (f"\n({names[header]})=\n## {header}\n\n{threads(header)}\n"
                 f"```{{doxygengroup}} {group}\n:content-only:\n:members:\n:undoc-members:\n```\n")
    return text


def package_sources(folder):
    """The package without its compiled module, which AutoAPI cannot read and takes for a circle of imports."""
    folder.mkdir(parents=True)
    for file in (ROOT / "python" / "rulerank").glob("*.py"):
        (folder / file.name).write_text(re.sub(r"^from \.(?: import _core|_core import .*)$", "", file.read_text(), flags=re.M))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: build.py FOLDER")
    python = interpreter()
    folder = pathlib.Path(sys.argv[1]).resolve()
    source = folder / "source"
    shutil.rmtree(folder, ignore_errors=True)
    (source / "reference").mkdir(parents=True)
    for name in PAGES:
        (source / name).symlink_to(ROOT / name)
    (source / "reference" / "python.md").symlink_to(SITE / "python.myst")
    package_sources(folder / "python" / "rulerank")
    modules = public_headers()
    names = doxygen(folder / "doxygen", [header for headers in modules.values() for header in headers])
    for module, headers in modules.items():
        (source / "reference" / f"{module}.md").write_text(library_page(module, headers, names))
    status = subprocess.run([python, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-j", "auto", "-c", SITE,
                             "-d", folder / "doctrees", source, folder / "html"], check=False).returncode
    if not status:
        print(folder / "html" / "index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
