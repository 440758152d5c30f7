#include "l2r/ranker.hpp"

#include "core/error.hpp"
#include "datasets/feature_order.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace rulerank::l2r {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

constexpr std::array descriptions {
  engine_description{engine::project, "project", "cpu",
                     "bit rows compressed to the documents that hold an itemset's first items, "
                     "shared by the test documents that hold them too",
                     true},
      engine_description{
          engine::lrar, "lrar", "cpu",
          "as published (Freitas 2017, Algorithm 5): serial, with a cache of supports"},
#if RULERANK_HAS_CUDA
      engine_description{
          engine::tensor, "tensor", "cuda",
          "bit rows multiplied on the tensor cores; for many documents, what they share "
          "computed once",
          true},
      engine_description{engine::plrar, "plrar", "cuda",
                         "as published (Freitas 2017, Algorithm 6): a document a thread, no cache"},
      engine_description{engine::profl_t, "profl-t", "cuda",
                         "as published (Freitas 2017, section 4.3.6): a document a thread, with a "
                         "cache of itemsets"},
      engine_description{
          engine::profl, "profl", "cuda",
          "as published (Freitas 2017, Algorithms 16 and 17): a document a block, with "
          "a cache of itemsets on each GPU"},
#endif
};

/// The default engine for GPUs where there are some to run on and the build has it.
engine default_engine(bool gpus) {
  engine best = engine::project;
  for (engine_description const& d : descriptions)
    if (d.is_default && (gpus || !d.runs_on.starts_with("cuda"))) best = d.which;
  return best;
}

}  // namespace

std::span<engine_description const> engines() {
  return descriptions;
}

std::string_view name_of(engine which) {
  return engine_name(descriptions, which);
}

engine engine_from(std::string_view name) {
  return engine_in<engine>(descriptions, name, without_cuda);
}

void check(scoring_options const& options) {
  if (options.rule_size < 2)
    throw usage_error(fmt::format("rule size {}, expected 2 or more: it counts the consequent",
                                  options.rule_size));
  rules::check(options.thresholds);
  if (!(std::abs(options.support_weight) <= 16))
    throw usage_error(fmt::format("support weight {}, expected -16 to 16", options.support_weight));
  if (!(options.smoothing >= 0 && options.smoothing <= 1e9))
    throw usage_error(fmt::format("smoothing {}, expected 0 to 1e9", options.smoothing));
  if (!(options.feature_share > 0 && options.feature_share <= 1))
    throw usage_error(
        fmt::format("feature share {}, expected above 0 and at most 1", options.feature_share));
}

prepared_training::prepared_training(datasets::binned_dataset const& training,
                                     ranker_options const& how)
    : options((check(how), how)),
      features(training.features),
      item_begin(training.item_begin),
      has_missing_item(training.has_missing_item),
      index(training),
      table(index, features.size(), how, how.wide_sums) {}

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
          "feature {} has {} bins in the test set and {} in the training set: not the same cuts",
          training.features[f], there, present));
    columns_[f] = test.column(g);
  }
}

ranker::ranker(context const& ctx, datasets::binned_dataset const& training,
               ranker_options const& options) {
  auto const begin = clock::now();
  ctx.check_stop();
  which_ =
      options.engine == engine::automatic ? default_engine(!ctx.devices.empty()) : options.engine;
  if (needs_gpu(descriptions, which_) && ctx.devices.empty())
    throw device_error(
        fmt::format("engine {} runs on GPUs, and there is none to run on", name_of(which_)));
  check(options);
  prepared_ = options.feature_share == 1
                  ? std::make_unique<prepared_training const>(training, options)
                  : std::make_unique<prepared_training const>(
                        datasets::best_features(ctx, training, options.feature_share), options);
  switch (which_) {
    case engine::lrar:
      engine_ = make_lrar(*prepared_);
      break;
    case engine::project:
    case engine::automatic:
      engine_ = make_project(*prepared_);
      break;
#if RULERANK_HAS_CUDA
    case engine::tensor:
      engine_ = make_tensor(ctx, *prepared_);
      break;
    case engine::plrar:
      engine_ = make_plrar(ctx, *prepared_);
      break;
    case engine::profl_t:
      engine_ = make_profl_t(ctx, *prepared_);
      break;
    case engine::profl:
      engine_ = make_profl(ctx, *prepared_);
      break;
#else
    default:
      throw device_error("this build has no engines for GPUs");
#endif
  }
  prepare_s_ = seconds_since(begin);
}

ranker::~ranker() = default;
ranker::ranker(ranker&&) noexcept = default;
ranker& ranker::operator=(ranker&&) noexcept = default;

scored ranker::score(context const& ctx, datasets::binned_dataset const& test) {
  auto const begin = clock::now();
  scored result;
  result.engine = which_;
  result.scores.resize(test.documents);
  engine_->score(ctx, known_items(*prepared_, test), result);
  result.timings.prepare_s = prepare_s_;
  result.timings.score_s = seconds_since(begin);
  return result;
}

l2r::engine ranker::engine() const noexcept {
  return which_;
}

prepared_training const& ranker::prepared() const noexcept {
  return *prepared_;
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
