#pragma once

#include "core/context.hpp"
#include "core/process_group.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>

// Fits cuts and makes items over processes that each hold all documents or a part of them
// (read_dataset_part). Collective, with equal options on all processes.
//
// Threads: only the thread that uses the group.
namespace rulerank::inline v0::datasets {

/// Most bytes that are sent to a process in one exchange, unless they belong to one feature.
constexpr std::size_t bytes_together = std::size_t{16} << 20;

/// Returns the cuts of all documents, as one process would fit them, on each of the context's
/// processes. The processes exchange the distinct values of their parts with frequencies, many
/// features at a time, and each cuts a share of the features. Throws as `fit_discretizer`.
discretizer fit_discretizer_on_parts(context const& ctx, dataset const& part,
                                     discretizer_options const& options);

/// Fits as `fit_discretizer` if all processes hold all documents: each cuts a share of the
/// features. Without processes, cuts all features here. Throws as `fit_discretizer`.
discretizer fit_discretizer_together(context const& ctx, dataset const& train,
                                     discretizer_options const& options);

/// Concatenates the items of all parts in the order of the processes, on each process. `part`: this
/// process's items, by the same cuts.
binned_dataset join_parts(process_group const& group, binned_dataset const& part);

}  // namespace rulerank::datasets
