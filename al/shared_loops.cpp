// Sampling over processes. Partitions are independent, so each process advances some of them and
// sends the others its choices. For a partition that all processes advance, each counts the rules
// of some documents, and they agree on the smallest key in each iteration.
#include "al/engine.hpp"
#include "core/bytes.hpp"
#include "core/process_group.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace rulerank::inline v0::al {

namespace {

constexpr std::size_t block = 64;  // documents; shares consist of whole blocks

class agreed final : public rule_counter {
 public:
  agreed(process_group const& group, std::unique_ptr<rule_counter> counter)
      : group_(group), counter_(std::move(counter)) {}

  void add(context const& ctx, std::size_t position, std::int32_t label) override {
    counter_->add(ctx, position, label);
  }
  smallest fewest() const override { return smallest_of_all(counter_->fewest()); }
  smallest fewest_unchosen() const override { return smallest_of_all(counter_->fewest_unchosen()); }
  std::uint64_t rules_lost() const override { return counter_->rules_lost(); }

 private:
  smallest smallest_of_all(smallest const& mine) const {
    smallest best = mine;
    for (smallest const& one : gather_values(group_, mine))
      if (std::pair(one.rules, one.position) < std::pair(best.rules, best.position)) best = one;
    return best;
  }

  process_group const& group_;
  std::unique_ptr<rule_counter> counter_;
};

class shared_loops final : public partition_loops {
 public:
  shared_loops(sampling_setup const& setup, std::unique_ptr<partition_loops> of_process)
      : setup_(setup),
        group_(*setup.ctx.processes),
        here_(std::move(of_process)),
        now_(setup.features.size()) {
    for (std::size_t q = 0; q < now_.size(); ++q)
      if (!shares_documents(setup, q) && owner(q) == group_.rank()) mine_.push_back(q);
  }

  void advance(context const& ctx, std::size_t iterations, chosen_fn const& chosen) override {
    std::vector<std::vector<choice>> made(now_.size());
    here_->advance(ctx, mine_, iterations, noting(made, chosen));
    for (std::size_t const q : mine_) look_at(q);
    std::string bytes;
    for (std::size_t const q : mine_) put_partition(bytes, q, made[q]);
    for (std::string_view of_process : group_.gather(bytes))
      while (!of_process.empty()) take_partition(of_process, chosen);
    for (std::size_t q = 0; q < now_.size(); ++q)
      if (shares_documents(setup_, q)) advance(ctx, q, iterations, chosen);
  }

  void advance(context const& ctx, std::size_t q, std::size_t iterations,
               chosen_fn const& chosen) override {
    if (shares_documents(setup_, q)) return here_->advance(ctx, q, iterations, chosen);
    std::vector<std::vector<choice>> made(now_.size());
    std::string bytes;
    if (owner(q) == group_.rank()) {
      here_->advance(ctx, q, iterations, noting(made, chosen));
      look_at(q);
      put_partition(bytes, q, made[q]);
    }
    std::string const of_owner = group_.gather(bytes)[static_cast<std::size_t>(owner(q))];
    std::string_view left = of_owner;
    take_partition(left, chosen);
  }

  void start(std::size_t q) override {
    if (shares_documents(setup_, q)) return here_->start(q);
    if (now_[q].started) return;
    std::string bytes;
    if (owner(q) == group_.rank()) {
      here_->start(q);
      look_at(q);
      put_partition(bytes, q, {});
    }
    std::string const of_owner = group_.gather(bytes)[static_cast<std::size_t>(owner(q))];
    std::string_view left = of_owner;
    take_partition(left, {});
  }

  bool done(std::size_t q) const override {
    return shares_documents(setup_, q) ? here_->done(q) : now_[q].done;
  }
  std::size_t next_document(std::size_t q) const override {
    return shares_documents(setup_, q) ? here_->next_document(q) : now_[q].next;
  }
  partition_report const& report(std::size_t q) const override {
    return shares_documents(setup_, q) ? here_->report(q) : now_[q].report;
  }

 private:
  /// The state of a partition owned by one process, as every process knows it.
  struct progress {
    bool started = false;
    bool done = false;
    std::size_t next = 0;  // unless done
    partition_report report;
  };

  int owner(std::size_t q) const {
    return static_cast<int>(q % static_cast<std::size_t>(group_.size()));
  }

  /// Wraps `chosen` to record its calls by partition; each partition is advanced by one thread.
  static chosen_fn noting(std::vector<std::vector<choice>>& made, chosen_fn const& chosen) {
    return [&](std::size_t q, std::size_t document, std::size_t iteration, std::uint64_t rules) {
      made[q].push_back({document, q, iteration, rules});
      return chosen(q, document, iteration, rules);
    };
  }

  void look_at(std::size_t q) {
    now_[q] = {true, here_->done(q), 0, here_->report(q)};
    if (!now_[q].done) now_[q].next = here_->next_document(q);
  }

  void put_partition(std::string& bytes, std::size_t q, std::vector<choice> const& made) const {
    put(bytes, q);
    put(bytes, now_[q]);
    put(bytes, made);
  }

  void take_partition(std::string_view& bytes, chosen_fn const& chosen) {
    std::size_t q = 0;
    std::vector<choice> made;
    take(bytes, q);
    take(bytes, now_[q]);
    take(bytes, made);
    if (owner(q) == group_.rank()) return;
    for (choice const& c : made) chosen(q, c.document, c.iteration, c.rules);
  }

  sampling_setup const& setup_;
  process_group const& group_;
  std::unique_ptr<partition_loops> here_;
  std::vector<progress> now_;
  std::vector<std::size_t> mine_;
};

}  // namespace

void share_out(sampling_setup& setup, sampling_engine const& engine) {
  setup.over_processes = true;
  std::size_t const partitions = setup.features.size();
  auto const processes = static_cast<std::size_t>(setup.ctx.processes->size());
  bool const by_documents = engine.counts_shares && engine.make_loops_on_gpus == nullptr;
  setup.first_of_all_processes = by_documents ? partitions / processes * processes : partitions;
}

bool shares_documents(sampling_setup const& setup, std::size_t q) {
  return setup.over_processes && q >= setup.first_of_all_processes;
}

index_range documents_of_process(process_group const& group, std::size_t documents) {
  index_range const blocks = own_range(group, (documents + block - 1) / block);
  return {std::min(blocks.begin * block, documents), std::min(blocks.end * block, documents)};
}

std::unique_ptr<rule_counter> make_agreed(process_group const& group,
                                          std::unique_ptr<rule_counter> counter) {
  return std::make_unique<agreed>(group, std::move(counter));
}

std::unique_ptr<partition_loops> make_shared_loops(sampling_setup const& setup,
                                                   std::unique_ptr<partition_loops> of_process) {
  return std::make_unique<shared_loops>(setup, std::move(of_process));
}

}  // namespace rulerank::al
