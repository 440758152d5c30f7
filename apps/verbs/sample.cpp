#include "datasets/sample.hpp"

#include "apps/shared/evaluation/fold_summary.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

constexpr std::size_t most_documents = std::size_t{1} << 40;

struct sample_arguments {
  std::string shape;
  std::size_t documents = 0;
  std::uint32_t features = 0;
  std::size_t queries = 0;
  std::uint32_t labels = 3;
  std::size_t folds = 5;
  std::string out_dir;
  bool list_shapes = false;
  CLI::Option* documents_option = nullptr;
  CLI::Option* folds_option = nullptr;
};

datasets::sample_options options_of(sample_arguments const& arguments) {
  if (arguments.shape.empty() && arguments.documents_option->count() == 0)
    throw usage_error("found no size, expected --shape NAME, or --documents N and --features M");
  if (arguments.shape.empty())
    return datasets::options_of(arguments.documents, arguments.features, arguments.queries,
                                arguments.labels, arguments.folds);
  datasets::shape const& which = datasets::find_shape(arguments.shape);
  datasets::sample_options options = datasets::options_of(which);
  if (arguments.folds_option->count() == 0) return options;
  if (arguments.folds != 1 && arguments.folds != options.folds)
    throw usage_error(fmt::format("--folds {}: the shape {} has {}", arguments.folds, which.name,
                                  options.folds == 1
                                      ? "one split, expected 1"
                                      : "five folds, expected 5, or 1 for the first alone"));
  options.folds = arguments.folds;
  return options;
}

nlohmann::ordered_json shapes_as_json() {
  auto json = nlohmann::ordered_json::array();
  for (datasets::shape const& s : datasets::shapes())
    json.push_back({{"shape", s.name},
                    {"documents", {s.train_documents, s.vali_documents, s.test_documents}},
                    {"queries", {s.train_queries, s.vali_queries, s.test_queries}},
                    {"features", s.features},
                    {"folds", s.folds},
                    {"partitions", s.partitions},
                    {"reduced", {{"3", s.reduced_3}, {"4", s.reduced_4}}},
                    {"iterations", {{"3", s.iterations_3}, {"4", s.iterations_4}}}});
  return json;
}

std::string shapes_as_table() {
  auto const row = [](auto... words) {
    return fmt::format("{:<8}{:>9}{:>9}{:>9}{:>10}{:>7}\n", words...);
  };
  std::string text = row("shape", "train", "vali", "test", "features", "folds");
  for (datasets::shape const& s : datasets::shapes())
    text += row(s.name, s.train_documents, s.vali_documents, s.test_documents, s.features, s.folds);
  return text;
}

void sample(session& owner, sample_arguments const& arguments) {
  if (arguments.list_shapes) {
    owner.outputs({{"the list", "-"}});
    return write_file("-", owner.run.json ? json_text_of(shapes_as_json()) : shapes_as_table());
  }
  if (arguments.out_dir.empty()) throw usage_error("--out-dir is required");
  datasets::sample_options const options = options_of(arguments);
  name_folds(owner, arguments.out_dir, options.folds);
  folder_lock const lock = owner.hold(arguments.out_dir);
  std::vector<datasets::written_fold> folds;
  {
    auto const timer = owner.stage("sample");
    folds = datasets::write_sample(owner.ctx(), options, arguments.out_dir);
  }
  print_folds(owner, arguments.out_dir, folds);
}

}  // namespace

void add_sample(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<sample_arguments>(
      program, owner, "sample", "Generate a synthetic data set in LETOR form",
      "rulerank sample --shape td2003 --seed 7 --out-dir synthetic\n"
      "  writes folds of the size of TD2003: synthetic/Fold1/train.txt has 29,435 documents",
      sample);
  help_group const group(verb, "Size");
  auto* const shape =
      word_option(verb, "--shape NAME", a.shape, datasets::shapes(),
                  "Published data set whose sizes to use; --list-shapes lists them");
  verb.add_flag("--list-shapes", a.list_shapes,
                "List the shapes; with --json also the published results of their reduction");
  auto* const documents =
      number_option(verb, "--documents", a.documents,
                    "Number of documents in all, at least one for each query", {1, most_documents})
          ->default_str("");
  auto* const features =
      number_option(verb, "--features M", a.features, "Number of features", {.least = 1})
          ->default_str("");
  auto* const queries = number_option(verb, "--queries K", a.queries,
                                      "Number of queries in all; 0: one for each hundred documents",
                                      {0, most_documents});
  auto* const labels = number_option(
      verb, "--labels L", a.labels,
      "Number of labels 0 to L-1; each is a quarter as frequent as the one before", {.least = 1});
  a.folds_option =
      number_option(verb, "--fold-count F", a.folds,
                    "Number of folds, 3 or more; 1: one split into 3/5, 1/5 and 1/5. A shape has "
                    "its own number, and 1 writes its first fold",
                    {1, most_folds});
  renamed_option(verb, "--folds", "0.1.0", a.folds_option);
  path_option(verb, "--out-dir D", a.out_dir,
              "Folder for Fold1/train.txt, vali.txt, test.txt, Fold2/..., created if missing")
      ->group(output_group);
  a.documents_option = documents;
  documents->needs(features)->excludes(shape);
  features->needs(documents)->excludes(shape);
  queries->needs(documents);
  labels->needs(documents);
  usual_options(verb, {"--shape", "--list-shapes", "--documents", "--features", "--queries",
                       "--labels", "--fold-count", "--out-dir", "--seed"});
}

}  // namespace rulerank::apps
