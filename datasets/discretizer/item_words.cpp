#include "datasets/item_words.hpp"

#include "core/error.hpp"
#include "datasets/delimited/label_cells.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/names.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

feature_names read_feature_names(context const& ctx, std::string const& path) {
  constexpr std::string_view blanks = " \t";
  std::string const name = display_name(path);
  line_stream lines(text_stream::open(ctx, path));
  feature_names names;
  std::unordered_map<std::string, std::uint32_t> feature_of;  // by name
  while (lines.next()) {
    std::string_view const line = lines.line();
    std::size_t const begin = line.find_first_not_of(blanks);
    if (begin == line.npos || line[begin] == '#') continue;
    if (std::size_t const at = inner_return(line); at != line.npos)
      throw error({name, lines.number(), at + 1}, inner_return_fault);
    std::size_t const end = std::min(line.find_first_of(blanks, begin), line.size());
    std::string_view const number = line.substr(begin, end - begin);
    std::uint32_t feature = 0;
    auto const [stop, status] =
        std::from_chars(number.data(), number.data() + number.size(), feature);
    if (status != std::errc() || stop != number.data() + number.size())
      throw error({name, lines.number(), begin + 1},
                  fmt::format("found {}, expected a feature's number and its name",
                              rulerank::quoted(number)));
    std::size_t const first = line.find_first_not_of(blanks, end);
    if (first == line.npos)
      throw error({name, lines.number(), end + 1},
                  fmt::format("found nothing after feature {}, expected its name", feature));
    std::size_t const last = line.find_last_not_of(blanks);
    std::string const title = without_quotes(line.substr(first, last + 1 - first));
    if (std::size_t const tab = title.find('\t'); tab != title.npos)
      throw error({name, lines.number(), first + tab + 1},
                  "found a third column, expected a feature's number and its name (cut -f1,2)");
    std::string const shown = has_control_characters(title) ? printable(title) : title;
    if (auto const same = feature_of.try_emplace(shown, feature).first; same->second != feature)
      throw error({name, lines.number(), first + 1},
                  fmt::format("found the name {} of feature {} again, expected each name once",
                              rulerank::quoted(title), same->second));
    if (!names.try_emplace(feature, shown).second)
      throw error({name, lines.number(), begin + 1},
                  fmt::format("found feature {} twice, expected each feature once", feature));
  }
  if (names.empty())
    throw error({name, 1, 1},
                "found no features, expected lines with a feature's number and its name");
  return names;
}

std::vector<item_range> item_ranges(binned_dataset const& data, discretizer const& fitted) {
  bool const whole =
      fitted.options.method == binning::capped || fitted.options.norm == normalization::none;
  std::vector<item_range> ranges;
  for (std::size_t f = 0; f < data.feature_count(); ++f) {
    std::uint32_t const feature = data.features[f];
    auto const of = std::find_if(fitted.features.begin(), fitted.features.end(),
                                 [&](feature_cuts const& c) { return c.feature == feature; });
    std::size_t const bins = data.bins(f) - (data.has_missing_item[f] ? 1 : 0);
    if (of == fitted.features.end() || of->cuts.size() + 1 != bins)
      throw usage_error(fmt::format("feature {} has {}, but not the cuts between them", feature,
                                    counted(bins, "bin")));
    for (std::size_t b = 0; b < bins; ++b) {
      item_range range{.feature = feature, .whole = whole};
      if (b > 0) range.low = of->cuts[b - 1];
      if (b < of->cuts.size()) range.high = of->cuts[b];
      ranges.push_back(range);
    }
    if (data.has_missing_item[f]) ranges.push_back({.feature = feature, .missing = true});
  }
  return ranges;
}

std::string words_of(item_range const& range, feature_names const& names) {
  std::string const name = feature_text(range.feature, names);
  if (range.missing) return name + " missing";
  bool const below = std::isfinite(range.high);
  bool const above = std::isfinite(range.low);
  if (!below && !above) return name + " of any value";
  bool const large =
      std::max(above ? std::abs(range.low) : 0.0, below ? std::abs(range.high) : 0.0) >= 1e10;
  int const digits = !range.whole ? 6 : large ? 17 : 10;  // 10 digits hide rounding errors of sums
  std::string low = fmt::format("{:.{}g}", range.low, digits);
  std::string high = fmt::format("{:.{}g}", range.high, digits);
  if (low == high) {
    low = fmt::format("{}", range.low);
    high = fmt::format("{}", range.high);
  }
  if (!above) return fmt::format("{} < {}", name, high);
  if (!below) return fmt::format("{} >= {}", name, low);
  return fmt::format("{} in [{}, {})", name, low, high);
}

std::string feature_text(std::uint32_t feature, feature_names const& names) {
  auto const name = names.find(feature);
  return name != names.end() ? name->second : fmt::format("feature {}", feature);
}

std::string words_of_rule(std::span<std::uint32_t const> antecedent, std::int32_t label,
                          std::span<item_range const> ranges, feature_names const& names) {
  std::string text;
  for (std::uint32_t const x : antecedent)
    text += fmt::format("{}{}", text.empty() ? "" : " and ", words_of(ranges[x], names));
  return fmt::format("{} -> {}", text, label);
}

}  // namespace rulerank::datasets
