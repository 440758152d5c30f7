#include "l2r/export/additive.hpp"

#include <fmt/format.h>

// One header of C99, which C++ compiles, too.
namespace rulerank::inline v0::l2r {

namespace {

std::string c_string(std::string_view text) {
  std::string quoted = "\"";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?')  // ?: no trigraphs
      quoted += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\{:03o}", byte);
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

constexpr char const* c_functions = R"(
/* The score of a document: values[{upper}_FEATURES] in the order of {name}_features.
   A missing value is NAN; the value of a feature that the document does not list is {absent}.
   contributions[{upper}_FEATURES] gets the points of each feature; it may be NULL.
   Needs a compiler that keeps NAN: no -ffast-math. */
static inline double {name}_score(const double *values, double *contributions) {{
  double score = 0;
  size_t f;
  for (f = 0; f < {upper}_FEATURES; ++f) {{
    const struct {name}_feature *const feature = &{name}_features[f];
    double points = feature->missing;
    if (values[f] == values[f]) {{
      size_t bin = 0, cut;
      for (cut = 0; cut < feature->cut_count; ++cut) bin += values[f] >= feature->cuts[cut] ? 1 : 0;
      points = feature->points[bin];
    }}
    if (contributions) contributions[f] = points;
    score += points;
  }}
  return score;
}}

#endif
)";

}  // namespace

std::string write_c(additive_form const& form, export_options const& options) {
  std::string const& name = options.name;
  std::string const large = upper(name);
  std::string text = "/*\n" + head_comment(form, options, " *") + " */\n";
  text += fmt::format(
      "#ifndef {0}_H\n#define {0}_H\n#include <stddef.h>\n\n#define {0}_FEATURES {1}\n"
      "#define {0}_PORTABILITY {2}\n\n",
      large, form.features.size(), c_string(form.portability));
  std::string table;
  for (std::size_t f = 0; f < form.features.size(); ++f) {
    additive_feature const& one = form.features[f];
    text += fmt::format(
        "static const double {0}_cuts_{1}[] = {{{2}}};\n"
        "static const double {0}_points_{1}[] = {{{3}}};\n",
        name, f, numbers_text(one.cuts), numbers_text(one.points));
    table += fmt::format("  {{{0}, {1}, {2}_cuts_{3}, {2}_points_{3}, {4}}},\n", c_string(one.name),
                         one.cuts.size(), name, f, number_text(one.missing));
  }
  text += fmt::format(
      "\n/* The points of a value: those of the bin that begins at the last cut <= value. */\n"
      "struct {0}_feature {{\n  const char *name;\n  size_t cut_count;\n  const double *cuts;\n"
      "  const double *points; /* [cut_count + 1] */\n  double missing;\n}};\n"
      "static const struct {0}_feature {0}_features[{1}_FEATURES] = {{\n{2}}};\n",
      name, large, table);
  return text + fmt::format(fmt::runtime(c_functions), fmt::arg("upper", large),
                            fmt::arg("name", name),
                            fmt::arg("absent", form.absent_is_missing ? "NAN" : "0"));
}

}  // namespace rulerank::l2r
