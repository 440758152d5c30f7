#include "eval/measure.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "eval/measures.hpp"
#include "eval/profile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::eval {

namespace {

constexpr std::array<measure_kind const*, 15> kinds{&ndcg,
                                                    &mean_ndcg,
                                                    &average_precision,
                                                    &geometric_map,
                                                    &precision,
                                                    &r_precision,
                                                    &recall,
                                                    &success,
                                                    &bpref,
                                                    &reciprocal_rank,
                                                    &err,
                                                    &rbp,
                                                    &pfound,
                                                    &kendall_tau,
                                                    &judged};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

measure_kind const* find_kind(std::string_view name) {
  std::string const wanted = lower(name);
  for (measure_kind const* kind : kinds)
    if (lower(kind->name) == wanted ||
        std::find(kind->aliases.begin(), kind->aliases.end(), wanted) != kind->aliases.end())
      return kind;
  return nullptr;
}

std::string known_measures() {
  std::string names;
  for (measure_kind const* kind : kinds) {
    if (!names.empty()) names += ", ";
    names += kind->name;
    if (kind->cut == measure_kind::cutoff::optional) names += "[@k]";
    if (kind->cut == measure_kind::cutoff::required) names += "@k";
  }
  return names;
}

/// Splits `NDCG@10` or `ndcg_cut_10` into the name and the digits of the cut-off.
std::pair<std::string_view, std::string_view> split(std::string_view name) {
  if (std::size_t const at = name.find('@'); at != std::string_view::npos)
    return {name.substr(0, at), name.substr(at + 1)};
  std::size_t const bar = name.rfind('_');
  if (bar == std::string_view::npos || bar + 1 == name.size() ||
      name.find_first_not_of("0123456789", bar + 1) != std::string_view::npos)
    return {name, {}};
  return {name.substr(0, bar), name.substr(bar + 1)};
}

std::size_t parse_cutoff(std::string_view name, std::string_view digits) {
  std::size_t k = 0;
  auto const [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), k);
  if (status != std::errc{} || end != digits.data() + digits.size() || k == 0)
    throw usage_error(
        fmt::format("measure '{}': found cut-off '{}', expected 1 or more", name, digits));
  return k;
}

}  // namespace

std::string measure::name() const {
  return k == 0 ? std::string(kind->name) : fmt::format("{}@{}", kind->name, k);
}

double value_of(measure const& m, ranked_query const& query, conventions const& rules) {
  return static_cast<measure_definition const&>(*m.kind).value(query, rules, m.k);
}

double measure::average(std::span<double const> values) const {
  if (values.empty()) return 0;
  bool const geometric = kind->averaged == measure_kind::mean::geometric;
  double sum = 0;
  for (double value : values) sum += geometric ? std::log(std::max(value, 1e-5)) : value;
  double const mean = sum / static_cast<double>(values.size());
  return geometric ? std::exp(mean) : mean;
}

std::span<measure_kind const* const> measure_kinds() {
  return kinds;
}

void expect_fractional(std::span<measure const> measures, profile const& p) {
  for (measure const& m : measures) {
    if (m.kind->looked_at == measure_kind::labels::grades)
      throw usage_error(
          fmt::format("{} is not defined for fractional labels, expected integers", m.name()));
    if (m.kind->looked_at == measure_kind::labels::gains && p.gain != gain_function::linear)
      throw usage_error(
          fmt::format("{}: exponential gains need whole labels, and these labels are fractional; "
                      "use linear gains",
                      m.name()));
  }
}

void expect_threshold(std::span<measure const> measures, std::string_view test,
                      std::string_view option) {
  for (measure const& m : measures)
    if (m.kind->looked_at == measure_kind::labels::relevant)
      throw usage_error(
          fmt::format("{} with the fractional labels of {} needs {}, the lowest relevant label",
                      m.name(), test, option));
}

measure parse_measure(std::string_view name) {
  auto const [base, digits] = split(name);
  bool const cut = base.size() != name.size();
  measure_kind const* const kind = find_kind(base);
  if (kind == nullptr) throw unknown_name("measure: found", name, "one of " + known_measures());
  if (!cut && kind->cut == measure_kind::cutoff::required)
    throw usage_error(fmt::format("measure '{}' needs a cut-off, such as {}@10", name, kind->name));
  if (cut && kind->cut == measure_kind::cutoff::none)
    throw usage_error(fmt::format("measure '{}': {} has no cut-off", name, kind->name));
  return {kind, cut ? parse_cutoff(name, digits) : 0};
}

std::vector<measure> parse_measures(std::string_view list) {
  std::vector<measure> measures;
  for (std::size_t begin = 0; begin <= list.size();) {
    std::size_t const end = std::min(list.find(',', begin), list.size());
    std::string_view const name = list.substr(begin, end - begin);
    begin = end + 1;
    auto const [base, cuts] = split(name);
    std::size_t const dash = cuts.find('-');
    if (dash == std::string_view::npos) {
      measures.push_back(parse_measure(name));
      continue;
    }
    std::size_t const first = parse_cutoff(name, cuts.substr(0, dash));
    std::size_t const last = parse_cutoff(name, cuts.substr(dash + 1));
    if (last < first || last - first >= 10000)
      throw usage_error(fmt::format(
          "measure '{}': found cut-offs {} to {}, expected an ascending range", name, first, last));
    for (std::size_t k = first; k <= last; ++k)
      measures.push_back(parse_measure(fmt::format("{}@{}", base, k)));
  }
  return measures;
}

}  // namespace rulerank::eval
