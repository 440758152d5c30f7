#pragma once

#include "apps/shared/session/session.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/svmlight.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Groups of options that several verbs share: a verb keeps one of each in its own options, calls
// `add_to` when it is added and the other functions when it runs.
namespace rulerank::inline v0::apps {

/// How SVMlight, CSV and TSV files are read: --zero-based --regroup --unlabelled --group.
struct reading_arguments {
  bool zero_based = false;
  bool regroup = false;
  std::optional<std::int32_t> unlabelled;
  bool drop_unjudged = false;
  std::string label_column, qid_column;
  std::vector<std::string> skip_columns;
  std::vector<std::string> group_files;  ///< the i-th belongs to the verb's i-th input

  /// What the labels of an input may be: integers, for those that rules are made of; also
  /// fractional; any, or missing, where they are not looked at.
  enum class labels { classes, numbers, any };

  void add_to(CLI::App& verb);
  /// --drop-unjudged, of verbs that learn.
  void add_drop_unjudged_to(CLI::App& verb);
  datasets::read_options options(std::size_t input = 0, labels accepted = labels::classes) const;
  /// session::inputs of the verb's files and of --group's.
  void check_inputs(session const& owner, std::vector<session::named_input> files) const;
  /// Reads the verb's `input`-th file; warnings go to the session, checksums to its manifest.
  datasets::dataset read(session& owner, std::string const& path, std::size_t input = 0,
                         labels accepted = labels::classes) const;
  /// Over MPI ranks, this rank's part of the file, or nothing on all of them where each has to read
  /// all of it (datasets::read_dataset_part). All ranks call it together.
  std::optional<datasets::dataset> read_part(session& owner, std::string const& path,
                                             std::size_t input = 0,
                                             labels accepted = labels::classes) const;
  /// `read` of documents that are learned from or chosen by ("learn from"): with --drop-unjudged
  /// those that have a label. Throws `error` naming the first one without, or where none has one.
  datasets::dataset read_judged(session& owner, std::string const& path, std::string_view purpose,
                                std::size_t input = 0) const;
};

/// Throws `error` naming the first document without a label, and --drop-unjudged.
void expect_judged(datasets::dataset const& data, std::string_view purpose);

/// How features become items: --norm --method --bins --missing-values --unlisted and, where a verb
/// accepts fitted cuts, --discretizer, which excludes the others.
struct discretizer_arguments {
  enum class fitted_cuts { accepted, refused };

  std::string method = "tube";
  std::string bins = "10";
  std::string missing = "item";
  std::string unlisted = "zero";
  std::string norm = "none";
  std::string fitted;  ///< a file of cuts, or empty

  void add_to(CLI::App& verb, fitted_cuts cuts = fitted_cuts::accepted);
  /// Throws `usage_error` for words that are not known.
  datasets::discretizer_options options() const;
  /// The cuts of --discretizer where it was given, else cuts fitted on `train`.
  datasets::discretizer fit_or_read(session& owner, datasets::dataset const& train) const;
  /// The same where each MPI rank has a part of the documents. All ranks call it together.
  datasets::discretizer fit_on_parts_or_read(session& owner, datasets::dataset const& part) const;
};

/// Warns of a CSV or TSV file without columns for some features of the cuts.
void warn_of_lacking_features(session& owner, datasets::dataset const& data,
                              datasets::discretizer const& cuts);

}  // namespace rulerank::apps
