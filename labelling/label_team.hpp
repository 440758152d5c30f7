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

/// What a labeller said of a document.
struct said {
  std::string labeller;
  std::optional<std::int32_t> label;  ///< none: to be left out
};

/// A document on which labellers differ.
struct dispute {
  std::size_t document = 0;
  std::vector<said> answers;          ///< oldest first
  std::optional<std::int32_t> label;  ///< that stands
};

/// Several people label one pool. A document has its label when `needed` of them have answered:
/// what most of them say, of equally many what was said first. Every answer is in the journal, on
/// the disk, before a call returns; an answer may be changed at any time, and the choice follows.
/// So what is chosen depends on the answers that stand alone, as with `reduce --oracle ask`, and
/// one labeller is asked what is asked there in the same order.
///
/// One call at a time.
class label_team {
 public:
  /// Gives the journal's answers again. What is referred to outlives it. Throws `error` naming
  /// `path`, the journal's file, for an answer about a document that has a label in the pool.
  label_team(al::labelling& work, al::answer_journal& journal, std::string const& path,
             std::size_t needed);

  /// The document that this labeller is to answer next: of those wanted the first about which they
  /// have said nothing and too few look at it or have answered; else the first about which they
  /// have said nothing. None when they have to wait for others, or all is done. They look at it
  /// until they ask again.
  std::optional<al::question> next(std::string const& labeller);
  /// Whether a labeller may answer about a document: somebody is to be asked about it or has
  /// answered, or this labeller looks at it.
  bool may_answer(std::string const& labeller, std::size_t document) const;
  /// Keeps an answer; another one of the same labeller about the document makes way. Throws
  /// `usage_error` for a document that has a label in the pool, `output_error` where it cannot be
  /// kept: then nothing has changed. `document`: one of the pool's.
  void answer(std::string const& labeller, std::size_t document, std::optional<std::int32_t> label);
  /// Takes the labeller's last answer back; the document that it was about, or none.
  std::optional<std::size_t> undo(std::string const& labeller);

  /// The documents on which labellers differ, those answered last first.
  std::vector<dispute> disputes() const;
  std::size_t answers_of(std::string_view labeller) const;
  /// What a labeller said of a document, if anything.
  std::optional<said> answer_of(std::string_view labeller, std::size_t document) const;
  /// The names of those who have answered, in the order of their first standing answers.
  std::vector<std::string> labellers() const;
  al::labelling const& work() const noexcept { return work_; }
  std::size_t needed() const noexcept { return needed_; }

 private:
  std::vector<said> const& answers_about(std::size_t document) const;
  /// Reads the answers about a document from the journal again.
  void update(std::size_t document);
  void settle(std::size_t document);

  al::labelling& work_;
  al::answer_journal& journal_;
  std::size_t needed_;
  std::unordered_map<std::size_t, std::vector<said>> about_;  // the journal's answers, oldest first
  std::map<std::string, std::size_t> looks_at_;               // labeller -> document
};

}  // namespace rulerank::labelling
