#include "python/src/neighbours.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/search.hpp"
#include "knn/neighbours.hpp"
#include "knn/parts/index_in_parts.hpp"
#include "knn/similarity.hpp"
#include "knn/sparse/search.hpp"
#include "knn/sparse/weighting.hpp"
#include "knn/text/text_index.hpp"
#include "python/src/data.hpp"
#include "python/src/run.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
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
      "found values of another type, expected float of 16, 32 or 64 bits, bfloat16, int8, uint8 or "
      "int32");
}

/// Numbers of neighbours, -1 behind the last one, and their values, NaN there: [queries x k].
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

/// Where the rows of each query begin, the rows and their values.
nb::tuple arrays_of(knn::rows_in_range&& found) {
  std::vector<std::int64_t> begin(found.begin.begin(), found.begin.end());
  std::vector<std::int64_t> rows(found.row.begin(), found.row.end());
  return nb::make_tuple(array_of(std::move(begin)), array_of(std::move(found.value)),
                        array_of(std::move(rows)));
}

/// Throws `usage_error` where an index of several files would be written.
[[noreturn]] void refuse_parts() {
  throw usage_error(
      "found an index in parts, which cannot be saved or pickled: expected a copy of its files");
}

/// Vectors made ready to be searched: an index, or the parts of one.
class python_dense_index {
 public:
  static python_dense_index build(run_settings const& how, row_array const& rows,
                                  std::string const& metric, std::string const& engine) {
    python_dense_index made;
    run(how, [&](context const& ctx) {
      made.whole_ = std::make_shared<knn::dense_index const>(
          ctx, vectors_of(ctx, rows, "X"),
          knn::dense_index_options{knn::dense_similarity_from(metric),
                                   knn::dense_engine_from(engine)});
    });
    return made;
  }
  static python_dense_index open(run_settings const& how, std::string const& path,
                                 std::string const& engine) {
    python_dense_index made;
    run(how, [&](context const& ctx) {
      made.parts_ = knn::dense_parts::open(ctx, path, knn::dense_engine_from(engine));
      if (!made.parts_)
        made.whole_ = std::make_shared<knn::dense_index const>(
            knn::dense_index::open(ctx, path, knn::dense_engine_from(engine)));
    });
    return made;
  }

  void save(run_settings const& how, std::string const& path) const {
    if (parts_) refuse_parts();
    run(how, [&](context const& ctx) { whole_->save(ctx, path); });
  }
  nb::tuple search(run_settings const& how, row_array const& queries, std::size_t k,
                   input_vector<std::uint64_t> const& filter) const {
    return arrays_of(run(how, [&](context const& ctx) {
      datasets::vectors const some = vectors_of(ctx, queries, "queries");
      return parts_ ? parts_->search(ctx, some, k, span_of(filter))
                    : whole_->search(ctx, some, k, {span_of(filter), {}});
    }));
  }
  nb::tuple search_range(run_settings const& how, row_array const& queries, double radius,
                         input_vector<std::uint64_t> const& filter) const {
    return arrays_of(run(how, [&](context const& ctx) {
      datasets::vectors const some = vectors_of(ctx, queries, "queries");
      return parts_ ? parts_->search_range(ctx, some, radius, span_of(filter))
                    : whole_->search_range(ctx, some, radius, {span_of(filter), {}});
    }));
  }
  std::size_t size() const { return parts_ ? parts_->size() : whole_->size(); }
  std::size_t dimensions() const { return parts_ ? parts_->dimensions() : whole_->dimensions(); }
  std::string metric() const {
    return std::string(knn::name_of(parts_ ? parts_->metric() : whole_->metric()));
  }

 private:
  std::shared_ptr<knn::dense_index const> whole_;
  std::optional<knn::dense_parts> parts_;
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

/// A distance that Python computes: one call at a time, with the interpreter's lock.
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

/// Throws `usage_error` where so many random triples have distances that are no metric's.
void expect_metric(context const& ctx, knn::metric_space const& space, std::size_t triples) {
  if (auto const breach = knn::check_metric(ctx, space, triples))
    throw usage_error("metric: found distances that are no metric's: " + breach->what);
}

/// Objects of a metric space that Python holds: vectors, words, or any under a callable.
class python_metric_index {
 private:
  template <class Search>
  auto with_queries(run_settings const& how, nb::object const& queries,
                    Search const& search) const {
    if (words_) {
      auto const some = nb::cast<std::vector<std::string>>(queries);
      return run(how, [&](context const& ctx) { return search(ctx, *words_->queries(some)); });
    }
    if (objects_) {
      auto const some = objects_->queries(objects_of(nb::cast<nb::sequence>(queries)));
      return run(how, [&](context const& ctx) { return search(ctx, *some); });
    }
    auto const rows = nb::cast<row_array>(queries);
    return run(how, [&](context const& ctx) {
      return search(ctx, *vectors_->queries(ctx, vectors_of(ctx, rows, "queries")));
    });
  }

  template <class Search>
  auto in_parts(run_settings const& how, nb::object const& queries, Search const& search) const {
    if (words_) {
      auto some = nb::cast<std::vector<std::string>>(queries);
      return run(how, [&](context const& ctx) {
        return search(ctx, knn::metric_parts::queries(std::move(some)));
      });
    }
    auto const rows = nb::cast<row_array>(queries);
    return run(how, [&](context const& ctx) {
      return search(ctx, knn::metric_parts::queries(vectors_of(ctx, rows, "queries")));
    });
  }

 public:
  static python_metric_index of_vectors(run_settings const& how, row_array const& rows,
                                        std::string const& metric,
                                        knn::metric_index_options const& options,
                                        std::size_t triples) {
    python_metric_index made;
    run(how, [&](context const& ctx) {
      made.vectors_ = std::make_shared<knn::vector_space const>(ctx, vectors_of(ctx, rows, "X"),
                                                                knn::metric_distance_from(metric));
      expect_metric(ctx, *made.vectors_, triples);
      made.index_.emplace(ctx, made.vectors_, options);
    });
    return made;
  }
  static python_metric_index of_words(run_settings const& how, std::vector<std::string> words,
                                      std::string const& letters,
                                      knn::metric_index_options const& options,
                                      std::size_t triples) {
    if (letters != "bytes" && letters != "code-points")
      throw usage_error("letters: found '" + letters + "', expected code-points or bytes");
    auto const unit = letters == "bytes" ? knn::letters::bytes : knn::letters::code_points;
    python_metric_index made;
    run(how, [&](context const& ctx) {
      made.words_ = std::make_shared<knn::word_space const>(std::move(words), unit);
      expect_metric(ctx, *made.words_, triples);
      made.index_.emplace(ctx, made.words_, options);
    });
    return made;
  }
  static python_metric_index of_objects(run_settings const& how, nb::sequence const& objects,
                                        nb::callable distance,
                                        knn::metric_index_options const& options,
                                        std::size_t triples) {
    python_metric_index made;
    made.objects_ =
        std::make_shared<python_space const>(objects_of(objects), python_distance(distance));
    run(how, [&](context const& ctx) {
      expect_metric(ctx, *made.objects_, triples);
      made.index_.emplace(ctx, made.objects_, options);
    });
    return made;
  }
  static python_metric_index open(run_settings const& how, std::string const& path) {
    python_metric_index made;
    run(how, [&](context const& ctx) {
      made.parts_ = knn::metric_parts::open(ctx, path);
      if (made.parts_) {
        made.vectors_ = made.parts_->first_vectors();
        made.words_ = made.parts_->first_words();
        return;
      }
      auto opened = knn::metric_index::open(ctx, path);
      made.vectors_ = opened.vectors;
      made.words_ = opened.words;
      made.index_.emplace(std::move(opened.index));
    });
    return made;
  }

  void save(run_settings const& how, std::string const& path) const {
    if (parts_) refuse_parts();
    run(how, [&](context const& ctx) { index_->save(ctx, path); });
  }
  nb::tuple search(run_settings const& how, nb::object const& queries, std::size_t k) const {
    if (parts_)
      return arrays_of(in_parts(how, queries, [&](context const& ctx, auto some) {
        return parts_->search(ctx, std::move(some), k);
      }));
    return arrays_of(with_queries(how, queries, [&](context const& ctx, auto const& some) {
      return index_->search(ctx, some, k);
    }));
  }
  nb::tuple search_range(run_settings const& how, nb::object const& queries, double radius) const {
    if (parts_)
      return arrays_of(in_parts(how, queries, [&](context const& ctx, auto some) {
        return parts_->search_range(ctx, std::move(some), radius);
      }));
    return arrays_of(with_queries(how, queries, [&](context const& ctx, auto const& some) {
      return index_->search_range(ctx, some, radius);
    }));
  }
  std::size_t size() const { return parts_ ? parts_->size() : index_->size(); }
  std::string type() const { return std::string(knn::name_of(options().type)); }
  std::string kind() const { return vectors_ ? "vectors" : words_ ? "words" : "objects"; }
  std::size_t dimensions() const { return vectors_ ? vectors_->rows().dimensions() : 0; }

  /// Those of an estimator that makes such an index of vectors or words.
  nb::dict parameters() const {
    knn::metric_index_options const& options = this->options();
    nb::dict all;
    all["index"] = type();
    if (knn::has_bucket(options.type)) all["bucket"] = options.bucket;
    if (knn::has_alpha(options.type)) all["alpha"] = options.alpha;
    knn::metric_distance const which = vectors_ ? vectors_->which() : knn::metric_distance::edit;
    all["metric"] = std::string(knn::name_of(which));
    if (words_) all["letters"] = words_->unit() == knn::letters::bytes ? "bytes" : "code-points";
    return all;
  }

 private:
  std::shared_ptr<knn::vector_space const> vectors_;
  std::shared_ptr<knn::word_space const> words_;
  knn::metric_index_options const& options() const {
    return parts_ ? parts_->options() : index_->options();
  }

  std::shared_ptr<python_space const> objects_;
  std::optional<knn::metric_index> index_;
  std::optional<knn::metric_parts> parts_;  // or these, whose first part has the space
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
      .def("search", &python_metric_index::search, "run"_a, "queries"_a, "k"_a)
      .def("search_range", &python_metric_index::search_range, "run"_a, "queries"_a, "radius"_a)
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

/// A text index or the parts of one, and what searches in it.
class python_text_index {
 public:
  python_text_index(run_settings const& how,
                    std::function<knn::text_index(context const&)> const& make,
                    std::string const& engine)
      : engine_(engine) {
    set_index(std::make_shared<knn::text_index const>(run(how, make)));
  }

  static python_text_index open(run_settings const& how, std::string const& path,
                                std::string const& engine) {
    python_text_index made(engine);
    run(how, [&](context const& ctx) {
      made.parts_ = knn::text_parts::open(ctx, path);
      if (!made.parts_)
        made.set_index(std::make_shared<knn::text_index const>(knn::text_index::open(ctx, path)));
    });
    return made;
  }

  nb::tuple search(run_settings const& how, std::vector<std::string> texts, std::size_t k,
                   bool pad) const {
    auto const queries = documents_of(std::move(texts), {});
    return arrays_of(run(how, [&](context const& ctx) {
      knn::sparse_search_options const asked{options().metric, knn::sparse_engine_from(engine_)};
      if (parts_) return parts_->search(ctx, queries, k, asked, {pad});
      return searcher_->get(ctx, asked)->search(ctx, index_->queries(ctx, queries), k, {pad});
    }));
  }
  void save(run_settings const& how, std::string const& path) const {
    if (parts_) refuse_parts();
    run(how, [&](context const&) {
      output_file file(path);
      std::span<std::byte const> const bytes = index_->bytes();
      file.write({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
      file.commit();
    });
  }
  std::vector<std::string> ids() const {
    if (parts_) return parts_->ids();
    std::vector<std::string> all;
    for (std::size_t d = 0; d < index_->ids().size(); ++d) all.emplace_back(index_->ids()[d]);
    return all;
  }
  std::size_t terms() const { return parts_ ? parts_->terms() : index_->terms().size(); }
  std::size_t size() const { return parts_ ? parts_->size() : index_->ids().size(); }

  /// Those of an estimator that makes such an index.
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
  explicit python_text_index(std::string engine) : engine_(std::move(engine)) {}
  void set_index(std::shared_ptr<knn::text_index const> index) {
    index_ = std::move(index);
    searcher_ = std::make_shared<knn::sparse_searcher_cache const>(
        std::shared_ptr<knn::sparse_index const>(index_, &index_->index()));
  }
  knn::text_index_options const& options() const {
    return parts_ ? parts_->options() : index_->options();
  }

  std::shared_ptr<knn::text_index const> index_;
  std::shared_ptr<knn::sparse_searcher_cache const> searcher_;  // of index_
  std::optional<knn::text_parts> parts_;                        // or these
  std::string engine_;
};

/// The analyzer's options and those of terms; the weights are the default.
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
                how,
                [&](context const& ctx) { return knn::text_index::build(ctx, documents, options); },
                engine);
          },
          "run"_a, "texts"_a, "ids"_a, "options"_a, "engine"_a)
      .def_static("open", &python_text_index::open, "run"_a, "path"_a, "engine"_a)
      .def("save", &python_text_index::save, "run"_a, "path"_a)
      .def("search", &python_text_index::search, "run"_a, "texts"_a, "k"_a, "pad"_a)
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
