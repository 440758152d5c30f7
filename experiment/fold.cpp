#include "experiment/fold.hpp"

#include "al/sampler.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "core/sha256.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/discretizer/discretizer_parts.hpp"
#include "datasets/feature_order.hpp"
#include "datasets/label_order.hpp"
#include "datasets/scores.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/trec.hpp"
#include "experiment/baselines.hpp"
#include "experiment/stage_timer.hpp"
#include "l2r/model/scorer.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/tuner.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::experiment {

namespace {

namespace fs = std::filesystem;

/// The fold's sets binned by one kind of cuts; made on first use.
struct cut_sets {
  datasets::discretizer cuts;  ///< fitted on the whole training set
  std::shared_ptr<datasets::binned_dataset const> train, test;
};

using cuts_key = std::tuple<datasets::binning, int, datasets::missing_values,
                            datasets::unlisted_values, datasets::normalization>;

cuts_key key_of(datasets::discretizer_options const& o) {
  return {o.method, o.bins, o.missing, o.unlisted, o.norm};
}

/// The work on one fold.
class fold_runner {
 public:
  fold_runner(context const& ctx, fold_work const& work, std::size_t fold, datasets::dataset test,
              std::string const& fingerprint, std::map<std::string, std::set<std::string>>& engines)
      : ctx_(ctx), work_(work), settings_(work.settings), fold_(fold), engines_(engines) {
    result_.name = fold_name(work.source, fold);
    result_.fingerprint = fingerprint;
    test_ = std::move(test);
  }

  fold_result run() {
    read();
    // All processes need the first cuts, only one needs those of a trial.
    cut_sets& first =
        sets_by(settings_.members.front().discretizer, &datasets::fit_discretizer_together);
    train_by(first);
    write(fmt::format("reduced/{}-cuts.json", result_.name),
          [&](output_file& out) { datasets::write_discretizer(first.cuts, out); });
    for (rules::rule_size const size : settings_.reduce_sizes) reduce(size);
    if (settings_.tune) tune();
    for (system const& what : systems_of(settings_)) judge(what);
    for (std::string const& path : trials_) fs::remove(path);  // the tables record the trials
    return std::move(result_);
  }

 private:
  void read() {
    stage_timer const timer(work_.out, "read");
    train_ = work_.source.read(ctx_, fold_, fold_set::train, work_.out.warn);
    datasets::expect_labels(train_, "learn from");
    if (fold_ == 0) warn_of_order(work_.out, train_);
    expect_names(test_);
    test_ = datasets::renumbered(std::move(test_), train_.names);
    if (needs_validation(settings_)) {
      vali_ = work_.source.read(ctx_, fold_, fold_set::vali, work_.out.warn);
      expect_names(vali_);
      vali_ = datasets::renumbered(std::move(vali_), train_.names);
    }
    ids_ = datasets::distinct_ids(test_, [&](std::string const& what) {
      if (work_.out.warn) work_.out.warn(what);
    });
    result_.train_documents = train_.size();
    result_.test_documents = test_.size();
  }

  void expect_names(datasets::dataset const& part) const {
    datasets::warn_of_lacking_features(
        part, train_.names, settings_.members.front().discretizer.unlisted, work_.out.warn);
  }

  cut_sets& sets_by(datasets::discretizer_options const& how,
                    decltype(&datasets::fit_discretizer) fit = &datasets::fit_discretizer) {
    auto const [at, missing] = sets_.try_emplace(key_of(how));
    if (missing) {
      stage_timer const timer(work_.out, "discretize");
      at->second.cuts = fit(ctx_, train_, how);
    }
    return at->second;
  }
  std::shared_ptr<datasets::binned_dataset const> train_by(cut_sets& sets) {
    if (!sets.train)
      sets.train = std::make_shared<datasets::binned_dataset const>(items_of(train_, sets));
    return sets.train;
  }
  datasets::binned_dataset const& test_by(cut_sets& sets) {
    if (!sets.test) {
      stage_timer const timer(work_.out, "discretize");
      sets.test = std::make_shared<datasets::binned_dataset const>(
          datasets::apply_discretizer(ctx_, test_, sets.cuts));
    }
    return *sets.test;
  }
  /// Training documents as items. Throws `error` if there are none.
  datasets::binned_dataset items_of(datasets::dataset const& training, cut_sets const& sets) {
    stage_timer const timer(work_.out, "discretize");
    datasets::binned_dataset items = datasets::apply_discretizer(ctx_, training, sets.cuts);
    datasets::expect_items(training, items);
    return items;
  }
  /// Options that tuning does not choose are those of the first member.
  cut_sets& sets_by(tuning::cuts const& how) {
    datasets::discretizer_options options = settings_.members.front().discretizer;
    options.method = how.method;
    options.bins = how.bins;
    return sets_by(options);
  }

  void reduce(std::uint32_t size) {
    ranking_settings const& first = settings_.members.front();
    datasets::binned_dataset const& items = *train_by(sets_by(first.discretizer));
    al::sampler_options options;
    options.rule_size = size;
    options.thresholds = first.scoring.thresholds;
    options.partitions = settings_.partitions;
    if (settings_.seeded_ties) options.tie_keys = al::tie_keys(train_, settings_.seed);
    {
      stage_timer const timer(work_.out, "order features");
      options.feature_order = datasets::order_features(ctx_, items, settings_.feature_order,
                                                       settings_.feature_order_file);
    }
    al::sample sample;
    {
      stage_timer const timer(work_.out, "reduce");
      sample = al::reduce(ctx_, items, options);
    }
    engines_["reduce"].insert(std::string(al::name_of(sample.engine)));
    std::string const stem = fmt::format("reduced/{}-size{}", result_.name, size);
    write(stem + ".txt", [&](output_file& out) {
      if (train_.lines.empty())
        datasets::write_svmlight(datasets::subset(train_, sample.documents), out);
      else
        datasets::write_lines(train_, sample.documents, out);
    });
    write(stem + ".tsv", [&](output_file& out) { out.write(al::choices_table(train_, sample)); });
    result_.reductions.push_back({size, sample.documents.size(), sample.partitions.size()});
    chosen_[size] = std::move(sample.documents);
  }

  /// The documents to rank by: all, or those chosen by sampling with rules of `reduce_size`.
  datasets::dataset training_of(rules::rule_size reduce_size) {
    return reduce_size == 0 ? train_ : datasets::subset(train_, chosen_.at(reduce_size));
  }

  void tune() {
    if (settings_.full) tune(0);
    for (rules::rule_size const size : settings_.reduce_sizes) tune(size);
  }

  /// How to evaluate other sets than the test sets: r_max is the largest label of the set.
  eval::profile profile_of_other_sets() const {
    eval::profile profile = settings_.profile;
    profile.max_label.reset();
    return profile;
  }

  /// Chooses how to rank by each measure; the choices share their trials.
  void tune(rules::rule_size reduce_size) {
    tuned_settings const& asked = *settings_.tune;
    eval::profile const rules = profile_of_other_sets();
    datasets::dataset const training = training_of(reduce_size);
    auto const prepare = [&](tuning::cuts const& how) {
      cut_sets const& sets = sets_by(how);
      datasets::binned_dataset items = items_of(training, sets);
      return tuning::prepared{std::move(items),
                              datasets::apply_discretizer(ctx_, vali_, sets.cuts)};
    };
    tuning::tuner tuner(ctx_, vali_, tuning::candidates_of(asked.search_space), asked.measures,
                        rules, prepare, work_.what.engine, {asked.cross_fit, &training});
    tuning::trials_file trials = earlier_trials(tuner, reduce_size);
    stage_timer const timer(work_.out, "tune");
    for (system const& what : systems_of(settings_))
      if (what.kind == system_kind::tuned && what.reduce_size == reduce_size)
        choose(what, tuner, trials, rules);
  }

  /// Makes the choice for one tuned system.
  void choose(system const& what, tuning::tuner& tuner, tuning::trials_file& trials,
              eval::profile const& rules) {
    tuning::search_options const& search = settings_.tune->search;
    tuning::search_result const found = trials.search(ctx_, what.tuned_by, search);
    for (std::size_t const at : found.chosen)
      chosen_candidates_[what.name].push_back(tuner.candidates()[found.trials[at].candidate]);
    std::string best = tuning::best_settings_text(ctx_, tuner, found, what.tuned_by, search, rules,
                                                  settings_.members.front().discretizer);
    std::string const stem = fmt::format("tuned/{}/{}", what.name, result_.name);
    write(stem + ".tsv", [&](output_file& out) {
      out.write(eval::render(tuning::trials_table(tuner, found, what.tuned_by, search.rungs),
                             eval::table_format::tsv));
    });
    write(stem + ".json", [&](output_file& out) { out.write(best); });
    result_.tuned[what.name] = std::move(best);
  }

  /// The trials of this fold's interrupted run; empty for another run.
  tuning::trials_file earlier_trials(tuning::tuner& tuner, rules::rule_size reduce_size) {
    // Over processes, runs resume by whole folds.
    if (work_.what.out_dir.empty() || work_.files != nullptr || has_processes(ctx_))
      return {tuner, {}, {}};
    fs::path const folder = fs::path(work_.what.out_dir) / "tuned";
    make_folders(folder.string());
    std::string const path =
        (folder / fmt::format("{}-{}.trials", result_.name,
                              reduce_size == 0 ? "full" : fmt::format("reduced-{}", reduce_size)))
            .string();
    trials_.push_back(path);
    try {
      return {tuner, path, result_.fingerprint};
    } catch (error const& other) {
      if (work_.out.note)
        work_.out.note(fmt::format("{}: tunes again: {}", result_.name, other.what()));
      fs::remove(path);
      return {tuner, path, result_.fingerprint};
    }
  }

  /// The test set's scores by rankers, each with the test set binned by its cuts.
  std::vector<double> rank(l2r::model const& model,
                           std::vector<datasets::binned_dataset const*> const& tests) {
    stage_timer const timer(work_.out, "rank");
    l2r::scored scored =
        l2r::score(ctx_, model, l2r::binned_lists{test_.queries, tests}, work_.what.engine);
    engines_["rank"].insert(std::string(l2r::name_of(scored.engine)));
    return std::move(scored.scores);
  }

  /// The test set's scores by the members, fitted to the given training documents or all. Their
  /// rules have sizes up to `rank_size`; 0: each member's own.
  std::vector<double> rank_by_members(rules::rule_size rank_size,
                                      std::vector<std::size_t> const* documents) {
    if (!settings_.recipes.empty()) return rank_by_recipes(rank_size, documents);
    l2r::model model;
    std::vector<datasets::binned_dataset const*> tests;
    for (ranking_settings const& member : settings_.members) {
      cut_sets& sets = sets_by(member.discretizer);
      auto training = train_by(sets);
      if (documents != nullptr)
        training = std::make_shared<datasets::binned_dataset const>(
            datasets::subset(*training, *documents));
      l2r::scoring_options scoring = member.scoring;
      if (rank_size > 0) scoring.rule_size = rank_size;
      model.members.emplace_back(l2r::rules_member{nullptr, std::move(training), scoring});
      tests.push_back(&test_by(sets));
    }
    return rank(model, tests);
  }

  /// As rank_by_members, for a model of the recipes.
  std::vector<double> rank_by_recipes(rules::rule_size rank_size,
                                      std::vector<std::size_t> const* documents) {
    stage_timer const timer(work_.out, "rank");
    datasets::dataset known;
    if (documents != nullptr) {
      known = train_;
      std::ranges::fill(known.labels, datasets::unlabelled);
      for (std::size_t const d : *documents) known.labels[d] = train_.labels[d];
    }
    std::vector<l2r::recipe> recipes = settings_.recipes;
    for (l2r::recipe& recipe : recipes)
      if (auto* const by_rules = std::get_if<l2r::rules_recipe>(&recipe); by_rules && rank_size > 0)
        by_rules->scoring.rule_size = rank_size;
    context const alone = without_processes(ctx_);
    l2r::model const model = l2r::fit(alone, documents == nullptr ? train_ : known, recipes);
    l2r::scored scored = l2r::score(alone, model, test_, work_.what.engine);
    if (scored.engine != l2r::engine::automatic)
      engines_["rank"].insert(std::string(l2r::name_of(scored.engine)));
    return std::move(scored.scores);
  }

  /// The test set's scores by the settings chosen on the validation set.
  std::vector<double> rank_tuned(system const& what, datasets::dataset const& training) {
    l2r::model model;
    std::vector<datasets::binned_dataset const*> tests;
    for (tuning::candidate const& chosen : chosen_candidates_.at(what.name)) {
      cut_sets& sets = sets_by(chosen.cuts);
      model.members.emplace_back(l2r::rules_member{
          nullptr, std::make_shared<datasets::binned_dataset const>(items_of(training, sets)),
          chosen.scoring});
      tests.push_back(&test_by(sets));
    }
    return rank(model, tests);
  }

  void judge(system const& what) {
    ctx_.check_stop();
    switch (what.kind) {
      case system_kind::full:
        return keep(what, rank_by_members(what.rank_size, nullptr), train_.size());
      case system_kind::reduced: {
        std::vector<std::size_t> const& chosen = chosen_.at(what.reduce_size);
        return keep(what, rank_by_members(what.rank_size, &chosen), chosen.size());
      }
      case system_kind::random:
        return judge_draws(what);
      case system_kind::tuned: {
        datasets::dataset const training = training_of(what.reduce_size);
        return keep(what, rank_tuned(what, training), training.size());
      }
      case system_kind::feature: {
        {
          stage_timer const timer(work_.out, "choose the feature");
          result_.feature =
              best_feature(ctx_, vali_, settings_.measures.front(), profile_of_other_sets());
        }
        return keep(what, eval::feature_scores(test_, result_.feature->feature,
                                               result_.feature->ascending));
      }
      case system_kind::outside:
        return keep(what, work_.source.scores(ctx_, fold_, what.name, test_));
    }
  }

  /// Evaluates each random sample; keeps each query's mean over them. Writes no files.
  void judge_draws(system const& what) {
    std::size_t const size = chosen_.at(what.reduce_size).size();
    system_result result{what.name, size, {}, {}};
    for (std::size_t draw = 0; draw < settings_.random_draws; ++draw) {
      std::vector<std::size_t> const drawn =
          draw_documents(settings_.seed, work_.source.number(fold_), draw, train_.size(), size);
      eval::query_values const values = evaluate(rank_by_members(what.rank_size, &drawn));
      result.draws.push_back(values.averages());
      if (draw == 0)
        result.queries = values;
      else
        for (std::size_t i = 0; i < values.values.size(); ++i)
          result.queries.values[i] += values.values[i];
      ctx_.report(fmt::format("{}: {}", result_.name, what.name), draw + 1, settings_.random_draws);
    }
    for (double& value : result.queries.values)
      value /= static_cast<double>(settings_.random_draws);
    result_.systems.push_back(std::move(result));
  }

  eval::query_values evaluate(std::vector<double> const& scores) {
    stage_timer const timer(work_.out, "evaluate");
    return eval::evaluate(ctx_, test_, scores, settings_.measures, settings_.profile);
  }

  /// Stores the measures of a system's scores, and writes its scores and its run.
  void keep(system const& what, std::vector<double> const& scores,
            std::optional<std::size_t> documents = {}) {
    result_.systems.push_back({what.name, documents, evaluate(scores), {}});
    if (work_.out.scores) work_.out.scores(fold_, what.name, test_, scores);
    write(fmt::format("scores/{}/{}.txt", what.name, result_.name),
          [&](output_file& out) { datasets::write_scores(test_, scores, out); });
    write(fmt::format("runs/{}/{}.run", what.name, result_.name), [&](output_file& out) {
      datasets::write_run(test_, scores, what.name, out, {.ids = ids_});
    });
  }

  void write(std::string const& name, std::function<void(output_file&)> const& content) {
    stage_timer const timer(work_.out, "write");
    if (work_.files != nullptr) {
      std::string bytes = written_bytes(content);
      result_.files[name] = sha256_hex(bytes);
      (*work_.files)[name] = std::move(bytes);
      return;
    }
    if (work_.what.out_dir.empty()) return;
    fs::path const path = fs::path(work_.what.out_dir) / name;
    make_folders(path.parent_path().string());
    output_file out(path.string());
    content(out);
    out.commit();
    result_.files[name] = sha256_of_file(path.string());
  }

  context const& ctx_;
  fold_work const& work_;
  experiment::settings const& settings_;
  std::size_t fold_;
  std::map<std::string, std::set<std::string>>& engines_;
  datasets::dataset train_, vali_, test_;
  datasets::run_ids ids_ = datasets::run_ids::docid;
  std::map<cuts_key, cut_sets> sets_;
  std::map<std::uint32_t, std::vector<std::size_t>> chosen_;  // documents, by rule size
  std::map<std::string, std::vector<tuning::candidate>> chosen_candidates_;  // by tuned system
  std::vector<std::string> trials_;                                          // paths
  fold_result result_;
};

}  // namespace

std::string fold_name(fold_source const& source, std::size_t fold) {
  return fmt::format("Fold{}", source.number(fold));
}

void warn_of_order(sinks const& out, datasets::dataset const& train) {
  auto const found = datasets::order_of_labels(train.labels, datasets::query_begin(train));
  if (out.warn && found.predicts_labels())
    out.warn(
        fmt::format("{}: {}; this order decides between documents with equal scores or rules, so "
                    "shuffle the documents of each query",
                    train.name, datasets::describe(found)));
}

fold_result run_fold(context const& ctx, fold_work const& work, std::size_t fold,
                     datasets::dataset test, std::string const& fingerprint,
                     std::map<std::string, std::set<std::string>>& engines) {
  return fold_runner(ctx, work, fold, std::move(test), fingerprint, engines).run();
}

}  // namespace rulerank::experiment
