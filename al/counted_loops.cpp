// The loops of partitions with a rule counter each: for all engines except those with the loop on
// GPUs.
#include "al/engine.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"

#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace rulerank::inline v0::al {

namespace {

constexpr char const* not_here =
    "this engine cannot leave documents out, expected an engine for the CPU";

class counted_loops final : public partition_loops {
 public:
  counted_loops(sampling_setup const& setup, sampling_engine const& engine, shared_partitions parts)
      : setup_(setup), engine_(engine), parts_(std::move(parts)), loops_(setup.features.size()) {
    for (std::size_t q = 0; parts_ && q < loops_.size(); ++q) start(q);
  }

  void advance(context const& ctx, std::size_t iterations, chosen_fn const& chosen) override {
    std::vector<std::size_t> all(loops_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    advance(ctx, all, iterations, chosen);
  }

  void advance(context const& ctx, std::span<std::size_t const> some, std::size_t iterations,
               chosen_fn const& chosen) override {
    context outer = ctx;
    context inner = alone(ctx, engine_);
    if (engine_.threads != threads_share::partitions)
      outer.threads = 1;
    else if (some.size() > 1)
      inner.threads = 1;
    parallel_for(outer, some.size(), 1, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) go_on(inner, some[i], iterations, chosen);
    });
  }

  void advance(context const& ctx, std::size_t q, std::size_t iterations,
               chosen_fn const& chosen) override {
    go_on(alone(ctx, engine_), q, iterations, chosen);
  }

  void start(std::size_t q) override {
    loop& l = loops_[q];
    if (l.going || l.done) return;
    l.going = std::make_unique<work>(setup_, engine_, parts_.get(), q);
    update(l);
  }

  bool done(std::size_t q) const override { return loops_[q].done; }

  std::size_t next_document(std::size_t q) const override {
    work const& going = *loops_[q].going;
    return going.part.documents[going.run.next()];
  }

  partition_report const& report(std::size_t q) const override { return loops_[q].report; }

  std::uint64_t next_rules(std::size_t q) const override {
    return loops_[q].going->run.next_rules();
  }

  void drop_next(std::size_t q) override {
    loops_[q].going->run.drop_next();
    update(loops_[q]);
  }

  std::uint64_t rules_in_sample() const override {
    std::uint64_t rules = 0;
    for (loop const& l : loops_)
      rules += l.going ? l.going->counter->rules_in_sample() : l.rules_in_sample;
    return rules;
  }

 private:
  /// A started partition that is not done.
  struct work {
    work(sampling_setup const& setup, sampling_engine const& engine,
         std::vector<partition> const* parts, std::size_t q)
        : own(parts ? std::nullopt
                    : std::optional(make_partition(setup.data, setup.features[q], setup.ties))),
          part(parts ? (*parts)[q] : *own),
          counter(make_counter(setup, engine, q)),
          run(part, *counter, setup.fixed_iterations == 0) {}
    /// A counter of all documents, or an agreed one for this process's share.
    std::unique_ptr<rule_counter> make_counter(sampling_setup const& setup,
                                               sampling_engine const& engine, std::size_t q) {
      if (!shares_documents(setup, q)) return engine.make_counter(setup, part);
      own->counted = documents_of_process(*setup.ctx.processes, own->size());
      return make_agreed(*setup.ctx.processes, engine.make_counter(setup, part));
    }
    std::optional<partition> own;
    partition const& part;
    std::unique_ptr<rule_counter> counter;
    partition_run run;
  };
  struct loop {
    std::unique_ptr<work> going;  // null before the first choice and when done
    bool done = false;
    partition_report report;
    std::uint64_t rules_in_sample = 0;  // final value, when done
    double seconds = 0;
  };

  void go_on(context const& ctx, std::size_t q, std::size_t iterations, chosen_fn const& chosen) {
    loop& l = loops_[q];
    if (l.done) return;
    start(q);
    stopwatch const watch;
    if (l.going)
      l.going->run.advance(ctx, iterations,
                           [&](std::size_t position, std::size_t iteration, std::uint64_t rules) {
                             return chosen(q, l.going->part.documents[position], iteration, rules);
                           });
    l.seconds += watch.seconds();
    update(l);
  }

  /// Updates a partition's state after a step; frees the memory of one that is done.
  void update(loop& l) {
    if (l.going) {
      l.report = l.going->run.report();
      l.done = l.going->run.done() ||
               (setup_.fixed_iterations != 0 && l.report.iterations == setup_.fixed_iterations);
      if (l.done) {
        l.rules_in_sample = l.going->counter->rules_in_sample();
        l.going.reset();
      }
    }
    l.report.seconds = l.seconds;
  }

  sampling_setup const& setup_;
  sampling_engine engine_;
  shared_partitions parts_;
  std::vector<loop> loops_;
};

}  // namespace

void partition_loops::advance(context const& ctx, std::span<std::size_t const> some,
                              std::size_t iterations, chosen_fn const& chosen) {
  for (std::size_t const q : some) advance(ctx, q, iterations, chosen);
}

void partition_loops::start(std::size_t) {}

std::uint64_t partition_loops::next_rules(std::size_t) const {
  throw usage_error(not_here);
}

void partition_loops::drop_next(std::size_t) {
  throw usage_error(not_here);
}

std::uint64_t partition_loops::rules_in_sample() const {
  return 0;
}

std::unique_ptr<partition_loops> make_counted_loops(sampling_setup const& setup,
                                                    sampling_engine const& engine,
                                                    shared_partitions parts) {
  return std::make_unique<counted_loops>(setup, engine, std::move(parts));
}

context alone(context const& ctx, sampling_engine const& engine) {
  context one = ctx;
  if (engine.threads == threads_share::nothing) one.threads = 1;
  return one;
}

std::vector<partition> make_partitions(sampling_setup const& setup) {
  std::vector<partition> parts(setup.features.size());
  parallel_for(setup.ctx, parts.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q)
      parts[q] = make_partition(setup.data, setup.features[q], setup.ties);
  });
  return parts;
}

}  // namespace rulerank::al
