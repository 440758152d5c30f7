#pragma once

#include <vector>

namespace rulerank::inline v0::mpi {

/// Returns the devices that one rank of a machine uses: an even share, or one device that several
/// ranks share if the machine has fewer devices than ranks.
std::vector<int> devices_of_rank(std::vector<int> const& devices, int rank_here, int size_here);

}  // namespace rulerank::mpi
