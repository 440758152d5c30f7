#include "core/error.hpp"
#include "core/named_values.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/number.hpp"
#include "datasets/item_words.hpp"
#include "l2r/scorecard/scorecard.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

// The text form of a card, for editing.
namespace rulerank::inline v0::l2r {

namespace {

constexpr named_values<card_direction, 4> direction_words{{{"either", card_direction::either},
                                                           {"rising", card_direction::rising},
                                                           {"falling", card_direction::falling},
                                                           {"free", card_direction::free}}};
constexpr int most_given_points = 10000;
constexpr std::string_view blanks = " \t";

/// A word of a line and its column, from 1.
struct line_word {
  std::string_view text;
  std::size_t column = 0;
};

class card_reader {
 public:
  card_reader(std::string_view text, std::string const& name, datasets::feature_names const& names,
              bool with_bins)
      : text_(text), name_(name), names_(names), with_bins_(with_bins) {
    datasets::remove_byte_order_mark(text_);
  }

  std::vector<card_feature> read() {
    while (next_line()) {
      line_word const first = word_from(0);
      if (first.text.empty() || first.text.front() == '#') continue;
      auto const* const direction =
          std::ranges::find(direction_words, first.text, &named_value<card_direction>::name);
      if (direction != direction_words.end())
        read_feature(direction->value, word_end(first));
      else
        read_bin(first);
    }
    if (features_.empty()) throw error({name_, 1, 1}, "found no features, expected one on a line");
    end_feature();
    return std::move(features_);
  }

 private:
  [[noreturn]] void fail(std::size_t column, std::string const& what) const {
    throw error({name_, number_, column}, what);
  }
  bool next_line() {
    if (text_.empty()) return false;
    std::size_t const end = std::min(text_.find('\n'), text_.size());
    line_ = text_.substr(0, end);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++number_;
    return true;
  }
  static std::size_t word_end(line_word const& word) { return word.column - 1 + word.text.size(); }
  line_word word_from(std::size_t at) const {
    std::size_t const begin = std::min(line_.find_first_not_of(blanks, at), line_.size());
    std::size_t const end = std::min(line_.find_first_of(blanks, begin), line_.size());
    return {line_.substr(begin, end - begin), begin + 1};
  }

  void read_feature(card_direction direction, std::size_t at) {
    end_feature();
    line_word feature = word_from(at);
    std::string_view const rest = line_.substr(feature.column - 1);
    feature.text = rest.substr(0, rest.find_last_not_of(blanks) + 1);
    if (feature.text.empty()) fail(feature.column, "found no feature, expected a number or a name");
    std::uint32_t const number = number_of(feature);
    if (std::ranges::find(features_, number, &card_feature::feature) != features_.end())
      fail(feature.column, fmt::format("found {} twice, expected each feature once",
                                       datasets::feature_text(number, names_)));
    features_.push_back({.feature = number, .direction = direction, .line = number_});
    before_.reset();
    has_least_ = has_missing_ = false;
  }

  std::uint32_t number_of(line_word const& feature) const {
    auto const named =
        std::ranges::find_if(names_, [&](auto const& one) { return one.second == feature.text; });
    if (named != names_.end()) return named->first;
    std::uint32_t number = 0;
    char const* const end = feature.text.data() + feature.text.size();
    auto const [stop, status] = std::from_chars(feature.text.data(), end, number);
    if (status != std::errc() || stop != end)
      fail(feature.column,
           fmt::format("found {}, expected {}", quoted(feature.text),
                       names_.empty() ? "a feature's number" : "a feature's name or number"));
    return number;
  }

  static bool is_bin(std::string_view word) {
    double number = 0;
    return word == "least" || word == "missing" ||
           datasets::read_number(word, number) == datasets::number_kind::finite;
  }

  void read_bin(line_word const& least) {
    bool const is_indented = least.column > 1;
    if (features_.empty() || !with_bins_ || (!is_indented && !is_bin(least.text)))
      fail(least.column,
           fmt::format("found {}, expected rising, falling, free or either", quoted(least.text)));
    card_feature& feature = features_.back();
    if (has_missing_)
      fail(least.column, "found a bin after the bin of missing values, expected the next feature");
    read_least(feature, least);
    line_word const points = word_from(word_end(least));
    feature.points.push_back(read_points(points));
    if (line_word const more = word_from(word_end(points)); !more.text.empty())
      fail(more.column, fmt::format("found {} after the points, expected the end of the line",
                                    quoted(more.text)));
    if (feature.points.back() && !has_missing_) expect_direction(feature, points.column);
  }

  void read_least(card_feature& feature, line_word const& least) {
    if (!has_least_ && least.text != "least")
      fail(least.column,
           fmt::format("found {} as the first bin, expected least", quoted(least.text)));
    if (!has_least_) {
      has_least_ = true;
      return;
    }
    if (least.text == "missing") {
      has_missing_ = true;
      return;
    }
    double cut = 0;
    if (datasets::read_number(least.text, cut) != datasets::number_kind::finite)
      fail(least.column, fmt::format("found {}, expected the least value of a bin, or missing",
                                     quoted(least.text)));
    if (!feature.cuts.empty() && cut <= feature.cuts.back())
      fail(least.column, fmt::format("found {} after {}, expected ascending values", least.text,
                                     feature.cuts.back()));
    if (feature.cuts.size() == datasets::most_cuts)
      fail(least.column, fmt::format("found {} bins of values, expected at most {}",
                                     datasets::most_cuts + 2, datasets::most_cuts + 1));
    feature.cuts.push_back(cut);
  }

  std::optional<int> read_points(line_word const& word) const {
    if (word.text == "?") return {};
    if (word.text.empty())
      fail(word.column,
           fmt::format("found no points of this bin, expected whole points from 0 to {}, or ?",
                       most_given_points));
    int points = -1;
    char const* const end = word.text.data() + word.text.size();
    auto const [stop, status] = std::from_chars(word.text.data(), end, points);
    if (status != std::errc() || stop != end || points < 0 || points > most_given_points)
      fail(word.column, fmt::format("found {}, expected whole points from 0 to {}, or ?",
                                    quoted(word.text), most_given_points));
    return points;
  }

  void expect_direction(card_feature& feature, std::size_t column) {
    int const points = *feature.points.back();
    int const before = std::exchange(before_, points).value_or(points);
    if (points == before || feature.direction == card_direction::free) return;
    card_direction const found = points > before ? card_direction::rising : card_direction::falling;
    // The first two different points determine the direction.
    if (feature.direction == card_direction::either) feature.direction = found;
    if (feature.direction != found)
      fail(column,
           fmt::format("found {} points after {} in a feature that is {}, expected {}, or the "
                       "direction free",
                       points, before, name_of(feature.direction),
                       found == card_direction::rising ? "at most as many" : "at least as many"));
  }

  void end_feature() const {
    if (features_.empty() || !has_least_ || !features_.back().cuts.empty()) return;
    throw error(
        {name_, features_.back().line, 1},
        "found one bin, expected two or more, or none to use the bins of the training documents");
  }

  std::string_view text_, line_;  // the unread text, and the last line read
  std::size_t number_ = 0;        // of the last line
  std::string const& name_;
  datasets::feature_names const& names_;
  bool with_bins_;
  std::vector<card_feature> features_;
  std::optional<int> before_;  // the feature's last given points
  bool has_least_ = false, has_missing_ = false;
};

/// The direction of the points over a feature's bins of values.
card_direction direction_in(std::span<std::int64_t const> points) {
  if (std::ranges::is_sorted(points)) return card_direction::rising;
  return std::ranges::is_sorted(points, std::greater<>()) ? card_direction::falling
                                                          : card_direction::free;
}

/// The options that determine how a card reads values, if not the defaults.
std::string reading_options(datasets::discretizer_options const& options) {
  datasets::discretizer_options const usual;
  std::string text;
  if (options.norm != usual.norm)
    text += fmt::format(" --norm {}", datasets::name_of(options.norm));
  if (options.missing != usual.missing)
    text += fmt::format(" --missing-values {}", datasets::name_of(options.missing));
  if (options.unlisted != usual.unlisted)
    text += fmt::format(" --unlisted {}", datasets::name_of(options.unlisted));
  return text;
}

}  // namespace

std::string_view name_of(card_direction direction) {
  return name_in(direction_words, direction);
}

card_direction card_direction_from(std::string_view word) {
  return value_named<card_direction>(direction_words, word, "direction: found");
}

std::vector<card_feature> card_from_text(std::string_view text, std::string const& name,
                                         datasets::feature_names const& names) {
  return card_reader(text, name, names, true).read();
}

std::vector<card_feature> card_directions_from_text(std::string_view text, std::string const& name,
                                                    datasets::feature_names const& names) {
  return card_reader(text, name, names, false).read();
}

std::string to_text(scorecard const& card, datasets::discretizer const& cuts,
                    datasets::feature_names const& names) {
  std::string text =
      "# A feature: rising, falling, free or either (as the labels say), and its number or name.\n"
      "# A bin: its least value and its points; ? fits them to the labels.\n"
      "# To fit again: rulerank fit --train TRAIN --card FILE --model MODEL";
  text += reading_options(cuts.options) + "\n";
  for (std::size_t f = 0; f < card.features.size(); ++f) {
    auto const& own =
        std::ranges::find(cuts.features, card.features[f], &datasets::feature_cuts::feature)->cuts;
    auto const points =
        std::span(card.points)
            .subspan(card.item_begin[f], card.item_begin[f + 1] - card.item_begin[f]);
    auto const name = cuts.names.find(card.features[f]), comment = names.find(card.features[f]);
    bool const is_numbered = name == cuts.names.end();
    if (is_numbered && comment != names.end()) text += fmt::format("\n# {}", comment->second);
    text += fmt::format("\n{} {}\n", name_of(direction_in(points.first(own.size() + 1))),
                        is_numbered ? fmt::format("{}", card.features[f]) : name->second);
    for (std::size_t b = 0; b < points.size(); ++b)
      text += fmt::format("  {:<20} {}\n",
                          b == 0            ? "least"
                          : b <= own.size() ? fmt::format("{}", own[b - 1])
                                            : "missing",
                          std::llround(value_of_points(points[b])));
  }
  return text;
}

}  // namespace rulerank::l2r
