#include "rules/mining/writer.hpp"

#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/named_values.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::rules {
namespace {

constexpr named_values<mining_format, 3> formats{{{"borgelt", mining_format::borgelt},
                                                  {"spmf", mining_format::spmf},
                                                  {"json", mining_format::json}}};

/// Returns a name as a JSON string; bytes that are not UTF-8 become U+FFFD.
std::string json_name(std::string const& name) {
  return json_line_of(nlohmann::json(name));
}

/// Formats with six significant digits, as Borgelt's programs.
std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.6g}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

constexpr std::string_view holm_name = "p_holm";

double (*measure_of(std::string_view name))(rule_counts const&) {
  for (rule_measure const& m : rule_measures())
    if (m.name == name) return m.of;
  return nullptr;
}

std::string upper(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

/// JSON has no infinity.
std::string json_number(double x) {
  return std::isfinite(x) ? fmt::format("{}", x) : "null";
}

}  // namespace

std::string_view name_of(mining_format f) {
  return name_in(formats, f);
}

mining_format mining_format_from(std::string_view name) {
  return value_named<mining_format>(formats, name, "found format");
}

void check_measures(std::span<std::string const> names) {
  for (std::string const& name : names)
    if (name != holm_name && measure_of(name) == nullptr)
      throw unknown_name("found measure", name,
                         fmt::format("{} or {}", list_of_names(rule_measures()), holm_name));
}

mining_writer::mining_writer(output_file& out, std::span<std::string const> names,
                             std::uint64_t transactions, writer_options how)
    : out_(out), transactions_(transactions), how_(std::move(how)) {
  check_measures(how_.measures);
  for (std::string const& name : names)
    names_.push_back(how_.format == mining_format::json ? json_name(name) : name);
}

void mining_writer::add_names(std::span<item const> items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) line_ += how_.format == mining_format::json ? ", " : " ";
    line_ += names_[items[i]];
  }
}

void mining_writer::write(std::span<item const> items, std::uint32_t support) {
  sorted_.assign(items.begin(), items.end());
  std::sort(sorted_.begin(), sorted_.end());
  line_ = how_.format == mining_format::json ? "{\"items\": [" : "";
  add_names(sorted_);
  switch (how_.format) {
    case mining_format::borgelt:
      if (how_.percent)
        append_format(line_, " ({})\n", percent_of(support, transactions_));
      else
        append_format(line_, " ({})\n", support);
      break;
    case mining_format::spmf:
      append_format(line_, " #SUP: {}\n", support);
      break;
    case mining_format::json:
      append_format(line_, "], \"support\": {}, \"share\": {}}}\n", support,
                    static_cast<double>(support) / static_cast<double>(transactions_));
      break;
  }
  out_.write(line_);
}

void mining_writer::write(rule_list::rule const& rule, double p_holm) {
  rule_counts const& c = rule.counts;
  auto const value_of = [&](std::string_view name) {
    return name == holm_name ? p_holm : measure_of(name)(c);
  };
  line_.clear();
  switch (how_.format) {
    case mining_format::borgelt:
      add_names(rule.consequent);
      line_ += " <- ";
      add_names(rule.antecedent);
      if (how_.percent)
        append_format(line_, " ({}, ", percent_of(c.antecedent, c.transactions));
      else
        append_format(line_, " ({}, ", c.antecedent);
      line_ += percent_of(c.both, c.antecedent);
      for (std::string const& name : how_.measures)
        append_format(line_, ", {:.6g}", value_of(name));
      line_ += ")\n";
      break;
    case mining_format::spmf:
      add_names(rule.antecedent);
      line_ += " ==> ";
      add_names(rule.consequent);
      append_format(line_, " #SUP: {} #CONF: {}", c.both, confidence(c));
      for (std::string const& name : how_.measures)
        append_format(line_, " #{}: {}", upper(name), value_of(name));
      line_ += '\n';
      break;
    case mining_format::json:
      line_ += "{\"antecedent\": [";
      add_names(rule.antecedent);
      line_ += "], \"consequent\": [";
      add_names(rule.consequent);
      append_format(line_,
                    "], \"transactions\": {}, \"with_antecedent\": {}, \"with_consequent\": {}, "
                    "\"with_both\": {}",
                    c.transactions, c.antecedent, c.consequent, c.both);
      for (rule_measure const& m : rule_measures())
        append_format(line_, ", \"{}\": {}", m.name, json_number(m.of(c)));
      append_format(line_, ", \"{}\": {}}}\n", holm_name, json_number(p_holm));
      break;
  }
  out_.write(line_);
}

}  // namespace rulerank::rules
