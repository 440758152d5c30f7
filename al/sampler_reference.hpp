#pragma once
// Selective sampling straight from its definition (docs/definitions.md, Sampling), slow and
// obviously right; for tests.

#include "al/sampler.hpp"
#include "rules/rules_reference.hpp"

#include <tuple>
#include <vector>

namespace rulerank::al::reference {

struct selection {
  std::vector<std::size_t> documents;  // in the order chosen
  std::vector<std::uint64_t> rules;    // rules(d) at its choice
};

/// One partition: the columns `features` of the data set.
inline selection reduce_partition(datasets::binned_dataset const& data,
                                  std::vector<std::size_t> const& features, int rule_size,
                                  rules::thresholds const& thresholds) {
  using rules::reference::document;
  std::vector<document> documents(data.documents);
  std::vector<std::uint64_t> item_occurs(data.items());
  for (std::size_t d = 0; d < data.documents; ++d) {
    documents[d].label = data.labels[d];
    for (std::size_t f : features)
      if (data.code(f, d) != datasets::no_item)
        documents[d].items.push_back(data.item_begin[f] + data.code(f, d));
    for (auto x : documents[d].items) ++item_occurs[x];
  }
  std::vector<std::uint64_t> doc_occurs(data.documents);
  for (std::size_t d = 0; d < data.documents; ++d)
    for (auto x : documents[d].items) doc_occurs[d] += item_occurs[x];

  selection result;
  std::vector<document> sample;
  std::vector<bool> chosen(data.documents);
  auto choose = [&](std::size_t d, std::uint64_t rules) {
    result.documents.push_back(d);
    result.rules.push_back(rules);
    sample.push_back(documents[d]);
    chosen[d] = true;
  };
  std::size_t first = data.documents;
  for (std::size_t d = 0; d < data.documents; ++d)
    if (!documents[d].items.empty() &&
        (first == data.documents || doc_occurs[d] >= doc_occurs[first]))
      first = d;
  if (first == data.documents) return result;
  choose(first, 0);
  for (;;) {
    using key = std::tuple<std::uint64_t, std::uint64_t, std::size_t>;
    key best{~0ULL, ~0ULL, 0};
    std::size_t best_document = data.documents;
    for (std::size_t d = 0; d < data.documents; ++d) {
      if (documents[d].items.empty()) continue;
      std::uint64_t rules = 0;
      rules::reference::for_each_itemset(
          documents[d].items, static_cast<std::size_t>(rule_size) - 1, [&](auto const& x) {
            auto const counts = rules::reference::supports(sample, x, data.max_label);
            std::uint32_t n = 0;
            for (auto c : counts) n += c;
            for (auto c : counts) rules += rules::reference::valid(c, n, thresholds);
          });
      key const k{rules, doc_occurs[d], data.documents - d};
      if (k < best) {
        best = k;
        best_document = d;
      }
    }
    if (chosen[best_document]) return result;
    choose(best_document, std::get<0>(best));
  }
}

}  // namespace rulerank::al::reference
