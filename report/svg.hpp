#pragma once

#include "report/document.hpp"

#include <string>

namespace rulerank::report {

/// Whether there is anything to draw.
bool has_points(chart const& of);
/// An `svg` element. Colours are classes: of the page's style sheet, or `with_style` of its own.
std::string drawn(chart const& of, bool with_style);

}  // namespace rulerank::report
