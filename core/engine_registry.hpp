#pragma once

#include "core/context.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Each module that has engines lists them in one array of `registered_engine`: what the program,
// the tests and the benches say of an engine, and how it is made, is read from its entry.
namespace rulerank {

/// A set of the places where an engine runs.
enum class runs_on : std::uint8_t { nowhere = 0, cpu = 1, gpus = 2, cpu_and_gpus = 3 };

constexpr bool includes(runs_on places, runs_on place) {
  return (static_cast<unsigned>(places) & static_cast<unsigned>(place)) != 0;
}

/// "cpu", "cuda" or "cpu, cuda".
constexpr std::string_view name_of(runs_on places) {
  if (places == runs_on::cpu_and_gpus) return "cpu, cuda";
  return places == runs_on::gpus ? "cuda" : "cpu";
}

/// All that is known of an engine. `Engine` is the module's enum, which has `automatic` too;
/// `Factory` is a pointer to the function that makes the engine.
template <class Engine, class Factory>
struct registered_engine {
  Engine which;
  std::string_view name;         ///< as --engine takes it
  std::string_view description;  ///< how it works, in one line
  std::string_view source;       ///< publication and algorithm; empty: the project's own
  runs_on where;
  runs_on default_on;  ///< where `automatic` chooses it
  Factory make;
};

/// The entry of an engine of the list; null for `automatic` and for what this build does not have.
template <class List, class Engine>
constexpr auto const* find_engine(List const& list, Engine which) {
  for (auto const& entry : list)
    if (entry.which == which) return &entry;
  return static_cast<decltype(&*std::begin(list))>(nullptr);
}

/// The name of an engine; "auto" for `automatic`.
template <class List, class Engine>
constexpr std::string_view name_of_engine(List const& list, Engine which) {
  auto const* const entry = find_engine(list, which);
  return entry != nullptr ? entry->name : "auto";
}

/// The engine of that name, `automatic` for "auto". Throws `usage_error` that lists the names.
template <class Engine, class List>
Engine engine_named(List const& list, std::string_view name) {
  if (name == "auto") return Engine::automatic;
  std::string names = "auto";
  for (auto const& entry : list) {
    if (entry.name == name) return entry.which;
    names.append(", ").append(entry.name);
  }
#if !RULERANK_HAS_CUDA
  names.append("; this build has no CUDA, and so no engines that need GPUs");
#endif
  throw usage_error("found engine '" + std::string(name) + "', expected one of " + names);
}

/// The entry to run: of the engine asked for or, for `automatic`, the default where the context's
/// devices are. Throws `device_error` for an engine that needs GPUs where the context has none.
template <class List, class Engine>
auto const& choose_engine(List const& list, Engine asked, context const& ctx) {
  bool const gpus = !ctx.devices.empty();
  auto const* chosen = find_engine(list, asked);
  for (auto const& entry : list)
    if (asked == Engine::automatic &&
        includes(entry.default_on, gpus ? runs_on::gpus : runs_on::cpu))
      chosen = &entry;
  for (auto const& entry : list)  // no engine of the module is the default on GPUs
    if (asked == Engine::automatic && chosen == nullptr && includes(entry.default_on, runs_on::cpu))
      chosen = &entry;
  if (chosen == nullptr) throw device_error("this build does not have the engine asked for");
  if (!includes(chosen->where, runs_on::cpu) && !gpus)
    throw device_error("engine " + std::string(chosen->name) +
                       " runs on GPUs, and there is none to run on");
  return *chosen;
}

}  // namespace rulerank
