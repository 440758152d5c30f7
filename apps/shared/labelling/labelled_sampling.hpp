#pragma once

#include "al/answers.hpp"
#include "al/sampler.hpp"
#include "apps/shared/arguments/label_arguments.hpp"
#include "apps/shared/arguments/view_arguments.hpp"
#include "apps/shared/labelling/label_dialogue.hpp"
#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Selective sampling with labels that a person, a table or the training file gives.
namespace rulerank::inline v0::apps {

/// The exit code where labels are wanted before the work can go on.
inline constexpr int labels_wanted_code = 5;

struct labelled_sample {
  bool ready = false;  ///< false: labels are wanted, and the exit code is set
  al::sample sample;
  std::vector<std::int32_t> labels;  ///< [N] from the file or from an answer, else `unlabelled`
  std::vector<al::answer> rows;      ///< all rows of the table of --oracle file:P
  std::size_t answers = 0;           ///< that the sampling used; the journal's first ones
  std::unique_ptr<al::answer_journal> journal;  ///< of --resume, or null
  pool_views shown;  ///< what labellers see, where somebody is asked or --show is given
  std::unique_ptr<label_dialogue> dialogue;  ///< of --oracle ask, or null
  bool finished_early = false;               ///< the person ended it with what had been chosen
  nlohmann::ordered_json summary;
};

/// Chooses documents one label after the other, as far as labels are there or are given. Where some
/// are missing it writes --pending, says how many are wanted and what they would bring, and sets
/// the exit code; without --pending it throws `error` with the first document's line. `goes_on`:
/// more labels are asked for after the sampling; the journal may have those answers too.
labelled_sample sample_with_labels(session& owner, label_arguments const& asking,
                                   label_pool const& pool, al::sampler_options const& options,
                                   bool goes_on);

/// Throws `device_error` where --device names GPUs: labels that come one by one are for the CPU.
void expect_cpu(session& owner, al::engine which, std::string_view when);

/// "1 document wants a label", "2 documents want labels".
std::string documents_want_labels(std::size_t documents);

/// Reports that labels are missing: writes --pending (where it is given), sets the exit code, puts
/// `summary` into the manifest under `key` and with --json on standard output, and prints
/// `message`.
void end_for_labels(session& owner, label_arguments const& asking, datasets::dataset const& train,
                    pool_views const& shown, std::span<std::size_t const> wanted,
                    std::string const& key, nlohmann::ordered_json const& summary,
                    std::string const& message);

/// Throws `error` with the line of a document that was chosen and has no label. `verb`: "chosen" or
/// "picked".
[[noreturn]] void refuse_unlabelled(label_arguments const& asking, datasets::dataset const& train,
                                    std::size_t document, std::string_view verb);

}  // namespace rulerank::apps
