#pragma once

#include "report/results.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// The sections of a report. Each function appends blocks with their own headings.
namespace rulerank::inline v0::report {

constexpr auto fixed = eval::column::style::fixed;
constexpr auto general = eval::column::style::general;

/// Appends a paragraph.
template <class... Values>
void say(blocks& to, fmt::format_string<Values...> text, Values&&... values) {
  to.push_back({paragraph{fmt::format(text, std::forward<Values>(values)...)}});
}

/// A string without quotes; any other value as JSON.
std::string plain_text(json const& value);

/// The best system of each comparison, its differences to the next one and the baseline, and charts
/// of size against quality; `frontiers`: further charts. Appends nothing if all are empty.
void add_lead(std::vector<validation_group> const& groups, found_results const& found,
              report_options const& options, std::vector<chart> frontiers, blocks& to);
/// Means with significance marks, comparisons, NDCG by rank.
void add_summary(context const& ctx, validation_group const& group, blocks& to);
/// Queries won and lost against the baseline, their documents, and the rules behind their scores.
void add_queries(context const& ctx, validation_group const& group, report_options const& options,
                 blocks& to);
/// A chart of the sizes that were tried for a card: quality against features. `how`: the documents
/// of the cross-fitting; `chosen`: a clause with the chosen size, or those of the folds.
chart card_frontier(std::string const& title, l2r::card_sizes const& of, std::string_view how,
                    std::string_view chosen);
/// Effectiveness against number of labels.
void add_curves(learning_curves const& curves, report_options const& options, blocks& to);
/// The strongest features and rules of a model file. Returns a chart of size against quality for
/// each card whose size was chosen by cross-fitting.
std::vector<chart> add_model(context const& ctx, std::string const& path,
                             report_options const& options, blocks& to);
/// Speed by engine, and a roofline if lines have bytes and operations.
void add_benchmarks(std::string const& path, report_options const& options, blocks& to);
/// The command, its inputs and its duration.
void add_manifest(std::string const& name, json const& manifest, blocks& to);

}  // namespace rulerank::report
