#include "apps/shared/arguments.hpp"

#include "apps/shared/options.hpp"
#include "core/error.hpp"

#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace rulerank::apps {

void reading_arguments::add_to(CLI::App& verb) {
  std::string const group = "Reading";
  verb.add_flag("--zero-based", zero_based, "Feature numbers start at 0")->group(group);
  verb.add_flag("--regroup", regroup, "Gather a query's lines when they are apart")->group(group);
  verb.add_option("--unlabelled", unlabelled, "This negative label means: not labelled yet")
      ->check(CLI::Range(std::numeric_limits<std::int32_t>::min(), -1).description(""))
      ->type_name("V")
      ->group(group);
  verb.add_option("--group", group_files,
                  "LightGBM group sizes for inputs without qid, one file an input, in their order")
      ->type_name("FILE")
      ->group(group);
}

datasets::svmlight_options reading_arguments::options(std::size_t input) const {
  datasets::svmlight_options options;
  options.zero_based = zero_based;
  options.regroup = regroup;
  options.unlabelled = unlabelled;
  if (input < group_files.size()) options.group_file = group_files[input];
  return options;
}

void reading_arguments::check_inputs(session const& owner,
                                     std::vector<session::named_input> files) const {
  for (std::string const& path : group_files) files.push_back({"--group", path});
  owner.inputs(files);
}

datasets::dataset reading_arguments::read(session& owner, std::string const& path,
                                          std::size_t input) const {
  datasets::svmlight_options const how = options(input);
  owner.input(how.group_file);
  return datasets::read_svmlight(owner.ctx(), owner.input(path), how,
                                 [&owner](std::string const& message) { owner.warn(message); });
}

void discretizer_arguments::add_to(CLI::App& verb, fitted_cuts cuts) {
  std::string const group = "Discretizer";
  std::vector<CLI::Option*> const fitting{
      verb.add_option("--norm", norm, "Normalise each feature within each query first")
          ->check(CLI::IsMember({"none", "query-minmax", "query-zscore"})),
      verb.add_option("--method", method, "How a feature is cut into bins")
          ->check(CLI::IsMember({"tube", "width", "frequency"})),
      verb.add_option("--bins", bins,
                      "Bins a feature at most, 2 to 250, or cv: by cross-validation")
          ->type_name("N|cv"),
      verb.add_option("--missing-values", missing, "What a listed NULL or nan becomes")
          ->check(CLI::IsMember({"item", "none", "zero"})),
      verb.add_option("--unlisted", unlisted, "What a feature is that a line does not list")
          ->check(CLI::IsMember({"zero", "missing"}))};
  for (CLI::Option* option : fitting) option->capture_default_str()->group(group);
  if (cuts == fitted_cuts::refused) return;
  CLI::Option* const read = path_option(verb, "--discretizer", fitted,
                                        "Fitted cuts to use, from discretize or reduce --model")
                                ->type_name("M.json")
                                ->group(group);
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
    char const* const end = bins.data() + bins.size();
    auto const [stop, status] = std::from_chars(bins.data(), end, options.bins);
    if (status != std::errc{} || stop != end || options.bins < 2 || options.bins > 250)
      throw usage_error(fmt::format("--bins: found '{}', expected 2 to 250 or cv", bins));
  }
  return options;
}

datasets::discretizer discretizer_arguments::fit_or_read(session& owner,
                                                         datasets::dataset const& train) const {
  if (!fitted.empty()) return datasets::read_discretizer(owner.input(fitted));
  return datasets::fit_discretizer(owner.ctx(), train, options());
}

}  // namespace rulerank::apps
