#include "apps/shared/arguments/arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "core/process_group.hpp"
#include "datasets/discretizer/discretizer_parts.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void reading_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, input_format_group);
  verb.add_flag("--zero-based", zero_based, "Accept features numbered from 0 instead of 1");
  verb.add_flag("--regroup", regroup, "Accept queries whose lines are not together");
  number_option(verb, "--unlabelled V", unlabelled,
                "Negative label of documents that are not labelled yet, such as -1", {.most = -1});
  offer_files(verb, value_option(verb, "--group FILE", group_files,
                                 "LightGBM group sizes of inputs without qid: one file for each "
                                 "input, in order; '' for an input with qid"))
      ->default_str("");
  value_option(verb, "--label-column NAME", label_column, "Column of the labels in CSV and TSV")
      ->default_str("label");
  value_option(verb, "--qid-column NAME", qid_column, "Column of the query ids in CSV and TSV")
      ->default_str("qid");
  value_option(verb, "--skip-columns A,B,...", skip_columns,
               "Columns of CSV and TSV that are not features")
      ->delimiter(',')
      ->default_str("");
}

void reading_arguments::add_drop_unjudged_to(CLI::App& verb) {
  help_group const group(verb, input_format_group);
  verb.add_flag("--drop-unjudged", drop_unjudged,
                "Ignore training documents without a label (-1 without --unlabelled); otherwise "
                "they are an error");
}

datasets::read_options reading_arguments::options(std::size_t input, labels accepted) const {
  datasets::read_options options;
  options.fractional_labels = accepted != labels::classes;
  options.optional_labels = accepted == labels::any;
  options.zero_based = zero_based;
  options.regroup = regroup;
  options.unlabelled = unlabelled;
  // `features` writes this label for unjudged pairs.
  if ((accepted == labels::any || drop_unjudged) && !unlabelled)
    options.unlabelled = datasets::unlabelled;
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
  owner.ranks();  // checks that ranks have the same file
  return datasets::read_dataset_part(owner.ctx(), path, how);
}

void expect_judged(datasets::dataset const& data, std::string_view purpose) {
  datasets::expect_labels(
      data, fmt::format("{}; --drop-unjudged leaves out documents without a label", purpose));
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
  help_group const group(verb, "Bins of features");
  std::vector<CLI::Option*> const fitting{
      word_option(verb, "--norm", norm, {"none", "query-minmax", "query-zscore"},
                  "Normalization of each feature within each query, before it is cut into bins"),
      word_option(verb, "--method", method, {"tube", "width", "frequency", "capped"},
                  "Bins of even density (tube), of equal width, of equal frequency, or of equal "
                  "frequency with round cuts and a limit for frequent values (capped)"),
      offer_words(verb,
                  value_option(verb, "--bins N|cv", bins,
                               "Most bins of a feature, 2 to 250; cv: chosen for each feature by "
                               "cross-validation"),
                  {"cv"}),
      word_option(verb, "--missing-values", missing, {"item", "none", "zero"},
                  "Meaning of NULL and nan: a bin of their own, no bin, or the value 0"),
      word_option(verb, "--unlisted", unlisted, {"zero", "missing"},
                  "Meaning of a feature that a line does not list: the value 0, or missing")};
  if (cuts == fitted_cuts::refused) return;
  CLI::Option* const read = path_option(verb, "--discretizer M.json", fitted,
                                        "Cuts to use, a file that --discretizer-out wrote");
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
