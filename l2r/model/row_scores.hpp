#pragma once

#include "core/context.hpp"
#include "datasets/arrays.hpp"
#include "l2r/model/scorer.hpp"

// Scores of rows of values, for the C library and Python.
namespace rulerank::inline v0::l2r {

/// Returns by.score(ctx, make_dataset(ctx, rows, about)), the same bits, but a model of one
/// component that scores items reads the values where they are. `Value` is float or double. Throws
/// as these do. Several threads may call it at once.
template <class Value>
scored score_rows(context const& ctx, scorer const& by, datasets::dense_rows<Value> const& rows,
                  datasets::document_arrays const& about);

}  // namespace rulerank::l2r
