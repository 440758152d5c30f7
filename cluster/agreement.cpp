#include "cluster/agreement.hpp"

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::cluster {

namespace {

/// Of all ranks the same input was compared: what is wrong in it is no rank's own.
bool is_of_input(failure const& one) {
  constexpr int wrong_usage = 2, bad_input = 3;
  return one.task && (one.code == wrong_usage || one.code == bad_input);
}

}  // namespace

std::string text_of(failure const& one) {
  return bytes_of(one);
}

failure agreed_failure(std::vector<std::string> const& of_ranks) {
  std::optional<failure> of_input;
  for (std::string const& text : of_ranks) {
    if (text.empty()) continue;
    auto one = value_of<failure>(text);
    if (is_of_input(one) && (!of_input || *one.task < *of_input->task)) of_input = std::move(one);
  }
  if (of_input) return *of_input;
  auto const first = std::ranges::find_if(of_ranks, [](auto const& text) { return !text.empty(); });
  auto agreed = value_of<failure>(*first);
  if (std::ranges::count(of_ranks, *first) < std::ssize(of_ranks))
    agreed.message = fmt::format("rank {}: {}", first - of_ranks.begin(), agreed.message);
  return agreed;
}

void expect_same(std::string_view what, std::vector<std::string> const& of_ranks) {
  for (std::size_t r = 1; r < of_ranks.size(); ++r)
    if (of_ranks[r] != of_ranks[0])
      throw usage_error(
          fmt::format("{}: found '{}' on rank {} and '{}' on rank 0, expected the "
                      "same on all ranks",
                      what, of_ranks[r], r, of_ranks[0]));
}

bool find_one_file(communicator const& ranks, std::string const& path) {
  auto const found =
      gather_values(ranks, std::pair(file_state_of(path), ranks.size_here() == ranks.size()));
  return found.front().first != file_state() && std::ranges::all_of(found, [&](auto const& one) {
           return one.second && one.first == found.front().first;
         });
}

void expect_same(communicator const& ranks, std::string_view what, std::string_view mine) {
  expect_same(what, ranks.gather(mine));
}

}  // namespace rulerank::cluster
