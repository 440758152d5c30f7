#pragma once

#include "report/models.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A card (l2r::card_page) as one printed page: its description, a strip of bins per feature, and
// the meaning of scores. All output forms use the same strips.
namespace rulerank::inline v0::report {

/// Bins from left to right; each is a column of texts below a bar.
struct card_strip {
  std::string title;
  std::string about;
  std::vector<std::string> labels;                ///< [rows]
  std::vector<std::vector<std::string>> columns;  ///< [bins x rows]
  std::vector<double> bars;  ///< [bins] from -1 to 1, in units of the page's longest bar
};

struct card_sheet {
  std::vector<std::string> head;     ///< lines
  std::vector<card_strip> features;  ///< by decreasing effect on scores
  std::vector<card_strip> totals;    ///< meaning of scores; empty if the model does not store it
  std::vector<std::string> foot;     ///< lines on how the card was fitted
};

/// Requires that `of.member` is a scorecard with `options.page`.
card_sheet sheet_of(inspected_member const& of);

/// Splits a strip into as few parts of about equal width as fit `room`. `width` measures a text;
/// columns are `between` apart.
std::vector<card_strip> parts_of(card_strip const& whole, double room, double between,
                                 std::function<double(std::string_view)> const& width);

/// How bars are drawn: the height of the zero line, from 0 at the bottom to 1 at the top, and the
/// height of a bar of length 1. All strips share one scale.
struct bar_scale {
  double zero = 0;
  double unit = 1;
};
bar_scale scale_of(std::span<card_strip const> strips);

/// Appends the page to `to`; without `strips`, only its head and foot.
void add_sheet(card_sheet const& of, bool strips, blocks& to);

/// A self-contained HTML page that prints on A4.
std::string sheet_html(card_sheet const& of, std::string const& title);
/// A LaTeX `table`; needs the package booktabs.
std::string sheet_latex(card_sheet const& of, std::string const& title);
/// PDF on A4; more than one page if the card does not fit.
std::string sheet_pdf(card_sheet const& of, std::string const& title);

}  // namespace rulerank::report
