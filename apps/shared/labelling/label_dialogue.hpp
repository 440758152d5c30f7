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

/// Asks a person: a question and its document on standard error, a word from standard input. Every
/// answer is in the journal before this returns.
class label_dialogue {
 public:
  /// A document that wants a label, and what more labels would bring.
  struct request : labelling::view_request {
    std::function<std::string()> estimate;
  };

  /// What is referred to outlives it.
  label_dialogue(labelling::question_views const& views, std::int32_t max_label,
                 al::answer_journal& journal, std::istream& in);

  /// A label, a document left out, an undo, or an end; the end of the input is one too. The first
  /// `kept` answers of the journal are not to be taken back.
  al::reply operator()(request const& now, std::size_t kept = 0);
  /// The same for a question of the sampling. The first estimate comes by itself, before the
  /// question from which on there is one.
  al::reply operator()(al::question const& now, al::labelling const& work);
  /// Whether the person ended it with what there is, instead of leaving it for later.
  bool finished_early() const noexcept { return finish_; }

 private:
  void show(labelling::question_view const& view) const;
  void show_text(labelling::marked_text const& text) const;

  labelling::question_views const& views_;
  std::int32_t max_label_;
  al::answer_journal& journal_;
  std::istream& in_;
  bool const styled_;  // standard error is a terminal: words are marked by its bold face
  bool estimated_ = false;
  bool finish_ = false;
};

}  // namespace rulerank::apps
