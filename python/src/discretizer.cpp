#include "python/src/discretizer.hpp"

#include "core/output_file.hpp"
#include "python/src/data.hpp"
#include "python/src/run.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;

datasets::discretizer_options options_of(std::string const& method, int bins,
                                         std::string const& norm, std::string const& missing_values,
                                         std::string const& unlisted) {
  return {datasets::binning_from(method), bins, datasets::missing_values_from(missing_values),
          datasets::unlisted_values_from(unlisted), datasets::normalization_from(norm)};
}

/// The codes [documents x features] in column-major order, without a copy; keeps `items` alive.
nb::ndarray<nb::numpy, std::uint8_t const, nb::ndim<2>> codes_of(nb::handle_t<item_table> items) {
  datasets::binned_dataset const& of = nb::cast<item_table const&>(items).items;
  return {of.codes.data(),
          {of.documents, of.feature_count()},
          items,
          {1, static_cast<std::int64_t>(of.stride)}};
}

/// The number of each fitted feature, and its cuts.
std::vector<std::tuple<std::uint32_t, std::vector<double>>> cuts_of(fitted_cuts const& of) {
  std::vector<std::tuple<std::uint32_t, std::vector<double>>> all;
  for (datasets::feature_cuts const& one : of.cuts->features)
    all.emplace_back(one.feature, one.cuts);
  return all;
}

void add_classes(nb::module_& to) {
  nb::class_<datasets::discretizer_options>(to, "DiscretizerOptions", "How features become items.")
      .def(
          "__init__",
          [](datasets::discretizer_options* self, std::string const& method, int bins,
             std::string const& norm, std::string const& missing_values,
             std::string const& unlisted) {
            new (self) datasets::discretizer_options(
                options_of(method, bins, norm, missing_values, unlisted));
          },
          "method"_a, "bins"_a, "norm"_a, "missing_values"_a, "unlisted"_a);

  nb::class_<fitted_cuts>(to, "Cuts", "Fitted cuts.")
      .def_prop_ro("cuts", &cuts_of, "The number of each fitted feature, and its cuts.")
      .def_prop_ro("parameters",
                   [](fitted_cuts const& of) { return parameters_of(of.cuts->options); })
      .def_prop_ro("feature_count", [](fitted_cuts const& of) { return column_count(*of.cuts); })
      .def_prop_ro("feature_names",
                   [](fitted_cuts const& of) {
                     std::vector<std::string> names;
                     for (auto const& [feature, name] : of.cuts->names) names.push_back(name);
                     return names;
                   })
      .def(
          "write",
          [](fitted_cuts const& of, std::string const& path) {
            output_file out(path);
            datasets::write_discretizer(*of.cuts, out);
            out.commit();
          },
          "path"_a)
      .def_static(
          "read",
          [](std::string const& path) {
            return fitted_cuts{
                std::make_shared<datasets::discretizer const>(datasets::read_discretizer(path))};
          },
          "path"_a)
      .def("__getstate__", [](fitted_cuts const& of) { return datasets::to_text(*of.cuts); })
      .def("__setstate__", [](fitted_cuts& self, std::string const& json) {
        new (&self) fitted_cuts{std::make_shared<datasets::discretizer const>(
            datasets::discretizer_from_text(json, "the pickled cuts"))};
      });

  nb::class_<item_table>(to, "Items", "Documents as items.")
      .def_prop_ro(
          "features", [](item_table const& of) { return array_of(std::vector(of.items.features)); },
          "The numbers of the features that have items, ascending.")
      .def_prop_ro("item_count", [](item_table const& of) { return of.items.items(); })
      .def("codes", &codes_of, "The bins, 255 for none; a view.");
}

}  // namespace

nb::dict parameters_of(datasets::discretizer_options const& of) {
  auto const text = [](std::string_view words) { return nb::str(words.data(), words.size()); };
  nb::dict all;
  all["method"] = text(datasets::name_of(of.method));
  all["bins"] = of.bins == 0 ? nb::object(nb::str("cv")) : nb::object(nb::int_(of.bins));
  all["norm"] = text(datasets::name_of(of.norm));
  all["missing_values"] = text(datasets::name_of(of.missing));
  all["unlisted"] = text(datasets::name_of(of.unlisted));
  return all;
}

std::uint32_t column_count(datasets::discretizer const& of) {
  return std::max(of.columns, of.features.empty() ? 0 : of.features.back().feature);
}

void add_discretizer(nb::module_& to) {
  add_classes(to);
  to.def(
      "fit_cuts",
      [](run_settings const& how, documents const& train,
         datasets::discretizer_options const& options, std::uint32_t columns) {
        datasets::discretizer made = run(how, [&](context const& ctx) {
          return datasets::fit_discretizer(ctx, train.data, options);
        });
        if (columns > column_count(made)) made.columns = columns;
        return fitted_cuts{std::make_shared<datasets::discretizer const>(std::move(made))};
      },
      "run"_a, "train"_a, "options"_a, "columns"_a,
      "columns: of the array that train was made of.");
  to.def(
      "apply_cuts",
      [](run_settings const& how, documents const& of, fitted_cuts const& cuts) {
        return item_table{run(how, [&](context const& ctx) {
          return datasets::apply_discretizer(ctx, of.data, *cuts.cuts);
        })};
      },
      "run"_a, "documents"_a, "cuts"_a);
}

}  // namespace rulerank::python
