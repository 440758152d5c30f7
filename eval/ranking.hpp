#pragma once

#include "eval/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::eval {

/// The label of an unjudged document: not relevant, without gain, ignored by bpref.
inline constexpr std::int32_t unjudged = -1;

/// One query as every measure sees it: its documents in ranked order.
///
/// If the tie rule fixes an order, each document is its own group. With `average`, a group is a run
/// of equal scores: all orders of its documents are equally likely, and a measure is the
/// expectation over them.
struct ranked_query {
  std::vector<double> labels;  ///< [n] ranked; below 0: not judged
  std::vector<double> scores;  ///< [n] ranked
  std::vector<std::size_t>
      groups;                   ///< group g has the ranks groups[g] .. groups[g + 1] - 1, from 0
  std::vector<double> ideal;    ///< labels of all judged documents, retrieved or not, descending
  std::size_t depth = 0;        ///< number of ranks that count: min(n, max_docs)
  std::size_t relevant = 0;     ///< number of judged relevant documents
  std::size_t nonrelevant = 0;  ///< number of judged non-relevant documents

  std::size_t size() const noexcept { return labels.size(); }
  std::size_t group_count() const noexcept { return groups.size() - 1; }
};

/// Ranks one query's documents by descending score into `out`, whose memory is reused. `docnos` may
/// be empty unless ties are broken by docno. All documents count as judged. Scores may be infinite
/// but not NaN.
void rank(std::span<std::int32_t const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, profile const& p, ranked_query& out);
void rank(std::span<double const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, profile const& p, ranked_query& out);

/// As above; `pool`: the labels of all judged documents of the query, in any order.
void rank(std::span<std::int32_t const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, std::span<std::int32_t const> pool, profile const& p,
          ranked_query& out);

}  // namespace rulerank::eval
