#include "al/sampler.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/schedules/schedule.hpp"
#include "knn/metric/search.hpp"
#include "knn/sparse/search.hpp"
#include "l2r/rules/options.hpp"
#include "rules/mining/miner.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

struct engine_line {
  std::string_view verb;
  std::string_view option;
  std::string_view name;
  std::string_view where;
  std::string what;
  std::string_view source;
  bool is_default;
};

/// Adds the engines of a module, with the verb and option that select them.
template <class Engines>
void add_lines(std::vector<engine_line>& lines, std::string_view verb, std::string_view option,
               Engines const& engines) {
  for (auto const& e : engines)
    lines.push_back({verb, option, e.name, name_of(e.where),
                     e.source.empty()
                         ? std::string(e.description)
                         : fmt::format("as published ({}): {}", e.source, e.description),
                     e.source, e.default_on != runs_on::nowhere});
}

std::vector<engine_line> all_engines() {
  std::vector<engine_line> lines;
  add_lines(lines, "reduce", "--engine", al::engines());
  add_lines(lines, "rank", "--engine", l2r::engines());
  add_lines(lines, "mine", "--engine", rules::mining_engines());
  add_lines(lines, "search text", "--engine", knn::sparse_engines());
  add_lines(lines, "search dense", "--engine", knn::dense_engines());
  add_lines(lines, "search metric", "--engine", knn::metric_engines());
  add_lines(lines, "search metric", "--schedule", knn::metric_schedules());
  return lines;
}

std::string as_json(std::vector<engine_line> const& lines) {
  auto json = nlohmann::ordered_json::array();
  for (engine_line const& e : lines)
    json.push_back({{"verb", e.verb},
                    {"option", e.option},
                    {"engine", e.name},
                    {"default", e.is_default},
                    {"runs_on", e.where},
                    {"what", e.what},
                    {"source", e.source}});
  return json_text_of(json);
}

std::string as_table(std::vector<engine_line> const& lines) {
  auto const row = [](auto... words) {
    return fmt::format("{:<15}{:<15}{:<9}{:<11}{}\n", words...);
  };
  std::string text = row("verb", "engine", "default", "runs on", "what");
  for (engine_line const& e : lines)
    text += row(e.verb, e.name, e.is_default ? "yes" : "", e.where, e.what);
  return text;
}

}  // namespace

void add_engines(CLI::App& program, session& owner) {
  CLI::App* const verb =
      add_verb(program, owner, "engines", "List the engines of each verb and what they run on",
               "rulerank engines --json", [&owner] {
                 owner.outputs({{"the list", "-"}});
                 output_file out("-");
                 out.write(owner.run.json ? as_json(all_engines()) : as_table(all_engines()));
                 out.commit();
               });
  usual_options(*verb, {"--json"});
}

}  // namespace rulerank::apps
