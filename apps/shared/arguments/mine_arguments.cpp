#include "apps/shared/arguments/mine_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "datasets/forms.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

void check_input(mine_arguments const& given) {
  if (given.transactions.empty() == given.train.empty())
    throw usage_error("expected either --transactions FILE or --train FILE");
  if (given.train.empty()) {
    if (!given.discretizer.fitted.empty())
      throw usage_error("--discretizer needs --train, found --transactions");
  } else if (given.form != "fimi") {
    throw usage_error("--form needs --transactions, found --train");
  }
  for (auto const& [option, is_given] : {std::pair("--separator", !given.separator.empty()),
                                         std::pair("--comments", !given.comments.empty()),
                                         std::pair("--skip-lines", given.skip_lines.has_value())})
    if (is_given && given.form == "fimi")
      throw usage_error(fmt::format("{} needs --form baskets or pairs", option));
  if (given.separator.size() > 1 && given.separator != "\\t")
    throw usage_error(
        fmt::format("--separator: found '{}', expected one character", given.separator));
}

void check_rules(mine_arguments const& given) {
  auto const only = [&](char const* option, bool found) {
    if (found && !given.rules) throw usage_error(fmt::format("{} needs --rules", option));
  };
  only("--min-confidence", given.min_confidence != mine_arguments{}.min_confidence);
  only("--appear", !given.appear.empty());
  only("--max-consequent", given.max_consequent != 0);
  only("--max-p", given.max_p.has_value());
  only("--measures", !given.measures.empty());
  if (given.rules && given.kind != "all")
    throw usage_error(
        fmt::format("--rules cannot be combined with --kind {}, expected --kind all", given.kind));
}

void add_input(CLI::App& verb, mine_arguments& given) {
  help_group const group(verb, input_group);
  path_option(verb, "--transactions,TRANSACTIONS", given.transactions,
              "Transactions, one on each line; - is standard input");
  word_option(verb, "--form", given.form, datasets::names_of_forms("transactions"),
              "Form of a line: integers (fimi), names of items (baskets), or a basket's id and one "
              "of its items (pairs)");
  value_option(verb, "--separator C", given.separator,
               "Character between the items of a basket; \\t is a tab")
      ->default_str("blanks");
  word_option(verb, "--comments", given.comments, {"skip", "keep"},
              "Baskets: skip or keep lines that begin with #, % or @")
      ->default_str("skip # and a blank, refuse the others");
  number_option(verb, "--skip-lines", given.skip_lines,
                "Baskets: number of lines to skip at the beginning; 0 reads a header as data");
  path_option(verb, "--train", given.train,
              "Documents (SVMlight or LETOR) instead of transactions: their items are the bins of "
              "features; with --rules the label is the consequent");
}

void add_rules(CLI::App& verb, mine_arguments& given) {
  help_group const group(verb, "Rules");
  verb.add_flag("--rules", given.rules, "Find strong rules instead of itemsets");
  value_option(verb, "--min-confidence C|P%", given.min_confidence,
               "Smallest confidence of a rule, such as 0.8 or 80%");
  number_option(verb, "--max-consequent", given.max_consequent,
                "Most items in the consequent; 0: no limit");
  path_option(
      verb, "--appear", given.appear,
      "File that restricts where items occur in rules: first antecedent, consequent, both or "
      "neither for items not listed, then lines of an item and one of these words");
  number_option(verb, "--max-p P", given.max_p,
                "Largest p value of a rule's chi-square test after Holm correction over all strong "
                "rules, 0 to 1",
                {0.0, 1.0});
  list_option(verb, "--measures A,B,...", given.measures,
              {"lift", "leverage", "conviction", "zhang", "jaccard", "certainty", "kulczynski",
               "chi_square", "p", "p_holm"},
              "More measures on each line: lift, leverage, conviction, zhang, jaccard, certainty, "
              "kulczynski, chi_square, p, p_holm; JSON has all");
}

}  // namespace

mine_request mine_arguments::request() const {
  mine_arguments const& given = *this;
  check_input(given);
  check_rules(given);
  if (given.min_support.empty())
    throw usage_error("--min-support is required: a count or a share of the transactions");
  mine_request wanted;
  wanted.bound = read_for("--min-support", rules::support_bound_from, given.min_support);
  wanted.min_confidence = read_for("--min-confidence", rules::share_from, given.min_confidence);
  wanted.mining.engine = read_for("--engine", rules::mining_engine_from, given.engine);
  wanted.mining.kind = rules::itemset_kind_from(given.kind);
  wanted.mining.min_size = given.rules ? 1 : given.min_size;
  wanted.mining.max_size = given.max_size;
  if (given.max_size != 0 && given.max_size < given.min_size)
    throw usage_error(
        fmt::format("--max-size {} is below --min-size {}", given.max_size, given.min_size));
  wanted.writing.format = rules::mining_format_from(given.format);
  wanted.writing.percent = wanted.bound.percent;
  if (!given.measures.empty()) wanted.writing.measures = split_list(given.measures);
  read_for("--measures", rules::check_measures, wanted.writing.measures);
  if (!given.separator.empty())
    wanted.baskets.separator = given.separator == "\\t" ? '\t' : given.separator.front();
  wanted.baskets.pairs = given.form == "pairs";
  wanted.baskets.skip_lines = given.skip_lines;
  if (!given.comments.empty()) wanted.baskets.comments = given.comments == "skip";
  if (!given.train.empty()) given.discretizer.options();
  return wanted;
}

void mine_arguments::add_to(CLI::App& verb) {
  add_input(verb, *this);
  {
    help_group const group(verb, "Itemsets");
    value_option(verb, "--min-support N|P%", min_support,
                 "Fewest transactions with an itemset, or with both sides of a rule: a count such "
                 "as 500, or a share such as 0.1 or 10% (required)");
    number_option(verb, "--min-size", min_size, "Fewest items; for a rule, the sum of both sides");
    number_option(verb, "--max-size", max_size,
                  "Most items, counted as for --min-size; 0: no limit");
    word_option(verb, "--kind", kind, {"all", "closed", "maximal"},
                "Frequent itemsets to find: all, those without a superset of equal support "
                "(closed), or those without a frequent superset (maximal)");
  }
  path_option(verb, "--out", out, "Output file; - is standard output")->group(output_group);
  word_option(verb, "--format", format, {"borgelt", "spmf", "json"}, "Format of the output")
      ->group(output_group);
  engine_option(verb, "--engine", engine, rules::mining_engines());
  add_rules(verb, *this);
  discretizer.add_to(verb);
  reading.add_to(verb);
  reading.add_drop_unjudged_to(verb);
}

}  // namespace rulerank::apps
