#include "eval/agreement.hpp"

#include "core/error.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace rulerank::inline v0::eval {

namespace {

/// Counts of labels by unit.
struct label_counts {
  explicit label_counts(ratings const& given)
      : labels(given.labels()), of_unit(given.query_of.size() * labels.size()) {
    for (rating const& r : given.all) ++of_unit[r.unit * labels.size() + index_of(r.label)];
  }
  std::size_t index_of(std::int32_t label) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(labels, label) - labels.begin());
  }
  std::span<std::size_t const> unit(std::size_t u) const {
    return std::span(of_unit).subspan(u * labels.size(), labels.size());
  }
  std::size_t units() const { return labels.empty() ? 0 : of_unit.size() / labels.size(); }

  std::vector<std::int32_t> labels;
  std::vector<std::size_t> of_unit;  // [units x labels]
};

std::size_t total(std::span<std::size_t const> counts) {
  std::size_t sum = 0;
  for (std::size_t const n : counts) sum += n;
  return sum;
}

/// Sums over units from which all measures of all sources follow.
struct agreement_sums {
  explicit agreement_sums(std::size_t labels) : coincidences(labels * labels), ratings(labels) {}

  /// Adds a unit with two or more ratings.
  void add(std::span<std::size_t const> counts) {
    auto const m = static_cast<double>(total(counts));
    double equal = 0;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      auto const n = static_cast<double>(counts[c]);
      ratings[c] += n;
      equal += n * (n - 1);
      for (std::size_t k = 0; k < counts.size(); ++k) {
        double const others = static_cast<double>(counts[k]) - (c == k ? 1 : 0);
        coincidences[c * counts.size() + k] += n * others / (m - 1);
      }
    }
    shares += equal / (m * (m - 1));
    ++units;
  }
  void add(agreement_sums const& other) {
    for (std::size_t i = 0; i < coincidences.size(); ++i) coincidences[i] += other.coincidences[i];
    for (std::size_t i = 0; i < ratings.size(); ++i) ratings[i] += other.ratings[i];
    shares += other.shares;
    units += other.units;
  }

  std::optional<double> share() const {
    if (units == 0) return {};
    return shares / static_cast<double>(units);
  }
  /// If all units have equally many ratings.
  std::optional<double> fleiss() const {
    double all = 0, expected = 0;
    for (double const n : ratings) all += n;
    for (double const n : ratings) expected += n / all * (n / all);
    if (units == 0 || !(expected < 1)) return {};
    return (*share() - expected) / (1 - expected);
  }
  std::optional<double> alpha(label_scale scale) const {
    std::size_t const labels = ratings.size();
    double all = 0, observed = 0, expected = 0;
    for (double const n : ratings) all += n;
    for (std::size_t c = 0; c < labels; ++c) {
      double between = ratings[c];
      for (std::size_t k = c + 1; k < labels; ++k) {
        between += ratings[k];
        double const gap = between - (ratings[c] + ratings[k]) / 2;
        double const difference = scale == label_scale::nominal ? 1 : gap * gap;
        observed += coincidences[c * labels + k] * difference;
        expected += ratings[c] * ratings[k] * difference;
      }
    }
    if (!(expected > 0)) return {};
    return 1 - (all - 1) * observed / expected;
  }

  std::vector<double> coincidences;  // [labels x labels]
  std::vector<double> ratings;       // [labels]
  double shares = 0;
  std::size_t units = 0;
};

/// The units with two or more ratings, summed by query; by unit, if there is one query.
struct clustered_sums {
  explicit clustered_sums(ratings const& given) : all(0) {
    label_counts const counts(given);
    all = agreement_sums(counts.labels.size());
    std::map<std::size_t, std::size_t> cluster_of;
    for (std::size_t u = 0; u < counts.units(); ++u) {
      std::size_t const m = total(counts.unit(u));
      if (m < 2) continue;
      if (all.units > 0) equally_many = equally_many && m == ratings_per_unit;
      ratings_per_unit = m;
      all.add(counts.unit(u));
      std::size_t const key = given.qids.size() > 1 ? given.query_of[u] : u;
      auto const [at, added] = cluster_of.emplace(key, clusters.size());
      if (added) clusters.emplace_back(counts.labels.size());
      clusters[at->second].add(counts.unit(u));
    }
  }
  agreement_sums all;
  std::vector<agreement_sums> clusters;
  std::size_t ratings_per_unit = 0;
  bool equally_many = true;
};

using measured = std::optional<double> (*)(agreement_sums const&);
constexpr measured all_measures[] = {
    [](agreement_sums const& s) { return s.share(); },
    [](agreement_sums const& s) { return s.fleiss(); },
    [](agreement_sums const& s) { return s.alpha(label_scale::nominal); },
    [](agreement_sums const& s) { return s.alpha(label_scale::ordinal); }};

/// Values of [measures][samples] in bootstrap samples of the clusters, without undefined ones.
std::vector<std::vector<double>> resample(context const& ctx, clustered_sums const& sums,
                                          std::size_t samples) {
  std::vector<std::vector<double>> values(std::size(all_measures));
  random_engine engine(ctx.seed);
  for (std::size_t s = 0; s < samples; ++s) {
    ctx.check_stop();
    agreement_sums sample(sums.all.ratings.size());
    for (std::size_t i = 0; i < sums.clusters.size(); ++i)
      sample.add(sums.clusters[uniform_below(engine, sums.clusters.size())]);
    for (std::size_t m = 0; m < values.size(); ++m)
      if (auto const value = all_measures[m](sample)) values[m].push_back(*value);
  }
  return values;
}

void set_interval(agreement_value& of, std::vector<double>& values, double confidence) {
  if (!of.value || values.empty()) return;
  std::ranges::sort(values);
  auto const at = [&](double share) {
    double const place = share * static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::lround(place))];
  };
  of.low = at((1 - confidence) / 2);
  of.high = at((1 + confidence) / 2);
}

/// Cohen's kappa with weights of disagreement; empty if chance alone gives no disagreement.
template <class Weight>
std::optional<double> kappa_of(pair_agreement const& pair, Weight weight) {
  std::size_t const labels = pair.labels.size();
  std::vector<double> first(labels), second(labels);
  for (std::size_t a = 0; a < labels; ++a)
    for (std::size_t b = 0; b < labels; ++b) {
      first[a] += static_cast<double>(pair.counts[a * labels + b]);
      second[b] += static_cast<double>(pair.counts[a * labels + b]);
    }
  auto const units = static_cast<double>(pair.units);
  double observed = 0, expected = 0;
  for (std::size_t a = 0; a < labels; ++a)
    for (std::size_t b = 0; b < labels; ++b) {
      double const w = weight(pair.labels[a], pair.labels[b]);
      observed += w * static_cast<double>(pair.counts[a * labels + b]) / units;
      expected += w * first[a] / units * second[b] / units;
    }
  if (!(expected > 0)) return {};
  return 1 - observed / expected;
}

/// The expectation-maximization of Dawid and Skene.
class dawid_skene {
 public:
  /// `observed[r]`: index of the label of the r-th rating; `labels`: how many there are.
  dawid_skene(ratings const& given, std::vector<std::size_t> const& observed, std::size_t labels)
      : given_(given),
        observed_(observed),
        labels_(labels),
        probabilities(given.query_of.size() * labels),
        prior(labels),
        confusion(given.sources.size() * labels * labels) {
    for (std::size_t r = 0; r < observed.size(); ++r)
      probabilities[given.all[r].unit * labels + observed[r]] += 1;
    rated_ = std::vector<bool>(given.query_of.size());
    for (std::size_t u = 0; u < rated_.size(); ++u) rated_[u] = normalize(row(u));
  }

  void run() {
    constexpr std::size_t most_iterations = 10'000;
    double change = 1;
    while (change > 1e-10 && iterations++ < most_iterations) {
      maximize();
      change = expect();
    }
    maximize();
  }

 private:
  std::span<double> row(std::size_t unit) {
    return std::span(probabilities).subspan(unit * labels_, labels_);
  }
  static bool normalize(std::span<double> values) {
    double sum = 0;
    for (double const v : values) sum += v;
    if (!(sum > 0)) return false;
    for (double& v : values) v /= sum;
    return true;
  }
  std::span<double> errors(std::size_t source, std::size_t label) {
    return std::span(confusion).subspan((source * labels_ + label) * labels_, labels_);
  }

  void maximize() {
    std::ranges::fill(prior, 0);
    std::ranges::fill(confusion, 0);
    for (std::size_t u = 0; u < rated_.size(); ++u)
      for (std::size_t j = 0; j < labels_; ++j) prior[j] += row(u)[j];
    for (std::size_t r = 0; r < observed_.size(); ++r)
      for (std::size_t j = 0; j < labels_; ++j)
        errors(given_.all[r].source, j)[observed_[r]] += row(given_.all[r].unit)[j];
    normalize(prior);
    for (std::size_t s = 0; s < given_.sources.size(); ++s)
      for (std::size_t j = 0; j < labels_; ++j) normalize(errors(s, j));
  }

  /// Returns the largest change of a probability.
  double expect() {
    std::vector<double> logs(probabilities.size());
    for (std::size_t u = 0; u < rated_.size(); ++u)
      for (std::size_t j = 0; j < labels_; ++j) logs[u * labels_ + j] = std::log(prior[j]);
    for (std::size_t r = 0; r < observed_.size(); ++r)
      for (std::size_t j = 0; j < labels_; ++j)
        logs[given_.all[r].unit * labels_ + j] +=
            std::log(errors(given_.all[r].source, j)[observed_[r]]);
    double change = 0;
    for (std::size_t u = 0; u < rated_.size(); ++u) {
      if (!rated_[u]) continue;
      auto const mine = std::span(logs).subspan(u * labels_, labels_);
      double const largest = std::ranges::max(mine);
      for (double& x : mine) x = std::exp(x - largest);
      normalize(mine);
      for (std::size_t j = 0; j < labels_; ++j) {
        change = std::max(change, std::abs(mine[j] - row(u)[j]));
        row(u)[j] = mine[j];
      }
    }
    return change;
  }

  ratings const& given_;
  std::vector<std::size_t> const& observed_;
  std::size_t labels_;
  std::vector<bool> rated_;

 public:
  std::vector<double> probabilities, prior, confusion;
  std::size_t iterations = 0;
};

/// Sets the shares of the labels from the probabilities.
void set_prior(consensus& made) {
  std::size_t const labels = made.labels.size();
  double units = 0;
  made.prior.assign(labels, 0);
  for (std::size_t i = 0; i < made.probabilities.size(); ++i) {
    made.prior[i % labels] += made.probabilities[i];
    units += made.probabilities[i];
  }
  for (double& share : made.prior) share /= units;
}

void combine_by_majority(ratings const& given, consensus& made) {
  label_counts const counts(given);
  for (std::size_t u = 0; u < counts.units(); ++u) {
    auto const m = static_cast<double>(std::max<std::size_t>(total(counts.unit(u)), 1));
    for (std::size_t const n : counts.unit(u))
      made.probabilities.push_back(static_cast<double>(n) / m);
  }
  set_prior(made);
}

/// Estimates the probability of each threshold "this label or more", and takes differences.
void combine_ordinal(ratings const& given, consensus& made) {
  std::size_t const labels = made.labels.size(), units = given.query_of.size();
  std::vector<double> above(units * labels, 0);  // probability of the label or more
  for (std::size_t u = 0; u < units; ++u) above[u * labels] = 0;
  for (rating const& r : given.all) above[r.unit * labels] = 1;
  for (std::size_t c = 1; c < labels; ++c) {
    std::vector<std::size_t> observed;
    for (rating const& r : given.all) observed.push_back(r.label >= made.labels[c] ? 1 : 0);
    dawid_skene model(given, observed, 2);
    model.run();
    made.iterations = std::max(made.iterations, model.iterations);
    for (std::size_t u = 0; u < units; ++u)
      above[u * labels + c] = std::min(above[u * labels + c - 1], model.probabilities[u * 2 + 1]);
  }
  made.probabilities.resize(units * labels);
  for (std::size_t u = 0; u < units; ++u)
    for (std::size_t c = 0; c < labels; ++c)
      made.probabilities[u * labels + c] =
          above[u * labels + c] - (c + 1 < labels ? above[u * labels + c + 1] : 0);
  set_prior(made);
}

}  // namespace

std::vector<std::int32_t> ratings::labels() const {
  std::vector<std::int32_t> found;
  for (rating const& r : all) found.push_back(r.label);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::optional<double> equal_share(ratings const& given) {
  return clustered_sums(given).all.share();
}

std::optional<double> fleiss_kappa(ratings const& given) {
  clustered_sums const sums(given);
  return sums.equally_many ? sums.all.fleiss() : std::nullopt;
}

std::optional<double> krippendorff_alpha(ratings const& given, label_scale scale) {
  return clustered_sums(given).all.alpha(scale);
}

std::vector<pair_agreement> pairs_of(ratings const& given) {
  std::vector<std::int32_t> const labels = given.labels();
  label_counts const index(given);
  std::size_t const units = given.query_of.size(), none = labels.size();
  std::vector<std::size_t> said(given.sources.size() * units, none);  // index of the first label
  for (rating const& r : given.all) {
    std::size_t& first = said[r.source * units + r.unit];
    if (first == none) first = index.index_of(r.label);
  }
  std::vector<pair_agreement> pairs;
  for (std::size_t a = 0; a < given.sources.size(); ++a)
    for (std::size_t b = a + 1; b < given.sources.size(); ++b) {
      pair_agreement pair;
      pair.first = a;
      pair.second = b;
      pair.labels = labels;
      pair.counts.resize(labels.size() * labels.size());
      std::size_t equal = 0;
      for (std::size_t u = 0; u < units; ++u) {
        std::size_t const x = said[a * units + u], y = said[b * units + u];
        if (x == none || y == none) continue;
        ++pair.counts[x * labels.size() + y];
        ++pair.units;
        equal += x == y;
      }
      if (pair.units == 0) continue;
      pair.share = static_cast<double>(equal) / static_cast<double>(pair.units);
      pair.kappa =
          kappa_of(pair, [](std::int32_t x, std::int32_t y) { return x == y ? 0.0 : 1.0; });
      pair.weighted_kappa = kappa_of(pair, [](std::int32_t x, std::int32_t y) {
        double const d = static_cast<double>(x) - y;
        return d * d;
      });
      pairs.push_back(std::move(pair));
    }
  return pairs;
}

agreement_summary summarize(context const& ctx, ratings const& given, std::size_t samples,
                            double confidence) {
  clustered_sums const sums(given);
  agreement_summary made;
  made.units = sums.all.units;
  agreement_value* const values[] = {&made.share, &made.fleiss, &made.alpha_nominal,
                                     &made.alpha_ordinal};
  for (std::size_t m = 0; m < std::size(values); ++m) values[m]->value = all_measures[m](sums.all);
  if (!sums.equally_many) made.fleiss.value.reset();
  if (sums.clusters.size() < 2) return made;
  auto sampled = resample(ctx, sums, samples);
  for (std::size_t m = 0; m < std::size(values); ++m)
    set_interval(*values[m], sampled[m], confidence);
  return made;
}

std::optional<std::int32_t> consensus::label_of(std::size_t unit) const {
  auto const mine = std::span(probabilities).subspan(unit * labels.size(), labels.size());
  auto const best = std::ranges::max_element(mine);
  if (!(*best > 0)) return {};
  return labels[static_cast<std::size_t>(best - mine.begin())];
}

double consensus::probability_of(std::size_t unit) const {
  return std::ranges::max(std::span(probabilities).subspan(unit * labels.size(), labels.size()));
}

consensus combine(ratings const& given, consensus_method how) {
  if (given.all.empty())
    throw usage_error("found no labels, expected labels of one source or more");
  consensus made;
  made.labels = given.labels();
  if (how == consensus_method::majority) {
    combine_by_majority(given, made);
  } else if (how == consensus_method::ordinal) {
    combine_ordinal(given, made);
  } else {
    label_counts const index(given);
    std::vector<std::size_t> observed;
    for (rating const& r : given.all) observed.push_back(index.index_of(r.label));
    dawid_skene model(given, observed, made.labels.size());
    model.run();
    made.probabilities = std::move(model.probabilities);
    made.prior = std::move(model.prior);
    made.confusion = std::move(model.confusion);
    made.iterations = model.iterations;
  }
  return made;
}

}  // namespace rulerank::eval
