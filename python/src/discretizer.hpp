#pragma once

#include "datasets/discretizer.hpp"

#include <cstdint>
#include <memory>

#include <nanobind/nanobind.h>

// Cuts and items between Python and the library.
namespace rulerank::inline v0::python {

namespace nb = nanobind;

/// Fitted cuts that Python holds, shared with the models that are fitted with them.
struct fitted_cuts {
  std::shared_ptr<datasets::discretizer const> cuts;
};

/// Documents as items that Python holds.
struct item_table {
  datasets::binned_dataset items;
};

/// The parameters of estimators that these options are: method, bins, norm, missing_values,
/// unlisted.
nb::dict parameters_of(datasets::discretizer_options const& of);

/// Columns of the arrays that they were fitted to where these are known, else the largest number of
/// a feature.
std::uint32_t column_count(datasets::discretizer const& of);

/// The classes DiscretizerOptions, Cuts and Items, and what fits and applies cuts.
void add_discretizer(nb::module_& to);

}  // namespace rulerank::python
