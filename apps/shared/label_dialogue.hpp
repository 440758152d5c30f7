#pragma once

#include "al/labelling.hpp"
#include "datasets/answers.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/item_words.hpp"

#include <cstdint>
#include <functional>
#include <istream>
#include <span>
#include <string>
#include <vector>

namespace rulerank::apps {

/// Asks a person: a question and its document on standard error, a word from standard input. Every
/// answer is in the journal before this returns.
class label_dialogue {
 public:
  struct sources {
    datasets::dataset const& train;
    datasets::binned_dataset const& binned;
    std::vector<datasets::item_range> ranges;  ///< of every item, normalized as the cuts are
    datasets::normalization norm = datasets::normalization::none;
    datasets::dataset normalized;  ///< `train` as the ranges have it; empty without a norm
    datasets::feature_names names;
    std::int32_t max_label = 4;
    std::size_t neighbours = 3;
  };

  /// A document that wants a label, and what is shown of it.
  struct request {
    std::size_t document = 0;
    std::string why;                        ///< it was chosen
    std::vector<std::size_t> columns;       ///< the features that are shown
    std::vector<al::neighbour> neighbours;  ///< that have labels
    std::function<std::int32_t(std::size_t)> label_of;
    std::function<std::string()> estimate;
  };

  label_dialogue(sources what, datasets::answer_journal& journal, std::istream& in);

  /// A label, a document left out, an undo, or an end; the end of the input is one too. The first
  /// `kept` answers of the journal are not to be taken back.
  al::reply operator()(request const& now, std::size_t kept = 0);
  /// The same for a question of the sampling.
  al::reply operator()(al::question const& now, al::labelling const& work);
  /// Whether the person ended it with what there is, instead of leaving it for later.
  bool finished_early() const noexcept { return finish_; }

 private:
  void show(request const& now) const;
  void show_features(std::size_t document, std::span<std::size_t const> columns) const;
  void show_all_features(std::size_t document) const;
  std::string title(std::size_t document) const;

  sources what_;
  datasets::answer_journal& journal_;
  std::istream& in_;
  bool finish_ = false;
};

/// Answers before which labels are guessed from too little to say how many documents there are to
/// the end: on OHSUMED's first fold, where 227 are chosen, 823 are expected before the first answer
/// and 205 more after 12.
inline constexpr std::size_t enough_answers = 10;

/// An outlook as a sentence. `answers`: that it is drawn from.
std::string describe(al::outlook const& ahead, std::size_t answers);

}  // namespace rulerank::apps
