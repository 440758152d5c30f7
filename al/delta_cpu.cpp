// Our sampler. Adding u to the sample changes only the supports of the itemsets inside u. A table
// holds their class-wise supports. The resulting change in valid rules is summed for every overlap
// that a document can have with u; one pass over the documents' bin codes finds each overlap and
// adds its sum. The selection equals SSARP's.
#include "al/partition.hpp"
#include "al/support_table.hpp"
#include "bitmaps/bit_kernels.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "rules/combinadic.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

/// Overlaps of up to this many items index a table of sums by mask; larger ones are enumerated.
constexpr std::size_t widest_mask = 13;
/// Minimum number of documents per thread in a pass.
constexpr std::size_t pass_grain = 1 << 16;
/// The total of padding and dropped documents: larger than any number of rules (below 2^29), even
/// after adding a document's changes.
constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max() / 2;

/// The documents' rule totals, and the passes that update them.
class totals {
 public:
  explicit totals(partition const& part) : part_(part), totals_(part.stride, never) {
    std::fill_n(totals_.begin() + static_cast<std::ptrdiff_t>(part.counted.begin),
                part.counted.size(), 0);
  }

  /// Adds gain[mask] for the mask of columns that equal `wanted`.
  void add_by_mask(context const& ctx, std::span<std::uint8_t const* const> columns,
                   std::span<std::uint8_t const> wanted, std::span<std::int32_t const> gain) {
    pass(ctx, pass_grain, [&](std::size_t begin, std::size_t end) {
      std::vector<std::uint8_t const*> shifted(columns.begin(), columns.end());
      for (auto& column : shifted) column += begin;
      auto found = bitmaps::add_overlap_gains(shifted, wanted, end - begin, gain,
                                              std::span(totals_).subspan(begin));
      found.position += begin;
      return found;
    });
  }

  /// Adds gain_of(ascending indices in `wanted` with equal codes).
  template <class GainOf>
  void add_by_overlap(context const& ctx, std::span<std::uint8_t const* const> columns,
                      std::span<std::uint8_t const> wanted, GainOf&& gain_of) {
    constexpr std::size_t grain = 512;
    pass(ctx, grain, [&](std::size_t begin, std::size_t end) {
      std::vector<std::uint32_t> overlap(wanted.size());
      bitmaps::smallest_total best{std::numeric_limits<std::int32_t>::max(), begin};
      for (std::size_t p = begin; p < end; ++p) {
        std::size_t size = 0;
        for (std::size_t j = 0; j < wanted.size(); ++j) {
          overlap[size] = static_cast<std::uint32_t>(j);
          size += static_cast<std::size_t>(columns[j][p] == wanted[j]);
        }
        totals_[p] += gain_of(std::span(overlap).first(size));
        if (totals_[p] < best.total) best = {totals_[p], p};
      }
      return best;
    });
  }

  /// Excludes the document at a position from the smallest totals.
  void drop(std::size_t position) {
    totals_[position] = never;
    if (smallest_.position != position) return;
    auto const least = std::min_element(
        totals_.begin(), totals_.begin() + static_cast<std::ptrdiff_t>(part_.size()));
    smallest_ = {*least, static_cast<std::size_t>(least - totals_.begin())};
  }

  bitmaps::smallest_total smallest() const { return smallest_; }
  std::int32_t operator[](std::size_t p) const { return totals_[p]; }

 private:
  template <class Work>
  void pass(context const& ctx, std::size_t grain, Work&& work) {
    smallest_ = {std::numeric_limits<std::int32_t>::max(), 0};
    std::mutex mutex;
    index_range const all = part_.counted;
    parallel_for(ctx, all.size(), grain, [&](std::size_t begin, std::size_t end, int) {
      bitmaps::smallest_total const found = work(all.begin + begin, all.begin + end);
      std::lock_guard const lock(mutex);
      if (found.total < smallest_.total ||
          (found.total == smallest_.total && found.position < smallest_.position))
        smallest_ = found;
    });
  }

  partition const& part_;
  aligned_vector<std::int32_t> totals_;
  bitmaps::smallest_total smallest_{};
};

template <class Key>
class delta_counter final : public rule_counter {
 public:
  delta_counter(partition const& part, std::size_t max_items, rules::validity const& valid,
                memory_gate& memory)
      : part_(part),
        what_(fmt::format("rule size {} with {} features in a partition", max_items + 1,
                          part.features())),
        max_items_(std::min(max_items, part.features())),
        memory_(memory),
        table_(valid, memory, what_),
        totals_(part),
        chosen_(part.size()) {}

  void add(context const& ctx, std::size_t position, std::int32_t label) override {
    chosen_[position] = true;
    auto const known = std::find(labels_.begin(), labels_.end(), label);
    class_ = static_cast<std::size_t>(known - labels_.begin());
    if (known == labels_.end()) {
      labels_.push_back(label);
      table_.need_class(class_);
    }
    items_.clear();
    columns_.clear();
    wanted_.clear();
    for (std::size_t f = 0; f < part_.features(); ++f) {
      std::uint8_t const code = part_.column(f)[position];
      if (code == datasets::no_item) continue;
      items_.push_back(part_.item_begin[f] + code);
      columns_.push_back(part_.column(f));
      wanted_.push_back(code);
    }
    if (items_.size() <= widest_mask)
      add_by_mask(ctx);
    else
      add_by_overlap(ctx);
  }

  smallest fewest() const override {
    auto const found = totals_.smallest();
    return {static_cast<std::uint64_t>(found.total), found.position};
  }

  smallest fewest_unchosen() const override {
    bitmaps::smallest_total best{std::numeric_limits<std::int32_t>::max(), part_.size()};
    for (std::size_t p = part_.counted.begin; p < part_.counted.end; ++p)
      if (!chosen_[p] && totals_[p] < best.total) best = {totals_[p], p};
    return {static_cast<std::uint64_t>(best.total), best.position};
  }

  std::uint64_t rules(std::size_t position) const override {
    return static_cast<std::uint64_t>(totals_[position]);
  }
  std::uint64_t rules_lost() const override { return lost_; }
  std::uint64_t rules_in_sample() const override { return gained_ - lost_; }
  void drop(std::size_t position) override { totals_.drop(position); }

 private:
  /// Counts u in every itemset of its items, and calls note(depth, index, change) for each itemset
  /// whose number of valid rules changed. `index` numbers the subsets of u's items; Numbering
  /// extends it by an item.
  template <class Numbering, class Note>
  void count_itemsets(std::size_t from, std::size_t depth, Key key, std::size_t index,
                      Numbering const& extend, Note const& note) {
    for (std::size_t i = from; i < items_.size(); ++i) {
      Key const next = key * static_cast<Key>(part_.items() + 1) + items_[i] + 1;
      std::size_t const next_index = extend(index, depth, i);
      rule_change const change = table_.add(next, class_);
      gained_ += static_cast<std::uint64_t>(change.gained);
      lost_ += static_cast<std::uint64_t>(change.lost);
      if (change.gained != change.lost) note(depth, next_index, change.gained - change.lost);
      if (depth + 1 < max_items_) count_itemsets(i + 1, depth + 1, next, next_index, extend, note);
    }
  }

  void add_by_mask(context const& ctx) {
    std::size_t const width = items_.size();
    gain_.assign(std::size_t{1} << width, 0);
    count_itemsets(
        0, 0, 0, 0, [](std::size_t mask, std::size_t, std::size_t i) { return mask | 1ULL << i; },
        [&](std::size_t, std::size_t mask, std::int32_t change) { gain_[mask] = change; });
    // Zeta transform: gain[mask] becomes the sum over the subsets of mask.
    for (std::size_t bit = 1; bit < gain_.size(); bit *= 2)
      for (std::size_t base = 0; base < gain_.size(); base += 2 * bit)
        for (std::size_t m = base; m < base + bit; ++m) gain_[m + bit] += gain_[m];
    totals_.add_by_mask(ctx, columns_, wanted_, gain_);
  }

  void add_by_overlap(context const& ctx) {
    // Subsets of one size are stored in the order of the combinatorial number system, so that the
    // subsets of a document's overlap are found by adding binomials.
    std::size_t const width = items_.size();
    if (binomials_.size() < max_items_ * (width + 1)) {
      binomials_.resize(max_items_ * (part_.features() + 1));
      for (std::size_t k = 0; k < max_items_; ++k)
        for (std::size_t i = 0; i <= part_.features(); ++i)
          binomials_[i * max_items_ + k] = rules::binomial(i, k + 1);
    }
    by_size_.resize(max_items_);
    for (std::size_t k = 0; k < max_items_; ++k) {
      std::uint64_t const itemsets = rules::binomial(width, k + 1);
      if (itemsets > by_size_[k].capacity())
        memory_.take({itemsets * sizeof(std::int32_t), what_ + ": the itemsets", fewer_itemsets},
                     [&] { by_size_[k].resize(itemsets); });
      by_size_[k].assign(itemsets, 0);
    }
    std::size_t deepest = 0;  // largest size with a change
    count_itemsets(
        0, 0, 0, 0,
        [&](std::size_t index, std::size_t depth, std::size_t i) {
          return index + binomials_[i * max_items_ + depth];
        },
        [&](std::size_t depth, std::size_t index, std::int32_t change) {
          by_size_[depth][index] = change;
          deepest = std::max(deepest, depth + 1);
        });
    totals_.add_by_overlap(ctx, columns_, wanted_, [&](std::span<std::uint32_t const> overlap) {
      return deepest == 0 ? 0 : sum_subsets(overlap, 0, 0, 0, deepest);
    });
  }

  std::int32_t sum_subsets(std::span<std::uint32_t const> overlap, std::size_t from,
                           std::size_t depth, std::size_t index, std::size_t deepest) const {
    std::int32_t sum = 0;
    for (std::size_t i = from; i < overlap.size(); ++i) {
      std::size_t const next = index + binomials_[overlap[i] * max_items_ + depth];
      sum += by_size_[depth][next];
      if (depth + 1 < deepest) sum += sum_subsets(overlap, i + 1, depth + 1, next, deepest);
    }
    return sum;
  }

  partition const& part_;
  std::string what_;  // for messages
  std::size_t max_items_;
  memory_gate& memory_;
  support_table<Key> table_;
  totals totals_;
  std::vector<bool> chosen_;
  std::vector<std::int32_t> labels_;  // [classes] label, in order of appearance
  std::uint64_t gained_ = 0;
  std::uint64_t lost_ = 0;
  // The document being added.
  std::size_t class_ = 0;
  std::vector<rules::item> items_;
  std::vector<std::uint8_t const*> columns_;
  std::vector<std::uint8_t> wanted_;
  std::vector<std::int32_t> gain_;
  std::vector<std::vector<std::int32_t>> by_size_;
  std::vector<std::size_t> binomials_;
};

}  // namespace

std::unique_ptr<rule_counter> make_delta(partition const& part, std::size_t max_items,
                                         rules::validity const& valid, memory_gate& memory) {
  std::size_t const depth = std::min(max_items, part.features());
  // An itemset's number has `depth` digits in base items + 1.
  std::size_t bits = 0;
  for (std::size_t base = part.items() + 1; base > 0; base /= 2) ++bits;
  if (bits * depth <= 64)
    return std::make_unique<delta_counter<std::uint64_t>>(part, max_items, valid, memory);
  if (bits * depth <= 128)
    return std::make_unique<delta_counter<key128>>(part, max_items, valid, memory);
  throw usage_error(
      "found too many features in a partition for rules of this size; use more partitions or "
      "smaller rules");
}

}  // namespace rulerank::al
