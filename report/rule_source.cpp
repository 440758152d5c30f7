#include "report/rule_source.hpp"

#include "core/sha256.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/item_words.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/scorer.hpp"
#include "report/model_words.hpp"
#include "report/sections.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/settings_json.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::report {

namespace {

namespace fs = std::filesystem;

/// Limit on a document's itemsets, which are counted serially: some seconds.
constexpr double most_itemsets = 2e6;
/// Limit on a training set that is read for each fold and system: some seconds.
constexpr std::uintmax_t most_training_bytes = 200'000'000;

double itemsets(std::size_t features, unsigned rule_size) {
  double sum = 0, choices = 1;
  for (unsigned k = 1; k < rule_size && k <= features; ++k) {
    choices *= static_cast<double>(features - k + 1) / k;
    sum += choices;
  }
  return sum;
}

/// Removes the prefix `before` from `text`, if present.
bool take(std::string_view& text, std::string_view before) {
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  return true;
}

/// Removes the prefix `before` and the number after it, if present.
bool take(std::string_view& text, std::string_view before, unsigned& number) {
  if (!take(text, before)) return false;
  auto const [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// The fields encoded in a system's name: its training documents and its rule size.
struct system_parts {
  unsigned reduce_size = 0;  ///< 0: all training documents
  unsigned rank_size = 0;    ///< of all members; 0: each member has its own
};

/// Empty for a system that does not rank by rules of known documents.
std::optional<system_parts> parts_of(std::string_view name) {
  system_parts parts;
  if (!take(name, "full") && !take(name, "reduced-", parts.reduce_size)) return std::nullopt;
  unsigned members = 0;
  if (take(name, "-tuned-")) return parts;
  if (!take(name, "-rank-", parts.rank_size) && !take(name, "-members-", members))
    return std::nullopt;
  if (!name.empty()) return std::nullopt;
  return parts;
}

/// The members of a system.
std::vector<tuning::settings_file> members_of(cross_validation const& from,
                                              experiment::fold_result const& fold,
                                              std::string const& system,
                                              system_parts const& parts) {
  std::string const name = (fs::path(from.folder) / "results.json").string();
  if (auto const tuned = fold.tuned.find(system); tuned != fold.tuned.end())
    return tuning::settings_from(
        tuned->second, (fs::path(from.folder) / "folds" / (fold.name + ".json")).string());
  json settings{{"rulerank_settings", 1}};
  if (from.settings.contains("members")) {
    settings["members"] = from.settings["members"];
  } else {
    settings.update(from.settings);
    settings["rule_size"] = parts.rank_size;
  }
  std::vector<tuning::settings_file> members = tuning::settings_from(settings.dump(), name);
  if (parts.rank_size > 0)
    for (tuning::settings_file& member : members) member.scoring.rule_size = parts.rank_size;
  return members;
}

/// Describes the members of a system that have no rules to show; empty if all are rules.
std::string other_kinds(std::vector<tuning::settings_file> const& members,
                        std::string const& system) {
  bool const has_others = std::ranges::any_of(members, [](tuning::settings_file const& member) {
    return member.scorecard || member.linear || member.joint;
  });
  return has_others ? fmt::format("{} has members of other kinds than rules", system) : "";
}

}  // namespace

struct rule_source::fold_ranker {
  std::string lacks;
  std::unique_ptr<l2r::scorer> by;
};

rule_source::rule_source(context const& ctx, report_options const& options, system_source const& of,
                         std::string name)
    : ctx_(ctx),
      options_(options),
      of_(of),
      name_(std::move(name)),
      folds_(of.from->folds.size()) {}

rule_source::~rule_source() = default;

/// The path of the fold's whole training set; if it is unavailable, sets `lacks` to the reason.
std::string rule_source::training_file(std::size_t f, std::string& lacks) const {
  cross_validation const& from = *of_.from;
  experiment::fold_result const& fold = from.folds[f];
  std::string const sum = part_checksum(fold, "train");
  for (std::string const& path : part_paths(from, fold, "train", options_)) {
    std::error_code unknown;
    if (std::uintmax_t const bytes = fs::file_size(path, unknown);
        !unknown && bytes > most_training_bytes) {
      lacks = fmt::format("the training set of {} has {} bytes, and a report reads at most {}",
                          fold.name, bytes, most_training_bytes);
      return {};
    }
    if (sum.empty() || sha256_of_file(path) == sum) {
      if (options_.opened) options_.opened(path);
      return path;
    }
  }
  lacks = fmt::format("the training set of {} is missing or has changed since the run", fold.name);
  return {};
}

void rule_source::prepare(std::size_t f, fold_ranker& to) const {
  cross_validation const& from = *of_.from;
  experiment::fold_result const& fold = from.folds[f];
  std::optional<system_parts> const parts = parts_of(of_.name);
  json const reading = from.settings.value("reading", json::object());
  if (!parts) {
    to.lacks = fmt::format("the folder keeps no training set or model of {}", name_);
    return;
  }
  auto const in_folder = [&](std::string const& end) {
    std::string const path =
        (fs::path(from.folder) / "reduced" / fmt::format("{}-{}", fold.name, end)).string();
    if (std::error_code absent; !fs::exists(path, absent) && to.lacks.empty())
      to.lacks = fmt::format("{} is missing", path);
    return path;
  };
  std::vector<tuning::settings_file> const members = members_of(from, fold, of_.name, *parts);
  to.lacks = other_kinds(members, name_);
  if (!to.lacks.empty()) return;
  // The cuts in the folder are those of the settings.
  json const kept = from.settings.value("discretizer", json());
  auto const has_cuts = [&](tuning::settings_file const& member) {
    return member.discretizer && tuning::to_json(*member.discretizer) == kept;
  };
  auto const labelled = [&](datasets::dataset data) {
    if (!reading.value("drop_unlabelled", false)) return data;
    return datasets::subset(data, datasets::labelled_documents(data, "learn from"));
  };
  bool const needs_all = parts->reduce_size == 0 || !std::ranges::all_of(members, has_cuts);
  datasets::dataset all;
  if (needs_all) {
    std::string const path = training_file(f, to.lacks);
    if (!to.lacks.empty()) return;
    all = labelled(datasets::read_dataset(ctx_, path, reading_of(from)));
  }
  datasets::dataset reduced;
  if (parts->reduce_size > 0) {
    std::string const path = in_folder(fmt::format("size{}.txt", parts->reduce_size));
    if (!to.lacks.empty()) return;
    reduced = datasets::read_dataset(ctx_, path, reading_of(from));
  }
  l2r::model model;
  for (tuning::settings_file const& member : members) {
    if (has_cuts(member)) in_folder("cuts.json");
    if (!to.lacks.empty()) return;
    auto const cuts = std::make_shared<datasets::discretizer const>(
        has_cuts(member) ? datasets::read_discretizer(in_folder("cuts.json"))
                         : datasets::fit_discretizer(ctx_, all, *member.discretizer));
    auto training = std::make_shared<datasets::binned_dataset const>(
        datasets::apply_discretizer(ctx_, parts->reduce_size > 0 ? reduced : all, *cuts));
    if (itemsets(training->feature_count(), member.scoring.rule_size) > most_itemsets) {
      to.lacks = fmt::format(
          "found too many rules of size {} of {} features; `rulerank explain` shows them",
          member.scoring.rule_size, training->feature_count());
      return;
    }
    model.members.emplace_back(l2r::rules_member{cuts, std::move(training), member.scoring});
  }
  to.by = std::make_unique<l2r::scorer>(ctx_, std::move(model));
}

rule_source::fold_ranker& rule_source::fold(std::size_t f) {
  if (!folds_[f]) {
    auto made = std::make_unique<fold_ranker>();
    prepare(f, *made);
    folds_[f] = std::move(made);
  }
  return *folds_[f];
}

std::string const& rule_source::lacks(std::size_t f) {
  return fold(f).lacks;
}

std::string rule_source::lacks() const {
  for (auto const& ranker : folds_)
    if (ranker && !ranker->lacks.empty()) return ranker->lacks;
  return {};
}

std::optional<eval::table> rule_source::explain(std::size_t f, std::size_t q, std::size_t d,
                                                std::size_t top) {
  fold_ranker& ranker = fold(f);
  if (!ranker.lacks.empty()) return std::nullopt;
  fold_data const& data = *of_.from->data[f];
  datasets::query_group const& group = data.test.queries[q];
  std::vector<std::size_t> documents(group.size());
  std::iota(documents.begin(), documents.end(), group.begin);
  l2r::explainer const why(ctx_, *ranker.by, datasets::subset(data.test, documents));
  std::vector<double> const& kept = data.scores.at(of_.name);
  if (!std::equal(why.scores().begin(), why.scores().end(),
                  kept.begin() + static_cast<std::ptrdiff_t>(group.begin))) {
    ranker.lacks = fmt::format("the data in {} give other scores for {} than the run did",
                               of_.from->folder, of_.name);
    return std::nullopt;
  }
  l2r::model_explanation const found = why.explain(ctx_, d, top);
  bool const several = found.members.size() > 1;
  eval::table t{
      .title = fmt::format("{}: the most influential rules on the score of document {}{}", name_,
                           data.test.docid(group.begin + d),
                           several ? ", by member, in the unit of the member's own score" : "")};
  if (several) t.columns.push_back({"member", fixed});
  t.columns.insert(t.columns.end(),
                   {{"moves", fixed, 6}, {"support", fixed}, {"of", fixed}, {"rule"}});
  for (std::size_t k = 0; k < found.members.size(); ++k) {
    auto const& rules = std::get<l2r::explanation>(found.members[k].why);
    l2r::exact_integer const over = rules.denominator * l2r::exact_integer(rules.training);
    member_words const words = words_of(ranker.by->fitted(), k, why.ranges(k), {});
    for (l2r::moving_rules const* const side : {&rules.up, &rules.down})
      for (l2r::document_rule const& rule : side->most) {
        std::vector<eval::cell>& row = t.rows.emplace_back();
        if (several) row.emplace_back(k + 1);
        row.insert(row.end(), {l2r::quotient(rule.moved, over), rule.support, rule.documents,
                               rule_text(rule, words)});
      }
  }
  return t;
}

}  // namespace rulerank::report
