#include "core/error.hpp"
#include "learners/learner.hpp"
#include "learners/library_versions.hpp"

#if RULERANK_HAS_XGBOOST
#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include <fmt/format.h>
#include <xgboost/c_api.h>
#endif

namespace rulerank::inline v0::learners {

#if RULERANK_HAS_XGBOOST
namespace {

void check(int status) {
  if (status != 0) throw error({xgboost_version(), 0, 0}, XGBGetLastError());
}

struct free_matrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct free_booster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using matrix = std::unique_ptr<void, free_matrix>;
using booster = std::unique_ptr<void, free_booster>;

class boosted final : public learner {
 public:
  explicit boosted(boosted_options const& options) : options_(options) {
    if (options.trees < 1 || options.depth < 1 || !(options.eta > 0))
      throw usage_error(
          "xgboost: found a number of trees, a depth or a rate of 0, expected all above 0");
  }

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    features_ = datasets::listed_features(pool.data);
    matrix const training = matrix_of(pool.data, known.documents);
    std::vector<float> labels;
    for (std::size_t d : known.documents) labels.push_back(static_cast<float>(known.labels[d]));
    check(XGDMatrixSetFloatInfo(training.get(), "label", labels.data(), labels.size()));
    std::vector<unsigned> sizes;
    auto at = known.documents.begin();
    for (datasets::query_group const& q : pool.data.queries) {
      auto const end = std::lower_bound(at, known.documents.end(), q.end);
      if (end != at) sizes.push_back(static_cast<unsigned>(end - at));
      at = end;
    }
    check(XGDMatrixSetUIntInfo(training.get(), "group", sizes.data(), sizes.size()));

    DMatrixHandle const handle = training.get();
    BoosterHandle made = nullptr;
    check(XGBoosterCreate(&handle, 1, &made));
    booster_.reset(made);
    // XGBoost's sampled pairs depend on the number of threads: use one.
    set("nthread", "1");
    set("verbosity", "0");
    set("seed", std::to_string(options_.seed));
    set("objective", options_.objective);
    set("tree_method", "hist");
    set("max_depth", std::to_string(options_.depth));
    set("eta", fmt::format("{}", options_.eta));
    for (int t = 0; t < options_.trees; ++t) {
      ctx.check_stop();
      check(XGBoosterUpdateOneIter(booster_.get(), t, handle));
    }
  }

  std::vector<double> score(context const& ctx, documents const& test) override {
    return score_by_steps(ctx, test, steps());
  }

  std::size_t steps() const override { return static_cast<std::size_t>(options_.trees); }

  std::vector<std::vector<double>> scores_by_steps(context const& ctx, documents const& test,
                                                   std::span<std::size_t const> counts) override {
    for (std::size_t const count : counts)
      if (count == 0 || count > steps())
        throw usage_error(fmt::format("found {} trees, expected 1 to {}", count, steps()));
    std::vector<std::size_t> all(test.data.size());
    for (std::size_t d = 0; d < all.size(); ++d) all[d] = d;
    matrix const rows = matrix_of(test.data, all);
    std::vector<std::vector<double>> scores;
    for (std::size_t const count : counts) {
      ctx.check_stop();
      bst_ulong length = 0;
      float const* found = nullptr;
      check(XGBoosterPredict(booster_.get(), rows.get(), 0, static_cast<unsigned>(count), 0,
                             &length, &found));
      scores.emplace_back(found, found + length);
    }
    return scores;
  }

 private:
  void set(char const* name, std::string const& value) {
    check(XGBoosterSetParam(booster_.get(), name, value.c_str()));
  }

  /// Rows of the documents, with a column for each feature that the pool lists.
  matrix matrix_of(datasets::dataset const& data, std::span<std::size_t const> documents) const {
    constexpr double largest = std::numeric_limits<float>::max();
    std::vector<std::size_t> begins{0};
    std::vector<unsigned> columns;
    std::vector<float> values;
    for (std::size_t d : documents) {
      auto column = features_.begin();
      for (datasets::feature_value const& v : data.document(d)) {
        column = std::lower_bound(column, features_.end(), v.feature);
        if (column == features_.end()) break;
        if (*column != v.feature || v.value != v.value) continue;
        columns.push_back(static_cast<unsigned>(column - features_.begin()));
        values.push_back(static_cast<float>(std::clamp(v.value, -largest, largest)));
      }
      begins.push_back(columns.size());
    }
    DMatrixHandle made = nullptr;
    check(XGDMatrixCreateFromCSREx(begins.data(), columns.data(), values.data(), begins.size(),
                                   values.size(), features_.size(), &made));
    return matrix(made);
  }

  boosted_options options_;
  std::vector<std::uint32_t> features_;
  booster booster_;
};

}  // namespace

std::string xgboost_version() {
  int major = 0, minor = 0, patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return fmt::format("XGBoost {}.{}.{}", major, minor, patch);
}

std::unique_ptr<learner> make_boosted(boosted_options const& options) {
  return std::make_unique<boosted>(options);
}
#else
std::string xgboost_version() {
  return {};
}

std::unique_ptr<learner> make_boosted(boosted_options const&) {
  throw usage_error(
      "this build does not have xgboost, expected a build with XGBoost (libxgboost-dev)");
}
#endif

}  // namespace rulerank::learners
