#include "core/error.hpp"
#include "core/json_text.hpp"
#include "datasets/input/text_source.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// Lines of benchmarks. `engine` (or `system`, `name`) and `seconds` give a bar; the remaining
// fields of the work separate charts. With the total `bytes` and `ops` a line is also a point of a
// roofline (S. Williams, A. Waterman and D. Patterson, Roofline, Communications of the ACM 52(4),
// 2009); its roofs are `peak_bytes_per_s` and `peak_ops_per_s`, if given.
namespace rulerank::inline v0::report {

namespace {

constexpr std::array<std::string_view, 3> who{"engine", "system", "name"};
constexpr std::array<std::string_view, 15> work{
    "input",    "set",          "shape",    "collection", "documents",
    "training", "transactions", "features", "rule_size",  "partitions",
    "k",        "queries",      "percent",  "dimensions", "support"};
constexpr std::array<std::string_view, 4> resources{"threads", "devices", "device",
                                                    "instruction_set"};

template <std::size_t N>
std::string words(json const& line, std::array<std::string_view, N> const& keys) {
  std::string text;
  for (std::string_view const key : keys)
    if (auto const at = line.find(key); at != line.end() && at->is_primitive())
      text +=
          fmt::format("{}{}{}", text.empty() ? "" : ", ",
                      at->is_string() ? std::string() : std::string(key) + " ", plain_text(*at));
  return text;
}

double number_of(json const& line, char const* key) {
  auto const at = line.find(key);
  return at != line.end() && at->is_number() ? at->get<double>() : 0;
}

/// Throws if `seconds` is neither null nor a positive duration.
void expect_seconds(json const& line, std::string const& path, std::uint64_t number) {
  auto const at = line.find("seconds");
  if (at == line.end() || at->is_null() || number_of(line, "seconds") > 0) return;
  throw error({path, number, 1}, fmt::format("seconds: found {}, expected a number above 0",
                                             at->is_number() ? at->dump() : json_shown(*at)));
}

struct measured {
  std::string name;
  json line;
};

std::string name_of(json const& line) {
  for (std::string_view const key : who)
    if (auto const at = line.find(key); at != line.end() && at->is_string()) {
      std::string const more = words(line, resources);
      return at->get<std::string>() + (more.empty() ? "" : ", " + more);
    }
  return {};
}

chart roofline(std::string const& title, std::vector<measured> const& lines) {
  chart made{.title = fmt::format("Roofline: {}", title),
             .kind = chart_kind::xy,
             .x = {"operations a byte", true},
             .y = {"operations a second", true}};
  double bandwidth = 0, peak = 0, low = INFINITY, high = 0;
  for (measured const& one : lines) {
    double const bytes = number_of(one.line, "bytes"), ops = number_of(one.line, "ops");
    double const seconds = number_of(one.line, "seconds");
    bandwidth = std::max(bandwidth, number_of(one.line, "peak_bytes_per_s"));
    peak = std::max(peak, number_of(one.line, "peak_ops_per_s"));
    if (bytes <= 0 || ops <= 0) continue;
    low = std::min(low, ops / bytes);
    high = std::max(high, ops / bytes);
    made.series.push_back({one.name, {{ops / bytes, ops / seconds}}, false, true});
  }
  if (made.series.empty()) return made;
  if (bandwidth > 0) {
    // From a third of the least intensity to the ridge or, without a peak, three times the largest.
    double const from = low / 3;
    double const to = peak > 0 ? std::max(peak / bandwidth, from) : 3 * high;
    chart_series roof{peak > 0 ? "roof" : "memory roof",
                      {{from, std::min(from * bandwidth, peak > 0 ? peak : INFINITY)},
                       {to, peak > 0 ? peak : to * bandwidth}},
                      true,
                      false};
    if (peak > 0) roof.points.push_back({std::max(to, high) * 3, peak});
    made.series.push_back(std::move(roof));
  }
  return made;
}

void add_work(std::string const& title, std::vector<measured> const& lines, blocks& to) {
  chart bars{.title = fmt::format("Seconds: {}", title),
             .kind = chart_kind::bars,
             .y = {"seconds"},
             .series = {{"seconds", {}}}};
  eval::table t{.title = {},
                .columns = {{"engine"}, {"seconds", general}, {"of the first", general}}};
  double const first = number_of(lines.front().line, "seconds");
  for (measured const& one : lines) {
    double const seconds = number_of(one.line, "seconds");
    bars.series[0].points.push_back({0, seconds, one.name});
    double const ratio = seconds / first;
    t.rows.push_back(
        {one.name, seconds, std::isfinite(ratio) ? eval::cell(ratio) : eval::cell("")});
  }
  to.push_back({std::move(bars)});
  to.push_back({details{"The values of these bars", {{std::move(t)}}}});
  if (chart roof = roofline(title, lines); !roof.series.empty()) to.push_back({std::move(roof)});
}

}  // namespace

void add_benchmarks(std::string const& path, report_options const& options, blocks& to) {
  if (options.opened) options.opened(path);
  std::string const text = datasets::read_file(path, "results of benchmarks");
  std::vector<std::pair<std::string, std::vector<measured>>> works;
  std::size_t others = 0;
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    std::string_view const line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    json const parsed = parse_ordered_json(line, path, "a result of a benchmark", number);
    if (!parsed.is_object())
      throw error({path, number, 1}, "found no JSON object, expected one on each line");
    expect_seconds(parsed, path, number);
    std::string const name = name_of(parsed);
    if (name.empty() || !(number_of(parsed, "seconds") > 0)) {
      ++others;
      continue;
    }
    std::string const title = words(parsed, work);
    auto at =
        std::ranges::find(works, title, &std::pair<std::string, std::vector<measured>>::first);
    if (at == works.end()) at = works.insert(works.end(), {title, {}});
    at->second.push_back({name, parsed});
  }
  if (works.empty() && others == 0)
    throw error({path, 0, 0}, "found no lines, expected JSON lines");
  for (auto const& [title, lines] : works) add_work(title.empty() ? "all lines" : title, lines, to);
  if (others > 0)
    say(to, "{} of the file {} no engine and seconds, and {} not shown.", counted(others, "line"),
        others == 1 ? "has" : "have", others == 1 ? "is" : "are");
}

}  // namespace rulerank::report
