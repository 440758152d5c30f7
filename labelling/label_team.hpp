#pragma once

#include "al/answers.hpp"
#include "al/labelling.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rulerank::inline v0::labelling {

/// One labeller's answer about a document.
struct said {
  std::string labeller;
  std::optional<std::int32_t> label;  ///< empty: exclude the document
  std::string note{};
};

/// The labeller's name of a program that gives a second opinion. Its answers never count; they only
/// show where a program and people differ.
inline constexpr std::string_view program_labeller = "program";

/// A document with differing answers.
struct dispute {
  std::size_t document = 0;
  std::vector<said> answers;          ///< oldest first
  std::optional<std::int32_t> label;  ///< the resulting label
};

/// Several people label one pool. A document gets its label once `needed` people have answered: the
/// majority's label, of ties the earliest. A call returns after its answer is in the journal, on
/// disk. Answers may be changed at any time, and the sampling follows. The sample hence depends
/// only on the current answers, as with `reduce --oracle ask`; a single labeller gets the same
/// questions in the same order.
///
/// Not thread-safe.
class label_team {
 public:
  /// Replays the journal's answers. Keeps references to `work` and `journal`. Throws `error` naming
  /// `path`, the journal's file, for an answer about a document that has a label in the pool.
  label_team(al::labelling& work, al::answer_journal& journal, std::string const& path,
             std::size_t needed);

  /// The next document for this labeller: the first wanted document that they have not answered and
  /// that too few people have answered or are viewing; else the first that they have not answered.
  /// Empty if they must wait for others, or all is done. The labeller views the document until
  /// their next call.
  std::optional<al::question> next(std::string const& labeller);
  /// Whether a labeller may answer about a document: it is wanted, or was answered, or this
  /// labeller views it.
  bool may_answer(std::string const& labeller, std::size_t document) const;
  /// Stores an answer; replaces the labeller's earlier answer about the document. Throws
  /// `usage_error` for a document that has a label in the pool, `output_error` if it cannot be
  /// stored, without changes. `document`: index in the pool.
  void answer(std::string const& labeller, std::size_t document, std::optional<std::int32_t> label,
              std::string note = {});
  /// Withdraws the labeller's last answer; returns its document, or nothing.
  std::optional<std::size_t> undo(std::string const& labeller);
  /// Withdraws the labeller's answer about a document and all their later ones; returns the
  /// document, or nothing, without changes, if they have not answered about it.
  std::optional<std::size_t> undo_back_to(std::string const& labeller, std::size_t document);

  /// The documents that a person has answered and the program has not, oldest answer first.
  std::vector<std::size_t> without_opinion() const;
  /// Adds the program's answer about a document.
  void add_opinion(std::size_t document, std::optional<std::int32_t> label);

  /// The documents with differing answers, most recently answered first.
  std::vector<dispute> disputes() const;
  std::size_t answers_of(std::string_view labeller) const;
  /// A labeller's answers, most recent first.
  std::vector<al::answer> all_of(std::string_view labeller) const;
  /// A labeller's answer about a document, if any.
  std::optional<said> answer_of(std::string_view labeller, std::size_t document) const;
  /// The names of labellers with current answers, by their first current answer.
  std::vector<std::string> labellers() const;
  al::labelling const& work() const noexcept { return work_; }
  std::size_t needed() const noexcept { return needed_; }

 private:
  std::vector<said> const& answers_about(std::size_t document) const;
  /// The answers that count.
  std::vector<said> answers_of_people(std::size_t document) const;
  /// Rereads the answers about a document from the journal.
  void update(std::size_t document);
  void settle(std::size_t document);

  al::labelling& work_;
  al::answer_journal& journal_;
  std::size_t needed_;
  std::unordered_map<std::size_t, std::vector<said>> about_;  // document -> the journal's answers,
                                                              // oldest first
  std::map<std::string, std::size_t> looks_at_;               // labeller -> document
};

}  // namespace rulerank::labelling
