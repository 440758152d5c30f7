#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

// The parts of pictures: scales of axes, and text of SVG.
namespace rulerank::inline v0::eval {

/// The least and the largest of the values taken.
struct value_range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double x);
};

/// Where values lie on a side of a plot: the least at `from`, the largest at `to`, in its units.
class plot_scale {
 public:
  plot_scale(value_range of, bool logarithmic, double from, double to);
  /// With a twentieth of the range left free on each side, or more where the range is next to
  /// nothing.
  static plot_scale with_margins(value_range of, bool logarithmic, double from, double to);

  double at(double x) const;
  /// Round values within the range: about 5, or of a logarithmic scale 1, 2 and 5 of each power of
  /// ten, 1 alone where these are many.
  std::vector<double> ticks() const;

 private:
  bool logarithmic_;
  double unit_;  // by which values are multiplied
  double low_, high_, from_, to_;
};

/// Valid UTF-8 without control characters but line feeds and tabs; each other byte or character of
/// these is U+FFFD.
std::string clean_text(std::string_view text);
/// Escapes text, and quoted attributes, of XML and HTML.
std::string escape_xml(std::string_view text);
/// Cleans text and escapes it.
std::string clean_xml(std::string_view text);
/// A text element; `words` is escaped, `attributes` begin with a blank.
std::string text_element(double x, double y, std::string_view words, std::string_view anchor,
                         std::string_view attributes = {});
/// A picture of these shapes that is stretched to the box it is in; readers of pages pass over it.
std::string stretched_picture(int width, int height, std::string_view shapes);

}  // namespace rulerank::eval
