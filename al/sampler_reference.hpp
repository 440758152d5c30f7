#pragma once
// Selective sampling straight from its definition (docs/reference/definitions.md, Sampling): slow
// and obviously correct; for tests.

#include "al/sampler.hpp"
#include "rules/rules_reference.hpp"

#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

namespace rulerank::inline v0::al::reference {

struct selection {
  std::vector<std::size_t> documents;  // in the order chosen
  std::vector<std::uint64_t> rules;    // rules(d) at its choice
};

/// The documents with their items in some columns.
inline std::vector<rules::reference::document> documents_of(
    datasets::binned_dataset const& data, std::vector<std::size_t> const& features) {
  std::vector<rules::reference::document> documents(data.documents);
  for (std::size_t d = 0; d < data.documents; ++d) {
    documents[d].label = data.labels[d];
    for (std::size_t f : features)
      if (data.code(f, d) != datasets::no_item)
        documents[d].items.push_back(data.item_begin[f] + data.code(f, d));
  }
  return documents;
}

/// Adds the documents that hold each item.
inline void count_items(std::vector<rules::reference::document> const& documents,
                        std::vector<std::uint64_t>& occurs) {
  for (auto const& d : documents)
    for (auto x : d.items) ++occurs[x];
}

/// One partition: the columns `features` of the data set.
inline selection reduce_partition(datasets::binned_dataset const& data,
                                  std::vector<std::size_t> const& features,
                                  rules::rule_size rule_size, rules::thresholds const& thresholds) {
  using rules::reference::document;
  std::vector<document> const documents = documents_of(data, features);
  std::vector<std::uint64_t> item_occurs(data.items());
  count_items(documents, item_occurs);
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
      rules::reference::for_each_itemset(documents[d].items, rule_size - 1, [&](auto const& x) {
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

/// The documents of all partitions, and the sample that all partitions have.
class joint_documents {
 public:
  using document = rules::reference::document;

  joint_documents(datasets::binned_dataset const& data,
                  std::vector<std::vector<std::size_t>> const& partitions,
                  rules::rule_size rule_size, rules::thresholds const& thresholds)
      : sample_(partitions.size()),
        occurs_(data.documents),
        rule_size_(rule_size),
        max_label_(data.max_label),
        thresholds_(thresholds) {
    std::vector<std::uint64_t> item_occurs(data.items());
    for (auto const& features : partitions) documents_.push_back(documents_of(data, features));
    for (auto const& of_part : documents_) count_items(of_part, item_occurs);
    for (auto const& of_part : documents_)
      for (std::size_t d = 0; d < data.documents; ++d)
        for (auto x : of_part[d].items) occurs_[d] += item_occurs[x];
  }

  std::uint64_t occurs(std::size_t d) const { return occurs_[d]; }
  std::uint64_t rules(std::size_t d) const {
    std::uint64_t found = 0;
    for (std::size_t p = 0; p < documents_.size(); ++p)
      rules::reference::for_each_itemset(
          documents_[p][d].items, rule_size_ - 1, [&](auto const& x) {
            auto const counts = rules::reference::supports(sample_[p], x, max_label_);
            std::uint32_t const n = std::accumulate(counts.begin(), counts.end(), 0U);
            for (auto c : counts) found += rules::reference::valid(c, n, thresholds_);
          });
    return found;
  }
  void choose(std::size_t d) {
    for (std::size_t p = 0; p < documents_.size(); ++p) sample_[p].push_back(documents_[p][d]);
  }

 private:
  std::vector<std::vector<document>> documents_, sample_;  // [partition]
  std::vector<std::uint64_t> occurs_;
  rules::rule_size rule_size_;
  std::int32_t max_label_;
  rules::thresholds thresholds_;
};

/// Whole queries, from the definition of `query_sampler`. `left_out`: documents that are excluded
/// when asked about.
inline std::vector<choice> reduce_queries(datasets::binned_dataset const& data,
                                          std::vector<std::vector<std::size_t>> const& partitions,
                                          std::vector<std::size_t> const& query_begin,
                                          rules::rule_size rule_size,
                                          rules::thresholds const& thresholds,
                                          std::set<std::size_t> const& left_out = {},
                                          bool fills = false) {
  joint_documents documents(data, partitions, rule_size, thresholds);
  std::vector<choice> choices;
  std::set<std::size_t> asked, chosen;  // documents, queries
  for (bool is_dry = false;;) {
    // Means over so few documents are equal or differ by more than rounding.
    using key = std::tuple<double, double, std::size_t>;
    std::vector<key> keys;
    std::size_t const queries = query_begin.size() - 1;
    for (std::size_t q = 0; q < queries; ++q) {
      double rules = 0, occurs = 0, count = 0;
      bool is_open = false;
      for (std::size_t d = query_begin[q]; d < query_begin[q + 1]; ++d) {
        is_open = is_open || !asked.contains(d);
        if (documents.occurs(d) == 0 || (asked.contains(d) && left_out.contains(d))) continue;
        rules += static_cast<double>(documents.rules(d));
        occurs += static_cast<double>(documents.occurs(d));
        ++count;
      }
      if (is_dry && !is_open) continue;
      if (count > 0)
        keys.emplace_back(rules / count, (chosen.empty() ? -occurs : occurs) / count, queries - q);
      else if (is_dry)
        keys.emplace_back(std::numeric_limits<double>::infinity(), 0, queries - q);
    }
    auto const best = std::min_element(keys.begin(), keys.end());
    std::size_t const q = best == keys.end() ? queries : queries - std::get<2>(*best);
    if (q == queries || chosen.contains(q)) {
      if (!fills || is_dry) return choices;
      is_dry = true;
      continue;
    }
    std::vector<choice> of_query;
    for (std::size_t d = query_begin[q]; d < query_begin[q + 1]; ++d) {
      asked.insert(d);
      if (!left_out.contains(d))
        of_query.push_back(
            {d, 0, chosen.size(), documents.rules(d), is_dry ? reason::remaining : reason::rules});
    }
    for (choice const& c : of_query) documents.choose(c.document);
    if (!of_query.empty()) chosen.insert(q);
    choices.insert(choices.end(), of_query.begin(), of_query.end());
  }
}

}  // namespace rulerank::al::reference
