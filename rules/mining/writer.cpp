#include "rules/mining/writer.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::rules {
namespace {

struct format_name {
  mining_format which;
  std::string_view name;
};
constexpr format_name formats[] = {{mining_format::borgelt, "borgelt"},
                                   {mining_format::spmf, "spmf"},
                                   {mining_format::json, "json"}};

/// A name as a JSON string; bytes that are not UTF-8 become U+FFFD.
std::string json_name(std::string const& name) {
  return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// As Borgelt's programs do: six significant digits.
std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.6g}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string_view name_of(mining_format f) {
  for (auto const& e : formats)
    if (e.which == f) return e.name;
  return "";
}

mining_format mining_format_from(std::string_view name) {
  for (auto const& e : formats)
    if (e.name == name) return e.which;
  throw usage_error(fmt::format("found format '{}', expected borgelt, spmf or json", name));
}

itemset_writer::itemset_writer(output_file& out, std::span<std::string const> names,
                               std::uint64_t transactions, options how)
    : out_(out), transactions_(transactions), how_(how) {
  for (std::string const& name : names)
    names_.push_back(how.format == mining_format::json ? json_name(name) : name);
}

void itemset_writer::write(std::span<item const> items, std::uint32_t support) {
  sorted_.assign(items.begin(), items.end());
  std::sort(sorted_.begin(), sorted_.end());
  line_.clear();
  bool const json = how_.format == mining_format::json;
  if (json) line_ = "{\"items\": [";
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    if (i > 0) line_ += json ? ", " : " ";
    line_ += names_[sorted_[i]];
  }
  auto end = std::back_inserter(line_);
  switch (how_.format) {
    case mining_format::borgelt:
      if (how_.percent)
        fmt::format_to(end, " ({})\n", percent_of(support, transactions_));
      else
        fmt::format_to(end, " ({})\n", support);
      break;
    case mining_format::spmf:
      fmt::format_to(end, " #SUP: {}\n", support);
      break;
    case mining_format::json:
      fmt::format_to(end, "], \"support\": {}, \"share\": {}}}\n", support,
                     static_cast<double>(support) / static_cast<double>(transactions_));
      break;
  }
  out_.write(line_);
}

}  // namespace rulerank::rules
