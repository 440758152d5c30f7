// Itemset mining: how long the reading and the mining of a file take, best of some rounds.
//
//   mine_bench FILE KIND ENGINE THREADS SUPPORT...
//
// FILE is in FIMI's format, SUPPORT is a count. One line of JSON per support: the number of
// itemsets; wall time and CPU time in seconds of reading, of mining into the library's list, and of
// mining followed by writing every itemset's items and support into one array (`list_cpu_s`).
// `checksum` is the sum of a hash of each itemset. mine_peer.py compares them with other miners.
#include "core/context.hpp"
#include "core/machine.hpp"
#include "datasets/transactions.hpp"
#include "rules/mining/miner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;

constexpr int rounds = 5;

struct seconds {
  double wall = 1e300;
  double cpu = 1e300;
};

/// Returns the best of some rounds of `work`.
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

/// splitmix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Independent of the order of itemsets and of items; the same as in mine_borgelt.c.
std::uint64_t checksum_of(rules::itemset_list const& found, datasets::transactions const& data) {
  std::vector<std::uint64_t> of_item;
  for (std::string const& name : data.names) of_item.push_back(mixed(std::stoull(name)));
  std::uint64_t sum = 0;
  found.for_each([&](std::span<rules::item const> items, std::uint32_t support) {
    std::uint64_t all = 0;
    for (rules::item const x : items) all += of_item[x];
    sum += mixed(all + mixed(support));
  });
  return sum;
}

/// Concatenated itemsets: size, items, support. Grows in place, as in mine_borgelt.c.
class array_of_itemsets {
 public:
  explicit array_of_itemsets(rules::itemset_list const& found) {
    found.for_each([&](std::span<rules::item const> items, std::uint32_t support) {
      make_room(items.size() + 2);
      words_.get()[used_++] = static_cast<std::uint32_t>(items.size());
      std::copy(items.begin(), items.end(), words_.get() + used_);
      used_ += items.size();
      words_.get()[used_++] = support;
    });
  }
  std::size_t words() const { return used_; }

 private:
  struct freed {
    void operator()(std::uint32_t* words) const { std::free(words); }
  };
  void make_room(std::size_t more) {
    if (used_ + more <= room_) return;
    room_ = 2 * room_ + more;
    void* const moved = std::realloc(words_.get(), room_ * sizeof(std::uint32_t));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(words_.release());
    words_.reset(static_cast<std::uint32_t*>(moved));
  }

  std::unique_ptr<std::uint32_t, freed> words_;
  std::size_t used_ = 0, room_ = 0;
};

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
    rules::transaction_view const view = rules::view_of(data);
    rules::itemset_list const found = rules::mine(ctx, view, options);
    std::uint64_t words = 0;
    seconds const mined = best_of([&] { words = rules::mine(ctx, view, options).size(); });
    seconds const in_array =
        best_of([&] { words = array_of_itemsets(rules::mine(ctx, view, options)).words(); });
    fmt::print(
        "{{\"file\": \"{}\", \"kind\": \"{}\", \"engine\": \"{}\", \"threads\": {}, \"support\": "
        "{}, \"itemsets\": {}, \"words\": {}, \"checksum\": {}, \"read_cpu_s\": {:.6f}, "
        "\"mine_cpu_s\": {:.6f}, \"mine_wall_s\": {:.6f}, \"list_cpu_s\": {:.6f}, "
        "\"commit\": \"{}\"}}\n",
        argv[1], argv[2], argv[3], ctx.threads, options.min_support, found.size(), words,
        checksum_of(found, data), read.cpu, mined.cpu, mined.wall, in_array.cpu, commit());
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
