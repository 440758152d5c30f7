#include "apps/shared/evaluation/fold_summary.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void name_folds(session& owner, std::string const& out_dir, std::size_t folds) {
  std::vector<session::named_output> outputs;
  for (std::size_t fold = 1; fold <= folds; ++fold)
    for (char const* const set : {"train", "vali", "test"}) {
      std::string const name = fmt::format("Fold{}/{}.txt", fold, set);
      outputs.push_back(
          {fmt::format("--out-dir's {}", name), (std::filesystem::path(out_dir) / name).string()});
    }
  owner.outputs_in_folder(outputs);
}

void print_folds(session& owner, std::string const& out_dir,
                 std::vector<datasets::written_fold> const& folds) {
  datasets::written_fold const& first = folds.front();
  owner.say(fmt::format("{} in {}; {} has {} training, {} validation and {}",
                        counted(folds.size(), "fold"), out_dir, first.folder, first.train.documents,
                        first.vali.documents, counted(first.test.documents, "test document")));
  if (!owner.prints_json()) return;
  auto const sizes = [](datasets::set_size const& size) {
    return nlohmann::ordered_json{{"documents", size.documents}, {"queries", size.queries}};
  };
  nlohmann::ordered_json json;
  json["out_dir"] = out_dir;
  json["folds"] = nlohmann::ordered_json::array();
  for (datasets::written_fold const& fold : folds)
    json["folds"].push_back({{"folder", fold.folder},
                             {"train", sizes(fold.train)},
                             {"vali", sizes(fold.vali)},
                             {"test", sizes(fold.test)}});
  write_file("-", json_text_of(json));
}

}  // namespace rulerank::apps
