#pragma once

#include "report/models.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A card (l2r::card_page) as one page: what it is, a strip of bins for each feature, and what a
// score means. Each form writes the same strips.
namespace rulerank::inline v0::report {

/// Bins from left to right, each a column of texts below a bar.
struct card_strip {
  std::string title;
  std::string about;
  std::vector<std::string> labels;                ///< [rows]
  std::vector<std::vector<std::string>> columns;  ///< [bins x rows]
  std::vector<double> bars;  ///< [bins] from -1 to 1, in units of the page's longest bar
};

struct card_sheet {
  std::vector<std::string> head;     ///< lines
  std::vector<card_strip> features;  ///< those that move scores furthest first
  std::vector<card_strip> totals;    ///< what a score means; none where the model does not say
  std::vector<std::string> foot;     ///< lines: how the card was fitted
};

/// `of.member` is a scorecard with `options.page`.
card_sheet sheet_of(inspected_member const& of);

/// The strip in as few parts, about equally wide, as fit into `room` each. `width` measures a
/// text; columns are `between` apart.
std::vector<card_strip> parts_of(card_strip const& whole, double room, double between,
                                 std::function<double(std::string_view)> const& width);

/// How bars are drawn: the line of 0, from 0 at the bottom to 1 at the top, and the height of a bar
/// of length 1. All strips have the same scale.
struct bar_scale {
  double zero = 0;
  double unit = 1;
};
bar_scale scale_of(std::span<card_strip const> strips);

/// Adds the page to a text; without `strips` its head and foot alone.
void add_sheet(card_sheet const& of, bool strips, blocks& to);

/// One page that asks for nothing else; it prints on A4.
std::string sheet_html(card_sheet const& of, std::string const& title);
/// A `table` that needs the package booktabs.
std::string sheet_latex(card_sheet const& of, std::string const& title);
/// A4; more than a page where the card does not fit on one.
std::string sheet_pdf(card_sheet const& of, std::string const& title);

}  // namespace rulerank::report
