#include "mpi/agreement.hpp"

#include "core/error.hpp"
#include "core/sha256.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::mpi {

namespace {

/// Wrong usage or bad input in a dealt task. All ranks have compared their inputs (of an index, its
/// header), so such a failure does not depend on the rank.
bool is_of_input(failure const& one) {
  constexpr int wrong_usage = 2, bad_input = 3;
  return one.task && (one.code == wrong_usage || one.code == bad_input);
}

/// Separates the task from the code and message. Ranks of any version can read the first two, so a
/// job with mixed versions can report that mixture.
constexpr char before_task = '\0';

failure failure_in(std::string const& text) {
  auto const end = text.find(before_task, 1);
  failure one{static_cast<unsigned char>(text.front()), text.substr(1, end - 1)};
  if (end != std::string::npos) one.task = std::stoull(text.substr(end + 1));
  return one;
}

}  // namespace

std::string text_of(failure const& one) {
  std::string text = static_cast<char>(one.code) + one.message;
  if (one.task) text += before_task + std::to_string(*one.task);
  return text;
}

failure agreed_failure(std::vector<std::string> const& of_ranks) {
  std::optional<failure> agreed, of_input;
  std::size_t first = 0, alike = 0;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    if (of_ranks[rank].empty()) continue;
    failure const one = failure_in(of_ranks[rank]);
    if (!agreed) {
      agreed = one;
      first = rank;
    }
    if (one.code == agreed->code && one.message == agreed->message) ++alike;
    if (is_of_input(one) && (!of_input || *one.task < *of_input->task)) of_input = one;
  }
  if (of_input) return *of_input;
  if (alike < of_ranks.size()) agreed->message = fmt::format("rank {}: {}", first, agreed->message);
  return *agreed;
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

bool find_one_file(communicator const& ranks, std::string const& path) {
  auto const found =
      gather_values(ranks, std::pair(file_state_of(path), ranks.size_here() == ranks.size()));
  return found.front().first != file_state() && std::ranges::all_of(found, [&](auto const& one) {
           return one.second && one.first == found.front().first;
         });
}

}  // namespace rulerank::mpi
