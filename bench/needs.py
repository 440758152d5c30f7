"""Imports the Python packages of a script of bench/, or says how to install those that are missing."""

import importlib.util
import os
import sys

# Packages whose name on PyPI differs from the one in Python.
OF_PYPI = {"faiss": "faiss-cpu", "pytrec_eval": "pytrec-eval-terrier", "sklearn": "scikit-learn",
           "stringzillas": "stringzillas-cuda"}


def expect(*names):
    """Ends the script with an error where a package is not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        install = " ".join(OF_PYPI.get(name, name) for name in missing)
        sys.exit(f"{os.path.basename(sys.argv[0])}: error: found no Python package {', '.join(missing)}; to install it: "
                 f"{sys.executable} -m pip install {install}")


def packages(*names):
    """The modules of those names, which expect() expects."""
    expect(*names)
    return [importlib.import_module(name) for name in names]
