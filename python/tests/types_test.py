"""The public interface declares its types, for type checkers and editors."""

import inspect
import typing

import pandas
import pytest

import rulerank
from rulerank import _parameters, _types


def public():
    for name in rulerank.__all__:
        what = getattr(rulerank, name)
        if inspect.isfunction(what):
            yield name, what
        elif inspect.isclass(what) and not issubclass(what, Exception):
            for method, of in inspect.getmembers(what, inspect.isroutine):
                if (getattr(of, "__module__", None) or "").startswith("rulerank.") and (method[0] != "_" or method == "__init__"):
                    yield f"{name}.{method}", of


@pytest.mark.parametrize("name, what", public())
def test_signatures_have_types_that_are_there(name, what):
    signature = inspect.signature(what)
    bare = [one for one, of in signature.parameters.items() if one not in ("self", "cls") and of.annotation is of.empty]
    assert not bare
    assert signature.return_annotation is not signature.empty
    # Names in annotations come from the module or from imports for type checkers only.
    checkers = {"pd": pandas, "Any": typing.Any, "Callable": typing.Callable, "Iterator": typing.Iterator,
                "Sequence": typing.Sequence,
                "Self": typing.TypeVar("Self")}
    for annotation in [*(of.annotation for of in signature.parameters.values()), signature.return_annotation]:
        if isinstance(annotation, str):
            eval(annotation, vars(_types) | vars(inspect.getmodule(what)) | checkers)


def test_what_is_checked_keeps_its_type():
    hints = typing.get_type_hints(_parameters.checked)
    assert hints["function"] is hints["return"]
