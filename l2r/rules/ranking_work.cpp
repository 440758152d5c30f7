#include "l2r/rules/ranking_work.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "rules/vertical_index.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

/// Upper bound: all sets of a document's items up to the size.
double most_itemsets(std::size_t items, std::size_t size) {
  double all = 0, of_size = 1;
  for (std::size_t k = 1; k <= std::min(size, items); ++k) {
    of_size *= static_cast<double>(items - k + 1) / static_cast<double>(k);
    all += of_size;
  }
  return all;
}

/// A random walk down the tree of a document's itemsets.
class work_walker {
 public:
  explicit work_walker(prepared_training const& training)
      : counter_(training.index), counts_(training.index.class_count()) {}

  /// Adds to `tried[k]` the walk's estimate of the number of itemsets of k + 1 items.
  void walk(std::vector<rules::item> const& items, random_engine& engine,
            std::vector<double>& tried) {
    itemset_.clear();
    double weight = 1;
    std::size_t from = 0;
    for (std::size_t k = 0; k < tried.size(); ++k) {
      tried[k] += weight * static_cast<double>(items.size() - from);
      extensions_.clear();
      double all = 0;
      for (std::size_t i = from; i < items.size(); ++i) {
        itemset_.push_back(items[i]);
        if (counter_.supports(itemset_, counts_) > 0) {
          double const below = most_itemsets(items.size() - i - 1, tried.size() - k - 1);
          extensions_.push_back({i, all += 1 + below});
        }
        itemset_.pop_back();
      }
      if (extensions_.empty()) return;
      double const drawn = uniform_unit(engine) * all;
      auto const next = std::find_if(extensions_.begin(), extensions_.end() - 1,
                                     [&](extension const& e) { return drawn < e.up_to; });
      double const before = next == extensions_.begin() ? 0 : std::prev(next)->up_to;
      weight *= all / (next->up_to - before);
      itemset_.push_back(items[next->at]);
      from = next->at + 1;
    }
  }

 private:
  /// An item that may extend the itemset, chosen with probability proportional to its subtree's
  /// estimate.
  struct extension {
    std::size_t at = 0;
    double up_to = 0;  // cumulative weight
  };

  rules::vertical_counter counter_;
  std::vector<std::uint32_t> counts_;
  std::vector<rules::item> itemset_;
  std::vector<extension> extensions_;
};

}  // namespace

std::vector<double> tried_itemsets(context const& ctx, prepared_training const& training,
                                   known_items const& test, std::uint32_t walks) {
  std::vector<double> tried(std::min(training.table.max_itemset_size(), test.feature_count()));
  if (test.documents() == 0) return tried;
  random_engine engine(ctx.seed);
  work_walker one(training);
  std::vector<rules::item> items;
  for (std::uint32_t w = 0; w < walks; ++w) {
    ctx.check_stop();
    std::size_t const d = uniform_below(engine, test.documents());
    items.clear();
    for (std::size_t f = 0; f < test.feature_count(); ++f)
      if (rules::item const x = test.at(f, d); x != no_known_item) items.push_back(x);
    one.walk(items, engine, tried);
  }
  for (double& of_size : tried) of_size *= static_cast<double>(test.documents()) / walks;
  return tried;
}

double itemsets_ahead(context const& ctx, prepared_training const& training,
                      known_items const& test, double little) {
  double const most = static_cast<double>(test.documents()) *
                      most_itemsets(test.feature_count(), training.table.max_itemset_size());
  if (most <= little) return most;
  std::vector<double> const tried = tried_itemsets(ctx, training, test);
  return std::accumulate(tried.begin(), tried.end(), 0.0);
}

void expect_feasible(context const& ctx, prepared_training const& training, known_items const& test,
                     double most) {
  auto const documents = static_cast<double>(test.documents());
  if (documents * most_itemsets(test.feature_count(), training.table.max_itemset_size()) <= most)
    return;
  std::vector<double> const tried = tried_itemsets(ctx, training, test);
  double fitting = 0, all = 0;
  std::size_t size = 0;  // the largest feasible
  for (double const of_size : tried) {
    all += of_size;
    if (all > most) continue;
    fitting = all;
    ++size;
  }
  if (all <= most) return;
  throw usage_error(fmt::format(
      "rule size {} needs about {:.2g} itemsets for {}, expected at most {:.2g}; use {}",
      training.options.rule_size, all, counted(test.documents(), "document"), most,
      size == 0 ? std::string("fewer documents")
                : fmt::format("a rule size of {} or less (about {:.2g})", size + 1, fitting)));
}

}  // namespace rulerank::l2r
