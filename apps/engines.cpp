#include "apps/verbs.hpp"
#include "core/output_file.hpp"

#include <span>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct engine_line {
  std::string_view verb;
  std::string_view name;
  std::string_view runs_on;
  std::string_view what;
  bool is_default;
};

constexpr engine_line all_engines[] = {
    {"reduce", "delta", "cpu", "keeps the rule counts up to date as documents are chosen", true},
    {"reduce", "ssarp", "cpu", "SSARP as published, serial", false},
    {"reduce", "pssarp", "cpu", "SSARP as published, documents in parallel", false},
    {"rank", "project", "cpu", "projects the rows on each first item, documents in parallel", true},
    {"rank", "lrar", "cpu", "LRAR as published, serial, with a cache of supports", false},
};

}  // namespace

void add_engines(CLI::App& program, session& owner) {
  add_verb(
      program, owner, "engines", "List the engines of each verb and what they run on",
      "rulerank engines --json", [&owner] {
        output_file out("-");
        if (owner.run.json) {
          auto json = nlohmann::ordered_json::array();
          for (engine_line const& e : all_engines)
            json.push_back({{"verb", e.verb},
                            {"engine", e.name},
                            {"runs_on", e.runs_on},
                            {"default", e.is_default},
                            {"what", e.what}});
          out.write(json.dump(2) + "\n");
        } else {
          out.write(fmt::format("{:<8} {:<10} {:<8} {}\n", "verb", "engine", "runs on", "what"));
          for (engine_line const& e : all_engines)
            out.write(fmt::format("{:<8} {:<10} {:<8} {}{}\n", e.verb, e.name, e.runs_on, e.what,
                                  e.is_default ? " (default)" : ""));
        }
        out.commit();
      });
}

}  // namespace rulerank::apps
