#pragma once

#include "al/labelling.hpp"
#include "datasets/answers.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/item_words.hpp"

#include <cstdint>
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
    std::vector<datasets::item_range> ranges;  ///< of every item
    datasets::feature_names names;
    std::int32_t max_label = 4;
    std::size_t neighbours = 3;
  };

  label_dialogue(sources what, al::labelling const& work, datasets::answer_journal& journal,
                 std::istream& in);

  /// A label, a document left out, an undo, or an end; the end of the input is one too.
  al::reply operator()(al::question const& now);
  /// Whether the person ended it with what there is, instead of leaving it for later.
  bool finished_early() const noexcept { return finish_; }

 private:
  void show(al::question const& now) const;
  void show_features(std::size_t document, std::span<std::size_t const> columns) const;
  void show_all_features(std::size_t document) const;
  std::string title(std::size_t document) const;

  sources what_;
  al::labelling const& work_;
  datasets::answer_journal& journal_;
  std::istream& in_;
  bool finish_ = false;
};

/// What an outlook says, as a sentence.
std::string describe(al::outlook const& ahead);

}  // namespace rulerank::apps
