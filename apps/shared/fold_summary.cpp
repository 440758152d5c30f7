#include "apps/shared/fold_summary.hpp"

#include "core/output_file.hpp"

namespace rulerank::apps {

void print_folds(session const& owner, std::string const& out_dir,
                 std::vector<datasets::written_fold> const& folds) {
  if (!owner.prints_json()) return;
  auto const part = [](datasets::part_size const& size) {
    return nlohmann::ordered_json{{"documents", size.documents}, {"queries", size.queries}};
  };
  nlohmann::ordered_json json;
  json["out_dir"] = out_dir;
  json["folds"] = nlohmann::ordered_json::array();
  for (datasets::written_fold const& fold : folds)
    json["folds"].push_back({{"folder", fold.folder},
                             {"train", part(fold.train)},
                             {"vali", part(fold.vali)},
                             {"test", part(fold.test)}});
  write_file("-", json.dump(2) + "\n");
}

}  // namespace rulerank::apps
