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
  datasets::letor_rotation(0, given.options.folds);  // refuses wrong numbers first
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
      "Fold1 trains on S1 S2 S3, validates on S4, tests on S5",
      split_data);
  path_option(verb, "--in,IN", a.in,
              "Documents with qid (SVMlight, CSV or TSV); - is standard input")
      ->required();
  renamed_option(
      verb, "--folds", "0.1.0",
      number_option(verb, "--fold-count K", a.options.folds, "Folds, at least 3", {1, most_folds}));
  path_option(verb, "--out-dir D", a.out_dir,
              "Folder for Fold1/train.txt vali.txt test.txt, Fold2/...; made where missing")
      ->required();
  verb.add_flag("--no-shuffle", a.no_shuffle, "Parts are runs of queries in the order of the file");
  a.reading.add_to(verb);
}

}  // namespace rulerank::apps
