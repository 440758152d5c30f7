#include "core/error.hpp"
#include "learners/learner.hpp"
#include "learners/library_versions.hpp"

#if RULERANK_HAS_LIBLINEAR
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <linear.h>
#endif

namespace rulerank::inline v0::learners {

#if RULERANK_HAS_LIBLINEAR
namespace {

/// Calls `each(better, worse)` for every pair of a query's labelled documents with different
/// labels.
template <class Each>
void for_each_pair(datasets::dataset const& data, labelled const& known, Each const& each) {
  auto at = known.documents.begin();
  for (datasets::query_group const& q : data.queries) {
    auto const end = std::lower_bound(at, known.documents.end(), q.end);
    for (auto a = at; a != end; ++a)
      for (auto b = a + 1; b != end; ++b)
        if (known.labels[*a] > known.labels[*b])
          each(*a, *b);
        else if (known.labels[*a] < known.labels[*b])
          each(*b, *a);
    at = end;
  }
}

double value_or_zero(double x) {
  return std::isnan(x) ? 0 : x;
}

class ranksvm final : public learner {
 public:
  explicit ranksvm(ranksvm_options const& options) : options_(options) {
    if (!(options.c > 0) || options.max_pairs == 0)
      throw usage_error("ranksvm: expected a weight and a number of pairs above 0");
    static std::once_flag silent;
    std::call_once(silent, [] { set_print_string_function([](char const*) {}); });
  }

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    find_ranges(pool.data);
    weights_.assign(features_.size(), 0);
    std::size_t pairs = 0;
    for_each_pair(pool.data, known, [&](std::size_t, std::size_t) { ++pairs; });
    if (pairs == 0) return;

    std::deque<std::vector<feature_node>> rows;  // references remain valid on push_back
    std::vector<feature_node*> starts;
    std::vector<double> sides;
    std::size_t const kept = std::min(pairs, options_.max_pairs);
    std::size_t seen = 0, taken = 0;
    for_each_pair(pool.data, known, [&](std::size_t better, std::size_t worse) {
      if (taken * pairs > seen++ * kept) return;
      ctx.check_stop();
      // Negates every other pair, to get a problem of two classes.
      bool const turned = taken++ % 2 == 1;
      rows.push_back(turned ? difference(pool.data, worse, better)
                            : difference(pool.data, better, worse));
      starts.push_back(rows.back().data());
      sides.push_back(turned ? -1 : 1);
    });

    problem const all{static_cast<int>(rows.size()), static_cast<int>(features_.size()),
                      sides.data(), starts.data(), -1};
    parameter how{};
    how.solver_type = L2R_L2LOSS_SVC;
    how.eps = 0.001;
    how.C = options_.c;
    if (char const* const wrong = check_parameter(&all, &how)) throw usage_error(wrong);
    model* found = train(&all, &how);
    // The first row is of class 1, so the weights favour class 1.
    for (std::size_t f = 0; f < features_.size(); ++f)
      weights_[f] = get_decfun_coef(found, static_cast<int>(f + 1), 0) / ranges_[f];
    free_and_destroy_model(&found);
  }

  std::vector<double> score(context const&, documents const& test) override {
    std::vector<double> scores(test.data.size());
    for (std::size_t d = 0; d < scores.size(); ++d) {
      auto column = features_.begin();
      for (datasets::feature_value const& v : test.data.document(d)) {
        column = std::lower_bound(column, features_.end(), v.feature);
        if (column == features_.end()) break;
        if (*column == v.feature)
          scores[d] += weights_[static_cast<std::size_t>(column - features_.begin())] *
                       value_or_zero(v.value);
      }
    }
    return scores;
  }

 private:
  /// Finds the features that vary in the pool, and their ranges.
  void find_ranges(datasets::dataset const& data) {
    features_ = datasets::listed_features(data);
    std::vector<double> low(features_.size(), std::numeric_limits<double>::infinity());
    std::vector<double> high(features_.size(), -std::numeric_limits<double>::infinity());
    std::vector<std::size_t> listed(features_.size());
    for (std::size_t d = 0; d < data.size(); ++d) {
      std::size_t f = 0;
      for (datasets::feature_value const& v : data.document(d)) {
        while (features_[f] != v.feature) ++f;
        double const x = value_or_zero(v.value);
        low[f] = std::min(low[f], x);
        high[f] = std::max(high[f], x);
        ++listed[f];
      }
    }
    std::size_t kept = 0;
    ranges_.clear();
    for (std::size_t f = 0; f < features_.size(); ++f) {
      if (listed[f] < data.size()) {
        low[f] = std::min(low[f], 0.0);
        high[f] = std::max(high[f], 0.0);
      }
      double const range = high[f] - low[f];
      if (!(range > 0) || std::isinf(range)) continue;
      ranges_.push_back(range);
      features_[kept++] = features_[f];
    }
    features_.resize(kept);
  }

  /// liblinear's row for document a minus document b, with columns from 1.
  std::vector<feature_node> difference(datasets::dataset const& data, std::size_t a,
                                       std::size_t b) const {
    std::vector<feature_node> row;
    auto const left = data.document(a), right = data.document(b);
    auto x = left.begin(), y = right.begin();
    for (std::size_t f = 0; f < features_.size(); ++f) {
      while (x != left.end() && x->feature < features_[f]) ++x;
      while (y != right.end() && y->feature < features_[f]) ++y;
      double value = 0;
      if (x != left.end() && x->feature == features_[f]) value += value_or_zero(x->value);
      if (y != right.end() && y->feature == features_[f]) value -= value_or_zero(y->value);
      if (value != 0) row.push_back({static_cast<int>(f + 1), value / ranges_[f]});
    }
    row.push_back({-1, 0});
    return row;
  }

  ranksvm_options options_;
  std::vector<std::uint32_t> features_;
  std::vector<double> ranges_;   // [features_]
  std::vector<double> weights_;  // [features_] for unscaled values
};

}  // namespace

std::string liblinear_version() {
  return fmt::format("liblinear {}.{}", LIBLINEAR_VERSION / 100, LIBLINEAR_VERSION % 100);
}

std::unique_ptr<learner> make_ranksvm(ranksvm_options const& options) {
  return std::make_unique<ranksvm>(options);
}
#else
std::string liblinear_version() {
  return {};
}

std::unique_ptr<learner> make_ranksvm(ranksvm_options const&) {
  throw usage_error(
      "this build does not have ranksvm, expected a build with liblinear (liblinear-dev)");
}
#endif

}  // namespace rulerank::learners
