#include "python/src/mining.hpp"

#include "core/error.hpp"
#include "core/machine.hpp"
#include "datasets/transactions.hpp"
#include "eval/significance.hpp"
#include "python/src/data.hpp"
#include "python/src/run.hpp"
#include "rules/mining/association_rules.hpp"
#include "rules/mining/miner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace rulerank::inline v0::python {

namespace {

using namespace nb::literals;

/// Transactions as rows of item numbers.
struct transaction_rows {
  std::vector<std::size_t> row;
  std::vector<rules::item> entries;
  std::uint32_t items = 0;

  rules::transaction_view view() const { return {row, entries, items}; }
  std::size_t size() const { return row.size() - 1; }
};

transaction_rows rows_of(input_vector<std::int64_t> const& begin,
                         input_vector<std::uint32_t> const& entries, std::uint32_t items) {
  transaction_rows made;
  made.row.assign(begin.data(), begin.data() + begin.size());
  made.entries.assign(entries.data(), entries.data() + entries.size());
  made.items = items;
  for (std::size_t t = 0; t + 1 < made.row.size(); ++t) {
    auto const first = made.entries.begin() + static_cast<std::ptrdiff_t>(made.row[t]);
    std::sort(first, made.entries.begin() + static_cast<std::ptrdiff_t>(made.row[t + 1]));
  }
  return made;
}

/// Parses a minimum support: a count, or a share of the transactions.
std::uint32_t support_of(std::string const& text, std::size_t transactions) {
  return rules::support_bound_from(text).of(transactions);
}

/// Translates `out_of_budget` into a `usage_error`.
[[noreturn]] void refuse(std::string const& found, std::string const& hint) {
  throw usage_error("found more " + found + " than memory holds, expected " + hint);
}

rules::itemset_table mine(context const& ctx, transaction_rows const& data,
                          rules::mining_options const& options) {
  try {
    return {ctx, rules::mine(ctx, data.view(), options)};
  } catch (rules::out_of_budget const&) {
    refuse("itemsets", "a larger min_support or a smaller max_size");
  }
}

nb::object set_of(std::span<rules::item const> items, nb::sequence const& names) {
  nb::object const made = nb::steal(PyFrozenSet_New(nullptr));
  for (rules::item const one : items) {
    nb::object const name = names[one];
    if (PySet_Add(made.ptr(), name.ptr()) != 0) throw nb::python_error();
  }
  return made;
}

/// The supports, and the itemsets as sets of names.
nb::tuple itemsets(run_settings const& how, transaction_rows const& data,
                   rules::mining_options const& options, nb::sequence const& names) {
  rules::itemset_table const found =
      run(how, [&](context const& ctx) { return mine(ctx, data, options); });
  std::vector<double> supports;
  nb::list sets;
  for (std::size_t k = 0; k < found.size(); ++k) {
    supports.push_back(static_cast<double>(found.support(k)) / static_cast<double>(data.size()));
    sets.append(set_of(found[k], names));
  }
  return nb::make_tuple(array_of(std::move(supports)), sets);
}

/// Association rules with their Holm-corrected p-values.
struct mined_rules {
  rules::rule_list list;
  std::vector<double> p_holm;
};

mined_rules find_rules(context const& ctx, transaction_rows const& data,
                       rules::mining_options const& mining,
                       rules::association_options const& options) {
  rules::itemset_table const found = mine(ctx, data, mining);
  mined_rules made;
  try {
    made.list = rules::association_rules(ctx, found, data.size(), options);
  } catch (rules::out_of_budget const&) {
    refuse("rules", "a larger min_confidence or min_support, or a smaller max_size");
  }
  std::vector<double> p;
  for (std::size_t i = 0; i < made.list.size(); ++i)
    p.push_back(rules::chi_square_p(made.list[i].counts));
  made.p_holm = eval::holm(p);
  return made;
}

/// Antecedents, consequents, their supports, and each measure of the library by name.
nb::dict association_rules(run_settings const& how, transaction_rows const& data,
                           rules::mining_options const& mining,
                           rules::association_options const& options, nb::sequence const& names) {
  mined_rules found =
      run(how, [&](context const& ctx) { return find_rules(ctx, data, mining, options); });
  auto const column = [&](auto value) {
    std::vector<double> values(found.list.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(found.list[i].counts);
    return array_of(std::move(values));
  };
  nb::list antecedents, consequents;
  for (std::size_t i = 0; i < found.list.size(); ++i) {
    antecedents.append(set_of(found.list[i].antecedent, names));
    consequents.append(set_of(found.list[i].consequent, names));
  }
  auto const share = [](std::uint64_t count, rules::rule_counts const& of) {
    return static_cast<double>(count) / static_cast<double>(of.transactions);
  };
  nb::dict all;
  all["antecedents"] = antecedents;
  all["consequents"] = consequents;
  all["antecedent support"] =
      column([&](rules::rule_counts const& of) { return share(of.antecedent, of); });
  all["consequent support"] =
      column([&](rules::rule_counts const& of) { return share(of.consequent, of); });
  for (rules::rule_measure const& measure : rules::rule_measures())
    all[nb::str(measure.name.data(), measure.name.size())] = column(measure.of);
  all["p_holm"] = array_of(std::move(found.p_holm));
  return all;
}

rules::mining_options options_of(transaction_rows const& data, std::string const& min_support,
                                 std::uint32_t min_size, std::uint32_t max_size,
                                 std::string const& kind, std::string const& engine) {
  return {.engine = rules::mining_engine_from(engine),
          .kind = rules::itemset_kind_from(kind),
          .min_support = support_of(min_support, data.size()),
          .min_size = min_size,
          .max_size = max_size,
          .max_bytes = rules::bytes_for_itemsets({})};
}

}  // namespace

void add_mining(nb::module_& to) {
  nb::class_<transaction_rows>(to, "Transactions", "Transactions as rows of item numbers.")
      .def(
          "__init__",
          [](transaction_rows* self, input_vector<std::int64_t> const& begin,
             input_vector<std::uint32_t> const& entries,
             std::uint32_t items) { new (self) transaction_rows(rows_of(begin, entries, items)); },
          "begin"_a, "entries"_a, "items"_a);
  to.def(
      "mine_itemsets",
      [](run_settings const& how, transaction_rows const& data, std::string const& min_support,
         std::uint32_t min_size, std::uint32_t max_size, std::string const& kind,
         std::string const& engine, nb::sequence const& names) {
        return itemsets(how, data, options_of(data, min_support, min_size, max_size, kind, engine),
                        names);
      },
      "run"_a, "transactions"_a, "min_support"_a, "min_size"_a, "max_size"_a, "kind"_a, "engine"_a,
      "names"_a, "The supports of the itemsets and the sets of their items' names.");
  to.def(
      "mine_rules",
      [](run_settings const& how, transaction_rows const& data, std::string const& min_support,
         double min_confidence, std::uint32_t max_size, std::uint32_t max_consequent,
         std::string const& engine, nb::sequence const& names) {
        return association_rules(how, data,
                                 options_of(data, min_support, 1, max_size, "all", engine),
                                 {.min_confidence = min_confidence,
                                  .min_size = 1,
                                  .max_consequent = max_consequent,
                                  .max_bytes = free_memory() / 3},
                                 names);
      },
      "run"_a, "transactions"_a, "min_support"_a, "min_confidence"_a, "max_size"_a,
      "max_consequent"_a, "engine"_a, "names"_a, "Columns by name.");
}

}  // namespace rulerank::python
