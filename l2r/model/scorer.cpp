#include "l2r/model/scorer.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "core/stopwatch.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/rules/shared_scores.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

std::unique_ptr<prepared_member> prepare(context const& ctx, model_member const& of,
                                         engine_options const& how) {
  return member_kinds()[of.index()].prepare(ctx, of, how);
}

/// Whether a member scores raw documents instead of items.
bool is_raw(model_member const& of) {
  return member_kinds()[of.index()].raw;
}

void expect_members(model const& m) {
  if (m.members.empty()) throw usage_error("found a model without members, expected one or more");
}

/// Bins the documents for each member. Items of equal cuts are made once and kept until the last
/// member that needs them.
class items_by_member {
 public:
  items_by_member(context const& ctx, datasets::dataset const& documents,
                  std::vector<cuts_pointer> const& cuts)
      : ctx_(ctx), documents_(documents), cuts_(cuts), made_(cuts.size()) {}

  /// Adds the seconds spent to `seconds`.
  std::shared_ptr<datasets::binned_dataset const> take(std::size_t k, double& seconds) {
    if (made_[k] == nullptr) {
      if (cuts_[k] == nullptr)
        throw usage_error("found a member without cuts, expected documents that are items already");
      stopwatch const watch;
      made_[k] = std::make_shared<datasets::binned_dataset const>(
          datasets::apply_discretizer(ctx_, documents_, *cuts_[k]));
      for (std::size_t j = k + 1; j < cuts_.size(); ++j)
        if (same_cuts(cuts_[k], cuts_[j])) made_[j] = made_[k];
      seconds += watch.seconds();
    }
    return std::exchange(made_[k], nullptr);
  }

 private:
  context const& ctx_;
  datasets::dataset const& documents_;
  std::vector<cuts_pointer> const& cuts_;
  std::vector<std::shared_ptr<datasets::binned_dataset const>> made_;  // [members]
};

/// The items of `documents` for member k.
datasets::binned_dataset const& items_of(binned_lists const& documents, std::size_t k) {
  return *documents.items[documents.items.size() == 1 ? 0 : k];
}

void expect_items(binned_lists const& documents, model const& m) {
  std::size_t const members = m.members.size();
  if (documents.items.size() != 1 && documents.items.size() != members)
    throw usage_error(fmt::format("found items of {}, expected items of {}, or one set for all",
                                  counted(documents.items.size(), "member"), members));
  for (std::size_t k = 0; k < members; ++k)
    if (is_raw(m.members[k]))
      throw usage_error(
          fmt::format("member {} is of the kind {}, which scores raw documents, found items", k + 1,
                      kind_of(m.members[k])));
}

/// Scores raw documents or items over the context's processes: calls `score` with this process's
/// documents.
template <class Score>
scored share_raw(context const& ctx, datasets::dataset const& documents, Score const& score) {
  return share_scores(ctx, documents.queries,
                      [&](context const& alone, std::span<std::size_t const> mine) {
                        return score(alone, datasets::subset(documents, mine));
                      });
}
template <class Score>
scored share_items(context const& ctx, binned_lists const& documents, Score const& score) {
  return share_scores(ctx, documents.queries,
                      [&](context const& alone, std::span<std::size_t const> mine) {
                        std::map<datasets::binned_dataset const*, datasets::binned_dataset> some;
                        std::vector<datasets::query_group> lists;
                        for (datasets::query_group list : documents.queries) {
                          if (list.begin < mine.front() || list.begin > mine.back()) continue;
                          list.begin -= mine.front();
                          list.end -= mine.front();
                          lists.push_back(std::move(list));
                        }
                        binned_lists part{lists, {}};
                        for (datasets::binned_dataset const* const one : documents.items) {
                          auto const [at, missing] = some.try_emplace(one);
                          if (missing) at->second = datasets::subset(*one, mine);
                          part.items.push_back(&at->second);
                        }
                        return score(alone, part);
                      });
}

/// Combines the members' scores into one per document.
scored combined(std::span<datasets::query_group const> queries, std::vector<scored> members) {
  scored all = members.front();
  for (std::size_t k = 1; k < members.size(); ++k) {
    scored const& one = members[k];
    if (all.engine == engine::automatic) all.engine = one.engine;
    add(all.counts, one.counts);
    all.timings.prepare_s += one.timings.prepare_s;
    all.timings.discretize_s += one.timings.discretize_s;
    all.timings.score_s += one.timings.score_s;
    all.timings.device_s += one.timings.device_s;
    all.joined_calls = std::max(all.joined_calls, one.joined_calls);
  }
  std::vector<std::vector<double>> scores;
  for (scored& one : members) scores.push_back(std::move(one.scores));
  all.scores = combine(queries, scores);
  return all;
}

/// The scores of raw documents by each member; `prepared(k)` returns member k.
template <class Prepared>
std::vector<scored> each_score(context const& ctx, datasets::dataset const& documents,
                               model const& m, Prepared&& prepared) {
  std::vector<cuts_pointer> cuts;
  for (model_member const& one : m.members)
    cuts.push_back(is_raw(one) ? cuts_pointer() : cuts_of(one));
  context const team = with_useful_threads(ctx, documents.entries.size(), values_a_thread);
  items_by_member items(team, documents, cuts);
  std::vector<scored> all;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    if (is_raw(m.members[k])) {
      all.push_back(prepared(k)->score(team, documents));
      continue;
    }
    double seconds = 0;
    auto const mine = items.take(k, seconds);
    auto const& member = prepared(k);
    all.push_back(member->score(member->rules() == nullptr ? team : ctx, *mine));
    all.back().timings.discretize_s = seconds;
  }
  return all;
}

}  // namespace

struct scorer::state {
  l2r::model model;
  std::vector<std::unique_ptr<prepared_member>> members;
  double prepare_s = 0;
  l2r::engine engine = engine::automatic;
};

scorer::scorer(context const& ctx, l2r::model model, engine_options const& options) {
  stopwatch const watch;
  expect_members(model);
  auto made = std::make_unique<state>();
  made->model = std::move(model);
  for (model_member const& one : made->model.members) {
    made->members.push_back(prepare(ctx, one, options));
    ranker const* const rules = made->members.back()->rules();
    if (rules != nullptr && made->engine == engine::automatic) made->engine = rules->engine();
  }
  made->prepare_s = watch.seconds();
  state_ = std::move(made);
}

scorer::~scorer() = default;
scorer::scorer(scorer&&) noexcept = default;
scorer& scorer::operator=(scorer&&) noexcept = default;

std::vector<scored> scorer::score_each(context const& ctx,
                                       datasets::dataset const& documents) const {
  return each_score(ctx, documents, state_->model,
                    [&](std::size_t k) { return state_->members[k].get(); });
}

scored scorer::score(context const& ctx, datasets::dataset const& documents) const {
  if (has_processes(ctx))
    return share_raw(ctx, documents, [this](auto const&... part) { return score(part...); });
  return combined(documents.queries, score_each(ctx, documents));
}

scored scorer::score(context const& ctx, binned_lists const& documents) const {
  expect_items(documents, state_->model);
  if (has_processes(ctx))
    return share_items(ctx, documents, [this](auto const&... part) { return score(part...); });
  std::vector<scored> all;
  for (std::size_t k = 0; k < state_->members.size(); ++k)
    all.push_back(state_->members[k]->score(ctx, items_of(documents, k)));
  return combined(documents.queries, std::move(all));
}

model const& scorer::fitted() const noexcept {
  return state_->model;
}

l2r::engine scorer::engine() const noexcept {
  return state_->engine;
}

double scorer::prepare_s() const noexcept {
  return state_->prepare_s;
}

prepared_member const& scorer_access::prepared(scorer const& of, std::size_t k) {
  return *of.state_->members.at(k);
}

scored score(context const& ctx, model const& by, datasets::dataset const& documents,
             engine_options const& options) {
  expect_members(by);
  if (has_processes(ctx))
    return share_raw(ctx, documents, [&](context const& alone, datasets::dataset const& part) {
      return score(alone, by, part, options);
    });
  return combined(documents.queries, each_score(ctx, documents, by, [&](std::size_t k) {
                    return prepare(ctx, by.members[k], options);
                  }));
}

scored score(context const& ctx, model const& by, binned_lists const& documents,
             engine_options const& options) {
  expect_members(by);
  expect_items(documents, by);
  if (has_processes(ctx))
    return share_items(ctx, documents, [&](context const& alone, binned_lists const& part) {
      return score(alone, by, part, options);
    });
  std::vector<scored> all;
  for (std::size_t k = 0; k < by.members.size(); ++k)
    all.push_back(prepare(ctx, by.members[k], options)->score(ctx, items_of(documents, k)));
  return combined(documents.queries, std::move(all));
}

}  // namespace rulerank::l2r
