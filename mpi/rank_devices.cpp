#include "mpi/rank_devices.hpp"

#include "core/even_ranges.hpp"

namespace rulerank::inline v0::mpi {

std::vector<int> devices_of_rank(std::vector<int> const& devices, int rank_here, int size_here) {
  if (devices.empty()) return {};
  index_range const mine = even_range(devices.size(), static_cast<std::size_t>(size_here),
                                      static_cast<std::size_t>(rank_here));
  if (mine.size() == 0) return {devices[static_cast<std::size_t>(rank_here) % devices.size()]};
  return {devices.begin() + static_cast<std::ptrdiff_t>(mine.begin),
          devices.begin() + static_cast<std::ptrdiff_t>(mine.end)};
}

}  // namespace rulerank::mpi
