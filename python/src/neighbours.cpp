#include "python/src/neighbours.hpp"

#include "core/error.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/dense_collection.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/metric_collection.hpp"
#include "knn/metric/search.hpp"
#include "knn/neighbours.hpp"
#include "knn/searcher.hpp"
#include "knn/similarity.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/weighting.hpp"
#include "knn/text/text_collection.hpp"
#include "knn/text/text_index.hpp"
#include "python/src/data.hpp"
#include "python/src/run.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;

datasets::element element_of(nb::dlpack::dtype type) {
  using code = nb::dlpack::dtype_code;
  auto const is = [&](code of, int bits) {
    return type.code == static_cast<std::uint8_t>(of) && type.bits == bits && type.lanes == 1;
  };
  if (is(code::Float, 32)) return datasets::element::float32;
  if (is(code::Float, 64)) return datasets::element::float64;
  if (is(code::Float, 16)) return datasets::element::float16;
  if (is(code::Bfloat, 16)) return datasets::element::bfloat16;
  if (is(code::Int, 8)) return datasets::element::int8;
  if (is(code::UInt, 8)) return datasets::element::uint8;
  if (is(code::Int, 32)) return datasets::element::int32;
  throw usage_error(
      "found values of an unknown type, expected float of 16, 32 or 64 bits, bfloat16, int8, uint8 "
      "or int32");
}

/// Neighbours and their values, both [queries x k]; missing ones are -1 and NaN.
nb::tuple arrays_of(knn::neighbours&& found) {
  for (std::size_t i = 0; i < found.id.size(); ++i)
    if (found.id[i] == knn::no_neighbour) found.value[i] = std::numeric_limits<double>::quiet_NaN();
  std::size_t const queries = found.queries, k = found.k;
  std::vector<std::int64_t> ids(found.id.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = found.id[i] == knn::no_neighbour ? -1 : std::int64_t{found.id[i]};
  return nb::make_tuple(matrix_of(std::move(found.value), queries, k),
                        matrix_of(std::move(ids), queries, k));
}

/// Row offsets by query, the rows and their values.
nb::tuple arrays_of(knn::rows_in_range&& found) {
  std::vector<std::int64_t> begin(found.begin.begin(), found.begin.end());
  std::vector<std::int64_t> rows(found.row.begin(), found.row.end());
  return nb::make_tuple(array_of(std::move(begin)), array_of(std::move(found.value)),
                        array_of(std::move(rows)));
}

void keep_only(knn::searcher& search, input_vector<std::uint64_t> const& filter) {
  if (auto const bits = span_of(filter); !bits.empty()) search.keep_only(bits);
}

/// Vectors with an engine that searches them.
class python_dense_index {
 public:
  static python_dense_index build(run_settings const& how, row_array const& rows,
                                  std::string const& metric, std::string const& engine) {
    return python_dense_index(run(how, [&](context const& ctx) {
      return knn::dense_collection(
          knn::dense_index(ctx, vectors_of(ctx, rows, "X"),
                           {knn::dense_similarity_from(metric), knn::dense_engine_from(engine)}));
    }));
  }
  static python_dense_index open(run_settings const& how, std::string const& path,
                                 std::string const& engine) {
    return python_dense_index(run(how, [&](context const& ctx) {
      return knn::dense_collection::open(ctx, path, knn::dense_engine_from(engine));
    }));
  }

  void save(run_settings const& how, std::string const& path) const {
    run(how, [&](context const& ctx) { rows_->save(ctx, path); });
  }
  nb::tuple search(run_settings const& how, row_array const& queries, std::size_t k,
                   input_vector<std::uint64_t> const& filter) const {
    return arrays_of(run(
        how, [&](context const& ctx) { return search_for(ctx, queries, filter).nearest(ctx, k); }));
  }
  nb::tuple search_range(run_settings const& how, row_array const& queries, double radius,
                         input_vector<std::uint64_t> const& filter) const {
    return arrays_of(run(how, [&](context const& ctx) {
      return search_for(ctx, queries, filter).within(ctx, radius);
    }));
  }
  std::size_t size() const { return rows_->size(); }
  std::size_t dimensions() const { return rows_->first_index().dimensions(); }
  std::string metric() const { return std::string(knn::name_of(rows_->first_index().metric())); }

 private:
  explicit python_dense_index(knn::dense_collection rows)
      : rows_(std::make_shared<knn::dense_collection const>(std::move(rows))) {}
  knn::dense_search search_for(context const& ctx, row_array const& queries,
                               input_vector<std::uint64_t> const& filter) const {
    knn::dense_search search(*rows_, vectors_of(ctx, queries, "queries"));
    keep_only(search, filter);
    return search;
  }

  std::shared_ptr<knn::dense_collection const> rows_;
};

void add_dense(nb::module_& to) {
  nb::class_<python_dense_index>(to, "DenseIndex", "Vectors made ready to be searched.")
      .def_static("build", &python_dense_index::build, "run"_a, "rows"_a, "metric"_a, "engine"_a)
      .def_static("open", &python_dense_index::open, "run"_a, "path"_a, "engine"_a)
      .def("save", &python_dense_index::save, "run"_a, "path"_a)
      .def_prop_ro("rows", &python_dense_index::size)
      .def_prop_ro("dimensions", &python_dense_index::dimensions)
      .def_prop_ro("metric", &python_dense_index::metric)
      .def("search", &python_dense_index::search, "run"_a, "queries"_a, "k"_a, "filter"_a)
      .def("search_range", &python_dense_index::search_range, "run"_a, "queries"_a, "radius"_a,
           "filter"_a);
}

/// A distance computed by Python: one call at a time, holding the interpreter's lock.
class python_distance {
 public:
  explicit python_distance(nb::callable distance)
      : distance_(std::make_shared<nb::callable>(std::move(distance))) {}
  double operator()(std::shared_ptr<nb::object> const& a,
                    std::shared_ptr<nb::object> const& b) const {
    nb::gil_scoped_acquire const acquired;
    nb::object const answer = (*distance_)(*a, *b);
    double distance = 0;
    if (!nb::try_cast(answer, distance) || !(distance >= 0))
      throw usage_error("metric: found the distance " + std::string(nb::repr(answer).c_str()) +
                        ", expected a number from 0");
    return distance;
  }

 private:
  std::shared_ptr<nb::callable> distance_;
};

using python_space = knn::object_space<std::shared_ptr<nb::object>, python_distance>;

std::vector<std::shared_ptr<nb::object>> objects_of(nb::sequence const& some) {
  std::vector<std::shared_ptr<nb::object>> objects;
  for (nb::handle const one : some)
    objects.push_back(
        std::shared_ptr<nb::object>(new nb::object(nb::borrow(one)), [](nb::object* kept) {
          nb::gil_scoped_acquire const held;
          delete kept;
        }));
  return objects;
}

/// Throws `usage_error` if a distance among this many random triples violates the metric axioms.
void expect_metric(context const& ctx, knn::metric_space const& space, std::size_t triples) {
  if (auto const breach = knn::check_metric(ctx, space, triples))
    throw usage_error("metric: found distances that are not a metric: " + breach->what);
}

/// Objects of a metric space from Python: vectors, words, or any objects with a callable.
class python_metric_index {
 private:
  /// Calls `use` with a search for the queries.
  template <class Use>
  auto with_queries(run_settings const& how, nb::object const& queries,
                    input_vector<std::uint64_t> const& filter, Use const& use) const {
    std::optional<row_array> rows;
    std::optional<knn::metric_asked> asked;
    if (objects().words)
      asked = nb::cast<std::vector<std::string>>(queries);
    else if (objects().vectors)
      rows = nb::cast<row_array>(queries);
    else
      asked = std::shared_ptr<knn::metric_queries const>(
          space_->queries(objects_of(nb::cast<nb::sequence>(queries))));
    return run(how, [&](context const& ctx) {
      if (rows) asked = vectors_of(ctx, *rows, "queries");
      knn::metric_search search(ctx, *collection_, asked);
      keep_only(search, filter);
      return use(ctx, search);
    });
  }

 public:
  static python_metric_index of_vectors(run_settings const& how, row_array const& rows,
                                        std::string const& metric,
                                        knn::metric_index_options const& options,
                                        std::size_t triples) {
    return python_metric_index(run(how, [&](context const& ctx) {
      auto const space = std::make_shared<knn::vector_space const>(
          ctx, vectors_of(ctx, rows, "X"), knn::metric_distance_from(metric));
      return collection_of(ctx, {space, nullptr}, options, triples);
    }));
  }
  static python_metric_index of_words(run_settings const& how, std::vector<std::string> words,
                                      std::string const& letters,
                                      knn::metric_index_options const& options,
                                      std::size_t triples) {
    auto const unit = knn::letters_from(letters);
    return python_metric_index(run(how, [&](context const& ctx) {
      auto const space = std::make_shared<knn::word_space const>(std::move(words), unit);
      return collection_of(ctx, {nullptr, space}, options, triples);
    }));
  }
  static python_metric_index of_objects(run_settings const& how, nb::sequence const& objects,
                                        nb::callable distance,
                                        knn::metric_index_options const& options,
                                        std::size_t triples) {
    auto const space =
        std::make_shared<python_space const>(objects_of(objects), python_distance(distance));
    python_metric_index made(run(how, [&](context const& ctx) {
      return collection_of(ctx, {nullptr, nullptr, space}, options, triples);
    }));
    made.space_ = space;
    return made;
  }
  static python_metric_index open(run_settings const& how, std::string const& path) {
    return python_metric_index(
        run(how, [&](context const& ctx) { return knn::metric_collection::open(ctx, path); }));
  }

  void save(run_settings const& how, std::string const& path) const {
    run(how, [&](context const& ctx) { collection_->save(ctx, path); });
  }
  nb::tuple search(run_settings const& how, nb::object const& queries, std::size_t k,
                   input_vector<std::uint64_t> const& filter) const {
    return arrays_of(with_queries(
        how, queries, filter,
        [&](context const& ctx, knn::searcher const& search) { return search.nearest(ctx, k); }));
  }
  nb::tuple search_range(run_settings const& how, nb::object const& queries, double radius,
                         input_vector<std::uint64_t> const& filter) const {
    return arrays_of(
        with_queries(how, queries, filter, [&](context const& ctx, knn::searcher const& search) {
          return search.within(ctx, radius);
        }));
  }
  std::size_t size() const { return collection_->size(); }
  std::string type() const { return std::string(knn::name_of(collection_->first_type())); }
  std::string kind() const {
    return objects().vectors ? "vectors" : objects().words ? "words" : "objects";
  }
  std::size_t dimensions() const {
    return objects().vectors ? objects().vectors->rows().dimensions() : 0;
  }

  /// The parameters of an estimator that makes such an index of vectors or words.
  nb::dict parameters() const {
    knn::metric_index_options const& options = collection_->first_options();
    nb::dict all;
    all["index"] = type();
    if (knn::has_bucket(options.type)) all["bucket"] = options.bucket;
    if (knn::has_alpha(options.type)) all["alpha"] = options.alpha;
    all["metric"] = std::string(knn::name_of(objects().which()));
    if (objects().words)
      all["letters"] = objects().words->unit() == knn::letters::bytes ? "bytes" : "code-points";
    return all;
  }

 private:
  explicit python_metric_index(knn::metric_collection objects)
      : collection_(std::make_shared<knn::metric_collection const>(std::move(objects))) {}
  static knn::metric_collection collection_of(context const& ctx, knn::metric_objects objects,
                                              knn::metric_index_options const& options,
                                              std::size_t triples) {
    expect_metric(ctx, *objects.space(), triples);
    return {ctx, std::move(objects), options};
  }
  knn::metric_objects const& objects() const { return collection_->first_objects(); }

  std::shared_ptr<knn::metric_collection const> collection_;
  std::shared_ptr<python_space const> space_;  // if the metric is a callable
};

void add_metric(nb::module_& to) {
  nb::class_<knn::metric_index_options>(to, "MetricOptions", "How a metric index is made.")
      .def(
          "__init__",
          [](knn::metric_index_options* self, std::string const& index, std::size_t bucket,
             double alpha) {
            new (self)
                knn::metric_index_options{.type = knn::metric_index_type_from(index),
                                          .bucket = bucket,
                                          .alpha = alpha,
                                          .queries = std::numeric_limits<std::size_t>::max()};
          },
          "index"_a, "bucket"_a, "alpha"_a);
  nb::class_<python_metric_index>(to, "MetricIndex", "Objects of a metric space.")
      .def_static("of_vectors", &python_metric_index::of_vectors, "run"_a, "rows"_a, "metric"_a,
                  "options"_a, "triples"_a)
      .def_static("of_words", &python_metric_index::of_words, "run"_a, "words"_a, "letters"_a,
                  "options"_a, "triples"_a)
      .def_static("of_objects", &python_metric_index::of_objects, "run"_a, "objects"_a,
                  "distance"_a, "options"_a, "triples"_a)
      .def_static("open", &python_metric_index::open, "run"_a, "path"_a)
      .def("save", &python_metric_index::save, "run"_a, "path"_a)
      .def("search", &python_metric_index::search, "run"_a, "queries"_a, "k"_a, "filter"_a)
      .def("search_range", &python_metric_index::search_range, "run"_a, "queries"_a, "radius"_a,
           "filter"_a)
      .def_prop_ro("rows", &python_metric_index::size)
      .def_prop_ro("kind", &python_metric_index::kind)
      .def_prop_ro("type", &python_metric_index::type)
      .def_prop_ro("dimensions", &python_metric_index::dimensions)
      .def_prop_ro("parameters", &python_metric_index::parameters);
}

std::vector<datasets::text_document> documents_of(std::vector<std::string> texts,
                                                  std::vector<std::string> ids) {
  std::vector<datasets::text_document> made(texts.size());
  for (std::size_t d = 0; d < texts.size(); ++d) {
    made[d].id = ids.empty() ? std::to_string(d) : std::move(ids.at(d));
    made[d].fields.push_back({"", std::move(texts[d])});
  }
  return made;
}

/// A text collection with an engine that searches it.
class python_text_index {
  template <class Use>
  auto with_queries(run_settings const& how, std::vector<std::string> texts,
                    input_vector<std::uint64_t> const& filter, bool pad, Use const& use) const {
    auto const queries = documents_of(std::move(texts), {});
    return run(how, [&](context const& ctx) {
      auto const searchers =
          documents_->searchers(ctx, {options().metric, knn::sparse_engine_from(engine_)});
      knn::text_search search(*documents_, searchers, queries, "queries", {pad});
      keep_only(search, filter);
      return use(ctx, search);
    });
  }

 public:
  python_text_index(knn::text_collection documents, std::string engine)
      : documents_(std::make_shared<knn::text_collection const>(std::move(documents))),
        engine_(std::move(engine)) {}

  static python_text_index open(run_settings const& how, std::string const& path,
                                std::string const& engine) {
    return {run(how, [&](context const& ctx) { return knn::text_collection::open(ctx, path); }),
            engine};
  }

  nb::tuple search(run_settings const& how, std::vector<std::string> texts, std::size_t k,
                   input_vector<std::uint64_t> const& filter, bool pad) const {
    return arrays_of(with_queries(
        how, std::move(texts), filter, pad,
        [&](context const& ctx, knn::searcher const& search) { return search.nearest(ctx, k); }));
  }
  nb::tuple search_range(run_settings const& how, std::vector<std::string> texts, double radius,
                         input_vector<std::uint64_t> const& filter) const {
    return arrays_of(with_queries(how, std::move(texts), filter, false,
                                  [&](context const& ctx, knn::searcher const& search) {
                                    return search.within(ctx, radius);
                                  }));
  }
  void save(run_settings const& how, std::string const& path) const {
    run(how, [&](context const& ctx) { documents_->save(ctx, path); });
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (std::uint32_t d = 0; d < size(); ++d) all.push_back(*documents_->id_of(d));
    return all;
  }
  std::size_t terms() const { return documents_->first_index().terms().size(); }
  std::size_t size() const { return documents_->size(); }

  /// The parameters of an estimator that makes such an index.
  nb::dict parameters() const {
    knn::text_index_options const& options = this->options();
    knn::analyzer_options const& words = options.analyzer;
    nb::dict all;
    if (options.weighting.how == knn::weighting::bm25) {
      all["weighting"] = "bm25";
      all["k1"] = options.weighting.k1;
      all["b"] = options.weighting.b;
    } else {
      all["weighting"] = knn::smart_name_of(options.weighting, options.metric);
    }
    all["stop_words"] = words.stop_words;
    all["stemmer"] = words.stemmer;
    all["fold"] = words.fold;
    all["numbers"] = words.keep_numbers;
    all["min_length"] = words.min_length;
    all["max_length"] = words.max_length;
    all["min_documents"] = options.min_documents;
    all["max_share"] = options.max_share;
    return all;
  }

 private:
  knn::text_index_options const& options() const { return documents_->first_index().options(); }
  std::shared_ptr<knn::text_collection const> documents_;
  std::string engine_;
};

/// The options of the analyzer and of terms; the weights are the default.
knn::text_index_options text_options(std::string const& stop_words, std::string const& stemmer,
                                     bool fold, bool numbers, std::size_t min_length,
                                     std::size_t max_length, std::size_t min_documents,
                                     double max_share) {
  knn::text_index_options options;
  options.analyzer = {.fold = fold,
                      .stop_words = stop_words,
                      .stemmer = stemmer,
                      .min_length = min_length,
                      .max_length = max_length,
                      .keep_numbers = numbers};
  options.min_documents = min_documents;
  options.max_share = max_share;
  return options;
}

void set_weighting(knn::text_index_options& options, std::string const& weighting, double k1,
                   double b) {
  if (weighting == "bm25") {
    options.weighting = {.how = knn::weighting::bm25};
    options.metric = knn::similarity::inner_product;
  } else {
    auto const both = knn::smart_weighting_from(weighting);
    options.weighting = both.weights;
    options.metric = both.metric;
  }
  options.weighting.k1 = k1;
  options.weighting.b = b;
}

void add_text(nb::module_& to) {
  nb::class_<knn::text_index_options>(to, "TextOptions", "How a collection becomes an index.")
      .def(
          "__init__",
          [](knn::text_index_options* self, std::string const& stop_words,
             std::string const& stemmer, bool fold, bool numbers, std::size_t min_length,
             std::size_t max_length, std::size_t min_documents, double max_share) {
            new (self)
                knn::text_index_options(text_options(stop_words, stemmer, fold, numbers, min_length,
                                                     max_length, min_documents, max_share));
          },
          "stop_words"_a, "stemmer"_a, "fold"_a, "numbers"_a, "min_length"_a, "max_length"_a,
          "min_documents"_a, "max_share"_a)
      .def("set_weighting", &set_weighting, "weighting"_a, "k1"_a, "b"_a);
  nb::class_<python_text_index>(to, "TextIndex", "A collection of documents ready to be searched.")
      .def_static(
          "build",
          [](run_settings const& how, std::vector<std::string> texts, std::vector<std::string> ids,
             knn::text_index_options const& options, std::string const& engine) {
            auto const documents = documents_of(std::move(texts), std::move(ids));
            return python_text_index(
                run(how,
                    [&](context const& ctx) {
                      return knn::text_collection(knn::text_index::build(ctx, documents, options));
                    }),
                engine);
          },
          "run"_a, "texts"_a, "ids"_a, "options"_a, "engine"_a)
      .def_static("open", &python_text_index::open, "run"_a, "path"_a, "engine"_a)
      .def("save", &python_text_index::save, "run"_a, "path"_a)
      .def("search", &python_text_index::search, "run"_a, "texts"_a, "k"_a, "filter"_a, "pad"_a)
      .def("search_range", &python_text_index::search_range, "run"_a, "texts"_a, "radius"_a,
           "filter"_a)
      .def_prop_ro("ids", &python_text_index::ids)
      .def_prop_ro("terms", &python_text_index::terms)
      .def_prop_ro("parameters", &python_text_index::parameters)
      .def_prop_ro("rows", &python_text_index::size);
}

}  // namespace

datasets::vectors vectors_of(context const& ctx, row_array const& array, std::string name) {
  datasets::element const type = element_of(array.dtype());
  nb::gil_scoped_acquire const acquired;
  std::shared_ptr<void const> const owner(new row_array(array), [](void const* kept) {
    nb::gil_scoped_acquire const held;
    delete static_cast<row_array const*>(kept);
  });
  datasets::vectors const rows(type, array.data(), array.shape(0), array.shape(1), owner,
                               std::move(name));
  nb::gil_scoped_release const released;
  using enum datasets::element;
  if (type == float64) return datasets::converted(ctx, rows, float32, datasets::rounding::nearest);
  if (type == int32) return datasets::converted(ctx, rows, float32);
  return rows;
}

void add_neighbours(nb::module_& to) {
  add_dense(to);
  add_metric(to);
  add_text(to);
}

}  // namespace rulerank::python
