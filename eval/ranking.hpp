#pragma once

#include "eval/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::eval {

/// The label of a document that nobody judged: not relevant, without gain, passed over by bpref.
inline constexpr std::int32_t unjudged = -1;

/// One query as every measure sees it: its documents in ranked order.
///
/// Where the tie rule fixes an order each document is a group of its own. Under `average` a group
/// is a run of equal scores: any order of its documents is as likely as any other, and a measure is
/// its expectation over them.
struct ranked_query {
  std::vector<double> labels;  ///< [n] ranked; below 0: not judged
  std::vector<double> scores;  ///< [n] ranked
  std::vector<std::size_t>
      groups;                   ///< group g holds the ranks groups[g] .. groups[g + 1] - 1, from 0
  std::vector<double> ideal;    ///< labels of all judged documents, retrieved or not, descending
  std::size_t depth = 0;        ///< ranks looked at: min(n, max_docs)
  std::size_t relevant = 0;     ///< judged documents that are relevant
  std::size_t nonrelevant = 0;  ///< judged documents that are not

  std::size_t size() const noexcept { return labels.size(); }
  std::size_t group_count() const noexcept { return groups.size() - 1; }
};

/// Ranks one query's documents by score, descending, into `out` (whose memory is used again).
/// `docnos` may be empty unless ties go by docno. All documents count as the judged ones.
/// Scores may be infinite; NaN is the caller's mistake.
void rank(std::span<std::int32_t const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, profile const& p, ranked_query& out);
void rank(std::span<double const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, profile const& p, ranked_query& out);

/// The same, where `pool` are the labels of all judged documents of the query, in any order.
void rank(std::span<std::int32_t const> labels, std::span<double const> scores,
          std::span<std::string const> docnos, std::span<std::int32_t const> pool, profile const& p,
          ranked_query& out);

}  // namespace rulerank::eval
