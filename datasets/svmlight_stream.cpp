#include "core/error.hpp"
#include "datasets/comments.hpp"
#include "datasets/group_file.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight_faults.hpp"
#include "datasets/svmlight_lines.hpp"
#include "datasets/svmlight_parser.hpp"
#include "datasets/text_source.hpp"

#include <deque>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace rulerank::datasets {

namespace {

/// Collects the documents of the query that is coming in, and answers it when it is whole.
class query_collector {
 public:
  query_collector(context const& ctx, std::string name, svmlight_options const& options,
                  std::function<void(dataset const&)> const& answer)
      : name_(std::move(name)), options_(options), answer_(answer) {
    if (!options.group_file.empty()) {
      auto const sizes = read_group_file(ctx, options.group_file);
      sizes_.assign(sizes.begin(), sizes.end());
      grouped_ = true;
    }
  }

  /// Takes whole lines.
  void take(std::string_view lines) {
    parse_lines(lines, {options_.zero_based, options_.unlabelled}, part_);
    for (std::size_t r = 0; r < part_.runs.size(); ++r) {
      bool const last = r + 1 == part_.runs.size();
      begin_run(part_.runs[r]);
      std::size_t const end = last ? part_.labels.size() : part_.runs[r + 1].begin;
      for (std::size_t d = part_.runs[r].begin; d < end; ++d) add(d);
    }
    if (part_.fault) fail(part_.fault->place, part_.fault->found_and_expected);
    line_count_ += part_.line_count;
  }

  void finish(std::function<void(std::string const&)> const& warn) {
    if (documents_ == 0) throw error({name_, 1, 1}, no_documents);
    if (grouped_) {
      if (query_.size() > 0 || !sizes_.empty())
        throw error({display_name(options_.group_file),
                     query_.size() > 0 ? group_line_ : sizes_.front().line, 0},
                    groups_too_large(documents_, name_));
      return;
    }
    if (!has_qid_ && warn)
      warn(fmt::format("{}: no line has a qid, so all {} documents are one query", name_,
                       documents_));
    give();
  }

 private:
  [[noreturn]] void fail(line_place place, std::string const& found_and_expected) const {
    throw error({name_, line_count_ + place.line + 1, place.column}, found_and_expected);
  }

  void begin_run(qid_run const& run) {
    if (run.qid && grouped_) fail(run.place, qid_beside_groups(*run.qid, options_.group_file));
    if (known_ && has_qid_ != run.qid.has_value()) fail(run.place, qid_not_on_all(run.qid));
    known_ = true;
    has_qid_ = run.qid.has_value();
    if (!has_qid_) {
      if (!grouped_) qid_ = std::to_string(1);
      return;
    }
    if (*run.qid == qid_) return;
    give();
    if (auto const ended = ended_.find(std::string(*run.qid)); ended != ended_.end())
      fail(run.place, query_again(*run.qid, ended->second));
    qid_ = *run.qid;
  }

  void add(std::size_t d) {
    if (grouped_ && query_.size() == 0) next_group();
    ++documents_;
    std::size_t const first = d == 0 ? 0 : part_.row_end[d - 1];
    query_.labels.push_back(part_.labels[d]);
    query_.entries.insert(query_.entries.end(),
                          part_.entries.begin() + static_cast<std::ptrdiff_t>(first),
                          part_.entries.begin() + static_cast<std::ptrdiff_t>(part_.row_end[d]));
    query_.row.push_back(query_.entries.size());
    query_.line_numbers.push_back(line_count_ + part_.line_numbers[d] + 1);
    text_ += part_.lines[d];
    line_ends_.push_back(text_.size());
    if (grouped_ && query_.size() == group_size_) give();
  }

  void next_group() {
    if (sizes_.empty())
      throw error({display_name(options_.group_file), group_line_, 0},
                  fmt::format("the group sizes add up to {} documents, expected as many as {} has",
                              documents_, name_));
    group_size_ = sizes_.front().documents;
    group_line_ = sizes_.front().line;
    sizes_.pop_front();
    qid_ = std::to_string(++groups_);
  }

  void give() {
    if (query_.size() == 0) return;
    query_.name = name_;
    query_.queries = {{qid_, 0, query_.size()}};
    ended_.emplace(qid_, query_.line_numbers.back());
    query_.text = make_text(std::move(text_));
    std::string_view const bytes = query_.text->bytes();
    std::size_t begin = 0;
    for (std::size_t const end : line_ends_) {
      std::string_view const line = bytes.substr(begin, end - begin);
      std::string_view const comment = comment_of(line);
      append_optional(query_.comments, query_.lines.size(), comment);
      append_optional(query_.ids, query_.lines.size(), docid_of(comment));
      query_.lines.push_back(line);
      begin = end;
    }
    dataset const whole = std::move(query_);
    query_ = {};
    text_.clear();
    line_ends_.clear();
    answer_(whole);
  }

  std::string name_;
  svmlight_options const& options_;
  std::function<void(dataset const&)> const& answer_;
  parsed_lines part_;
  dataset query_;
  std::string qid_;
  std::string text_;
  std::vector<std::size_t> line_ends_;
  std::unordered_map<std::string, std::uint64_t> ended_;  // qids and their last lines
  std::deque<group_size> sizes_;
  std::size_t group_size_ = 0;
  std::uint64_t group_line_ = 0;
  std::size_t groups_ = 0;
  std::size_t documents_ = 0;
  std::uint64_t line_count_ = 0;
  bool grouped_ = false;
  bool known_ = false;
  bool has_qid_ = false;
};

}  // namespace

void stream_svmlight(context const& ctx, int descriptor, std::string name,
                     svmlight_options const& options,
                     std::function<void(dataset const&)> const& answer,
                     std::function<void(std::string const&)> const& warn) {
  check_options(options);
  if (options.regroup)
    throw usage_error("a stream is answered query by query, so its queries cannot be regrouped");
  query_collector queries(ctx, name, options, answer);
  text_stream stream(ctx, descriptor, std::move(name));
  std::string begun;  // a line whose end has not come yet
  bool at_begin = true;
  for (std::string_view part = stream.next(); !part.empty(); part = stream.next()) {
    std::size_t const feed = part.rfind('\n');
    if (feed == part.npos) {
      begun += part;
      continue;
    }
    begun += part.substr(0, feed + 1);
    std::string_view lines = begun;
    if (at_begin) remove_byte_order_mark(lines);
    at_begin = false;
    queries.take(lines);
    begun = part.substr(feed + 1);
  }
  std::string_view lines = begun;
  if (at_begin) remove_byte_order_mark(lines);
  queries.take(lines);
  queries.finish(warn);
}

}  // namespace rulerank::datasets
