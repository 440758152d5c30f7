#include "report/rule_source.hpp"

#include "datasets/discretizer.hpp"
#include "datasets/item_words.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/explanation.hpp"
#include "l2r/ranker.hpp"

#include <charconv>
#include <filesystem>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::report {

namespace {

namespace fs = std::filesystem;

/// Itemsets of one document that are counted one after the other: some seconds.
constexpr double most_itemsets = 2e6;

double itemsets(std::size_t features, unsigned rule_size) {
  double sum = 0, choices = 1;
  for (unsigned k = 1; k < rule_size && k <= features; ++k) {
    choices *= static_cast<double>(features - k + 1) / k;
    sum += choices;
  }
  return sum;
}

std::string file_of(cross_validation const& of, std::size_t f, std::string const& end) {
  return (fs::path(of.folder) / "reduced" / (of.folds[f].name + end)).string();
}

/// Takes `before` and the number behind it from the begin of `text`.
bool take(std::string_view& text, std::string_view before, unsigned& number) {
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  auto const [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

struct rule_source::fold_ranker {
  datasets::discretizer cuts;
  datasets::binned_dataset training;
  l2r::ranker by;
  std::vector<datasets::item_range> ranges;
};

rule_source::rule_source(context const& ctx, system_source const& of) : ctx_(ctx), of_(of) {
  cross_validation const& from = *of.from;
  rankers_.resize(from.folds.size());
  std::string_view rest = of.name;
  if (!take(rest, "reduced-", reduce_size_) || !take(rest, "-rank-", rank_size_) || !rest.empty() ||
      rank_size_ < 2) {
    lacks_ = fmt::format("of {} the folder keeps no training set or model", of.name);
    return;
  }
  if (from.settings.contains("members")) {
    lacks_ = fmt::format("{} ranks by several members", of.name);
    return;
  }
  for (std::size_t f = 0; f < from.folds.size(); ++f)
    for (std::string const& end :
         {fmt::format("-size{}.txt", reduce_size_), std::string("-cuts.json")})
      if (std::error_code absent; !fs::exists(file_of(from, f, end), absent))
        lacks_ = fmt::format("{} is not there", file_of(from, f, end));
}

rule_source::~rule_source() = default;

rule_source::fold_ranker const& rule_source::ranker_of(std::size_t f) {
  if (rankers_[f]) return *rankers_[f];
  cross_validation const& from = *of_.from;
  json const reading = from.settings.value("reading", json::object());
  datasets::read_options how;
  how.zero_based = reading.value("zero_based", false);
  how.regroup = reading.value("regroup", false);
  l2r::scoring_options scoring;
  scoring.rule_size = rank_size_;
  scoring.thresholds.min_support = from.settings.value("min_support", json(1)).get<std::uint32_t>();
  scoring.thresholds.min_confidence = from.settings.value("min_confidence", 0.001);
  scoring.support_weight = from.settings.value("support_weight", 0.0);
  scoring.smoothing = from.settings.value("smoothing", 0.0);
  scoring.feature_share = from.settings.value("feature_share", 1.0);
  datasets::discretizer cuts = datasets::read_discretizer(file_of(from, f, "-cuts.json"));
  datasets::binned_dataset training = datasets::apply_discretizer(
      ctx_,
      datasets::read_dataset(ctx_, file_of(from, f, fmt::format("-size{}.txt", reduce_size_)), how),
      cuts);
  l2r::ranker by(ctx_, training, {.scoring = scoring});
  std::vector<datasets::item_range> ranges = l2r::item_ranges(by, cuts);
  rankers_[f] = std::make_unique<fold_ranker>(
      fold_ranker{std::move(cuts), std::move(training), std::move(by), std::move(ranges)});
  return *rankers_[f];
}

eval::table rule_source::explain(std::size_t f, std::size_t q, std::size_t d, std::size_t top) {
  fold_ranker const& ranker = ranker_of(f);
  datasets::dataset const& test = of_.from->data[f]->test;
  datasets::query_group const& group = test.queries[q];
  std::vector<std::size_t> documents(group.size());
  std::iota(documents.begin(), documents.end(), group.begin);
  using style = eval::column::style;
  eval::table t{.title = fmt::format("{}: rules that moved the score of document {} furthest",
                                     of_.name, test.docid(group.begin + d)),
                .columns = {{"moves", style::fixed, 6},
                            {"support", style::fixed},
                            {"of", style::fixed},
                            {"rule"}},
                .rows = {}};
  if (itemsets(ranker.training.feature_count(), rank_size_) > most_itemsets) {
    t.title += fmt::format(
        " (rules of size {} of {} features are too many to count here; explain "
        "does)",
        rank_size_, ranker.training.feature_count());
    return t;
  }
  datasets::binned_dataset const query =
      datasets::apply_discretizer(ctx_, datasets::subset(test, documents), ranker.cuts);
  l2r::explanation const why = l2r::explain(ctx_, ranker.by, query, d, top);
  l2r::exact_integer const over = why.denominator * l2r::exact_integer(why.training);
  for (l2r::moving_rules const* const side : {&why.up, &why.down})
    for (l2r::document_rule const& rule : side->most)
      t.rows.push_back(
          {l2r::quotient(rule.moved, over), std::int64_t{rule.support},
           std::int64_t{rule.documents},
           datasets::words_of_rule(rule.antecedent, rule.label, ranker.ranges, ranker.cuts.names)});
  return t;
}

}  // namespace rulerank::report
