#include "experiment/label_choice.hpp"

#include "core/error.hpp"
#include "core/named_values.hpp"
#include "core/random.hpp"
#include "experiment/baselines.hpp"
#include "learners/disagreement.hpp"
#include "learners/learner.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::experiment {

namespace {

constexpr std::array<std::string_view, way_count> names{"all",   "chosen", "random",  "queries",
                                                        "depth", "margin", "entropy", "variance"};

constexpr rules::rule_size least_rule_size = 2;  // of selective sampling

// A committee of our rankers, each fitted to two thirds of the labelled documents.
constexpr std::size_t committee_members = 5;
constexpr std::size_t most_retrainings = 10;

/// A separate random engine for each purpose.
random_engine engine_for(std::uint64_t seed, std::uint64_t fold, way w, std::size_t draw) {
  std::seed_seq mixed{seed & 0xffffffff, seed >> 32, fold, std::uint64_t{draw},
                      static_cast<std::uint64_t>(w) + 1};
  return random_engine(mixed);
}

std::vector<std::size_t> shuffled(std::size_t n, random_engine& engine) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), engine);
  return order;
}

std::vector<std::size_t> ascending(std::vector<std::size_t> documents) {
  std::sort(documents.begin(), documents.end());
  return documents;
}

/// The value of a feature: 0 if unlisted, empty if missing.
std::optional<double> value_of(datasets::dataset const& data, std::size_t d,
                               std::uint32_t feature) {
  auto const document = data.document(d);
  auto const at = std::lower_bound(
      document.begin(), document.end(), feature,
      [](datasets::feature_value const& v, std::uint32_t f) { return v.feature < f; });
  if (at == document.end() || at->feature != feature) return 0.0;
  if (std::isnan(at->value)) return {};
  return at->value;
}

/// Pearson's correlation of a feature with the labels of some documents; 0 if undefined.
double correlation(datasets::dataset const& data, std::span<std::size_t const> documents,
                   std::uint32_t feature) {
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t const d : documents)
    if (auto const value = value_of(data, d, feature))
      pairs.emplace_back(*value, static_cast<double>(data.labels[d]));
  auto const n = static_cast<double>(pairs.size());
  double x = 0, y = 0;
  for (auto const& p : pairs) {
    x += p.first / n;
    y += p.second / n;
  }
  double xx = 0, yy = 0, xy = 0;
  for (auto const& p : pairs) {
    xx += (p.first - x) * (p.first - x);
    yy += (p.second - y) * (p.second - y);
    xy += (p.first - x) * (p.second - y);
  }
  double const found = xy / std::sqrt(xx * yy);
  return std::isfinite(found) ? found : 0;
}

/// The first feature named BM25 or similar; empty if there is none.
std::optional<std::uint32_t> named_bm25(datasets::dataset const& data) {
  for (auto const& [feature, name] : data.names) {
    std::string small = name;
    for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (small.find("bm25") != std::string::npos) return feature;
  }
  return {};
}

/// The entropy of the members' votes; a member votes for the label nearest to its score.
double vote_entropy(std::span<double const> scores) {
  std::vector<double> votes;
  for (double const s : scores) votes.push_back(std::round(s));
  std::sort(votes.begin(), votes.end());
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < votes.size(); ++i)
    if (i > 0 && votes[i] == votes[i - 1])
      ++counts.back();
    else
      counts.push_back(1);
  std::sort(counts.begin(), counts.end());  // equal counts give equal sums
  double entropy = 0;
  for (std::size_t const c : counts) {
    double const share = static_cast<double>(c) / static_cast<double>(votes.size());
    entropy -= share * std::log(share);
  }
  return entropy;
}

double variance_of(std::span<double const> scores) {
  auto const n = static_cast<double>(scores.size());
  double const mean = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
  double squares = 0;
  for (double const s : scores) squares += (s - mean) * (s - mean);
  return squares / n;
}

/// Fits each member to a random two thirds; returns their scores of all documents.
std::vector<std::vector<double>> committee_scores(context const& ctx,
                                                  learners::documents const& pool,
                                                  std::vector<std::size_t> const& known,
                                                  random_engine& engine) {
  l2r::ranker_options options;
  options.scoring.rule_size = 2;  // tens of times faster than size 3
  std::vector<std::vector<double>> scores;
  for (std::size_t m = 0; m < committee_members; ++m) {
    std::vector<std::size_t> part = shuffled(known.size(), engine);
    part.resize((2 * known.size() + 2) / 3);
    for (std::size_t& i : part) i = known[i];
    part = ascending(std::move(part));
    auto const member = learners::make_rules_learner(options);
    member->fit(ctx, pool, {part, pool.data.labels});
    scores.push_back(member->score(ctx, pool));
  }
  return scores;
}

/// The value of labelling each document for a committee way; larger is better.
std::vector<double> worth_of(way w, datasets::dataset const& data,
                             std::vector<std::vector<double>> const& scores) {
  std::vector<double> worth(data.size());
  std::vector<double> of_document(scores.size());
  for (std::size_t d = 0; d < worth.size(); ++d) {
    for (std::size_t m = 0; m < scores.size(); ++m) of_document[m] = scores[m][d];
    worth[d] = w == way::entropy    ? vote_entropy(of_document)
               : w == way::variance ? variance_of(of_document)
                                    : std::accumulate(of_document.begin(), of_document.end(), 0.0);
  }
  if (w != way::margin) return worth;
  for (datasets::query_group const& q : data.queries) {
    std::vector<double> const gaps = learners::margins(std::span(worth).subspan(q.begin, q.size()));
    for (std::size_t i = 0; i < gaps.size(); ++i) worth[q.begin + i] = -gaps[i];
  }
  return worth;
}

}  // namespace

std::string_view name_of(way w) {
  return names[static_cast<std::size_t>(w)];
}

std::vector<std::string_view> way_names() {
  return {names.begin(), names.end()};
}

way way_from(std::string_view name) {
  return value_named<way>(names, name, "found the way", name_list::plain);
}

bool is_drawn(way w) {
  return w != way::all && w != way::chosen;
}

document_chooser::document_chooser(context const& ctx, datasets::dataset const& data,
                                   datasets::binned_dataset const& items,
                                   way_options const& options, std::size_t most, std::uint64_t fold)
    : data_(data), items_(items), fold_(fold) {
  if (most == 0) return;
  al::sampler_options sampling;
  sampling.thresholds = options.thresholds;
  sampling.partitions = options.partitions;
  sampling.feature_order =
      datasets::order_features(ctx, items, options.feature_order, options.feature_order_file);
  sampling.rule_size = least_rule_size;
  sampling.max_documents = most;
  sampling.fill_budget = true;
  sampling.tie_keys = al::tie_keys(data, ctx.seed);
  std::vector<bool> labelled(data.size());
  for (al::choice const& c : al::reduce(ctx, items, sampling).choices) {
    if (labelled[c.document]) continue;
    labelled[c.document] = true;
    sampled_.push_back(c);
  }
}

chosen_documents document_chooser::choose(context const& ctx, way w, std::size_t count,
                                          std::size_t draw) const {
  count = std::clamp<std::size_t>(count, 1, data_.size());
  switch (w) {
    case way::all: {
      std::vector<std::size_t> every(data_.size());
      std::iota(every.begin(), every.end(), std::size_t{0});
      return {std::move(every), {}};
    }
    case way::chosen:
      return by_sampling(count);
    case way::random:
      return {draw_documents(ctx.seed, fold_, draw, data_.size(), count), {}};
    case way::queries:
      return {by_queries(ctx.seed, count, draw), {}};
    case way::depth:
      return by_depth(ctx.seed, count, draw);
    case way::margin:
    case way::entropy:
    case way::variance:
      break;
  }
  return {by_committee(ctx, w, count, draw), {}};
}

chosen_documents document_chooser::by_sampling(std::size_t count) const {
  if (sampled_.empty()) throw usage_error("this chooser does not include selective sampling");
  std::span const first = std::span(sampled_).first(std::min(count, sampled_.size()));
  chosen_documents found;
  rules::rule_size largest = least_rule_size;
  for (al::choice const& one : first) {
    found.documents.push_back(one.document);
    largest = std::max(largest, one.rule_size);
  }
  found.documents = ascending(std::move(found.documents));
  found.how = largest == least_rule_size
                  ? fmt::format("rule size {}", largest)
                  : fmt::format("rule sizes {} to {}", least_rule_size, largest);
  if (first.back().why == al::reason::new_items) found.how += ", then new items";
  if (first.back().why == al::reason::random) found.how += ", then new items, then at random";
  return found;
}

std::vector<std::size_t> document_chooser::by_queries(std::uint64_t seed, std::size_t count,
                                                      std::size_t draw) const {
  random_engine engine = engine_for(seed, fold_, way::queries, draw);
  std::vector<std::size_t> found;
  for (std::size_t const q : shuffled(data_.queries.size(), engine)) {
    datasets::query_group const& query = data_.queries[q];
    for (std::size_t const i : shuffled(query.size(), engine)) found.push_back(query.begin + i);
  }
  found.resize(count);
  return ascending(std::move(found));
}

/// The first of every query, then the second of every query, ..., with queries in random order.
/// Ranks by BM25 if a feature has that name, else by the feature that correlates best with the
/// labels of a random tenth of the documents, which is part of the sample.
chosen_documents document_chooser::by_depth(std::uint64_t seed, std::size_t count,
                                            std::size_t draw) const {
  random_engine engine = engine_for(seed, fold_, way::depth, draw);
  std::vector<std::size_t> found;
  std::optional<std::uint32_t> feature = named_bm25(data_);
  bool upwards = true;
  std::string how;
  if (feature) {
    how = fmt::format("feature {}", datasets::name_of(*feature, data_.names));
  } else {
    constexpr std::size_t share = 10;
    found = draw_documents(seed, fold_, draw, data_.size(), (count + share - 1) / share);
    double best = -1;
    for (std::uint32_t const f : datasets::listed_features(data_)) {
      double const c = correlation(data_, found, f);
      if (std::abs(c) <= best) continue;
      best = std::abs(c);
      feature = f;
      upwards = c >= 0;
    }
    if (!feature)
      throw error({data_.name, 0, 0}, "no document lists a feature, expected one to choose by");
    how = fmt::format("feature {}, {}, by {} labels", datasets::name_of(*feature, data_.names),
                      upwards ? "highest first" : "lowest first", found.size());
  }
  std::vector<bool> taken(data_.size());
  for (std::size_t const d : found) taken[d] = true;
  std::vector<std::vector<std::size_t>> lists;  // [queries in random order]
  std::size_t deepest = 0;
  for (std::size_t const q : shuffled(data_.queries.size(), engine)) {
    std::vector<std::pair<double, std::size_t>> ranked;
    datasets::query_group const& query = data_.queries[q];
    for (std::size_t const i : shuffled(query.size(), engine)) {
      std::size_t const d = query.begin + i;
      if (taken[d]) continue;
      auto const value = value_of(data_, d, *feature);
      double const key = !value ? -HUGE_VAL : upwards ? *value : -*value;
      ranked.emplace_back(key, d);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](auto const& a, auto const& b) { return a.first > b.first; });
    lists.emplace_back();
    for (auto const& r : ranked) lists.back().push_back(r.second);
    deepest = std::max(deepest, ranked.size());
  }
  for (std::size_t depth = 0; depth < deepest; ++depth)
    for (auto const& list : lists)
      if (depth < list.size() && found.size() < count) found.push_back(list[depth]);
  return {ascending(std::move(found)), std::move(how)};
}

/// Starts with random documents. Then, at most ten times, refits the committee and adds the
/// documents of the largest value. Ties are broken at random.
std::vector<std::size_t> document_chooser::by_committee(context const& ctx, way w,
                                                        std::size_t count, std::size_t draw) const {
  random_engine engine = engine_for(ctx.seed, fold_, w, draw);
  std::size_t const step = std::max<std::size_t>(1, count / (most_retrainings + 1));
  std::size_t const rounds = std::min(most_retrainings, (count - 1) / step);
  std::vector<std::size_t> known =
      draw_documents(ctx.seed, fold_, draw, data_.size(), count - rounds * step);
  for (std::size_t round = 0; round < rounds; ++round) {
    ctx.check_stop();
    std::vector<double> const worth =
        worth_of(w, data_, committee_scores(ctx, {data_, items_}, known, engine));
    std::vector<bool> taken(data_.size());
    for (std::size_t const d : known) taken[d] = true;
    std::vector<std::size_t> open = shuffled(data_.size(), engine);
    std::erase_if(open, [&](std::size_t d) { return taken[d]; });
    std::stable_sort(open.begin(), open.end(),
                     [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
    known.insert(known.end(), open.begin(), open.begin() + static_cast<std::ptrdiff_t>(step));
    known = ascending(std::move(known));
  }
  return known;
}

}  // namespace rulerank::experiment
