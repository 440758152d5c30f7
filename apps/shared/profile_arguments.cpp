#include "apps/shared/profile_arguments.hpp"

#include "apps/shared/options.hpp"

namespace rulerank::apps {

void profile_arguments::add_to(CLI::App& verb) {
  std::string const group = "Conventions";
  verb.add_option("--profile", name, "letor, mslr, standard, trec, lightgbm or yahoo")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--gain", gain, "exponential (2^r - 1) or linear (r)")->group(group);
  verb.add_option("--discount", discount, "letor (1, 1, 1/log2(i)) or log2 (1/log2(i + 1))")
      ->group(group);
  verb.add_option("--no-relevant", no_relevant, "Value of a query with nothing to find, 0 to 1")
      ->group(group);
  verb.add_option("--relevant-from", relevant_from, "The lowest label that is relevant")
      ->group(group);
  verb.add_option("--short-list", short_list, "NDCG@k of fewer than k documents: zero or as-is")
      ->group(group);
  verb.add_option("--ties", ties, "Equal scores: stable, average, worst or docno")->group(group);
  verb.add_flag("--complete", complete, "Judged queries that a run lacks count too")->group(group);
  verb.add_option("--max-docs", max_docs, "Documents looked at in a ranking; 0: all")->group(group);
  verb.add_option("--max-label", max_label,
                  "r_max of ERR and pFound; default: the largest label in the data")
      ->group(group);
  verb.add_option("--prel", prel, "pFound's p_rel by label, as 0,.1,.5; default: as ERR")
      ->group(group);
  verb.add_option("--persistence", persistence, "RBP's p [.9]")->group(group);
  verb.add_option("--p-break", p_break, "pFound's p_break [.15]")->group(group);
}

eval::profile profile_arguments::make() const {
  eval::profile p = eval::make_profile(name);
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
