#include "apps/shared/committee_arguments.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/scores.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

constexpr char const* group = "Second stage";

/// The answers of the table and of the journal, which keeps all that are used.
class known_answers {
 public:
  known_answers(datasets::dataset const& train, labelled_sample const& found)
      : train_(train), found_(found) {
    refresh();
    for (datasets::answer const& a : found.said)
      if (!a.label && train.labels[a.document] == datasets::unlabelled) keep(a.document, {});
  }

  /// After the journal has changed.
  void refresh() {
    answers_.clear();
    journalled_.clear();
    for (datasets::answer const& a : found_.said) answers_[a.document] = a.label;
    if (!found_.journal) return;
    for (datasets::answer const& a : found_.journal->answers()) {
      journalled_.insert(a.document);
      answers_[a.document] = a.label;
    }
  }

  std::optional<std::int32_t> label_of(std::size_t document) const {
    if (train_.labels[document] != datasets::unlabelled) return train_.labels[document];
    auto const found = answers_.find(document);
    return found == answers_.end() ? std::nullopt : found->second;
  }

  /// Documents that are left out, ascending.
  std::vector<std::size_t> left_out() const {
    std::vector<std::size_t> documents;
    for (auto const& [document, label] : answers_)
      if (!label && train_.labels[document] == datasets::unlabelled) documents.push_back(document);
    return documents;
  }

  /// The picks without a label; the labels of the others go to the journal.
  std::vector<committee::pick> missing(std::vector<committee::pick> const& picks) {
    std::vector<committee::pick> without;
    for (committee::pick const& p : picks) {
      std::optional<std::int32_t> const label = label_of(p.document);
      if (!label)
        without.push_back(p);
      else if (train_.labels[p.document] == datasets::unlabelled)
        keep(p.document, label);
    }
    return without;
  }

 private:
  void keep(std::size_t document, std::optional<std::int32_t> label) {
    if (found_.journal && journalled_.insert(document).second) found_.journal->add(document, label);
  }

  datasets::dataset const& train_;
  labelled_sample const& found_;
  std::map<std::size_t, std::optional<std::int32_t>> answers_;
  std::unordered_set<std::size_t> journalled_;
};

bool has(std::vector<committee::pick> const& picks, std::size_t document) {
  return std::any_of(picks.begin(), picks.end(),
                     [&](committee::pick const& p) { return p.document == document; });
}

/// What becomes of a question.
enum class outcome { goes_on, starts_again, ends };

/// Asks the person about a document. The stage starts again where an answer is taken back that it
/// has used.
outcome ask(labelled_sample const& found, label_dialogue::request const& request,
            committee::second_stage& stage, std::vector<committee::pick> const& picks,
            known_answers& known) {
  std::optional<datasets::answer> last;
  if (!found.journal->answers().empty()) last = found.journal->answers().back();
  al::reply const said = (*found.dialogue)(request, found.answers);
  known.refresh();
  if (said.what == al::reply::kind::quit) return outcome::ends;
  if (said.what == al::reply::kind::leave_out) stage.leave_out(request.document);
  if (said.what == al::reply::kind::undo && (!last->label || !has(picks, last->document)))
    return outcome::starts_again;
  return outcome::goes_on;
}

}  // namespace

void committee_arguments::add_to(CLI::App& verb) {
  verb_ = &verb;
  verb.add_option("--rounds", rounds,
                  "Rounds of query by committee after the sampling, 25 as published; 0: none")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--per-query", per_query, "Documents of each query that a round takes, at most")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000}))
      ->capture_default_str()
      ->group(group);
  verb.add_option(
          "--committee", members,
          "Who votes: rules, ranksvm, xgboost, and NAME=FILE, scores of the training file's "
          "documents")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--select", select,
                  "What a round takes: committee: where the members disagree most; margin: where "
                  "the first one's scores are closest; random")
      ->capture_default_str()
      ->group(group);
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
    for (char const* const name : {"--per-query", "--committee", "--select"})
      if (verb_->count(name) > 0)
        throw usage_error(fmt::format("{} without --rounds, which says how many there are", name));
    return;
  }
  committee::strategy const by = committee::strategy_from(select);
  std::set<std::string> seen;
  auto const once = [&](std::string const& name) {
    if (!seen.insert(name).second)
      throw usage_error(fmt::format("--committee: '{}' is there twice, expected each once", name));
  };
  for (std::string const& name : learners()) {
    committee::make_learner(name, {});  // refuses a name that is not there
    once(name);
  }
  for (auto const& [name, path] : outside()) {
    if (name.empty() || path.empty())
      throw usage_error(fmt::format("--committee: found '{}={}', expected NAME=FILE", name, path));
    once(name);
  }
  if (by == committee::strategy::committee && seen.size() < 2)
    throw usage_error(fmt::format("--committee {}: one member, expected two or more", members));
  if (by == committee::strategy::margin && learners().empty())
    throw usage_error("--select margin looks at a member that learns, and --committee has none");
}

std::vector<session::named_input> committee_arguments::files() const {
  std::vector<session::named_input> inputs;
  if (wanted())
    for (auto const& [name, path] : outside()) inputs.push_back({"--committee " + name, path});
  return inputs;
}

committee::members committee_arguments::make_members(session& owner,
                                                     sampler_arguments const& sampler,
                                                     datasets::dataset const& train) const {
  committee::learner_options how;
  how.rules.scoring.rule_size = static_cast<std::uint32_t>(sampler.rule_size);
  how.rules.scoring.thresholds = {sampler.min_support, sampler.min_confidence};
  committee::members who;
  for (std::string const& name : learners())
    who.learners.push_back(committee::make_learner(name, how));
  for (auto const& [name, path] : outside())
    who.fixed.push_back(datasets::read_scores_of(owner.ctx(), owner.input(path), train));
  return who;
}

second_stage_result committee_arguments::run(session& owner, datasets::dataset const& train,
                                             datasets::binned_dataset const& binned,
                                             sampler_arguments const& sampler,
                                             label_arguments const& asking,
                                             labelled_sample const& found) const {
  committee::round_options options;
  options.by = committee::strategy_from(select);
  options.rounds = rounds;
  options.per_query = per_query;
  options.max_documents = sampler.max_documents;
  auto const timer = owner.stage("rounds");
  known_answers known(train, found);
  std::vector<std::size_t> all_features(binned.feature_count());
  std::iota(all_features.begin(), all_features.end(), std::size_t{0});
  std::optional<committee::second_stage> stage;
  auto const start = [&] {
    stage.emplace(committee::documents{train, binned}, found.sample.documents,
                  found.labels.empty() ? train.labels : found.labels,
                  make_members(owner, sampler, train), options, known.left_out());
  };
  auto const label_of = [&](std::size_t d) {
    return stage->labels()[d] != datasets::unlabelled
               ? stage->labels()[d]
               : known.label_of(d).value_or(datasets::unlabelled);
  };
  auto const request_for = [&](committee::pick const& p, std::size_t left) {
    label_dialogue::request shown;
    shown.document = p.document;
    shown.why = fmt::format("round {} of {}, {} to go", p.round, rounds, left);
    if (options.by == committee::strategy::committee)
      shown.why += fmt::format(": the committee disagrees on {} of its pairs", p.disagreement);
    shown.columns = all_features;
    shown.neighbours = al::nearest(binned, p.document, asking.neighbours, [&](std::size_t d) {
      return label_of(d) != datasets::unlabelled;
    });
    shown.label_of = label_of;
    shown.estimate = [=, this] {
      return fmt::format("{} answers are to go in round {} of {}", left, p.round, rounds);
    };
    return shown;
  };

  start();
  std::vector<committee::pick> missing;
  while (!stage->select(owner.ctx()).empty()) {
    std::vector<committee::pick> const picks = stage->select(owner.ctx());
    missing = known.missing(picks);
    if (missing.empty()) {
      std::vector<std::int32_t> labels;
      for (committee::pick const& p : picks) labels.push_back(*known.label_of(p.document));
      stage->answer(labels);
      continue;
    }
    if (!found.dialogue) break;
    owner.ctx().check_stop();
    outcome const next =
        ask(found, request_for(missing.front(), missing.size()), *stage, picks, known);
    if (next == outcome::ends) break;
    if (next == outcome::starts_again) start();
    missing.clear();
  }

  second_stage_result result;
  result.documents = stage->labelled_documents();
  result.labels.assign(stage->labels().begin(), stage->labels().end());
  result.picks = stage->picks();
  if (found.dialogue && found.dialogue->finished_early()) {
    // What has an answer of the last round belongs to the result.
    for (committee::pick const& p : stage->select(owner.ctx())) {
      if (has(missing, p.document)) continue;
      result.documents.push_back(p.document);
      result.labels[p.document] = *known.label_of(p.document);
      result.picks.push_back(p);
    }
    std::sort(result.documents.begin(), result.documents.end());
    missing.clear();
  }
  result.ready = missing.empty();
  result.summary = {{"select", select},
                    {"committee", split_list(members)},
                    {"per_query", per_query},
                    {"rounds", stage->rounds_done()},
                    {"picked", result.picks.size()},
                    {"wanted", missing.size()}};
  if (result.ready) return result;

  std::vector<std::size_t> wanted;
  for (committee::pick const& p : missing) wanted.push_back(p.document);
  if (asking.pending.empty() && !found.dialogue)
    throw error({train.name, train.line_numbers[wanted.front()], 1},
                fmt::format("this document was picked and is not labelled, expected a label{}",
                            asking.labels_file().empty()
                                ? ""
                                : fmt::format(" in {}, or --pending", asking.labels_file())));
  if (!asking.pending.empty()) write_file(asking.pending, datasets::labels_to_fill(train, wanted));
  owner.exit_with(labels_wanted_code);
  owner.note("second_stage", result.summary);
  if (owner.prints_json()) write_file("-", result.summary.dump(2) + "\n");
  owner.say(fmt::format("{} documents want labels in round {} of {}{}", wanted.size(),
                        missing.front().round, rounds,
                        asking.pending.empty() ? "" : ", see " + asking.pending));
  return result;
}

std::string ids_table(datasets::dataset const& train, al::sample const& sample,
                      std::vector<committee::pick> const& picks) {
  std::string text = "line\tdocid\tpartition\titeration\trules\tround\tdisagreement\n";
  std::vector<std::size_t> const lines = datasets::input_places(train);
  for (al::choice const& c : sample.choices)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t0\t\n", lines[c.document], train.docid(c.document),
                        c.partition, c.iteration, c.rules);
  for (committee::pick const& p : picks)
    text += fmt::format("{}\t{}\t\t\t\t{}\t{}\n", lines[p.document], train.docid(p.document),
                        p.round, p.disagreement);
  return text;
}

}  // namespace rulerank::apps
