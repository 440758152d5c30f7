#include "core/parallel.hpp"
#include "core/random.hpp"
#include "knn/metric/search.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t triples_at_once = 4096;

using triple = std::array<std::uint32_t, 3>;

std::optional<metric_breach> breach_of(metric_space const& space, triple const& objects) {
  std::uint32_t const a = objects[0], b = objects[1], c = objects[2];
  auto const from_a = space.from(a);
  auto const from_b = space.from(b);
  double const ab = from_a->to(b);
  double const ac = from_a->to(c);
  double const bc = from_b->to(c);
  double const aa = from_a->to(a);
  double const ba = from_b->to(a);
  distance_rounding const may = space.rounding();
  auto const off = [&](double sum) { return 4 * (may.relative * sum + may.absolute); };
  auto const broken = [&](std::string what) {
    return metric_breach{a, b, c, ab, bc, ac, std::move(what)};
  };
  for (double const one : {ab, ac, bc, aa, ba})
    if (!std::isfinite(one) || one < 0)
      return broken(fmt::format("a distance among objects {}, {} and {} is {}", a, b, c, one));
  if (aa > off(0)) return broken(fmt::format("the distance of object {} to itself is {}", a, aa));
  if (std::abs(ab - ba) > off(ab + ba))
    return broken(fmt::format(
        "the distance of objects {} and {} is {}, but {} in the opposite direction", a, b, ab, ba));
  if (ac > ab + bc + off(ab + bc + ac))
    return broken(
        fmt::format("the distance from object {0} to {1} is {2}, which exceeds the sum {4} + {5} "
                    "by way of object {3}",
                    a, c, ac, b, ab, bc));
  return std::nullopt;
}

}  // namespace

std::optional<metric_breach> check_metric(context const& ctx, metric_space const& space,
                                          std::size_t triples) {
  if (space.size() == 0) return std::nullopt;
  random_engine chance(ctx.seed);
  std::vector<triple> drawn;
  for (std::size_t done = 0; done < triples; done += drawn.size()) {
    drawn.resize(std::min(triples_at_once, triples - done));
    for (triple& one : drawn)
      for (std::uint32_t& object : one)
        object = static_cast<std::uint32_t>(uniform_below(chance, space.size()));
    std::vector<std::optional<metric_breach>> found(drawn.size());
    parallel_for(ctx, drawn.size(), 64, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) found[i] = breach_of(space, drawn[i]);
    });
    for (auto& one : found)
      if (one) return one;
  }
  return std::nullopt;
}

}  // namespace rulerank::knn
