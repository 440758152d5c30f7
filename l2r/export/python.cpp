#include "l2r/export/additive.hpp"

#include <fmt/format.h>

// One module of Python 3 without dependencies.
namespace rulerank::inline v0::l2r {

namespace {

constexpr char const* python_functions = R"(

def contributions(values):
    """The points of each feature by its name.

    values: the document's values by the features' names. None and NaN are missing values; a feature that is not in
    it is {absent}.
    """
    points = {{}}
    for name, (cuts, of_bins, missing) in FEATURES.items():
        value = values.get(name, {absent_value})
        is_missing = value is None or value != value
        points[name] = missing if is_missing else of_bins[bisect.bisect_right(cuts, value)]
    return points


def score(values):
    """The score of a document: the sum of its contributions."""
    return float(sum(contributions(values).values()))
)";

}  // namespace

std::string write_python(additive_form const& form, export_options const& options) {
  std::string text = head_comment(form, options, "#") +
                     "import bisect\n\nPORTABILITY = " + string_text(form.portability) +
                     "\n"
                     "# Of each feature: cuts, the points of the bins between them, and the points "
                     "of a missing value.\n"
                     "# The bin of a value is the number of cuts <= value.\n"
                     "FEATURES = {\n";
  for (additive_feature const& one : form.features)
    text += fmt::format("    {}: (\n        [{}],\n        [{}],\n        {}),\n",
                        string_text(one.name), numbers_text(one.cuts), numbers_text(one.points),
                        number_text(one.missing));
  bool const missing = form.absent_is_missing;
  return text + "}\n" +
         fmt::format(fmt::runtime(python_functions), fmt::arg("absent", missing ? "missing" : "0"),
                     fmt::arg("absent_value", missing ? "None" : "0"));
}

}  // namespace rulerank::l2r
