#include "datasets/split.hpp"

#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/evaluation/fold_summary.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rulerank::inline v0::apps {
namespace {

struct split_arguments {
  std::string in;
  std::string out_dir;
  datasets::split_options options;
  bool no_shuffle = false;
  reading_arguments reading;
};

void split_data(session& owner, split_arguments& given) {
  if (!given.reading.group_files.empty())
    throw usage_error(
        "--group cannot be combined with split, whose output needs a qid on each line");
  given.options.shuffle = !given.no_shuffle;
  datasets::letor_rotation(0, given.options.folds);  // validates the numbers first
  name_folds(owner, given.out_dir, given.options.folds);
  datasets::dataset data;
  {
    auto const timer = owner.stage("read");
    data = given.reading.read(owner, given.in);
  }
  folder_lock const lock = owner.hold(given.out_dir);
  std::vector<datasets::written_fold> folds;
  {
    auto const timer = owner.stage("split");
    folds = datasets::write_split(owner.ctx(), data, given.options, given.out_dir);
  }
  print_folds(owner, given.out_dir, folds);
}

}  // namespace

void add_split(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<split_arguments>(
      program, owner, "split", "Split a data set into folds by query, as LETOR does",
      "rulerank split --in all.txt --fold-count 5 --out-dir folds --seed 7\n"
      "  splits the queries into S1 to S5; Fold1 trains on S1, S2 and S3, validates on S4 and "
      "tests on S5",
      split_data);
  path_option(verb, "--in,IN", a.in,
              "Documents with qid (SVMlight, CSV or TSV); - is standard input")
      ->required()
      ->group(input_group);
  renamed_option(verb, "--folds", "0.1.0",
                 number_option(verb, "--fold-count K", a.options.folds,
                               "Number of folds, 3 or more", {1, most_folds})
                     ->group("Folds"));
  verb.add_flag("--no-shuffle", a.no_shuffle, "Split the queries in the order of the file")
      ->group("Folds");
  path_option(verb, "--out-dir D", a.out_dir,
              "Folder for Fold1/train.txt, vali.txt, test.txt, Fold2/..., created if missing")
      ->required()
      ->group(output_group);
  a.reading.add_to(verb);
  usual_options(verb, {"--in", "--out-dir", "--fold-count", "--no-shuffle", "--seed"});
}

}  // namespace rulerank::apps
