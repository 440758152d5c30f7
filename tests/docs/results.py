"""Results files (bench/results): their rows, their numbers, and expressions over them."""

import ast
import csv
import decimal
import json
import operator
import re
import statistics

from markdown import cells

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e[-+]?\d+)?"
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.Div: operator.truediv}
SUMMARIES = {"mean": statistics.fmean, "median": statistics.median, "smallest": min, "largest": max,
             "total": sum, "count": len}


class Results:
    """One file."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text()
        # The numbers of the file: as text, and as sorted values.
        self.literals = {word.replace(",", "") for word in re.findall(
            r"(?<![\w.])\.?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)", self.text)}
        self.numbers = sorted(decimal.Decimal(word) for word in re.findall(
            r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", self.text.replace("−", "-")))
        self.tabular = path.suffix not in (".json", ".jsonl")

    def rows(self):
        """Its rows as dictionaries."""
        if self.path.suffix == ".jsonl":
            return [json.loads(line) for line in self.text.splitlines() if line.strip()]
        if self.path.suffix == ".json":
            whole = json.loads(self.text)
            return whole if isinstance(whole, list) else [whole]
        if self.path.suffix in (".tsv", ".csv"):
            separator = "\t" if self.path.suffix == ".tsv" else ","
            return list(csv.DictReader(self.text.splitlines(), delimiter=separator))
        rows, header, caption = [], None, ""
        for line in self.text.splitlines():
            if not line.startswith("|"):
                header, caption = None, line.lstrip("# ").strip() or caption
            elif header is None:
                header = cells(line)
            elif not re.fullmatch(r"[\s|:-]+", line):
                rows.append({**dict(zip(header, cells(line))), "table": caption})
        return rows


def member(row, name):
    """row[name], or for a.b row[a][b]; None where there is none."""
    if name in row:
        return row[name]
    head, dot, rest = name.partition(".")
    return member(row[head], rest) if dot and isinstance(row.get(head), dict) else None


def as_number(value):
    return float(str(value).replace(",", ""))


def same(value, wanted):
    if str(value) == str(wanted):
        return True
    try:
        return as_number(value) == as_number(wanted)
    except ValueError:
        return False


def selected(results, column, wanted):
    """The numbers in a column of the rows whose other columns are as wanted."""
    rows = [row for row in results.rows()
            if all(same(member(row, key), value) for key, value in wanted.items())]
    values = [member(row, column) for row in rows]
    if not rows or None in values:
        raise ValueError(f"found {len(rows)} rows with {wanted}, expected some with '{column}'")
    return [as_number(value) for value in values]


def evaluated(results, expression):
    """The value of an expression such as value("seconds", engine="mt") / value("seconds", engine="tiles").

    value() is of exactly one row; mean, median, smallest, largest, total and count are of all rows
    that the arguments select. Columns with blanks are selected by {"rule size": 3}.
    """

    def walk(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("value", *SUMMARIES):
            column, *where = [ast.literal_eval(argument) for argument in node.args]
            wanted = {key: value for part in where for key, value in part.items()}
            wanted.update({word.arg: ast.literal_eval(word.value) for word in node.keywords})
            values = selected(results, column, wanted)
            if node.func.id in SUMMARIES:
                return SUMMARIES[node.func.id](values)
            if len(values) != 1:
                raise ValueError(f"found {len(values)} rows with {wanted}, expected one")
            return values[0]
        raise ValueError(f"found {ast.unparse(node)}, expected numbers, + - * / and value(...)")

    return walk(ast.parse(expression.strip(), mode="eval").body)
