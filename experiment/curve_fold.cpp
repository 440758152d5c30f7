#include "core/parallel.hpp"
#include "datasets/json_text.hpp"
#include "eval/evaluate.hpp"
#include "experiment/curve_fold.hpp"
#include "experiment/fold.hpp"
#include "experiment/stage_timer.hpp"
#include "experiment/ways.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace rulerank::experiment {

namespace {

using json_text = nlohmann::ordered_json;

constexpr std::size_t steps_between_looks = 10;  // trees, when a trial is validated

/// A fold's parts as items, by one method of cuts.
struct binned_parts {
  datasets::binned_dataset train, vali, test;
  std::shared_ptr<datasets::discretizer const> cuts;
};

/// A trial that is to be validated.
struct trial_task {
  double budget = 0;
  std::size_t system = 0, trial = 0;
};

/// A sample that every system learns from.
struct sample_task {
  double budget = 0;
  way by = way::all;
  std::size_t draw = 0;
};

struct kept_setting {
  std::size_t trial = 0;
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
    train_ = work_.source.read(ctx_, fold_, part::train, work_.out.warn);
    datasets::expect_labels(train_, "learn from");
    test_ = datasets::renumbered(std::move(test_), train_.names);
    if (needs_validation(options_))
      vali_ = datasets::renumbered(work_.source.read(ctx_, fold_, part::vali, work_.out.warn),
                                   train_.names);
    result_.train_documents = train_.size();
    result_.vali_documents = vali_.size();
    for (datasets::query_group const& q : test_.queries) result_.qids.push_back(q.qid);
  }

  binned_parts binned_by(datasets::binning method) {
    datasets::discretizer_options how = options_.discretizer;
    how.method = method;
    auto cuts =
        std::make_shared<datasets::discretizer const>(datasets::fit_discretizer(ctx_, train_, how));
    binned_parts parts{datasets::apply_discretizer(ctx_, train_, *cuts),
                       datasets::apply_discretizer(ctx_, vali_, *cuts),
                       datasets::apply_discretizer(ctx_, test_, *cuts), cuts};
    datasets::expect_items(train_, parts.train);
    return parts;
  }

  /// The parts by every method that the sampling or a system uses: cuts read no labels.
  void bin() {
    stage_timer const timer(work_.out, "discretize");
    auto const need = [&](datasets::binning method) {
      if (!parts_.contains(method)) parts_.emplace(method, binned_by(method));
    };
    need(options_.discretizer.method);
    for (peers::system const& s : work_.systems) {
      need(s.defaults.method);
      if (needs_validation(options_))
        for (peers::trial const& t : s.trials) need(t.method);
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
    chooser_.emplace(ctx_, train_, parts_.at(options_.discretizer.method).train, ways, most,
                     work_.source.number(fold_));
  }

  /// A context for one task: tasks run side by side, on the CPU.
  context alone() const {
    context one = ctx_;
    one.threads = 1;
    one.devices.clear();
    one.progress = {};
    return one;
  }

  chosen_documents sample_of(context const& ctx, sample_task const& task) const {
    return chooser_->choose(ctx, task.by, documents_of(task.budget, train_.size()), task.draw);
  }

  std::unique_ptr<committee::learner> learnt(context const& ctx, peers::trial const& t,
                                             std::size_t steps,
                                             std::vector<std::size_t> const& documents) const {
    auto learner = t.make(ctx.seed, steps);
    learner->learn(ctx, {train_, parts_.at(t.method).train, parts_.at(t.method).cuts},
                   {documents, train_.labels});
    return learner;
  }

  /// Runs the tasks that the journal has not, side by side.
  template <class Task>
  void run_tasks(std::string const& stage, std::vector<Task> const& tasks,
                 std::function<std::string(Task const&)> const& key_of,
                 std::function<json_text(context const&, Task const&)> const& work) {
    std::vector<Task const*> open;
    for (Task const& t : tasks)
      if (journal_.find(key_of(t)) == nullptr) open.push_back(&t);
    std::size_t done = tasks.size() - open.size();
    std::mutex alone_here;
    stage_timer const timer(work_.out, stage);
    parallel_for(ctx_, open.size(), 1, [&](std::size_t begin, std::size_t, int) {
      context const ctx = alone();
      std::string line = work(ctx, *open[begin]).dump();
      std::lock_guard const lock(alone_here);
      journal_.add(key_of(*open[begin]), std::move(line));
      ctx_.report(fmt::format("{}: {}", result_.name, stage), ++done, tasks.size());
    });
  }

  json_text done(std::string const& key) const {
    return datasets::parse_ordered_json(*journal_.find(key), result_.name, "a line of a journal");
  }

  // Settings

  static std::string key_of(trial_task const& t) {
    return fmt::format("trial {} {} {}", t.budget, t.system, t.trial);
  }

  /// The sample that settings are chosen with: the first random one, or all.
  static sample_task tuning_sample(double budget) {
    return {budget, budget < 1 ? way::random : way::all, 0};
  }

  /// The validation part's value of a trial, by the number of trees that is best there.
  json_text validate(context const& ctx, trial_task const& task) const {
    peers::trial const& t = work_.systems[task.system].trials[task.trial];
    auto const learner = learnt(ctx, t, 0, sample_of(ctx, tuning_sample(task.budget)).documents);
    datasets::binned_dataset const& items = parts_.at(t.method).vali;
    double best = -HUGE_VAL;
    std::size_t best_steps = 0;
    for (std::size_t steps = std::min(steps_between_looks, learner->steps());;
         steps = std::min(steps + steps_between_looks, learner->steps())) {
      ctx.check_stop();
      std::vector<double> const scores =
          learner->score_by_steps(ctx, {vali_, items, parts_.at(t.method).cuts}, steps);
      eval::profile rules = options_.profile;
      rules.max_label.reset();  // that of the test parts
      double const value =
          eval::evaluate(ctx, vali_, scores, std::span(options_.measures).first(1), rules)
              .averages()
              .front();
      if (value > best) {
        best = value;
        best_steps = learner->steps() == 1 ? 0 : steps;
      }
      if (steps == learner->steps()) break;
    }
    return {{"value", best}, {"steps", best_steps}};
  }

  void choose_settings() {
    std::vector<trial_task> tasks;
    for (double const budget : options_.budgets)
      if (budget > largest_untuned_budget)
        for (std::size_t s = 0; s < work_.systems.size(); ++s)
          for (std::size_t t = 0; t < work_.systems[s].trials.size(); ++t)
            tasks.push_back({budget, s, t});
    run_tasks<trial_task>(
        "choose settings", tasks, [](trial_task const& t) { return key_of(t); },
        [&](context const& ctx, trial_task const& t) { return validate(ctx, t); });
    for (trial_task const& task : tasks) {
      json_text const found = done(key_of(task));
      auto const value = found.at("value").get<double>();
      auto const steps = found.at("steps").get<std::size_t>();
      peers::system const& s = work_.systems[task.system];
      std::string const& name = s.trials[task.trial].name;
      if (task.trial == 0)
        result_.choices.push_back({s.name, task.budget, name, steps, value});
      else if (value <= result_.choices.back().value)
        continue;
      result_.choices.back() = {s.name, task.budget, name, steps, value};
      kept_[{task.budget, task.system}] = {task.trial, steps};
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
        if (w == way::all) continue;
        for (std::size_t draw = 0; draw < (is_drawn(w) ? options_.draws : 1); ++draw)
          tasks.push_back({budget, w, draw});
      }
    }
    return tasks;
  }

  std::vector<double> values_of(context const& ctx, peers::trial const& t, std::size_t steps,
                                std::vector<std::size_t> const& documents) const {
    auto const learner = learnt(ctx, t, steps, documents);
    std::vector<double> const scores =
        learner->score(ctx, {test_, parts_.at(t.method).test, parts_.at(t.method).cuts});
    return eval::evaluate(ctx, test_, scores, options_.measures, options_.profile).values;
  }

  json_text learn_sample(context const& ctx, sample_task const& task) const {
    chosen_documents const sample = sample_of(ctx, task);
    json_text json{{"documents", sample.documents.size()}, {"how", sample.how}};
    for (std::size_t s = 0; s < work_.systems.size(); ++s) {
      peers::system const& system = work_.systems[s];
      json["defaults"][system.name] = values_of(ctx, system.defaults, 0, sample.documents);
      if (auto const kept = kept_.find({task.budget, s}); kept != kept_.end())
        json["tuned"][system.name] =
            values_of(ctx, system.trials[kept->second.trial], kept->second.steps, sample.documents);
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
      for (bool const tuned : {false, true}) {
        char const* const settings = tuned ? "tuned" : "defaults";
        if (!found.contains(settings)) continue;
        for (peers::system const& s : work_.systems)
          result_.points.push_back({std::string(name_of(task.by)), task.budget, task.draw,
                                    found.at("documents").get<std::size_t>(),
                                    found.at("how").get<std::string>(), s.name, tuned,
                                    found.at(settings).at(s.name).get<std::vector<double>>()});
      }
    }
  }

  context const& ctx_;
  curve_work const& work_;
  curve_options const& options_;
  std::size_t fold_;
  datasets::dataset train_, vali_, test_;
  std::map<datasets::binning, binned_parts> parts_;
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
