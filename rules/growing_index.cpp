#include "rules/growing_index.hpp"

#include <algorithm>
#include <numeric>

namespace rulerank::inline v0::rules {

namespace {
constexpr std::size_t first_columns = 512;
}

growing_index::growing_index(std::size_t items)
    : rows_(items, first_columns), classes_(0, first_columns), held_(items) {}

void growing_index::add(std::span<item const> items, std::int32_t label) {
  auto const found = std::find(labels_.begin(), labels_.end(), label);
  auto const k = static_cast<std::size_t>(found - labels_.begin());
  if (found == labels_.end()) {
    labels_.push_back(label);
    bitmaps::bit_matrix more(labels_.size(), classes_.columns());
    more.grow(rows_.columns());
    for (std::size_t r = 0; r < classes_.rows(); ++r)
      std::copy(classes_.row(r).begin(), classes_.row(r).end(), more.row(r).begin());
    classes_ = std::move(more);
  }
  std::size_t const column = documents_++;
  rows_.grow(documents_);
  classes_.grow(documents_);
  classes_.set(k, column);
  for (item x : items) {
    rows_.set(x, column);
    held_[x] = true;
  }
}

std::uint32_t growing_index::supports(std::span<item const> x,
                                      std::span<std::uint32_t> counts) const {
  aligned_vector<bitmaps::word> both(row(x[0]).begin(), row(x[0]).end());
  for (item y : x)
    bitmaps::and_class_popcounts(both, row(y), classes_.row(0).data(), classes_.stride(), both,
                                 counts);
  return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
}

}  // namespace rulerank::rules
