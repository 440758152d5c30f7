#include "experiment/fold_result.hpp"

#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "datasets/input/text_source.hpp"
#include "experiment/checksummed_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace {

using json_text = nlohmann::ordered_json;

json_text to_json(system_result const& system) {
  json_text json;
  json["name"] = system.name;
  json["documents"] = system.documents ? json_text(*system.documents) : json_text(nullptr);
  json["values"] = system.queries.values;
  json["draws"] = system.draws;
  return json;
}

}  // namespace

std::string to_text(fold_result const& fold) {
  json_text json;
  json["name"] = fold.name;
  json["fingerprint"] = fold.fingerprint;
  json["inputs"] = fold.inputs;
  json["train_documents"] = fold.train_documents;
  json["test_documents"] = fold.test_documents;
  json["reductions"] = json_text::array();
  for (reduction const& r : fold.reductions)
    json["reductions"].push_back(
        {{"rule_size", r.rule_size}, {"documents", r.documents}, {"partitions", r.partitions}});
  json["feature"] = nullptr;
  if (fold.feature)
    json["feature"] = {{"feature", fold.feature->feature},
                       {"ascending", fold.feature->ascending},
                       {"value", fold.feature->value}};
  if (fold.feature && !fold.feature->name.empty()) json["feature"]["name"] = fold.feature->name;
  // All systems have the same queries and measures.
  json["metrics"] = json_text::array();
  json["qids"] = json_text::array();
  if (!fold.systems.empty()) {
    for (eval::measure const& m : fold.systems[0].queries.measures)
      json["metrics"].push_back(m.name());
    json["qids"] = fold.systems[0].queries.qids;
  }
  json["systems"] = json_text::array();
  for (system_result const& system : fold.systems) json["systems"].push_back(to_json(system));
  for (auto const& [system, text] : fold.tuned) json["tuned"][system] = json_text::parse(text);
  json["files"] = fold.files;
  add_checksum(json);
  return checksummed_text(json) + "\n";
}

fold_result fold_result_from(std::string_view text, std::string const& name) {
  return read_json({name, 0, 0}, "these are not the results of a fold", [&] {
    json_text const json = parse_checksummed(text, name, "the results of a fold");
    fold_result fold;
    json.at("name").get_to(fold.name);
    json.at("fingerprint").get_to(fold.fingerprint);
    json.at("inputs").get_to(fold.inputs);
    json.at("train_documents").get_to(fold.train_documents);
    json.at("test_documents").get_to(fold.test_documents);
    for (json_text const& r : json.at("reductions"))
      fold.reductions.push_back({r.at("rule_size").get<rules::rule_size>(),
                                 r.at("documents").get<std::size_t>(),
                                 r.at("partitions").get<std::size_t>()});
    if (json_text const& f = json.at("feature"); !f.is_null())
      fold.feature = {f.at("feature").get<std::uint32_t>(), f.at("ascending").get<bool>(),
                      f.at("value").get<double>(), f.value("name", std::string())};
    eval::query_values empty;
    for (json_text const& metric : json.at("metrics"))
      empty.measures.push_back(eval::parse_measure(metric.get<std::string>()));
    json.at("qids").get_to(empty.qids);
    for (json_text const& s : json.at("systems")) {
      system_result& system = fold.systems.emplace_back();
      s.at("name").get_to(system.name);
      if (!s.at("documents").is_null()) system.documents = s.at("documents").get<std::size_t>();
      system.queries = empty;
      s.at("values").get_to(system.queries.values);
      s.at("draws").get_to(system.draws);
      if (system.queries.values.size() != empty.qids.size() * empty.measures.size())
        throw error({name, 0, 0}, "found a number of values that is not queries x metrics");
      for (std::vector<double> const& draw : system.draws)
        if (draw.size() != empty.measures.size())
          throw error({name, 0, 0}, "found a draw without a value for each metric");
    }
    if (json.contains("tuned"))
      for (auto const& [system, settings] :
           json.at("tuned").get<std::map<std::string, json_text>>())
        fold.tuned[system] = json_text_of(settings);
    json.at("files").get_to(fold.files);
    return fold;
  });
}

fold_result read_fold_result(std::string const& path) {
  return fold_result_from(datasets::read_file(path, "the results of a fold"), path);
}

}  // namespace rulerank::experiment
