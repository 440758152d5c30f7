#include "experiment/fold.hpp"

#include "apps/shared/tune_arguments.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/trec.hpp"
#include "l2r/combination.hpp"
#include "l2r/ranker.hpp"
#include "tuning/report.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

namespace rulerank::experiment {

namespace {

namespace fs = std::filesystem;

void expect_labels(datasets::dataset const& data) {
  auto const unknown = std::find(data.labels.begin(), data.labels.end(), datasets::unlabelled);
  if (unknown == data.labels.end()) return;
  auto const d = static_cast<std::size_t>(unknown - data.labels.begin());
  throw error({data.name, data.line_numbers[d], 1},
              "found a document without a label, expected labels to learn from");
}

/// One fold on its way.
class fold_runner {
 public:
  fold_runner(apps::session& owner, settings const& s, fold_work const& work,
              fold_files const& files, std::string const& fingerprint)
      : owner_(owner), settings_(s), work_(work), files_(files) {
    result_.name = files.name;
    result_.fingerprint = fingerprint;
  }

  fold_result run(std::size_t index) {
    read(index);
    discretise();
    for (std::uint32_t const size : settings_.reduce_sizes) reduce(size);
    if (settings_.tune) tune();
    for (system const& what : systems_of(settings_)) judge(what);
    owner_.note("engine", engines_);
    for (std::string const& path : trials_) fs::remove(path);  // the tables say what was tried
    return std::move(result_);
  }

 private:
  context const& ctx() { return owner_.ctx(); }

  void read(std::size_t index) {
    auto const timer = owner_.stage("read");
    auto const read_part = [&](std::string const& path, part which) {
      return work_.reading.read(owner_, path, index * parts_a_fold + which);
    };
    train_ = read_part(files_.train, train_part);
    expect_labels(train_);
    if (!files_.vali.empty()) vali_ = read_part(files_.vali, vali_part);
    test_ = read_part(files_.test, test_part);
    ids_ = datasets::distinct_ids(test_, [&](std::string const& what) { owner_.warn(what); });
    result_.train_documents = train_.size();
    result_.test_documents = test_.size();
  }

  void discretise() {
    auto const timer = owner_.stage("discretise");
    datasets::discretizer const fitted = work_.discretizer.fit_or_read(owner_, train_);
    binned_train_ = datasets::apply_discretizer(ctx(), train_, fitted);
    binned_test_ = datasets::apply_discretizer(ctx(), test_, fitted);
    apps::expect_items(train_, binned_train_);
    write(fmt::format("reduced/{}-cuts.json", files_.name),
          [&](output_file& out) { out.write(datasets::to_json(fitted).dump(1) + "\n"); });
  }

  void reduce(std::uint32_t size) {
    apps::sampler_arguments sampler = work_.sampler;
    sampler.rule_size = static_cast<int>(size);
    al::sample const sample = sampler.reduce(owner_, train_, binned_train_);
    engines_["reduce"].insert(std::string(al::name_of(sample.ran)));
    std::string const stem = fmt::format("reduced/{}-size{}", files_.name, size);
    write(stem + ".txt",
          [&](output_file& out) { datasets::write_lines(train_, sample.documents, out); });
    write(stem + ".tsv", [&](output_file& out) { out.write(apps::ids_table(train_, sample)); });
    result_.reductions.push_back({size, sample.documents.size(), sample.partitions.size()});
    chosen_[size] = sample.documents;
  }

  /// The fold's cuts of one kind, fitted on the whole training part.
  datasets::discretizer const& cuts_by(tuning::cuts const& how) {
    auto const [at, missing] = cuts_.try_emplace(how);
    if (missing) {
      auto const timer = owner_.stage("discretise");
      datasets::discretizer_options options = settings_.discretizer;
      options.method = how.method;
      options.bins = how.bins;
      at->second = datasets::fit_discretizer(ctx(), train_, options);
    }
    return at->second;
  }

  /// The documents to rank by: all, or those that sampling with rules of `reduce_size` chose.
  datasets::dataset training_of(std::uint32_t reduce_size) {
    return reduce_size == 0 ? train_ : datasets::subset(train_, chosen_.at(reduce_size));
  }
  datasets::binned_dataset items_by(tuning::cuts const& how, datasets::dataset const& training) {
    datasets::binned_dataset items = datasets::apply_discretizer(ctx(), training, cuts_by(how));
    apps::expect_items(training, items);
    return items;
  }

  void tune() {
    if (settings_.full) tune(0);
    for (std::uint32_t const size : settings_.reduce_sizes) tune(size);
  }

  /// Chooses by each measure how to rank; the trials of one are those of the others.
  void tune(std::uint32_t reduce_size) {
    tuned_settings const& asked = *settings_.tune;
    eval::profile rules = settings_.profile;
    rules.max_label.reset();  // that of the test parts
    datasets::dataset const training = training_of(reduce_size);
    tuning::tuner tuner(ctx(), vali_, tuning::candidates_of(asked.space), asked.measures, rules,
                        [&](tuning::cuts const& how) {
                          return tuning::prepared{
                              items_by(how, training),
                              datasets::apply_discretizer(ctx(), vali_, cuts_by(how))};
                        },
                        work_.ranker, {asked.cross_fit, &training});
    apps::trials_file trials = earlier_trials(tuner, reduce_size);
    auto const timer = owner_.stage("tune");
    for (system const& what : systems_of(settings_)) {
      if (what.kind != system_kind::tuned || what.reduce_size != reduce_size) continue;
      std::size_t const by = what.tuned_by;
      tuning::search_result const found = trials.search(ctx(), by, asked.search);
      for (std::size_t const at : found.chosen)
        members_[what.name].push_back(tuner.candidates()[found.trials[at].candidate]);
      nlohmann::ordered_json best = tuning::best_settings(ctx(), tuner, found, by, asked.search,
                                                          rules, settings_.discretizer);
      std::string const stem = fmt::format("tuned/{}/{}", what.name, files_.name);
      write(stem + ".tsv", [&](output_file& out) {
        out.write(eval::render(tuning::trials_table(tuner, found, by, asked.search.rungs),
                               eval::table_format::tsv));
      });
      write(stem + ".json", [&](output_file& out) { out.write(best.dump(2) + "\n"); });
      result_.tuned[what.name] = std::move(best);
    }
  }

  /// What an interrupted run of this fold tried; of another run nothing.
  apps::trials_file earlier_trials(tuning::tuner& tuner, std::uint32_t reduce_size) {
    fs::path const place = fs::path(work_.out_dir) / "tuned";
    make_folder(place.string());
    std::string const path =
        (place / fmt::format("{}-{}.trials", files_.name,
                             reduce_size == 0 ? "full" : fmt::format("reduced-{}", reduce_size)))
            .string();
    trials_.push_back(path);
    try {
      return {tuner, path, result_.fingerprint};
    } catch (error const& other) {
      owner_.say(fmt::format("{}: tuned anew: {}", files_.name, other.what()));
      fs::remove(path);
      return {tuner, path, result_.fingerprint};
    }
  }

  /// Ranks the test part as the validation part said.
  void judge_tuned(system const& what) {
    datasets::dataset const training = training_of(what.reduce_size);
    std::vector<std::vector<double>> scores;
    for (tuning::candidate const& chosen : members_.at(what.name)) {
      datasets::binned_dataset const items = items_by(chosen.cuts, training);
      auto const timer = owner_.stage("rank");
      l2r::ranker_options options = work_.ranker;
      options.scoring = chosen.scoring;
      l2r::ranker ranker(ctx(), items, options);
      engines_["rank"].insert(std::string(l2r::name_of(ranker.engine())));
      scores.push_back(
          ranker.score(ctx(), datasets::apply_discretizer(ctx(), test_, cuts_by(chosen.cuts)))
              .scores);
    }
    answer(what, l2r::combine(test_.queries, scores), training.size());
  }

  /// Scores of the test part by the rules of a training set.
  std::vector<double> rank(datasets::binned_dataset const& training, std::uint32_t size) {
    auto const timer = owner_.stage("rank");
    l2r::ranker_options options = work_.ranker;
    options.scoring.rule_size = size;
    l2r::ranker ranker(ctx(), training, options);
    engines_["rank"].insert(std::string(l2r::name_of(ranker.engine())));
    return ranker.score(ctx(), binned_test_).scores;
  }

  void judge(system const& what) {
    ctx().check_stop();
    switch (what.kind) {
      case system_kind::full:
        return answer(what, rank(binned_train_, what.rank_size), train_.size());
      case system_kind::reduced: {
        std::vector<std::size_t> const& chosen = chosen_.at(what.reduce_size);
        return answer(what, rank(datasets::subset(binned_train_, chosen), what.rank_size),
                      chosen.size());
      }
      case system_kind::random:
        return judge_draws(what);
      case system_kind::tuned:
        return judge_tuned(what);
      case system_kind::feature: {
        auto const timer = owner_.stage("choose the feature");
        result_.feature = best_feature(ctx(), vali_, settings_.measures.front(), settings_.profile);
        return answer(what, eval::feature_scores(test_, result_.feature->feature,
                                                 result_.feature->ascending));
      }
      case system_kind::outside: {
        auto const at =
            std::find_if(settings_.outside.begin(), settings_.outside.end(),
                         [&](outside_system const& other) { return other.name == what.name; });
        std::string const& path =
            files_.outside[static_cast<std::size_t>(at - settings_.outside.begin())];
        return answer(what, datasets::read_scores_of(ctx(), owner_.input(path), test_));
      }
    }
  }

  /// Ranks by each draw; keeps each query's mean over them. Draws leave no files.
  void judge_draws(system const& what) {
    std::size_t const size = chosen_.at(what.reduce_size).size();
    system_result result{what.name, size, {}, {}};
    for (std::size_t draw = 0; draw < settings_.random_draws; ++draw) {
      std::vector<std::size_t> const drawn =
          draw_documents(settings_.seed, files_.number, draw, train_.size(), size);
      eval::query_values const values =
          evaluate(rank(datasets::subset(binned_train_, drawn), what.rank_size));
      result.draws.push_back(values.averages());
      if (draw == 0)
        result.queries = values;
      else
        for (std::size_t i = 0; i < values.values.size(); ++i)
          result.queries.values[i] += values.values[i];
      ctx().report(fmt::format("{}: {}", files_.name, what.name), draw + 1, settings_.random_draws);
    }
    for (double& value : result.queries.values)
      value /= static_cast<double>(settings_.random_draws);
    result_.systems.push_back(std::move(result));
  }

  eval::query_values evaluate(std::vector<double> const& scores) {
    auto const timer = owner_.stage("evaluate");
    return eval::evaluate(ctx(), test_, scores, settings_.measures, settings_.profile);
  }

  void answer(system const& what, std::vector<double> const& scores,
              std::optional<std::size_t> documents = {}) {
    result_.systems.push_back({what.name, documents, evaluate(scores), {}});
    write(fmt::format("scores/{}/{}.txt", what.name, files_.name),
          [&](output_file& out) { datasets::write_scores(test_, scores, out); });
    write(fmt::format("runs/{}/{}.run", what.name, files_.name), [&](output_file& out) {
      datasets::write_run(test_, scores, what.name, out, {.ids = ids_});
    });
  }

  void write(std::string const& name, std::function<void(output_file&)> const& content) {
    auto const timer = owner_.stage("write");
    fs::path const path = fs::path(work_.out_dir) / name;
    make_folder(path.parent_path().string());
    output_file out(path.string());
    content(out);
    out.commit();
    result_.files[name] = sha256_of_file(path.string());
  }

  apps::session& owner_;
  settings const& settings_;
  fold_work const& work_;
  fold_files const& files_;
  datasets::dataset train_, vali_, test_;
  datasets::run_ids ids_ = datasets::run_ids::docid;
  datasets::binned_dataset binned_train_, binned_test_;
  std::map<std::uint32_t, std::vector<std::size_t>> chosen_;
  std::map<tuning::cuts, datasets::discretizer> cuts_;
  std::map<std::string, std::vector<tuning::candidate>> members_;  // of each tuned system
  std::vector<std::string> trials_;                                // files
  std::map<std::string, std::set<std::string>> engines_;
  fold_result result_;
};

}  // namespace

fold_result run_fold(apps::session& owner, settings const& s, fold_work const& work,
                     fold_files const& files, std::size_t index, std::string const& fingerprint) {
  return fold_runner(owner, s, work, files, fingerprint).run(index);
}

void make_folder(std::string const& path) {
  std::error_code status;
  fs::create_directories(path, status);
  if (status) throw output_error(fmt::format("{}: cannot be made: {}", path, status.message()));
}

}  // namespace rulerank::experiment
