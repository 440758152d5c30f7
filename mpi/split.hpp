#pragma once

#include <vector>

namespace rulerank::inline v0::mpi {

/// The devices of a machine that one of its ranks uses: a share of them, or one that ranks share
/// where there are fewer than ranks.
std::vector<int> devices_of_rank(std::vector<int> const& devices, int rank_here, int size_here);

}  // namespace rulerank::mpi
