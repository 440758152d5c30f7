#pragma once

#include "core/context.hpp"
#include "core/process_group.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>

// Cuts and items over processes, which each have all documents or a part of them
// (read_dataset_part). All processes call with the same options.
//
// Threads: the one that uses the group.
namespace rulerank::inline v0::datasets {

/// At most so many bytes are told to a process in one exchange, unless they are of one feature.
constexpr std::size_t bytes_together = std::size_t{16} << 20;

/// The cuts that one process fits on all documents, on each of the context's processes. They tell
/// each other the distinct values of their parts with how often each occurs, of many
/// features at a time, and cut a share of the features each. Throws as `fit_discretizer` does.
discretizer fit_discretizer_on_parts(context const& ctx, dataset const& part,
                                     discretizer_options const& options);

/// `fit_discretizer` for processes all of which have all documents: each cuts a share of the
/// features. Without processes this one cuts all. Throws as `fit_discretizer` does.
discretizer fit_discretizer_together(context const& ctx, dataset const& train,
                                     discretizer_options const& options);

/// The items of all documents, one part behind the other in the order of the processes, on each of
/// them. `part`: this one's, by the same cuts.
binned_dataset join_parts(process_group const& group, binned_dataset const& part);

}  // namespace rulerank::datasets
