#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>

// Choices and the words of the command line for them: a room lists its engines and finds them here.
namespace rulerank {

/// An engine as the program lists it. `Engine` is the room's enum, which has `automatic` beside.
template <class Engine>
struct engine_entry {
  Engine which;
  std::string_view name;
  std::string_view runs_on;  ///< "cpu", "cuda" or "cpu, cuda", and on how much of it
  std::string_view what;
  bool is_default = false;  ///< what `automatic` stands for, on the CPU or on GPUs
};

/// The name of a choice in a list of `which` and `name`; empty where the list has it not.
template <class List, class Which>
constexpr std::string_view name_in(List const& list, Which which) {
  for (auto const& entry : list)
    if (entry.which == which) return entry.name;
  return {};
}

/// The choice of that name. Throws `usage_error` with what is chosen, what was found and the names,
/// after those that `others` has; `but` ends the message.
template <class List>
auto which_in(List const& list, std::string_view what, std::string_view name,
              std::string others = {}, std::string_view but = {}) {
  for (auto const& entry : list)
    if (entry.name == name) return entry.which;
  for (auto const& entry : list) others.append(others.empty() ? "" : ", ").append(entry.name);
  throw usage_error("found " + std::string(what) + " '" + std::string(name) +
                    "', expected one of " + others + std::string(but));
}

/// The same of engines, where "auto" is `automatic`.
template <class List, class Engine>
constexpr std::string_view engine_name(List const& list, Engine which) {
  return which == Engine::automatic ? "auto" : name_in(list, which);
}
template <class Engine, class List>
Engine engine_in(List const& list, std::string_view name, std::string_view but = {}) {
  return name == "auto" ? Engine::automatic : which_in(list, "engine", name, "auto", but);
}

/// For rooms with engines for GPUs: why `engine_in` may not know one.
#if RULERANK_HAS_CUDA
inline constexpr std::string_view without_cuda;
#else
inline constexpr std::string_view without_cuda =
    "; this build is without CUDA and has none for GPUs";
#endif

/// Whether an engine runs on GPUs alone.
template <class List, class Engine>
constexpr bool needs_gpu(List const& list, Engine which) {
  for (auto const& entry : list)
    if (entry.which == which) return entry.runs_on.starts_with("cuda");
  return false;
}

}  // namespace rulerank
