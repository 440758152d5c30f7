#include "python/src/evaluation.hpp"

#include "core/error.hpp"
#include "datasets/arrays.hpp"
#include "datasets/trec.hpp"
#include "eval/evaluate.hpp"
#include "eval/significance.hpp"
#include "python/src/data.hpp"
#include "python/src/run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;

/// Converts the value of a profile's member; `expected` describes its type in messages.
template <class T>
T part_as(std::string const& part, nb::handle value, char const* expected) {
  T found{};
  if (!nb::try_cast(value, found))
    throw usage_error(part + ": found " + nb::repr(value).c_str() + ", expected " + expected);
  return found;
}

/// The named profile with the given members replaced.
eval::profile profile_of(std::string const& name, nb::dict const& parts) {
  eval::profile p = eval::make_profile(name);
  for (auto const& entry : parts) {
    std::string const part = nb::cast<std::string>(entry.first);
    nb::handle const value = entry.second;
    auto const word = [&] { return part_as<std::string>(part, value, "a name"); };
    auto const number = [&] { return part_as<double>(part, value, "a number"); };
    if (part == "gain")
      p.gain = eval::gain_from(word());
    else if (part == "discount")
      p.discount = eval::discount_from(word());
    else if (part == "no_relevant")
      p.no_relevant = number();
    else if (part == "relevant_from")
      p.relevant_from = number();
    else if (part == "short_list")
      p.short_lists = eval::short_list_from(word());
    else if (part == "ties")
      p.ties = eval::tie_rule_from(word());
    else if (part == "complete")
      p.complete = part_as<bool>(part, value, "True or False");
    else if (part == "max_docs")
      p.max_docs = part_as<std::size_t>(part, value, "a whole number from 0");
    else if (part == "max_label")
      p.max_label = part_as<std::int32_t>(part, value, "a whole number");
    else if (part == "rbp_persistence")
      p.rbp_persistence = number();
    else if (part == "pfound_break")
      p.pfound_break = number();
    else if (part == "prel")
      p.prel = part_as<std::vector<double>>(part, value, "a list of numbers");
    else
      throw usage_error(
          "found the parameter '" + part +
          "' of a profile, expected gain, discount, no_relevant, relevant_from, "
          "short_list, ties, complete, max_docs, max_label, rbp_persistence, pfound_break or "
          "prel");
  }
  eval::check(p);
  return p;
}

/// Labels by query, from Python.
struct labelled_arrays {
  input_vector<std::int32_t> labels;
  input_vector<double> fractional;  ///< empty: labels are integers
  std::vector<datasets::query_group> queries;

  eval::labelled_queries view() const {
    return {span_of(labels), queries, {}, span_of(fractional)};
  }
};

std::vector<datasets::query_group> groups_of(std::vector<std::size_t> const& sizes,
                                             std::vector<std::string> qids) {
  std::vector<datasets::query_group> groups;
  std::size_t begin = 0;
  for (std::size_t q = 0; q < sizes.size(); ++q) {
    groups.push_back({std::move(qids.at(q)), begin, begin + sizes[q]});
    begin += sizes[q];
  }
  return groups;
}

/// The text of a key of qrels or of a run.
std::string id_of(std::string const& of, nb::handle key) {
  std::string id;
  if (!nb::try_cast(key, id))
    throw error({of, 0, 0}, "found the id " + std::string(nb::repr(key).c_str()) +
                                ", expected the text of a query or document");
  return id;
}

/// Calls f for each query of {qid: {docno: value}}.
template <class F>
void for_each_query(std::string const& of, nb::dict const& queries, F&& f) {
  for (auto const& [qid, documents] : queries) {
    std::string const id = id_of(of, qid);
    nb::dict values;
    if (!nb::try_cast(documents, values))
      throw error({of, 0, 0}, "query " + id + ": expected a dict of documents");
    f(id, values);
  }
}

/// Whether the value is an integer, possibly stored as a float, as in data frames.
bool whole_number(nb::handle value, std::int32_t& number) {
  if (nb::try_cast(value, number)) return true;
  double real = 0;
  if (!nb::try_cast(value, real) || real != std::floor(real) ||
      std::abs(real) > std::numeric_limits<std::int32_t>::max())
    return false;
  number = static_cast<std::int32_t>(real);
  return true;
}

/// Converts judgments {qid: {docno: label}}.
datasets::qrels qrels_of(nb::dict const& queries) {
  datasets::qrels made{"qrels", {}};
  for_each_query(made.name, queries, [&](std::string const& qid, nb::dict const& labels) {
    datasets::judged_query query{qid, {}, 0};
    for (auto const& [docno, value] : labels) {
      datasets::judgment one{id_of(made.name, docno), 0, 0};
      if (!whole_number(value, one.label))
        throw error({made.name, 0, 0}, "query " + qid + ", document " + one.docno +
                                           ": found the label " + nb::repr(value).c_str() +
                                           ", expected a whole number");
      query.documents.push_back(std::move(one));
    }
    std::ranges::sort(query.documents, {}, &datasets::judgment::docno);
    made.queries.push_back(std::move(query));
  });
  return made;
}

/// Throws for a label whose summed gains could overflow a double.
void expect_gains(datasets::qrels const& judgments, eval::profile const& p) {
  std::int32_t const most = eval::largest_label(p);
  for (auto const& query : judgments.queries)
    for (auto const& document : query.documents)
      if (document.label > most)
        throw error({judgments.name, 0, 0},
                    "query " + query.qid + ", document " + document.docno + ": found label " +
                        std::to_string(document.label) +
                        ", whose gain exceeds a double; expected labels up to " +
                        std::to_string(most) + ", or gain linear");
}

eval::query_values evaluate(run_settings const& how, labelled_arrays const& test,
                            input_vector<double> const& scores, std::string const& metrics,
                            eval::profile const& p) {
  auto const measures = eval::parse_measures(metrics);
  return run(how, [&](context const& ctx) {
    return eval::evaluate(ctx, test.view(), span_of(scores), measures, p);
  });
}

std::vector<std::string> names_of(std::vector<eval::measure> const& measures) {
  std::vector<std::string> names;
  for (eval::measure const& one : measures) names.push_back(one.name());
  return names;
}

nb::object test_of(std::optional<eval::corrected_test> const& test) {
  if (!test) return nb::none();
  return nb::make_tuple(test->statistic, test->p, test->p_holm);
}

nb::list compare(run_settings const& how, labelled_arrays const& test,
                 std::vector<std::tuple<std::string, input_vector<double>>> const& systems,
                 std::size_t reference, std::string const& metrics, eval::profile const& p,
                 eval::comparison_options const& options) {
  std::vector<eval::system_values> values;
  for (auto const& [name, scores] : systems)
    values.push_back({name, {evaluate(how, test, scores, metrics, p)}});
  auto const compared =
      run(how, [&](context const& ctx) { return eval::compare(ctx, values, reference, options); });
  nb::list rows;
  for (eval::comparison const& one : compared) {
    nb::dict row;
    row["system"] = one.system;
    row["reference"] = one.reference;
    row["metric"] = one.on.name();
    row["queries"] = one.queries;
    row["difference"] = one.difference;
    row["wins"] = one.wins;
    row["ties"] = one.ties;
    row["losses"] = one.losses;
    row["paired_t"] = test_of(one.paired_t);
    row["fisher"] = test_of(one.fisher);
    rows.append(row);
  }
  return rows;
}

/// Adds the evaluation of runs against qrels.
void add_runs(nb::module_& to) {
  nb::class_<datasets::qrels>(to, "Qrels", "Judgments of queries: {qid: {docno: label}}.")
      .def(
          "__init__",
          [](datasets::qrels* self, nb::dict const& queries) {
            new (self) datasets::qrels(qrels_of(queries));
          },
          "queries"_a);
  to.def(
      "evaluate_run",
      [](run_settings const& how, datasets::qrels const& judgments, nb::dict const& retrieved,
         std::string const& metrics, eval::profile const& p) {
        auto const measures = eval::parse_measures(metrics);
        datasets::run const found = run_of(retrieved);
        expect_gains(judgments, p);
        eval::query_values values = run(how, [&](context const& ctx) {
          return eval::evaluate(ctx, judgments, found, measures, p);
        });
        std::size_t const queries = values.size();
        std::vector<double> means = values.averages();
        return std::tuple(names_of(measures), std::move(means), std::move(values.qids),
                          matrix_of(std::move(values.values), queries, measures.size()));
      },
      "run"_a, "qrels"_a, "retrieved"_a, "metrics"_a, "profile"_a,
      "As evaluate, of retrieved documents {qid: {docno: score}}, with the query ids third.");
}

/// Adds labels of rows, and their checks.
void add_labels(nb::module_& to) {
  nb::class_<labelled_arrays>(to, "LabelledQueries", "Labels in queries.")
      .def(
          "__init__",
          [](labelled_arrays* self, input_vector<std::int32_t> labels,
             input_vector<double> fractional, std::vector<std::size_t> const& group_sizes,
             std::vector<std::string> qids) {
            new (self) labelled_arrays{std::move(labels), std::move(fractional),
                                       groups_of(group_sizes, std::move(qids))};
          },
          "labels"_a, "fractional"_a, "group_sizes"_a, "qids"_a);
  to.def(
      "labels_of",
      [](input_vector<double> const& y) {
        datasets::numeric_labels found = datasets::labels_from(span_of(y), "y");
        return std::tuple(array_of(std::move(found.whole)), array_of(std::move(found.fractional)));
      },
      "y"_a, "Whole labels; and where some are fractional all of them as they are, else none.");
  to.def(
      "expect_threshold",
      [](std::string const& metrics) {
        eval::expect_threshold(eval::parse_measures(metrics), "y", "relevant_from");
      },
      "metrics"_a, "Throws for a measure that counts relevant ones of fractional labels.");
}

}  // namespace

datasets::run run_of(nb::dict const& queries) {
  datasets::run made{"run", {}, {}};
  for_each_query(made.name, queries, [&](std::string const& qid, nb::dict const& scores) {
    datasets::run_query query{qid, {}, 0};
    for (auto const& [docno, value] : scores) {
      datasets::run_entry one{id_of(made.name, docno), 0};
      if (!nb::try_cast(value, one.score) || !std::isfinite(one.score))
        throw error({made.name, 0, 0}, "query " + qid + ", document " + one.docno +
                                           ": found the score " + nb::repr(value).c_str() +
                                           ", expected a finite number");
      query.documents.push_back(std::move(one));
    }
    made.queries.push_back(std::move(query));
  });
  return made;
}

void add_evaluation(nb::module_& to) {
  nb::class_<eval::profile>(to, "Profile", "The conventions that measures follow.")
      .def(
          "__init__",
          [](eval::profile* self, std::string const& name, nb::dict parts) {
            new (self) eval::profile(profile_of(name, parts));
          },
          "name"_a, "parts"_a)
      .def("__str__", [](eval::profile const& p) { return eval::describe(p); });
  to.def(
      "metric_names",
      [](std::string const& metrics) { return names_of(eval::parse_measures(metrics)); },
      "metrics"_a);
  to.def(
      "evaluate",
      [](run_settings const& how, labelled_arrays const& test, input_vector<double> const& scores,
         std::string const& metrics, eval::profile const& p) {
        eval::query_values found = evaluate(how, test, scores, metrics, p);
        std::vector<double> means = found.averages();
        std::size_t const queries = found.size(), measures = found.measures.size();
        return std::tuple(names_of(found.measures), std::move(means),
                          matrix_of(std::move(found.values), queries, measures));
      },
      "run"_a, "test"_a, "scores"_a, "metrics"_a, "profile"_a,
      "The measures' names, their averages, and their values of each query.");
  add_labels(to);
  add_runs(to);
  to.def(
      "compare",
      [](run_settings const& how, labelled_arrays const& test,
         std::vector<std::tuple<std::string, input_vector<double>>> const& systems,
         std::size_t reference, std::string const& metrics, eval::profile const& p, bool paired_t,
         bool fisher, std::uint64_t permutations, bool over_report) {
        return compare(how, test, systems, reference, metrics, p,
                       {paired_t, fisher, permutations,
                        over_report ? eval::holm_family::report : eval::holm_family::measure});
      },
      "run"_a, "test"_a, "systems"_a, "reference"_a, "metrics"_a, "profile"_a, "paired_t"_a,
      "fisher"_a, "permutations"_a, "over_report"_a);
}

}  // namespace rulerank::python
