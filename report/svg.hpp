#pragma once

#include "report/document.hpp"

#include <string>

namespace rulerank::inline v0::report {

/// Whether there is anything to draw.
bool has_points(chart const& of);
/// A chart's elements in a page. Their colours are classes of its style sheet. What lines mean and
/// the names of bars are lists that the browser wraps: it alone knows how wide letters are.
std::string drawn(chart const& of);
/// The same as one picture that stands alone, with a style of its own.
std::string drawn_alone(chart const& of);

}  // namespace rulerank::report
