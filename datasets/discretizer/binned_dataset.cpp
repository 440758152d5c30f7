#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/discretizer/bin_kernels.hpp"
#include "datasets/discretizer/binned_rows.hpp"
#include "datasets/discretizer/discretizer_parts.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/values_of.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t tile_columns = 128;  // 64 KiB of values

/// Computes the bins of a tile's first `documents` values in one column: the number of cuts <= x,
/// or `missing` for NaN.
void bin_values(std::span<double const, tile_documents> values, std::size_t documents,
                std::span<double const> cuts, std::uint8_t missing, std::uint8_t* codes) {
  constexpr std::size_t few = 24;           // cuts
  constexpr std::size_t few_documents = 8;  // searches take less time than a whole tile
  if (cuts.size() <= few && documents > few_documents) {
    std::array<std::uint8_t, tile_documents> all;
    count_cuts(values, cuts, missing, all);
    std::copy_n(all.begin(), documents, codes);
    return;
  }
  for (std::size_t i = 0; i < documents; ++i)
    codes[i] = std::isnan(values[i])
                   ? missing
                   : static_cast<std::uint8_t>(
                         std::upper_bound(cuts.begin(), cuts.end(), values[i]) - cuts.begin());
}

/// Writes the codes of a tile of documents, a block of columns at a time.
class column_writer {
 public:
  column_writer(discretizer const& fitted, binned_dataset& result)
      : options_(fitted.options),
        result_(result),
        values_(tile_documents * std::min(tile_columns, result.feature_count())) {
    for (feature_cuts const& f : fitted.features)
      if (!f.cuts.empty()) cuts_.push_back(f.cuts);
  }

  /// Documents [begin, end), at most one tile. `read(first, last, set)` calls set(column, document,
  /// value) for the values of the columns [first, last); others are unlisted.
  template <class Read>
  void write_tile(std::size_t begin, std::size_t end, Read&& read) {
    bool const missing_is_zero = options_.missing == missing_values::zero;
    double const unlisted = unlisted_value(options_.missing, options_.unlisted);
    for (std::size_t first = 0; first < cuts_.size(); first += tile_columns) {
      std::size_t const last = std::min(first + tile_columns, cuts_.size());
      std::fill_n(values_.begin(), (last - first) * tile_documents, unlisted);
      read(first, last, [&](std::size_t column, std::size_t d, double value) {
        values_[(column - first) * tile_documents + (d - begin)] =
            missing_is_zero && std::isnan(value) ? 0.0 : value;
      });
      for (std::size_t f = first; f < last; ++f) {
        std::uint8_t const missing = options_.missing == missing_values::item
                                         ? static_cast<std::uint8_t>(cuts_[f].size() + 1)
                                         : no_item;
        bin_values(std::span<double const, tile_documents>(
                       values_.data() + (f - first) * tile_documents, tile_documents),
                   end - begin, cuts_[f], missing,
                   result_.codes.data() + f * result_.stride + begin);
      }
    }
  }

 private:
  discretizer_options const& options_;
  binned_dataset& result_;
  std::vector<std::span<double const>> cuts_;  // one per column
  std::vector<double> values_;                 // one tile, column by column
};

/// Documents [begin, end) of a data set, at most one tile.
void write_tile(column_writer& to, dataset const& data, std::vector<std::uint32_t> const& features,
                std::size_t begin, std::size_t end) {
  std::array<std::size_t, tile_documents> at{};  // processed entries of each document
  to.write_tile(begin, end, [&](std::size_t first, std::size_t last, auto const& set) {
    for (std::size_t d = begin; d < end; ++d) {
      std::span<feature_value const> const row = data.document(d);
      std::size_t& i = at[d - begin];
      std::size_t column = first;
      for (; i < row.size() && row[i].feature <= features[last - 1]; ++i) {
        while (features[column] < row[i].feature) ++column;
        if (features[column] == row[i].feature) set(column, d, row[i].value);
      }
    }
  });
}

/// The columns of a fitted discretizer for `documents`, without codes.
binned_dataset empty_columns(discretizer const& fitted, std::size_t documents) {
  binned_dataset result;
  result.documents = documents;
  result.stride = round_up(documents, alignment);
  result.names = fitted.names;
  bool const missing_item = fitted.options.missing == missing_values::item;
  result.item_begin.push_back(0);
  for (feature_cuts const& f : fitted.features) {
    if (f.cuts.empty()) continue;
    result.features.push_back(f.feature);
    result.has_missing_item.push_back(missing_item);
    result.item_begin.push_back(result.item_begin.back() +
                                static_cast<std::uint32_t>(f.cuts.size() + 1 + missing_item));
  }
  result.codes.assign(result.feature_count() * result.stride, no_item);
  return result;
}

/// Calls `write(writer, begin, end)` for all tiles.
template <class Write>
void for_each_tile(context const& ctx, discretizer const& fitted, binned_dataset& result,
                   Write const& write) {
  if (result.features.empty()) return;
  parallel_for(ctx, result.documents, 16 * tile_documents,
               [&](std::size_t begin, std::size_t end, int) {
                 column_writer writer(fitted, result);
                 for (std::size_t d = begin; d < end; d += tile_documents)
                   write(writer, d, std::min(d + tile_documents, end));
               });
}

/// The column of each feature that has items; `columns` if there is none.
std::vector<std::size_t> columns_of_features(std::vector<std::uint32_t> const& wanted,
                                             std::size_t columns,
                                             std::span<std::uint32_t const> features) {
  std::vector<std::size_t> all;
  for (std::uint32_t const feature : wanted) {
    std::size_t column = columns;
    if (!features.empty()) {
      auto const at = std::ranges::lower_bound(features, feature);
      if (at != features.end() && *at == feature)
        column = static_cast<std::size_t>(at - features.begin());
    } else if (feature >= 1 && feature <= columns) {
      column = feature - 1;
    }
    all.push_back(column);
  }
  return all;
}

/// A file without any of these names has other features, or renamed features.
void expect_a_name_in_common(dataset const& data, feature_names const& fitted) {
  if (data.names.empty() || fitted.empty()) return;
  std::set<std::string_view> known;
  for (auto const& [feature, name] : fitted) known.insert(name);
  for (auto const& [feature, name] : data.names)
    if (known.contains(name)) return;
  throw error(
      {data.name, 0, 0},
      fmt::format(
          "found features such as {}, expected features that the cuts were fitted to, such as {}",
          rulerank::quoted(data.names.begin()->second), rulerank::quoted(fitted.begin()->second)));
}

}  // namespace

void warn_of_lacking_features(dataset const& data, feature_names const& expected,
                              unlisted_values unlisted,
                              std::function<void(std::string const&)> const& warn) {
  if (!warn || data.delimiter == 0 || data.names.empty() || expected.empty()) return;
  constexpr std::size_t most_named = 3;
  std::set<std::string_view> there;
  for (auto const& [feature, name] : data.names) there.insert(name);
  std::string first;
  std::size_t lacking = 0;
  for (auto const& [feature, name] : expected) {
    if (there.contains(name) || lacking++ >= most_named) continue;
    first += (first.empty() ? "" : ", ") + name;
  }
  if (lacking == 0) return;
  warn(fmt::format("{}: found no column for {} of {} ({}{}); all their values count as {}",
                   data.name, lacking, counted(expected.size(), "feature"), first,
                   lacking > most_named ? ", ..." : "",
                   unlisted == unlisted_values::zero ? "0" : "missing"));
}

binned_dataset apply_discretizer(context const& ctx, dataset const& data,
                                 discretizer const& fitted) {
  if (fitted.names != data.names && !data.entries.empty()) {
    expect_a_name_in_common(data, fitted.names);
    dataset const alike = renumbered(data, fitted.names);
    discretizer same = fitted;
    same.names = alike.names;
    binned_dataset result = apply_discretizer(ctx, alike, same);
    result.names = fitted.names;
    return result;
  }
  if (fitted.options.norm != normalization::none) {
    discretizer plain = fitted;
    plain.options.norm = normalization::none;
    return apply_discretizer(
        ctx,
        normalize(ctx, data, fitted.options.norm, fitted.options.missing, fitted.options.unlisted),
        plain);
  }
  binned_dataset result = empty_columns(fitted, data.size());
  result.labels = data.labels;
  result.max_label = data.max_label();
  for_each_tile(ctx, fitted, result, [&](column_writer& to, std::size_t begin, std::size_t end) {
    write_tile(to, data, result.features, begin, end);
  });
  return result;
}

template <class Value>
std::optional<binned_dataset> binned_rows(context const& ctx, dense_rows<Value> const& rows,
                                          std::span<std::uint32_t const> features,
                                          discretizer const& fitted) {
  binned_dataset result = empty_columns(fitted, rows.documents);
  std::vector<std::size_t> const columns =
      columns_of_features(result.features, rows.columns, features);
  std::atomic<bool> infinite{false};
  for_each_tile(ctx, fitted, result, [&](column_writer& to, std::size_t begin, std::size_t end) {
    to.write_tile(begin, end, [&](std::size_t first, std::size_t last, auto const& set) {
      for (std::size_t d = begin; d < end; ++d) {
        Value const* const row = rows.values + d * rows.stride;
        if (first == 0 && has_infinite(std::span(row, rows.columns))) infinite = true;
        for (std::size_t f = first; f < last; ++f)
          if (columns[f] < rows.columns) set(f, d, static_cast<double>(row[columns[f]]));
      }
    });
  });
  if (infinite || result.features.empty()) return {};
  return result;
}

template std::optional<binned_dataset> binned_rows(context const&, dense_rows<float> const&,
                                                   std::span<std::uint32_t const>,
                                                   discretizer const&);
template std::optional<binned_dataset> binned_rows(context const&, dense_rows<double> const&,
                                                   std::span<std::uint32_t const>,
                                                   discretizer const&);

binned_dataset join_parts(process_group const& group, binned_dataset const& part) {
  binned_dataset all;
  all.features = part.features;
  all.names = part.names;
  all.item_begin = part.item_begin;
  all.has_missing_item = part.has_missing_item;
  all.labels = join(group, part.labels);
  for (std::int32_t const label : all.labels) all.max_label = std::max(all.max_label, label);
  all.documents = all.labels.size();
  all.stride = round_up(all.documents, alignment);
  all.codes.assign(all.feature_count() * all.stride, no_item);
  // Limits the columns per exchange by the bytes that a process may receive.
  std::size_t const features = all.feature_count();
  std::size_t const together =
      std::max<std::size_t>(bytes_together / std::max<std::size_t>(all.documents, 1), 1);
  for (std::size_t first = 0; first < features; first += together) {
    std::size_t const count = std::min(together, features - first);
    std::string mine;
    for (std::size_t f = first; f < first + count; ++f)
      mine.append(reinterpret_cast<char const*>(part.column(f)), part.documents);
    auto const of_parts = group.gather(mine);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint8_t* to = all.codes.data() + (first + i) * all.stride;
      for (std::string_view const codes : of_parts) {
        std::size_t const documents = codes.size() / count;
        to = std::ranges::copy(codes.substr(i * documents, documents), to).out;
      }
    }
  }
  return all;
}

binned_dataset subset(binned_dataset const& data, std::span<std::size_t const> chosen) {
  binned_dataset part;
  part.documents = chosen.size();
  part.stride = round_up(chosen.size(), alignment);
  part.features = data.features;
  part.names = data.names;
  part.item_begin = data.item_begin;
  part.has_missing_item = data.has_missing_item;
  part.codes.assign(part.feature_count() * part.stride, no_item);
  for (std::size_t f = 0; f < part.feature_count(); ++f) {
    std::uint8_t const* const from = data.column(f);
    std::uint8_t* const to = part.codes.data() + f * part.stride;
    for (std::size_t i = 0; i < chosen.size(); ++i) to[i] = from[chosen[i]];
  }
  part.labels.reserve(chosen.size());
  for (std::size_t const d : chosen) {
    part.labels.push_back(data.labels[d]);
    part.max_label = std::max(part.max_label, data.labels[d]);
  }
  return part;
}

}  // namespace rulerank::datasets
