#include "python/src/data.hpp"

#include "core/output_file.hpp"
#include "datasets/arrays.hpp"
#include "datasets/sample.hpp"
#include "datasets/svmlight.hpp"
#include "python/src/run.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;

/// The attributes of documents besides their values, from Python.
struct about_documents {
  input_vector<std::int32_t> labels;
  std::vector<std::size_t> group_sizes;  ///< empty: one query
  std::vector<std::string> qids;         ///< [groups]
  std::vector<std::string> names;        ///< [columns]; empty: numbered features
  std::vector<std::uint32_t> numbers;    ///< [columns] ascending; empty: from 1
  std::vector<std::string> ids;          ///< [documents]; empty: none
  std::vector<std::string> comments;     ///< [documents]; empty: none
};

/// Throws for invalid names, which the readers of models and cuts would reject.
void expect_names(std::vector<std::string> const& names) {
  std::set<std::string_view> seen;
  for (std::size_t c = 0; c < names.size(); ++c) {
    auto const fail = [&](std::string_view found_and_expected) {
      throw error({"X", 0, 0}, "column " + std::to_string(c + 1) + ": found the name \"" +
                                   names[c] + "\"" + std::string(found_and_expected));
    };
    if (names[c].empty()) fail(", expected the column's name");
    if (printable(names[c]) != names[c])
      fail(" with a control character or a mark of direction, expected plain text");
    if (!seen.insert(names[c]).second) fail(" again, expected each column once");
  }
}

/// Sets the names of groups and features; features are numbered as in a file with these names, in
/// byte order.
datasets::dataset named(datasets::dataset data, about_documents const& about) {
  if (!about.qids.empty()) {
    if (about.qids.size() != data.queries.size())
      throw usage_error("found names of " + std::to_string(about.qids.size()) +
                        " queries, expected one for each of " +
                        std::to_string(data.queries.size()));
    for (std::size_t q = 0; q < about.qids.size(); ++q) data.queries[q].qid = about.qids[q];
  }
  if (about.names.empty()) return data;
  expect_names(about.names);
  std::vector<std::string> sorted = about.names;
  std::ranges::sort(sorted);
  datasets::feature_names numbers;
  for (std::size_t f = 0; f < sorted.size(); ++f) {
    data.names[static_cast<std::uint32_t>(f + 1)] = about.names[f];
    numbers[static_cast<std::uint32_t>(f + 1)] = sorted[f];
  }
  return datasets::renumbered(std::move(data), numbers);
}

template <class Rows>
datasets::dataset made(context const& ctx, Rows const& rows, about_documents const& about) {
  std::vector<std::string_view> const ids(about.ids.begin(), about.ids.end());
  std::vector<std::string_view> const comments(about.comments.begin(), about.comments.end());
  datasets::document_arrays arrays;
  arrays.labels = span_of(about.labels);
  arrays.group_sizes = about.group_sizes;
  arrays.ids = ids;
  arrays.comments = comments;
  arrays.features = about.numbers;
  arrays.name = "X";
  return named(datasets::make_dataset(ctx, rows, arrays), about);
}

template <class T>
documents dense(run_settings const& how, input_matrix<T> const& values,
                about_documents const& about) {
  datasets::dense_rows<T> const rows = dense_rows_of(values);
  return {run(how, [&](context const& ctx) { return made(ctx, rows, about); })};
}

template <class Index>
documents sparse(run_settings const& how, input_vector<double> const& values,
                 input_vector<Index> const& columns, input_vector<Index> const& row,
                 about_documents const& about) {
  datasets::csr_rows<double, Index> const rows{span_of(row), span_of(columns), span_of(values)};
  return {run(how, [&](context const& ctx) { return made(ctx, rows, about); })};
}

/// The values of all documents [documents x columns]; unlisted values are 0.
nb::object dense_of(run_settings const& how, datasets::dataset const& data, std::size_t columns,
                    std::uint32_t first) {
  return matrix_of(run(how,
                       [&](context const&) {
                         std::vector<double> all(data.size() * columns);
                         for (std::size_t d = 0; d < data.size(); ++d)
                           for (datasets::feature_value const& one : data.document(d))
                             if (one.feature - first < columns)
                               all[d * columns + (one.feature - first)] = one.value;
                         return all;
                       }),
                   data.size(), columns);
}

/// As above, as compressed sparse rows: values, columns and row offsets.
auto csr_of(run_settings const& how, datasets::dataset const& data, std::size_t columns,
            std::uint32_t first) {
  std::vector<double> values;
  std::vector<std::int64_t> column, begin{0};
  run(how, [&](context const&) {
    values.reserve(data.entries.size());
    column.reserve(data.entries.size());
    for (std::size_t d = 0; d < data.size(); ++d) {
      for (datasets::feature_value const& one : data.document(d)) {
        if (one.feature - first >= columns) continue;
        values.push_back(one.value);
        column.push_back(one.feature - first);
      }
      begin.push_back(static_cast<std::int64_t>(values.size()));
    }
  });
  return std::tuple(array_of(std::move(values)), array_of(std::move(column)),
                    array_of(std::move(begin)));
}

documents read(run_settings const& how, std::string const& path, bool zero_based, bool regroup,
               std::optional<std::int32_t> unlabelled, std::string group_file,
               bool fractional_labels, std::vector<std::string>& warnings) {
  datasets::read_options options;
  options.zero_based = zero_based;
  options.regroup = regroup;
  options.unlabelled = unlabelled;
  options.group_file = std::move(group_file);
  options.fractional_labels = fractional_labels;
  options.options_are_arguments = true;
  return {run(how, [&](context const& ctx) {
    return datasets::read_dataset(ctx, path, options,
                                  [&](std::string const& message) { warnings.push_back(message); });
  })};
}

/// Throws for the first document that lists a feature beyond `last`; the message names `option`.
void expect_features(datasets::dataset const& data, std::uint32_t last, std::string const& option) {
  for (std::size_t d = 0; d < data.size(); ++d)
    for (datasets::feature_value const& one : data.document(d))
      if (one.feature > last)
        throw error(datasets::place_of(data, d), "found feature " + std::to_string(one.feature) +
                                                     ", expected at most " + std::to_string(last) +
                                                     ", as " + option + " says");
}

/// The qids of all documents: integers if all are integers in Python's notation, else text.
nb::object qids_of(datasets::dataset const& data) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(data.size());
  for (datasets::query_group const& query : data.queries) {
    std::int64_t number = 0;
    auto const [end, status] =
        std::from_chars(query.qid.data(), query.qid.data() + query.qid.size(), number);
    if (status != std::errc{} || end != query.qid.data() + query.qid.size() ||
        std::to_string(number) != query.qid) {
      nb::list texts;
      for (datasets::query_group const& one : data.queries)
        for (std::size_t d = one.begin; d < one.end; ++d) texts.append(one.qid);
      return texts;
    }
    numbers.insert(numbers.end(), query.size(), number);
  }
  return nb::cast(array_of(std::move(numbers)));
}

/// Frees the text that was read; numbers and names remain.
void drop_text(datasets::dataset& data) {
  data.comments = std::vector<std::string_view>();
  data.ids = std::vector<std::string_view>();
  data.lines = std::vector<std::string_view>();
  data.line_numbers = std::vector<std::uint64_t>();
  data.header = {};
  data.text.reset();
}

void write(run_settings const& how, documents const& of, std::string const& path) {
  run(how, [&](context const&) {
    output_file out(path);
    datasets::write_svmlight(of.data, out);
    out.commit();
  });
}

documents drawn(run_settings const& how, std::size_t size, std::uint32_t features,
                std::size_t queries, std::uint32_t labels) {
  constexpr std::size_t parts = 5;  // number of folds, as in LETOR and the program's default
  return {run(how, [&](context const& ctx) {
    return datasets::sample_documents(ctx,
                                      datasets::options_of(size, features, queries, labels, parts));
  })};
}

/// Adds the constructors for one type of values.
template <class T>
void add_dense(nb::module_& to) {
  to.def(
      "dense_dataset",
      [](run_settings const& how, input_matrix<T> const& values,
         input_vector<std::int32_t> const& labels, std::vector<std::size_t> group_sizes,
         std::vector<std::string> qids, std::vector<std::string> names,
         std::vector<std::uint32_t> numbers, std::vector<std::string> ids,
         std::vector<std::string> comments) {
        return dense<T>(how, values,
                        {labels, std::move(group_sizes), std::move(qids), std::move(names),
                         std::move(numbers), std::move(ids), std::move(comments)});
      },
      "run"_a, "values"_a.noconvert(), "labels"_a, "group_sizes"_a, "qids"_a, "names"_a,
      "numbers"_a, "ids"_a = std::vector<std::string>(), "comments"_a = std::vector<std::string>(),
      "A data set of the rows of an array.");
}

template <class Index>
void add_sparse(nb::module_& to) {
  to.def(
      "sparse_dataset",
      [](run_settings const& how, input_vector<double> const& values,
         input_vector<Index> const& columns, input_vector<Index> const& row,
         input_vector<std::int32_t> const& labels, std::vector<std::size_t> group_sizes,
         std::vector<std::string> qids, std::vector<std::string> names,
         std::vector<std::uint32_t> numbers, std::vector<std::string> ids,
         std::vector<std::string> comments) {
        return sparse<Index>(how, values, columns, row,
                             {labels, std::move(group_sizes), std::move(qids), std::move(names),
                              std::move(numbers), std::move(ids), std::move(comments)});
      },
      "run"_a, "values"_a, "columns"_a.noconvert(), "row"_a.noconvert(), "labels"_a,
      "group_sizes"_a, "qids"_a, "names"_a, "numbers"_a, "ids"_a = std::vector<std::string>(),
      "comments"_a = std::vector<std::string>(), "A data set of compressed sparse rows.");
}

}  // namespace

// Long because it lists the Python interface.
void add_data(nb::module_& to) {
  nb::class_<documents>(to, "Dataset", "Documents in queries, as the library has them.")
      .def("__len__", [](documents const& of) { return of.data.size(); })
      .def_prop_ro("max_feature",
                   [](documents const& of) {
                     std::uint32_t most = 0;
                     for (datasets::feature_value const& one : of.data.entries)
                       most = std::max(most, one.feature);
                     return most;
                   })
      .def_prop_ro("feature_names",
                   [](documents const& of) {
                     std::vector<std::string> names;
                     for (auto const& [feature, name] : of.data.names) names.push_back(name);
                     return names;
                   })
      .def("labels", [](documents const& of) { return array_of(std::vector(of.data.labels)); })
      .def("fractional_labels",
           [](documents const& of) { return array_of(std::vector(of.data.fractional_labels)); })
      .def("qids", [](documents const& of) { return qids_of(of.data); })
      .def("docids",
           [](documents const& of) {
             nb::list ids;
             for (std::size_t d = 0; d < of.data.size(); ++d) ids.append(of.data.docid(d));
             return ids;
           })
      .def("comments",
           [](documents const& of) {
             nb::list comments;
             for (std::size_t d = 0; d < of.data.size(); ++d) comments.append(of.data.comment(d));
             return comments;
           })
      .def(
          "expect_features",
          [](documents const& of, std::uint32_t last, std::string const& option) {
            expect_features(of.data, last, option);
          },
          "last"_a, "option"_a, "Throws where a document lists a feature beyond the last.")
      .def(
          "drop_text", [](documents& of) { drop_text(of.data); },
          "Lets go of comments, ids and lines.")
      .def(
          "to_dense",
          [](documents const& of, run_settings const& how, std::size_t columns,
             std::uint32_t first) { return dense_of(how, of.data, columns, first); },
          "run"_a, "columns"_a, "first"_a)
      .def(
          "to_csr",
          [](documents const& of, run_settings const& how, std::size_t columns,
             std::uint32_t first) { return csr_of(how, of.data, columns, first); },
          "run"_a, "columns"_a, "first"_a);
  add_dense<double>(to);
  add_dense<float>(to);
  add_sparse<std::int32_t>(to);
  add_sparse<std::int64_t>(to);
  to.def(
      "read_dataset",
      [](run_settings const& how, std::string const& path, bool zero_based, bool regroup,
         std::optional<std::int32_t> unlabelled, std::string group_file, bool fractional_labels) {
        std::vector<std::string> warnings;
        documents of = read(how, path, zero_based, regroup, unlabelled, std::move(group_file),
                            fractional_labels, warnings);
        return std::tuple(std::move(of), warnings);
      },
      "run"_a, "path"_a, "zero_based"_a, "regroup"_a, "unlabelled"_a.none(), "group_file"_a,
      "fractional_labels"_a, "The documents of a file, and warnings.");
  to.def("draw_dataset", &drawn, "run"_a, "documents"_a, "features"_a, "queries"_a, "labels"_a);
  to.def("write_dataset", &write, "run"_a, "dataset"_a, "path"_a);
}

}  // namespace rulerank::python
