#include "datasets/svmlight_assembler.hpp"

#include "core/error.hpp"
#include "datasets/comments.hpp"
#include "datasets/svmlight_faults.hpp"
#include "datasets/text_source.hpp"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::datasets {

void svmlight_assembler::reserve(std::size_t documents, std::size_t entries) {
  data_.labels.reserve(documents);
  data_.row.reserve(documents + 1);
  data_.comments.reserve(documents);
  data_.ids.reserve(documents);
  data_.lines.reserve(documents);
  data_.line_numbers.reserve(documents);
  data_.entries.resize(entries);
}

std::size_t svmlight_assembler::append(parsed_lines const& part) {
  std::size_t const first_document = data_.labels.size();
  std::size_t const first_entry = data_.row.back();
  std::size_t const documents = part.labels.size();
  data_.labels.insert(data_.labels.end(), part.labels.begin(), part.labels.end());
  append_optional(data_.comments, first_document, part.comments, documents);
  append_optional(data_.ids, first_document, part.ids, documents);
  data_.lines.insert(data_.lines.end(), part.lines.begin(), part.lines.end());
  for (std::size_t const end : part.row_end) data_.row.push_back(first_entry + end);
  for (std::uint64_t const line : part.line_numbers)
    data_.line_numbers.push_back(line_count_ + line + 1);
  for (qid_run const& run : part.runs) {
    line_place const place{line_count_ + run.place.line, run.place.column};
    if (!runs_.empty() && runs_.back().qid.has_value() != run.qid.has_value()) {
      stop(place, qid_not_on_all(run.qid));
      return first_entry;
    }
    if (runs_.empty() && run.qid && !options_.group_file.empty()) {
      stop(place, qid_beside_groups(*run.qid, options_.group_file));
      return first_entry;
    }
    if (runs_.empty() || runs_.back().qid != run.qid)
      runs_.push_back({run.qid, first_document + run.begin, place});
  }
  if (part.fault)
    stop({line_count_ + part.fault->place.line, part.fault->place.column},
         part.fault->found_and_expected);
  line_count_ += part.line_count;
  return first_entry;
}

void svmlight_assembler::finish(context const& ctx,
                                std::function<void(std::string const&)> const& warn) {
  bool const together = number_queries();
  if (fault_)
    throw error({data_.name, fault_->place.line + 1, fault_->place.column},
                fault_->found_and_expected);
  if (data_.labels.empty()) throw error({data_.name, 1, 1}, no_documents);
  data_.entries.resize(data_.row.back());
  if (runs_.front().qid)
    together ? make_queries() : gather_queries();
  else if (!options_.group_file.empty())
    take_groups(read_group_file(ctx, options_.group_file));
  else
    one_query(warn);
}

void svmlight_assembler::stop(line_place place, std::string found_and_expected) {
  fault_ = {place, std::move(found_and_expected)};
}

std::size_t svmlight_assembler::run_end(std::size_t run) const {
  return run + 1 < runs_.size() ? runs_[run + 1].begin : data_.labels.size();
}

// Numbers the queries by their first document. True when each query's lines are together;
// otherwise the first that are not are a fault, unless they are to be gathered.
bool svmlight_assembler::number_queries() {
  std::unordered_map<std::string_view, std::size_t> numbers;
  std::vector<std::size_t> last_run;
  query_of_run_.clear();
  bool together = true;
  if (runs_.empty() || !runs_.front().qid) return together;
  numbers.reserve(runs_.size());
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    auto const [found, is_new] = numbers.emplace(*runs_[run].qid, numbers.size());
    query_of_run_.push_back(found->second);
    if (is_new) {
      last_run.push_back(run);
      continue;
    }
    together = false;
    if (!options_.regroup) {
      std::size_t const end = run_end(last_run[found->second]);
      stop(runs_[run].place, query_again(*runs_[run].qid, data_.line_numbers[end - 1]));
      return together;
    }
    last_run[found->second] = run;
  }
  query_count_ = numbers.size();
  return together;
}

void svmlight_assembler::make_queries() {
  data_.queries.reserve(runs_.size());
  for (std::size_t run = 0; run < runs_.size(); ++run)
    data_.queries.push_back({std::string(*runs_[run].qid), runs_[run].begin, run_end(run)});
}

// Brings the documents of a query together, queries in the order of their first documents.
void svmlight_assembler::gather_queries() {
  std::vector<std::vector<std::size_t>> runs_of_query(query_count_);
  for (std::size_t run = 0; run < runs_.size(); ++run)
    runs_of_query[query_of_run_[run]].push_back(run);
  dataset from = std::move(data_);
  data_ = {};
  data_.name = from.name;
  data_.text = from.text;
  data_.queries.reserve(query_count_);
  reserve(from.size(), 0);
  data_.entries.reserve(from.entries.size());
  for (std::vector<std::size_t> const& its_runs : runs_of_query) {
    std::size_t const begin = data_.labels.size();
    for (std::size_t const run : its_runs) {
      std::size_t const end = run + 1 < runs_.size() ? runs_[run + 1].begin : from.size();
      for (std::size_t d = runs_[run].begin; d < end; ++d) {
        data_.labels.push_back(from.labels[d]);
        if (!from.comments.empty()) data_.comments.push_back(from.comments[d]);
        if (!from.ids.empty()) data_.ids.push_back(from.ids[d]);
        data_.lines.push_back(from.lines[d]);
        data_.line_numbers.push_back(from.line_numbers[d]);
        auto const entries = from.document(d);
        data_.entries.insert(data_.entries.end(), entries.begin(), entries.end());
        data_.row.push_back(data_.entries.size());
      }
    }
    data_.queries.push_back(
        {std::string(*runs_[its_runs.front()].qid), begin, data_.labels.size()});
  }
}

void svmlight_assembler::take_groups(std::vector<group_size> const& sizes) {
  std::string const name = display_name(options_.group_file);
  std::size_t begin = 0;
  for (group_size const& group : sizes) {
    if (group.documents > data_.size() - begin)
      throw error({name, group.line, 0}, groups_too_large(data_.size(), data_.name));
    data_.queries.push_back(
        {std::to_string(data_.queries.size() + 1), begin, begin + group.documents});
    begin += group.documents;
  }
  if (begin != data_.size())
    throw error({name, sizes.empty() ? 1 : sizes.back().line, 0},
                fmt::format("the group sizes add up to {} documents, expected the {} of {}", begin,
                            data_.size(), data_.name));
}

void svmlight_assembler::one_query(std::function<void(std::string const&)> const& warn) {
  data_.queries.push_back({"1", 0, data_.size()});
  if (warn)
    warn(fmt::format("{}: no line has a qid, so all {} documents are one query", data_.name,
                     data_.size()));
}

}  // namespace rulerank::datasets
