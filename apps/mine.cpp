#include "apps/verbs.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "datasets/transactions.hpp"
#include "rules/mining/miner.hpp"
#include "rules/mining/support_bound.hpp"
#include "rules/mining/writer.hpp"

#include <memory>
#include <string>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct mine_arguments {
  std::string transactions;
  std::string out = "-";
  std::string min_support;
  std::uint32_t min_size = 1;
  std::uint32_t max_size = 0;
  std::string kind = "all";
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

void run_mine(session& owner, mine_arguments const& given) {
  auto const bound =
      option_value("--min-support", [&] { return rules::support_bound_from(given.min_support); });
  rules::mining_options options;
  options.engine = rules::mining_engine_from(given.engine);
  options.kind = rules::itemset_kind_from(given.kind);
  options.min_size = given.min_size;
  options.max_size = given.max_size;
  options.max_bytes = free_memory();
  owner.outputs({{"--out", given.out}});
  owner.inputs({{"--transactions", given.transactions}});

  datasets::transactions data;
  {
    auto const timer = owner.stage("read");
    data = datasets::read_fimi(owner.ctx(), owner.input(given.transactions));
  }
  options.min_support = bound.of(data.size());
  rules::itemset_list found;
  {
    auto const timer = owner.stage("mine");
    found = rules::mine(owner.ctx(), rules::view_of(data), options);
  }
  auto const timer = owner.stage("write");
  output_file out(given.out);
  rules::itemset_writer writer(
      out, data.names, data.size(),
      {.format = rules::mining_format_from(given.format), .percent = bound.percent});
  found.for_each([&](std::span<rules::item const> items, std::uint32_t support) {
    writer.write(items, support);
  });
  out.commit();
}

}  // namespace

void add_mine(CLI::App& program, session& owner) {
  auto const arguments = std::make_shared<mine_arguments>();
  CLI::App* const verb =
      add_verb(program, owner, "mine", "Find frequent itemsets and strong rules",
               "rulerank mine --transactions mushroom.dat --min-support 10% --kind closed "
               "--out closed.txt",
               [arguments, &owner] { run_mine(owner, *arguments); });
  verb->add_option("--transactions", arguments->transactions,
                   "FIMI file: integers, one transaction a line; - is standard input")
      ->type_name("FILE")
      ->required();
  verb->add_option("--out", arguments->out, "Where the itemsets go; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  verb->add_option("--min-support", arguments->min_support,
                   "Fewest transactions, as a count or in percent of all")
      ->type_name("N|P%")
      ->required();
  verb->add_option("--min-size", arguments->min_size, "Fewest items of an itemset")
      ->capture_default_str();
  verb->add_option("--max-size", arguments->max_size, "Most items of an itemset; 0: any number")
      ->capture_default_str();
  verb->add_option("--kind", arguments->kind, "Which frequent itemsets: all, closed or maximal")
      ->check(CLI::IsMember({"all", "closed", "maximal"}))
      ->capture_default_str();
  verb->add_option("--format", arguments->format, "Form of the output: borgelt, spmf or json")
      ->check(CLI::IsMember({"borgelt", "spmf", "json"}))
      ->capture_default_str();
  verb->add_option("--engine", arguments->engine, "auto, vertical, apriori or bruteforce")
      ->capture_default_str();
}

}  // namespace rulerank::apps
