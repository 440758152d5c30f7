#include "l2r/export/additive.hpp"

#include <fmt/format.h>

// One class of Java 8 without dependencies.
namespace rulerank::inline v0::l2r {

namespace {

constexpr char const* java_functions = R"(
  private {name}() {{}}

  /**
   * The points of each feature, in the order of FEATURES, and of `values`. A missing value is
   * Double.NaN; the value of a feature that the document does not list is {absent}.
   */
  public static double[] contributions(double[] values) {{
    if (values.length != FEATURES.length)
      throw new IllegalArgumentException(
          "found " + values.length + " values, expected " + FEATURES.length);
    double[] result = new double[FEATURES.length];
    for (int f = 0; f < FEATURES.length; ++f) {{
      int bin = 0;
      while (bin < CUTS[f].length && values[f] >= CUTS[f][bin]) ++bin;
      result[f] = Double.isNaN(values[f]) ? MISSING[f] : POINTS[f][bin];
    }}
    return result;
  }}

  /** The score of a document: the sum of its contributions. */
  public static double score(double[] values) {{
    double sum = 0;
    for (double points : contributions(values)) sum += points;
    return sum;
  }}
}}
)";

}  // namespace

std::string write_java(additive_form const& form, export_options const& options) {
  std::string names, cuts, points;
  std::vector<double> missing;
  for (additive_feature const& one : form.features) {
    names += fmt::format("    {},\n", string_text(one.name, true));
    cuts += fmt::format("    {{{}}},\n", numbers_text(one.cuts));
    points += fmt::format("    {{{}}},\n", numbers_text(one.points));
    missing.push_back(one.missing);
  }
  return head_comment(form, options, "//") +
         fmt::format(
             "public final class {} {{\n"
             "  public static final String[] FEATURES = {{\n{}  }};\n"
             "  // The bin of a value is the number of cuts <= value.\n"
             "  private static final double[][] CUTS = {{\n{}  }};\n"
             "  private static final double[][] POINTS = {{ // of the bins\n{}  }};\n"
             "  private static final double[] MISSING = {{{}}};\n",
             options.name, names, cuts, points, numbers_text(missing)) +
         fmt::format(fmt::runtime(java_functions), fmt::arg("name", options.name),
                     fmt::arg("absent", form.absent_is_missing ? "Double.NaN" : "0"));
}

}  // namespace rulerank::l2r
