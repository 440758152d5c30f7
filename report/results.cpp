#include "report/results.hpp"

#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"
#include "core/sha256.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "eval/report_json.hpp"
#include "experiment/curve_fold.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace rulerank::inline v0::report {

namespace {

namespace fs = std::filesystem;

bool is_there(fs::path const& path) {
  std::error_code absent;
  return fs::exists(path, absent);
}

/// Reads a report's files and reports each path to the caller.
class reader {
 public:
  reader(context const& ctx, report_options const& options) : ctx_(ctx), options_(options) {}

  std::string const& opened(std::string const& path) const {
    if (options_.opened) options_.opened(path);
    return path;
  }
  json parsed(fs::path const& path, std::string_view expected) const {
    std::string const name = opened(path.string());
    return parse_ordered_json(datasets::read_file(name, expected), name, expected);
  }
  /// Null if there is no manifest.
  json manifest(fs::path const& folder) const;

  cross_validation validation(fs::path const& folder) const;
  void read_queries(learning_curves& to) const;
  learning_curves curves(fs::path const& folder) const;

 private:
  std::optional<fold_data> data_of(cross_validation const& of,
                                   experiment::fold_result const& fold) const;
  fold_data read_data(cross_validation const& of, experiment::fold_result const& fold,
                      std::string const& path) const;

  context const& ctx_;
  report_options const& options_;
};

bool has_queries(datasets::dataset const& test, experiment::fold_result const& fold) {
  auto const& qids = fold.systems.at(0).queries.qids;
  return std::ranges::equal(test.queries, qids, {}, &datasets::query_group::qid);
}

fold_data reader::read_data(cross_validation const& of, experiment::fold_result const& fold,
                            std::string const& path) const {
  datasets::read_options how = reading_of(of);
  how.fractional_labels = true;
  how.optional_labels = true;
  fold_data data{datasets::read_dataset(ctx_, opened(path), how), {}};
  for (experiment::system_result const& system : fold.systems) {
    fs::path const scores = fs::path(of.folder) / "scores" / system.name / (fold.name + ".txt");
    if (is_there(scores))
      data.scores[system.name] = datasets::read_scores_of(ctx_, opened(scores.string()), data.test);
  }
  return data;
}

std::optional<fold_data> reader::data_of(cross_validation const& of,
                                         experiment::fold_result const& fold) const {
  // Group files are not known here.
  if (json const reading = of.settings.value("reading", json::object());
      !reading.value("groups", json::array()).empty())
    return std::nullopt;
  std::string const sum = part_checksum(fold, "test");
  bool const asked = !options_.folds.empty();
  std::vector<std::string> const paths = part_paths(of, fold, "test", options_);
  if (asked && paths.empty())
    throw error({(fs::path(options_.folds) / fold.name / "test.txt").string(), 0, 0},
                fmt::format("found no test set, expected that of {}", of.folder));
  for (std::string const& path : paths) {
    if (!sum.empty() && sha256_of_file(path) != sum) {
      if (asked)
        throw error(
            {path, 0, 0},
            fmt::format("found a test set that differs from that of {}, expected the SHA-256 {}",
                        of.folder, sum));
      continue;
    }
    fold_data data = read_data(of, fold, path);
    if (has_queries(data.test, fold)) return data;
    if (asked)
      throw error(
          {path, 0, 0},
          fmt::format("found queries that differ from those of {}, expected the same queries",
                      of.folder));
  }
  return std::nullopt;
}

/// Reads the fields next to `eval::to_json(profile)`.
eval::profile profile_from(json_fields<json> const& from) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  source_position const at{from.name(), 1, 1};
  eval::profile p =
      read_json(at, from.prefix() + "name", [&] { return eval::make_profile(from.word("name")); });
  p.gain = from.known("gain", eval::gain_from);
  p.discount = from.known("discount", eval::discount_from);
  p.no_relevant = from.number("no-relevant");
  p.relevant_from = from.number("relevant-from");
  p.short_lists = from.known("short-list", eval::short_list_from);
  p.ties = from.known("ties", eval::tie_rule_from);
  p.complete = from.boolean("complete");
  p.max_docs = from.integer("max-docs", 0, std::numeric_limits<std::uint64_t>::max());
  if (!from.member("max-label").is_null())
    p.max_label = static_cast<std::int32_t>(from.integer("max-label", 0, most));
  p.rbp_persistence = from.number("persistence");
  p.pfound_break = from.number("p-break");
  for (json const& probability : from.list("prel")) {
    if (!probability.is_number())
      from.fail("prel", fmt::format("found {}, expected numbers", json_shown(probability)));
    p.prel.push_back(probability.get<double>());
  }
  read_json(at, "settings.profile", [&] { eval::check(p); });
  return p;
}

/// Throws if a field of the settings' `reading` has an unexpected type.
void expect_reading(json_fields<json> const& settings) {
  if (!settings.has("reading")) return;
  json_fields<json> const reading(settings.member("reading"), settings.name(), "settings.reading.");
  for (char const* const key : {"zero_based", "regroup", "drop_unlabelled"})
    if (reading.has(key)) reading.boolean(key);
  if (reading.has("groups")) reading.list("groups");
}

/// Throws if a manifest is not an object or an input has no path.
void expect_inputs(json const& manifest, std::string const& path) {
  json_fields<json> const from(manifest, path);
  if (!from.has("inputs")) return;
  std::size_t number = 0;
  for (json const& input : from.list("inputs"))
    json_fields<json>(input, path, fmt::format("inputs[{}].", number++)).word("path");
}

json reader::manifest(fs::path const& folder) const {
  fs::path const path = folder / "manifest.json";
  if (!is_there(path)) return {};
  json found = parsed(path, "a manifest");
  expect_inputs(found, path.string());
  return found;
}

cross_validation reader::validation(fs::path const& folder) const {
  fs::path const path = folder / "results.json";
  json const results = parsed(path, "the results of an experiment");
  cross_validation found;
  found.folder = folder.string();
  json_fields<json> const top(results, path.string());
  json_fields<json> const settings(top.member("settings"), path.string(), "settings.");
  expect_reading(settings);
  found.settings = top.member("settings");
  found.profile = profile_from({settings.member("profile"), path.string(), "settings.profile."});
  for (json const& one : top.list("folds")) {
    json_fields<json> const fold(one, path.string(), fmt::format("folds[{}].", found.folds.size()));
    fs::path const of = folder / "folds" / (fold.word("name") + ".json");
    found.folds.push_back(experiment::read_fold_result(opened(of.string())));
    if (found.folds.back().fingerprint != fold.word("fingerprint"))
      throw error({of.string(), 0, 0},
                  fmt::format("found results of a different run than {}, expected the same run",
                              path.string()));
    if (found.folds.back().systems.empty()) throw error({of.string(), 0, 0}, "found no systems");
  }
  if (found.folds.empty()) throw error({path.string(), 0, 0}, "found no folds");
  found.manifest = manifest(folder);
  // A pipeline's manifest is in the parent folder.
  if (found.manifest.is_null() && folder.filename() == "experiment")
    found.manifest = manifest(folder.parent_path());
  for (experiment::fold_result const& fold : found.folds) {
    ctx_.check_stop();
    found.data.push_back(data_of(found, fold));
  }
  return found;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    std::size_t const tab = line.find('\t');
    cells.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return cells;
    line.remove_prefix(tab + 1);
  }
}

double number_of(std::string const& cell, source_position const& at) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(cell, &used);
  } catch (std::logic_error const&) {
    used = 0;
  }
  if (used == 0 || used != cell.size())
    throw error(at, fmt::format("found '{}', expected a number", cell));
  return value;
}

learning_curves reader::curves(fs::path const& folder) const {
  std::string const path = (folder / "curves.tsv").string();
  std::string const text = datasets::read_file(opened(path), "learning curves");
  learning_curves found{folder.string(), {}, manifest(folder), {}, {}, {}};
  std::vector<std::string> const head{"fold",   "way", "share",     "settings", "draw",
                                      "system", "how", "documents", "labels"};
  std::size_t number = 0, columns = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    std::string_view const line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    source_position const at{path, ++number, 1};
    if (line.starts_with('#')) continue;
    std::vector<std::string> const cells = cells_of(line);
    if (columns == 0) {
      columns = cells.size();
      if (columns <= head.size() || !std::equal(head.begin(), head.end(), cells.begin()))
        throw error(at,
                    fmt::format("found a different header, expected {} and measures between tabs",
                                fmt::join(head, ", ")));
      found.measures.assign(cells.begin() + static_cast<std::ptrdiff_t>(head.size()), cells.end());
      continue;
    }
    if (cells.size() != columns)
      throw error(at,
                  fmt::format("found {}, expected {}", counted(cells.size(), "column"), columns));
    curve_row row{cells[0],
                  cells[1],
                  cells[3],
                  cells[5],
                  number_of(cells[2], at),
                  number_of(cells[7], at),
                  number_of(cells[8], at),
                  {}};
    for (std::size_t c = head.size(); c < columns; ++c)
      row.values.push_back(number_of(cells[c], at));
    found.rows.push_back(std::move(row));
  }
  if (found.rows.empty()) throw error({path, 0, 0}, "found no rows");
  read_queries(found);
  return found;
}

/// Reads the folds' results by query if all are present.
void reader::read_queries(learning_curves& to) const {
  experiment::curve_results all;
  all.options.measures = eval::parse_measures(fmt::format("{}", fmt::join(to.measures, ",")));
  std::set<std::string> folds;
  for (curve_row const& row : to.rows) {
    if (!folds.insert(row.fold).second) continue;
    fs::path const path = fs::path(to.folder) / "curves" / (row.fold + ".json");
    if (!is_there(path)) return;
    std::string const name = opened(path.string());
    all.folds.push_back(
        experiment::curve_fold_from(datasets::read_file(name, "learning curves"), name));
  }
  std::set<double> budgets;
  for (experiment::curve_point const& p : all.folds.front().points) budgets.insert(p.budget);
  all.options.budgets.assign(budgets.begin(), budgets.end());
  to.by_query = std::move(all);
}

/// Names: the last components of the folders' paths if these are distinct, else the paths.
template <class Results>
void give_names(std::vector<Results>& all) {
  std::set<std::string> names;
  auto const name = [](Results const& one) {
    fs::path path = fs::absolute(one.folder).lexically_normal();  // also resolves "."
    if (path.filename().empty()) path = path.parent_path();
    if (path.filename() == "experiment" && path.has_parent_path()) path = path.parent_path();
    return path.filename().string();
  };
  for (Results const& one : all) names.insert(name(one));
  for (Results& one : all) one.name = names.size() == all.size() ? name(one) : one.folder;
}

bool same_queries(cross_validation const& a, cross_validation const& b) {
  std::vector<experiment::fold_result> const& first = a.folds;
  std::vector<experiment::fold_result> const& second = b.folds;
  if (eval::to_json(a.profile) != eval::to_json(b.profile) || first.size() != second.size())
    return false;
  for (std::size_t f = 0; f < first.size(); ++f) {
    eval::query_values const& x = first[f].systems.front().queries;
    eval::query_values const& y = second[f].systems.front().queries;
    if (first[f].name != second[f].name || x.qids != y.qids ||
        !std::ranges::equal(x.measures, y.measures, {}, &eval::measure::name, &eval::measure::name))
      return false;
  }
  return true;
}

void add_systems(validation_group& to, cross_validation const& from) {
  for (experiment::system_result const& first : from.folds.front().systems) {
    std::string name = first.name;
    if (std::ranges::find(to.systems, name, &eval::system_values::name) != to.systems.end())
      name = fmt::format("{} ({})", name, from.name);
    eval::system_values values{name, {}};
    std::optional<double> documents = 0;
    for (experiment::fold_result const& fold : from.folds) {
      auto const at = std::ranges::find(fold.systems, first.name, &experiment::system_result::name);
      if (at == fold.systems.end())
        throw error({from.folder, 0, 0},
                    fmt::format("found no results of {} in {}", first.name, fold.name));
      values.folds.push_back(at->queries);
      if (documents && at->documents)
        *documents += static_cast<double>(*at->documents);
      else
        documents.reset();
    }
    if (documents) *documents /= static_cast<double>(from.folds.size());
    to.systems.push_back(std::move(values));
    to.sources.push_back({&from, first.name});
    to.documents.push_back(documents);
  }
}

/// Compares each system with every baseline.
void compare_all(context const& ctx, validation_group& group) {
  eval::comparison_options const options{.paired_t = true, .fisher = false};
  group.compared.resize(group.systems.size());
  if (group.systems.size() < 2) return;
  for (std::size_t b = 0; b < group.systems.size(); ++b) {
    ctx.check_stop();
    group.compared[b].resize(group.systems.size());
    for (eval::comparison& one : eval::compare(ctx, group.systems, b, options)) {
      auto const at = std::ranges::find(group.systems, one.system, &eval::system_values::name);
      group.compared[b][static_cast<std::size_t>(at - group.systems.begin())].push_back(
          std::move(one));
    }
  }
}

void choose(validation_group& group, report_options const& options) {
  std::vector<std::string> names;
  for (eval::measure const& m : group.measures) names.push_back(m.name());
  group.measure = chosen_measure(names, options).value_or(0);
  auto const at = std::ranges::find(group.systems, options.baseline, &eval::system_values::name);
  if (at != group.systems.end())
    group.baseline = static_cast<std::size_t>(at - group.systems.begin());
}

/// Throws `usage_error` for a baseline or measure that no results have.
void expect_known(std::vector<validation_group> const& groups, found_results const& found,
                  report_options const& options) {
  std::set<std::string> systems, measures;
  for (validation_group const& group : groups) {
    for (eval::system_values const& one : group.systems) systems.insert(one.name);
    for (eval::measure const& one : group.measures) measures.insert(one.name());
  }
  for (learning_curves const& one : found.curves) {
    measures.insert(one.measures.begin(), one.measures.end());
    for (curve_row const& row : one.rows) systems.insert(row.system);
  }
  if (!options.baseline.empty() && !systems.contains(options.baseline))
    throw unknown_name("baseline: found", options.baseline,
                       list_of_names(systems, name_list::one_of));
  if (!options.metric.empty() && !measures.contains(options.metric))
    throw unknown_name("metric: found", options.metric, list_of_names(measures, name_list::one_of));
}

}  // namespace

std::string part_checksum(experiment::fold_result const& fold, std::string_view part) {
  for (auto const& [name, sum] : fold.inputs)
    if (name.starts_with(fmt::format("{}/{}.", fold.name, part))) return sum;
  return {};
}

std::vector<std::string> part_paths(cross_validation const& of, experiment::fold_result const& fold,
                                    std::string_view part, report_options const& options) {
  std::vector<std::string> paths;
  auto const add_all = [&](fs::path const& folder) {
    for (std::string_view const end : {".txt", ".csv", ".tsv", ".txt.gz", ".txt.zst", ".csv.gz"})
      paths.push_back((folder / fold.name / fmt::format("{}{}", part, end)).string());
  };
  if (!options.folds.empty()) {
    add_all(options.folds);
  } else {
    std::string const sum = part_checksum(fold, part);
    if (of.manifest.is_object() && of.manifest.contains("inputs"))
      for (json const& input : of.manifest["inputs"])
        if (!sum.empty() && input.value("sha256", json()) == sum)
          paths.push_back(input.at("path").get<std::string>());
    add_all(fs::path(of.folder).parent_path() / "folds");
  }
  std::erase_if(paths, [](std::string const& path) { return !is_there(path); });
  return paths;
}

datasets::read_options reading_of(cross_validation const& of) {
  json const reading = of.settings.value("reading", json::object());
  datasets::read_options how;
  how.zero_based = reading.value("zero_based", false);
  how.regroup = reading.value("regroup", false);
  if (json const unlabelled = reading.value("unlabelled", json()); unlabelled.is_number_integer())
    how.unlabelled = unlabelled.get<std::int32_t>();
  return how;
}

found_results read_results(context const& ctx, report_options const& options) {
  reader const from(ctx, options);
  found_results found;
  for (std::string const& folder : options.folders) {
    fs::path const path(folder);
    bool const pipeline = is_there(path / "experiment" / "results.json");
    bool const validated = pipeline || is_there(path / "results.json");
    bool const curves = is_there(path / "curves.tsv");
    if (validated)
      found.validations.push_back(from.validation(pipeline ? path / "experiment" : path));
    if (curves) found.curves.push_back(from.curves(path));
    if (!validated && !curves)
      throw error(
          {folder, 0, 0},
          !is_there(path)
              ? "does not exist, expected a folder that experiment or pipeline wrote"
              : "found neither results.json nor curves.tsv, expected a folder that experiment or "
                "pipeline wrote");
  }
  give_names(found.validations);
  give_names(found.curves);
  return found;
}

std::string validation_group::title() const {
  std::string text;
  for (cross_validation const* const one : validations)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", one->name);
  return text;
}

std::vector<double> queries_of(eval::system_values const& of, std::size_t measure) {
  std::vector<double> values;
  for (eval::query_values const& fold : of.folds)
    for (std::size_t q = 0; q < fold.size(); ++q) values.push_back(fold.at(q, measure));
  return values;
}

std::vector<std::size_t> best_first(validation_group const& group) {
  std::vector<double> means;
  for (eval::system_values const& one : group.systems)
    means.push_back(eval::mean_of_folds(one.folds)[group.measure]);
  std::vector<std::size_t> order(means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t s) { return means[s]; });
  return order;
}

std::string share_text(double share) {
  return fmt::format("{:.4g} %", 100 * share);
}

std::optional<std::size_t> chosen_measure(std::vector<std::string> const& names,
                                          report_options const& options) {
  auto const at = std::ranges::find(names, options.metric.empty() ? "NDCG@10" : options.metric);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  return std::nullopt;
}

std::vector<validation_group> groups_of(context const& ctx, found_results const& found,
                                        report_options const& options) {
  std::vector<validation_group> groups;
  for (cross_validation const& one : found.validations) {
    auto const at = std::ranges::find_if(groups, [&](validation_group const& group) {
      return same_queries(*group.validations.front(), one);
    });
    validation_group& to = at == groups.end() ? groups.emplace_back() : *at;
    to.validations.push_back(&one);
    if (to.systems.empty()) {
      to.measures = one.folds.front().systems.front().queries.measures;
      for (experiment::fold_result const& fold : one.folds) to.folds.push_back(fold.name);
    }
    add_systems(to, one);
  }
  expect_known(groups, found, options);
  for (validation_group& group : groups) {
    choose(group, options);
    compare_all(ctx, group);
  }
  return groups;
}

}  // namespace rulerank::report
