#include "core/error.hpp"
#include "learners/lightgbm_booster.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

// Boosted trees whose scores are sums of functions of one or two features: Lucchese, Nardini,
// Orlando, Perego and Veneri, ILMART: interpretable ranking with constrained LambdaMART, SIGIR
// 2022. docs/reference/modules/learners.md lists the differences.
namespace rulerank::inline v0::learners {

namespace {

using pair_of_features = std::pair<int, int>;  // columns, ascending

// Trees for the search of pairs, with the settings of the authors' program and a limit on their
// number.
constexpr int leaves_of_search = 3;
constexpr double rate_of_search = 0.1;
constexpr std::size_t trees_of_search = 300, trees_between_looks = 20;

/// The columns in each tree's splits, ascending and distinct.
std::vector<std::vector<int>> columns_of_trees(std::string_view model) {
  constexpr std::string_view key = "\nsplit_feature=";
  std::vector<std::vector<int>> all;
  for (std::size_t at = 0; (at = model.find(key, at)) != std::string_view::npos;) {
    at += key.size();
    std::string_view line = model.substr(at, model.find('\n', at) - at);
    std::vector<int>& columns = all.emplace_back();
    while (!line.empty()) {
      int column = 0;
      auto const [end, fault] = std::from_chars(line.data(), line.data() + line.size(), column);
      if (fault != std::errc())
        throw error({"LightGBM", 0, 0},
                    "found a tree without numbers of columns, expected LightGBM 4");
      columns.push_back(column);
      line.remove_prefix(static_cast<std::size_t>(end - line.data()));
      if (!line.empty()) line.remove_prefix(1);
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  return all;
}

/// The pairs of columns in the splits of trees with three leaves, in the order of the trees.
std::vector<pair_of_features> pairs_of_trees(std::string_view model, std::size_t most) {
  std::vector<pair_of_features> pairs;
  for (std::vector<int> const& columns : columns_of_trees(model))
    if (columns.size() == 2 && pairs.size() < most)
      if (pair_of_features const pair{columns[0], columns[1]};
          std::find(pairs.begin(), pairs.end(), pair) == pairs.end())
        pairs.push_back(pair);
  return pairs;
}

class ilmart final : public learner {
 public:
  ilmart(lightgbm_functions of, ilmart_options options)
      : call_(std::move(of)), options_(std::move(options)) {
    check(options_.single);
  }

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    features_ = datasets::listed_features(pool.data);
    pairs_.reset();
    single_.reset();
    if (features_.empty()) return;
    lightgbm_matrix const rows = matrix_of(pool.data, known.documents, features_);
    std::vector<std::string> alone;
    for (std::size_t f = 0; f < features_.size(); ++f) alone.push_back(fmt::format("[{}]", f));
    std::size_t const most = options_.most_trees == 0 ? options_.single.trees + options_.pair_trees
                                                      : options_.most_trees;
    single_.emplace(call_, constrained(options_.single, alone), rows, pool.data, known);
    single_->grow(ctx, std::min(options_.single.trees, most));
    std::size_t const left = most - single_->trees();
    if (left == 0 || options_.pairs == 0 || options_.pair_trees == 0 || single_->trees() == 0)
      return;
    std::vector<double> const start = single_->scores(ctx, rows);
    std::vector<std::string> const pairs = strongest_pairs(ctx, rows, pool.data, known, start);
    if (pairs.empty()) return;
    pairs_.emplace(call_, constrained(options_.single, pairs), rows, pool.data, known, start);
    pairs_->grow(ctx, std::min(options_.pair_trees, left));
  }

  std::vector<double> score(context const& ctx, documents const& test) override {
    return score_by_steps(ctx, test, steps());
  }

  std::size_t steps() const override {
    std::size_t const trees = (single_ ? single_->trees() : 0) + (pairs_ ? pairs_->trees() : 0);
    return std::max<std::size_t>(trees, 1);
  }

  std::vector<std::vector<double>> scores_by_steps(context const& ctx, documents const& test,
                                                   std::span<std::size_t const> counts) override {
    expect_trees(counts, steps());
    if (!single_ || single_->trees() == 0)
      return {counts.size(), std::vector<double>(test.data.size())};
    std::vector<std::size_t> of_single, of_pairs;
    for (std::size_t const count : counts) {
      of_single.push_back(std::min(count, single_->trees()));
      of_pairs.push_back(count - of_single.back());
    }
    lightgbm_matrix const rows = matrix_of(test.data, features_);
    std::vector<std::vector<double>> scores = single_->scores(ctx, rows, of_single);
    if (!pairs_) return scores;
    std::vector<std::vector<double>> const more = pairs_->scores(ctx, rows, of_pairs);
    for (std::size_t c = 0; c < counts.size(); ++c)
      for (std::size_t d = 0; d < scores[c].size(); ++d) scores[c][d] += more[c][d];
    return scores;
  }

 private:
  static std::string constrained(lightgbm_options const& options,
                                 std::vector<std::string> const& groups) {
    return fmt::format("{} interaction_constraints={}", parameters_of(options),
                       fmt::join(groups, ","));
  }

  /// The feature pairs, as interaction constraints, of three-leaf trees that continue the boosting
  /// of single-feature trees and use only their features.
  std::vector<std::string> strongest_pairs(context const& ctx, lightgbm_matrix const& rows,
                                           datasets::dataset const& pool, labelled const& known,
                                           std::vector<double> const& start) const {
    std::vector<int> used;
    for (std::vector<int> const& columns : columns_of_trees(single_->text()))
      used.insert(used.end(), columns.begin(), columns.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    if (used.size() < 2) return {};
    lightgbm_options how = options_.single;
    how.leaves = leaves_of_search;
    how.rate = rate_of_search;
    lightgbm_booster search(call_, constrained(how, {fmt::format("[{}]", fmt::join(used, ","))}),
                            rows, pool, known, start);
    std::vector<pair_of_features> found;
    while (found.size() < options_.pairs && search.trees() < trees_of_search && !search.ended()) {
      search.grow(ctx, search.trees() + trees_between_looks);
      if (search.trees() > 0) found = pairs_of_trees(search.text(), options_.pairs);
    }
    std::vector<std::string> groups;
    for (auto const& [a, b] : found) groups.push_back(fmt::format("[{},{}]", a, b));
    return groups;
  }

  lightgbm_functions call_;
  ilmart_options options_;
  std::vector<std::uint32_t> features_;
  std::optional<lightgbm_booster> single_, pairs_;
};

}  // namespace

std::unique_ptr<learner> make_ilmart(lightgbm_functions of, ilmart_options const& options) {
  return std::make_unique<ilmart>(std::move(of), options);
}

}  // namespace rulerank::learners
