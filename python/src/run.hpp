#pragma once

#include "core/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

// Runs the library's work for Python calls. Call these functions with the interpreter's lock held.
namespace rulerank::inline v0::python {

namespace nb = nanobind;

/// The settings of a call.
struct run_settings {
  int threads = 0;
  std::uint64_t seed = 1;
  std::string device = "cpu";  ///< cpu, cuda or cuda:0,1,...
  nb::object progress;         ///< called with stage, done and total; False stops the work. Or None
  nb::object ranks;            ///< with rank, size and allgather, such as mpi4py's Comm. Or None
};

/// Runs `work` with a context for the settings, in a separate thread without the interpreter's
/// lock. The calling thread meanwhile checks signals and reports progress, also at the end. Throws
/// what the work throws; `interrupted` if the progress callable stopped it, even if the work was
/// complete; and, after the work has stopped, what a signal handler or the progress callable
/// raised.
void run_work(run_settings const& how, std::function<void(context const&)> const& work);

/// As above, returning the result.
template <class Work>
auto run(run_settings const& how, Work&& work) {
  using result = std::invoke_result_t<Work, context const&>;
  if constexpr (std::is_void_v<result>) {
    run_work(how, std::forward<Work>(work));
  } else {
    std::optional<result> made;
    run_work(how, [&](context const& ctx) { made.emplace(work(ctx)); });
    return std::move(*made);
  }
}

/// Adds the class RunSettings and the translation of exceptions.
void add_run(nb::module_& to);

}  // namespace rulerank::python
