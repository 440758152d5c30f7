#include "mpi/collection_split.hpp"

#include "core/machine.hpp"
#include "core/named_values.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include <unistd.h>

namespace rulerank::inline v0::mpi {

namespace {

constexpr std::array<std::string_view, 3> ways{"auto", "queries", "collection"};

/// A process, and the memory that it has and would take.
struct process {
  std::string host;
  std::uint64_t free = 0, bytes = 0;
  static auto members_of(auto& one) { return std::tie(one.host, one.free, one.bytes); }
};

}  // namespace

shared_out shared_out_from(std::string_view name) {
  return value_named<shared_out>(ways, name, "found", name_list::plain);
}

bool shares_collection(process_group const& group, shared_out asked, std::uint64_t bytes) {
  if (asked != shared_out::automatic) return asked == shared_out::collection;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  auto const all = gather_values(group, process{host.data(), free_memory(), bytes});
  return std::ranges::any_of(all, [&](process const& one) {
    auto const there =
        static_cast<std::uint64_t>(std::ranges::count(all, one.host, &process::host));
    return one.bytes > one.free / there;
  });
}

}  // namespace rulerank::mpi
