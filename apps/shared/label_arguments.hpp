#pragma once

#include "al/labelling.hpp"
#include "apps/shared/label_dialogue.hpp"
#include "apps/shared/session.hpp"
#include "datasets/answers.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rulerank::apps {

/// What the program ends with when labels are wanted before it can go on.
inline constexpr int labels_wanted_code = 5;

struct labelled_sample {
  bool ready = false;  ///< false: labels are wanted, and the session ends with their exit code
  al::sample sample;
  std::vector<std::int32_t> labels;    ///< [N] from the file or from an answer, else `unlabelled`
  std::vector<datasets::answer> said;  ///< all that the table of --oracle file:P says
  std::size_t answers = 0;             ///< that the sampling asked for; the journal's first ones
  std::unique_ptr<datasets::answer_journal> journal;  ///< of --resume, or null
  std::unique_ptr<label_dialogue> dialogue;           ///< of --oracle ask, or null
  bool finished_early = false;                        ///< a person ended it with what there was
  nlohmann::ordered_json summary;
};

/// Who labels the documents that `reduce` chooses: --oracle --pending --batch --resume, and how a
/// person is asked: --names --max-label --neighbours.
struct label_arguments {
  std::string oracle = "file";
  std::string pending;
  std::size_t batch = 0;
  std::string resume;
  std::string names;
  std::int32_t max_label = 4;
  std::size_t neighbours = 3;

  void add_to(CLI::App& verb);
  /// The file of --oracle file:P, or empty.
  std::string labels_file() const;
  /// Throws `usage_error` for options that do not go together.
  void check(std::string const& train) const;
  /// Whether labels come from elsewhere than the training file, or may be wanted from elsewhere.
  bool asks() const;
  /// Chooses documents one label after the other, as far as these are there, or are given. Where
  /// they are not: writes
  /// --pending, says how many are wanted and what they would bring, and sets the exit code.
  /// `goes_on`: whether more labels are asked for after the sampling, whose answers the journal may
  /// have too.
  labelled_sample reduce(session& owner, datasets::dataset const& train,
                         datasets::binned_dataset const& binned,
                         datasets::discretizer const& fitted, al::sampler_options const& options,
                         bool goes_on) const;
};

}  // namespace rulerank::apps
