#include "apps/shared/label_arguments.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/answers.hpp"
#include "datasets/item_words.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

constexpr std::string_view file_prefix = "file:";
constexpr char const* group = "Labels";
/// Documents that a stopping estimate looks ahead.
constexpr std::size_t next_documents = 10;

/// The answers of a run that was left, given again; where work goes on after the sampling, as far
/// as the sampling asks.
void replay(datasets::answer_journal const& journal, std::string const& path, al::labelling& work,
            bool goes_on) {
  for (datasets::answer const& a : journal.answers()) {
    if (goes_on && work.finished()) return;
    try {
      work.answer(a.document, a.label);
    } catch (usage_error const&) {
      throw error({path, a.line, 1},
                  "this document has a label already, expected the answers as they were given");
    }
  }
}

/// What a file says of the documents that are wanted, as long as it says something; every answer
/// goes to the journal, where there is one, first.
class answers_of_file {
 public:
  answers_of_file(session& owner, std::string const& path, bool may_be_absent,
                  datasets::dataset const& train, datasets::answer_journal const* journal)
      : path_(path) {
    std::error_code unknown;
    if (may_be_absent && path != "-" && !std::filesystem::exists(path, unknown)) {
      owner.say(fmt::format("{} is not there yet: no labels", path));
      return;
    }
    for (datasets::answer const& a : datasets::read_labels(owner.ctx(), owner.input(path), train))
      said_.emplace(a.document, a);
    for (std::size_t d = 0; d < train.size(); ++d)
      if (train.labels[d] != datasets::unlabelled) expect_same(d, train.labels[d], train.name);
    if (journal)
      for (datasets::answer const& a : journal->answers())
        expect_same(a.document, a.label, "--resume");
  }

  std::vector<datasets::answer> all() const {
    std::vector<datasets::answer> answers;
    for (auto const& [document, a] : said_) answers.push_back(a);
    std::sort(answers.begin(), answers.end(),
              [](auto const& a, auto const& b) { return a.document < b.document; });
    return answers;
  }

  /// What it says of documents that are not wanted yet.
  void give_in_advance(al::labelling& work, datasets::answer_journal* journal) const {
    std::vector<datasets::answer> rest;
    for (auto const& [document, said] : said_)
      if (work.label_of(document) == datasets::unlabelled) rest.push_back(said);
    for (datasets::answer const& a : work.answers())
      std::erase_if(rest, [&](datasets::answer const& r) { return r.document == a.document; });
    std::ranges::sort(rest, {}, &datasets::answer::line);
    for (datasets::answer const& a : rest) {
      if (journal) journal->add(a.document, a.label);
      work.answer(a.document, a.label);
    }
  }

  void give(al::labelling& work, datasets::answer_journal* journal) const {
    for (bool any = true; any;) {
      any = false;
      for (al::question const& q : std::vector<al::question>(work.wanted())) {
        auto const found = said_.find(q.document);
        if (found == said_.end()) continue;
        if (journal) journal->add(q.document, found->second.label);
        work.answer(q.document, found->second.label);
        any = true;
        break;  // what is wanted may be others now
      }
    }
  }

 private:
  void expect_same(std::size_t document, std::optional<std::int32_t> label,
                   std::string_view where) const {
    auto const found = said_.find(document);
    if (found != said_.end() && found->second.label != label)
      throw error({path_, found->second.line, 1},
                  fmt::format("this differs from the answer that {} has for the document, expected "
                              "the same or none",
                              where));
  }

  std::string path_;
  std::unordered_map<std::size_t, datasets::answer> said_;
};

nlohmann::ordered_json summary_of(al::labelling const& work, al::outlook const& ahead) {
  std::size_t left_out = 0, unused = 0;
  auto const chosen = work.take().documents;
  for (datasets::answer const& a : work.answers()) {
    left_out += !a.label;
    unused += a.label && !std::ranges::binary_search(chosen, a.document);
  }
  return {{"answers", work.answers().size()},
          {"left_out", left_out},
          {"unused", unused},
          {"wanted", work.wanted().size()},
          {"rules", ahead.rules},
          {"estimate",
           {{"next_documents", ahead.next},
            {"next_rules", ahead.next_rules},
            {"documents", ahead.documents},
            {"documents_rules", ahead.documents_rules}}}};
}

}  // namespace

void label_arguments::add_to(CLI::App& verb) {
  verb.add_option("--oracle", oracle,
                  "Who gives a chosen document's label; file: the input does; ask: a person at the "
                  "terminal; file:P: a table of labels")
      ->type_name("file|ask|file:P")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--pending", pending,
                  "Write the documents that want labels to this TSV, and end with exit code 5")
      ->group(group);
  verb.add_option("--batch", batch,
                  "Documents in --pending: so many of the next ones, as far as can be guessed; 0: "
                  "those that are chosen whatever the labels are")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--resume", resume,
                  "Keep every answer in this file, and go on where it ends; ask needs it")
      ->group(group);
  verb.add_option("--names", names, "Lines of a feature's number and its name, for ask")
      ->group(group);
  verb.add_option("--max-label", max_label, "Largest label that ask takes")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->group(group);
  verb.add_option("--neighbours", neighbours, "Nearest labelled documents that ask shows")
      ->capture_default_str()
      ->group(group);
}

std::string label_arguments::labels_file() const {
  return oracle.starts_with(file_prefix) ? oracle.substr(file_prefix.size()) : std::string();
}

bool label_arguments::asks() const {
  return oracle != "file" || !pending.empty();
}

void label_arguments::check(std::string const& train) const {
  if (oracle == file_prefix) throw usage_error("--oracle: the path is empty, expected file:P");
  if (oracle != "file" && oracle != "ask" && !oracle.starts_with(file_prefix))
    throw usage_error(fmt::format("--oracle: found '{}', expected file, ask or file:P", oracle));
  if (oracle == "ask") {
    if (resume.empty())
      throw usage_error("--oracle ask without --resume, expected a file that keeps the answers");
    if (!pending.empty())
      throw usage_error("--pending beside --oracle ask, expected --oracle file or file:P");
    if (train == "-")
      throw usage_error(
          "--oracle ask reads answers from standard input, expected --train in a file");
  } else if (batch != 0 && pending.empty()) {
    throw usage_error("--batch is the length of --pending, and there is none");
  } else if (!names.empty()) {
    throw usage_error("--names is for --oracle ask, and nobody is asked");
  }
  if (oracle == "ask" && batch != 0)
    throw usage_error("--batch beside --oracle ask, expected --oracle file or file:P");
  if (oracle == "file" && !resume.empty())
    throw usage_error("--resume keeps answers, expected --oracle ask or file:P beside it");
}

labelled_sample label_arguments::reduce(session& owner, datasets::dataset const& train,
                                        datasets::binned_dataset const& binned,
                                        datasets::discretizer const& fitted,
                                        al::sampler_options const& options, bool goes_on) const {
  for (al::engine_info const& e : al::engines())
    if (e.which == options.which ||
        (options.which == al::engine::automatic && e.default_on != runs_on::nowhere))
      owner.expect_device_for(
          e.name, asks() ? "cpu where labels are asked for" : "cpu where whole queries are chosen");
  if (oracle == "ask" &&
      std::ranges::find(train.labels, datasets::unlabelled) == train.labels.end())
    throw usage_error(
        fmt::format("--oracle ask: all documents of {} have labels, expected "
                    "--unlabelled and some that have none",
                    train.name));
  auto const timer = owner.stage("reduce");
  al::labelling work(owner.ctx(), binned, options);
  labelled_sample result;
  if (!resume.empty()) {
    result.journal = std::make_unique<datasets::answer_journal>(resume, work.identity(), train);
    replay(*result.journal, resume, work, goes_on);
    if (!result.journal->answers().empty())
      owner.say(fmt::format("{} answers are in {}", result.journal->answers().size(), resume));
  }
  if (oracle == "ask") {
    label_dialogue::sources sources{train, binned,    datasets::item_ranges(binned, fitted),
                                    {},    max_label, neighbours};
    if (!names.empty())
      sources.names = datasets::read_feature_names(owner.ctx(), owner.input(names));
    result.dialogue =
        std::make_unique<label_dialogue>(std::move(sources), *result.journal, std::cin);
    al::ask_for_labels(work, [&](al::question const& q) {
      owner.ctx().check_stop();
      return (*result.dialogue)(q, work);
    });
    result.finished_early = result.dialogue->finished_early();
  } else if (oracle != "file") {
    answers_of_file const table(owner, labels_file(), !pending.empty(), train,
                                result.journal.get());
    table.give(work, result.journal.get());
    // Beside a journal the next table may be of another batch alone.
    if (batch != 0 && !work.finished()) table.give_in_advance(work, result.journal.get());
    result.said = table.all();
  }

  result.answers = work.answers().size();
  result.ready = work.finished() || result.finished_early;
  std::vector<std::size_t> wanted;
  for (al::question const& q : batch == 0 ? work.wanted() : work.batch(batch))
    wanted.push_back(q.document);
  if (!result.ready && pending.empty() && oracle != "ask")
    throw error({train.name, train.line_numbers[wanted.front()], 1},
                oracle == "file"
                    ? "this document was chosen and is not labelled, expected a label"
                    : fmt::format("this document was chosen and is not labelled, expected a label "
                                  "in {}, or --pending",
                                  labels_file()));
  if (!pending.empty())
    write_file(pending, datasets::labels_to_fill(
                            train, result.ready ? std::span<std::size_t const>{}
                                                : std::span<std::size_t const>(wanted)));
  al::outlook ahead;
  if (asks()) {
    ahead = work.look_ahead(next_documents);
    result.summary = summary_of(work, ahead);
  }
  if (!result.ready) {
    owner.exit_with(labels_wanted_code);
    owner.note("labelling", result.summary);
    if (owner.prints_json()) write_file("-", result.summary.dump(2) + "\n");
    owner.say(fmt::format("{} documents want labels{}; {}", wanted.size(),
                          pending.empty() ? "" : ", see " + pending, describe(ahead)));
    return result;
  }
  result.sample = work.take();
  for (std::size_t d = 0; d < train.size(); ++d) result.labels.push_back(work.label_of(d));
  return result;
}

}  // namespace rulerank::apps
