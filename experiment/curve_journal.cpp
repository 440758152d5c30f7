#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "core/sha256.hpp"
#include "datasets/input/text_source.hpp"
#include "experiment/checksummed_json.hpp"
#include "experiment/curve_fold.hpp"
#include "l2r/model/options_json.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::experiment {

namespace {

using json_text = nlohmann::ordered_json;

/// A journal line: the first digits of a checksum, the key, the result.
std::string journal_line(std::string const& key, std::string const& line) {
  constexpr std::size_t digits = 16;
  std::string const rest = key + "\t" + line;
  return sha256_hex(rest).substr(0, digits) + "\t" + rest + "\n";
}

}  // namespace

std::string to_text(curve_fold const& fold) {
  json_text json;
  json["name"] = fold.name;
  json["fingerprint"] = fold.fingerprint;
  json["inputs"] = fold.inputs;
  json["train_documents"] = fold.train_documents;
  json["vali_documents"] = fold.vali_documents;
  json["qids"] = fold.qids;
  json["choices"] = json_text::array();
  for (curve_choice const& c : fold.choices)
    json["choices"].push_back({{"system", c.system},
                               {"budget", c.budget},
                               {"settings", name_of(c.by)},
                               {"trial", c.trial},
                               {"steps", c.steps},
                               {"value", c.value}});
  json["points"] = json_text::array();
  for (curve_point const& p : fold.points) {
    json["points"].push_back({{"way", p.way},
                              {"budget", p.budget},
                              {"draw", p.draw},
                              {"documents", p.documents},
                              {"how", p.how},
                              {"system", p.system},
                              {"settings", name_of(p.settings)},
                              {"values", p.values}});
    if (p.sizes) json["points"].back()["sizes"] = l2r::to_json(*p.sizes);
  }
  add_checksum(json);
  return json_line_of(json) + "\n";
}

curve_fold curve_fold_from(std::string_view text, std::string const& name) {
  return read_json({name, 0, 0}, "these are not the learning curves of a fold", [&] {
    json_text const json = parse_checksummed(text, name, "learning curves of a fold");
    curve_fold fold;
    json.at("name").get_to(fold.name);
    json.at("fingerprint").get_to(fold.fingerprint);
    json.at("inputs").get_to(fold.inputs);
    json.at("train_documents").get_to(fold.train_documents);
    json.at("vali_documents").get_to(fold.vali_documents);
    json.at("qids").get_to(fold.qids);
    for (json_text const& c : json.at("choices"))
      fold.choices.push_back({c.at("system").get<std::string>(), c.at("budget").get<double>(),
                              setting_choice_from(c.at("settings").get<std::string>()),
                              c.at("trial").get<std::string>(), c.at("steps").get<std::size_t>(),
                              c.at("value").get<double>()});
    for (json_text const& p : json.at("points")) {
      fold.points.push_back({p.at("way").get<std::string>(), p.at("budget").get<double>(),
                             p.at("draw").get<std::size_t>(), p.at("documents").get<std::size_t>(),
                             p.at("how").get<std::string>(), p.at("system").get<std::string>(),
                             setting_choice_from(p.at("settings").get<std::string>()),
                             p.at("values").get<std::vector<double>>()});
      if (p.contains("sizes"))
        fold.points.back().sizes = l2r::card_sizes_from(
            p.at("sizes"), name, fmt::format("points[{}].sizes.", fold.points.size() - 1));
    }
    return fold;
  });
}

curve_journal::curve_journal(context const& ctx, std::string path, std::string const& fingerprint) {
  if (!has_processes(ctx) || ctx.processes->is_first()) {
    path_ = std::move(path);
    read(fingerprint);
  }
  if (!has_processes(ctx)) return;
  lines_ = value_from_first(*ctx.processes, [&] { return lines_; });
}

void curve_journal::read(std::string const& fingerprint) {
  if (path_.empty()) return;
  std::string const head = journal_line("fingerprint", fingerprint);
  std::string kept = head;
  std::error_code status;
  if (std::filesystem::exists(path_, status)) {
    std::string const text = datasets::read_file(path_, "a journal of learning curves");
    std::size_t begin = text.starts_with(head) ? head.size() : text.size();
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      std::string const line = text.substr(begin, end - begin);
      std::size_t const key = line.find('\t');
      std::size_t const value = key == std::string::npos ? key : line.find('\t', key + 1);
      if (value == std::string::npos) break;
      std::string name = line.substr(key + 1, value - key - 1), content = line.substr(value + 1);
      if (journal_line(name, content) != line + "\n") break;
      kept += line + "\n";
      lines_[std::move(name)] = std::move(content);
    }
  }
  write_file(path_, kept);
}

std::string const* curve_journal::find(std::string const& key) const {
  auto const at = lines_.find(key);
  return at == lines_.end() ? nullptr : &at->second;
}

void curve_journal::add(std::string const& key, std::string line) {
  if (!path_.empty()) {
    std::ofstream file(path_, std::ios::app | std::ios::binary);
    file << journal_line(key, line);
    file.flush();
    if (!file) throw output_error(fmt::format("{}: cannot be written", path_));
  }
  lines_[key] = std::move(line);
}

void curve_journal::remove() const {
  std::error_code status;
  if (!path_.empty()) std::filesystem::remove(path_, status);
}

}  // namespace rulerank::experiment
