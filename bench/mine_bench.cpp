// Itemset mining: how long the reading and the mining of a file take, best of some rounds.
//
//   mine_bench FILE KIND ENGINE THREADS SUPPORT...
//
// FILE has FIMI's form, SUPPORT is a count. A line of JSON each: itemsets, seconds of the clock and
// of the processor. mine_peer.py sets them beside another miner's.
#include "core/context.hpp"
#include "datasets/transactions.hpp"
#include "rules/mining/miner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>

#include <fmt/format.h>

namespace {

using namespace rulerank;

constexpr int rounds = 5;

struct seconds {
  double wall = 1e300;
  double cpu = 1e300;
};

/// The best of some rounds, which one each of `work` takes.
template <class Work>
seconds best_of(Work&& work) {
  seconds best;
  for (int round = 0; round < rounds; ++round) {
    auto const begin = std::chrono::steady_clock::now();
    std::clock_t const used = std::clock();
    work();
    best.cpu = std::min(best.cpu, static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
    best.wall = std::min(
        best.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

int run(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: mine_bench FILE KIND ENGINE THREADS SUPPORT...\n");
    return 2;
  }
  rules::mining_options options;
  options.kind = rules::itemset_kind_from(argv[2]);
  options.engine = rules::mining_engine_from(argv[3]);
  context ctx;
  ctx.threads = std::stoi(argv[4]);
  datasets::transactions data;
  seconds const read = best_of([&] { data = datasets::read_fimi(ctx, argv[1]); });
  for (int i = 5; i < argc; ++i) {
    options.min_support = static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
    std::uint64_t itemsets = 0;
    seconds const mined =
        best_of([&] { itemsets = rules::mine(ctx, rules::view_of(data), options).size(); });
    fmt::print(
        "{{\"file\": \"{}\", \"kind\": \"{}\", \"engine\": \"{}\", \"threads\": {}, \"support\": "
        "{}, "
        "\"itemsets\": {}, \"read_cpu_s\": {:.6f}, \"mine_cpu_s\": {:.6f}, \"mine_wall_s\": "
        "{:.6f}}}\n",
        argv[1], argv[2], argv[3], ctx.threads, options.min_support, itemsets, read.cpu, mined.cpu,
        mined.wall);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    fmt::print(stderr, "mine_bench: {}\n", e.what());
    return 1;
  }
}
