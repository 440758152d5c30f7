#include "cluster/agreement.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rulerank::cluster {

std::string text_of(failure const& one) {
  return static_cast<char>(one.code) + one.message;
}

failure agreed_failure(std::vector<std::string> const& of_ranks) {
  auto const first = std::ranges::find_if(of_ranks, [](auto const& text) { return !text.empty(); });
  int const code = static_cast<unsigned char>(first->front());
  std::string const message = first->substr(1);
  if (std::ranges::count(of_ranks, *first) == std::ssize(of_ranks)) return {code, message};
  return {code, fmt::format("rank {}: {}", first - of_ranks.begin(), message)};
}

void expect_same(std::string_view what, std::vector<std::string> const& of_ranks) {
  for (std::size_t r = 1; r < of_ranks.size(); ++r)
    if (of_ranks[r] != of_ranks[0])
      throw usage_error(
          fmt::format("{}: found '{}' on rank {} and '{}' on rank 0, expected the "
                      "same on all ranks",
                      what, of_ranks[r], r, of_ranks[0]));
}

void expect_same(communicator const& ranks, std::string_view what, std::string_view mine) {
  expect_same(what, ranks.gather(mine));
}

}  // namespace rulerank::cluster
