#pragma once

#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/bit_matrix.hpp"
#include "rules/itemset.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rulerank::inline v0::rules {

/// The bitmaps of a sample that grows by one document at a time, as in the published samplers
/// (Freitas 2017, section 4.2.1): one bit row per item and one per class, with bit N for the N-th
/// added document. A class-wise support is the popcount of an AND with the class's row.
class growing_index {
 public:
  explicit growing_index(std::size_t items);

  /// Adds a document by its items. A new label becomes the next class.
  void add(std::span<item const> items, std::int32_t label);

  std::size_t documents() const noexcept { return documents_; }
  std::size_t class_count() const noexcept { return labels_.size(); }
  std::int32_t class_label(std::size_t k) const { return labels_[k]; }
  /// Whether any added document contains x (the published `cur_items`).
  bool holds(item x) const { return held_[x]; }

  /// The words that hold all documents, padded.
  std::size_t words() const noexcept { return bitmaps::padded_words(documents_); }
  std::span<bitmaps::word const> row(item x) const { return rows_.row(x).first(words()); }

  /// Scratch memory of one thread for walk_itemsets(): a row of words for each item of an itemset.
  struct scratch {
    std::vector<aligned_vector<bitmaps::word>> rows;
    std::vector<std::uint32_t> counts;
  };

  /// Visits every itemset of 1 to max_size of the given items once: visit(counts) gets its
  /// class-wise supports. The intersection of an itemset's first items is reused while its last
  /// ones vary (the f_x of Freitas 2017, figure 3.6).
  template <class Visit>
  void walk_itemsets(std::span<item const> items, std::size_t max_size, scratch& s,
                     Visit&& visit) const {
    s.rows.resize(std::max(s.rows.size(), max_size));
    for (auto& r : s.rows)
      if (r.size() < words()) r.resize(words());
    s.counts.resize(class_count());
    for (std::size_t i = 0; i < items.size(); ++i)
      walk(row(items[i]), row(items[i]), items.subspan(i + 1), max_size, 0, s, visit);
  }

  /// As in SupportSource.
  std::uint32_t supports(std::span<item const> x, std::span<std::uint32_t> counts) const;

 private:
  template <class Visit>
  void walk(std::span<bitmaps::word const> prefix, std::span<bitmaps::word const> last,
            std::span<item const> later, std::size_t max_size, std::size_t depth, scratch& s,
            Visit&& visit) const {
    std::span<bitmaps::word> const both{s.rows[depth].data(), prefix.size()};
    bitmaps::and_class_popcounts(prefix, last, classes_.row(0).data(), classes_.stride(), both,
                                 s.counts);
    visit(std::span<std::uint32_t const>(s.counts));
    if (depth + 1 == max_size) return;
    for (std::size_t i = 0; i < later.size(); ++i)
      walk(both, row(later[i]), later.subspan(i + 1), max_size, depth + 1, s, visit);
  }

  std::size_t documents_ = 0;
  bitmaps::bit_matrix rows_;
  bitmaps::bit_matrix classes_;  // one row per class, in order of appearance
  std::vector<std::int32_t> labels_;
  std::vector<bool> held_;
};

static_assert(SupportSource<growing_index>);

}  // namespace rulerank::rules
