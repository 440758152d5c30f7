#include "apps/shared/labelling/labelled_sampling.hpp"

#include "al/label_table.hpp"
#include "al/labelling.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "labelling/judge/program_judge.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

namespace {

/// The format of --pending.
al::label_form pending_form(label_arguments const& asking, pool_views const& shown) {
  al::label_form form;
  if (asking.pending.ends_with(".csv")) form.delimiter = ',';
  if (shown.texts != nullptr) {
    form.titles = labelling::question_views::text_titles();
    form.cells_of = [&shown](std::size_t d) { return shown.views->text_cells(d); };
  }
  return form;
}

/// Opens --resume and replays its answers.
void open_journal(session& owner, label_arguments const& asking, datasets::dataset const& train,
                  al::labelling& work, bool goes_on, labelled_sample& result) {
  if (asking.resume.empty()) return;
  result.journal = std::make_unique<al::answer_journal>(asking.resume, work.identity(), train);
  al::replay(*result.journal, asking.resume, work, goes_on);
  if (std::size_t const answers = result.journal->answers().size(); answers > 0)
    owner.say(fmt::format("read {} from {}",
                          answers == 1 ? "1 answer" : fmt::format("{} answers", answers),
                          asking.resume));
}

/// --oracle ask: asks questions at the terminal.
void ask_person(session& owner, label_arguments const& asking, al::labelling& work,
                labelled_sample& result) {
  result.dialogue = std::make_unique<label_dialogue>(*result.shown.views, asking.view.max_label,
                                                     *result.journal, std::cin);
  al::ask_for_labels(work, [&](al::question const& q) {
    owner.ctx().check_stop();
    return (*result.dialogue)(q, work);
  });
  result.finished_early = result.dialogue->finished_early();
}

/// --oracle file:P: uses the rows of the table. With --pending the file may not exist yet.
void ask_table(session& owner, label_arguments const& asking, datasets::dataset const& train,
               al::labelling& work, labelled_sample& result) {
  std::string const path = asking.labels_file();
  std::error_code unknown;
  std::vector<al::answer> rows;
  if (asking.pending.empty() || path == "-" || std::filesystem::exists(path, unknown))
    rows = al::read_labels(owner.ctx(), owner.input(path), train);
  else
    owner.say(fmt::format("{} does not exist yet, so there are no labels", path));
  al::label_table const table(std::move(rows), path, train, result.journal.get());
  table.answer_wanted(work);
  // With a journal, the next table may contain only the next batch.
  if (asking.batch != 0 && !work.finished()) table.answer_in_advance(work);
  result.rows.assign(table.rows().begin(), table.rows().end());
}

/// Sets `ask_program`.
void prepare_program(session& owner, label_arguments const& asking, labelled_sample& result) {
  labelling::judge_options const options =
      asking.judge.options(asking.command(), asking.view.max_label);
  auto const judge = std::make_shared<labelling::program_judge>(options);
  result.ask_program = [&owner, judge, views = result.shown.views.get(),
                        options](std::span<std::size_t const> documents) {
    std::vector<nlohmann::ordered_json> requests;
    for (std::size_t const d : documents)
      requests.push_back(labelling::judge_request(*views, d, options.max_label));
    auto const verdicts = judge->judge(owner.ctx(), requests);
    std::vector<al::answer> answers;
    for (std::size_t i = 0; i < documents.size(); ++i)
      if (verdicts[i]) answers.push_back({documents[i], verdicts[i]->label});
    if (std::size_t const without = documents.size() - answers.size(); without > 0)
      owner.warn(fmt::format("the program gave no label to {}: {}; see {}",
                             counted(without, "document"), judge->problem(), options.record));
    owner.note("program", nlohmann::ordered_json{{"calls", judge->calls()},
                                                 {"cost", judge->cost()},
                                                 {"recalled", judge->recalled()}});
    return answers;
  };
}

std::vector<std::size_t> wanted_documents(al::labelling const& work, std::size_t batch) {
  std::vector<std::size_t> documents;
  for (al::question const& q : batch == 0 ? work.wanted() : work.batch(batch))
    documents.push_back(q.document);
  return documents;
}

/// --oracle command:CMD: asks the program until the sampling is complete or a question has no
/// answer.
void ask_program(label_arguments const& asking, al::labelling& work,
                 labelled_sample const& result) {
  for (bool all = true; all && !work.finished();) {
    auto const documents = wanted_documents(work, asking.batch);
    auto const answers = result.ask_program(documents);
    all = answers.size() == documents.size();
    for (al::answer const& a : answers) {
      if (result.journal) result.journal->add(a.document, a.label);
      work.answer(a.document, a.label);
    }
  }
}

nlohmann::ordered_json summary_of(al::labelling const& work, al::outlook const& ahead) {
  std::size_t unused = 0;
  auto const chosen = work.take().documents;
  for (al::answer const& a : work.answers())
    unused += a.label && !std::ranges::binary_search(chosen, a.document);
  return {{"answers", work.answers().size()},
          {"left_out", al::left_out_of(work.answers())},
          {"unused", unused},
          {"wanted", work.wanted().size()},
          {"rules", ahead.rules},
          {"estimate", !labelling::is_estimate(ahead)
                           ? nlohmann::ordered_json(nullptr)
                           : nlohmann::ordered_json{{"next_documents", ahead.next},
                                                    {"next_rules", ahead.next_rules},
                                                    {"documents", ahead.documents},
                                                    {"documents_low", ahead.documents_low},
                                                    {"documents_high", ahead.documents_high},
                                                    {"documents_left_out", ahead.left_out},
                                                    {"documents_rules", ahead.documents_rules}}}};
}

}  // namespace

labelled_sample sample_with_labels(session& owner, label_arguments const& asking,
                                   label_pool const& pool, al::sampler_options const& options,
                                   bool goes_on) {
  datasets::dataset const& train = pool.train;
  expect_cpu(owner, options.engine,
             asking.asks() ? "when labels are asked for" : "when whole queries are chosen");
  bool const by_person = asking.oracle == "ask";
  if (by_person && std::ranges::find(train.labels, datasets::unlabelled) == train.labels.end())
    throw usage_error(
        fmt::format("--oracle ask: all documents of {} have labels, expected some without; "
                    "--unlabelled sets the label that means none",
                    train.name));
  auto const timer = owner.stage("reduce");
  al::labelling work(owner.ctx(), pool.binned, options);
  labelled_sample result;
  bool const by_program = !asking.command().empty();
  if (by_person || by_program || !asking.view.show.empty())
    result.shown = make_views(owner, asking.view, pool);
  open_journal(owner, asking, train, work, goes_on, result);
  if (by_person)
    ask_person(owner, asking, work, result);
  else if (by_program)
    prepare_program(owner, asking, result), ask_program(asking, work, result);
  else if (!asking.labels_file().empty())
    ask_table(owner, asking, train, work, result);

  result.answers = work.answers().size();
  result.ready = work.finished() || result.finished_early;
  std::vector<std::size_t> const wanted = wanted_documents(work, asking.batch);
  if (!result.ready && asking.pending.empty() && !by_person && !by_program)
    refuse_unlabelled(asking, train, wanted.front(), "chosen");
  if (result.ready && !asking.pending.empty())
    write_file(asking.pending, al::labels_to_fill(train, {}, pending_form(asking, result.shown)));
  al::outlook ahead;
  if (asking.asks()) {
    ahead = work.look_ahead(labelling::next_documents);
    result.summary = summary_of(work, ahead);
  }
  if (!result.ready) {
    end_for_labels(owner, asking, train, result.shown, wanted, "labelling", result.summary,
                   fmt::format("{}{}; {}", documents_want_labels(wanted.size()),
                               asking.pending.empty() ? "" : ", see " + asking.pending,
                               labelling::describe(ahead)));
    return result;
  }
  result.sample = work.take();
  for (std::size_t d = 0; d < train.size(); ++d) result.labels.push_back(work.label_of(d));
  return result;
}

void expect_cpu(session& owner, al::engine which, std::string_view when) {
  for (auto const& e : al::engines())
    if (e.which == which ||
        (which == al::engine::automatic && includes(e.default_on, runs_on::cpu)))
      owner.expect_device_for(e.name, runs_on::cpu, when);
}

std::string documents_want_labels(std::size_t documents) {
  return documents == 1 ? "1 document needs a label"
                        : fmt::format("{} documents need labels", documents);
}

void end_for_labels(session& owner, label_arguments const& asking, datasets::dataset const& train,
                    pool_views const& shown, std::span<std::size_t const> wanted,
                    std::string const& key, nlohmann::ordered_json const& summary,
                    std::string const& message) {
  if (!asking.pending.empty())
    write_file(asking.pending, al::labels_to_fill(train, wanted, pending_form(asking, shown)));
  owner.exit_with(labels_wanted_code);
  owner.note(key, summary);
  if (owner.prints_json()) write_file("-", json_text_of(summary));
  owner.say(message);
}

void refuse_unlabelled(label_arguments const& asking, datasets::dataset const& train,
                       std::size_t document, std::string_view verb) {
  std::string const table = asking.labels_file();
  throw error(datasets::place_of(train, document),
              fmt::format("this {} document has no label, expected a label{}, or --pending FILE to "
                          "list the documents to label",
                          verb, table.empty() ? "" : " in " + table));
}

}  // namespace rulerank::apps
