#include "apps/shared/arguments/arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/process_group.hpp"
#include "datasets/discretizer_parts.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void reading_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "Reading");
  verb.add_flag("--zero-based", zero_based, "Feature numbers start at 0");
  verb.add_flag("--regroup", regroup, "Gather a query's lines when they are apart");
  number_option(verb, "--unlabelled V", unlabelled, "This negative label means: not labelled yet",
                {.most = -1});
  offer_files(verb, value_option(verb, "--group FILE", group_files,
                                 "LightGBM group sizes for inputs without qid, one file an "
                                 "input, in their order; an empty name: it has qids"))
      ->default_str("");
  value_option(verb, "--label-column NAME", label_column, "CSV and TSV: the column of the labels")
      ->default_str("label");
  value_option(verb, "--qid-column NAME", qid_column, "CSV and TSV: the column of the queries")
      ->default_str("qid");
  value_option(verb, "--skip-columns A,B,...", skip_columns,
               "CSV and TSV: columns that are no features")
      ->delimiter(',')
      ->default_str("");
}

void reading_arguments::add_drop_unjudged_to(CLI::App& verb) {
  help_group const group(verb, "Reading");
  verb.add_flag("--drop-unjudged", drop_unjudged,
                "Leave documents without a label out of what is learned from");
}

datasets::read_options reading_arguments::options(std::size_t input, labels accepted) const {
  datasets::read_options options;
  options.fractional_labels = accepted != labels::classes;
  options.optional_labels = accepted == labels::any;
  options.zero_based = zero_based;
  options.regroup = regroup;
  options.unlabelled = unlabelled;
  // `features` writes this label of pairs that nobody judged.
  if (accepted == labels::any && !unlabelled) options.unlabelled = datasets::unlabelled;
  options.label_column = label_column;
  options.qid_column = qid_column;
  options.skip_columns = skip_columns;
  if (input < group_files.size()) options.group_file = group_files[input];
  return options;
}

void reading_arguments::check_inputs(session const& owner,
                                     std::vector<session::named_input> files) const {
  for (std::string const& path : group_files) files.push_back({"--group", path});
  owner.inputs(files);
}

datasets::dataset reading_arguments::read(session& owner, std::string const& path,
                                          std::size_t input, labels accepted) const {
  datasets::read_options const how = options(input, accepted);
  owner.input(how.group_file);
  return datasets::read_dataset(owner.ctx(), owner.input(path), how,
                                [&owner](std::string const& message) { owner.warn(message); });
}

std::optional<datasets::dataset> reading_arguments::read_part(session& owner,
                                                              std::string const& path,
                                                              std::size_t input,
                                                              labels accepted) const {
  if (!has_processes(owner.ctx())) return std::nullopt;
  datasets::read_options const how = options(input, accepted);
  owner.input(how.group_file);
  owner.input(path);
  owner.ranks();  // have the same file
  return datasets::read_dataset_part(owner.ctx(), path, how);
}

void expect_judged(datasets::dataset const& data, std::string_view purpose) {
  datasets::expect_labels(
      data, fmt::format("{}, or --drop-unjudged to leave out such documents", purpose));
}

datasets::dataset reading_arguments::read_judged(session& owner, std::string const& path,
                                                 std::string_view purpose,
                                                 std::size_t input) const {
  datasets::dataset data = read(owner, path, input);
  if (!drop_unjudged) {
    expect_judged(data, purpose);
    return data;
  }
  auto const known = datasets::labelled_documents(data, purpose);
  if (known.size() == data.size()) return data;
  owner.say(fmt::format("{}: left out {} of {} for lack of a label", data.name,
                        data.size() - known.size(), counted(data.size(), "document")));
  return datasets::subset(data, known);
}

void discretizer_arguments::add_to(CLI::App& verb, fitted_cuts cuts) {
  help_group const group(verb, "Discretizer");
  std::vector<CLI::Option*> const fitting{
      word_option(verb, "--norm", norm, {"none", "query-minmax", "query-zscore"},
                  "Normalize each feature within each query first"),
      word_option(verb, "--method", method, {"tube", "width", "frequency", "capped"},
                  "How a feature is cut into bins"),
      offer_words(verb,
                  value_option(verb, "--bins N|cv", bins,
                               "Bins a feature at most, 2 to 250, or cv: by cross-validation"),
                  {"cv"}),
      word_option(verb, "--missing-values", missing, {"item", "none", "zero"},
                  "What a listed NULL or nan becomes"),
      word_option(verb, "--unlisted", unlisted, {"zero", "missing"},
                  "What a feature is that a line does not list")};
  if (cuts == fitted_cuts::refused) return;
  CLI::Option* const read = path_option(verb, "--discretizer M.json", fitted,
                                        "Fitted cuts to use, from --discretizer-out");
  for (CLI::Option* option : fitting) read->excludes(option);
}

datasets::discretizer_options discretizer_arguments::options() const {
  datasets::discretizer_options options;
  options.method = datasets::binning_from(method);
  options.missing = datasets::missing_values_from(missing);
  options.unlisted = datasets::unlisted_values_from(unlisted);
  options.norm = datasets::normalization_from(norm);
  options.bins = 0;
  if (bins != "cv") {
    auto const most = read_number<int>(bins, {2, 250});
    if (!most) throw usage_error(fmt::format("--bins: found '{}', expected 2 to 250 or cv", bins));
    options.bins = *most;
  }
  return options;
}

datasets::discretizer discretizer_arguments::fit_or_read(session& owner,
                                                         datasets::dataset const& train) const {
  if (!fitted.empty()) return datasets::read_discretizer(owner.input(fitted));
  return datasets::fit_discretizer(owner.ctx(), train, options());
}

datasets::discretizer discretizer_arguments::fit_on_parts_or_read(
    session& owner, datasets::dataset const& part) const {
  if (!fitted.empty()) return datasets::read_discretizer(owner.input(fitted));
  return datasets::fit_discretizer_on_parts(owner.ctx(), part, options());
}

void warn_of_lacking_features(session& owner, datasets::dataset const& data,
                              datasets::discretizer const& cuts) {
  datasets::warn_of_lacking_features(data, cuts.names, cuts.options.unlisted,
                                     [&owner](std::string const& message) { owner.warn(message); });
}

}  // namespace rulerank::apps
