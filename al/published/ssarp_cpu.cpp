// SSAR and PSSAR as published (Freitas 2017, Algorithms 3 and 10): after each added document,
// recounts the rules of all documents with bitmaps over the sample's items. The context's number of
// threads decides between serial and parallel.
#include "al/published/counters.hpp"
#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "rules/growing_index.hpp"

#include <algorithm>
#include <limits>

namespace rulerank::inline v0::al {

namespace {

class recount final : public rule_counter {
 public:
  recount(partition const& part, std::size_t max_items, rules::validity const& valid)
      : part_(part),
        max_items_(max_items),
        valid_(valid),
        index_(part.items()),
        counts_(part.size(), never),
        chosen_(part.size()),
        dropped_(part.size()) {
    for (std::size_t p = part.counted.begin; p < part.counted.end; ++p) counts_[p] = 0;
  }

  void add(context const& ctx, std::size_t position, std::int32_t label) override {
    std::vector<rules::item> items;
    part_.items_of(position, items);
    index_.add(items, label);
    chosen_[position] = true;
    struct alignas(apart) scratch {
      rules::growing_index::scratch walk;
      std::vector<rules::item> items;
    };
    std::vector<scratch> scratches(static_cast<std::size_t>(ctx.thread_count()));
    constexpr std::size_t grain = 64;  // documents
    index_range const all = part_.counted;
    parallel_for(ctx, all.size(), grain, [&](std::size_t begin, std::size_t end, int thread) {
      scratch& s = scratches[static_cast<std::size_t>(thread)];
      for (std::size_t p = all.begin + begin; p < all.begin + end; ++p) {
        part_.items_of(p, s.items);
        std::erase_if(s.items, [&](rules::item x) { return !index_.holds(x); });
        std::uint64_t rules = 0;
        index_.walk_itemsets(s.items, max_items_, s.walk,
                             [&](std::span<std::uint32_t const> supports) {
                               std::uint32_t n = 0;
                               for (std::uint32_t sigma : supports) n += sigma;
                               rules += valid_.count(supports, n);
                             });
        counts_[p] = dropped_[p] ? never : rules;
      }
    });
  }

  void drop(std::size_t position) override {
    dropped_[position] = true;
    counts_[position] = never;
  }

  std::uint64_t rules(std::size_t position) const override { return counts_[position]; }

  smallest fewest() const override {
    auto const least = std::min_element(counts_.begin(), counts_.end());
    return {*least, static_cast<std::size_t>(least - counts_.begin())};
  }

  smallest fewest_unchosen() const override {
    smallest best{never, counts_.size()};
    for (std::size_t p = part_.counted.begin; p < part_.counted.end; ++p)
      if (!chosen_[p] && counts_[p] < best.rules) best = {counts_[p], p};
    return best;
  }

 private:
  /// Larger than any document's number of rules.
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  partition const& part_;
  std::size_t max_items_;
  rules::validity const& valid_;
  rules::growing_index index_;
  std::vector<std::uint64_t> counts_;  // rules(d) by position
  std::vector<bool> chosen_;
  std::vector<bool> dropped_;
};

}  // namespace

std::unique_ptr<rule_counter> make_recount(partition const& part, std::size_t max_items,
                                           rules::validity const& valid) {
  return std::make_unique<recount>(part, max_items, valid);
}

}  // namespace rulerank::al
