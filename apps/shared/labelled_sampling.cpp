#include "apps/shared/labelled_sampling.hpp"

#include "al/label_table.hpp"
#include "al/labelling.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/item_words.hpp"
#include "datasets/json_text.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

/// Documents that a stopping estimate looks ahead.
constexpr std::size_t next_documents = 10;

void expect_cpu(session& owner, label_arguments const& asking, al::engine which) {
  for (auto const& e : al::engines())
    if (e.which == which ||
        (which == al::engine::automatic && includes(e.default_on, runs_on::cpu)))
      owner.expect_device_for(
          e.name, runs_on::cpu,
          asking.asks() ? "where labels are asked for" : "where whole queries are chosen");
}

/// Opens --resume and gives its answers again.
void open_journal(session& owner, label_arguments const& asking, datasets::dataset const& train,
                  al::labelling& work, bool goes_on, labelled_sample& result) {
  if (asking.resume.empty()) return;
  result.journal =
      std::make_unique<datasets::answer_journal>(asking.resume, work.identity(), train);
  al::replay(*result.journal, asking.resume, work, goes_on);
  if (std::size_t const answers = result.journal->answers().size(); answers > 0)
    owner.say(fmt::format("{} in {}",
                          answers == 1 ? "1 answer is" : fmt::format("{} answers are", answers),
                          asking.resume));
}

/// --oracle ask: question after question at the terminal.
void ask_person(session& owner, label_arguments const& asking, label_pool const& pool,
                al::labelling& work, labelled_sample& result) {
  label_dialogue::sources sources{.train = pool.train,
                                  .binned = pool.binned,
                                  .ranges = datasets::item_ranges(pool.binned, pool.cuts),
                                  .norm = pool.cuts.options.norm,
                                  .normalized = {},
                                  .names = pool.cuts.names,
                                  .max_label = asking.max_label,
                                  .neighbours = asking.neighbours};
  if (sources.norm != datasets::normalization::none)
    sources.normalized = datasets::normalize(owner.ctx(), pool.train, sources.norm,
                                             pool.cuts.options.missing, pool.cuts.options.unlisted);
  if (!asking.names.empty())
    sources.names = datasets::read_feature_names(owner.ctx(), owner.input(asking.names));
  result.dialogue = std::make_unique<label_dialogue>(std::move(sources), *result.journal, std::cin);
  al::ask_for_labels(work, [&](al::question const& q) {
    owner.ctx().check_stop();
    return (*result.dialogue)(q, work);
  });
  result.finished_early = result.dialogue->finished_early();
}

/// --oracle file:P: as far as the table has rows. With --pending it need not be there yet.
void ask_table(session& owner, label_arguments const& asking, datasets::dataset const& train,
               al::labelling& work, labelled_sample& result) {
  std::string const path = asking.labels_file();
  std::error_code unknown;
  std::vector<datasets::answer> rows;
  if (asking.pending.empty() || path == "-" || std::filesystem::exists(path, unknown))
    rows = datasets::read_labels(owner.ctx(), owner.input(path), train);
  else
    owner.say(fmt::format("{} is not there yet: no labels", path));
  al::label_table const table(std::move(rows), path, train, result.journal.get());
  table.answer_wanted(work);
  // Beside a journal the next table may have the next batch alone.
  if (asking.batch != 0 && !work.finished()) table.answer_in_advance(work);
  result.rows.assign(table.rows().begin(), table.rows().end());
}

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
          {"estimate", work.answers().size() < enough_answers && ahead.documents > 0
                           ? nlohmann::ordered_json(nullptr)
                           : nlohmann::ordered_json{{"next_documents", ahead.next},
                                                    {"next_rules", ahead.next_rules},
                                                    {"documents", ahead.documents},
                                                    {"documents_rules", ahead.documents_rules}}}};
}

std::vector<std::size_t> wanted_documents(al::labelling const& work, std::size_t batch) {
  std::vector<std::size_t> documents;
  for (al::question const& q : batch == 0 ? work.wanted() : work.batch(batch))
    documents.push_back(q.document);
  return documents;
}

}  // namespace

labelled_sample sample_with_labels(session& owner, label_arguments const& asking,
                                   label_pool const& pool, al::sampler_options const& options,
                                   bool goes_on) {
  datasets::dataset const& train = pool.train;
  expect_cpu(owner, asking, options.which);
  bool const by_person = asking.oracle == "ask";
  if (by_person && std::ranges::find(train.labels, datasets::unlabelled) == train.labels.end())
    throw usage_error(
        fmt::format("--oracle ask: all documents of {} have labels, expected --unlabelled and some "
                    "that have none",
                    train.name));
  auto const timer = owner.stage("reduce");
  al::labelling work(owner.ctx(), pool.binned, options);
  labelled_sample result;
  open_journal(owner, asking, train, work, goes_on, result);
  if (by_person)
    ask_person(owner, asking, pool, work, result);
  else if (!asking.labels_file().empty())
    ask_table(owner, asking, train, work, result);

  result.answers = work.answers().size();
  result.ready = work.finished() || result.finished_early;
  std::vector<std::size_t> const wanted = wanted_documents(work, asking.batch);
  if (!result.ready && asking.pending.empty() && !by_person)
    refuse_unlabelled(asking, train, wanted.front(), "chosen");
  if (result.ready && !asking.pending.empty())
    write_file(asking.pending, datasets::labels_to_fill(train, {}));
  al::outlook ahead;
  if (asking.asks()) {
    ahead = work.look_ahead(next_documents);
    result.summary = summary_of(work, ahead);
  }
  if (!result.ready) {
    end_for_labels(owner, asking, train, wanted, "labelling", result.summary,
                   fmt::format("{}{}; {}", documents_want_labels(wanted.size()),
                               asking.pending.empty() ? "" : ", see " + asking.pending,
                               describe(ahead, result.answers)));
    return result;
  }
  result.sample = work.take();
  for (std::size_t d = 0; d < train.size(); ++d) result.labels.push_back(work.label_of(d));
  return result;
}

std::string documents_want_labels(std::size_t documents) {
  return documents == 1 ? "1 document wants a label"
                        : fmt::format("{} documents want labels", documents);
}

void end_for_labels(session& owner, label_arguments const& asking, datasets::dataset const& train,
                    std::span<std::size_t const> wanted, std::string const& key,
                    nlohmann::ordered_json const& summary, std::string const& message) {
  if (!asking.pending.empty()) write_file(asking.pending, datasets::labels_to_fill(train, wanted));
  owner.exit_with(labels_wanted_code);
  owner.note(key, summary);
  if (owner.prints_json()) write_file("-", datasets::text_of(summary));
  owner.say(message);
}

void refuse_unlabelled(label_arguments const& asking, datasets::dataset const& train,
                       std::size_t document, std::string_view verb) {
  std::string const table = asking.labels_file();
  throw error(datasets::place_of(train, document),
              fmt::format("this document was {} and is not labelled, expected a label{}, or "
                          "--pending to list the documents that want one",
                          verb, table.empty() ? "" : " in " + table));
}

}  // namespace rulerank::apps
