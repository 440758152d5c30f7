#include "core/error.hpp"
#include "datasets/svmlight/comments.hpp"
#include "datasets/svmlight/documents.hpp"
#include "datasets/svmlight/lines.hpp"
#include "datasets/svmlight/queries.hpp"
#include "datasets/svmlight/read.hpp"
#include "datasets/text_source.hpp"

#include <utility>

namespace rulerank::datasets {

namespace {

/// Collects the documents of the query that is coming in, and hands it on when it is whole.
class query_collector {
 public:
  query_collector(context const& ctx, std::string name, svmlight_options const& options,
                  std::function<void(dataset const&)> const& take_query)
      : name_(std::move(name)),
        rules_{options.zero_based, options.unlabelled},
        take_query_(take_query),
        queries_(ctx, options, name_) {}

  /// Takes whole lines.
  void take(std::string_view lines) {
    parse_documents(lines, rules_, part_);
    try {
      for (std::size_t r = 0; r < part_.runs.size(); ++r) {
        qid_run const& run = part_.runs[r];
        std::size_t const end =
            r + 1 < part_.runs.size() ? part_.runs[r + 1].begin : part_.labels.size();
        query_number_ = queries_.begin_run(run, last_line_, [this] { give(); });
        for (std::size_t d = run.begin; d < end; ++d) add(d);
      }
      if (part_.fault) throw text_fault(*part_.fault);
    } catch (text_fault const& fault) {
      throw error({name_, line_count_ + fault.place.line + 1, fault.place.column},
                  fault.found_and_expected);
    }
    line_count_ += part_.line_count;
  }

  void finish(std::function<void(std::string const&)> const& warn) {
    queries_.finish(documents_, warn);
    give();
  }

 private:
  void add(std::size_t d) {
    if (queries_.grouped()) query_number_ = queries_.next_of_group();
    ++documents_;
    last_line_ = line_count_ + part_.line_numbers[d] + 1;
    std::size_t const first = d == 0 ? 0 : part_.row_end[d - 1];
    query_.labels.push_back(part_.labels[d]);
    query_.entries.insert(query_.entries.end(),
                          part_.entries.begin() + static_cast<std::ptrdiff_t>(first),
                          part_.entries.begin() + static_cast<std::ptrdiff_t>(part_.row_end[d]));
    query_.row.push_back(query_.entries.size());
    query_.line_numbers.push_back(last_line_);
    text_ += part_.lines[d];
    line_ends_.push_back(text_.size());
    if (queries_.grouped() && queries_.group_is_whole()) give();
  }

  void give() {
    if (query_.size() == 0) return;
    query_.name = name_;
    query_.queries = {{queries_.qid(query_number_), 0, query_.size()}};
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
    take_query_(whole);
  }

  std::string name_;
  line_rules rules_;
  std::function<void(dataset const&)> const& take_query_;
  query_former queries_;
  parsed_documents part_;
  dataset query_;  // its documents so far
  std::size_t query_number_ = 0;
  std::string text_;
  std::vector<std::size_t> line_ends_;
  std::size_t documents_ = 0;
  std::uint64_t last_line_ = 0;  // of the last document
  std::uint64_t line_count_ = 0;
};

}  // namespace

void stream_svmlight(context const& ctx, int descriptor, std::string name,
                     svmlight_options const& options,
                     std::function<void(dataset const&)> const& take_query,
                     std::function<void(std::string const&)> const& warn) {
  check_options(options);
  if (options.regroup)
    throw usage_error("a stream is read query by query, so its queries cannot be regrouped");
  query_collector queries(ctx, name, options, take_query);
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
