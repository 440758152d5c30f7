#pragma once
// The batches of test documents of the engine `project`; see project_cpu.cpp.

#include "core/parallel.hpp"
#include "l2r/rules/project_walk.hpp"

#include <array>
#include <numeric>

namespace rulerank::inline v0::l2r::project_cpu {

/// Numbers a batch's items from 0. Features are ordered by their items' mean support over the
/// batch, rarest first; each has the items that occur in both training set and batch.
struct item_numbering {
  item_numbering(context const& ctx, prepared_training const& training, known_items const& test,
                 std::size_t begin, std::size_t end) {
    std::size_t const columns = test.feature_count();
    std::vector<std::array<std::uint32_t, 256>> occurrences(columns);
    std::vector<std::uint64_t> commonness(columns);
    parallel_for(ctx, columns, 1, [&](std::size_t f, std::size_t, int) {
      std::uint8_t const* const codes = test.codes(f);
      occurrences[f].fill(0);
      if (codes == nullptr) return;
      for (std::size_t d = begin; d < end; ++d) ++occurrences[f][codes[d]];
      for (std::size_t code = 0; code < 256; ++code) {
        if (occurrences[f][code] == 0) continue;
        rules::item const x = test.item_of(f, static_cast<std::uint8_t>(code));
        if (x == no_known_item)
          occurrences[f][code] = 0;
        else
          commonness[f] += std::uint64_t{occurrences[f][code]} * training.index.item_support(x);
      }
    });
    for (std::size_t f = 0; f < columns; ++f)
      if (commonness[f] > 0) order.push_back(f);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return commonness[a] < commonness[b]; });
    member_begin.push_back(0);
    for (std::size_t f : order) {
      feature_begin.push_back(static_cast<item_number>(items.size()));
      number_of.emplace_back().fill(none);
      for (std::size_t code = 0; code < 256; ++code) {
        if (occurrences[f][code] == 0) continue;
        number_of.back()[code] = static_cast<item_number>(items.size());
        items.push_back(test.item_of(f, static_cast<std::uint8_t>(code)));
        member_begin.push_back(member_begin.back() + occurrences[f][code]);
      }
    }
    feature_begin.push_back(item_count());
    for (auto& row : number_of) std::replace(row.begin(), row.end(), none, item_count());
  }

  static constexpr item_number none = std::numeric_limits<item_number>::max();
  item_number item_count() const { return static_cast<item_number>(items.size()); }

  std::vector<std::size_t> order;          // [features] the feature's column in the training set
  std::vector<item_number> feature_begin;  // [features + 1]
  std::vector<rules::item> items;          // [items]
  std::vector<std::array<item_number, 256>>
      number_of;                          // [features] by code; `item_count()`: no item
  std::vector<std::size_t> member_begin;  // [items + 1] prefix sums of occurrences
};

/// A batch's rows, and the documents of each item.
template <class Entry>
struct batch {
  batch(context const& ctx, item_numbering const& plan, prepared_training const& training,
        known_items const& test, std::size_t begin, std::size_t end)
      : documents(end - begin), plan_(plan) {
    std::size_t const features = plan.order.size();
    rows.resize(documents * features);
    parallel_for(ctx, documents, 512, [&](std::size_t from, std::size_t to, int) {
      for (std::size_t h = 0; h < features; ++h) {
        std::uint8_t const* const codes = test.codes(plan.order[h]) + begin;
        for (std::size_t d = from; d < to; ++d)
          rows[d * features + h] = static_cast<Entry>(plan.number_of[h][codes[d]]);
      }
    });
    members.resize(plan.member_begin.back());
    parallel_for(ctx, features, 1, [&](std::size_t h, std::size_t, int) {
      std::uint8_t const* const codes = test.codes(plan.order[h]) + begin;
      item_number const first = plan.feature_begin[h];
      std::vector<std::size_t> next(plan.member_begin.begin() + first,
                                    plan.member_begin.begin() + plan.feature_begin[h + 1]);
      for (std::size_t d = 0; d < documents; ++d)
        if (item_number const l = plan.number_of[h][codes[d]]; l != plan.item_count())
          members[next[l - first]++] = static_cast<std::uint32_t>(d);
    });
    // Columns without the words that only pad a class.
    rules::vertical_index const& index = training.index;
    std::uint32_t words = 0;
    for (std::size_t k = 0; k < index.class_count(); ++k) {
      auto const size = static_cast<std::uint32_t>((index.class_size(k) + bitmaps::word_bits - 1) /
                                                   bitmaps::word_bits);
      ranges.push_back({words, words + size});
      words += size;
    }
    stride = stride_for(plan.item_count());
    columns.resize(stride * words);
    parallel_for(ctx, plan.item_count(), 64, [&](std::size_t from, std::size_t to, int) {
      for (std::size_t l = from; l < to; ++l)
        for (std::size_t k = 0; k < ranges.size(); ++k) {
          word const* in = index.row(plan.items[l]).data() + index.ranges()[k].begin;
          for (std::uint32_t w = ranges[k].begin; w < ranges[k].end; ++w)
            columns[w * stride + l] = *in++;
        }
    });
    ones.assign(words, ~word{0});
  }

  bit_columns bits() const { return {columns.data(), stride, ones.size(), ranges}; }
  test_group<Entry> group() const {
    std::size_t const features = plan_.order.size();
    return {documents,          features,    plan_.feature_begin.data(),
            plan_.item_count(), rows.data(), features};
  }
  /// The documents with item l.
  std::span<std::uint32_t const> holders(item_number l) const {
    std::size_t const from = plan_.member_begin[l];
    return std::span(members).subspan(from, plan_.member_begin[l + std::size_t{1}] - from);
  }

  std::size_t documents;
  std::vector<Entry> rows;
  std::vector<std::uint32_t> members;
  std::vector<word_range> ranges;
  std::size_t stride = 0;
  aligned_vector<word> columns;
  std::vector<word> ones;  // the row with a bit per training document

 private:
  item_numbering const& plan_;
};

}  // namespace rulerank::l2r::project_cpu
