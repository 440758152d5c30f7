#include "al/label_table.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <utility>

namespace rulerank::inline v0::al {

label_table::label_table(std::vector<answer> rows, std::string path, datasets::dataset const& pool,
                         answer_journal* journal)
    : rows_(std::move(rows)), path_(std::move(path)), journal_(journal) {
  std::ranges::stable_sort(rows_, {}, &answer::document);
  auto const same_document = [](answer const& a, answer const& b) {
    return a.document == b.document;
  };
  rows_.erase(std::unique(rows_.begin(), rows_.end(), same_document), rows_.end());
  for (std::size_t d = 0; d < pool.size(); ++d)
    if (pool.labels[d] != datasets::unlabelled) expect_same(d, pool.labels[d], pool.name);
  if (journal_ == nullptr) return;
  for (answer const& a : journal_->answers()) expect_same(a.document, a.label, "the journal");
}

answer const* label_table::row_of(std::size_t document) const {
  auto const at = std::ranges::lower_bound(rows_, document, {}, &answer::document);
  return at != rows_.end() && at->document == document ? &*at : nullptr;
}

void label_table::expect_same(std::size_t document, std::optional<std::int32_t> label,
                              std::string_view where) const {
  answer const* const row = row_of(document);
  if (row != nullptr && row->label != label)
    throw error({path_, row->line, 1}, "found an answer that differs from the label in " +
                                           std::string(where) +
                                           ", expected the same label or no answer");
}

void label_table::give(labelling& work, answer const& row) const {
  if (journal_ != nullptr) journal_->add(row.document, row.label);
  work.answer(row.document, row.label);
}

void label_table::answer_wanted(labelling& work) const {
  for (bool any = true; any;) {
    any = false;
    for (question const& q : work.wanted()) {
      answer const* const row = row_of(q.document);
      if (row == nullptr) continue;
      give(work, *row);
      any = true;
      break;  // other documents may be wanted now
    }
  }
}

void label_table::answer_in_advance(labelling& work) const {
  std::vector<answer> rest;
  for (answer const& row : rows_)
    if (work.label_of(row.document) == datasets::unlabelled &&
        std::ranges::find(work.answers(), row.document, &answer::document) == work.answers().end())
      rest.push_back(row);
  std::ranges::sort(rest, {}, &answer::line);
  for (answer const& row : rest) give(work, row);
}

void replay(answer_journal const& journal, std::string const& path, labelling& work,
            bool only_wanted) {
  for (answer const& a : journal.answers()) {
    if (only_wanted && work.finished()) return;
    try {
      work.answer(a.document, a.label);
    } catch (usage_error const&) {
      throw error({path, a.line, 1},
                  "found an answer for a document that is labelled already, expected the answers "
                  "in the order in which they were given");
    }
  }
}

}  // namespace rulerank::al
