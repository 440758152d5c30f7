#!/usr/bin/env python3
"""The tables of docs/learning-curves.md, out of the results that they quote.

    curve_page.py PAGE CURVES_FOLDER NEURAL_FOLDER [--check]

CURVES_FOLDER has goals.md (curves.py --keep), NEURAL_FOLDER has SET.md (neural_gam.py). In PAGE the lines between
`<!-- table: NAME -->` and `<!-- end of table -->` are written anew, NAME being all-labels or few-labels; --check
writes nothing and fails where they differ.
"""

import os
import re

import common

NAMES = {"linear": "ridge regression", "ranksvm": "rank SVM", "ranksvm-zscore": "rank SVM of z-scores", "xgboost": "XGBoost",
         "lightgbm": "LightGBM", "ilmart": "ILMART's form", "neural_gam": "Neural RankGAM"}
WAYS = {"chosen": "chosen", "random": "random documents", "queries": "random queries", "depth": "the top by a feature",
        "margin": "margin", "entropy": "entropy", "variance": "variance"}


def table_of(text, heading):
    """The rows of the first table below `## heading`, each a list of cells."""
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")][2:]


def first_value(cell):
    return float(cell.split()[0])


def by_map(cell):
    return cell.split(" / ")[0]


def peer_name(cell):
    """"ranksvm, defaults, chosen .4366 / .4192" as (rank SVM, defaults, chosen), and the values."""
    name, values = re.fullmatch(r"(.*?) (\.\d.*)", cell).groups()
    system, settings, *way = name.split(", ")
    return NAMES[system], settings, *(WAYS[of] for of in way), values


def row(*cells):
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def neural(folder, name):
    """The peer's cell and the difference's of SET.md, which has a row a system: the mean, and recommended less it."""
    found = re.search(r"^\| neural_gam \| (.*?) \| (.*?) \|$", (folder / f"{name}.md").read_text("utf-8"), re.M)
    return found.group(1), found.group(2)


def all_labels(goals, curves, networks, link):
    ours = dict(re.findall(r"^- (\S+): recommended (\.\d+ / \.\d+);", goals, re.M))
    lines = [row("set", "recommended", "other", "recommended less it", "from"), "|---|---|---|---|---|"]
    for name in ours:
        peers = []
        for of_set, peer, less, _ in table_of(goals, "All labels"):
            if of_set == name:
                system, settings, values = peer_name(peer)
                tuned = "" if settings == "validated" else ", by its defaults"
                peers.append((first_value(less), f"{system}{tuned} {values}", less, link(curves / "goals.md")))
        values, less = neural(networks, name)
        peers.append((first_value(less), f"{NAMES['neural_gam']} {values}", less, link(networks / f"{name}.md")))
        for number, (_, peer, less, source) in enumerate(sorted(peers, key=lambda of: of[0])):
            lines.append(row(name if number == 0 else "", ours[name] if number == 0 else "", peer, less, source))
    return lines


def few_labels(goals, curves, _, link):
    lines = [row("labels", "set", "recommended, chosen, MAP / NDCG@10", "the best other", "recommended less it",
                 "less the best boosted trees", "less itself on random documents", "less LightGBM with all labels", "from"),
             "|---" * 9 + "|"]
    rows = table_of(goals, "Few labels")
    for budget in dict.fromkeys(of[0] for of in rows):
        of_budget = sorted((of for of in rows if of[0] == budget), key=lambda of: first_value(of[4]))
        for number, (_, name, ours, peer, less, _, less_trees, less_itself, less_all) in enumerate(of_budget):
            system, _, way, values = peer_name(peer)
            lines.append(row(budget.replace("%", " %") if number == 0 else "", name, ours, f"{system}, {way} {values}",
                             *map(by_map, (less, less_trees, less_itself, less_all)), link(curves / "goals.md")))
    return lines


TABLES = {"all-labels": all_labels, "few-labels": few_labels}


def written_anew(page, curves, networks):
    text, goals = page.read_text("utf-8"), (curves / "goals.md").read_text("utf-8")

    def link(path):
        return f"[{path.name}]({os.path.relpath(path, page.parent)})"

    for name, make in TABLES.items():
        table = "\n".join(make(goals, curves, networks, link))
        text, count = re.subn(rf"(<!-- table: {name} -->\n\n).*?(\n\n<!-- end of table -->)", lambda found, of=table: found[1] + of
                              + found[2], text, flags=re.S)
        if count != 1:
            common.fail(f"{page}: found {count} places for the table {name}, expected 1")
    return text


def main():
    a = common.arguments(__doc__, "page", "curves", "neural", check=False)
    text = written_anew(a.page, a.curves, a.neural)
    if not a.check:
        a.page.write_text(text, "utf-8")
    elif text != a.page.read_text("utf-8"):
        common.fail(f"{a.page}: its tables are not those of {a.curves} and {a.neural}: bench/curve_page.py writes them")


if __name__ == "__main__":
    main()
