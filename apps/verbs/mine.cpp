#include "apps/shared/arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "datasets/transactions.hpp"
#include "eval/significance.hpp"
#include "rules/mining/association_rules.hpp"
#include "rules/mining/miner.hpp"
#include "rules/mining/support_bound.hpp"
#include "rules/mining/writer.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct mine_arguments {
  std::string transactions;
  std::string form = "fimi";
  std::string separator;
  std::string train;
  reading_arguments reading;
  discretizer_arguments discretizer;
  std::string out = "-";
  std::string min_support;
  std::uint32_t min_size = 1;
  std::uint32_t max_size = 0;
  std::string kind = "all";
  bool rules = false;
  std::string min_confidence = "80%";
  std::uint32_t max_consequent = 0;
  std::string appear;
  std::optional<double> max_p;
  std::string measures;
  std::string format = "borgelt";
  std::string engine = "auto";
};

/// Says which option was wrong.
template <class Read>
auto option_value(char const* option, Read&& read) {
  try {
    return read();
  } catch (usage_error const& e) {
    throw usage_error(fmt::format("{}: {}", option, e.what()));
  }
}

/// What was asked for, checked before anything is read.
struct mine_request {
  rules::support_bound bound;
  rules::mining_options mining;
  double min_confidence = 0;
  rules::writer_options writing;
  char separator = ' ';
};

void check_input(mine_arguments const& given) {
  if (given.transactions.empty() == given.train.empty())
    throw usage_error("expected --transactions F or --train F, one of them");
  if (given.train.empty()) {
    if (!given.discretizer.fitted.empty())
      throw usage_error("--discretizer is for --train, found --transactions");
  } else if (given.form != "fimi") {
    throw usage_error("--form is for --transactions, found --train");
  }
  if (!given.separator.empty() && given.form != "baskets")
    throw usage_error("--separator is for --form baskets");
  if (given.separator.size() > 1 && given.separator != "\\t")
    throw usage_error(
        fmt::format("--separator: found '{}', expected one character", given.separator));
}

void check_rules(mine_arguments const& given) {
  auto const only = [&](char const* option, bool found) {
    if (found && !given.rules) throw usage_error(fmt::format("{} is for --rules", option));
  };
  only("--appear", !given.appear.empty());
  only("--max-consequent", given.max_consequent != 0);
  only("--max-p", given.max_p.has_value());
  only("--measures", !given.measures.empty());
  if (given.rules && given.kind != "all")
    throw usage_error(
        fmt::format("--rules come from all frequent itemsets, found --kind {}", given.kind));
}

mine_request request_of(mine_arguments const& given) {
  check_input(given);
  check_rules(given);
  if (given.min_support.empty())
    throw usage_error("--min-support is required, a count of transactions or a share of them");
  mine_request wanted;
  wanted.bound =
      option_value("--min-support", [&] { return rules::support_bound_from(given.min_support); });
  wanted.min_confidence =
      option_value("--min-confidence", [&] { return rules::share_from(given.min_confidence); });
  wanted.mining.engine =
      option_value("--engine", [&] { return rules::mining_engine_from(given.engine); });
  wanted.mining.kind = rules::itemset_kind_from(given.kind);
  wanted.mining.min_size = given.rules ? 1 : given.min_size;
  wanted.mining.max_size = given.max_size;
  if (given.max_size != 0 && given.max_size < given.min_size)
    throw usage_error(
        fmt::format("--max-size {} is below --min-size {}", given.max_size, given.min_size));
  wanted.writing.format = rules::mining_format_from(given.format);
  wanted.writing.percent = wanted.bound.percent;
  if (!given.measures.empty()) wanted.writing.measures = split_list(given.measures);
  option_value("--measures", [&] {
    rules::check_measures(wanted.writing.measures);
    return 0;
  });
  if (!given.separator.empty())
    wanted.separator = given.separator == "\\t" ? '\t' : given.separator.front();
  if (!given.train.empty()) given.discretizer.options();
  return wanted;
}

/// The transactions, and where their items may stand when documents were read.
struct mine_input {
  datasets::transactions data;
  std::vector<rules::appearance> where;
};

mine_input read_input(session& owner, mine_arguments const& given, mine_request const& wanted) {
  auto const timer = owner.stage("read");
  mine_input in;
  if (given.train.empty()) {
    std::string const& path = owner.input(given.transactions);
    in.data = given.form == "baskets" ? datasets::read_baskets(owner.ctx(), path, wanted.separator)
                                      : datasets::read_fimi(owner.ctx(), path);
  } else {
    auto const documents = given.reading.read(owner, given.train);
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

/// Items that may stand nowhere go.
void drop_items(datasets::transactions& data, std::vector<rules::appearance> const& where) {
  if (std::find(where.begin(), where.end(), rules::appearance::neither) == where.end()) return;
  std::size_t kept = 0;
  std::size_t begin = 0;
  for (std::size_t t = 0; t < data.size(); ++t) {
    std::size_t const end = data.row[t + 1];
    for (std::size_t e = begin; e < end; ++e)
      if (where[data.items[e]] != rules::appearance::neither) data.items[kept++] = data.items[e];
    data.row[t + 1] = kept;
    begin = end;
  }
  data.items.resize(kept);
}

/// Memory that sorting itemsets, and looking them up for rules, takes for each byte of the list.
constexpr std::uint64_t bytes_to_a_byte = 12;

/// `expected` itemsets, or 0 when there were more than memory holds.
[[noreturn]] void refuse(session& owner, mine_input const& in, rules::mining_options const& options,
                         double expected) {
  double const gigabytes = static_cast<double>(bytes_to_a_byte) / 1e9;
  double const free = static_cast<double>(options.max_bytes) * gigabytes;
  std::string const found =
      expected == 0 ? fmt::format("found more itemsets than {:.2g} GB hold", free)
                    : fmt::format(
                          "found about {:.2g} itemsets, which take {:.2g} GB, more than the {:.2g} "
                          "GB that are free",
                          expected, expected * rules::bytes_an_itemset * gigabytes, free);
  std::string hint = "a larger one, or a smaller --max-size";
  if (options.kind == rules::itemset_kind::all) {  // of others there is no estimate
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
    // An estimate may be twice too large; what is not refused here is stopped when it is too much.
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

std::size_t write_rules(session& owner, mine_arguments const& given, mine_request const& wanted,
                        mine_input const& in, rules::itemset_table const& found,
                        rules::mining_writer& to) {
  rules::rule_list strong;
  {
    auto const timer = owner.stage("rules");
    strong = rules::association_rules(owner.ctx(), found, in.data.size(),
                                      {.min_confidence = wanted.min_confidence,
                                       .min_size = given.min_size,
                                       .max_consequent = given.max_consequent,
                                       .where = in.where});
  }
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

/// All of them run on the CPU.
void note_engine(session& owner, rules::mining_engine which) {
  owner.ctx();  // says first when the device is not there
  if (which == rules::mining_engine::automatic) which = rules::mining_engine::vertical;
  for (auto const& e : rules::mining_engines())
    if (e.which == which) owner.expect_device_for(e.name, name_of(e.where));
  owner.note("engine", rules::name_of(which));
}

void run_mine(session& owner, mine_arguments const& given) {
  mine_request wanted = request_of(given);
  owner.outputs({{"--out", given.out}});
  note_engine(owner, wanted.mining.engine);
  given.reading.check_inputs(owner, {{"--transactions", given.transactions},
                                     {"--train", given.train},
                                     {"--appear", given.appear}});
  mine_input in = read_input(owner, given, wanted);
  drop_items(in.data, in.where);
  wanted.mining.min_support = wanted.bound.of(in.data.size());
  wanted.mining.max_bytes = free_memory() / bytes_to_a_byte;
  rules::itemset_table const found = mine_itemsets(owner, in, wanted.mining);
  output_file out(given.out);
  rules::mining_writer writer(out, in.data.names, in.data.size(), wanted.writing);
  std::size_t strong = 0;
  if (given.rules) {
    strong = write_rules(owner, given, wanted, in, found, writer);
  } else {
    auto const timer = owner.stage("write");
    for (std::size_t k = 0; k < found.size(); ++k) writer.write(found[k], found.support(k));
  }
  out.commit();
  nlohmann::ordered_json summary{{"transactions", in.data.size()},
                                 {"items", in.data.names.size()},
                                 {"min_support", wanted.mining.min_support},
                                 {"itemsets", found.size()}};
  if (given.rules) summary["rules"] = strong;
  owner.note("mined", summary);
  if (owner.prints_json()) write_file("-", summary.dump(2) + "\n");
}

void add_input(CLI::App& verb, mine_arguments& given) {
  verb.add_option("--transactions", given.transactions,
                  "One transaction a line; - is standard input")
      ->type_name("FILE");
  verb.add_option("--form", given.form,
                  "What a line of it is: fimi (integers) or baskets (names of items)")
      ->check(CLI::IsMember({"fimi", "baskets"}))
      ->capture_default_str();
  verb.add_option("--separator", given.separator,
                  "Character between the names of a basket; without it blanks")
      ->type_name("C");
  verb.add_option("--train", given.train,
                  "SVMlight or LETOR file instead: a document's items are its features' bins; with "
                  "--rules its label is the consequent")
      ->type_name("FILE");
}

void add_rules(CLI::App& verb, mine_arguments& given) {
  std::string const group = "Rules";
  verb.add_flag("--rules", given.rules, "Strong rules instead of itemsets; sizes count both sides")
      ->group(group);
  verb.add_option("--min-confidence", given.min_confidence, "Smallest confidence, 0.8 or 80%")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--max-consequent", given.max_consequent,
                  "Most items behind the arrow; 0: any number")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--appear", given.appear,
                  "Where items may stand: antecedent, consequent, both or neither for all others, "
                  "then lines of an item and where")
      ->type_name("FILE")
      ->group(group);
  verb.add_option("--max-p", given.max_p,
                  "Largest p value of the chi-square after Holm's correction over all strong rules")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("P")
      ->group(group);
  verb.add_option("--measures", given.measures,
                  "More measures on each line: lift, leverage, conviction, zhang, jaccard, "
                  "certainty, kulczynski, chi_square, p, p_holm; JSON has them all")
      ->type_name("A,B,...")
      ->group(group);
}

}  // namespace

void add_mine(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<mine_arguments>();
  CLI::App* const verb =
      add_verb(program, owner, "mine", "Find frequent itemsets and strong rules",
               "rulerank mine --transactions baskets.txt --form baskets --separator , "
               "--min-support 1% --rules --min-confidence 60% --measures lift,p_holm",
               [arguments, &owner] { run_mine(owner, *arguments); });
  add_input(*verb, *arguments);
  verb->add_option("--min-support", arguments->min_support,
                   "Fewest transactions, as a count or in percent of all")
      ->type_name("N|P%");
  verb->add_option("--min-size", arguments->min_size, "Fewest items")->capture_default_str();
  verb->add_option("--max-size", arguments->max_size, "Most items; 0: any number")
      ->capture_default_str();
  verb->add_option("--kind", arguments->kind, "Which frequent itemsets: all, closed or maximal")
      ->check(CLI::IsMember({"all", "closed", "maximal"}))
      ->capture_default_str();
  verb->add_option("--out", arguments->out, "Where they go; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  verb->add_option("--format", arguments->format, "Form of the output: borgelt, spmf or json")
      ->check(CLI::IsMember({"borgelt", "spmf", "json"}))
      ->capture_default_str();
  verb->add_option("--engine", arguments->engine, "auto, vertical, apriori or bruteforce")
      ->capture_default_str();
  add_rules(*verb, *arguments);
  arguments->discretizer.add_to(*verb);
  arguments->reading.add_to(*verb);
}

}  // namespace rulerank::apps
