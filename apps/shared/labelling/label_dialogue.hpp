#pragma once

#include "al/answers.hpp"
#include "al/labelling.hpp"
#include "labelling/question_view.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <string>

namespace rulerank::inline v0::apps {

/// Asks a person: writes a question and its document to standard error, and reads an answer from
/// standard input. Answers are in the journal before a call returns.
class label_dialogue {
 public:
  /// A document to label, and a function that estimates the benefit of more labels.
  struct request : labelling::view_request {
    std::function<std::string()> estimate;
  };

  /// Keeps references to the arguments.
  label_dialogue(labelling::question_views const& views, std::int32_t max_label,
                 al::answer_journal& journal, std::istream& in);

  /// Returns a label, an exclusion, an undo, or an end, also at the end of the input. The first
  /// `kept` answers of the journal cannot be withdrawn.
  al::reply operator()(request const& now, std::size_t kept = 0);
  /// As above, for a question of the sampling. The first estimate is shown automatically, as soon
  /// as one is available.
  al::reply operator()(al::question const& now, al::labelling const& work);
  /// Whether the person ended with the current sample, instead of continuing later.
  bool finished_early() const noexcept { return finish_; }

 private:
  void show(labelling::question_view const& view) const;
  void show_text(labelling::marked_text const& text) const;

  labelling::question_views const& views_;
  std::int32_t max_label_;
  al::answer_journal& journal_;
  std::istream& in_;
  bool const styled_;  // standard error is a terminal: marked words are bold
  bool estimated_ = false;
  bool finish_ = false;
};

}  // namespace rulerank::apps
