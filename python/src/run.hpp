#pragma once

#include "core/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

// How calls of Python run the library's work. Functions are called with the interpreter's lock
// held.
namespace rulerank::inline v0::python {

namespace nb = nanobind;

/// Where work runs, and who hears of its progress.
struct run_settings {
  int threads = 0;
  std::uint64_t seed = 1;
  std::string device = "cpu";  ///< cpu, cuda or cuda:0,1,...
  nb::object progress;         ///< called with stage, done and total; false stops. Or None
  nb::object ranks;            ///< with rank, size and allgather, as mpi4py's Comm. Or None
};

/// Gives `work` a context as the settings say, in a thread of its own without the interpreter's
/// lock; this one looks for signals and reports progress meanwhile, at the end too. Throws what the
/// work throws, `interrupted` where the progress callable said so, though the work was done, and
/// what a signal's handler or the progress callable raised, after the work has stopped.
void run_work(run_settings const& how, std::function<void(context const&)> const& work);

/// The same, with a result.
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

/// The class RunSettings and the exceptions' translation.
void add_run(nb::module_& to);

}  // namespace rulerank::python
