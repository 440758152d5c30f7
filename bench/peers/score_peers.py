#!/usr/bin/env python3
"""Compares the time of one score by a card (exported C, the C interface, Python's `predict`) with boosted trees.

    score_peers.py LIBRARY OUT [--rounds 11] [--trees 500,1000] [--leaves 64] [--features 136] [--training 20000] [--passes 8]
                   [--program rulerank] [--folder FOLDER]

Run it by an interpreter that has the package rulerank, numpy and lightgbm. Sides whose packages are missing (tl2cgen, lleaves,
onnxruntime, onnxmltools) are left out, and the last row names them. LIBRARY is librulerank_c.so; a C compiler `cc` is needed.

A card of ten features and LightGBM's lambdarank models of --trees trees are fitted to the same synthetic documents. Each side scores
the same 1,000 other documents, C-order float64, in lists of 1, 100 and 1,000, on one core:

  card c             the exported C, called for each document: takes the card's ten values from the row, and gives the
                     contributions of the features too
  card interface     rulerank_score_double of the C interface, called for each list
  card predict       RuleRanker.predict, called from Python for each list
  card predict ten   RuleRanker.predict on rows with the card's ten features alone
  card onnx          the card's export in ONNX Runtime, called from Python for each list; gives the contributions too
  lightgbm c         LightGBM's C API: LGBM_BoosterPredictForMatSingleRowFast for lists of 1, else LGBM_BoosterPredictForMat
  lightgbm predict   Booster.predict, called from Python for each list
  treelite           the model compiled to C by tl2cgen and by cc -O3, called from C for each document
  lleaves            the model compiled by LLVM without inlining, which takes many minutes; called from C for each list
  lightgbm onnx      the model in ONNX Runtime (float32, by onnxmltools), called from Python for each list

The script compares scores before it prints a time. A card's scores have equal bits on all sides, and its contributions add up to its
scores. Scores of a LightGBM model differ by 1e-9 at most, or by float32's rounding in ONNX Runtime. Sides take turns; a round is
--passes passes over the documents. Rows go to OUT/rows.jsonl: microseconds of processor time a document, of all threads of the process
(median, least and most of the rounds), which other work on the machine changes less than wall time; these statistics of wall time; and
the ratio of the median to that of `card c`. With --folder, models and compiled code stay in a folder, and are not made again.
"""

import contextlib
import ctypes
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

needs.expect("lightgbm", "rulerank")
numpy, lightgbm = needs.packages("numpy", "lightgbm")

DOCUMENTS = 1000
LISTS = (1, 100, 1000)

DRIVER = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include "card.h"

typedef struct rulerank_model rulerank_model;
int rulerank_score_double(rulerank_model const *, double const *, size_t, size_t, size_t, size_t const *, size_t, double *, char *, size_t);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double time_card(double const *rows, size_t documents, size_t columns, size_t const *column, size_t passes, double *scores,
                 double *contributions) {
  double const begin = now();
  for (size_t p = 0; p < passes; ++p)
    for (size_t d = 0; d < documents; ++d) {
      double values[CARD_FEATURES];
      for (size_t f = 0; f < CARD_FEATURES; ++f) values[f] = rows[d * columns + column[f]];
      scores[d] = card_score(values, contributions + d * CARD_FEATURES);
    }
  return now() - begin;
}

double time_interface(rulerank_model const *model, double const *rows, size_t documents, size_t columns, size_t list, size_t passes,
                      double *scores) {
  char error[200];
  double const begin = now();
  for (size_t p = 0; p < passes; ++p)
    for (size_t d = 0; d < documents; d += list)
      if (rulerank_score_double(model, rows + d * columns, list, columns, columns, NULL, 0, scores + d, error, sizeof error) != 0) return -1;
  return now() - begin;
}

typedef int (*single_row)(void *, void const *, int64_t *, double *);
double time_single(single_row predict, void *fast, double const *rows, size_t documents, size_t columns, size_t passes, double *scores) {
  int64_t length;
  double const begin = now();
  for (size_t p = 0; p < passes; ++p)
    for (size_t d = 0; d < documents; ++d)
      if (predict(fast, rows + d * columns, &length, scores + d) != 0) return -1;
  return now() - begin;
}

typedef int (*for_matrix)(void *, void const *, int, int32_t, int32_t, int, int, int, int, char const *, int64_t *, double *);
double time_matrix(for_matrix predict, void *booster, double const *rows, size_t documents, size_t columns, size_t list, size_t passes,
                   double *scores) {
  int64_t length;
  double const begin = now();
  for (size_t p = 0; p < passes; ++p)
    for (size_t d = 0; d < documents; d += list)
      if (predict(booster, rows + d * columns, 1, (int32_t)list, (int32_t)columns, 1, 0, 0, -1, "num_threads=1", &length, scores + d) != 0)
        return -1;
  return now() - begin;
}

typedef void (*of_row)(double const *, int, double *);
double time_rows(of_row predict, double const *rows, size_t documents, size_t columns, size_t passes, double *scores) {
  double const begin = now();
  for (size_t p = 0; p < passes; ++p)
    for (size_t d = 0; d < documents; ++d) {
      scores[d] = 0;  // predict adds to it
      predict(rows + d * columns, 0, scores + d);
    }
  return now() - begin;
}

typedef void (*of_range)(double const *, double *, int, int);
double time_ranges(of_range predict, double const *rows, size_t documents, size_t columns, size_t list, size_t passes, double *scores) {
  double const begin = now();
  for (size_t p = 0; p < passes; ++p)
    for (size_t d = 0; d < documents; d += list) predict(rows + d * columns, scores + d, 0, (int)list);
  return now() - begin;
}
"""


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def size(number):
    return ctypes.c_size_t(number)


def in_lists(call, X, count):
    """A pass of Python calls: its scores."""
    return numpy.concatenate([call(X[d:d + count]) for d in range(0, len(X), count)])


class Sides:
    """{name: function of the size of lists and of passes}, which gives processor seconds and scores."""

    def __init__(self, library, X):
        self.library, self.X, self.all = library, X, {}
        self.owners = []  # of code that the functions call

    def native(self, name, function, arguments):
        """`arguments` gives those of the driver's function, from the size of lists, the passes and the scores."""
        function = getattr(self.library, function)
        function.restype = ctypes.c_double

        def run(count, passes):
            scores = numpy.empty(len(self.X))
            seconds = function(*arguments(size(count), size(passes), pointer(scores)))
            if seconds < 0:
                common.fail(f"{name}: the call failed")
            return seconds, scores
        self.all[name] = run

    @property
    def rows(self):
        return pointer(self.X), size(len(self.X)), size(self.X.shape[1])

    def python(self, name, call, X=None):
        X = self.X if X is None else X

        def run(count, passes):
            begin = time.process_time()
            for _ in range(passes):
                scores = in_lists(call, X, count)
            return time.process_time() - begin, scores
        self.all[name] = run


def card_sides(sides, ranker, ten, column, library_path):
    library, X = sides.library, sides.X
    contributions = numpy.empty((len(X), len(column)))
    sides.native("card c", "time_card", lambda count, passes, scores: (*sides.rows, pointer(column), passes, scores, pointer(contributions)))
    alone = sides.all["card c"]

    def checked(count, passes):
        seconds, scores = alone(count, passes)
        if (contributions.sum(axis=1) != scores).any():
            common.fail("card c: the contributions do not add up to the scores")
        return seconds, scores
    sides.all["card c"] = checked
    interface = ctypes.CDLL(str(library_path))
    model, error = ctypes.c_void_p(), ctypes.create_string_buffer(200)
    if interface.rulerank_model_read(b"card.model", ctypes.byref(model), error, size(200)) != 0:
        common.fail(error.value.decode())
    sides.native("card interface", "time_interface", lambda *which: (model, *sides.rows, *which))
    sides.python("card predict", ranker.predict)
    sides.python("card predict ten", ten.predict, numpy.ascontiguousarray(X[:, column]))
    if importlib.util.find_spec("onnxruntime"):
        ranker.export("card.onnx", "onnx")
        run = onnx_session("card.onnx").run
        sides.python("card onnx", lambda rows: run(["score", "contributions"], {"values": rows})[0].ravel(),
                     numpy.ascontiguousarray(X[:, column]))


def onnx_session(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def lightgbm_sides(sides, booster, path):
    X = sides.X
    library = ctypes.CDLL(str(pathlib.Path(lightgbm.__file__).parent / "lib" / "lib_lightgbm.so"))
    handle, fast, iterations = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    library.LGBM_BoosterCreateFromModelfile(path.encode(), ctypes.byref(iterations), ctypes.byref(handle))
    library.LGBM_BoosterPredictForMatSingleRowFastInit(handle, 0, 0, -1, 1, X.shape[1], b"num_threads=1", ctypes.byref(fast))
    predict_row, predict_rows = library.LGBM_BoosterPredictForMatSingleRowFast, library.LGBM_BoosterPredictForMat
    sides.native("lightgbm c", "time_matrix", lambda *which: (predict_rows, handle, *sides.rows, *which))
    matrix = sides.all["lightgbm c"]
    sides.native("lightgbm c", "time_single", lambda count, *which: (predict_row, fast, *sides.rows, *which))
    single = sides.all["lightgbm c"]
    sides.all["lightgbm c"] = lambda count, passes: (single if count == 1 else matrix)(count, passes)
    sides.python("lightgbm predict", lambda rows: booster.predict(rows, num_threads=1))
    if importlib.util.find_spec("tl2cgen"):
        import tl2cgen
        import treelite

        if not pathlib.Path(f"{path}.so").exists():
            tl2cgen.export_lib(treelite.frontend.load_lightgbm_model(path), toolchain="gcc", libpath=f"./{path}.so",
                               params={"parallel_comp": 32}, nthread=2)
        compiled = ctypes.CDLL(f"./{path}.so")
        sides.native("treelite", "time_rows", lambda count, *which: (compiled.predict, *sides.rows, *which))
    if importlib.util.find_spec("lleaves"):
        import lleaves

        model = lleaves.Model(model_file=path)
        model.compile(cache=f"{path}.lleaves", finline=False)
        sides.owners.append(model)
        entry = ctypes.cast(model._c_entry_func, ctypes.c_void_p)
        sides.native("lleaves", "time_ranges", lambda *which: (entry, *sides.rows, *which))
    if importlib.util.find_spec("onnxmltools") and importlib.util.find_spec("onnxruntime"):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType

        made = onnxmltools.convert_lightgbm(booster, initial_types=[("values", FloatTensorType([None, X.shape[1]]))], zipmap=False)
        pathlib.Path(path + ".onnx").write_bytes(made.SerializeToString())
        session = onnx_session(path + ".onnx")
        output = session.get_outputs()[0].name
        sides.python("lightgbm onnx", lambda rows: session.run([output], {"values": rows})[0].ravel(), X.astype(numpy.float32))


def documents(rulerank, count, features):
    """Random values that float32 holds exactly, so that all sides read the same ones; each query has 20 documents."""
    drawn = rulerank.load_letor("drawn/Fold1/train.txt")
    keep = slice(0, count)
    return drawn.X[keep].astype(numpy.float32).astype(numpy.float64)[:, :features], drawn.y[keep], drawn.qid[keep]


def main():
    arguments = common.arguments(__doc__, "library", "out", rounds=11, trees=[500, 1000], leaves=64, features=136, training=20000,
                                 passes=8, program="rulerank", folder=pathlib.Path)
    import rulerank

    warnings.simplefilter("ignore")
    log = common.Log(arguments.out / "rows.jsonl", shown=True)
    program = common.path_of(arguments.program)
    with contextlib.nullcontext(arguments.folder) if arguments.folder else common.scratch() as folder:
        os.chdir(folder)
        common.call(program, "sample", "--documents", 2 * (arguments.training + DOCUMENTS), "--features", arguments.features,
                    "--queries", (arguments.training + DOCUMENTS) // 10, "--fold-count", 1, "--out-dir", "drawn", "--quiet")
        X, y, qid = documents(rulerank, arguments.training + DOCUMENTS, arguments.features)
        scored = numpy.ascontiguousarray(X[-DOCUMENTS:])
        X, y, qid = X[:-DOCUMENTS], y[:-DOCUMENTS], qid[:-DOCUMENTS]
        ranker = rulerank.RuleRanker("card", target="labels", loss="pair", smoothness=0.1, n_jobs=1, qid_column=None).fit(X, y, qid)
        ranker.save("card.model")
        ranker.export("card.h", "c")
        column = numpy.flatnonzero(ranker.feature_importances_).astype(numpy.uintp)
        text = ranker.card_text()
        for place, of in enumerate(column.tolist()):  # the same card of ten columns
            text = "\n".join(f"{line.split()[0]} {place + 1}" if line[:1].isalpha() and line.split()[1] == str(of + 1) else line
                             for line in text.splitlines())
        ten = rulerank.RuleRanker("card", card=text, n_jobs=1, qid_column=None).fit(numpy.ascontiguousarray(X[:, column]), y, qid)
        pathlib.Path("driver.c").write_text(DRIVER)
        common.call("cc", "-std=c11", "-D_POSIX_C_SOURCE=199309L", "-O2", "-shared", "-fPIC", "driver.c", arguments.library, "-o", "driver.so")
        ctypes.CDLL(str(arguments.library), mode=ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL("./driver.so")
        cards = Sides(library, scored)
        card_sides(cards, ranker, ten, column, arguments.library)
        models = {}
        _, sizes = numpy.unique(qid, return_counts=True)
        for trees in arguments.trees:
            path = pathlib.Path(f"model-{trees}.txt")
            booster = lightgbm.Booster(model_file=path) if path.exists() else lightgbm.train({"objective": "lambdarank", "num_leaves": arguments.leaves, "verbose": -1, "seed": 1,
                                      "min_data_in_leaf": 5}, lightgbm.Dataset(X, y, group=sizes), trees)
            booster.save_model(path)
            leaves = sum(tree["num_leaves"] for tree in booster.dump_model()["tree_info"])
            models[trees] = booster, leaves / booster.num_trees(), Sides(library, scored)
            lightgbm_sides(models[trees][2], booster, str(path))
        core = max(os.sched_getaffinity(0))
        for thread in os.listdir("/proc/self/task"):  # also those that serve the package's calls
            os.sched_setaffinity(int(thread), {core})
        measure(log, arguments, ranker, cards, models, scored, len(column))
    packages = ("rulerank", "numpy", "lightgbm", "treelite", "tl2cgen", "lleaves", "onnxruntime", "onnxmltools")
    versions = {name: importlib.metadata.version(name) for name in packages if importlib.util.find_spec(name)}
    log.add({"machine": common.machine(), "load": os.getloadavg()[0], "commit": rulerank.__commit__,
             "compiler": common.output("cc", "--version").splitlines()[0], "versions": versions,
             "missing": [name for name in packages if name not in versions]})
    common.manifest(arguments.out / "manifest.json", commit=rulerank.__commit__, build=common.build(program), versions=versions,
                    data="synthetic, generated by the script")


def measure(log, arguments, ranker, cards, models, scored, features):
    """Compares the scores of all sides, and then times them in turn."""
    expected = {0: ranker.predict(scored)} | {trees: booster.predict(scored, num_threads=1)
                                              for trees, (booster, _, _) in models.items()}
    named = {(name, 0): run for name, run in cards.all.items()}
    named |= {(name, trees): run for trees, (_, _, sides) in models.items() for name, run in sides.all.items()}
    for count in LISTS:
        for (name, trees), run in named.items():
            far = numpy.abs(run(count, 1)[1] - expected[trees])
            most = 1e-4 if name == "lightgbm onnx" else 1e-9 if trees else 0
            if (numpy.median(far) if name == "lightgbm onnx" else far.max()) > most:
                common.fail(f"{name}, {trees} trees, lists of {count}: scores differ by {far.max()}, expected {most} at most")
        times = common.in_turn(arguments.rounds, {side: lambda run=run: common.timed(lambda: run(count, arguments.passes)[0])
                                                  for side, run in named.items()})
        scale = 1e6 / (arguments.passes * DOCUMENTS)
        microseconds = {side: common.spread([scale * cpu for _, cpu in found]) for side, found in times.items()}
        wall = {side: common.spread([scale * seconds for seconds, _ in found]) for side, found in times.items()}
        for (name, trees), found in microseconds.items():
            log.add({"list": count, "side": name, "trees": trees or None, "leaves": models[trees][1] if trees else None,
                     "card_features": None if trees else features, "features": scored.shape[1],
                     "rounds": arguments.rounds, "us_a_document": found, "wall_us_a_document": wall[name, trees],
                     "us_a_list": count * found["median"],
                     "over_card_c": found["median"] / microseconds["card c", 0]["median"], "load": os.getloadavg()[0]})


if __name__ == "__main__":
    main()
