#include "eval/significance.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

namespace rulerank::inline v0::eval {

namespace {

constexpr double same_within = 1e-12;  // relative to measures of magnitude about 1
constexpr std::size_t lanes = 64;      // permutations per random word
constexpr std::uint64_t permutations_a_piece = 16 * lanes;

/// A separate engine for each piece of permutations (SplitMix64 spreads the seeds).
random_engine engine_for(std::uint64_t seed, std::uint64_t piece) {
  std::uint64_t z = seed + (piece + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return random_engine(z ^ (z >> 31));
}

double mean_of(std::span<double const> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The variance of a sample (over n - 1); 0 for fewer than two values.
double variance_of(std::span<double const> values) {
  if (values.size() < 2) return 0;
  double const mean = mean_of(values);
  double squares = 0;
  for (double const value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

}  // namespace

double standard_deviation(std::span<double const> values) {
  return std::sqrt(variance_of(values));
}

double standard_error(std::span<double const> values) {
  return values.empty() ? 0 : std::sqrt(variance_of(values) / static_cast<double>(values.size()));
}

test_result paired_t_test(std::span<double const> differences) {
  std::size_t const n = differences.size();
  if (n < 2) return {};
  auto const count = static_cast<double>(n);
  double const mean = mean_of(differences);
  double largest = 0;
  for (double const d : differences) largest = std::max(largest, std::abs(d));
  if (largest == 0) return {};
  double const error = standard_error(differences);
  if (error <= std::numeric_limits<double>::epsilon() * largest)
    return {std::copysign(std::numeric_limits<double>::infinity(), mean), 0};
  double const t = mean / error;
  boost::math::students_t const distribution(count - 1);
  return {t, 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)))};
}

mean_interval confidence_interval(std::span<double const> differences, double confidence) {
  if (!(confidence > 0 && confidence < 1))
    throw usage_error(
        fmt::format("found a confidence of {}, expected a number between 0 and 1", confidence));
  if (differences.empty()) return {};
  double const mean = mean_of(differences);
  if (differences.size() < 2) return {mean, mean, mean};
  double const error = standard_error(differences);
  boost::math::students_t const distribution(static_cast<double>(differences.size()) - 1);
  double const reach =
      boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2)) * error;
  return {mean, mean - reach, mean + reach};
}

std::vector<double> within_query_intervals(std::span<std::vector<double> const> values,
                                           double confidence) {
  std::vector<double> halves;
  if (values.empty()) return halves;
  std::size_t const queries = values.front().size();
  std::vector<double> means(queries);
  auto const conditions = static_cast<double>(values.size());
  for (std::vector<double> const& one : values) {
    if (one.size() != queries)
      throw usage_error(fmt::format(
          "found conditions of {} and {} queries, expected the same queries", one.size(), queries));
    for (std::size_t q = 0; q < queries; ++q) means[q] += one[q] / conditions;
  }
  bool const alone = values.size() == 1;
  double const correction = alone ? 1 : std::sqrt(conditions / (conditions - 1));
  for (std::vector<double> normalized : values) {
    for (std::size_t q = 0; q < queries && !alone; ++q) normalized[q] -= means[q];
    mean_interval const within = confidence_interval(normalized, confidence);
    halves.push_back(correction * (within.high - within.low) / 2);
  }
  return halves;
}

test_result fisher_randomisation(context const& ctx, std::span<double const> differences,
                                 std::uint64_t permutations) {
  if (permutations == 0)
    throw usage_error("found a randomization test of 0 permutations, expected at least 1");
  std::vector<double> moving;  // differences that are not 0
  double sum = 0;
  double size = 0;
  for (double d : differences) {
    if (d != 0) moving.push_back(d);
    sum += d;
    size += std::abs(d);
  }
  double const threshold = std::abs(sum) - size * same_within;
  std::uint64_t const pieces = (permutations + permutations_a_piece - 1) / permutations_a_piece;
  std::vector<std::uint64_t> extreme(pieces, 0);
  parallel_for(ctx, pieces, 1, [&](std::size_t piece, std::size_t, int) {
    random_engine engine = engine_for(ctx.seed, piece);
    std::uint64_t const first = piece * permutations_a_piece;
    std::uint64_t const last = std::min(permutations, first + permutations_a_piece);
    for (std::uint64_t begin = first; begin < last; begin += lanes) {
      std::array<double, lanes> sums{};
      for (double d : moving) {
        std::uint64_t const signs = engine();
        auto const bits = std::bit_cast<std::uint64_t>(d);
        for (std::size_t lane = 0; lane < lanes; ++lane)
          sums[lane] += std::bit_cast<double>(bits ^ ((signs >> lane) << 63));
      }
      std::size_t const used = std::min<std::uint64_t>(lanes, last - begin);
      for (std::size_t lane = 0; lane < used; ++lane)
        extreme[piece] += std::abs(sums[lane]) >= threshold ? 1 : 0;
    }
  });
  std::uint64_t const count = std::accumulate(extreme.begin(), extreme.end(), std::uint64_t{0});
  double const mean = differences.empty() ? 0 : sum / static_cast<double>(differences.size());
  return {mean, static_cast<double>(1 + count) / static_cast<double>(1 + permutations)};
}

std::vector<double> holm(std::span<double const> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double so_far = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    so_far = std::max(so_far, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    adjusted[order[i]] = so_far;
  }
  return adjusted;
}

namespace {

void check_pairing(system_values const& reference, system_values const& other) {
  auto const fail = [&](std::string const& what) {
    throw usage_error(
        fmt::format("'{}' and '{}' cannot be compared: {}", reference.name, other.name, what));
  };
  if (reference.folds.size() != other.folds.size()) fail("their numbers of folds differ");
  for (std::size_t f = 0; f < reference.folds.size(); ++f) {
    if (reference.folds[f].measures != other.folds[f].measures) fail("their measures differ");
    if (reference.folds[f].qids != other.folds[f].qids)
      fail("they answer different queries (--complete counts all judged queries)");
  }
}

void correct(std::vector<comparison*> const& family,
             std::optional<corrected_test> comparison::*test) {
  std::vector<double> p;
  for (comparison const* c : family) p.push_back((c->*test)->p);
  std::vector<double> const adjusted = holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) (family[i]->*test)->p_holm = adjusted[i];
}

}  // namespace

std::vector<comparison> compare(context const& ctx, std::span<system_values const> systems,
                                std::size_t reference, comparison_options const& options) {
  if (systems.size() < 2)
    throw usage_error("found one system or none, expected two or more to compare");
  if (reference >= systems.size())
    throw usage_error("found a reference that is not one of the systems, expected one of them");
  for (system_values const& system : systems) check_pairing(systems[reference], system);
  query_values const base = pooled(systems[reference].folds);

  std::vector<comparison> comparisons;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    if (s == reference) continue;
    query_values const other = pooled(systems[s].folds);
    for (std::size_t m = 0; m < base.measures.size(); ++m) {
      ctx.check_stop();
      comparison c;
      c.reference = systems[reference].name;
      c.system = systems[s].name;
      c.on = base.measures[m];
      c.queries = base.size();
      std::vector<double> differences(base.size());
      for (std::size_t q = 0; q < base.size(); ++q) {
        double const d = other.at(q, m) - base.at(q, m);
        differences[q] = std::abs(d) <= same_within ? 0 : d;
        ++(differences[q] > 0 ? c.wins : differences[q] < 0 ? c.losses : c.ties);
      }
      if (!differences.empty())
        c.difference = std::accumulate(differences.begin(), differences.end(), 0.0) /
                       static_cast<double>(differences.size());
      if (options.paired_t) c.paired_t = corrected_test{paired_t_test(differences)};
      if (options.fisher)
        c.fisher = corrected_test{fisher_randomisation(ctx, differences, options.permutations)};
      comparisons.push_back(std::move(c));
    }
  }

  std::size_t const families = options.family == holm_family::report ? 1 : base.measures.size();
  for (std::size_t f = 0; f < families; ++f) {
    std::vector<comparison*> family;
    for (comparison& c : comparisons)
      if (families == 1 || c.on == base.measures[f]) family.push_back(&c);
    if (options.paired_t) correct(family, &comparison::paired_t);
    if (options.fisher) correct(family, &comparison::fisher);
  }
  return comparisons;
}

}  // namespace rulerank::eval
