// Turns a fuzz target, TARGET_fuzz, into a program.
//
// With libFuzzer (cmake -DCMAKE_CXX_COMPILER=clang++ -DRULERANK_FUZZ=ON
// -DRULERANK_SANITIZE=address,undefined): libFuzzer's program; with --seeds=DIR it writes the
// target's seeds to DIR/0, DIR/1, ... as an initial corpus.
//
// With any other compiler: a test that runs the target on its seeds, on prefixes of them, and on
// seeds with some bytes changed, the same in each run; or on given files, such as findings of
// libFuzzer.

#include "core/fuzzing.hpp"

#include "core/output_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size);

#ifdef RULERANK_FUZZ

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view option = "--seeds=";
  for (int i = 1; i < *argc; ++i) {
    std::string const argument = (*argv)[i];
    if (!argument.starts_with(option)) continue;
    int number = 0;
    for (std::string const& seed : rulerank::fuzzing::seeds())
      rulerank::write_file(argument.substr(option.size()) + "/" + std::to_string(number++), seed);
    std::exit(0);
  }
  return 0;
}

#else

namespace {

/// Uses memory of exactly this size, so that a sanitizer detects reads beyond the end.
void run(std::string_view input) {
  std::vector<std::uint8_t> const bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

constexpr std::size_t beginnings_of_a_seed = 64;
constexpr std::size_t changed_seeds = 1000;

void run_seeds() {
  std::vector<std::string> const seeds = rulerank::fuzzing::seeds();
  rulerank::fuzzing::require(!seeds.empty(), "a target has no seeds");
  for (std::string const& seed : seeds) {
    run(seed);
    std::size_t const step = seed.size() / beginnings_of_a_seed + 1;
    for (std::size_t size = 0; size < seed.size(); size += step)
      run(std::string_view(seed).substr(0, size));
  }
  std::mt19937_64 engine(1);
  auto const below = [&](std::size_t end) { return static_cast<std::size_t>(engine() % end); };
  for (std::size_t i = 0; i < changed_seeds; ++i) {
    std::string input = seeds[i % seeds.size()];
    for (std::size_t changes = 1 + below(3); changes > 0 && !input.empty(); --changes) {
      std::size_t const at = below(input.size());
      switch (below(4)) {
        case 0:
          input[at] = static_cast<char>(engine());
          break;
        case 1:
          input[at] = static_cast<char>(input[at] ^ 1 << below(8));
          break;
        case 2:
          input.insert(at, input, below(input.size()), 1 + below(8));
          break;
        default:
          input.erase(at, 1 + below(4));
      }
    }
    run(input);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) run_seeds();
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    rulerank::fuzzing::require(file.is_open(), "a file cannot be read");
    run(std::string{std::istreambuf_iterator<char>(file), {}});
  }
}

#endif
