"""score.py LIBRARY MODEL < ROWS: what score.c does, by Python's ctypes."""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_size_t, c_void_p


def load(path):
    """The library; of functions with pointers or sizes, ctypes must know the types."""
    library = ctypes.CDLL(path)
    rows = [c_void_p, POINTER(c_double), c_size_t, c_size_t, c_size_t, POINTER(c_size_t), c_size_t]
    text = [c_char_p, c_size_t]
    library.rulerank_model_read.argtypes = [c_char_p, POINTER(c_void_p), *text]
    library.rulerank_model_free.argtypes = [c_void_p]
    library.rulerank_model_free.restype = None
    for name in ("columns", "terms"):
        function = getattr(library, f"rulerank_model_{name}")
        function.argtypes, function.restype = [c_void_p], c_size_t
    library.rulerank_score_double.argtypes = [*rows, POINTER(c_double), *text]
    library.rulerank_explain_double.argtypes = [*rows, POINTER(c_double), POINTER(c_double), *text]
    return library


def call(function, *arguments):
    """Calls a function that can fail; exits with its code if it does."""
    error = ctypes.create_string_buffer(256)
    code = function(*arguments, error, len(error))
    if code != 0:
        print("score:", error.value.decode(), file=sys.stderr)
        sys.exit(code)


def main():
    library = load(sys.argv[1])
    model = c_void_p()
    call(library.rulerank_model_read, sys.argv[2].encode(), byref(model))
    columns, terms = library.rulerank_model_columns(model), library.rulerank_model_terms(model)
    numbers = [float(word) for word in sys.stdin.read().split()]
    rows = len(numbers) // columns
    values = (c_double * len(numbers))(*numbers)
    scores, base, added = (c_double * rows)(), (c_double * rows)(), (c_double * (rows * terms))()
    of = model, values, rows, columns, columns, None, 0
    call(library.rulerank_score_double, *of, scores)
    call(library.rulerank_explain_double, *of, base, added)
    for d in range(rows):
        print(scores[d], base[d], *added[d * terms:(d + 1) * terms])
    library.rulerank_model_free(model)


if __name__ == "__main__":
    main()
