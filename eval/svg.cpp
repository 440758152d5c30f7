#include "eval/svg.hpp"

#include "core/json_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::eval {

namespace {

/// The smallest 1, 2 or 5 times a power of ten that is at least `least`.
double round_step(double least) {
  double const decade = std::pow(10, std::floor(std::log10(least)));
  for (int const n : {1, 2, 5})
    if (n * decade >= least * (1 - 1e-12)) return n * decade;
  return 10 * decade;
}

}  // namespace

void value_range::take(double x) {
  low = std::min(low, x);
  high = std::max(high, x);
}

plot_scale::plot_scale(value_range of, bool logarithmic, double from, double to)
    : logarithmic_(logarithmic),
      // Differences of larger values overflow.
      unit_(!logarithmic && std::max(std::abs(of.low), std::abs(of.high)) > 1e300 ? 0x1p-30 : 1),
      low_(logarithmic ? std::log10(of.low) : of.low * unit_),
      high_(logarithmic ? std::log10(of.high) : of.high * unit_),
      from_(from),
      to_(to) {}

plot_scale plot_scale::with_margins(value_range of, bool logarithmic, double from, double to) {
  plot_scale made(of, logarithmic, from, to);
  double const room = 0.05 * (made.high_ - made.low_);
  made.low_ -= room;
  made.high_ += room;
  if (made.high_ - made.low_ < 1e-9 * std::max(1.0, std::abs(made.high_))) {
    double const half = logarithmic ? 0.5 : std::max(0.5 * std::abs(made.high_), 1e-3);
    made.low_ -= half;
    made.high_ += half;
  }
  return made;
}

double plot_scale::at(double x) const {
  double const value = logarithmic_ ? std::log10(x) : x * unit_;
  return from_ + (to_ - from_) * (value - low_) / (high_ - low_);
}

std::vector<double> plot_scale::ticks() const {
  std::vector<double> found;
  auto const add = [&](double x) {
    if (std::isfinite(x) && (!logarithmic_ || x > 0)) found.push_back(x);
  };
  if (logarithmic_) {
    bool const few = high_ - low_ > 2.5;
    for (int decade = static_cast<int>(std::floor(low_)); decade <= high_; ++decade)
      for (int const n : {1, 2, 5})
        if (double const x = std::log10(n) + decade;
            (n == 1 || !few) && x >= low_ - 1e-9 && x <= high_ + 1e-9)
          add(n * std::pow(10, decade));
    if (found.size() > 1) return found;
    found.clear();  // less than about a factor of 2: treat as linear
  }
  double const low = logarithmic_ ? std::pow(10, low_) : low_;
  double const high = logarithmic_ ? std::pow(10, high_) : high_;
  double const step = round_step((high - low) / 5);
  auto const last = static_cast<long long>(std::floor(high / step));
  for (auto i = static_cast<long long>(std::ceil(low / step)); i <= last; ++i)
    add(static_cast<double>(i) * step / unit_);
  return found;
}

std::string clean_text(std::string_view text) {
  using json = nlohmann::json;
  bool plain = true;
  for (char const c : text) plain = plain && static_cast<unsigned char>(c) < 0x80;
  std::string valid(text);
  if (!plain)
    valid = parse_json(json_line_of(json(valid)), "a text", "a string").get<std::string>();
  std::string result;
  for (char const c : valid) {
    auto const byte = static_cast<unsigned char>(c);
    bool const control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    result += control ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  }
  return result;
}

std::string escape_xml(std::string_view text) {
  std::string result;
  for (char const c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  return result;
}

std::string clean_xml(std::string_view text) {
  return escape_xml(clean_text(text));
}

std::string text_element(double x, double y, std::string_view words, std::string_view anchor,
                         std::string_view attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor,
                     attributes, escape_xml(words));
}

std::string stretched_picture(int width, int height, std::string_view shapes) {
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{}</svg>",
      width, height, shapes);
}

}  // namespace rulerank::eval
