#include "datasets/svmlight/queries.hpp"

#include "core/error.hpp"
#include "datasets/input/text_source.hpp"

#include <algorithm>
#include <utility>

namespace rulerank::inline v0::datasets {

query_former::query_former(context const& ctx, svmlight_options const& options, std::string name)
    : regroup_(options.regroup),
      regroup_option_(options.options_are_arguments ? "regroup=True" : "--regroup"),
      grouped_(!options.group_file.empty()),
      group_file_(options.group_file),
      name_(std::move(name)) {
  if (grouped_) sizes_ = read_group_file(ctx, group_file_);
}

std::size_t query_former::begin_run(qid_run const& run, std::uint64_t last_line,
                                    std::function<void()> const& ended) {
  if (run.qid && grouped_) throw text_fault{run.place, qid_beside_groups(*run.qid, group_file_)};
  if (with_qid_ && *with_qid_ != run.qid.has_value())
    throw text_fault{run.place, qid_not_on_all(run.qid)};
  bool const first = !with_qid_;
  with_qid_ = run.qid.has_value();
  if (!run.qid) return current_;
  if (!first && *run.qid == qids_[current_]) {
    if (ended_by_ != 0) throw text_fault{run.place, query_goes_on(*run.qid, ended_by_)};
    return current_;
  }
  ended_by_ = 0;
  if (!first) {
    last_lines_[current_] = last_line;
    if (ended) ended();
  }
  auto const [found, is_new] = numbers_.emplace(*run.qid, qids_.size());
  current_ = found->second;
  if (is_new) {
    qids_.emplace_back(*run.qid);
    last_lines_.push_back(0);
  } else if (!regroup_) {
    throw text_fault{run.place, query_again(*run.qid, last_lines_[current_], regroup_option_)};
  }
  return current_;
}

bool query_former::end_query(std::uint64_t line) {
  if (!with_qid_.value_or(false)) return false;
  if (ended_by_ == 0) ended_by_ = line;
  return true;
}

std::size_t query_former::next_of_group() {
  if (left_ == 0) {
    if (group_ == sizes_.size())
      throw error({display_name(group_file_), sizes_.empty() ? 1 : sizes_.back().line, 0},
                  wrong_group_sum("", taken_, name_));
    left_ = sizes_[group_++].documents;
  }
  --left_;
  ++taken_;
  return group_ - 1;
}

std::string query_former::qid(std::size_t query) const {
  return query < qids_.size() ? qids_[query] : std::to_string(query + 1);
}

void query_former::finish(std::size_t documents,
                          std::function<void(std::string const&)> const& warn) const {
  if (documents == 0) throw error({name_, 1, 1}, no_documents);
  if (grouped_ && (left_ > 0 || group_ < sizes_.size()))
    throw error({display_name(group_file_), sizes_[left_ > 0 ? group_ - 1 : group_].line, 0},
                wrong_group_sum("more than ", documents, name_));
  if (!grouped_ && !*with_qid_ && warn) warn(all_one_query(name_, documents));
}

}  // namespace rulerank::datasets
