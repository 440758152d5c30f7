#include "al/partition.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <numeric>

namespace rulerank::inline v0::al {

void partition::items_of(std::size_t position, std::vector<rules::item>& out) const {
  out.clear();
  for (std::size_t f = 0; f < features(); ++f) {
    std::uint8_t const code = column(f)[position];
    if (code != datasets::no_item) out.push_back(item_begin[f] + code);
  }
}

std::uint64_t rule_counter::rules(std::size_t) const {
  throw usage_error(
      "this engine does not count the rules of each document, expected an engine for the CPU");
}

void rule_counter::drop(std::size_t) {
  throw usage_error("this engine cannot leave documents out, expected an engine for the CPU");
}

std::vector<std::uint64_t> doc_occurs(partition const& part) {
  std::vector<std::uint64_t> occurs(part.size());
  for (std::size_t f = 0; f < part.features(); ++f) {
    std::uint8_t const* const codes = part.column(f);
    std::vector<std::uint64_t> count(256);
    for (std::size_t p = 0; p < part.size(); ++p) ++count[codes[p]];
    count[datasets::no_item] = 0;
    for (std::size_t p = 0; p < part.size(); ++p) occurs[p] += count[codes[p]];
  }
  return occurs;
}

std::size_t most_representative(partition const& part, std::vector<bool> const& dropped) {
  std::vector<std::uint64_t> const occurs = doc_occurs(part);
  // Among equal documents, the first in tie order is at the first position.
  std::size_t best = part.size();
  for (std::size_t p = 0; p < part.size(); ++p)
    if (!dropped[p] && (best == part.size() || occurs[p] > occurs[best])) best = p;
  return best;
}

std::vector<std::vector<std::size_t>> deal_features(std::span<std::size_t const> order,
                                                    std::size_t partitions) {
  std::vector<std::vector<std::size_t>> dealt(partitions);
  for (std::size_t i = 0; i < order.size(); ++i) dealt[i % partitions].push_back(order[i]);
  return dealt;
}

partition make_partition(datasets::binned_dataset const& data,
                         std::span<std::size_t const> features,
                         std::span<std::uint32_t const> ties) {
  partition part;
  part.item_begin = {0};
  std::vector<std::uint64_t> occurs(data.documents);  // doc_occurs
  std::vector<bool> has_item(data.documents);
  for (std::size_t f : features) {
    part.item_begin.push_back(part.item_begin.back() + data.bins(f));
    std::uint8_t const* const codes = data.column(f);
    std::vector<std::uint64_t> count(256);
    for (std::size_t d = 0; d < data.documents; ++d) ++count[codes[d]];
    count[datasets::no_item] = 0;
    for (std::size_t d = 0; d < data.documents; ++d) {
      occurs[d] += count[codes[d]];
      if (codes[d] != datasets::no_item) has_item[d] = true;
    }
  }
  for (std::size_t i = 0; i < data.documents; ++i) {
    std::uint32_t const d =
        ties.empty() ? static_cast<std::uint32_t>(data.documents - 1 - i) : ties[i];
    if (has_item[d]) part.documents.push_back(d);
  }
  std::stable_sort(part.documents.begin(), part.documents.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return occurs[a] < occurs[b]; });
  // The largest doc_occurs come last; among equals the first in tie order comes first.
  if (!part.documents.empty()) {
    std::uint64_t const most = occurs[part.documents.back()];
    part.first = static_cast<std::size_t>(
        std::partition_point(part.documents.begin(), part.documents.end(),
                             [&](std::uint32_t d) { return occurs[d] < most; }) -
        part.documents.begin());
  }
  part.counted = {0, part.size()};
  part.stride = round_up(part.size(), alignment);
  part.codes.assign(features.size() * part.stride, datasets::no_item);
  for (std::size_t j = 0; j < features.size(); ++j) {
    std::uint8_t const* const codes = data.column(features[j]);
    std::uint8_t* const column = part.codes.data() + j * part.stride;
    for (std::size_t p = 0; p < part.size(); ++p) column[p] = codes[part.documents[p]];
  }
  return part;
}

}  // namespace rulerank::al
