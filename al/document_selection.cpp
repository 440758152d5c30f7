#include "al/document_selection.hpp"

#include <algorithm>
#include <utility>

namespace rulerank::inline v0::al {

document_selection::document_selection(sampling_setup const& setup, sampling_engine const& engine,
                                       shared_partitions parts,
                                       std::span<std::size_t const> chosen_before)
    : setup_(setup),
      loops_(engine.make_loops_on_gpus != nullptr
                 ? engine.make_loops_on_gpus(setup)
                 : make_counted_loops(setup, engine, std::move(parts))),
      choices_(setup.features.size()),
      documents_(chosen_before.begin(), chosen_before.end()) {
  if (setup.over_processes) loops_ = make_shared_loops(setup, std::move(loops_));
}

void document_selection::advance(label_source& labels) {
  wanted_.clear();
  if (labels.knows_all()) advance_side_by_side(labels);
  while (!all_ended()) {
    for (; turn_ < choices_.size(); ++turn_) {
      prepare(turn_, labels);
      if (ended(turn_)) continue;
      std::size_t const document = loops_->next_document(turn_);
      if (beyond_budget(document, 0)) return;
      setup_.ctx.check_stop();
      auto const label = labels.label(document);
      if (!label) return find_wanted(labels);
      choose(turn_, document, *label);
    }
    turn_ = 0;
  }
}

/// From the start, by iterations that all partitions can complete within the budget.
void document_selection::advance_side_by_side(label_source& labels) {
  std::size_t const budget = setup_.options.max_documents;
  std::size_t iterations = 0;
  do {
    if (budget != 0) {
      std::size_t const safe = (budget - documents_.size()) / choices_.size();
      if (safe == 0) return;
      iterations += safe;
    }
    loops_->advance(
        setup_.ctx, limit(iterations),
        [&](std::size_t q, std::size_t document, std::size_t iteration, std::uint64_t rules) {
          choices_[q].push_back({document, q, iteration, rules});
          return *labels.label(document);
        });
    for (auto const& of_partition : choices_)
      for (choice const& c : of_partition) documents_.insert(c.document);
  } while (!all_ended());
}

void document_selection::choose(std::size_t q, std::size_t document, std::int32_t label) {
  loops_->advance(setup_.ctx, q, loops_->report(q).iterations + 1,
                  [&](std::size_t, std::size_t, std::size_t iteration, std::uint64_t rules) {
                    choices_[q].push_back({document, q, iteration, rules});
                    return label;
                  });
  documents_.insert(document);
}

/// Wants one document of each partition whose turn is still to come: these do not depend on each
/// other's labels.
void document_selection::find_wanted(label_source& labels) {
  std::unordered_set<std::size_t> seen;  // not yet chosen
  for (std::size_t q = turn_; q < choices_.size(); ++q) {
    prepare(q, labels);
    if (ended(q)) continue;
    std::size_t const document = loops_->next_document(q);
    if (documents_.contains(document) || seen.contains(document)) continue;
    if (beyond_budget(document, seen.size())) return;
    seen.insert(document);
    if (!labels.label(document))
      wanted_.push_back({document, q, loops_->report(q).iterations, loops_->next_rules(q)});
  }
}

/// Starts partition q if needed, and drops excluded documents until the next choice is not
/// excluded.
void document_selection::prepare(std::size_t q, label_source const& labels) {
  loops_->start(q);
  while (!ended(q) && labels.left_out(loops_->next_document(q))) loops_->drop_next(q);
}

bool document_selection::ended(std::size_t q) const {
  return loops_->done(q) ||
         (setup_.fixed_iterations != 0 && loops_->report(q).iterations == setup_.fixed_iterations);
}

bool document_selection::all_ended() const {
  for (std::size_t q = 0; q < choices_.size(); ++q)
    if (!ended(q)) return false;
  return true;
}

std::size_t document_selection::limit(std::size_t iterations) const {
  std::size_t const fixed = setup_.fixed_iterations;
  if (fixed == 0) return iterations;
  return iterations == 0 ? fixed : std::min(iterations, fixed);
}

bool document_selection::beyond_budget(std::size_t document, std::size_t more) const {
  std::size_t const budget = setup_.options.max_documents;
  return budget != 0 && documents_.size() + more == budget && !documents_.contains(document);
}

sample document_selection::take() const {
  sample result;
  for (std::size_t q = 0; q < choices_.size(); ++q) {
    result.partitions.push_back(loops_->report(q));
    result.choices.insert(result.choices.end(), choices_[q].begin(), choices_[q].end());
  }
  std::ranges::stable_sort(result.choices, {}, &choice::iteration);
  for (choice& c : result.choices) c.rule_size = setup_.options.rule_size;
  result.ran_dry = all_ended() && setup_.fixed_iterations == 0;
  result.documents.assign(documents_.begin(), documents_.end());
  std::ranges::sort(result.documents);
  return result;
}

}  // namespace rulerank::al
