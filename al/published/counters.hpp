#pragma once

#include "al/partition.hpp"

// Rule counters as published (Freitas 2017).
namespace rulerank::inline v0::al {

/// `max_items`: the largest itemset, rule_size - 1.
std::unique_ptr<rule_counter> make_recount(partition const& part, std::size_t max_items,
                                           rules::validity const& valid);  // ssarp_cpu.cpp

/// The dimensions of the largest partition of a sampling.
struct prss_shape {
  std::size_t documents = 0;
  std::size_t features = 0;
  std::size_t items = 0;
};
/// The GPU memory of prss, allocated once for all partitions of a sampling.
class prss_memory;
/// Throws `device_error` without a device.
std::shared_ptr<prss_memory> make_prss_memory(std::span<int const> devices,
                                              prss_shape const& largest,
                                              rules::validity const& valid);  // prss_cuda.cu
/// Throws `device_error` if a device has too little memory, `usage_error` for itemsets of more than
/// 16 items.
std::unique_ptr<rule_counter> make_prss(std::shared_ptr<prss_memory> memory, partition const& part,
                                        std::size_t max_items);  // prss_cuda.cu

}  // namespace rulerank::al
