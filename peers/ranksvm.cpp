#include "datasets/discretizer.hpp"
#include "peers/peers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

// A rank SVM that is given the features as users of one prepare them.
namespace rulerank::peers {

namespace {

class ranksvm_learner final : public committee::learner {
 public:
  explicit ranksvm_learner(committee::ranksvm_options const& options)
      : svm_(committee::make_ranksvm(options)) {}

  void learn(context const& ctx, committee::documents const& pool,
             committee::labelled const& known) override {
    reading_ = pool.cuts == nullptr ? datasets::discretizer_options() : pool.cuts->options;
    features_ = datasets::listed_features(pool.data);
    datasets::dataset const data = prepared(ctx, pool.data);
    svm_->learn(ctx, {data, pool.items, pool.cuts}, known);
  }

  std::vector<double> score(context const& ctx, committee::documents const& test) override {
    datasets::dataset const data = prepared(ctx, test.data);
    return svm_->score(ctx, {data, test.items, test.cuts});
  }

 private:
  /// Of the k-th feature of the pool two: 2 k + 1, the z-score, and 2 k + 2, whether it misses.
  datasets::dataset prepared(context const& ctx, datasets::dataset const& documents) const {
    datasets::dataset const data = datasets::normalize(
        ctx, documents, datasets::normalization::query_zscore, reading_.missing, reading_.unlisted);
    bool const unlisted_misses = reading_.unlisted == datasets::unlisted_values::missing &&
                                 reading_.missing != datasets::missing_values::zero;
    double const unlisted = unlisted_misses ? std::numeric_limits<double>::quiet_NaN() : 0;
    datasets::dataset result;
    result.name = data.name;
    result.labels = data.labels;
    result.queries = data.queries;
    for (std::size_t d = 0; d < data.size(); ++d) {
      auto const row = data.document(d);
      auto at = row.begin();
      for (std::size_t k = 0; k < features_.size(); ++k) {
        while (at != row.end() && at->feature < features_[k]) ++at;
        double const z = at != row.end() && at->feature == features_[k] ? at->value : unlisted;
        auto const feature = static_cast<std::uint32_t>(2 * k + 1);
        if (!std::isnan(z))
          result.entries.push_back({feature, z});
        else if (reading_.missing == datasets::missing_values::item)
          result.entries.push_back({feature + 1, 1});
      }
      result.row.push_back(result.entries.size());
    }
    return result;
  }

  std::unique_ptr<committee::learner> svm_;
  datasets::discretizer_options reading_;
  std::vector<std::uint32_t> features_;
};

}  // namespace

std::unique_ptr<committee::learner> make_ranksvm_learner(
    committee::ranksvm_options const& options) {
  return std::make_unique<ranksvm_learner>(options);
}

}  // namespace rulerank::peers
