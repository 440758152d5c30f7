#include "experiment/earlier_folds.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/machine.hpp"
#include "core/sha256.hpp"
#include "core/version.hpp"
#include "datasets/input/text_source.hpp"
#include "experiment/fold_result.hpp"
#include "experiment/report_json.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace fs = std::filesystem;

namespace {

/// Version of the results' format; a change invalidates finished folds.
constexpr int fold_form = 2;

}  // namespace

std::string fingerprint_of(settings const& s, std::string const& fold,
                           std::map<std::string, std::string> const& inputs) {
  nlohmann::ordered_json json;
  json["form"] = fold_form;
  json["version"] = version;
  json["commit"] = commit();
  json["settings"] = to_json(s);
  json["fold"] = fold;
  json["inputs"] = inputs;
  return sha256_hex(json_line_of(json));
}

std::string finished_path(std::string const& out_dir, std::string const& fold) {
  return (fs::path(out_dir) / "folds" / (fold + ".json")).string();
}

earlier find_finished(std::string const& out_dir, std::string const& fold,
                      std::string const& fingerprint) {
  std::string const path = finished_path(out_dir, fold);
  std::error_code status;
  if (!fs::exists(path, status)) return {};
  earlier found;
  try {
    found.result = fold_result_from(datasets::read_file(path, "the results of a fold"), path);
  } catch (error const& e) {
    return {std::nullopt, e.what(), true};
  }
  if (found.result->fingerprint != fingerprint)
    return {std::nullopt, "settings, inputs or program differ from the last run", false};
  for (auto const& [name, sum] : found.result->files) {
    std::string const written = (fs::path(out_dir) / name).string();
    if (!fs::is_regular_file(written, status) || sha256_of_file(written) != sum)
      return {std::nullopt, fmt::format("{} is missing or was changed", name), true};
  }
  return found;
}

}  // namespace rulerank::experiment
