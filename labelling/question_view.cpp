#include "labelling/question_view.hpp"

#include "core/error.hpp"
#include "datasets/text/text_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::labelling {

namespace {

/// Bytes of a passage, and of a neighbour's title.
constexpr std::size_t passage_size = 500;
constexpr std::size_t title_size = 80;
/// Maximum number of rules shown per document.
constexpr std::size_t shown_rules = 3;

/// The document's value of a feature; empty if not listed.
std::optional<double> value_of(datasets::dataset const& data, std::size_t document,
                               std::uint32_t feature) {
  auto const entries = data.document(document);
  auto const entry =
      std::ranges::lower_bound(entries, feature, {}, &datasets::feature_value::feature);
  if (entry == entries.end() || entry->feature != feature) return {};
  return entry->value;
}

}  // namespace

nlohmann::ordered_json judge_request(question_views const& views, std::size_t document,
                                     std::int32_t max_label) {
  view_request about;
  about.document = document;
  question_view const view = views.view(about);
  nlohmann::ordered_json request{{"qid", view.qid}, {"docid", view.docid}};
  if (views.has_texts()) {
    request["query"] = view.query;
    request["title"] = plain(view.title);
    request["passage"] = plain(view.passage);
    request["text"] = plain(view.whole);
  }
  auto& features = request["features"] = nlohmann::ordered_json::object();
  for (auto const& [name, value] : views.listed_features(document))
    features[name] =
        std::isnan(value) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
  for (std::int32_t label = 0; label <= max_label; ++label) request["labels"].push_back(label);
  return request;
}

std::string describe(al::outlook const& ahead) {
  if (ahead.documents == 0)
    return fmt::format("{} so far; no more documents are needed", counted(ahead.rules, "rule"));
  if (!is_estimate(ahead))
    return fmt::format(
        "{} so far; too few answers to estimate how many documents are left: {} from the most "
        "frequent label, and {} are needed",
        counted(ahead.rules, "rule"),
        ahead.minority_labels == 1 ? "1 label differs"
                                   : fmt::format("{} labels differ", ahead.minority_labels),
        enough_minority_labels);
  return fmt::format(
      "{} so far; estimated with guessed labels: about {} more from the next {}, about {} more "
      "from {} to the end ({} to {} documents){}",
      counted(ahead.rules, "rule"), ahead.next_rules, counted(ahead.next, "document"),
      ahead.documents_rules, counted(ahead.documents, "document"), ahead.documents_low,
      ahead.documents_high,
      ahead.left_out == 0
          ? ""
          : fmt::format(", {} of them skipped at the present rate", ahead.left_out));
}

question_views::question_views(context const& ctx, sources what)
    : what_(std::move(what)), ranges_(datasets::item_ranges(what_.binned, what_.cuts)) {
  auto const& options = what_.cuts.options;
  if (options.norm != datasets::normalization::none)
    normalized_ =
        datasets::normalize(ctx, what_.pool, options.norm, options.missing, options.unlisted);
}

datasets::query_group const& question_views::group(std::size_t document) const {
  return *std::ranges::partition_point(
      what_.pool.queries, [&](datasets::query_group const& q) { return q.end <= document; });
}

std::string const& question_views::qid(std::size_t document) const {
  return group(document).qid;
}

/// Computed from the documents with the smallest and largest value: normalization is increasing and
/// linear within a query.
question_views::own_units question_views::units(std::size_t document, std::uint32_t feature) const {
  bool const zero_is_missing = what_.cuts.options.unlisted == datasets::unlisted_values::missing &&
                               what_.cuts.options.missing != datasets::missing_values::zero;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  double low_normalized = 0, high_normalized = 0;
  datasets::query_group const& query = group(document);
  for (std::size_t d = query.begin; d < query.end; ++d) {
    auto value = value_of(what_.pool, d, feature);
    if (!value && zero_is_missing) continue;
    double x = value.value_or(0);
    if (std::isnan(x)) {
      if (what_.cuts.options.missing != datasets::missing_values::zero) continue;
      x = 0;
    }
    double const y = value_of(normalized_, d, feature).value_or(0);
    if (x < low) low = x, low_normalized = y;
    if (x > high) high = x, high_normalized = y;
  }
  if (!(low < high) || !(low_normalized < high_normalized)) return {low, low_normalized, 0};
  return {low, low_normalized, (high - low) / (high_normalized - low_normalized)};
}

/// `x` with the fewest significant digits, at least `least`, for which `holds(x)`; else all digits.
template <class Holds>
static double readable(double x, int least, Holds&& holds) {
  if (!std::isfinite(x)) return x;
  for (int digits = least; digits < std::numeric_limits<double>::max_digits10; ++digits)
    // std::stod throws for numbers below the least normal one.
    if (double const shown = std::strtod(fmt::format("{:.{}g}", x, digits).c_str(), nullptr);
        holds(shown))
      return shown;
  return x;
}

/// The range of a document's item in original units; unbounded if there are none.
datasets::item_range question_views::own_range(std::size_t document, std::size_t column) const {
  std::uint32_t const feature = what_.binned.features[column];
  datasets::item_range range =
      ranges_[what_.binned.item_begin[column] + what_.binned.code(column, document)];
  if (what_.cuts.options.norm == datasets::normalization::none || range.missing) return range;
  own_units const here = units(document, feature);
  if (here.slope == 0) return {.feature = feature};
  double const listed = value_of(what_.pool, document, feature).value_or(0);
  double const value = std::isnan(listed) ? 0 : listed;
  auto const own = [&](double normalized) {
    return std::isinf(normalized) ? normalized
                                  : here.low + (normalized - here.low_normalized) * here.slope;
  };
  range.low = readable(own(range.low), 4, [&](double low) { return low <= value; });
  range.high = readable(own(range.high), 4, [&](double high) { return value < high; });
  range.whole = true;
  return range;
}

std::string question_views::range_words(std::size_t document, std::size_t column) const {
  std::uint32_t const feature = what_.binned.features[column];
  if (what_.binned.code(column, document) == datasets::no_item)
    return datasets::name_of(feature, what_.names);
  datasets::item_range const range = own_range(document, column);
  if (!range.missing && !differs_in_query(document, column))
    return datasets::name_of(feature, what_.names) + ", the same for all documents of the query";
  return datasets::words_of(range, what_.names);
}

/// The value with enough digits to stay within its range.
std::string question_views::value_words(std::size_t document, std::size_t column) const {
  auto const value = value_of(what_.pool, document, what_.binned.features[column]);
  if (!value) return "not listed";
  datasets::item_range range;
  if (what_.binned.code(column, document) != datasets::no_item) range = own_range(document, column);
  double const shown =
      readable(*value, 6, [&](double x) { return range.low <= x && x < range.high; });
  return fmt::format("{:.15g}", shown);
}

bool question_views::differs_in_query(std::size_t document, std::size_t column) const {
  return what_.cuts.options.norm == datasets::normalization::none ||
         what_.binned.code(column, document) == datasets::no_item ||
         units(document, what_.binned.features[column]).slope != 0;
}

std::vector<feature_view> question_views::features(std::size_t document,
                                                   std::span<std::size_t const> columns) const {
  std::vector<feature_view> shown;
  for (std::size_t const column : columns)
    shown.push_back({value_words(document, column), range_words(document, column)});
  return shown;
}

std::vector<feature_view> question_views::all_features(std::size_t document) const {
  std::vector<std::size_t> columns(what_.binned.feature_count());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return features(document, columns);
}

std::vector<std::pair<std::string, double>> question_views::listed_features(
    std::size_t document) const {
  std::vector<std::pair<std::string, double>> listed;
  for (datasets::feature_value const& entry : what_.pool.document(document))
    listed.emplace_back(datasets::name_of(entry.feature, what_.names), entry.value);
  return listed;
}

namespace {

std::string why_asked(al::question const& asked, al::labelling const& work) {
  if (work.whole_queries())
    return fmt::format("one of {} to label of query {}", counted(work.wanted().size(), "document"),
                       asked.iteration + 1);
  if (asked.why == al::reason::random) return "the next document in a random order";
  if (asked.why == al::reason::new_items)
    return "the document with the most values that no labelled document has";
  if (asked.iteration == 0)
    return fmt::format("the most representative document of partition {}", asked.partition);
  return fmt::format("the document with the fewest rules ({}) of partition {}", asked.rules,
                     asked.partition);
}

}  // namespace

view_request question_views::request(al::question const& asked, al::labelling const& work) const {
  view_request made;
  made.document = asked.document;
  made.why = why_asked(asked, work);
  al::brought_rules const rules = work.brings(asked, shown_rules);
  made.brings.push_back(
      fmt::format("{} of its {} of at most {} {} new here, and each will make a rule", rules.unseen,
                  counted(rules.itemsets, "itemset"), counted(rules.items, "feature"),
                  rules.unseen == 1 ? "is" : "are"));
  for (auto const& itemset : rules.shortest) {
    std::vector<std::string> items;
    for (std::size_t const column : itemset)
      if (differs_in_query(asked.document, column))
        items.push_back(range_words(asked.document, column));
    if (!items.empty()) made.brings.push_back(fmt::format("{}", fmt::join(items, " and ")));
  }
  auto const columns = work.features(asked.partition);
  made.columns.assign(columns.begin(), columns.end());
  made.neighbours = work.nearest_labelled(asked.document, what_.neighbours);
  made.label_of = [&work](std::size_t d) { return work.label_of(d); };
  return made;
}

std::string question_views::short_title(std::size_t document) const {
  if (what_.texts == nullptr) return {};
  std::string const title = plain(what_.texts->title(document));
  return title.empty() ? plain(what_.texts->passage(document, title_size)) : title;
}

question_view question_views::view(view_request const& asked) const {
  question_view made;
  std::size_t const d = made.document = asked.document;
  made.docid = what_.pool.docid(d);
  made.qid = qid(d);
  made.comment = datasets::without_text_sums(what_.pool.comment(d));
  if (what_.texts != nullptr) {
    made.query = what_.texts->query(d);
    made.title = what_.texts->title(d);
    made.passage = what_.texts->passage(d, passage_size);
    made.whole = what_.texts->whole(d);
  }
  made.why = asked.why;
  made.brings = asked.brings;
  std::vector<std::size_t> columns = asked.columns;
  std::erase_if(columns, [&](std::size_t column) { return !differs_in_query(d, column); });
  made.features = features(d, columns);
  made.feature_count = what_.binned.feature_count();
  for (al::neighbour const& n : asked.neighbours) {
    neighbour_view near;
    near.document = n.document;
    near.label = asked.label_of(n.document);
    near.docid = what_.pool.docid(n.document);
    near.qid = qid(n.document);
    near.comment = datasets::without_text_sums(what_.pool.comment(n.document));
    if (what_.texts != nullptr && near.qid != made.qid) near.query = what_.texts->query(n.document);
    near.title = short_title(n.document);
    near.shared = n.shared_items;
    made.neighbours.push_back(std::move(near));
  }
  return made;
}

std::vector<std::string> question_views::text_cells(std::size_t document) const {
  if (what_.texts == nullptr) return {};
  return {what_.texts->query(document), plain(what_.texts->title(document)),
          plain(what_.texts->passage(document, passage_size))};
}

}  // namespace rulerank::labelling
