#include "apps/shared/arguments/mine_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/engine_registry.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "datasets/text/encoding.hpp"
#include "datasets/transactions.hpp"
#include "eval/significance.hpp"
#include "rules/mining/association_rules.hpp"
#include "rules/mining/miner.hpp"
#include "rules/mining/writer.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {
namespace {

/// The transactions and, if documents were read, the value ranges of their items.
struct mine_input {
  datasets::transactions data;
  std::vector<rules::appearance> where;
};

mine_input read_input(session& owner, mine_arguments const& given, mine_request& wanted) {
  auto const timer = owner.stage("read");
  mine_input in;
  if (given.train.empty()) {
    std::string const& path = owner.input(given.transactions);
    wanted.baskets.warn = [&owner](std::string const& message) { owner.warn(message); };
    in.data = given.form == "fimi" ? datasets::read_fimi(owner.ctx(), path, wanted.baskets.warn)
                                   : datasets::read_baskets(owner.ctx(), path, wanted.baskets);
  } else {
    auto const documents = given.rules || given.reading.drop_unjudged
                               ? given.reading.read_judged(owner, given.train, "learn from")
                               : given.reading.read(owner, given.train);
    auto const fitted = given.discretizer.fit_or_read(owner, documents);
    auto const binned = datasets::apply_discretizer(owner.ctx(), documents, fitted);
    in.data = datasets::transactions_of(binned, fitted, given.rules);
    if (given.rules) {
      in.where.assign(in.data.names.size(), rules::appearance::consequent);
      std::fill_n(in.where.begin(), binned.items(), rules::appearance::antecedent);
    }
  }
  if (!given.appear.empty())
    in.where = rules::read_appearances(owner.ctx(), owner.input(given.appear), in.data.names);
  return in;
}

/// Throws with a hint. `expected`: number of itemsets; 0: more than memory holds.
[[noreturn]] void refuse(session& owner, mine_input const& in, rules::mining_options const& options,
                         double expected) {
  double const gigabytes = static_cast<double>(rules::bytes_to_a_byte) / 1e9;
  double const free = static_cast<double>(options.max_bytes) * gigabytes;
  std::string const found =
      expected == 0 ? fmt::format("found more itemsets than {:.2g} GB of memory hold", free)
                    : fmt::format(
                          "found about {:.2g} itemsets, which take {:.2g} GB of memory, and {:.2g} "
                          "GB are free",
                          expected, expected * rules::bytes_an_itemset * gigabytes, free);
  std::string hint = "a larger one, or a smaller --max-size";
  if (options.kind == rules::itemset_kind::all) {  // there is no estimate for other kinds
    auto const fitting = rules::support_that_fits(owner.ctx(), rules::view_of(in.data), options);
    hint = fitting.support == 0
               ? "a smaller --max-size"
               : fmt::format("{} or more (about {:.2g} itemsets), or a smaller --max-size",
                             fitting.support, fitting.itemsets);
  }
  throw usage_error(
      fmt::format("--min-support {}: {}, expected {}", options.min_support, found, hint));
}

rules::itemset_table mine_itemsets(session& owner, mine_input const& in,
                                   rules::mining_options const& options) {
  if (options.kind == rules::itemset_kind::all) {
    auto const timer = owner.stage("estimate");
    double const expected =
        rules::estimated_itemsets(owner.ctx(), rules::view_of(in.data), options);
    // An estimate may be twice too large; what passes here is stopped when it exceeds the limit.
    if (expected * rules::bytes_an_itemset > 2 * static_cast<double>(options.max_bytes))
      refuse(owner, in, options, expected);
  }
  rules::itemset_list found;
  try {
    auto const timer = owner.stage("mine");
    found = rules::mine(owner.ctx(), rules::view_of(in.data), options);
  } catch (rules::out_of_budget const&) {
    refuse(owner, in, options, 0);
  }
  auto const timer = owner.stage("sort");
  return {owner.ctx(), found};
}

/// Memory of a rule in the growing list, with its p-values.
constexpr std::uint64_t bytes_a_byte_of_rules = 3;

/// Throws. `expected`: number of rules; 0: more than memory holds.
[[noreturn]] void refuse_rules(mine_arguments const& given, double expected,
                               std::uint64_t max_bytes) {
  std::string const found = expected == 0
                                ? "found more rules than"
                                : fmt::format("found about {:.2g} rules, more than", expected);
  throw usage_error(fmt::format(
      "--rules: {} {:.2g} GB of memory hold, expected a larger --min-confidence (now {}) or "
      "--min-support, or a smaller --max-size or --max-consequent",
      found, static_cast<double>(max_bytes * bytes_a_byte_of_rules) / 1e9, given.min_confidence));
}

rules::rule_list find_rules(session& owner, mine_arguments const& given,
                            rules::association_options options, mine_input const& in,
                            rules::itemset_table const& found) {
  options.max_bytes = of_first<std::uint64_t>(owner.ctx(), free_memory()) / bytes_a_byte_of_rules;
  auto const timer = owner.stage("rules");
  double const expected = rules::estimated_rules(owner.ctx(), found, options);
  if (expected * static_cast<double>(rules::rule_list::bytes_a_rule(2)) >
      2 * static_cast<double>(options.max_bytes))
    refuse_rules(given, expected, options.max_bytes);
  try {
    return rules::association_rules(owner.ctx(), found, in.data.size(), options);
  } catch (rules::out_of_budget const&) {
    refuse_rules(given, 0, options.max_bytes);
  }
}

std::size_t write_rules(session& owner, mine_arguments const& given, mine_request const& wanted,
                        mine_input const& in, rules::itemset_table const& found,
                        rules::mining_writer& to) {
  rules::rule_list const strong = find_rules(owner, given,
                                             {.min_confidence = wanted.min_confidence,
                                              .min_size = given.min_size,
                                              .max_consequent = given.max_consequent,
                                              .where = in.where},
                                             in, found);
  auto const timer = owner.stage("write");
  std::vector<double> p;
  for (std::size_t i = 0; i < strong.size(); ++i)
    p.push_back(rules::chi_square_p(strong[i].counts));
  std::vector<double> const p_holm = eval::holm(p);
  std::size_t written = 0;
  for (std::size_t i = 0; i < strong.size(); ++i) {
    if (given.max_p && !(p_holm[i] <= *given.max_p)) continue;
    to.write(strong[i], p_holm[i]);
    ++written;
  }
  return written;
}

void note_engine(session& owner, rules::mining_engine which) {
  // Checks the available devices first.
  auto const& engine = choose_engine(rules::mining_engines(), which, owner.ctx());
  owner.expect_device_for(engine.name, engine.where);
  owner.note("engine", engine.name);
}

/// JSON must be UTF-8.
void warn_of_other_bytes(session& owner, datasets::transactions const& data) {
  auto const other = std::ranges::find_if(data.names, [](std::string const& name) {
    return datasets::first_not_utf8(name) != name.npos;
  });
  if (other != data.names.end())
    owner.warn(fmt::format(
        "the item {} is not UTF-8 (the first such item); in JSON its bytes become U+FFFD",
        rulerank::quoted(*other)));
}

void run_mine(session& owner, mine_arguments given, CLI::App const& verb) {
  if (owner.run.json && given.out == "-" && verb.count("--format") == 0) given.format = "json";
  mine_request wanted = given.request();
  bool const writes_json = wanted.writing.format == rules::mining_format::json;
  owner.outputs({{"--out", given.out}}, {}, writes_json ? "--out" : "");
  note_engine(owner, wanted.mining.engine);
  given.reading.check_inputs(owner, {{"--transactions", given.transactions},
                                     {"--train", given.train},
                                     {"--appear", given.appear}});
  mine_input in = read_input(owner, given, wanted);
  if (writes_json) warn_of_other_bytes(owner, in.data);
  rules::drop_unplaced_items(in.data, in.where);
  wanted.mining.min_support = wanted.bound.of(in.data.size());
  owner.ranks();  // compares the ranks' inputs
  wanted.mining.max_bytes = rules::bytes_for_itemsets(owner.ctx());
  rules::itemset_table const found = mine_itemsets(owner, in, wanted.mining);
  output_file out(owner.destination(given.out));
  rules::mining_writer writer(out, in.data.names, in.data.size(), wanted.writing);
  std::size_t strong = 0;
  if (given.rules) {
    strong = write_rules(owner, given, wanted, in, found, writer);
  } else {
    auto const timer = owner.stage("write");
    for (std::size_t k = 0; k < found.size(); ++k) writer.write(found[k], found.support(k));
  }
  out.flush();
  owner.meet();
  out.commit();
  nlohmann::ordered_json summary{{"transactions", in.data.size()},
                                 {"items", in.data.names.size()},
                                 {"min_support", wanted.mining.min_support},
                                 {"itemsets", found.size()}};
  if (given.rules) summary["rules"] = strong;
  owner.note("mined", summary);
  if (given.out != "-")
    owner.say(fmt::format("found {} in {}; wrote {}",
                          given.rules ? counted(strong, "rule") : counted(found.size(), "itemset"),
                          counted(in.data.size(), "transaction"), given.out));
  if (owner.prints_json()) write_file("-", json_text_of(summary));
}

}  // namespace

void add_mine(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<mine_arguments>(
      program, owner, "mine", "Find frequent itemsets and strong rules",
      "rulerank mine --transactions baskets.txt --form baskets --separator , "
      "--min-support 1% --rules --min-confidence 60% --measures lift,p_holm\n"
      "  finds rules that hold in 1 % of the baskets, with confidences of 60 % or more",
      run_mine);
  runs_over_ranks(verb);
  a.add_to(verb);
  usual_options(
      verb, {"--transactions", "--form", "--separator", "--train", "--min-support", "--max-size",
             "--kind", "--rules", "--min-confidence", "--measures", "--out", "--format"});
}

}  // namespace rulerank::apps
