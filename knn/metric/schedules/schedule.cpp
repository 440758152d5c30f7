// The schedules of Barrientos 2011, chapter 3. A thread's own queries are the source's Q_PC, its
// tasks Q_PR (the newest is done next, as in the recursion of a single thread, so that few tasks
// wait), its messages Q_SM. Each thread keeps its own results of a query; the thread that does the
// last task of the query merges them. For the k nearest, a task carries the bound of the thread
// that generated it, so that no thread reads data that another changes.

#include "core/engine_registry.hpp"
#include "core/error.hpp"
#include "knn/metric/indexes/index_state.hpp"
#include "knn/metric/query_results.hpp"
#include "knn/metric/schedules/query_clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <exception>
#include <latch>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

/// hybrid: while many queries wait, threads meet after so many supersteps to count them.
constexpr std::uint64_t supersteps_apart = 8;
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The results of one thread for a query.
struct partial_search {
  std::unique_ptr<distances_from> origin;
  metric_query query;

  partial_search(searched_queries const& what, std::size_t q)
      : origin(what.queries.from(q)), query(*origin, what.rule, what.radius, what.k) {}
};

/// A query that has begun and is not answered yet.
struct open_query {
  explicit open_query(std::size_t threads) : of_thread(threads) {}
  std::vector<std::unique_ptr<partial_search>> of_thread;  // each used only by its thread
  std::atomic<std::uint64_t> tasks{1};                     // remaining tasks
};

struct requirement {
  std::uint32_t query = 0;
  search_task task;
  double bound = 0;
};
struct message {
  std::size_t target = 0;
  requirement what;
};

}  // namespace

struct alignas(64) schedule_thread {
  std::size_t number = 0;
  std::size_t begun = 0;                  // number of its queries that have begun
  std::vector<requirement> requirements;  // Q_PR
  std::vector<message> messages;          // Q_SM
  std::vector<search_task> left;          // of the last task
  std::size_t generated = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t sent = 0;
  std::uint64_t critical = 0;
};

class schedule_run;
/// The routine of each thread of a schedule.
using metric_schedule_routine = void (*)(schedule_run& run, schedule_thread& self);

/// One search by all threads.
class schedule_run {
 public:
  schedule_run(context const& ctx, searched_queries const& what, schedule_options const& options,
               query_clock* clock, take_answer const& take)
      : ctx_(ctx),
        what_(what),
        options_(options),
        clock_(clock),
        take_(take),
        threads_(static_cast<std::size_t>(ctx.thread_count())),
        queries_(what.queries.size()),
        open_(queries_),
        taken_(static_cast<std::ptrdiff_t>(threads_), settle_all{this}),
        sent_(static_cast<std::ptrdiff_t>(threads_)) {
    for (std::size_t t = 0; t < threads_; ++t) threads_of_.emplace_back().number = t;
  }

  schedule_work run(metric_schedule_routine routine);

  // The routines of threads.
  void shared(schedule_thread& self);
  void local(schedule_thread& self);
  void bulk(schedule_thread& self);
  void bulk_critical(schedule_thread& self);

 private:
  struct settle_all {
    schedule_run* run;
    void operator()() noexcept { run->settle(); }
  };

  double now(schedule_thread const& self) const {
    return clock_ != nullptr ? clock_->now(self.number) : 0;
  }
  double arrival(std::size_t query) const { return clock_ != nullptr ? clock_->arrival(query) : 0; }
  /// Return the number of a thread's queries, and the number of one of them.
  std::size_t own(schedule_thread const& self) const {
    return (queries_ + threads_ - 1 - self.number) / threads_;
  }
  std::size_t own_query(schedule_thread const& self, std::size_t i) const {
    return self.number + i * threads_;
  }
  std::size_t waiting(schedule_thread const& self, double time) const;
  double next_arrival(schedule_thread const& self) const;
  bool stops() const { return failed_.load() || ctx_.stop.stop_requested(); }
  void wait_until(schedule_thread const& self, double time) const {
    if (clock_ != nullptr) clock_->wait(self.number, time, [this] { return stops(); });
  }

  void begin(schedule_thread& self, std::size_t query);
  bool begin_next(schedule_thread& self);
  partial_search& found_by(schedule_thread const& self, std::size_t query);
  std::uint64_t execute(schedule_thread& self, std::uint64_t budget);
  void hand_out(schedule_thread& self, std::uint32_t query, double bound, bool has_rest);
  void account(schedule_thread& self, std::uint64_t evaluations);
  void answer(schedule_thread& self, std::size_t query);

  void superstep(schedule_thread& self, std::uint64_t budget);
  void take_messages(schedule_thread& self);
  void settle() noexcept;
  bool spreads() const {
    using enum metric_schedule;
    return options_.schedule == bulk_circular || options_.schedule == bulk_critical ||
           (options_.schedule == hybrid && !whole_);
  }
  template <class Work>
  void guarded(Work const& work) noexcept;
  void work_in(metric_schedule_routine routine, std::size_t thread, std::latch& all) noexcept;

  context const& ctx_;
  searched_queries const& what_;
  schedule_options const& options_;
  query_clock* clock_;  // may be null
  take_answer const& take_;
  std::size_t threads_;
  std::size_t queries_;
  std::vector<schedule_thread> threads_of_;
  std::vector<std::unique_ptr<open_query>> open_;
  std::atomic<std::size_t> next_{0};  // shared: the next query
  std::atomic<std::size_t> answered_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr first_;
  bool complete_ = true;  // whether all threads were started; set before they continue
  // Changed only by settle(), while all threads wait.
  bool done_ = false;
  bool whole_ = false;  // hybrid: tasks stay with the thread that generates them
  std::uint64_t supersteps_ = 0;
  std::barrier<settle_all> taken_;
  std::barrier<> sent_;
  std::mutex exchange_;
};

/// Returns the number of own queries that arrived until `time` and have not begun.
std::size_t schedule_run::waiting(schedule_thread const& self, double time) const {
  if (clock_ == nullptr) return own(self) - self.begun;
  std::size_t next = self.begun;
  while (next < own(self) && arrival(own_query(self, next)) <= time) ++next;
  return next - self.begun;
}

double schedule_run::next_arrival(schedule_thread const& self) const {
  return self.begun < own(self) ? arrival(own_query(self, self.begun))
                                : std::numeric_limits<double>::infinity();
}

void schedule_run::begin(schedule_thread& self, std::size_t query) {
  open_[query] = std::make_unique<open_query>(threads_);
  self.requirements.push_back(
      {static_cast<std::uint32_t>(query), {}, std::numeric_limits<double>::infinity()});
}

/// Begins the next of a thread's queries, if it has arrived.
bool schedule_run::begin_next(schedule_thread& self) {
  if (next_arrival(self) > now(self) || self.begun == own(self)) return false;
  begin(self, own_query(self, self.begun));
  ++self.begun;
  return true;
}

partial_search& schedule_run::found_by(schedule_thread const& self, std::size_t query) {
  auto& mine = open_[query]->of_thread[self.number];
  if (!mine) mine = std::make_unique<partial_search>(what_, query);
  return *mine;
}

void schedule_run::account(schedule_thread& self, std::uint64_t evaluations) {
  self.evaluations += evaluations;
  if (clock_ != nullptr && evaluations > 0) clock_->computed(self.number, evaluations);
}

/// Does the newest task of a thread; returns its evaluations.
std::uint64_t schedule_run::execute(schedule_thread& self, std::uint64_t budget) {
  requirement const one = std::move(self.requirements.back());
  self.requirements.pop_back();
  metric_query& query = found_by(self, one.query).query;
  query.narrow(one.bound);
  self.left.clear();
  std::uint64_t const before = query.evaluations();
  bool const has_rest = !query.is_beyond(one.task.at_least) &&
                        what_.structure.search_some(query, one.task, budget, self.left);
  std::uint64_t const some = query.evaluations() - before;
  account(self, some);
  open_query& open = *open_[one.query];
  open.tasks.fetch_add(self.left.size(), std::memory_order_relaxed);
  hand_out(self, one.query, query.bound(), has_rest);
  if (open.tasks.fetch_sub(1, std::memory_order_acq_rel) == 1) answer(self, one.query);
  return some;
}

/// Assigns the remaining tasks to threads in turn, or to this one; the rest of an interrupted task
/// stays here.
void schedule_run::hand_out(schedule_thread& self, std::uint32_t query, double bound,
                            bool has_rest) {
  std::size_t const tasks = self.left.size() - (has_rest ? 1 : 0);
  bool const spread = spreads();
  // For the k nearest, the rest is done after the preceding tasks; by radius before them, because
  // it generates work for other threads.
  bool const rest_last = has_rest && what_.k > 0;
  if (rest_last) self.requirements.push_back({query, std::move(self.left.back()), bound});
  std::unique_lock<std::mutex> region(exchange_, std::defer_lock);
  for (std::size_t i = tasks; i-- > 0;) {
    std::size_t const target = spread ? (self.generated + i) % threads_ : self.number;
    requirement one{query, std::move(self.left[i]), bound};
    if (target == self.number) {
      self.requirements.push_back(std::move(one));
      continue;
    }
    ++self.sent;
    if (options_.schedule != metric_schedule::bulk_critical) {
      self.messages.push_back({target, std::move(one)});
      continue;
    }
    // Each insertion is its own critical region, as published.
    region.lock();
    self.messages.push_back({target, std::move(one)});
    region.unlock();
    ++self.critical;
  }
  self.generated += tasks;
  if (has_rest && !rest_last)
    self.requirements.push_back({query, std::move(self.left.back()), bound});
}

/// Merges the results of all threads for a query.
void schedule_run::answer(schedule_thread& self, std::size_t query) {
  std::vector<metric_candidate> found;
  for (auto const& some : open_[query]->of_thread) {
    if (!some) continue;
    auto& more = some->query.sorted();
    if (found.empty())
      found.swap(more);
    else
      found.insert(found.end(), more.begin(), more.end());
  }
  std::sort(found.begin(), found.end(), nearer<value_order::smaller_is_nearer>{});
  if (what_.k > 0 && found.size() > what_.k) found.resize(what_.k);
  take_(query, found);
  open_[query].reset();
  if (clock_ != nullptr) clock_->answered(self.number, query);
  answered_.fetch_add(1);
}

void schedule_run::shared(schedule_thread& self) {
  for (std::size_t q = next_.fetch_add(1); q < queries_ && !stops(); q = next_.fetch_add(1)) {
    wait_until(self, arrival(q));
    open_[q] = std::make_unique<open_query>(threads_);
    metric_query& query = found_by(self, q).query;
    what_.structure.search(query);
    account(self, query.evaluations());
    answer(self, q);
  }
}

void schedule_run::local(schedule_thread& self) {
  while (!stops()) {
    if (self.requirements.empty() && !begin_next(self)) {
      double const next = next_arrival(self);
      if (std::isinf(next)) return;
      wait_until(self, next);
      continue;
    }
    execute(self, unlimited);
  }
}

/// Lines 2 to 16 of Algorithm 9: does tasks, beginning own queries if there are no tasks, up to R
/// evaluations.
void schedule_run::superstep(schedule_thread& self, std::uint64_t budget) {
  std::uint64_t done = 0;
  while (done < budget && (!self.requirements.empty() || begin_next(self)))
    done += execute(self, budget - done);
}

/// Lines 18 to 26. Only the target reads a message.
void schedule_run::take_messages(schedule_thread& self) {
  for (schedule_thread& other : threads_of_) {
    if (other.number == self.number) continue;
    for (message& one : other.messages)
      if (one.target == self.number) self.requirements.push_back(std::move(one.what));
  }
}

void schedule_run::bulk(schedule_thread& self) {
  while (!done_) {
    guarded([&] { superstep(self, options_.superstep * (whole_ ? supersteps_apart : 1)); });
    if (options_.schedule != metric_schedule::bulk_local) {
      sent_.arrive_and_wait();
      guarded([&] { take_messages(self); });
    }
    taken_.arrive_and_wait();
    self.messages.clear();
  }
}

/// Runs when all threads are at the barrier: sets their clocks, and decides how they continue.
void schedule_run::settle() noexcept {
  ++supersteps_;
  done_ = stops() || answered_.load() == queries_;
  if (done_) return;
  bool has_work = false;
  double time = 0;
  double next = std::numeric_limits<double>::infinity();
  for (schedule_thread const& one : threads_of_) {
    has_work = has_work || !one.requirements.empty();
    time = std::max(time, now(one));
    next = std::min(next, next_arrival(one));
  }
  if (!has_work && next > time) {
    wait_until(threads_of_.front(), next);
    time = next;
  }
  if (clock_ != nullptr) clock_->meet(time);
  std::size_t wait = 0;
  for (schedule_thread const& one : threads_of_) wait += waiting(one, time);
  whole_ = options_.schedule == metric_schedule::hybrid && wait > threads_ * options_.waiting;
}

void schedule_run::bulk_critical(schedule_thread& self) {
  while (!stops() && answered_.load() < queries_) {
    superstep(self, options_.superstep);
    bool const idle = self.requirements.empty();
    {
      std::scoped_lock const region(exchange_);
      ++self.critical;
      for (schedule_thread& other : threads_of_) {
        if (other.number == self.number) continue;
        auto const mine =
            std::stable_partition(other.messages.begin(), other.messages.end(),
                                  [&](message const& one) { return one.target != self.number; });
        for (auto one = mine; one != other.messages.end(); ++one)
          self.requirements.push_back(std::move(one->what));
        other.messages.erase(mine, other.messages.end());
      }
    }
    if (idle && self.requirements.empty()) std::this_thread::yield();
  }
}

/// Stores exceptions, so that a thread always reaches the barrier where the others wait.
template <class Work>
void schedule_run::guarded(Work const& work) noexcept {
  try {
    work();
  } catch (...) {
    if (!failed_.exchange(true)) first_ = std::current_exception();
  }
}

void schedule_run::work_in(metric_schedule_routine routine, std::size_t thread,
                           std::latch& all) noexcept {
  all.arrive_and_wait();
  // An incomplete team would wait for the missing threads for ever.
  if (complete_) guarded([&] { routine(*this, threads_of_[thread]); });
}

schedule_work schedule_run::run(metric_schedule_routine routine) {
  ctx_.check_stop();
  settle();
  if (!done_) {
    // Threads that wait for each other must all exist, which a parallel loop does not guarantee.
    std::latch all(static_cast<std::ptrdiff_t>(threads_));
    std::vector<std::jthread> team;
    team.reserve(threads_);
    try {
      for (std::size_t t = 1; t < threads_; ++t)
        team.emplace_back([&, t] { work_in(routine, t, all); });
    } catch (...) {
      complete_ = false;
      first_ = std::current_exception();
      all.count_down(static_cast<std::ptrdiff_t>(threads_ - 1 - team.size()));
    }
    work_in(routine, 0, all);
  }
  if (first_) std::rethrow_exception(first_);
  ctx_.check_stop();
  schedule_work work;
  for (schedule_thread const& one : threads_of_) {
    work.evaluations.push_back(one.evaluations);
    work.messages += one.sent;
    work.critical += one.critical;
  }
  using enum metric_schedule;
  auto const schedule = options_.schedule;
  if (schedule == bulk_local || schedule == bulk_circular || schedule == hybrid)
    work.supersteps = supersteps_ - 1;
  return work;
}

namespace {

engine_registry<metric_schedule, metric_schedule_routine> const& registered_schedules() {
  using enum metric_schedule;
  static engine_registry<metric_schedule, metric_schedule_routine> const engines{
      {{shared, "shared", "the next query is for the thread that is free", "", runs_on::cpu,
        runs_on::cpu},
       [](schedule_run& run, schedule_thread& self) { run.shared(self); }},
      {{local, "local", "each thread does the queries dealt to it whole",
        "Barrientos 2011, Algorithm 8", runs_on::cpu, runs_on::nowhere},
       [](schedule_run& run, schedule_thread& self) { run.local(self); }},
      {{bulk_local, "bulk-local", "as local, in supersteps at whose end all threads meet",
        "Barrientos 2011, section 3.2.4", runs_on::cpu, runs_on::nowhere},
       [](schedule_run& run, schedule_thread& self) { run.bulk(self); }},
      {{bulk_circular, "bulk-circular",
        "parts of queries go to all threads in turn, between supersteps",
        "Barrientos 2011, Algorithm 9", runs_on::cpu, runs_on::nowhere},
       [](schedule_run& run, schedule_thread& self) { run.bulk(self); }},
      {{bulk_critical, "bulk-critical",
        "parts of queries go to all threads in turn, in a critical region",
        "Barrientos 2011, Algorithm 10", runs_on::cpu, runs_on::nowhere},
       [](schedule_run& run, schedule_thread& self) { run.bulk_critical(self); }},
      {{hybrid, "hybrid", "bulk-circular; local while many queries wait",
        "Barrientos 2011, section 3.3.1", runs_on::cpu, runs_on::nowhere},
       [](schedule_run& run, schedule_thread& self) { run.bulk(self); }},
  };
  return engines;
}

void add(schedule_work& to, schedule_work const& some) {
  to.evaluations.resize(std::max(to.evaluations.size(), some.evaluations.size()));
  for (std::size_t t = 0; t < some.evaluations.size(); ++t)
    to.evaluations[t] += some.evaluations[t];
  to.supersteps += some.supersteps;
  to.messages += some.messages;
  to.critical += some.critical;
}

}  // namespace

std::span<metric_schedule_info const> metric_schedules() {
  return registered_schedules().list();
}
std::string_view name_of(metric_schedule schedule) {
  return name_of_engine(metric_schedules(), schedule);
}
metric_schedule metric_schedule_from(std::string_view name) {
  return entry_named<metric_schedule>(metric_schedules(), "schedule", name);
}

std::uint64_t schedule_work::evaluations_of_all() const {
  return std::accumulate(evaluations.begin(), evaluations.end(), std::uint64_t{0});
}
double schedule_work::efficiency() const {
  auto const most = std::max_element(evaluations.begin(), evaluations.end());
  if (most == evaluations.end() || *most == 0) return 1;
  return static_cast<double>(evaluations_of_all()) / static_cast<double>(*most) /
         static_cast<double>(evaluations.size());
}

schedule_work run_schedule(context const& ctx, searched_queries const& what,
                           schedule_options const& options, query_clock* clock,
                           take_answer const& take) {
  schedule_options chosen = options;
  if (chosen.schedule == metric_schedule::automatic) chosen.schedule = metric_schedule::shared;
  if (chosen.superstep == 0)
    throw usage_error("found a superstep of 0 distances, expected at least 1");
  if (what.queries.size() >= no_neighbour)
    throw usage_error(
        fmt::format("found {} queries, expected less than {}", what.queries.size(), no_neighbour));
  schedule_run run(ctx, what, chosen, clock, take);
  return run.run(registered_schedules().maker_of(chosen.schedule));
}

neighbours search_scheduled(context const& ctx, metric_index const& index,
                            metric_queries const& queries, std::size_t k,
                            schedule_options const& options, schedule_work* work) {
  auto const& all = metric_index_access::of(index);
  return nearest_of_all(queries.size(), k, [&](take_answer const& take) {
    auto const done =
        run_schedule(ctx, {*all.structure, all.rule, queries, 0, std::min(k, index.size() + 1)},
                     options, nullptr, take);
    if (work != nullptr) add(*work, done);
  });
}

rows_in_range search_range_scheduled(context const& ctx, metric_index const& index,
                                     metric_queries const& queries, double radius,
                                     schedule_options const& options, schedule_work* work) {
  schedule_work done;
  auto found = search_range_on_clock(ctx, index, queries, radius, options, nullptr, done);
  if (work != nullptr) add(*work, done);
  return found;
}

rows_in_range search_range_on_clock(context const& ctx, metric_index const& index,
                                    metric_queries const& queries, double radius,
                                    schedule_options const& options, query_clock* clock,
                                    schedule_work& work) {
  auto const& all = metric_index_access::of(index);
  return within_of_all(ctx, queries.size(), radius, [&](take_answer const& take) {
    work = run_schedule(ctx, {*all.structure, all.rule, queries, radius, 0}, options, clock, take);
  });
}

}  // namespace rulerank::knn
