#include "learners/second_stage.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "learners/disagreement.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::learners {

namespace {

constexpr named_values<strategy, 3> strategies{{{"committee", strategy::committee},
                                                {"margin", strategy::margin},
                                                {"random", strategy::random}}};

}  // namespace

std::string_view name_of(strategy s) {
  return name_in(strategies, s);
}

strategy strategy_from(std::string_view name) {
  return value_named<strategy>(strategies, name, "found", name_list::alternatives);
}

second_stage::second_stage(documents const& pool, std::span<std::size_t const> chosen,
                           std::span<std::int32_t const> labels, members who,
                           round_options const& options, std::span<std::size_t const> left_out)
    : pool_(pool),
      who_(std::move(who)),
      options_(options),
      states_(pool.data.size(), state::open),
      labels_(labels.begin(), labels.end()) {
  std::size_t const n = pool.data.size();
  if (options.per_query == 0) throw usage_error("found 0 documents of a query, expected 1 or more");
  if (options.by == strategy::committee && who_.learners.size() + who_.fixed.size() < 2)
    throw usage_error("found a committee of fewer than two members, expected two or more");
  if (options.by == strategy::margin && who_.learners.empty())
    throw usage_error("margins need a member that learns, found none");
  if (chosen.empty())
    throw usage_error("found no labelled documents, expected at least one to start from");
  if (labels.size() != n || pool.items.documents != n)
    throw usage_error(fmt::format("found {} and {} for {}, expected as many",
                                  counted(labels.size(), "label"),
                                  counted(pool.items.documents, "binned document"), n));
  for (std::vector<double> const& scores : who_.fixed)
    if (scores.size() != n)
      throw usage_error(fmt::format("found {} for {}, expected as many",
                                    counted(scores.size(), "score"), counted(n, "document")));
  for (std::size_t d : chosen) {
    if (labels_.at(d) < 0)
      throw usage_error(fmt::format("document {} has no label, expected one", d));
    states_[d] = state::labelled;
  }
  labelled_ = chosen.size();
  for (std::size_t d : left_out) states_.at(d) = state::left_out;
}

std::vector<std::size_t> second_stage::labelled_documents() const {
  std::vector<std::size_t> found;
  for (std::size_t d = 0; d < states_.size(); ++d)
    if (states_[d] == state::labelled) found.push_back(d);
  return found;
}

/// Fits the first `learners` members and returns their scores of the pool.
std::vector<std::vector<double>> second_stage::votes(context const& ctx, std::size_t learners) {
  std::vector<std::size_t> const known = labelled_documents();
  std::vector<std::vector<double>> all;
  for (std::size_t m = 0; m < learners; ++m) {
    who_.learners[m]->fit(ctx, pool_, {known, labels_});
    all.push_back(who_.learners[m]->score(ctx, pool_));
  }
  return all;
}

/// The candidates of each query, best first.
std::vector<std::vector<pick>> second_stage::candidates(context const& ctx) {
  auto const& queries = pool_.data.queries;
  std::vector<std::vector<pick>> found(queries.size());
  auto const take = [&](std::size_t q, std::vector<std::size_t> const& order, auto const& worth) {
    for (std::size_t d : order) found[q].push_back({d, rounds_done_ + 1, worth(d)});
  };
  auto const open = [&](datasets::query_group const& query) {
    std::vector<std::size_t> documents;
    for (std::size_t d = query.begin; d < query.end; ++d)
      if (states_[d] == state::open) documents.push_back(d);
    return documents;
  };
  auto const nothing = [](std::size_t) { return std::uint64_t{0}; };
  if (options_.by == strategy::random) {
    if (!draw_) draw_.emplace(ctx.seed);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      // Shuffles all documents, so that excluding one does not affect the others.
      std::vector<std::size_t> documents(queries[q].size());
      std::iota(documents.begin(), documents.end(), queries[q].begin);
      shuffle(std::span(documents), *draw_);
      std::erase_if(documents, [&](std::size_t d) { return states_[d] != state::open; });
      take(q, documents, nothing);
    }
    return found;
  }
  bool const whole = options_.by == strategy::committee;
  std::vector<std::vector<double>> const learnt = votes(ctx, whole ? who_.learners.size() : 1);
  parallel_for(ctx, queries.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) {
      std::size_t const first = queries[q].begin, size = queries[q].size();
      std::vector<std::size_t> documents = open(queries[q]);
      auto const of_query = [&](std::vector<double> const& all) {
        return std::span(all).subspan(first, size);
      };
      if (whole) {
        std::vector<std::span<double const>> scores;
        for (auto const& s : learnt) scores.push_back(of_query(s));
        for (auto const& s : who_.fixed) scores.push_back(of_query(s));
        std::vector<std::uint64_t> const worth = disagreements(scores);
        std::stable_sort(documents.begin(), documents.end(), [&](std::size_t a, std::size_t b) {
          return worth[a - first] > worth[b - first];
        });
        take(q, documents, [&](std::size_t d) { return worth[d - first]; });
      } else {
        std::vector<double> const gaps = margins(of_query(learnt.front()));
        std::stable_sort(documents.begin(), documents.end(), [&](std::size_t a, std::size_t b) {
          return gaps[a - first] < gaps[b - first];
        });
        take(q, documents, nothing);
      }
    }
  });
  return found;
}

/// Selects the best open candidates, within the budget.
void second_stage::fill() {
  wanted_.clear();
  std::size_t const left = options_.max_documents == 0
                               ? states_.size()
                               : std::max(options_.max_documents, labelled_) - labelled_;
  std::size_t longest = 0;
  for (auto& of_query : candidates_) {
    std::erase_if(of_query, [&](pick const& p) { return states_[p.document] != state::open; });
    longest = std::max(longest, of_query.size());
  }
  for (std::size_t i = 0; i < std::min(options_.per_query, longest); ++i)
    for (auto const& of_query : candidates_)
      if (i < of_query.size() && wanted_.size() < left) wanted_.push_back(of_query[i]);
}

std::vector<pick> const& second_stage::select(context const& ctx) {
  if (!wanted_.empty() || rounds_done_ == options_.rounds) return wanted_;
  bool const full = options_.max_documents != 0 && labelled_ >= options_.max_documents;
  if (full || std::find(states_.begin(), states_.end(), state::open) == states_.end())
    return wanted_;
  ctx.report("rounds", rounds_done_, options_.rounds);
  candidates_ = candidates(ctx);
  fill();
  return wanted_;
}

void second_stage::leave_out(std::size_t document) {
  if (std::none_of(wanted_.begin(), wanted_.end(),
                   [&](pick const& p) { return p.document == document; }))
    throw usage_error(fmt::format("document {} is not among the documents picked now", document));
  states_[document] = state::left_out;
  fill();
}

void second_stage::answer(std::span<std::int32_t const> labels) {
  if (labels.size() != wanted_.size())
    throw usage_error(fmt::format("found {} for {}, expected as many",
                                  counted(labels.size(), "label"),
                                  counted(wanted_.size(), "pick")));
  for (std::int32_t label : labels)
    if (label < 0) throw usage_error(fmt::format("found label {}, expected 0 or more", label));
  if (labels.empty()) return;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::size_t const d = wanted_[i].document;
    states_[d] = state::labelled;
    labels_[d] = labels[i];
    ++labelled_;
    picks_.push_back(wanted_[i]);
  }
  wanted_.clear();
  ++rounds_done_;
}

}  // namespace rulerank::learners
