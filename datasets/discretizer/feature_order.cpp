#include "datasets/feature_order.hpp"

#include "bitmaps/bit_kernels.hpp"
#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "datasets/input/lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns the number of bins of values: all items except "missing".
std::size_t value_bins(binned_dataset const& data, std::size_t f) {
  return data.bins(f) - (data.has_missing_item[f] ? 1 : 0);
}

__extension__ using wide = unsigned __int128;

/// Returns value / 2^bits, rounded to the nearest integer.
wide rounded(wide value, unsigned bits) {
  return (value + (wide{1} << (bits - 1))) >> bits;
}

/// The association in a contingency table. Mathematically equal results are equal to the last bit:
/// chi2 / N is computed to within N / 2^96 and then rounded to much coarser steps, so that the
/// order of the cells, the choice of rows and columns, and the order of summation have no effect.
struct association {
  std::uint64_t documents = 0;        ///< N
  wide share = 0;                     ///< chi2 / N, in 2^-96
  std::size_t rows = 0, columns = 0;  ///< nonempty ones

  static constexpr unsigned share_bits = 96;
  static constexpr unsigned v_bits = 52;
  static constexpr unsigned chi2_bits = 32;

  /// In units of 2^-chi2_bits.
  wide chi2() const { return rounded(rounded(share, share_bits - 64) * documents, 64 - chi2_bits); }
  double cramers_v() const {
    std::size_t const least = std::min(rows, columns);
    if (least < 2) return 0;
    auto const square =
        static_cast<std::uint64_t>(rounded(share / (least - 1), share_bits - v_bits));
    return std::min(1.0, std::sqrt(static_cast<double>(square) / 0x1p52));
  }
};

constexpr wide one_share = wide{1} << association::share_bits;
constexpr std::size_t most_cells = 256;  // of a row or column

/// The columns of a table over all documents: their sums, and 1 / sum. A column of a pair of
/// features has the same sum unless the other feature has documents without a value.
struct known_columns {
  std::uint64_t const* sums = nullptr;
  wide const* parts = nullptr;
};

/// Computes the association in the first `rows` × `columns` cells of a table with rows `stride`
/// apart: the sum of O^2 / (R C) over the cells is 1 + chi2 / N.
association associate(std::uint32_t const* table, std::size_t rows, std::size_t columns,
                      std::size_t stride, known_columns const& known = {}) {
  std::array<std::uint64_t, most_cells> column_sums;
  std::fill_n(column_sums.begin(), columns, std::uint64_t{0});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) column_sums[j] += table[i * stride + j];
  association result;
  std::array<wide, most_cells> column_parts;  // 1 / C
  for (std::size_t j = 0; j < columns; ++j) {
    if (column_sums[j] == 0) continue;
    column_parts[j] = known.sums != nullptr && known.sums[j] == column_sums[j]
                          ? known.parts[j]
                          : one_share / column_sums[j];
    ++result.columns;
  }
  wide sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    std::uint64_t row_sum = 0;
    wide of_row = 0;  // sum of O^2 / C, at most R
    for (std::size_t j = 0; j < columns; ++j) {
      std::uint64_t const count = table[i * stride + j];
      if (count == 0) continue;
      row_sum += count;
      of_row += count * count * column_parts[j];
    }
    if (row_sum == 0) continue;
    sum += of_row / row_sum;
    result.documents += row_sum;
    ++result.rows;
  }
  if (sum > one_share) result.share = sum - one_share;
  return result;
}

/// The bits of the items of features with few bins, for contingency tables by bit products. The
/// documents are in blocks; a block's rows are stored word by word.
class item_bits {
 public:
  /// A product of two rows costs about as much as 1/500 of a pass over the documents.
  static constexpr std::size_t most_bins = 32;
  /// Bits take at most twice the memory of the bin numbers.
  static constexpr std::size_t most_mean_bins = 16;

  item_bits(context const& ctx, binned_dataset const& data) : data_(data) {
    for (std::size_t f = 0; f < data.feature_count(); ++f) {
      row_begin_.push_back(rows_);
      std::size_t const bins = value_bins(data, f);
      has_.push_back(bins <= most_bins && rows_ + bins <= most_mean_bins * data.feature_count());
      if (has(f)) rows_ += bins;
    }
    row_begin_.push_back(rows_);
    stride_ = round_up(rows_, bitmaps::row_words_multiple * 2);
    sums_.resize(rows_);
    parts_.resize(rows_);
    words_ = (data.documents + bitmaps::word_bits - 1) / bitmaps::word_bits;
    bits_.resize(words_ * stride_);
    parallel_for(ctx, data.feature_count(), 1, [&](std::size_t first, std::size_t last, int) {
      for (std::size_t f = first; f < last; ++f)
        if (has(f)) set_bits(f);
    });
  }

  bool has(std::size_t f) const { return has_[f]; }
  known_columns columns(std::size_t f) const {
    return {sums_.data() + row_begin_[f], parts_.data() + row_begin_[f]};
  }
  /// The features whose tables with all others fit into a megabyte, at most four.
  std::size_t together() const { return std::clamp<std::size_t>((1 << 15) / (stride_ + 1), 1, 4); }

  /// Contingency tables of some features with all later ones.
  class products {
   public:
    products(item_bits const& bits, std::span<std::size_t const> features) : bits_(bits) {
      for (std::size_t const f : features) {
        table_begin_.push_back(rows_);
        if (bits.has(f)) rows_ += value_bins(bits.data_, f);
      }
      counts_.resize(rows_ * bits.stride_);
      for (std::size_t word = 0; word < bits.words_; word += block_words)
        for (std::size_t i = 0; i < features.size(); ++i)
          if (bits.has(features[i]))
            add(word, features[i], counts_.data() + table_begin_[i] * bits.stride_);
    }

    /// The table of the i-th of the features and feature g: rows stride() apart.
    std::uint32_t const* table(std::size_t i, std::size_t g) const {
      return counts_.data() + table_begin_[i] * stride() + bits_.row_begin_[g];
    }
    std::size_t stride() const { return bits_.stride_; }

   private:
    static constexpr std::size_t block_words = 62, most_prefixes = 4;

    void add(std::size_t word, std::size_t f, std::uint32_t* counts) const {
      std::size_t const rows = value_bins(bits_.data_, f),
                        groups = (rows + most_prefixes - 1) / most_prefixes;
      for (std::size_t group = 0; group < groups; ++group) {
        std::size_t const first = rows * group / groups, last = rows * (group + 1) / groups;
        bitmaps::add_product_counts(bits_.bits_.data() + word * stride(), stride(),
                                    std::min(block_words, bits_.words_ - word),
                                    bits_.row_begin_[f] + first, last - first,
                                    bits_.row_begin_[f + 1], counts + first * stride());
      }
    }

    item_bits const& bits_;
    std::vector<std::size_t> table_begin_;
    std::size_t rows_ = 0;
    aligned_vector<std::uint32_t> counts_;
  };

 private:
  void set_bits(std::size_t f) {
    std::uint8_t const* const codes = data_.column(f);
    std::size_t const bins = value_bins(data_, f);
    std::array<bitmaps::word, no_item + 1> of_bins{};
    for (std::size_t w = 0; w < words_; ++w) {
      std::size_t const begin = w * bitmaps::word_bits,
                        n = std::min(bitmaps::word_bits, data_.documents - begin);
      for (std::size_t b = 0; b < bins; ++b) of_bins[b] = 0;
      for (std::size_t d = 0; d < n; ++d) of_bins[codes[begin + d]] |= bitmaps::word{1} << d;
      for (std::size_t b = 0; b < bins; ++b) {
        bits_[w * stride_ + row_begin_[f] + b] = of_bins[b];
        sums_[row_begin_[f] + b] += static_cast<std::uint64_t>(std::popcount(of_bins[b]));
      }
    }
    for (std::size_t r = row_begin_[f]; r < row_begin_[f + 1]; ++r)
      if (sums_[r] != 0) parts_[r] = one_share / sums_[r];
  }

  binned_dataset const& data_;
  std::vector<bool> has_;
  std::vector<std::size_t> row_begin_;  // [F + 1]
  std::size_t rows_ = 0, stride_ = 0, words_ = 0;
  aligned_vector<bitmaps::word> bits_;  // [words][stride]
  std::vector<std::uint64_t> sums_;     // [rows] documents with the item
  std::vector<wide> parts_;             // [rows] 1 / sum
};

constexpr std::size_t columns_at_once = 4;
constexpr std::size_t documents_at_once = 4096;

/// Counts one column against several others in one pass over the documents. Alternating between
/// tables avoids dependencies between consecutive increments.
class pair_counter {
 public:
  explicit pair_counter(binned_dataset const& data) : data_(data) {}

  /// Calls `answer(g, association)` for each g of `others`, at most `columns_at_once`.
  template <class Answer>
  void count(std::size_t f, std::span<std::size_t const> others, Answer const& answer) {
    std::size_t const rows = value_bins(data_, f);
    std::size_t stride = 1;
    for (std::size_t const g : others)
      while (stride < value_bins(data_, g) + 1) stride *= 2;
    std::size_t const size = (rows + 1) * stride;  // the last row and column: no value
    tables_.assign(columns_at_once * size, 0);
    std::array<std::uint32_t*, columns_at_once> table{};
    std::array<std::uint8_t const*, columns_at_once> column{};
    std::array<std::uint8_t, columns_at_once> absent{};
    for (std::size_t k = 0; k < columns_at_once; ++k) {
      std::size_t const g = others[std::min(k, others.size() - 1)];  // repeated, without effect
      table[k] = tables_.data() + k * size;
      column[k] = data_.column(g);
      absent[k] = static_cast<std::uint8_t>(value_bins(data_, g));
    }
    auto const absent_row = static_cast<std::uint8_t>(rows);
    std::uint8_t const* const f_codes = data_.column(f);
    for (std::size_t begin = 0; begin < data_.documents; begin += documents_at_once) {
      std::size_t const n = std::min(documents_at_once, data_.documents - begin);
      for (std::size_t i = 0; i < n; ++i)
        row_[i] = static_cast<std::uint32_t>(std::min(f_codes[begin + i], absent_row) * stride);
      for (std::size_t k = 0; k < columns_at_once; ++k)
        for (std::size_t i = 0; i < n; ++i)
          codes_[k][i] = std::min(column[k][begin + i], absent[k]);
      for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t const row = row_[i];
        ++table[0][row + codes_[0][i]];
        ++table[1][row + codes_[1][i]];
        ++table[2][row + codes_[2][i]];
        ++table[3][row + codes_[3][i]];
      }
    }
    for (std::size_t k = 0; k < others.size(); ++k)
      answer(others[k], associate(table[k], rows, value_bins(data_, others[k]), stride));
  }

 private:
  binned_dataset const& data_;
  std::vector<std::uint32_t> tables_;
  std::array<std::uint32_t, documents_at_once> row_;
  std::array<std::array<std::uint8_t, documents_at_once>, columns_at_once> codes_;
};

/// Returns 0..F-1 by descending `key`, ties by index.
std::vector<std::size_t> descending(std::vector<wide> const& key) {
  std::vector<std::size_t> order(key.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key[a] > key[b]; });
  return order;
}

/// Adds vectors of one length, at least one.
std::vector<wide> sum_of(std::vector<std::vector<wide>> const& all) {
  std::vector<wide> sum(all.front().size());
  for (std::vector<wide> const& one : all)
    for (std::size_t i = 0; i < one.size(); ++i) sum[i] += one[i];
  return sum;
}

std::vector<std::size_t> by_mean_cramers_v(context const& ctx, binned_dataset const& data) {
  // V in units of 2^-52: equal columns get equal sums, whatever the order of the pairs.
  std::size_t const features = data.feature_count();
  // With several processes, each counts every size-th feature against all later ones.
  process_group const* const group = has_processes(ctx) ? ctx.processes : nullptr;
  std::vector<std::size_t> own;
  for (std::size_t f = group != nullptr ? static_cast<std::size_t>(group->rank()) : 0; f < features;
       f += group != nullptr ? static_cast<std::size_t>(group->size()) : 1)
    own.push_back(f);
  std::vector<std::vector<wide>> sums(static_cast<std::size_t>(ctx.thread_count()),
                                      std::vector<wide>(features));
  item_bits const bits(ctx, data);
  std::size_t const together = bits.together();
  std::size_t const round = 16 * static_cast<std::size_t>(ctx.thread_count());
  for (std::size_t begin = 0; begin < own.size(); begin += round) {
    ctx.report("feature order", begin, own.size());
    std::size_t const count = std::min(round, own.size() - begin);
    parallel_for(ctx, count, together, [&](std::size_t first, std::size_t last, int thread) {
      std::vector<wide>& sum = sums[static_cast<std::size_t>(thread)];
      auto const counter = std::make_unique<pair_counter>(data);
      std::span<std::size_t const> const some = std::span(own).subspan(begin + first, last - first);
      item_bits::products const products(bits, some);
      for (std::size_t i = 0; i < some.size(); ++i) {
        ctx.check_stop();
        std::size_t const f = some[i];
        auto const add = [&](std::size_t g, association const& found) {
          auto const v = static_cast<std::uint64_t>(found.cramers_v() * 0x1p52);
          sum[f] += v;
          sum[g] += v;
        };
        std::vector<std::size_t> others;
        for (std::size_t g = f + 1; g < features; ++g)
          if (!bits.has(f) || !bits.has(g))
            others.push_back(g);
          else
            add(g, associate(products.table(i, g), value_bins(data, f), value_bins(data, g),
                             products.stride(), bits.columns(g)));
        for (std::size_t g = 0; g < others.size(); g += columns_at_once) {
          ctx.check_stop();
          counter->count(
              f, std::span(others).subspan(g).first(std::min(columns_at_once, others.size() - g)),
              add);
        }
      }
    });
  }
  if (group != nullptr) sums = gather_values(*group, sum_of(sums));
  // Sums that differ only by rounding of the roots are equal in units of 2^-32.
  constexpr unsigned finer = 20;
  std::vector<wide> mean = sum_of(sums);
  for (wide& one : mean) one = rounded(one, finer);  // all have the same divisor F - 1
  return descending(mean);
}

std::vector<std::size_t> by_label(context const& ctx, binned_dataset const& data) {
  std::vector<std::int32_t> labels;
  for (std::int32_t const label : data.labels)
    if (label >= 0) labels.push_back(label);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  std::vector<std::size_t> place(data.documents, labels.size());  // unlabelled: the last column
  for (std::size_t d = 0; d < data.documents; ++d)
    if (data.labels[d] >= 0)
      place[d] = static_cast<std::size_t>(
          std::lower_bound(labels.begin(), labels.end(), data.labels[d]) - labels.begin());

  std::vector<wide> chi2(data.feature_count());
  parallel_for(ctx, data.feature_count(), 1, [&](std::size_t first, std::size_t last, int) {
    for (std::size_t f = first; f < last; ++f) {
      std::size_t const rows = value_bins(data, f), stride = labels.size() + 1;
      std::vector<std::uint32_t> table((rows + 1) * stride);
      for (std::size_t d = 0; d < data.documents; ++d)
        ++table[std::min<std::size_t>(data.code(f, d), rows) * stride + place[d]];
      chi2[f] = associate(table.data(), rows, labels.size(), stride).chi2();
    }
  });
  return descending(chi2);
}

/// Returns the feature with this number, or with this name if features have names.
std::optional<std::uint32_t> feature_of(std::string_view word, feature_names const& names) {
  if (!names.empty()) {
    auto const found =
        std::ranges::find_if(names, [&](auto const& one) { return one.second == word; });
    if (found == names.end()) return std::nullopt;
    return found->first;
  }
  std::uint32_t feature = 0;
  auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), feature);
  if (status != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return feature;
}

std::vector<std::size_t> from_file(binned_dataset const& data, std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error({path, 0, 0}, "cannot be read; expected feature numbers, one on each line");
  std::vector<std::size_t> order;
  std::vector<bool> placed(data.feature_count());
  std::set<std::uint32_t> named;
  constexpr std::string_view blanks = " \t\r";
  std::string text;
  for (std::uint64_t line = 1; std::getline(in, text); ++line) {
    std::string_view word = text;
    if (line == 1) remove_byte_order_mark(word);
    word = word.substr(0, word.find('#'));
    std::size_t const column = word.find_first_not_of(blanks);
    if (column == word.npos) continue;
    word = word.substr(column, word.find_last_not_of(blanks) + 1 - column);
    auto const found = feature_of(word, data.names);
    if (!found)
      throw error({path, line, column + 1},
                  fmt::format("found '{}', expected a feature {}", word,
                              data.names.empty() ? "number" : "name of the documents"));
    std::uint32_t const feature = *found;
    if (!named.insert(feature).second)
      throw error({path, line, column + 1},
                  fmt::format("found feature {} again, expected each feature once", word));
    auto const at = std::lower_bound(data.features.begin(), data.features.end(), feature);
    if (at == data.features.end() || *at != feature) continue;
    auto const f = static_cast<std::size_t>(at - data.features.begin());
    placed[f] = true;
    order.push_back(f);
  }
  if (in.bad())
    throw error({path, 0, 0}, "cannot be read; expected feature numbers, one on each line");
  if (named.empty())
    throw error({path, 1, 1}, "found no feature number, expected one on each line");
  std::vector<std::string> missing;
  for (std::size_t f = 0; f < data.feature_count(); ++f)
    if (!placed[f]) missing.push_back(name_of(data.features[f], data.names));
  if (!missing.empty()) {
    constexpr std::size_t shown = 10;
    bool const all = missing.size() <= shown;
    throw error(
        {path, 1, 1},
        fmt::format("found {} of the {} with items, expected all of them: {}{} missing",
                    order.size(), counted(data.feature_count(), "feature"),
                    fmt::join(std::span(missing).first(std::min(shown, missing.size())), ", "),
                    all ? (missing.size() == 1 ? " is" : " are")
                        : fmt::format(" and {} more are", missing.size() - shown)));
  }
  return order;
}

constexpr std::array<std::pair<std::string_view, feature_order>, 4> order_words{
    {{"chi2", feature_order::chi2},
     {"label", feature_order::label},
     {"none", feature_order::none},
     {"file", feature_order::file}}};

}  // namespace

std::vector<std::size_t> order_features(context const& ctx, binned_dataset const& data,
                                        feature_order order, std::string const& path) {
  switch (order) {
    case feature_order::chi2:
      return by_mean_cramers_v(ctx, data);
    case feature_order::label:
      return by_label(ctx, data);
    case feature_order::file:
      return from_file(data, path);
    case feature_order::none:
      break;
  }
  std::vector<std::size_t> as_they_come(data.feature_count());
  std::iota(as_they_come.begin(), as_they_come.end(), std::size_t{0});
  return as_they_come;
}

binned_dataset best_features(context const& ctx, binned_dataset const& data, double share) {
  auto const wanted =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(data.feature_count())));
  if (wanted >= data.feature_count()) return data;
  std::vector<std::size_t> kept = order_features(ctx, data, feature_order::label);
  kept.resize(std::max<std::size_t>(wanted, 1));
  std::ranges::sort(kept);
  binned_dataset best;
  best.documents = data.documents;
  best.stride = data.stride;
  best.labels = data.labels;
  best.max_label = data.max_label;
  best.names = data.names;
  best.item_begin.push_back(0);
  for (std::size_t const f : kept) {
    best.features.push_back(data.features[f]);
    best.item_begin.push_back(best.item_begin.back() + data.bins(f));
    best.has_missing_item.push_back(data.has_missing_item[f]);
    best.codes.insert(best.codes.end(), data.column(f), data.column(f) + data.stride);
  }
  return best;
}

double cramers_v(binned_dataset const& data, std::size_t f, std::size_t g) {
  double v = 0;
  std::make_unique<pair_counter>(data)->count(
      f, std::span(&g, 1), [&v](std::size_t, association const& found) { v = found.cramers_v(); });
  return v;
}

std::string_view name_of(feature_order order) {
  return std::find_if(order_words.begin(), order_words.end(),
                      [order](auto const& word) { return word.second == order; })
      ->first;
}

feature_order feature_order_from(std::string_view name) {
  for (auto const& [word, order] : order_words)
    if (word == name) return order;
  throw usage_error(
      fmt::format("feature order: found '{}', expected chi2, label, none or file:PATH", name));
}

}  // namespace rulerank::datasets
