"""The packages that a script of bench/ needs beside Python's own library: named, with how to get them, where they are missing."""

import importlib.util
import os
import sys

OF_PYPI = {"faiss": "faiss-cpu", "sklearn": "scikit-learn"}  # packages with another name on PyPI than in Python


def packages(*names):
    """Ends the script with an error where a package is not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        install = " ".join(OF_PYPI.get(name, name) for name in missing)
        sys.exit(f"{os.path.basename(sys.argv[0])}: error: found no Python package {', '.join(missing)}; to install it: "
                 f"{sys.executable} -m pip install {install}")
