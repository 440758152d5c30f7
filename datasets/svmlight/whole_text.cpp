#include "datasets/svmlight/whole_text.hpp"

#include "core/error.hpp"
#include "datasets/dataset_rows.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/comments.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rulerank::inline v0::datasets {

void whole_text::reserve(std::size_t documents, std::size_t entries) {
  data_.labels.reserve(documents);
  data_.row.reserve(documents + 1);
  data_.comments.reserve(documents);
  data_.ids.reserve(documents);
  data_.lines.reserve(documents);
  data_.line_numbers.reserve(documents);
  data_.entries.resize(entries);
}

std::size_t whole_text::append(parsed_documents& part) {
  part.expect_form(form_);
  if (form_ == feature_form::unknown) form_ = part.names.form;
  std::size_t const first_document = data_.labels.size();
  std::size_t const first_entry = data_.row.back();
  std::size_t const documents = part.labels.size();
  data_.labels.insert(data_.labels.end(), part.labels.begin(), part.labels.end());
  data_.fractional_labels.insert(data_.fractional_labels.end(), part.label_values.begin(),
                                 part.label_values.end());
  made_.splice(made_.end(), part.made);
  if (text_id_.empty()) text_id_ = part.text_id;
  append_optional(data_.comments, first_document, part.comments, documents);
  append_optional(data_.ids, first_document, part.ids, documents);
  data_.lines.insert(data_.lines.end(), part.lines.begin(), part.lines.end());
  for (std::size_t const end : part.row_end) data_.row.push_back(first_entry + end);
  for (std::uint64_t const line : part.line_numbers)
    data_.line_numbers.push_back(line_count_ + line + 1);
  try {
    for (qid_run run : part.runs) {
      run.begin += first_document;
      run.place.line += line_count_;
      std::size_t const query =
          queries_.begin_run(run, run.begin == 0 ? 0 : data_.line_numbers[run.begin - 1]);
      if (runs_.empty() || runs_.back().query != query) runs_.push_back({query, run.begin});
    }
  } catch (text_fault const& fault) {
    fault_ = fault;
    return first_entry;
  }
  if (part.fault) {
    fault_ = part.fault;
    fault_->place.line += line_count_;
  }
  if (form_ == feature_form::names) part.numbers = names_.take(part.names);
  line_count_ += part.line_count;
  return first_entry;
}

void whole_text::finish(context const& ctx, std::function<void(std::string const&)> const& warn) {
  if (fault_)
    throw error({data_.name, fault_->place.line + 1, fault_->place.column},
                fault_->found_and_expected);
  if (queries_.grouped()) {
    runs_.clear();
    for (std::size_t d = 0; d < data_.size(); ++d) {
      std::size_t const group = queries_.next_of_group();
      if (group == runs_.size()) runs_.push_back({group, d});
    }
  }
  queries_.finish(data_.size(), warn);
  data_.entries.resize(data_.row.back());
  if (form_ == feature_form::names) names_.number(ctx, data_);
  drop_integral_labels(data_);
  if (warn && !text_id_.empty()) warn(text_id_note(data_.name, text_id_));
  if (!made_.empty()) data_.text = text_with_ids(std::move(data_.text), std::move(made_));
  std::size_t count = 0;
  for (query_run const& run : runs_) count = std::max(count, run.query + 1);
  if (count < runs_.size()) gather_queries();
  data_.queries.reserve(count);
  for (std::size_t run = 0; run < runs_.size(); ++run)
    data_.queries.push_back({queries_.qid(run), runs_[run].begin, run_end(run)});
}

std::size_t whole_text::run_end(std::size_t run) const {
  return run + 1 < runs_.size() ? runs_[run + 1].begin : data_.size();
}

// Makes the documents of each query contiguous, queries in the order of their first documents; each
// query then has one run.
void whole_text::gather_queries() {
  std::vector<std::size_t> order(runs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return runs_[a].query < runs_[b].query;
  });
  std::vector<std::size_t> documents(data_.size());
  std::vector<query_run> gathered;
  auto next = documents.begin();
  for (std::size_t const run : order) {
    if (gathered.empty() || gathered.back().query != runs_[run].query)
      gathered.push_back({runs_[run].query, static_cast<std::size_t>(next - documents.begin())});
    auto const end = next + static_cast<std::ptrdiff_t>(run_end(run) - runs_[run].begin);
    std::iota(next, end, runs_[run].begin);
    next = end;
  }
  data_ = rows_of(data_, documents);
  runs_ = std::move(gathered);
}

}  // namespace rulerank::datasets
