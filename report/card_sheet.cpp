#include "report/card_sheet.hpp"

#include "core/error.hpp"
#include "report/escape.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

// The page of a card: its contents, and its forms as text, Markdown and LaTeX.
namespace rulerank::inline v0::report {

namespace {

/// A feature's strip and its sort keys.
struct sheet_feature {
  card_strip strip;
  double moved = -1;  ///< -1: not stored in the model file
  double least = 0, most = 0;
};

/// Whole percent; `<1` below one half.
std::string percent_text(double part, double whole) {
  double const percent = 100 * part / whole;
  return percent > 0 && percent < 0.5 ? "<1" : fmt::format("{:.0f}", percent);
}

/// A bin's least value with all its digits, because values are compared with it.
std::string from_text(datasets::item_range const& range) {
  if (range.missing) return "missing";
  return std::isfinite(range.low) ? fmt::format("{}", range.low) : "lowest";
}

sheet_feature feature_of(l2r::scorecard_member const& member, inspected_member const& of,
                         std::size_t f) {
  l2r::scorecard const& card = member.card;
  sheet_feature made;
  bool const counts = !of.card.features.empty();
  made.strip.labels = {"from", "points"};
  if (!of.intervals.empty()) made.strip.labels.emplace_back("90 %");
  if (counts) {
    made.strip.labels.emplace_back("% docs");
    made.moved =
        std::ranges::find(of.card.features, card.features[f], &l2r::feature_part::feature)->moved;
  }
  double least = 0, most = 0;
  for (rules::item x = card.item_begin[f]; x < card.item_begin[f + 1]; ++x) {
    double const points = l2r::value_of_points(card.points[x]);
    bool const is_first = x == card.item_begin[f];
    least = is_first ? points : std::min(least, points);
    most = is_first ? points : std::max(most, points);
    // The head states that these have 0 points.
    if (of.words.ranges[x].missing && points == 0 && counts && member.item_documents[x] == 0)
      continue;
    std::vector<std::string>& column = made.strip.columns.emplace_back();
    column = {from_text(of.words.ranges[x]), fmt::format("{}", points)};
    if (!of.intervals.empty()) {
      auto const& [low, high] = of.intervals[x];
      column.push_back(low == high ? fmt::format("{}", low) : fmt::format("{}-{}", low, high));
    }
    if (counts) column.push_back(percent_text(member.item_documents[x], member.training_documents));
    made.strip.bars.push_back(points);
  }
  made.least = least;
  made.most = most;
  l2r::feature_description const& description =
      description_of(card.features[f], of.words.descriptions);
  made.strip.title = datasets::feature_text(card.features[f], of.words.names);
  if (!description.unit.empty()) made.strip.title += fmt::format(" ({})", description.unit);
  made.strip.about = fmt::format("{} to {} points", least, most);
  if (counts) made.strip.about += fmt::format(", moves scores by {:.1f}", made.moved);
  if (!description.origin.empty()) made.strip.about += "; origin: " + description.origin;
  return made;
}

/// The ranges of scores, ascending.
card_strip totals_of(l2r::scorecard_member const& member) {
  std::uint64_t below = 0, all = 0;
  double largest = 0;
  for (l2r::card_total const& one : member.totals) {
    all += one.documents;
    largest = std::max(largest, one.mean_label);
  }
  card_strip made{fmt::format("What a score means, over {}", counted(all, "labelled document")),
                  {},
                  {"score", "% below", "documents", "mean label"},
                  {},
                  {}};
  for (std::size_t i = 0; i < member.totals.size(); ++i) {
    l2r::card_total const& one = member.totals[i];
    bool const is_last = i + 1 == member.totals.size();
    std::int64_t const to = is_last ? 0 : member.totals[i + 1].from;
    std::string const range = is_last              ? fmt::format("{}+", one.from)
                              : i == 0             ? fmt::format("<{}", to)
                              : to - one.from == 1 ? fmt::format("{}", one.from)
                                                   : fmt::format("{}-{}", one.from, to - 1);
    made.columns.push_back(
        {range, percent_text(static_cast<double>(below), static_cast<double>(all)),
         fmt::format("{}", one.documents), fmt::format("{:.2f}", one.mean_label)});
    made.bars.push_back(largest > 0 ? one.mean_label / largest : 0);
    below += one.documents;
  }
  return made;
}

std::string missing_text(datasets::missing_values how, bool is_left_out) {
  if (how == datasets::missing_values::zero) return "A missing value counts as 0.";
  return is_left_out || how == datasets::missing_values::none
             ? "A missing value has 0 points where no bin \"missing\" is listed."
             : "";
}

/// How the card's size was chosen.
std::string sizes_text(l2r::scorecard_member const& member) {
  bool const squares = member.frontier_loss == l2r::card_loss::point;
  std::string text;
  for (l2r::card_trial const& one : member.frontier)
    text += fmt::format("{}{:.4f} with {}", text.empty() ? "" : ", ",
                        squares ? -one.quality : one.quality, one.features);
  return fmt::format("Sizes by cross-fitting over {} folds: {} {} features.",
                     member.cross_fitted_folds, squares ? "squared error" : "NDCG", text);
}

std::vector<std::string> foot_of(l2r::scorecard_member const& member) {
  datasets::discretizer_options const& cuts = member.cuts->options;
  std::vector<std::string> lines;
  bool const graded = member.options.page->target == l2r::card_target::members;
  if (graded)
    lines.push_back(fmt::format(
        "Points fitted to the grades that the recommended members give {}.",
        counted(member.training_documents, "document of the pool", "documents of the pool")));
  lines.push_back(fmt::format(
      "Loss {}, smoothness {}{}, points penalty {}; cuts {}, {}.", name_of(member.options.loss),
      member.options.smoothness, member.frontier.empty() || graded ? "" : " by cross-fitting",
      member.options.points_penalty, name_of(cuts.method),
      cuts.bins == 0 ? "bins by cross-validation" : fmt::format("at most {} bins", cuts.bins)));
  if (member.frontier.size() > 1) lines.push_back(sizes_text(member));
  return lines;
}

/// One block character per bin, by height.
std::string blocks_of(std::vector<double> const& bars) {
  double const least = std::min(0.0, *std::ranges::min_element(bars));
  double const most = std::max(0.0, *std::ranges::max_element(bars));
  std::string text;
  for (double const bar : bars) {
    double const height = most > least ? (bar - least) / (most - least) : 0;
    text += "\xe2\x96";
    text += static_cast<char>(0x81 + std::lround(7 * height));  // U+2581 to U+2588
  }
  return text;
}

eval::table table_of(card_strip const& strip, std::string title) {
  eval::table t{std::move(title), {{strip.labels.front()}}, {}};
  for (auto const& column : strip.columns) t.columns.push_back({column.front(), fixed});
  for (std::size_t r = 1; r < strip.labels.size(); ++r) {
    std::vector<eval::cell>& row = t.rows.emplace_back();
    row.emplace_back(strip.labels[r]);
    for (auto const& column : strip.columns) row.emplace_back(column[r]);
  }
  return t;
}

/// A row of bars on a line, negative ones below it.
std::string bars_in_latex(std::vector<double> const& bars) {
  constexpr double longest = 10;  // points
  std::string row;
  for (double const bar : bars)
    row += fmt::format(" & \\rule[{:.1f}pt]{{8pt}}{{{:.1f}pt}}", longest * std::min(bar, 0.0),
                       longest * std::abs(bar));
  return row + " \\\\\n";
}

void add_strip(card_strip const& strip, std::string title, blocks& to) {
  constexpr double terminal = 100;
  auto const width = [](std::string_view text) { return static_cast<double>(text.size()); };
  for (card_strip const& part : parts_of(strip, terminal, 2, width))
    to.push_back({table_of(part, std::exchange(title, {}))});
}

}  // namespace

card_sheet sheet_of(inspected_member const& of) {
  auto const& member = std::get<l2r::scorecard_member>(of.member);
  l2r::scorecard const& card = member.card;
  std::vector<sheet_feature> features;
  double least = 0, most = 0, longest = 0;
  std::size_t bins = 0;
  for (std::size_t f = 0; f < card.features.size(); ++f) {
    sheet_feature const& one = features.emplace_back(feature_of(member, of, f));
    least += one.least;
    most += one.most;
    longest = std::max({longest, std::abs(one.least), std::abs(one.most)});
    bins += one.strip.columns.size();
  }
  std::ranges::stable_sort(features, std::greater<>{}, [](sheet_feature const& one) {
    return one.moved >= 0 ? one.moved : one.most - one.least;
  });
  card_sheet made;
  for (sheet_feature& one : features) {
    for (double& bar : one.strip.bars) bar = longest > 0 ? bar / longest : 0;
    one.strip.title = fmt::format("{}. {}", made.features.size() + 1, one.strip.title);
    made.features.push_back(std::move(one.strip));
  }
  made.head.push_back(fmt::format(
      "{} in {}{}.", counted(card.features.size(), "feature"), counted(bins, "bin"),
      member.training_documents == 0
          ? ""
          : fmt::format(", fitted to {}", counted(member.training_documents, "document"))));
  made.head.push_back(fmt::format(
      "A score is the sum of a document's points, {} to {}; the largest score ranks first.", least,
      most));
  made.head.emplace_back(
      "Each feature gives the points of one bin: the last one whose \"from\" the value reaches.");
  if (member.cuts->options.norm != datasets::normalization::none)
    made.head.push_back(fmt::format("Values are normalized within their query ({}).",
                                    name_of(member.cuts->options.norm)));
  if (std::string const missing =
          missing_text(member.cuts->options.missing, bins < card.points.size());
      !missing.empty())
    made.head.push_back(missing);
  if (!of.intervals.empty())
    made.head.emplace_back(
        "90 %: the points that nine of ten fits to other samples of the training queries have.");
  if (!member.totals.empty()) made.totals.push_back(totals_of(member));
  made.foot = foot_of(member);
  return made;
}

std::vector<card_strip> parts_of(card_strip const& whole, double room, double between,
                                 std::function<double(std::string_view)> const& width) {
  double labels = 0;
  for (std::string const& label : whole.labels) labels = std::max(labels, width(label));
  std::vector<double> widths;
  double all = labels;
  for (auto const& column : whole.columns) {
    double& own = widths.emplace_back(0);
    for (std::string const& text : column) own = std::max(own, width(text));
    all += between + own;
  }
  std::size_t const bins = whole.columns.size();
  if (all <= room || bins == 0) return {whole};
  // The first bin of each part if parts are at most this wide.
  auto const begins_of = [&](double most) {
    std::vector<std::size_t> begins;
    double used = most;
    for (std::size_t b = 0; b < bins; ++b) {
      if (begins.empty() || used + between + widths[b] > most) {
        begins.push_back(b);
        used = labels;
      }
      used += between + widths[b];
    }
    return begins;
  };
  std::size_t const count = begins_of(room).size();
  double even = labels + (all - labels) / static_cast<double>(count);
  while (even < room && begins_of(even).size() > count) ++even;
  std::vector<std::size_t> begins = begins_of(std::min(even, room));
  begins.push_back(bins);
  std::vector<card_strip> parts;
  for (std::size_t p = 0; p < count; ++p) {
    auto const begin = static_cast<std::ptrdiff_t>(begins[p]);
    auto const end = static_cast<std::ptrdiff_t>(begins[p + 1]);
    parts.push_back({whole.title,
                     whole.about,
                     whole.labels,
                     {whole.columns.begin() + begin, whole.columns.begin() + end},
                     {whole.bars.begin() + begin, whole.bars.begin() + end}});
  }
  return parts;
}

bar_scale scale_of(std::span<card_strip const> strips) {
  double least = 0, most = 0;
  for (card_strip const& one : strips)
    for (double const bar : one.bars) {
      least = std::min(least, bar);
      most = std::max(most, bar);
    }
  return most > least ? bar_scale{-least / (most - least), 1 / (most - least)} : bar_scale{};
}

void add_sheet(card_sheet const& of, bool strips, blocks& to) {
  auto const add_lines = [&](std::vector<std::string> const& lines) {
    for (std::string const& line : lines) to.push_back({paragraph{line}});
  };
  add_lines(of.head);
  if (strips) {
    for (card_strip const& one : of.features)
      add_strip(one, fmt::format("{}  {}  {}", one.title, blocks_of(one.bars), one.about), to);
    for (card_strip const& one : of.totals) add_strip(one, one.title + ":", to);
  }
  add_lines(of.foot);
}

std::string sheet_latex(card_sheet const& of, std::string const& title) {
  auto const text = [](std::string const& plain) {
    return escaped(clean(plain), eval::table_format::latex);
  };
  // A \footnotesize column on A4; each part is limited by the widest strip of the page.
  constexpr double room = 105;
  auto const width = [](std::string_view shown) { return static_cast<double>(shown.size()); };
  std::vector<std::vector<card_strip>> strips;
  std::size_t most = 0;
  for (std::vector<card_strip> const* const some : {&of.features, &of.totals})
    for (card_strip const& one : *some) {
      strips.push_back(parts_of(one, room, 2, width));
      for (card_strip const& part : strips.back()) most = std::max(most, part.columns.size());
    }
  std::string made = fmt::format(
      "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\\footnotesize\n"
      "\\setlength{{\\tabcolsep}}{{3pt}}\n\\caption{{{}. {}}}\n\\begin{{tabular}}{{l{}}}\n",
      text(title), text(fmt::format("{}", fmt::join(of.head, " "))), std::string(most, 'r'));
  for (std::size_t s = 0; s < strips.size(); ++s) {
    card_strip const& first = strips[s].front();
    made += fmt::format("{}\n\\multicolumn{{{}}}{{l}}{{\\textbf{{{}}}{}}} \\\\\n",
                        s == 0 ? "\\toprule" : "\\midrule", most + 1, text(first.title),
                        first.about.empty() ? "" : " (" + text(first.about) + ")");
    for (card_strip const& part : strips[s]) {
      made += bars_in_latex(part.bars);
      for (std::size_t r = 0; r < part.labels.size(); ++r) {
        made += text(part.labels[r]);
        for (auto const& column : part.columns) made += " & " + text(column[r]);
        made += " \\\\\n";
      }
    }
  }
  return made + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

}  // namespace rulerank::report
