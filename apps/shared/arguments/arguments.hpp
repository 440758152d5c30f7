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

// Groups of options shared by several verbs. A verb stores one of each in its own options, calls
// `add_to` when it is added, and the other functions when it runs.
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

  /// The labels that an input may have: integers, as rules need them; also fractional ones; any or
  /// none, if they are ignored.
  enum class labels { classes, numbers, any };

  void add_to(CLI::App& verb);
  /// Adds --drop-unjudged, for verbs that learn.
  void add_drop_unjudged_to(CLI::App& verb);
  datasets::read_options options(std::size_t input = 0, labels accepted = labels::classes) const;
  /// Calls session::inputs for the verb's files and those of --group.
  void check_inputs(session const& owner, std::vector<session::named_input> files) const;
  /// Reads the verb's `input`-th file; sends warnings to the session and checksums to its manifest.
  datasets::dataset read(session& owner, std::string const& path, std::size_t input = 0,
                         labels accepted = labels::classes) const;
  /// Over MPI ranks: this rank's part of the file, or nothing on all ranks if each must read the
  /// whole file (datasets::read_dataset_part). All ranks must call it together.
  std::optional<datasets::dataset> read_part(session& owner, std::string const& path,
                                             std::size_t input = 0,
                                             labels accepted = labels::classes) const;
  /// Like `read`, for documents with labels; `purpose`, such as "learn from", goes into messages.
  /// With --drop-unjudged, returns only labelled documents. Throws `error` naming the first
  /// unlabelled document, or if there is no labelled one.
  datasets::dataset read_judged(session& owner, std::string const& path, std::string_view purpose,
                                std::size_t input = 0) const;
};

/// Throws `error` naming the first unlabelled document and --drop-unjudged.
void expect_judged(datasets::dataset const& data, std::string_view purpose);

/// How features become items: --norm --method --bins --missing-values --unlisted and, if a verb
/// accepts fitted cuts, --discretizer, which excludes the others.
struct discretizer_arguments {
  enum class fitted_cuts { accepted, refused };

  std::string method = "tube";
  std::string bins = "10";
  std::string missing = "item";
  std::string unlisted = "zero";
  std::string norm = "none";
  std::string fitted;  ///< path of the cuts, or empty

  void add_to(CLI::App& verb, fitted_cuts cuts = fitted_cuts::accepted);
  /// Throws `usage_error` for unknown keywords.
  datasets::discretizer_options options() const;
  /// The cuts of --discretizer if given, else cuts fitted on `train`.
  datasets::discretizer fit_or_read(session& owner, datasets::dataset const& train) const;
  /// As above, if each MPI rank has a part of the documents. All ranks must call it together.
  datasets::discretizer fit_on_parts_or_read(session& owner, datasets::dataset const& part) const;
};

/// Warns of a CSV or TSV file that lacks columns for features of the cuts.
void warn_of_lacking_features(session& owner, datasets::dataset const& data,
                              datasets::discretizer const& cuts);

}  // namespace rulerank::apps
