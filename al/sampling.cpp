#include "al/sampling.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace rulerank::al {

namespace {

std::unique_ptr<rule_counter> make_counter(context const& ctx, engine which, partition const& part,
                                           std::size_t max_items, rules::validity const& valid) {
  if (which == engine::delta) return make_delta(part, max_items, valid);
  if (which != engine::prss) return make_recount(part, max_items, valid);
#if RULERANK_HAS_CUDA
  return make_prss(ctx, part, max_items, valid);
#else
  static_cast<void>(ctx);
  throw device_error("engine prss needs a build with CUDA");
#endif
}

}  // namespace

sampling::work::work(sampling const& owner, std::size_t q)
    : part(make_partition(owner.data_, owner.features_[q])),
      counter(make_counter(owner.ctx_, owner.engine_, part,
                           static_cast<std::size_t>(owner.options_.rule_size) - 1, owner.valid_)),
      run(part, *counter, owner.options_.fixed_iterations == 0) {}

sampling::sampling(context const& ctx, datasets::binned_dataset const& data,
                   sampler_options const& options, oracle const& label_of,
                   std::vector<std::vector<std::size_t>> features)
    : ctx_(ctx),
      data_(data),
      options_(options),
      label_of_(label_of),
      engine_(options.which),
      valid_(options.thresholds, static_cast<std::uint32_t>(data.documents)),
      features_(std::move(features)),
      lanes_(features_.size()) {
#if RULERANK_HAS_CUDA
  if (engine_ != engine::delta || ctx_.devices.empty()) return;
  std::vector<partition> parts(features_.size());
  parallel_for(ctx_, parts.size(), 1, [&](std::size_t q, std::size_t, int) {
    parts[q] = make_partition(data_, features_[q]);
  });
  on_devices_ = make_delta_on_devices(
      ctx_, std::move(parts), static_cast<std::size_t>(options_.rule_size) - 1, valid_,
      options_.fixed_iterations == 0, label_of_ ? std::vector<std::int32_t>{} : data_.labels);
#endif
}

void sampling::advance(std::size_t iterations) {
  if (on_devices_) return choose_on_devices(iterations, {});
  context inner = ctx_;
  context outer = ctx_;
  if (engine_ == engine::delta) {
    if (lanes_.size() > 1) inner.threads = 1;
  } else {
    outer.threads = 1;
    if (engine_ == engine::ssarp) inner.threads = 1;
  }
  parallel_for(outer, lanes_.size(), 1, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t q = begin; q < end; ++q) advance_one(inner, q, iterations);
  });
}

void sampling::advance_within(std::size_t budget) {
  // While all partitions together cannot exceed the budget, they go on side by side.
  std::size_t iterations = 0;
  while (std::size_t const safe = (budget - documents().size()) / lanes_.size()) {
    iterations += safe;
    advance(iterations);
    if (finished()) return;
  }
  context inner = ctx_;
  if (engine_ == engine::ssarp) inner.threads = 1;
  std::unordered_set<std::size_t> kept = documents();
  for (; !finished(); ++iterations)
    for (std::size_t q = 0; q < lanes_.size(); ++q) {
      if (lanes_[q].finished) continue;
      if (!done(q)) {
        std::size_t const next = next_document(q);
        if (kept.size() == budget && !kept.contains(next)) return;
        kept.insert(next);
      }
      advance_one(inner, q, iterations + 1);
    }
}

sample sampling::take() const {
  sample result;
  result.ran = engine_;
  for (lane const& l : lanes_) {
    result.partitions.push_back(l.report);
    result.choices.insert(result.choices.end(), l.choices.begin(), l.choices.end());
  }
  std::stable_sort(result.choices.begin(), result.choices.end(),
                   [](choice const& a, choice const& b) { return a.iteration < b.iteration; });
  auto const distinct = documents();
  result.documents.assign(distinct.begin(), distinct.end());
  std::sort(result.documents.begin(), result.documents.end());
  return result;
}

sampling::work const& sampling::start(std::size_t q) {
  if (!lanes_[q].going) {
    lanes_[q].going = std::make_unique<work>(*this, q);
    lanes_[q].report = lanes_[q].going->run.report();
  }
  return *lanes_[q].going;
}

bool sampling::done(std::size_t q) {
  if (on_devices_) return on_devices_->done(q);
  return start(q).run.done();
}

std::size_t sampling::next_document(std::size_t q) {
  if (on_devices_) return on_devices_->next_document(q);
  work const& going = start(q);
  return going.part.documents[going.run.next()];
}

/// All partitions, or one of them, go on; device_delta keeps how far each is.
void sampling::choose_on_devices(std::size_t iterations, std::optional<std::size_t> one) {
  auto const started = std::chrono::steady_clock::now();
  std::size_t const fixed = options_.fixed_iterations;
  if (fixed != 0) iterations = iterations == 0 ? fixed : std::min(iterations, fixed);
  auto const chosen = [&](std::size_t q, std::size_t document, std::size_t iteration,
                          std::uint64_t rules) {
    lanes_[q].choices.push_back({document, q, iteration, rules});
    return ask(document);
  };
  if (one)
    on_devices_->advance(ctx_, *one, iterations, chosen);
  else
    on_devices_->advance(ctx_, iterations, chosen);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - started;
  for (std::size_t q = 0; q < lanes_.size(); ++q) {
    double const before = lanes_[q].report.seconds;
    lanes_[q].report = on_devices_->report(q);
    // Partitions run side by side: each is given the time of all.
    lanes_[q].report.seconds = before + took.count();
    lanes_[q].finished =
        on_devices_->done(q) || (fixed != 0 && lanes_[q].report.iterations == fixed);
  }
}

void sampling::advance_one(context const& ctx, std::size_t q, std::size_t iterations) {
  if (on_devices_) return choose_on_devices(iterations, q);
  lane& l = lanes_[q];
  if (l.finished) return;
  auto const started = std::chrono::steady_clock::now();
  start(q);
  std::size_t const fixed = options_.fixed_iterations;
  if (fixed != 0) iterations = iterations == 0 ? fixed : std::min(iterations, fixed);
  l.going->run.advance(ctx, iterations,
                       [&](std::size_t position, std::size_t iteration, std::uint64_t rules) {
                         std::size_t const document = l.going->part.documents[position];
                         l.choices.push_back({document, q, iteration, rules});
                         return ask(document);
                       });
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - started;
  double const before = l.report.seconds;
  l.report = l.going->run.report();
  l.report.seconds = before + took.count();
  l.finished = l.going->run.done() || (fixed != 0 && l.report.iterations == fixed);
  if (l.finished) l.going.reset();
}

std::int32_t sampling::ask(std::size_t document) {
  std::lock_guard const lock(mutex_);
  ctx_.report("documents chosen", ++chosen_in_all_, 0);
  std::int32_t const label = label_of_ ? label_of_(document) : data_.labels[document];
  if (label < 0)
    throw usage_error(fmt::format("document {} was chosen and has no label", document));
  return label;
}

bool sampling::finished() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](lane const& l) { return l.finished; });
}

std::unordered_set<std::size_t> sampling::documents() const {
  std::unordered_set<std::size_t> distinct;
  for (lane const& l : lanes_)
    for (choice const& c : l.choices) distinct.insert(c.document);
  return distinct;
}

}  // namespace rulerank::al
