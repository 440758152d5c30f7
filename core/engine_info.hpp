#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

// All functions only read the list: any thread may call them at any time.
namespace rulerank::inline v0 {

/// Where an engine runs: a set of flags.
enum class runs_on : std::uint8_t { nowhere = 0, cpu = 1, gpus = 2, cpu_and_gpus = 3 };

/// Returns whether two sets share a flag.
constexpr bool includes(runs_on set, runs_on flags) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(flags)) != 0;
}

/// The set as the program prints it: "cpu", "cuda" or "cpu, cuda"; empty for `nowhere`.
constexpr std::string_view name_of(runs_on set) {
  switch (set) {
    case runs_on::cpu:
      return "cpu";
    case runs_on::gpus:
      return "cuda";
    case runs_on::cpu_and_gpus:
      return "cpu, cuda";
    case runs_on::nowhere:
      break;
  }
  return {};
}

/// One engine. `Engine` is the module's enum; its value `automatic` has no entry. An engine that
/// the build lacks (it needs CUDA) has no entry either. At most one engine is the default on the
/// CPU, and at most one on GPUs.
template <class Engine>
struct engine_info {
  Engine which;
  std::string_view name;         ///< value of --engine
  std::string_view description;  ///< how it works, in one line
  std::string_view source;       ///< publication and algorithm; empty: developed in this project
  runs_on where;
  runs_on default_on;  ///< where `automatic` selects it
};

/// Named counts of work that an engine reports; the names differ between engines.
using engine_counts = std::map<std::string, std::uint64_t, std::less<>>;
inline void add(engine_counts& to, engine_counts const& more) {
  for (auto const& [name, count] : more) to[name] += count;
}
/// Named settings of one engine; other engines ignore them.
using engine_settings = engine_counts;

/// Returns 0 for a name without an entry.
inline std::uint64_t count_of(engine_counts const& counts, std::string_view name) {
  auto const found = counts.find(name);
  return found != counts.end() ? found->second : 0;
}

/// Returns the entry of an engine; null for `automatic` and for an engine that this build lacks.
template <class List, class Engine>
constexpr auto const* find_engine(List const& list, Engine which) {
  for (auto const& entry : list)
    if (entry.which == which) return &entry;
  return static_cast<decltype(&*std::begin(list))>(nullptr);
}

/// Returns the entry of the default engine on the CPU or on GPUs (one flag); null if there is none.
template <class List>
constexpr auto const* find_default_engine(List const& list, runs_on where) {
  for (auto const& entry : list)
    if (includes(entry.default_on, where)) return &entry;
  return static_cast<decltype(&*std::begin(list))>(nullptr);
}

}  // namespace rulerank
