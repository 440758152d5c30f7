#include "datasets/discretizer.hpp"
#include "datasets/values_of.hpp"
#include "learners/systems.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// A rank SVM on z-scored features, as its users usually prepare them.
namespace rulerank::inline v0::learners {

namespace {

class zscore_ranksvm final : public learner {
 public:
  explicit zscore_ranksvm(ranksvm_options const& options) : svm_(make_ranksvm(options)) {}

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    reading_ = pool.cuts == nullptr ? datasets::discretizer_options() : pool.cuts->options;
    features_ = datasets::listed_features(pool.data);
    datasets::dataset const data = prepared(ctx, pool.data);
    svm_->fit(ctx, {data, pool.items, pool.cuts}, known);
  }

  std::vector<double> score(context const& ctx, documents const& test) override {
    datasets::dataset const data = prepared(ctx, test.data);
    return svm_->score(ctx, {data, test.items, test.cuts});
  }

 private:
  /// The k-th feature of the pool becomes two: 2 k + 1, its z-score, and 2 k + 2, whether it is
  /// missing.
  datasets::dataset prepared(context const& ctx, datasets::dataset const& documents) const {
    datasets::dataset const data = datasets::normalize(
        ctx, documents, datasets::normalization::query_zscore, reading_.missing, reading_.unlisted);
    double const unlisted = datasets::unlisted_value(reading_.missing, reading_.unlisted);
    datasets::dataset result;
    result.name = data.name;
    result.labels = data.labels;
    result.queries = data.queries;
    for (std::size_t d = 0; d < data.size(); ++d) {
      datasets::for_each_value(data.document(d), features_, unlisted, [&](std::size_t k, double z) {
        auto const feature = static_cast<std::uint32_t>(2 * k + 1);
        if (!std::isnan(z))
          result.entries.push_back({feature, z});
        else if (reading_.missing == datasets::missing_values::item)
          result.entries.push_back({feature + 1, 1});
      });
      result.row.push_back(result.entries.size());
    }
    return result;
  }

  std::unique_ptr<learner> svm_;
  datasets::discretizer_options reading_;
  std::vector<std::uint32_t> features_;
};

}  // namespace

std::unique_ptr<learner> make_zscore_ranksvm(ranksvm_options const& options) {
  return std::make_unique<zscore_ranksvm>(options);
}

}  // namespace rulerank::learners
