#include "core/parallel.hpp"
#include "learners/systems.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

// A single feature as a ranker: a baseline for all others.
namespace rulerank::inline v0::learners {

namespace {

bool is_bm25(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("bm25") != name.npos;
}

/// The values of a feature; 0 if unlisted or missing.
std::vector<double> values_of(datasets::dataset const& data, std::uint32_t feature) {
  std::vector<double> values(data.size());
  for (std::size_t d = 0; d < data.size(); ++d)
    for (datasets::feature_value const& one : data.document(d))
      if (one.feature == feature && std::isfinite(one.value)) values[d] = one.value;
  return values;
}

/// Twice the number of correctly ordered pairs of a query's labelled documents with different
/// labels, minus the number of pairs: 0 in expectation for a random order.
std::int64_t pairs_in_order(datasets::dataset const& data, labelled const& known,
                            std::vector<double> const& values) {
  std::int64_t sum = 0;
  for (datasets::query_group const& query : data.queries) {
    auto const begin = std::ranges::lower_bound(known.documents, query.begin);
    auto const end = std::ranges::lower_bound(known.documents, query.end);
    for (auto a = begin; a != end; ++a)
      for (auto b = begin; b != end; ++b) {
        if (known.labels[*a] <= known.labels[*b]) continue;
        sum += values[*a] > values[*b] ? 1 : values[*a] < values[*b] ? -1 : 0;
      }
  }
  return sum;
}

class feature_learner final : public learner {
 public:
  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    std::vector<std::uint32_t> features = datasets::listed_features(pool.data);
    auto const is_named = [&](std::uint32_t feature) {
      auto const name = pool.data.names.find(feature);
      return name != pool.data.names.end() && is_bm25(name->second);
    };
    bool const any_named = std::ranges::any_of(features, is_named);
    if (any_named) std::erase_if(features, [&](auto feature) { return !is_named(feature); });
    std::vector<std::int64_t> found(features.size());
    parallel_for(ctx, features.size(), 1, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t f = begin; f < end; ++f)
        found[f] = pairs_in_order(pool.data, known, values_of(pool.data, features[f]));
    });
    feature_ = features.empty() ? 0 : features.front();
    sign_ = 1;
    std::int64_t best = -1;
    for (std::size_t f = 0; f < features.size(); ++f) {
      std::int64_t const pairs = any_named ? found[f] : std::abs(found[f]);
      if (f > 0 && pairs <= best) continue;
      best = pairs;
      feature_ = features[f];
      sign_ = any_named || found[f] >= 0 ? 1 : -1;
    }
  }

  std::vector<double> score(context const&, documents const& test) override {
    std::vector<double> values = values_of(test.data, feature_);
    for (double& value : values) value *= sign_;
    return values;
  }

 private:
  std::uint32_t feature_ = 0;
  double sign_ = 1;
};

}  // namespace

std::unique_ptr<learner> make_feature_learner() {
  return std::make_unique<feature_learner>();
}

}  // namespace rulerank::learners
