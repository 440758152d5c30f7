#pragma once

#include "report/results.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// The parts of a report. Each adds its blocks, under headings of its own.
namespace rulerank::inline v0::report {

constexpr auto fixed = eval::column::style::fixed;
constexpr auto general = eval::column::style::general;

/// Adds a paragraph.
template <class... Values>
void say(blocks& to, fmt::format_string<Values...> text, Values&&... values) {
  to.push_back({paragraph{fmt::format(text, std::forward<Values>(values)...)}});
}

/// A string without quotes, any other value as JSON.
std::string plain_text(json const& value);

/// The best of each comparison, how far it is before the next and the baseline, and charts of size
/// against quality; `frontiers`: further ones. Nothing where there is none of these.
void add_lead(std::vector<validation_group> const& groups, found_results const& found,
              report_options const& options, std::vector<chart> frontiers, blocks& to);
/// Means with significance marks, comparisons, NDCG by rank.
void add_summary(context const& ctx, validation_group const& group, blocks& to);
/// Queries won and lost against the baseline, their documents, and the rules that moved them.
void add_queries(context const& ctx, validation_group const& group, report_options const& options,
                 blocks& to);
/// Labels against effectiveness.
void add_curves(learning_curves const& curves, report_options const& options, blocks& to);
/// The strongest features and rules of a model file. Returns a chart of size against quality for
/// each card whose size cross-fitting chose.
std::vector<chart> add_model(context const& ctx, std::string const& path,
                             report_options const& options, blocks& to);
/// Speed by engine; a roofline where lines have bytes and operations.
void add_benchmarks(std::string const& path, report_options const& options, blocks& to);
/// What was run, on what, for how long.
void add_manifest(std::string const& name, json const& manifest, blocks& to);

}  // namespace rulerank::report
