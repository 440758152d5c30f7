#include "l2r/rules/ranker.hpp"

#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "datasets/feature_order.hpp"
#include "l2r/rules/call_queue.hpp"
#include "l2r/rules/engine.hpp"
#include "l2r/rules/engine_knobs.hpp"
#include "l2r/rules/ranking_work.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

/// Documents of joined calls, so that a call waits for few others.
constexpr std::size_t most_joined = 16'384;

/// Limit on the itemsets of one call: a night's work, at about 3e8 itemsets per second and thread,
/// a fifth of that with wide sums, 3e6 for the serial lrar, and 1e11 per second and GPU.
double most_itemsets(context const& ctx, engine_info const& entry, bool wide) {
  if (includes(entry.where, runs_on::gpus))
    return 4e15 * static_cast<double>(std::max<std::size_t>(ctx.devices.size(), 1));
  if (entry.which == engine::lrar) return 1e11;
  return (wide ? 2e12 : 1e13) * ctx.thread_count();
}

/// Approximate itemsets per second, measured on OHSUMED with all its training documents and rules
/// of size 7 and 8; fewer training documents are faster. 0: unknown.
double itemsets_a_second(context const& ctx, engine_info const& entry, bool wide) {
  if (entry.which == engine::project) return (wide ? 4e7 : 2e8) * ctx.thread_count();
  return entry.which == engine::lrar ? 1e7 : 0;
}

/// Calls `long_work` if the work takes long.
void announce(context const& ctx, engine_info const& entry, prepared_training const& training,
              known_items const& test, long_work_fn const& long_work) {
  constexpr double long_s = 10;
  double const rate = itemsets_a_second(ctx, entry, training.table.is_wide());
  if (!long_work || rate == 0) return;
  double const seconds = itemsets_ahead(ctx, training, test, long_s * rate) / rate;
  if (seconds > long_s) long_work(seconds);
}

}  // namespace

prepared_training::prepared_training(datasets::binned_dataset const& training,
                                     scoring_options const& how, std::size_t cache,
                                     engine_knobs const& of_tests)
    : options((check(how), how)),
      cache_bytes(cache),
      knobs(of_tests),
      features(training.features),
      item_begin(training.item_begin),
      has_missing_item(training.has_missing_item),
      index(training),
      table(index, features.size(), how, of_tests.wide_sums) {}

known_items::known_items(prepared_training const& training, datasets::binned_dataset const& test)
    : training_(training),
      test_(test),
      columns_(training.features.size()),
      bins_(training.features.size()) {
  for (std::size_t f = 0; f < training.features.size(); ++f) {
    bins_[f] = training.item_begin[f + 1] - training.item_begin[f];
    auto const found =
        std::lower_bound(test.features.begin(), test.features.end(), training.features[f]);
    if (found == test.features.end() || *found != training.features[f]) continue;
    auto const g = static_cast<std::size_t>(found - test.features.begin());
    std::uint32_t const present = bins_[f] - (training.has_missing_item[f] ? 1 : 0);
    std::uint32_t const there = test.bins(g) - (test.has_missing_item[g] ? 1 : 0);
    if (present != there)
      throw usage_error(fmt::format(
          "feature {} has {} in the test set and {} in the training set, expected the same cuts",
          training.features[f], counted(there, "bin"), present));
    columns_[f] = test.column(g);
  }
}

struct ranker::state {
  engine_info entry;
  std::unique_ptr<prepared_training const> prepared;
  std::unique_ptr<scoring_engine> engine;
  std::unique_ptr<call_queue> calls;  // null: the engine keeps no state between calls
  double prepare_s = 0;
  long_work_fn long_work;
};

ranker::ranker(std::unique_ptr<state const> made) : state_(std::move(made)) {}

ranker::ranker(context const& ctx, datasets::binned_dataset const& training,
               ranker_options const& options)
    : ranker(ranker_access::with(ctx, training, options, {})) {}

ranker ranker_access::with(context const& ctx, datasets::binned_dataset const& training,
                           ranker_options const& options, engine_knobs const& knobs) {
  stopwatch const watch;
  ctx.check_stop();
  auto made = std::make_unique<ranker::state>();
  made->entry = choose_engine(engines(), options.execution.engine, ctx);
  made->long_work = options.execution.long_work;
  check(options.scoring);
  auto const& settings = options.execution.settings;
  auto const cache = settings.find(cache_bytes_setting);
  auto const prepare = [&](datasets::binned_dataset const& items) {
    return std::make_unique<prepared_training const>(
        items, options.scoring, cache == settings.end() ? default_cache_bytes : cache->second,
        knobs);
  };
  double const share = options.scoring.feature_share;
  made->prepared =
      share == 1 ? prepare(training) : prepare(datasets::best_features(ctx, training, share));
  engine_maker const& maker = registered_engines().maker_of(made->entry.which);
  made->engine = maker.make(ctx, *made->prepared);
  bool const joins = maker.joins_calls || knobs.join_calls;
  if (maker.keeps_state || joins)
    made->calls =
        std::make_unique<call_queue>(*made->engine, *made->prepared, joins ? most_joined : 0);
  made->prepare_s = watch.seconds();
  return ranker(std::move(made));
}

ranker::~ranker() = default;
ranker::ranker(ranker&&) noexcept = default;
ranker& ranker::operator=(ranker&&) noexcept = default;

scored ranker::score(context const& ctx, datasets::binned_dataset const& test) const {
  auto const& [entry, prepared, engine, calls, prepare_s, long_work] = *state_;
  stopwatch const watch;
  scored result;
  result.engine = entry.which;
  result.scores.resize(test.documents);
  known_items const known(*prepared, test);
  expect_feasible(ctx, *prepared, known, most_itemsets(ctx, entry, prepared->table.is_wide()));
  announce(ctx, entry, *prepared, known, long_work);
  calls ? calls->score(ctx, known, result) : engine->score(ctx, known, result);
  result.timings.prepare_s = prepare_s;
  result.timings.score_s = watch.seconds();
  return result;
}

l2r::engine ranker::engine() const noexcept {
  return state_->entry.which;
}

prepared_training const& ranker_access::prepared(ranker const& of) noexcept {
  return *of.state_->prepared;
}

std::vector<std::size_t> ranking(std::span<double const> scores, std::size_t begin,
                                 std::size_t end) {
  std::vector<std::size_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

}  // namespace rulerank::l2r
