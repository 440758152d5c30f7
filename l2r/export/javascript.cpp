#include "l2r/export/additive.hpp"

#include <fmt/format.h>

// One ECMAScript module without dependencies.
namespace rulerank::inline v0::l2r {

namespace {

constexpr char const* javascript_functions = R"(
// The points of each feature by its name. `values` has the document's values by the features' names.
// null and NaN are missing values; a feature that is not in it, or undefined, is {absent}.
export function contributions(values) {{
  const result = new Map();
  for (const {{ name, cuts, points, missing }} of features) {{
    let value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) value = {absent_value};
    const isMissing = value === null || Number.isNaN(value);
    let bin = 0;
    while (bin < cuts.length && value >= cuts[bin]) ++bin;
    result.set(name, isMissing ? missing : points[bin]);
  }}
  return result;
}}

// The score of a document: the sum of its contributions.
export function score(values) {{
  let sum = 0;
  for (const points of contributions(values).values()) sum += points;
  return sum;
}}
)";

}  // namespace

std::string write_javascript(additive_form const& form, export_options const& options) {
  std::string text = head_comment(form, options, "//") +
                     "\nexport const portability = " + string_text(form.portability) +
                     ";\n// The bin of a value is the number of cuts <= value; points are those of "
                     "the bins.\nexport const features = [\n";
  for (additive_feature const& one : form.features)
    text += fmt::format(
        "  {{\n    name: {},\n    cuts: [{}],\n    points: [{}],\n    missing: {},\n  }},\n",
        string_text(one.name), numbers_text(one.cuts), numbers_text(one.points),
        number_text(one.missing));
  bool const missing = form.absent_is_missing;
  return text + "];\n" +
         fmt::format(fmt::runtime(javascript_functions),
                     fmt::arg("absent", missing ? "missing" : "0"),
                     fmt::arg("absent_value", missing ? "null" : "0"));
}

}  // namespace rulerank::l2r
