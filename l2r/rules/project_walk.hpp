#pragma once
// The traversal of `project` over the itemsets of many test documents; see project_cpu.cpp.

#include "bitmaps/bit_kernels.hpp"
#include "bitmaps/column_compression.hpp"
#include "core/aligned.hpp"
#include "core/context.hpp"
#include "l2r/rules/engine.hpp"
#include "l2r/rules/score_math.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace rulerank::inline v0::l2r::project_cpu {

using bitmaps::word;
using bitmaps::word_range;
/// The number of an item among those that a node has yet to extend by.
using item_number = std::uint32_t;

/// Bit rows of the later items, stored by word: word w of item l is data[w * stride + l].
struct bit_columns {
  word const* data = nullptr;
  std::size_t stride = 0;
  std::size_t words = 0;
  std::span<word_range const> ranges;  // words of each class
};

/// A stride for `item_count` rows: an odd multiple of 16, so that a row's words do not all map to
/// the same cache set.
inline std::size_t stride_for(std::size_t item_count) {
  return (std::max<std::size_t>(round_up(item_count, 16), 16) / 16 | 1) * 16;
}

/// A node's later items and test documents. A row holds a document's item number for each feature,
/// or `item_count` for no item. Entry is an integer type wide enough for these numbers.
template <class Entry>
struct test_group {
  std::size_t documents = 0;
  std::size_t features = 0;
  // [features + 1] the first item of each feature; the last is `item_count`
  item_number const* feature_begin = nullptr;
  item_number item_count = 0;
  Entry const* rows = nullptr;  // row d is [features] at rows + d * row_stride
  std::size_t row_stride = 0;

  Entry const* row(std::size_t d) const { return rows + d * row_stride; }
  /// The group without the features before g.
  test_group from(std::size_t g) const {
    test_group later = *this;
    later.features -= g;
    later.feature_begin += g;
    later.rows += g;
    return later;
  }
};

/// Returns `total` plus the cells of a row's items.
template <class Sum, class Entry>
score_sums<Sum> sum_of_cells(score_sums<Sum> total, score_sums<Sum> const* cells, Entry const* row,
                             std::size_t count) {
  for (std::size_t h = 0; h < count; ++h) total += cells[row[h]];
  return total;
}

#if defined(__GNUC__)
/// Both 64-bit sums of a cell as one vector.
template <class Entry>
[[gnu::always_inline]] inline score_sums<std::uint64_t> sum_of_cells(
    score_sums<std::uint64_t> total, score_sums<std::uint64_t> const* cells, Entry const* row,
    std::size_t count) {
  using pair [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
  auto const cell = [&](std::size_t h) {
    pair loaded;
    __builtin_memcpy(&loaded, cells + row[h], sizeof(pair));
    return loaded;
  };
  pair a{total.num, total.den};
  pair b{0, 0};
  std::size_t h = 0;
  for (; h + 4 <= count; h += 4) {
    a += cell(h) + cell(h + 1);
    b += cell(h + 2) + cell(h + 3);
  }
  for (; h < count; ++h) a += cell(h);
  a += b;
  return {a[0], a[1]};
}
#endif

template <class Sum, class Entry>
struct walker {
  using group_type = test_group<Entry>;
  using sums = score_sums<Sum>;

  /// The buffers of one depth of the traversal, reused between nodes.
  struct level {
    aligned_vector<word> prefix;
    std::vector<sums> cells;                // [items + 1] the contribution of each later item
    aligned_vector<std::uint32_t> support;  // [stride]
    std::vector<std::uint32_t> members;     // of the group, as indices into the parent's group
    std::vector<Entry> rows;                // of the group, consecutive
    std::vector<sums> totals;
    // The compressed columns of this node, if compression pays.
    bitmaps::column_compression compression;
    aligned_vector<word> columns, ones;
    std::vector<item_number> kept, renumbered, feature_begin;
    std::vector<Entry> compressed_rows;
    aligned_vector<std::uint32_t> compressed_support;
  };

  /// The current part of a work item, as fractions from 0 to 1.
  struct part_of_work {
    double begin = 0, size = 1;
    /// Part i of `count` equal parts.
    part_of_work part(std::size_t i, std::size_t count) const {
      double const each = size / static_cast<double>(std::max<std::size_t>(count, 1));
      return {begin + each * static_cast<double>(i), each};
    }
  };

  context const& ctx;
  score_view<Sum> view;
  std::vector<std::uint32_t> labels;
  std::deque<level> levels;
  std::vector<sums> tables;
  aligned_vector<std::uint32_t> weighted, counts;  // scratch of count()
  std::function<void(double)> tell;  // called now and then with the completed fraction
  part_of_work now;
  std::uint32_t steps = 0;

  walker(context const& c, prepared_training const& training)
      : ctx(c), view(training.table.view<Sum>()) {
    for (std::size_t k = 0; k < training.index.class_count(); ++k)
      labels.push_back(static_cast<std::uint32_t>(training.index.class_label(k)));
  }

  level& at(std::size_t depth) {
    while (levels.size() <= depth) levels.emplace_back();
    return levels[depth];
  }

  /// For each item in [begin, end): support[l] = number of documents that hold the prefix and item
  /// l, cells[l] = that itemset's contribution. `held`: the prefix's support.
  void count(bit_columns const& c, word const* prefix, std::uint32_t held, item_number begin,
             item_number end, std::uint32_t* support, sums* cells) {
    if (begin == end) return;
    if (held <= view.folded_up_to) {
      if (weighted.size() < c.stride) weighted.resize(c.stride);
      bitmaps::product_weighted_counts(prefix, c.data, c.stride, begin, end, c.ranges, labels,
                                       support, weighted.data());
      for (item_number l = begin; l < end; ++l) cells[l] = view.folded(support[l], weighted[l]);
      return;
    }
    std::size_t const classes = labels.size();
    if (counts.size() < classes * c.stride) counts.resize(classes * c.stride);
    bitmaps::product_range_counts(prefix, c.data, c.stride, begin, end, c.ranges, counts.data());
    std::copy(counts.data() + begin, counts.data() + end, support + begin);
    for (std::size_t k = 1; k < classes; ++k)
      for (item_number l = begin; l < end; ++l) support[l] += counts[k * c.stride + l];
    for (item_number l = begin; l < end; ++l)
      cells[l] = support[l] == 0 ? sums{} : view.classwise(support[l], counts.data() + l, c.stride);
  }

  /// Adds to each document's total the cells of its items.
  static void add(group_type const& group, sums const* cells, sums* totals) {
    for (std::size_t d = 0; d < group.documents; ++d) {
      totals[d] = sum_of_cells(totals[d], cells, group.row(d), group.features);
    }
  }

  static void intersect(bit_columns const& c, word const* prefix, item_number l, word* out) {
    for (std::size_t w = 0; w < c.words; ++w) out[w] = prefix[w] & c.data[w * c.stride + l];
  }

  /// Handles all itemsets prefix + {j} + {l}, j of feature g and l of a later feature.
  void pairs(bit_columns const& c, word const* prefix, std::uint32_t const* support,
             group_type const& group, std::size_t g, std::size_t depth, sums* totals) {
    constexpr std::size_t table_bytes = std::size_t{1} << 19;
    constexpr std::uint32_t steps_a_report = 256;
    ctx.check_stop();
    if (++steps % steps_a_report == 0 && tell) tell(now.begin);
    item_number const first = group.feature_begin[g];
    item_number const last = group.feature_begin[g + 1];
    std::size_t const width = group.item_count + std::size_t{1} - last;  // numbers last..item_count
    auto const at_once =
        static_cast<item_number>(std::max<std::size_t>(table_bytes / (width * sizeof(sums)), 1));
    level& own = at(depth);
    own.prefix.resize(c.words);
    own.support.resize(std::max(own.support.size(), c.stride));
    test_group const later = group.from(g + 1);
    for (item_number from = first; from < last; from += std::min(at_once, last - from)) {
      item_number const to = from + std::min(at_once, last - from);
      if (tables.size() < (to - from) * width) tables.resize((to - from) * width);
      for (item_number j = from; j < to; ++j) {
        if (support[j] == 0) continue;
        intersect(c, prefix, j, own.prefix.data());
        sums* const table = tables.data() + (j - from) * width;
        count(c, own.prefix.data(), support[j], last, group.item_count, own.support.data(),
              table - last);
        table[width - 1] = {};
      }
      for (std::size_t d = 0; d < group.documents; ++d) {
        item_number const j = group.row(d)[g];
        if (j < from || j >= to || support[j] == 0) continue;
        sums const* const table = tables.data() + (j - from) * width - last;
        totals[d] = sum_of_cells(totals[d], table, later.row(d), later.features);
      }
    }
  }

  /// A child node: the prefix extended by item j of feature g of the parent's group. `part` of
  /// `parts` handles every parts-th feature of the node (part 0 also the node itself).
  void child(bit_columns const& c, word const* prefix, std::uint32_t support_j,
             group_type const& group, std::size_t g, item_number j,
             std::span<std::uint32_t const> members, std::size_t remaining, std::size_t depth,
             std::size_t part, std::size_t parts, sums* totals) {
    level& own = at(depth);
    own.prefix.resize(c.words);
    intersect(c, prefix, j, own.prefix.data());
    group_type mine = group.from(g + 1);
    mine.documents = members.size();
    mine.row_stride = mine.features;
    own.rows.resize(members.size() * mine.features);
    for (std::size_t d = 0; d < members.size(); ++d)
      std::copy_n(group.row(members[d]) + g + 1, mine.features,
                  own.rows.data() + d * mine.features);
    mine.rows = own.rows.data();
    own.totals.assign(members.size(), {});
    node(c, own.prefix.data(), support_j, mine, remaining, depth, part, parts, own.totals.data());
    for (std::size_t d = 0; d < members.size(); ++d) totals[members[d]] += own.totals[d];
  }

  /// Handles all itemsets prefix + X with X of 1 to `remaining` of the group's items.
  void node(bit_columns c, word const* prefix, std::uint32_t held, group_type group,
            std::size_t remaining, std::size_t depth, std::size_t part, std::size_t parts,
            sums* totals) {
    if (group.features == 0) return;
    level& own = at(depth);
    own.support.resize(std::max(own.support.size(), c.stride));
    own.cells.resize(std::max<std::size_t>(own.cells.size(), group.item_count + std::size_t{1}));
    count(c, prefix, held, group.feature_begin[0], group.item_count, own.support.data(),
          own.cells.data());
    own.cells[group.item_count] = {};
    if (part == 0) add(group, own.cells.data(), totals);
    if (remaining == 1) return;
    std::uint32_t const* support = own.support.data();
    if (compress(own, c, prefix, group)) {
      prefix = own.ones.data();
      support = own.compressed_support.data();
    }
    part_of_work const whole = now;
    for (std::size_t g = part; g + 1 < group.features; g += parts) {
      now = whole.part(g, group.features - 1);
      if (remaining == 2) {
        pairs(c, prefix, support, group, g, depth + 1, totals);
        continue;
      }
      for (item_number j = group.feature_begin[g]; j < group.feature_begin[g + 1]; ++j) {
        if (support[j] == 0) continue;
        std::vector<std::uint32_t>& members = at(depth + 1).members;
        members.clear();
        for (std::size_t d = 0; d < group.documents; ++d)
          if (group.row(d)[g] == j) members.push_back(static_cast<std::uint32_t>(d));
        if (!members.empty())
          child(c, prefix, support[j], group, g, j, members, remaining - 1, depth + 1, 0, 1,
                totals);
      }
    }
    now = whole;
  }

  /// Drops items that occur with the prefix in no training document or in no document of the group,
  /// and training documents without the prefix. Rewrites `c` and `group` with new item numbers.
  /// False, without a change, if that would cost more than it saves.
  bool compress(level& own, bit_columns& c, word const* prefix, group_type& group) {
    item_number const begin = group.feature_begin[0];
    item_number const none = std::numeric_limits<item_number>::max();
    own.renumbered.assign(group.item_count + std::size_t{1}, none);
    for (std::size_t d = 0; d < group.documents; ++d) {
      Entry const* const row = group.row(d);
      for (std::size_t h = 0; h < group.features; ++h) own.renumbered[row[h]] = 0;
    }
    own.kept.clear();
    own.feature_begin.clear();
    for (std::size_t h = 0; h < group.features; ++h) {
      own.feature_begin.push_back(static_cast<item_number>(own.kept.size()));
      for (item_number l = group.feature_begin[h]; l < group.feature_begin[h + 1]; ++l)
        if (own.renumbered[l] == 0 && own.support[l] != 0) own.kept.push_back(l);
    }
    auto const left = static_cast<item_number>(own.kept.size());
    own.feature_begin.push_back(left);
    own.compression.plan({prefix, c.words}, c.ranges);

    // Costs in words counted; a step counts eight.
    double const products = 0.5 * left;  // about how many rows each row is ANDed with
    double const as_is =
        products * (group.item_count - begin) * (static_cast<double>(c.words) + 12);
    double const compressed = products * left * (own.compression.words + 12.0) +
                              16.0 * left * static_cast<double>(own.compression.steps.size());
    if (compressed >= as_is) return false;

    std::size_t const stride = stride_for(left);
    own.columns.resize(std::max(own.columns.size(), stride * own.compression.words));
    bitmaps::compress_columns(own.compression, c.data, c.stride, own.kept, own.columns.data(),
                              stride);
    own.ones.assign(own.compression.words, ~word{0});
    own.compressed_support.resize(std::max(own.compressed_support.size(), stride));
    std::fill(own.renumbered.begin(), own.renumbered.end(), left);
    for (item_number l = 0; l < left; ++l) {
      own.renumbered[own.kept[l]] = l;
      own.compressed_support[l] = own.support[own.kept[l]];
    }
    own.compressed_rows.resize(group.documents * group.features);
    for (std::size_t d = 0; d < group.documents; ++d) {
      Entry const* const row = group.row(d);
      Entry* const to = own.compressed_rows.data() + d * group.features;
      for (std::size_t h = 0; h < group.features; ++h)
        to[h] = static_cast<Entry>(own.renumbered[row[h]]);
    }
    c = {own.columns.data(), stride, own.compression.words, own.compression.ranges};
    group.feature_begin = own.feature_begin.data();
    group.item_count = left;
    group.rows = own.compressed_rows.data();
    group.row_stride = group.features;
    return true;
  }
};

}  // namespace rulerank::l2r::project_cpu
