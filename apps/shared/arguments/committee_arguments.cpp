#include "apps/shared/arguments/committee_arguments.hpp"

#include "apps/shared/options/options.hpp"
#include "core/error.hpp"
#include "datasets/scores.hpp"

#include <set>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void committee_arguments::add_to(CLI::App& verb) {
  verb_ = &verb;
  help_group const group(verb, "Query by committee");
  number_option(verb, "--rounds", rounds,
                "Rounds of query by committee after the sampling; 25 in the publication, 0: none");
  number_option(verb, "--per-query", per_query, "Most documents of each query in a round",
                {1, 1'000'000'000});
  value_option(verb, "--committee NAME,...", members,
               "Rankers that vote: rules, ranksvm, xgboost, or NAME=FILE with the score of one "
               "training document on each line");
  word_option(verb, "--select", select, {"committee", "margin", "random"},
              "Documents of a round: where the rankers disagree most (committee), where the first "
              "ranker's scores are closest (margin), or at random");
}

std::vector<std::string> committee_arguments::learners() const {
  std::vector<std::string> names;
  for (std::string const& word : split_list(members))
    if (word.find('=') == std::string::npos) names.push_back(word);
  return names;
}

std::vector<std::pair<std::string, std::string>> committee_arguments::outside() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (std::string const& word : split_list(members))
    if (std::size_t const at = word.find('='); at != std::string::npos)
      found.emplace_back(word.substr(0, at), word.substr(at + 1));
  return found;
}

void committee_arguments::check() const {
  if (!wanted()) {
    return expect_none_of(*verb_, {"--per-query", "--committee", "--select"},
                          "{} needs --rounds, the number of rounds");
  }
  learners::strategy const by = learners::strategy_from(select);
  std::set<std::string> seen;
  auto const once = [&](std::string const& name) {
    if (!seen.insert(name).second)
      throw usage_error(
          fmt::format("--committee: found '{}' twice, expected each member once", name));
  };
  for (std::string const& name : learners()) {
    learners::make_learner(name, {});  // throws for an unknown name
    once(name);
  }
  for (auto const& [name, path] : outside()) {
    if (name.empty() || path.empty())
      throw usage_error(fmt::format("--committee: found '{}={}', expected NAME=FILE", name, path));
    once(name);
  }
  if (by == learners::strategy::committee && seen.size() < 2)
    throw usage_error(
        fmt::format("--committee {}: found one member, expected two or more", members));
  if (by == learners::strategy::margin && learners().empty())
    throw usage_error("--select margin needs a member that learns, and --committee has none");
}

std::vector<session::named_input> committee_arguments::files() const {
  std::vector<session::named_input> inputs;
  if (wanted())
    for (auto const& [name, path] : outside()) inputs.push_back({"--committee " + name, path});
  return inputs;
}

learners::members committee_arguments::make_members(session& owner,
                                                    sampler_arguments const& sampler,
                                                    datasets::dataset const& train) const {
  learners::learner_options how;
  how.rules.scoring.rule_size = sampler.rule_size;
  how.rules.scoring.thresholds = {sampler.min_support, sampler.min_confidence};
  learners::members who;
  for (std::string const& name : learners())
    who.learners.push_back(learners::make_learner(name, how));
  for (auto const& [name, path] : outside())
    who.fixed.push_back(datasets::read_scores_of(owner.ctx(), owner.input(path), train));
  return who;
}

learners::round_options committee_arguments::options(sampler_arguments const& sampler) const {
  learners::round_options options;
  options.by = learners::strategy_from(select);
  options.rounds = rounds;
  options.per_query = per_query;
  options.max_documents = sampler.max_documents;
  return options;
}

}  // namespace rulerank::apps
