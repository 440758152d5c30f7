#include "l2r/rules/engine.hpp"
#include "rules/itemset_cache.hpp"
#include "rules/vertical_index.hpp"

#include <algorithm>
#include <numeric>

namespace rulerank::inline v0::l2r {

namespace {

/// LRAR as published (Freitas 2017, Algorithm 5 and section 3.3.1, after Veloso et al., SIGIR
/// 2008): document by document, itemset by itemset. Looks up an itemset's class-wise supports in a
/// cache; on a miss, intersects its bitmaps and counts. Serial by definition.
template <class Sum>
class lrar final : public scoring_engine {
 public:
  explicit lrar(prepared_training const& training)
      : index_(training.index),
        view_(training.table.view<Sum>()),
        mean_label_(training.table.mean_label()),
        max_size_(training.table.max_itemset_size()),
        cache_(static_cast<std::uint32_t>(index_.items()), std::max<std::size_t>(max_size_, 1),
               index_.class_count(), training.cache_bytes),
        counter_(index_),
        counts_(index_.class_count()) {}

  void score(context const& ctx, known_items const& test, scored& result) override {
    std::uint64_t const hits = cache_.hits();
    std::uint64_t const misses = cache_.misses();
    for (std::size_t d = 0; d < test.documents(); ++d) {
      ctx.report("rank", d, test.documents());
      items_.clear();
      for (std::size_t f = 0; f < test.feature_count(); ++f)
        if (rules::item const x = test.at(f, d); x != no_known_item) items_.push_back(x);
      sums_ = {};
      itemset_.clear();
      extend(0);
      result.scores[d] = score_of(sums_, mean_label_);
    }
    result.counts["cache_hits"] += cache_.hits() - hits;
    result.counts["cache_misses"] += cache_.misses() - misses;
  }

 private:
  /// Visits all itemsets that extend the current one by items from `from` on.
  void extend(std::size_t from) {
    for (std::size_t i = from; i < items_.size(); ++i) {
      itemset_.push_back(items_[i]);
      std::span<std::uint32_t const> counts = cache_.find(itemset_);
      if (counts.empty()) {
        counter_.supports(itemset_, counts_);
        cache_.insert(itemset_, counts_);
        counts = counts_;
      }
      std::uint32_t const n = std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
      if (n > 0) sums_ += view_.classwise(n, counts.data(), 1);
      if (itemset_.size() < max_size_) extend(i + 1);
      itemset_.pop_back();
    }
  }

  rules::vertical_index const& index_;
  score_view<Sum> view_;
  double mean_label_;
  std::size_t max_size_;
  rules::itemset_cache cache_;
  rules::vertical_counter counter_;
  std::vector<std::uint32_t> counts_;
  std::vector<rules::item> items_, itemset_;
  score_sums<Sum> sums_;
};

}  // namespace

std::unique_ptr<scoring_engine> make_lrar(context const&, prepared_training const& training) {
  if (training.table.is_wide()) return std::make_unique<lrar<wide_sum>>(training);
  return std::make_unique<lrar<std::uint64_t>>(training);
}

}  // namespace rulerank::l2r
