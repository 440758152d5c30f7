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
  // A class for each feature: Java limits the code and the constants of a class.
  std::string names, cuts, points, classes;
  std::vector<double> missing;
  for (std::size_t f = 0; f < form.features.size(); ++f) {
    additive_feature const& one = form.features[f];
    std::string const own = fmt::format("{}Feature{}", options.name, f);
    names += fmt::format("    {},\n", string_text(one.name, true));
    cuts += fmt::format("    {}.CUTS,\n", own);
    points += fmt::format("    {}.POINTS,\n", own);
    missing.push_back(one.missing);
    classes += fmt::format(
        "\n  private static final class {} {{\n"
        "    static final double[] CUTS = {{{}}};\n"
        "    static final double[] POINTS = {{{}}};\n  }}\n",
        own, numbers_text(one.cuts), numbers_text(one.points));
  }
  return head_comment(form, options, "//", true) +
         fmt::format(
             "public final class {} {{\n"
             "  public static final String PORTABILITY = {};\n"
             "  public static final String[] FEATURES = {{\n{}  }};\n"
             "  // The bin of a value is the number of cuts <= value.\n"
             "  private static final double[][] CUTS = {{\n{}  }};\n"
             "  private static final double[][] POINTS = {{ // of the bins\n{}  }};\n"
             "  private static final double[] MISSING = {{{}}};\n{}",
             options.name, string_text(form.portability, true), names, cuts, points,
             numbers_text(missing), classes) +
         fmt::format(fmt::runtime(java_functions), fmt::arg("name", options.name),
                     fmt::arg("absent", form.absent_is_missing ? "Double.NaN" : "0"));
}

}  // namespace rulerank::l2r
