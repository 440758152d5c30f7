#include "apps/shared/reports/report_page.hpp"

#include <cmath>

#include <fmt/format.h>

namespace rulerank::apps {

using nlohmann::ordered_json;

std::string page::escaped(std::string const& text) const {
  if (format_ != eval::table_format::markdown) return text;
  std::string const shown = eval::render({.title = text, .columns = {}, .rows = {}}, format_);
  return shown.substr(0, shown.find('\n'));
}

void page::heading(std::string const& text) {
  if (format_ == eval::table_format::markdown)
    add(fmt::format("## {}\n", escaped(text)));
  else
    add(fmt::format("{}{}\n", text_.empty() ? "" : "\n", text));
}

void page::table(eval::table const& t) {
  add(fmt::format("\n{}", eval::render(t, format_)));
}

void page::add(std::string const& text) {
  // In Markdown each line is a paragraph.
  if (format_ == eval::table_format::markdown && !text_.empty() && !text.starts_with('\n'))
    text_ += '\n';
  text_ += text;
}

ordered_json feature_json(std::uint32_t feature, datasets::feature_names const& names) {
  ordered_json json{{"feature", feature}};
  if (auto const name = names.find(feature); name != names.end()) json["name"] = name->second;
  return json;
}

ordered_json item_json(datasets::item_range const& range, datasets::feature_names const& names) {
  ordered_json item = feature_json(range.feature, names);
  if (range.missing) {
    item["missing"] = true;
  } else {
    item["from"] = std::isfinite(range.low) ? ordered_json(range.low) : nullptr;
    item["below"] = std::isfinite(range.high) ? ordered_json(range.high) : nullptr;
  }
  return item;
}

}  // namespace rulerank::apps
