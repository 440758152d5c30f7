#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// A module keeps its engines in a registry and chooses among them. The program, tests and
// benchmarks read an engine's description, devices and factory from its entry, so a new engine
// needs one entry and one source file.
namespace rulerank::inline v0 {

/// The engines of a module: first its own, then those that its library of published engines adds.
/// `Maker` is the factory of an engine.
///
/// Lists and makers remain valid while engines are added; a list has the engines that existed when
/// it was returned.
///
/// Threads: `add` is called before the module's other functions; any thread may call the others.
template <class Engine, class Maker>
class engine_registry {
 public:
  struct entry {
    engine_info<Engine> info;
    Maker make;
  };

  engine_registry(std::initializer_list<entry> own) {
    list_.reserve(most);
    makers_.reserve(most);
    add(own);
  }
  /// Adds the engines that are not listed yet. Throws std::length_error beyond 32 engines.
  void add(std::initializer_list<entry> more) {
    for (entry const& one : more) {
      if (find_engine(list_, one.info.which) != nullptr) continue;
      if (list_.size() == most)
        throw std::length_error("more engines than a registry has room for");
      list_.push_back(one.info);
      makers_.push_back(one.make);
    }
  }
  std::span<engine_info<Engine> const> list() const noexcept { return list_; }
  /// `which` must be a listed engine.
  Maker const& maker_of(Engine which) const {
    return makers_[static_cast<std::size_t>(find_engine(list_, which) - list_.data())];
  }

 private:
  static constexpr std::size_t most = 32;  // so that neither vector is reallocated
  std::vector<engine_info<Engine>> list_;
  std::vector<Maker> makers_;  // by engine
};

/// Returns the name of an engine; "auto" for `automatic`.
template <class List, class Engine>
constexpr std::string_view name_of_engine(List const& list, Engine which) {
  auto const* const entry = find_engine(list, which);
  return entry != nullptr ? entry->name : "auto";
}

/// Returns the entry with that name in a list of `what`, `automatic` for "auto". Throws
/// `usage_error` that lists the names, followed by `note`.
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

/// `entry_named` for engines.
template <class Engine, class List>
Engine engine_named(List const& list, std::string_view name) {
#if RULERANK_HAS_CUDA
  return entry_named<Engine>(list, "engine", name);
#else
  return entry_named<Engine>(list, "engine", name,
                             "; this build has no CUDA and no engines that need GPUs");
#endif
}

/// Returns the entry of the engine to run. `automatic` selects the default engine on GPUs if the
/// context has devices and the module has such a default, otherwise the default on the CPU. Any
/// other engine is never replaced: throws `device_error` if it needs GPUs and the context has none,
/// or if the build lacks it.
template <class List, class Engine>
auto const& choose_engine(List const& list, Engine asked, context const& ctx) {
  bool const has_gpus = !ctx.devices.empty();
  auto const* chosen = find_engine(list, asked);
  if (asked == Engine::automatic) {
    if (has_gpus) chosen = find_default_engine(list, runs_on::gpus);
    if (chosen == nullptr) chosen = find_default_engine(list, runs_on::cpu);
  }
  if (chosen == nullptr)
    throw device_error(
        "this build does not have the requested engine; `rulerank engines` lists its engines");
  if (!includes(chosen->where, runs_on::cpu) && !has_gpus)
    throw device_error("engine " + std::string(chosen->name) +
                       " needs a GPU, and no CUDA device was found");
  return *chosen;
}

}  // namespace rulerank
