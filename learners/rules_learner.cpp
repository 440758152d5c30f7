#include "l2r/rules/ranker.hpp"
#include "learners/learner.hpp"

#include <algorithm>
#include <optional>

namespace rulerank::inline v0::learners {

namespace {

class rules_learner final : public learner {
 public:
  explicit rules_learner(l2r::ranker_options const& options) : options_(options) {
    l2r::check(options.scoring);
  }

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    datasets::binned_dataset training = datasets::subset(pool.items, known.documents);
    training.max_label = 0;
    for (std::size_t i = 0; i < training.documents; ++i) {
      training.labels[i] = known.labels[known.documents[i]];
      training.max_label = std::max(training.max_label, training.labels[i]);
    }
    ranker_.emplace(ctx, training, options_);
  }

  std::vector<double> score(context const& ctx, documents const& test) override {
    return ranker_.value().score(ctx, test.items).scores;
  }

 private:
  l2r::ranker_options options_;
  std::optional<l2r::ranker> ranker_;
};

}  // namespace

std::unique_ptr<learner> make_rules_learner(l2r::ranker_options const& options) {
  return std::make_unique<rules_learner>(options);
}

}  // namespace rulerank::learners
