#pragma once

#include "learners/learner.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::learners {

/// Which documents of a query a round wants.
enum class strategy {
  committee,  ///< those on whose order the members disagree most (Kendall's distance)
  margin,     ///< those whose score is nearest to another one's, by the first member alone
  random,     ///< any, drawn with the context's seed
};
std::string_view name_of(strategy s);
/// Throws `usage_error` that lists the names.
strategy strategy_from(std::string_view name);

struct round_options {
  strategy by = strategy::committee;
  std::size_t rounds = 25;
  std::size_t per_query = 5;      ///< documents of a query in a round, at most
  std::size_t max_documents = 0;  ///< budget, those labelled at the start counted; 0: none
};

/// A document that a round wants a label for.
struct pick {
  std::size_t document = 0;
  std::size_t round = 0;           ///< from 1
  std::uint64_t disagreement = 0;  ///< of the committee; 0 for other strategies
  friend bool operator==(pick const&, pick const&) = default;
};

/// Members of a committee: learners that learn anew each round, and scores that stay.
struct members {
  std::vector<std::unique_ptr<learner>> learners;
  std::vector<std::vector<double>> fixed;  ///< [.][N] scores of the pool's documents
};

/// The second stage of two-stage active learning (Silva, Goncalves and Veloso 2014; Freitas 2017,
/// section 3.2.2): selective sampling has labelled a first few documents; then, round by round, the
/// committee learns from what is labelled and picks of each query the documents on which it
/// disagrees most. Ties by the smaller document. A document is picked once.
///
/// The picks depend on the pool, the labels and the options alone, and so does the state: an object
/// that is given the same labels again continues where another stopped. Const members may be called
/// from several threads at once, as long as no other member is called; objects are independent of
/// each other.
class second_stage {
 public:
  /// `chosen` (ascending, distinct) have labels in `labels` [N]; documents `left_out` are never
  /// picked. What `pool` refers to outlives it. Throws `usage_error` for a committee of fewer than
  /// two, a strategy without the members it needs, no documents to start from, and scores of
  /// another number of documents.
  second_stage(documents const& pool, std::span<std::size_t const> chosen,
               std::span<std::int32_t const> labels, members who, round_options const& options,
               std::span<std::size_t const> left_out = {});

  /// Learns, and picks the documents of the next round: each query's first before any query's
  /// second. Empty when the rounds, the budget or the pool are used up. The picks stand until they
  /// are answered or left out.
  std::vector<pick> const& select(context const& ctx);
  /// Never picks this document, which is one of those picked now; the query's next one is picked
  /// instead. As if it had been left out from the start. Throws `usage_error` for another document.
  void leave_out(std::size_t document);
  /// Takes the labels of the picks, in their order, 0 or more. Throws `usage_error` for another
  /// number of them.
  void answer(std::span<std::int32_t const> labels);

  std::size_t rounds_done() const noexcept { return rounds_done_; }
  /// Documents with labels, ascending: those of the start and what was picked.
  std::vector<std::size_t> labelled_documents() const;
  std::span<std::int32_t const> labels() const noexcept { return labels_; }
  /// All picks that were answered, round by round.
  std::vector<pick> const& picks() const noexcept { return picks_; }

 private:
  enum class state : std::uint8_t { open, labelled, left_out };
  std::vector<std::vector<pick>> candidates(context const& ctx);
  void fill();
  std::vector<std::vector<double>> votes(context const& ctx, std::size_t learners);

  documents pool_;
  members who_;
  round_options options_;
  std::vector<state> states_;  // [N]
  std::vector<std::int32_t> labels_;
  std::size_t labelled_ = 0;
  std::size_t rounds_done_ = 0;
  std::vector<std::vector<pick>> candidates_;  // of each query, best first
  std::vector<pick> wanted_;                   // in this round
  std::vector<pick> picks_;                    // answered
  std::optional<std::mt19937_64> draw_;
};

}  // namespace rulerank::learners
