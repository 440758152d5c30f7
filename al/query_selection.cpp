#include "al/query_selection.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::al {

namespace {

__extension__ using wide = unsigned __int128;

/// Compares a / m with b / n.
std::strong_ordering compare_means(std::uint64_t a, std::uint64_t m, std::uint64_t b,
                                   std::uint64_t n) {
  return wide{a} * n <=> wide{b} * m;
}

/// Marks a document that is not in a partition.
constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

std::vector<std::unique_ptr<rule_counter>> make_counters(sampling_setup const& setup,
                                                         sampling_engine const& engine,
                                                         std::vector<partition> const& parts) {
  std::vector<std::unique_ptr<rule_counter>> counters;
  for (partition const& part : parts) counters.push_back(engine.make_counter(setup, part));
  return counters;
}

/// The queries in reverse tie order: among equals the last wins.
std::vector<std::size_t> order_of_queries(std::span<std::size_t const> query_begin,
                                          std::span<std::uint32_t const> ties) {
  std::vector<std::size_t> order(query_begin.size() - 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (ties.empty()) return order;
  std::vector<std::size_t> place(ties.size());
  for (std::size_t i = 0; i < ties.size(); ++i) place[ties[i]] = i;
  std::vector<std::size_t> first(order.size(), ties.size());
  for (std::size_t q = 0; q < order.size(); ++q)
    for (std::size_t d = query_begin[q]; d < query_begin[q + 1]; ++d)
      first[q] = std::min(first[q], place[d]);
  std::ranges::sort(order, std::greater{}, [&](std::size_t q) { return first[q]; });
  return order;
}

}  // namespace

query_sampler::query_sampler(std::vector<partition> const& parts,
                             std::vector<std::unique_ptr<rule_counter>> counters,
                             std::span<std::size_t const> query_begin,
                             std::span<std::uint32_t const> ties, bool fills)
    : parts_(parts),
      counters_(std::move(counters)),
      query_begin_(query_begin),
      positions_(parts.size()),
      occurs_(query_begin.back()),
      rules_(query_begin.back()),
      queries_(query_begin.size() - 1),
      order_(order_of_queries(query_begin, ties)),
      fills_(fills) {
  for (std::size_t q = 0; q < parts_.size(); ++q) {
    partition const& part = parts_[q];
    std::vector<std::uint64_t> const occurs = doc_occurs(part);
    positions_[q].assign(occurs_.size(), absent);
    for (std::size_t p = 0; p < part.size(); ++p) {
      occurs_[part.documents[p]] += occurs[p];
      positions_[q][part.documents[p]] = static_cast<std::uint32_t>(p);
    }
  }
  for (std::size_t q = 0; q < queries_.size(); ++q) {
    queries_[q].closed = query_begin_[q] == query_begin_[q + 1];
    for (std::size_t d = query_begin_[q]; d < query_begin_[q + 1]; ++d) {
      queries_[q].occurs += occurs_[d];
      queries_[q].documents += occurs_[d] != 0;
    }
  }
  with_items_ = occurs_.size() - static_cast<std::size_t>(std::ranges::count(occurs_, 0U));
  find_next();
}

void query_sampler::add(context const& ctx, std::span<std::optional<std::int32_t> const> labels) {
  query& chosen = queries_[*next_];
  std::size_t const begin = query_begin_[*next_];
  bool any = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    any = any || labels[i];
    if (labels[i] || occurs_[begin + i] == 0) continue;
    chosen.occurs -= occurs_[begin + i];
    --chosen.documents;
    occurs_[begin + i] = 0;
  }
  if (any) {
    chosen.chosen = true;
    ++chosen_count_;
    context outer = ctx, inner = ctx;
    (parts_.size() > 1 ? inner : outer).threads = 1;
    parallel_for(outer, parts_.size(), 1, [&](std::size_t from, std::size_t to, int) {
      for (std::size_t q = from; q < to; ++q)
        for (std::size_t i = 0; i < labels.size(); ++i) {
          if (!labels[i] || positions_[q][begin + i] == absent) continue;
          ctx.check_stop();
          counters_[q]->add(inner, positions_[q][begin + i], *labels[i]);
        }
    });
    for (std::size_t q = 0; q < queries_.size(); ++q) {
      queries_[q].rules = 0;
      for (std::size_t d = query_begin_[q]; d < query_begin_[q + 1]; ++d) {
        rules_[d] = 0;
        for (std::size_t p = 0; p < parts_.size(); ++p)
          if (positions_[p][d] != absent) rules_[d] += counters_[p]->rules(positions_[p][d]);
        if (occurs_[d] != 0) queries_[q].rules += rules_[d];
      }
    }
  } else {
    chosen.documents = 0;
    chosen.closed = true;
  }
  find_next();
}

/// The best of the wanted queries with items; among equal queries, the last in the order.
template <class Wanted>
std::optional<std::size_t> query_sampler::best_query(Wanted const& wanted) const {
  std::optional<std::size_t> found;
  for (std::size_t const i : order_) {
    query const& q = queries_[i];
    if (q.documents == 0 || !wanted(q)) continue;
    if (!found) {
      found = i;
      continue;
    }
    query const& best = queries_[*found];
    auto const occurs = compare_means(q.occurs, q.documents, best.occurs, best.documents);
    auto const rules = compare_means(q.rules, q.documents, best.rules, best.documents);
    if (chosen_count_ == 0 ? occurs >= 0 : rules < 0 || (rules == 0 && occurs <= 0)) found = i;
  }
  return found;
}

void query_sampler::find_next() {
  if (!ran_dry()) {
    next_ = best_query([](query const&) { return true; });
    if (next_ && !queries_[*next_].chosen) return;
    stopped_after_ = chosen_count_;
  }
  next_.reset();
  if (!fills_) return;
  auto const is_open = [](query const& q) { return !q.chosen && !q.closed; };
  next_ = best_query(is_open);
  if (next_) return;
  for (std::size_t const i : order_)
    if (is_open(queries_[i])) next_ = i;
}

std::uint64_t query_sampler::rules_in_sample() const {
  std::uint64_t rules = 0;
  for (auto const& counter : counters_) rules += counter->rules_in_sample();
  return rules;
}

partition_report query_sampler::report() const {
  partition_report whole;
  for (partition const& part : parts_) whole.features += part.features();
  whole.documents = with_items_;
  whole.iterations = chosen_count_;
  whole.stopped_after = stopped_after_.value_or(0);
  for (auto const& counter : counters_) whole.rules_lost += counter->rules_lost();
  return whole;
}

query_selection::query_selection(sampling_setup const& setup, sampling_engine const& engine,
                                 shared_partitions parts)
    : setup_(setup),
      engine_(engine),
      parts_(std::move(parts)),
      queries_(*parts_, make_counters(setup, engine, *parts_), setup.options.query_begin,
               setup.ties, setup.options.fill_budget && setup.options.max_documents != 0) {
  if (auto const first = queries_.next(); first && beyond_budget(*first)) {
    auto const& begin = setup.options.query_begin;
    throw usage_error(fmt::format("the budget of {} is too small: the first chosen query has {}",
                                  counted(setup.options.max_documents, "document"),
                                  begin[*first + 1] - begin[*first]));
  }
}

void query_selection::advance(label_source& labels) {
  wanted_.clear();
  context const ctx = alone(setup_.ctx, engine_);
  while (auto const query = queries_.next()) {
    if (beyond_budget(*query)) return;
    std::vector<choice> choices;
    std::vector<std::optional<std::int32_t>> known;
    std::size_t const end = setup_.options.query_begin[*query + 1];
    for (std::size_t d = setup_.options.query_begin[*query]; d < end; ++d) {
      bool const left_out = labels.left_out(d);
      known.push_back(left_out ? std::nullopt : labels.label(d));
      reason const why = queries_.ran_dry() ? reason::remaining : reason::rules;
      if (known.back())
        choices.push_back({d, 0, queries_.chosen(), queries_.rules(d), why});
      else if (!left_out)
        wanted_.push_back({d, 0, queries_.chosen(), queries_.rules(d), why});
    }
    if (!wanted_.empty()) return;
    choices_.insert(choices_.end(), choices.begin(), choices.end());
    queries_.add(ctx, known);
  }
}

bool query_selection::beyond_budget(std::size_t query) const {
  auto const& begin = setup_.options.query_begin;
  std::size_t const budget = setup_.options.max_documents;
  return budget != 0 && choices_.size() + (begin[query + 1] - begin[query]) > budget;
}

sample query_selection::take() const {
  sample result;
  result.choices = choices_;
  for (choice const& c : choices_) result.documents.push_back(c.document);
  std::ranges::sort(result.documents);
  result.partitions.push_back(queries_.report());
  for (choice& c : result.choices) c.rule_size = setup_.options.rule_size;
  result.ran_dry = queries_.ran_dry();
  return result;
}

}  // namespace rulerank::al
