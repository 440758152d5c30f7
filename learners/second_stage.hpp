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

/// How a round selects documents of a query.
enum class strategy {
  committee,  ///< largest disagreement of the members' orders (Kendall's distance)
  margin,     ///< score nearest to another one, by the first member alone
  random,     ///< at random by the context's seed
};
std::string_view name_of(strategy s);
/// Throws `usage_error` that lists the names.
strategy strategy_from(std::string_view name);

struct round_options {
  strategy by = strategy::committee;
  std::size_t rounds = 25;
  std::size_t per_query = 5;      ///< maximum number of documents per query and round
  std::size_t max_documents = 0;  ///< budget, including the initially labelled documents; 0: none
};

/// A document selected for labelling in a round.
struct pick {
  std::size_t document = 0;
  std::size_t round = 0;           ///< from 1
  std::uint64_t disagreement = 0;  ///< of the committee; 0 for other strategies
  friend bool operator==(pick const&, pick const&) = default;
};

/// Members of a committee: learners, refitted each round, and fixed scores.
struct members {
  std::vector<std::unique_ptr<learner>> learners;
  std::vector<std::vector<double>> fixed;  ///< [.][N] scores of the pool's documents
};

/// The second stage of two-stage active learning (Silva, Goncalves and Veloso 2014; Freitas 2017,
/// section 3.2.2). Selective sampling has labelled the first documents. Each round fits the
/// committee to all labels and selects from each query the documents with the largest disagreement,
/// of ties the smallest document. A document is selected at most once.
///
/// Selections depend on the pool, the labels and the options alone, so an object that gets the same
/// labels again resumes an interrupted run. Thread safety: const functions may be called
/// concurrently if no other function is; objects are independent of each other.
class second_stage {
 public:
  /// `chosen` (ascending, distinct) have labels in `labels` [N]; documents `left_out` are never
  /// selected. Keeps references into `pool`. Throws `usage_error` for a committee of fewer than
  /// two, a strategy without its members, no initial documents, and scores for a different number
  /// of documents.
  second_stage(documents const& pool, std::span<std::size_t const> chosen,
               std::span<std::int32_t const> labels, members who, round_options const& options,
               std::span<std::size_t const> left_out = {});

  /// Fits the members and selects the documents of the next round: each query's first before any
  /// query's second. Empty when the rounds, the budget or the pool are used up. The selection
  /// remains until it is answered or left out.
  std::vector<pick> const& select(context const& ctx);
  /// Excludes a selected document, as if it had been left out from the start; its query's next
  /// document is selected instead. Throws `usage_error` for a document that is not selected.
  void leave_out(std::size_t document);
  /// Takes the labels of the selected documents, in their order, 0 or more. Throws `usage_error`
  /// for a different number of labels.
  void answer(std::span<std::int32_t const> labels);

  std::size_t rounds_done() const noexcept { return rounds_done_; }
  /// Documents with labels, ascending: the initial and the selected ones.
  std::vector<std::size_t> labelled_documents() const;
  std::span<std::int32_t const> labels() const noexcept { return labels_; }
  /// All answered selections, by round.
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
  std::vector<std::vector<pick>> candidates_;  // [queries] best first
  std::vector<pick> wanted_;                   // of this round
  std::vector<pick> picks_;                    // with labels
  std::optional<std::mt19937_64> draw_;
};

}  // namespace rulerank::learners
