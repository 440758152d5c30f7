#pragma once

#include "datasets/discretizer.hpp"

#include <cstdint>
#include <memory>

#include <nanobind/nanobind.h>

// Conversion of cuts and items between Python and the library.
namespace rulerank::inline v0::python {

namespace nb = nanobind;

/// Fitted cuts owned by Python, shared with models that use them.
struct fitted_cuts {
  std::shared_ptr<datasets::discretizer const> cuts;
};

/// Documents as items, owned by Python.
struct item_table {
  datasets::binned_dataset items;
};

/// The estimators' parameters for these options: method, bins, norm, missing_values, unlisted.
nb::dict parameters_of(datasets::discretizer_options const& of);

/// The number of array columns used for the fit, if known, else the largest feature number.
std::uint32_t column_count(datasets::discretizer const& of);

/// Adds the classes DiscretizerOptions, Cuts and Items, and functions that fit and apply cuts.
void add_discretizer(nb::module_& to);

}  // namespace rulerank::python
