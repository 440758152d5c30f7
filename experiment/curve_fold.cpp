#include "experiment/curve_fold.hpp"

#include "core/bytes.hpp"
#include "core/json_text.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "eval/evaluate.hpp"
#include "experiment/cross_fitting.hpp"
#include "experiment/fold.hpp"
#include "experiment/label_choice.hpp"
#include "experiment/stage_timer.hpp"
#include "l2r/model/options_json.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::experiment {

namespace {

using json_text = nlohmann::ordered_json;

constexpr std::size_t steps_between_looks = 10;  // trees between evaluations of a trial
constexpr std::size_t folds_of_sample = 5;

/// A fold's sets as items, binned by one method.
struct binned_sets {
  datasets::binned_dataset train, vali, test;
  std::shared_ptr<datasets::discretizer const> cuts;
};

/// A trial to evaluate.
struct trial_task {
  double budget = 0;
  std::size_t system = 0;
  std::size_t trial = 0;  ///< 0 is the defaults
};

/// The numbers of trees at which a learner with `steps` trees is evaluated; the last is `steps`.
std::vector<std::size_t> looks_up_to(std::size_t steps) {
  std::vector<std::size_t> looks;
  for (std::size_t at = steps_between_looks; at < steps; at += steps_between_looks)
    looks.push_back(at);
  looks.push_back(steps);
  return looks;
}

setting_choice choice_at(double budget) {
  return budget > largest_untuned_budget ? setting_choice::validated : setting_choice::cross_fitted;
}

/// The best number of trees so far.
struct best_steps {
  double value = -HUGE_VAL;
  std::size_t steps = 0;
  void take(double one, std::size_t at) {
    if (one > value) *this = {one, at};
  }
  json_text result(bool counted) const {
    return {{"value", value}, {"steps", counted ? steps : 0}};
  }
};

/// A sample for every system to learn from.
struct sample_task {
  double budget = 0;
  way by = way::all;
  std::size_t draw = 0;
};

struct kept_setting {
  learners::trial const* trial = nullptr;
  std::size_t steps = 0;
};

std::size_t documents_of(double budget, std::size_t all) {
  auto const count = static_cast<std::size_t>(std::llround(budget * static_cast<double>(all)));
  return std::clamp<std::size_t>(count, 1, all);
}

/// The work on one fold.
class curve_runner {
 public:
  curve_runner(context const& ctx, curve_work const& work, std::size_t fold, datasets::dataset test,
               curve_journal& journal)
      : ctx_(ctx),
        work_(work),
        options_(work.options),
        fold_(fold),
        test_(std::move(test)),
        journal_(journal) {
    result_.name = fold_name(work.source, fold);
  }

  curve_fold run() {
    read();
    bin();
    prepare();
    choose_settings();
    learn();
    return std::move(result_);
  }

 private:
  void read() {
    stage_timer const timer(work_.out, "read");
    train_ = work_.source.read(ctx_, fold_, fold_set::train, work_.out.warn);
    datasets::expect_labels(train_, "learn from");
    if (fold_ == 0) warn_of_order(work_.out, train_);
    test_ = datasets::renumbered(std::move(test_), train_.names);
    if (needs_validation(options_))
      vali_ = datasets::renumbered(work_.source.read(ctx_, fold_, fold_set::vali, work_.out.warn),
                                   train_.names);
    result_.train_documents = train_.size();
    result_.vali_documents = vali_.size();
    for (datasets::query_group const& q : test_.queries) result_.qids.push_back(q.qid);
  }

  binned_sets binned_by(datasets::binning method) {
    datasets::discretizer_options how = options_.discretizer;
    how.method = method;
    auto cuts =
        std::make_shared<datasets::discretizer const>(datasets::fit_discretizer(ctx_, train_, how));
    binned_sets sets{datasets::apply_discretizer(ctx_, train_, *cuts),
                     datasets::apply_discretizer(ctx_, vali_, *cuts),
                     datasets::apply_discretizer(ctx_, test_, *cuts), cuts};
    datasets::expect_items(train_, sets.train);
    return sets;
  }

  /// Bins the sets by every method that sampling or a system uses; cuts do not depend on labels.
  void bin() {
    stage_timer const timer(work_.out, "discretize");
    auto const need = [&](datasets::binning method) {
      if (!sets_.contains(method)) sets_.emplace(method, binned_by(method));
    };
    need(options_.discretizer.method);
    for (learners::system const& s : work_.systems) {
      need(s.defaults.method);
      for (learners::trial const& t : s.trials) need(t.method);
    }
  }

  void prepare() {
    stage_timer const timer(work_.out, "reduce");
    std::size_t most = 0;
    bool const sampled = std::find(options_.ways.begin(), options_.ways.end(),
                                   name_of(way::chosen)) != options_.ways.end();
    for (double const budget : options_.budgets)
      if (sampled && budget < 1) most = std::max(most, documents_of(budget, train_.size()));
    way_options ways;
    ways.thresholds = options_.thresholds;
    ways.partitions = options_.partitions;
    ways.feature_order = options_.feature_order;
    ways.feature_order_file = options_.feature_order_file;
    chooser_.emplace(ctx_, train_, sets_.at(options_.discretizer.method).train, ways, most,
                     work_.source.number(fold_));
  }

  /// A context for one of several concurrent tasks, on the CPU.
  context alone() const {
    context one = without_processes(ctx_);
    one.threads = 1;
    one.devices.clear();
    one.progress = {};
    return one;
  }

  chosen_documents sample_of(context const& ctx, sample_task const& task) const {
    return chooser_->choose(ctx, task.by, documents_of(task.budget, train_.size()), task.draw);
  }

  std::unique_ptr<learners::learner> learnt(context const& ctx, learners::trial const& t,
                                            std::size_t steps,
                                            std::vector<std::size_t> const& documents) const {
    auto learner = t.make(ctx.seed, steps);
    binned_sets const& sets = sets_.at(t.method);
    learner->fit(ctx, {train_, sets.train, sets.cuts}, {documents, train_.labels});
    return learner;
  }

  /// Runs the tasks that are not in the journal, concurrently. Tasks have increasing budgets: the
  /// last ones take longest and start first.
  template <class Task>
  void run_tasks(std::string const& stage, std::vector<Task> const& tasks,
                 std::function<std::string(Task const&)> const& key_of,
                 std::function<json_text(context const&, Task const&)> const& work) {
    std::vector<Task const*> open;
    for (Task const& t : tasks)
      if (journal_.find(key_of(t)) == nullptr) open.push_back(&t);
    std::reverse(open.begin(), open.end());
    std::size_t done = tasks.size() - open.size();
    auto const line_of = [&](std::size_t t) { return work(alone(), *open[t]).dump(); };
    auto const add = [&](std::size_t t, std::string line) {
      journal_.add(key_of(*open[t]), std::move(line));
      ctx_.report(fmt::format("{}: {}", result_.name, stage), ++done, tasks.size());
    };
    stage_timer const timer(work_.out, stage);
    if (has_processes(ctx_)) return share_out(open.size(), line_of, add);
    std::mutex alone_here;
    parallel_for(ctx_, open.size(), 1, [&](std::size_t t, std::size_t, int) {
      std::string line = line_of(t);
      std::lock_guard const lock(alone_here);
      add(t, std::move(line));
    });
  }

  /// Deals tasks to the processes, as many at a time as the first one has threads. The first
  /// process adds each line as it arrives, the others at the end.
  void share_out(std::size_t tasks, std::function<std::string(std::size_t)> const& line_of,
                 std::function<void(std::size_t, std::string)> const& add) const {
    process_group const& group = *ctx_.processes;
    auto const at_once = static_cast<std::size_t>(of_first(ctx_, ctx_.thread_count()));
    auto const add_all = [&](std::size_t hand, std::string_view bytes) {
      auto lines = value_of<std::vector<std::string>>(bytes);
      for (std::size_t i = 0; i < lines.size(); ++i) add(hand * at_once + i, std::move(lines[i]));
    };
    auto const results = group.deal(
        (tasks + at_once - 1) / at_once,
        [&](std::size_t hand) {
          std::size_t const first = hand * at_once;
          std::vector<std::string> lines(std::min(at_once, tasks - first));
          parallel_for(ctx_, lines.size(), 1,
                       [&](std::size_t t, std::size_t, int) { lines[t] = line_of(first + t); });
          return bytes_of(lines);
        },
        [&](std::size_t hand, std::string result) {
          add_all(hand, result);
          return result;
        });
    for (std::size_t hand = 0; !group.is_first() && hand < results.size(); ++hand)
      add_all(hand, results[hand]);
  }

  json_text done(std::string const& key) const {
    return parse_ordered_json(*journal_.find(key), result_.name, "a line of a journal");
  }

  // Settings

  static std::string key_of(trial_task const& t) {
    return fmt::format("trial {} {} {}", t.budget, t.system, t.trial);
  }

  /// The sample for choosing settings: the first random one, or all documents.
  static sample_task tuning_sample(double budget) {
    return {budget, budget < 1 ? way::random : way::all, 0};
  }

  learners::trial const& trial_of(trial_task const& task) const {
    learners::system const& s = work_.systems[task.system];
    return task.trial == 0 ? s.defaults : s.trials[task.trial - 1];
  }

  /// The number of trials including the defaults; 0 if there is no choice.
  static std::size_t trials_of(learners::system const& s) {
    return s.trials.empty() ? 0 : s.trials.size() + 1;
  }

  /// A trial's value on the validation set, with the number of trees that is best there.
  json_text validate(context const& ctx, learners::trial const& t,
                     std::vector<std::size_t> const& sample) const {
    auto const learner = learnt(ctx, t, 0, sample);
    binned_sets const& sets = sets_.at(t.method);
    eval::profile rules = options_.profile;
    rules.max_label.reset();  // use r_max of the test sets
    std::vector<std::size_t> const looks = looks_up_to(learner->steps());
    std::vector<std::vector<double>> const scores =
        learner->scores_by_steps(ctx, {vali_, sets.vali, sets.cuts}, looks);
    best_steps best;
    for (std::size_t k = 0; k < looks.size(); ++k) {
      ctx.check_stop();
      best.take(eval::evaluate(ctx, vali_, scores[k], std::span(options_.measures).first(1), rules)
                    .averages()
                    .front(),
                looks[k]);
    }
    return best.result(learner->steps() > 1);
  }

  /// The share of the sample's pairs that a trial orders correctly, with the best number of trees.
  /// Each document is judged by its place in its query's list, scored as a whole by a fit to the
  /// other folds, because most queries of a small sample have only one sampled document.
  json_text cross_fit(context const& ctx, learners::trial const& t,
                      std::vector<std::size_t> const& sample) const {
    best_steps best;
    std::vector<sample_fold> const dealt = deal_sample(train_, sample, folds_of_sample, ctx.seed);
    std::vector<std::int32_t> labels;
    for (sample_fold const& f : dealt)
      for (std::size_t const place : f.judged) labels.push_back(train_.labels[f.lists[place]]);
    bool const equal = std::equal(labels.begin() + 1, labels.end(), labels.begin());
    if (dealt.size() < 2 || equal) return best_steps{0.5, 0}.result(false);
    binned_sets const& sets = sets_.at(t.method);
    std::vector<std::unique_ptr<learners::learner>> learners;
    std::size_t most = 1;
    for (sample_fold const& f : dealt) {
      ctx.check_stop();
      learners.push_back(learnt(ctx, t, 0, f.learnt));
      most = std::max(most, learners.back()->steps());
    }
    std::vector<std::size_t> const looks = looks_up_to(most);
    std::vector<std::vector<double>> places(looks.size());  // [looks] places of the labelled
                                                            // documents
    for (std::size_t k = 0; k < dealt.size(); ++k)
      judge(ctx, *learners[k], dealt[k], sets, looks, places);
    for (std::size_t k = 0; k < looks.size(); ++k)
      best.take(concordance(places[k], labels), looks[k]);
    return best.result(most > 1);
  }

  /// Adds the places of a fold's judged documents for each number of trees, or for all that were
  /// grown.
  void judge(context const& ctx, learners::learner& by, sample_fold const& f,
             binned_sets const& sets, std::vector<std::size_t> const& looks,
             std::vector<std::vector<double>>& places) const {
    ctx.check_stop();
    datasets::dataset const data = datasets::subset(train_, f.lists);
    datasets::binned_dataset const items = datasets::subset(sets.train, f.lists);
    std::vector<std::size_t> counts;
    for (std::size_t const look : looks) counts.push_back(std::min(look, by.steps()));
    std::vector<std::vector<double>> const scores =
        by.scores_by_steps(ctx, {data, items, sets.cuts}, counts);
    for (std::size_t k = 0; k < looks.size(); ++k) {
      std::vector<double> const all = places_in_lists(data.queries, scores[k]);
      for (std::size_t const place : f.judged) places[k].push_back(all[place]);
    }
  }

  void choose_settings() {
    std::vector<trial_task> tasks;
    for (double const budget : options_.budgets)
      for (std::size_t s = 0; s < work_.systems.size(); ++s)
        for (std::size_t t = 0; t < trials_of(work_.systems[s]); ++t)
          tasks.push_back({budget, s, t});
    run_tasks<trial_task>(
        "choose settings", tasks, [](trial_task const& t) { return key_of(t); },
        [&](context const& ctx, trial_task const& t) {
          std::vector<std::size_t> const sample = sample_of(ctx, tuning_sample(t.budget)).documents;
          return choice_at(t.budget) == setting_choice::validated
                     ? validate(ctx, trial_of(t), sample)
                     : cross_fit(ctx, trial_of(t), sample);
        });
    for (double const budget : options_.budgets)
      for (std::size_t s = 0; s < work_.systems.size(); ++s)
        kept_[{budget, s}].trial = &work_.systems[s].defaults;
    for (trial_task const& task : tasks) {
      json_text const found = done(key_of(task));
      auto const value = found.at("value").get<double>();
      auto const steps = found.at("steps").get<std::size_t>();
      if (task.trial == 0)
        result_.choices.emplace_back();
      else if (value <= result_.choices.back().value)
        continue;
      learners::trial const& t = trial_of(task);
      result_.choices.back() = {work_.systems[task.system].name,
                                task.budget,
                                choice_at(task.budget),
                                t.name,
                                steps,
                                value};
      kept_[{task.budget, task.system}] = {&t, steps};
    }
  }

  // Samples

  static std::string key_of(sample_task const& t) {
    return fmt::format("sample {} {} {}", t.budget, name_of(t.by), t.draw);
  }

  std::vector<sample_task> samples() const {
    std::vector<sample_task> tasks;
    for (double const budget : options_.budgets) {
      if (budget >= 1) {
        tasks.push_back({budget, way::all, 0});
        continue;
      }
      for (std::string const& name : options_.ways) {
        way const w = way_from(name);
        for (std::size_t draw = 0; draw < (is_drawn(w) ? options_.draws : 1); ++draw)
          tasks.push_back({budget, w, draw});
      }
    }
    return tasks;
  }

  struct learnt_values {
    std::vector<double> values;  // [queries x measures]
    double fit_s = 0, score_s = 0;
    std::optional<l2r::card_sizes> sizes;
  };

  learnt_values values_of(context const& ctx, learners::trial const& t, std::size_t steps,
                          std::vector<std::size_t> const& documents) const {
    stage_timer const fitting(untimed_, {});
    auto const learner = learnt(ctx, t, steps, documents);
    double const fit_s = fitting.seconds();
    binned_sets const& sets = sets_.at(t.method);
    stage_timer const scoring(untimed_, {});
    std::vector<double> const scores = learner->score(ctx, {test_, sets.test, sets.cuts});
    double const score_s = scoring.seconds();
    return {eval::evaluate(ctx, test_, scores, options_.measures, options_.profile).values, fit_s,
            score_s, learner->sizes()};
  }

  /// The card sizes of a system in a line of the journal; null without any.
  static json_text const* sizes_in(json_text const& found, std::string const& settings,
                                   std::string const& system) {
    auto const at = json_text::json_pointer("/sizes") / settings / system;
    return found.contains(at) ? &found.at(at) : nullptr;
  }

  static void add_to(json_text& json, setting_choice by, std::string const& system,
                     learnt_values const& of) {
    std::string const settings(name_of(by));
    json[settings][system] = of.values;
    json["seconds"][settings][system] = {of.fit_s, of.score_s};
    if (of.sizes) json["sizes"][settings][system] = l2r::to_json(*of.sizes);
  }

  json_text learn_sample(context const& ctx, sample_task const& task) const {
    chosen_documents const sample = sample_of(ctx, task);
    json_text json{{"documents", sample.documents.size()}, {"how", sample.how}};
    for (std::size_t s = 0; s < work_.systems.size(); ++s) {
      learners::system const& system = work_.systems[s];
      kept_setting const& kept = kept_.at({task.budget, s});
      learnt_values const defaults = values_of(ctx, system.defaults, 0, sample.documents);
      add_to(json, setting_choice::defaults, system.name, defaults);
      bool const same = kept.trial == &system.defaults && kept.steps == 0;
      add_to(json, choice_at(task.budget), system.name,
             same ? defaults : values_of(ctx, *kept.trial, kept.steps, sample.documents));
    }
    return json;
  }

  void learn() {
    std::vector<sample_task> const tasks = samples();
    run_tasks<sample_task>(
        "learn", tasks, [](sample_task const& t) { return key_of(t); },
        [&](context const& ctx, sample_task const& t) { return learn_sample(ctx, t); });
    for (sample_task const& task : tasks) {
      json_text const found = done(key_of(task));
      for (setting_choice const by : {setting_choice::defaults, choice_at(task.budget)})
        for (learners::system const& s : work_.systems) {
          std::string const settings(name_of(by));
          json_text const& seconds = found.at("seconds").at(settings).at(s.name);
          result_.seconds.push_back({seconds.at(0).get<double>(), seconds.at(1).get<double>()});
          result_.points.push_back({std::string(name_of(task.by)), task.budget, task.draw,
                                    found.at("documents").get<std::size_t>(),
                                    found.at("how").get<std::string>(), s.name, by,
                                    found.at(settings).at(s.name).get<std::vector<double>>()});
          if (json_text const* const sizes = sizes_in(found, settings, s.name))
            result_.points.back().sizes = l2r::card_sizes_from(*sizes, result_.name);
        }
    }
  }

  context const& ctx_;
  curve_work const& work_;
  sinks const untimed_;
  curve_options const& options_;
  std::size_t fold_;
  datasets::dataset train_, vali_, test_;
  std::map<datasets::binning, binned_sets> sets_;
  std::optional<document_chooser> chooser_;
  std::map<std::pair<double, std::size_t>, kept_setting> kept_;  // by budget and system
  curve_journal& journal_;
  curve_fold result_;
};

}  // namespace

curve_fold run_curve_fold(context const& ctx, curve_work const& work, std::size_t fold,
                          datasets::dataset test, curve_journal& journal) {
  return curve_runner(ctx, work, fold, std::move(test), journal).run();
}

}  // namespace rulerank::experiment
