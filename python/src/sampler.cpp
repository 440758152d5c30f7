#include "python/src/sampler.hpp"

#include "al/labelling.hpp"
#include "al/sampler.hpp"
#include "core/error.hpp"
#include "datasets/feature_order.hpp"
#include "python/src/data.hpp"
#include "python/src/discretizer.hpp"
#include "python/src/run.hpp"

#include <cstddef>
#include <cstdint>
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

/// How documents are chosen; the feature order is computed from the items.
struct sampling {
  al::sampler_options options;
  datasets::feature_order order = datasets::feature_order::chi2;

  al::sampler_options for_items(context const& ctx, datasets::binned_dataset const& items) const {
    al::sampler_options made = options;
    made.feature_order = datasets::order_features(ctx, items, order);
    return made;
  }
};

/// The chosen documents, and all choices: document, partition, iteration and rules.
nb::tuple arrays_of(al::sample const& chosen) {
  std::vector<std::int64_t> documents(chosen.documents.begin(), chosen.documents.end());
  std::vector<std::int64_t> choices;
  for (al::choice const& one : chosen.choices)
    for (std::uint64_t const value : {std::uint64_t{one.document}, std::uint64_t{one.partition},
                                      std::uint64_t{one.iteration}, one.rules})
      choices.push_back(static_cast<std::int64_t>(value));
  return nb::make_tuple(array_of(std::move(documents)),
                        matrix_of(std::move(choices), chosen.choices.size(), 4));
}

/// A labelling with the objects that it refers to.
class python_labelling {
 public:
  python_labelling(run_settings const& how, documents const& pool, fitted_cuts const& cuts,
                   sampling const& options)
      : items_(run(how,
                   [&](context const& ctx) {
                     return datasets::apply_discretizer(ctx, pool.data, *cuts.cuts);
                   })),
        ctx_{.threads = how.threads, .devices = {}, .seed = how.seed, .stop = {}, .progress = {}},
        work_(run(how, [&](context const& ctx) {
          datasets::expect_items(pool.data, items_);
          return al::labelling(ctx_, items_, options.for_items(ctx, items_));
        })) {}
  python_labelling(python_labelling const&) = delete;
  python_labelling& operator=(python_labelling const&) = delete;

  /// The next documents to ask about.
  output_vector<std::int64_t> batch(run_settings const& how, std::size_t count) const {
    std::vector<std::int64_t> rows;
    for (al::question const& one :
         run(how, [&](context const&) { return count == 1 ? first() : work_.batch(count); }))
      if (rows.size() < count) rows.push_back(static_cast<std::int64_t>(one.document));
    return array_of(std::move(rows));
  }
  void answer(run_settings const& how, std::size_t document, std::optional<std::int32_t> label) {
    run(how, [&](context const&) { work_.answer(document, label); });
  }
  bool undo(run_settings const& how) {
    return run(how, [&](context const&) { return work_.undo(); });
  }
  nb::dict outlook(run_settings const& how, std::size_t next) const {
    al::outlook const found = run(how, [&](context const&) { return work_.look_ahead(next); });
    nb::dict all;
    all["rules"] = found.rules;
    all["next"] = found.next;
    all["next_rules"] = found.next_rules;
    all["documents"] = found.documents;
    all["documents_low"] = found.documents_low;
    all["documents_high"] = found.documents_high;
    all["documents_left_out"] = found.left_out;
    all["minority_labels"] = found.minority_labels;
    return all;
  }
  bool finished() const { return work_.finished(); }
  nb::tuple take() const { return arrays_of(work_.take()); }

 private:
  std::vector<al::question> first() const {
    auto const& wanted = work_.wanted();
    return {wanted.begin(), wanted.begin() + (wanted.empty() ? 0 : 1)};
  }

  datasets::binned_dataset items_;
  context ctx_;
  al::labelling work_;
};

}  // namespace

void add_sampler(nb::module_& to) {
  nb::class_<sampling>(to, "SamplerOptions", "How documents are chosen.")
      .def(
          "__init__",
          [](sampling* self, rules::rule_size rule_size, std::uint32_t min_support,
             double min_confidence, std::size_t partitions, std::string const& feature_order,
             std::size_t max_documents, std::vector<std::size_t> query_begin,
             std::string const& engine) {
            sampling made;
            made.order = datasets::feature_order_from(feature_order);
            made.options.rule_size = rule_size;
            made.options.thresholds = {min_support, min_confidence};
            made.options.partitions = partitions;
            made.options.max_documents = max_documents;
            made.options.query_begin = std::move(query_begin);
            made.options.engine = al::engine_from(engine);
            // As in `reduce`: published engines stop instead.
            auto const* const named = find_engine(al::engines(), made.options.engine);
            made.options.fill_budget =
                max_documents != 0 && (named == nullptr || named->source.empty());
            new (self) sampling(std::move(made));
          },
          "rule_size"_a, "min_support"_a, "min_confidence"_a, "partitions"_a, "feature_order"_a,
          "max_documents"_a, "query_begin"_a, "engine"_a);
  to.def(
      "reduce",
      [](run_settings const& how, documents const& train, fitted_cuts const& cuts,
         sampling const& options) {
        return arrays_of(run(how, [&](context const& ctx) {
          auto const items = datasets::apply_discretizer(ctx, train.data, *cuts.cuts);
          datasets::expect_items(train.data, items);
          return al::reduce(ctx, items, options.for_items(ctx, items));
        }));
      },
      "run"_a, "train"_a, "cuts"_a, "options"_a,
      "The chosen documents, and of each choice document, partition, iteration and rules.");
  nb::class_<python_labelling>(to, "Labelling", "Sampling with the labels given one by one.")
      .def(nb::init<run_settings const&, documents const&, fitted_cuts const&, sampling const&>(),
           "run"_a, "pool"_a, "cuts"_a, "options"_a)
      .def("batch", &python_labelling::batch, "run"_a, "count"_a)
      .def("answer", &python_labelling::answer, "run"_a, "document"_a, "label"_a.none())
      .def("undo", &python_labelling::undo, "run"_a)
      .def("outlook", &python_labelling::outlook, "run"_a, "next"_a)
      .def_prop_ro("finished", &python_labelling::finished)
      .def("take", &python_labelling::take);
}

}  // namespace rulerank::python
