#include "apps/shared/labelling/committee_rounds.hpp"

#include "al/labelling.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

/// The answers of the table and of the journal, which stores all that are used.
class known_answers {
 public:
  known_answers(datasets::dataset const& train, labelled_sample const& found)
      : train_(train), found_(found) {
    refresh();
    for (al::answer const& a : found.rows)
      if (!a.label && train.labels[a.document] == datasets::unlabelled) keep(a.document, {});
  }

  /// Call after the journal has changed.
  void refresh() {
    answers_.clear();
    journalled_.clear();
    for (al::answer const& a : found_.rows) answers_[a.document] = a.label;
    if (!found_.journal) return;
    for (al::answer const& a : found_.journal->answers()) {
      journalled_.insert(a.document);
      answers_[a.document] = a.label;
    }
  }

  std::optional<std::int32_t> label_of(std::size_t document) const {
    if (train_.labels[document] != datasets::unlabelled) return train_.labels[document];
    auto const found = answers_.find(document);
    return found == answers_.end() ? std::nullopt : found->second;
  }

  /// Adds answers of a program, also to the journal.
  void add(std::span<al::answer const> answers) {
    for (al::answer const& a : answers) {
      answers_[a.document] = a.label;
      keep(a.document, a.label);
    }
  }

  /// Excluded documents, ascending.
  std::vector<std::size_t> left_out() const {
    std::vector<std::size_t> documents;
    for (auto const& [document, label] : answers_)
      if (!label && train_.labels[document] == datasets::unlabelled) documents.push_back(document);
    return documents;
  }

  /// The picks without a label; adds the labels of the others to the journal.
  std::vector<learners::pick> without_label(std::vector<learners::pick> const& picks) {
    std::vector<learners::pick> without;
    for (learners::pick const& p : picks) {
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

bool has(std::vector<learners::pick> const& picks, std::size_t document) {
  return std::any_of(picks.begin(), picks.end(),
                     [&](learners::pick const& p) { return p.document == document; });
}

/// The rounds of one program run.
class committee_rounds {
 public:
  committee_rounds(session& owner, round_arguments const& how, label_pool const& pool,
                   labelled_sample const& found)
      : owner_(owner),
        how_(how),
        pool_(pool),
        found_(found),
        options_(how.committee.options(how.sampler)),
        known_(pool.train, found),
        all_features_(pool.binned.feature_count()) {
    std::iota(all_features_.begin(), all_features_.end(), std::size_t{0});
  }

  second_stage_result run() {
    start();
    std::vector<learners::pick> missing;
    while (!stage_->select(owner_.ctx()).empty()) {
      missing = known_.without_label(stage_->select(owner_.ctx()));
      if (missing.empty()) {
        answer_picks();
        continue;
      }
      if (found_.ask_program) {
        if (ask_program(missing)) continue;
        break;
      }
      if (!found_.dialogue) break;
      owner_.ctx().check_stop();
      if (!ask(missing.front(), missing.size())) break;
      missing.clear();
    }
    second_stage_result result = collect(missing);
    if (!result.ready) report(missing, result.summary);
    return result;
  }

 private:
  void start() {
    stage_.emplace(learners::documents{pool_.train, pool_.binned}, found_.sample.documents,
                   found_.labels.empty() ? pool_.train.labels : found_.labels,
                   how_.committee.make_members(owner_, how_.sampler, pool_.train), options_,
                   known_.left_out());
  }

  std::int32_t label_of(std::size_t document) const {
    std::int32_t const label = stage_->labels()[document];
    return label != datasets::unlabelled ? label
                                         : known_.label_of(document).value_or(datasets::unlabelled);
  }

  void answer_picks() {
    std::vector<std::int32_t> labels;
    for (learners::pick const& p : stage_->select(owner_.ctx()))
      labels.push_back(*known_.label_of(p.document));
    stage_->answer(labels);
  }

  label_dialogue::request request_for(learners::pick const& p, std::size_t left) const {
    label_dialogue::request shown;
    shown.document = p.document;
    shown.why = fmt::format("round {} of {}, {} left", p.round, options_.rounds, left);
    if (options_.by == learners::strategy::committee)
      shown.why += fmt::format("; the committee disagrees on {} of its pairs", p.disagreement);
    shown.columns = all_features_;
    shown.neighbours =
        al::nearest(pool_.binned, p.document, how_.asking.view.neighbours,
                    [&](std::size_t d) { return label_of(d) != datasets::unlabelled; });
    shown.label_of = [this](std::size_t d) { return label_of(d); };
    shown.estimate = [round = p.round, left, this] {
      return fmt::format("{} left in round {} of {}", counted(left, "answer"), round,
                         options_.rounds);
    };
    return shown;
  }

  /// Asks the person about a document; false if they ended. Restarts the stage if an answer that it
  /// used is withdrawn.
  bool ask(learners::pick const& p, std::size_t left) {
    std::optional<al::answer> last;
    if (!found_.journal->answers().empty()) last = found_.journal->answers().back();
    al::reply const reply = (*found_.dialogue)(request_for(p, left), found_.answers);
    known_.refresh();
    if (reply.what == al::reply::kind::quit) return false;
    if (reply.what == al::reply::kind::leave_out) stage_->leave_out(p.document);
    if (reply.what == al::reply::kind::undo &&
        (!last->label || !has(stage_->select(owner_.ctx()), last->document)))
      start();
    return true;
  }

  /// Asks the program about documents; false if it left one unanswered.
  bool ask_program(std::vector<learners::pick>& missing) {
    std::vector<std::size_t> documents;
    for (learners::pick const& p : missing) documents.push_back(p.document);
    auto const answers = found_.ask_program(documents);
    known_.add(answers);
    for (al::answer const& a : answers)
      if (!a.label) stage_->leave_out(a.document);
    missing = known_.without_label(stage_->select(owner_.ctx()));
    return answers.size() == documents.size();
  }

  /// The current result. If the person finished early, the answers of the last round are included,
  /// and nothing is missing.
  second_stage_result collect(std::vector<learners::pick>& missing) {
    second_stage_result result;
    result.documents = stage_->labelled_documents();
    result.labels.assign(stage_->labels().begin(), stage_->labels().end());
    result.picks = stage_->picks();
    if (found_.dialogue && found_.dialogue->finished_early()) {
      for (learners::pick const& p : stage_->select(owner_.ctx())) {
        if (has(missing, p.document)) continue;
        result.documents.push_back(p.document);
        result.labels[p.document] = *known_.label_of(p.document);
        result.picks.push_back(p);
      }
      std::sort(result.documents.begin(), result.documents.end());
      missing.clear();
    }
    result.ready = missing.empty();
    result.summary = {
        {"select", how_.committee.select}, {"committee", split_list(how_.committee.members)},
        {"per_query", options_.per_query}, {"rounds", stage_->rounds_done()},
        {"picked", result.picks.size()},   {"wanted", missing.size()}};
    return result;
  }

  void report(std::vector<learners::pick> const& missing, nlohmann::ordered_json const& summary) {
    label_arguments const& asking = how_.asking;
    std::vector<std::size_t> wanted;
    for (learners::pick const& p : missing) wanted.push_back(p.document);
    if (asking.pending.empty() && !found_.dialogue && !found_.ask_program)
      refuse_unlabelled(asking, pool_.train, wanted.front(), "picked");
    end_for_labels(owner_, asking, pool_.train, found_.shown, wanted, "second_stage", summary,
                   fmt::format("{} in round {} of {}{}", documents_want_labels(wanted.size()),
                               missing.front().round, options_.rounds,
                               asking.pending.empty() ? "" : ", see " + asking.pending));
  }

  session& owner_;
  round_arguments how_;
  label_pool pool_;
  labelled_sample const& found_;
  learners::round_options options_;
  known_answers known_;
  std::vector<std::size_t> all_features_;
  std::optional<learners::second_stage> stage_;
};

}  // namespace

second_stage_result run_rounds(session& owner, round_arguments const& how, label_pool const& pool,
                               labelled_sample const& found) {
  auto const timer = owner.stage("rounds");
  return committee_rounds(owner, how, pool, found).run();
}

std::string ids_table(datasets::dataset const& train, al::sample const& sample,
                      std::vector<learners::pick> const& picks) {
  std::string text = "line\tdocid\tpartition\titeration\trules\tround\tdisagreement\n";
  std::vector<std::size_t> const lines = datasets::input_places(train);
  for (al::choice const& c : sample.choices)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t0\t\n", lines[c.document], train.docid(c.document),
                        c.partition, c.iteration, c.rules);
  for (learners::pick const& p : picks)
    text += fmt::format("{}\t{}\t\t\t\t{}\t{}\n", lines[p.document], train.docid(p.document),
                        p.round, p.disagreement);
  return text;
}

}  // namespace rulerank::apps
