#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

// Building blocks of figures: axis scales, and SVG text.
namespace rulerank::inline v0::eval {

/// The range of the values taken.
struct value_range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double x);
};

/// Maps values to a side of a plot: the least to `from`, the largest to `to`, in the plot's units.
class plot_scale {
 public:
  plot_scale(value_range of, bool logarithmic, double from, double to);
  /// Leaves a twentieth of the range free on each side, or more if the range is nearly empty.
  static plot_scale with_margins(value_range of, bool logarithmic, double from, double to);

  double at(double x) const;
  /// Round values within the range: about 5; on a logarithmic scale 1, 2 and 5 times each power of
  /// ten, or only the powers if there are many.
  std::vector<double> ticks() const;

 private:
  bool logarithmic_;
  double unit_;  // factor applied to values
  double low_, high_, from_, to_;
};

/// Valid UTF-8 without control characters other than line feeds and tabs; each invalid byte or
/// character becomes U+FFFD.
std::string clean_text(std::string_view text);
/// Escapes text and quoted attributes for XML and HTML.
std::string escape_xml(std::string_view text);
/// Applies clean_text and escape_xml.
std::string clean_xml(std::string_view text);
/// A text element; `words` is escaped, `attributes` begins with a blank.
std::string text_element(double x, double y, std::string_view words, std::string_view anchor,
                         std::string_view attributes = {});
/// A figure of these shapes, stretched to its box; hidden from screen readers.
std::string stretched_picture(int width, int height, std::string_view shapes);

}  // namespace rulerank::eval
