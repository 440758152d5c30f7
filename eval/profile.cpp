#include "eval/profile.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::eval {

namespace {

constexpr std::array<std::string_view, 6> names{"letor", "mslr",     "standard",
                                                "trec",  "lightgbm", "yahoo"};

constexpr named_values<gain_function, 2> gains{
    {{"exponential", gain_function::exponential}, {"linear", gain_function::linear}}};
constexpr named_values<discount_function, 2> discounts{
    {{"letor", discount_function::letor}, {"log2", discount_function::log2}}};
constexpr named_values<short_list, 2> short_lists{
    {{"zero", short_list::zero}, {"as-is", short_list::as_is}}};
constexpr named_values<tie_rule, 4> tie_rules{{{"stable", tie_rule::stable},
                                               {"average", tie_rule::average},
                                               {"worst", tie_rule::worst},
                                               {"docno", tie_rule::docno}}};

}  // namespace

profile make_profile(std::string_view name) {
  profile p;
  p.name = name;
  if (name == "letor") return p;
  if (name == "mslr") {
    p.relevant_from = 2;
    return p;
  }
  p.discount = discount_function::log2;
  p.short_lists = short_list::as_is;
  if (name == "standard") return p;
  if (name == "trec") {
    p.gain = gain_function::linear;
    p.ties = tie_rule::docno;
    return p;
  }
  if (name == "lightgbm" || name == "yahoo") {
    p.no_relevant = name == "yahoo" ? 0.5 : 1.0;
    return p;
  }
  throw unknown_name("profile: found", name, list_of_names(names, name_list::one_of));
}

std::span<std::string_view const> profile_names() {
  return names;
}

gain_function gain_from(std::string_view text) {
  return value_named<gain_function>(gains, text, "gain: found");
}
discount_function discount_from(std::string_view text) {
  return value_named<discount_function>(discounts, text, "discount: found");
}
short_list short_list_from(std::string_view text) {
  return value_named<short_list>(short_lists, text, "short-list: found");
}
tie_rule tie_rule_from(std::string_view text) {
  return value_named<tie_rule>(tie_rules, text, "ties: found");
}
std::string_view to_string(gain_function value) {
  return name_in(gains, value);
}
std::string_view to_string(discount_function value) {
  return name_in(discounts, value);
}
std::string_view to_string(short_list value) {
  return name_in(short_lists, value);
}
std::string_view to_string(tie_rule value) {
  return name_in(tie_rules, value);
}

std::int32_t largest_label(profile const& p) {
  return p.gain == gain_function::exponential ? 900 : std::numeric_limits<std::int32_t>::max();
}

void check(profile const& p) {
  auto const in = [](double value, double low, double high) {
    return low <= value && value <= high;
  };
  if (!in(p.no_relevant, 0, 1))
    throw usage_error(fmt::format("no-relevant: found {}, expected 0 to 1", p.no_relevant));
  if (!(p.relevant_from > 0) || !std::isfinite(p.relevant_from))
    throw usage_error(
        fmt::format("relevant-from: found {}, expected a number above 0", p.relevant_from));
  if (p.max_label && *p.max_label < 0)
    throw usage_error(fmt::format("max-label: found {}, expected 0 or more", *p.max_label));
  if (!(p.rbp_persistence > 0 && p.rbp_persistence < 1))
    throw usage_error(
        fmt::format("persistence: found {}, expected between 0 and 1", p.rbp_persistence));
  if (!in(p.pfound_break, 0, 1))
    throw usage_error(fmt::format("p-break: found {}, expected 0 to 1", p.pfound_break));
  for (double value : p.prel)
    if (!in(value, 0, 1)) throw usage_error(fmt::format("prel: found {}, expected 0 to 1", value));
}

std::string describe(profile const& p) {
  profile const named = make_profile(p.name);
  std::string parts;
  auto const add = [&](std::string_view part, auto const& value) {
    parts += fmt::format("{}{}={}", parts.empty() ? " with " : ", ", part, value);
  };
  if (p.gain != named.gain) add("gain", to_string(p.gain));
  if (p.discount != named.discount) add("discount", to_string(p.discount));
  if (p.no_relevant != named.no_relevant) add("no-relevant", p.no_relevant);
  if (p.relevant_from != named.relevant_from) add("relevant-from", p.relevant_from);
  if (p.short_lists != named.short_lists) add("short-list", to_string(p.short_lists));
  if (p.ties != named.ties) add("ties", to_string(p.ties));
  if (p.complete != named.complete) add("complete", p.complete ? "yes" : "no");
  if (p.max_docs != named.max_docs) add("max-docs", p.max_docs);
  if (p.max_label) add("max-label", *p.max_label);
  if (p.rbp_persistence != named.rbp_persistence) add("persistence", p.rbp_persistence);
  if (p.pfound_break != named.pfound_break) add("p-break", p.pfound_break);
  if (!p.prel.empty()) add("prel", fmt::format("{}", fmt::join(p.prel, "/")));
  return p.name + parts;
}

}  // namespace rulerank::eval
