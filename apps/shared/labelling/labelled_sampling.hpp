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
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Selective sampling with labels from a person, a table or the training file.
namespace rulerank::inline v0::apps {

/// The exit code if labels are needed before the work can continue.
inline constexpr int labels_wanted_code = 5;

struct labelled_sample {
  bool ready = false;  ///< false: labels are missing, and the exit code is set
  al::sample sample;
  std::vector<std::int32_t> labels;  ///< [N] from the file or an answer, else `unlabelled`
  std::vector<al::answer> rows;      ///< all rows of the table of --oracle file:P
  std::size_t answers = 0;  ///< number that the sampling used; the first ones in the journal
  std::unique_ptr<al::answer_journal> journal;  ///< of --resume, or null
  pool_views shown;  ///< the labellers' view, if a person is asked or --show is given
  std::unique_ptr<label_dialogue> dialogue;  ///< of --oracle ask, or null
  /// Of --oracle command:CMD: the answers about documents, as far as the program gives them. Empty:
  /// no program is asked.
  std::function<std::vector<al::answer>(std::span<std::size_t const>)> ask_program;
  bool finished_early = false;  ///< the person ended with the documents chosen so far
  nlohmann::ordered_json summary;
};

/// Chooses documents one label at a time, as far as labels exist or are given. If some are missing,
/// writes --pending, reports how many are needed and their estimated benefit, and sets the exit
/// code; without --pending throws `error` with the first document's line. `goes_on`: more labels
/// are requested after the sampling, and the journal may contain those answers.
labelled_sample sample_with_labels(session& owner, label_arguments const& asking,
                                   label_pool const& pool, al::sampler_options const& options,
                                   bool goes_on);

/// Throws `device_error` if --device names GPUs: labels given one by one require the CPU.
void expect_cpu(session& owner, al::engine which, std::string_view when);

/// For example "1 document wants a label", "2 documents want labels".
std::string documents_want_labels(std::size_t documents);

/// Reports missing labels: writes --pending (if given), sets the exit code, stores `summary` in the
/// manifest under `key` and, with --json, prints it to standard output, and prints `message`.
void end_for_labels(session& owner, label_arguments const& asking, datasets::dataset const& train,
                    pool_views const& shown, std::span<std::size_t const> wanted,
                    std::string const& key, nlohmann::ordered_json const& summary,
                    std::string const& message);

/// Throws `error` with the line of a chosen document without a label. `verb`: "chosen" or "picked".
[[noreturn]] void refuse_unlabelled(label_arguments const& asking, datasets::dataset const& train,
                                    std::size_t document, std::string_view verb);

}  // namespace rulerank::apps
