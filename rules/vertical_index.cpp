#include "rules/vertical_index.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace rulerank::inline v0::rules {

vertical_index::vertical_index(datasets::binned_dataset const& training)
    : positions_(training.documents) {
  if (training.documents == 0)
    throw usage_error("found no training documents, expected at least one");
  std::map<std::int32_t, std::uint32_t, std::greater<>> sizes;
  for (std::int32_t label : training.labels) {
    if (label < 0) throw usage_error("found a training document without a label, expected labels");
    ++sizes[label];
  }
  std::map<std::int32_t, std::size_t> next_column;
  std::size_t words = 0;
  for (auto const& [label, size] : sizes) {
    labels_.push_back(label);
    class_sizes_.push_back(size);
    next_column[label] = words * bitmaps::word_bits;
    std::size_t const end = words + bitmaps::padded_words(size);
    ranges_.push_back({static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(end)});
    words = end;
  }
  for (std::size_t d = 0; d < training.documents; ++d)
    positions_[d] = static_cast<std::uint32_t>(next_column[training.labels[d]]++);

  rows_ = bitmaps::bit_matrix(training.items(), words * bitmaps::word_bits);
  for (std::size_t f = 0; f < training.feature_count(); ++f) {
    std::uint8_t const* const codes = training.column(f);
    for (std::size_t d = 0; d < training.documents; ++d)
      if (codes[d] != datasets::no_item)
        rows_.set(training.item_begin[f] + codes[d], positions_[d]);
  }
  item_supports_.resize(items() * class_count());
  item_totals_.resize(items());
  for (item x = 0; x < items(); ++x) {
    std::span<std::uint32_t> const counts{item_supports_.data() + x * class_count(), class_count()};
    bitmaps::range_popcounts(row(x), ranges_, counts);
    item_totals_[x] = std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
  }
}

std::uint32_t vertical_counter::supports(std::span<item const> x, std::span<std::uint32_t> counts) {
  if (x.size() == 1) {
    auto const known = index_.item_supports(x[0]);
    std::copy(known.begin(), known.end(), counts.begin());
    return index_.item_support(x[0]);
  }
  auto const first = x.first(x.size() - 1);
  auto const common = std::mismatch(kept_.begin(), kept_.end(), first.begin(), first.end());
  kept_.erase(common.first, kept_.end());
  if (rows_.size() < first.size()) rows_.resize(first.size());
  for (std::size_t k = kept_.size(); k < first.size(); ++k) {
    kept_.push_back(first[k]);
    if (k == 0) continue;
    rows_[k].resize(index_.rows().stride());
    bitmaps::and_words(prefix(k - 1), index_.row(first[k]), rows_[k]);
  }
  bitmaps::and_words(prefix(first.size() - 1), index_.row(x.back()), last_);
  bitmaps::range_popcounts(last_, index_.ranges(), counts);
  return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
}

}  // namespace rulerank::rules
