#include "apps/shared/arguments/profile_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/named_values.hpp"

namespace rulerank::inline v0::apps {

namespace {

CLI::Option* add_profile(CLI::App& verb, auto& name) {
  return word_option(verb, "--profile NAME", name, eval::profile_names(),
                     "Conventions of the measures: " +
                         list_of_names(eval::profile_names(), name_list::alternatives));
}

}  // namespace

CLI::Option* add_profile(CLI::App& verb, std::string& name) {
  return add_profile<>(verb, name);
}

CLI::Option* add_profile(CLI::App& verb, std::optional<std::string>& name) {
  return add_profile<>(verb, name)->default_str("letor, with --qrels trec");
}

CLI::Option* measures_option(CLI::App& verb, std::string const& name, std::string& measures,
                             std::string description) {
  auto* const option = value_option(verb, name, measures, std::move(description));
  auto const read = [](std::string const& word) { eval::parse_measures(word); };
  return expect_read(verb, option, read, words_in(eval::measure_kinds()), true);
}

void profile_arguments::add_to(CLI::App& verb) {
  help_group const group(verb, "Conventions of measures");
  add_profile(verb, name);
  std::string const of_profile = "by the profile";
  word_option(verb, "--gain", gain, {"exponential", "linear"},
              "Gain of label r in NDCG: 2^r - 1 (exponential) or r (linear)")
      ->default_str(of_profile);
  word_option(verb, "--discount", discount, {"letor", "log2"},
              "Discount of rank i in NDCG: 1, 1, then 1 / log2(i) (letor), or 1 / log2(i + 1)")
      ->default_str(of_profile);
  number_option(verb, "--no-relevant", no_relevant,
                "Value of a query without relevant documents, 0 to 1")
      ->default_str(of_profile);
  number_option(verb, "--relevant-from", relevant_from,
                "Lowest label that is relevant; fractional labels need it")
      ->default_str(of_profile);
  word_option(verb, "--short-list", short_list, {"zero", "as-is"},
              "NDCG@k of a query with fewer than k documents: 0, or the NDCG of these documents")
      ->default_str(of_profile);
  word_option(verb, "--ties", ties, {"stable", "average", "worst", "docno"},
              "Order of documents with equal scores: as in the file (stable), the mean over all "
              "orders (average), the least relevant first (worst), or by descending docno (docno)")
      ->default_str(of_profile);
  verb.add_flag("--complete", complete, "Count judged queries that a run lacks");
  number_option(verb, "--max-docs", max_docs, "Number of documents of a ranking to count; 0: all")
      ->default_str(of_profile);
  number_option(verb, "--max-label", max_label, "Largest possible label, r_max of ERR and pFound")
      ->default_str("the largest label in the data");
  value_option(verb, "--prel P,...", prel,
               "Probability of relevance by label in pFound, such as 0,.1,.5")
      ->default_str("as in ERR");
  number_option(verb, "--persistence", persistence, "Persistence p of RBP, 0 to 1")
      ->default_str("0.9");
  number_option(verb, "--p-break", p_break, "Probability of giving up in pFound, 0 to 1")
      ->default_str("0.15");
}

eval::profile profile_arguments::make(std::string_view otherwise) const {
  eval::profile p = eval::make_profile(name ? *name : otherwise);
  if (gain) p.gain = eval::gain_from(*gain);
  if (discount) p.discount = eval::discount_from(*discount);
  if (no_relevant) p.no_relevant = *no_relevant;
  if (relevant_from) p.relevant_from = *relevant_from;
  if (short_list) p.short_lists = eval::short_list_from(*short_list);
  if (ties) p.ties = eval::tie_rule_from(*ties);
  if (complete) p.complete = true;
  if (max_docs) p.max_docs = *max_docs;
  if (max_label) p.max_label = *max_label;
  if (persistence) p.rbp_persistence = *persistence;
  if (p_break) p.pfound_break = *p_break;
  if (prel)
    for (std::string const& value : split_list(*prel))
      p.prel.push_back(number_from<double>("--prel", value));
  eval::check(p);
  return p;
}

}  // namespace rulerank::apps
