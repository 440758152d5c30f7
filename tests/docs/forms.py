#!/usr/bin/env python3
"""forms.py RULERANK [--update]: the tables of docs/reference/forms.md must equal those of the program.

`rulerank forms` prints the program's table of forms (datasets/forms.cpp). `<!-- forms: INPUT -->` in docs/reference/forms.md
precedes the table of an input's forms; --update writes it. Every option that a form names must be an option of the program.
"""

import json
import re
import subprocess
import sys

import markdown
import options

PAGE = markdown.ROOT / "docs/reference/forms.md"
TABLE = re.compile(r"<!-- forms: (\w+) -->\n+((?:\|.*\n)*)\n*")
TITLES = {"name": "form", "recognized_by": "recognized by", "read": "read", "options": "options", "refused": "refused"}


def table(forms):
    """The table of some forms, without columns that would be empty."""
    columns = [key for key in TITLES if any(form[key] for form in forms)]
    rows = [[TITLES[key] for key in columns], ["---"] * len(columns)]
    rows += [[f"`{form[key]}`" if key == "name" else form[key] for key in columns] for form in forms]
    return "".join("|" + "|".join(f" {cell} " if cell not in ("", "---") else cell or " " for cell in row) + "|\n" for row in rows)


def faults(program, forms, text):
    found = [name for name, _ in TABLE.findall(text)]
    inputs = list(dict.fromkeys(form["input"] for form in forms))
    if sorted(found) != sorted(inputs):
        yield f"{PAGE.name}: found tables of {', '.join(found)}, expected one of each of {', '.join(inputs)}"
    for name, rows in TABLE.findall(text):
        if rows != table([form for form in forms if form["input"] == name]):
            yield f"{PAGE.name}: the table of {name} is not the one of `rulerank forms`; `tests/docs/forms.py RULERANK --update` writes it"
    verbs = [[page.stem] for page in (PAGE.parent / "verbs").glob("*.md")] + [["search", what] for what in ("text", "dense", "metric")]
    known = set.union(*(options.printed(program, *verb) for verb in verbs))
    for form in forms:
        for option in sorted(set(options.OPTION.findall(form["options"] + form["recognized_by"])) - known):
            yield f"{form['input']}, {form['name']}: found {option}, which no verb has"


def main():
    program = sys.argv[1]
    forms = json.loads(subprocess.run([program, "forms"], check=True, capture_output=True, text=True).stdout)
    text = PAGE.read_text()
    if "--update" in sys.argv:
        text = TABLE.sub(lambda at: f"<!-- forms: {at[1]} -->\n\n{table([form for form in forms if form['input'] == at[1]])}\n", text).rstrip() + "\n"
        PAGE.write_text(text)
    found = list(faults(program, forms, text))
    print(*found, f"{len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
