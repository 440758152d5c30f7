#pragma once

#include "core/context.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

// The engines of a module: interchangeable implementations that give the same result or the same
// measure of quality. Each module lists its engines in one array of `registered_engine`. What the
// program, the tests and the benchmarks print of an engine, where it runs and how it is made is
// read from its entry; adding an engine means one entry and its source file.
//
// All functions read the list alone: any thread may call them at any time.
namespace rulerank {

/// Where an engine runs: a set of flags.
enum class runs_on : std::uint8_t { nowhere = 0, cpu = 1, gpus = 2, cpu_and_gpus = 3 };

/// Whether two sets have a flag in common.
constexpr bool includes(runs_on set, runs_on flags) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(flags)) != 0;
}

/// As the program prints it: "cpu", "cuda" or "cpu, cuda"; empty for `nowhere`.
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

/// One engine. `Engine` is the module's enum; it has the value `automatic` too, which has no entry.
/// `Factory` is the type of a pointer to the function that makes the engine. An engine that the
/// build does not have (it needs CUDA) has no entry. On the CPU and on GPUs at most one engine each
/// is the default.
template <class Engine, class Factory>
struct registered_engine {
  Engine which;
  std::string_view name;         ///< as --engine takes it
  std::string_view description;  ///< how it works, in one line
  std::string_view source;       ///< publication and algorithm; empty: the project's own
  runs_on where;
  runs_on default_on;  ///< where `automatic` stands for it
  Factory make;
};

/// The entry of an engine; null for `automatic` and for an engine that this build does not have.
template <class List, class Engine>
constexpr auto const* find_engine(List const& list, Engine which) {
  for (auto const& entry : list)
    if (entry.which == which) return &entry;
  return static_cast<decltype(&*std::begin(list))>(nullptr);
}

/// The entry of the default engine on the CPU or on GPUs (one flag); null where there is none.
template <class List>
constexpr auto const* find_default_engine(List const& list, runs_on where) {
  for (auto const& entry : list)
    if (includes(entry.default_on, where)) return &entry;
  return static_cast<decltype(&*std::begin(list))>(nullptr);
}

/// The name of an engine; "auto" for `automatic`.
template <class List, class Engine>
constexpr std::string_view name_of_engine(List const& list, Engine which) {
  auto const* const entry = find_engine(list, which);
  return entry != nullptr ? entry->name : "auto";
}

/// The entry of that name in a list of `what`, `automatic` for "auto". Throws `usage_error` that
/// lists the names, with `note` behind them.
template <class Which, class List>
Which entry_named(List const& list, std::string_view what, std::string_view name,
                  std::string_view note = {}) {
  if (name == "auto") return Which::automatic;
  std::string names = "auto";
  for (auto const& entry : list) {
    if (entry.name == name) return entry.which;
    names.append(", ").append(entry.name);
  }
  throw usage_error("found " + std::string(what) + " '" + std::string(name) +
                    "', expected one of " + names.append(note));
}

/// The same of engines.
template <class Engine, class List>
Engine engine_named(List const& list, std::string_view name) {
#if RULERANK_HAS_CUDA
  return entry_named<Engine>(list, "engine", name);
#else
  return entry_named<Engine>(list, "engine", name,
                             "; this build has no CUDA, and so no engines that need GPUs");
#endif
}

/// The entry of the engine to run. `automatic` is the default engine on GPUs where the context has
/// devices and the module such a default, else the one on the CPU. Another engine is never
/// replaced: throws `device_error` where it needs GPUs and the context has none, and where the
/// build does not have it.
template <class List, class Engine>
auto const& choose_engine(List const& list, Engine asked, context const& ctx) {
  bool const has_gpus = !ctx.devices.empty();
  auto const* chosen = find_engine(list, asked);
  if (asked == Engine::automatic) {
    if (has_gpus) chosen = find_default_engine(list, runs_on::gpus);
    if (chosen == nullptr) chosen = find_default_engine(list, runs_on::cpu);
  }
  if (chosen == nullptr) throw device_error("this build does not have the engine asked for");
  if (!includes(chosen->where, runs_on::cpu) && !has_gpus)
    throw device_error("engine " + std::string(chosen->name) +
                       " runs on GPUs, and there is none to run on");
  return *chosen;
}

}  // namespace rulerank
