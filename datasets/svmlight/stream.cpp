#include "core/error.hpp"
#include "datasets/delimited/read.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/comments.hpp"
#include "datasets/svmlight/documents.hpp"
#include "datasets/svmlight/queries.hpp"
#include "datasets/svmlight/read.hpp"
#include "datasets/trec.hpp"

#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

query_collector::query_collector(context const& ctx, std::string name,
                                 svmlight_options const& options,
                                 std::function<void(dataset const&)> const& take_query)
    : ctx_(ctx), name_(std::move(name)), take_query_(take_query), queries_(ctx, options, name_) {}

void query_collector::begin(chunk_parser parse, dataset form, std::uint64_t lines) {
  parse_ = std::move(parse);
  form_ = std::move(form);
  form_.name = name_;
  header_ = form_.header;
  form_.header = {};
  text_ = header_;
  query_ = form_;
  line_count_ = lines;
}

void query_collector::take(std::string_view text) {
  parse_(text, part_);
  if (text_id_.empty()) text_id_ = part_.text_id;
  part_.expect_form(features_);
  if (features_ == feature_form::unknown) features_ = part_.names.form;
  if (features_ == feature_form::names) part_.numbers = names_.take(part_.names);
  auto blank = part_.blanks.begin();
  auto const end_at_blank = [&](std::size_t documents) {
    if (blank == part_.blanks.end() || blank->documents != documents) return;
    if (queries_.end_query(line_count_ + blank->line + 1)) give();
    ++blank;
  };
  try {
    for (std::size_t r = 0; r < part_.runs.size(); ++r) {
      qid_run const& run = part_.runs[r];
      end_at_blank(run.begin);
      std::size_t const end =
          r + 1 < part_.runs.size() ? part_.runs[r + 1].begin : part_.labels.size();
      query_number_ = queries_.begin_run(run, last_line_, [this] { give(); });
      for (std::size_t d = run.begin; d < end; ++d) add(d);
    }
    end_at_blank(part_.labels.size());
    if (part_.fault) throw text_fault(*part_.fault);
  } catch (text_fault const& fault) {
    throw error({name_, line_count_ + fault.place.line + 1, fault.place.column},
                fault.found_and_expected);
  }
  line_count_ += part_.line_count;
}

void query_collector::finish(std::function<void(std::string const&)> const& warn) {
  if (documents_ == 0 && form_.delimiter != 0) throw error({name_, 1, 1}, no_records);
  queries_.finish(documents_, warn);
  if (warn && !text_id_.empty()) warn(text_id_note(name_, text_id_));
  give();
}

void query_collector::add(std::size_t d) {
  if (queries_.grouped()) query_number_ = queries_.next_of_group();
  ++documents_;
  last_line_ = line_count_ + part_.line_numbers[d] + 1;
  query_.labels.push_back(part_.labels[d]);
  if (!part_.label_values.empty()) query_.fractional_labels.push_back(part_.label_values[d]);
  for (std::size_t i = d == 0 ? 0 : part_.row_end[d - 1]; i < part_.row_end[d]; ++i) {
    feature_value entry = part_.entries[i];
    if (!part_.numbers.empty()) entry.feature = part_.numbers[entry.feature];
    query_.entries.push_back(entry);
  }
  query_.row.push_back(query_.entries.size());
  query_.line_numbers.push_back(last_line_);
  text_ += part_.lines[d];
  line_ends_.push_back(text_.size());
  if (form_.delimiter != 0) ids_.emplace_back(d < part_.ids.size() ? part_.ids[d] : "");
  if (queries_.grouped() && queries_.group_is_whole()) give();
}

void query_collector::give() {
  if (query_.size() == 0) return;
  query_.queries = {{queries_.qid(query_number_), 0, query_.size()}};
  query_.text = make_text(std::move(text_));
  std::string_view const bytes = query_.text->bytes();
  std::size_t begin = header_.size();
  query_.header = bytes.substr(0, begin);
  auto id = ids_.begin();
  for (std::size_t const end : line_ends_) {
    std::string_view const line = bytes.substr(begin, end - begin);
    if (form_.delimiter == 0) {
      std::string_view const comment = comment_of(line);
      append_optional(query_.comments, query_.lines.size(), comment);
      append_optional(query_.ids, query_.lines.size(), docid_of(comment));
    } else {
      append_optional(query_.ids, query_.lines.size(), *id++);
    }
    query_.lines.push_back(line);
    begin = end;
  }
  if (!ids_.empty()) query_.text = text_with_ids(std::move(query_.text), std::move(ids_));
  if (!names_.empty()) names_.number(ctx_, query_);
  drop_integral_labels(query_);
  dataset const whole = std::exchange(query_, form_);
  text_ = header_;
  line_ends_.clear();
  ids_.clear();
  take_query_(whole);
}

namespace {

void check_stream(svmlight_options const& options) {
  check_options(options);
  if (options.regroup)
    throw usage_error(
        "the queries of a stream cannot be regrouped, because a stream is read query by query");
}

/// The pieces of a stream as whole lines, without the initial byte order mark.
class whole_lines {
 public:
  whole_lines(context const& ctx, int descriptor, std::string name)
      : stream_(ctx, descriptor, std::move(name)) {}

  /// Appends the next piece of the stream to the unprocessed text; returns false at the end.
  bool next() {
    std::string_view const part = stream_.next();
    text_ += part;
    if (at_begin_ && (part.empty() || text_.size() >= 3)) {
      std::string_view text = text_;
      remove_byte_order_mark(text);
      text_.erase(0, text_.size() - text.size());
      at_begin_ = false;
    }
    return !part.empty();
  }
  /// Empty while the first bytes may be part of a byte order mark.
  std::string_view text() const { return at_begin_ ? std::string_view() : text_; }
  void drop(std::size_t bytes) { text_.erase(0, bytes); }

 private:
  text_stream stream_;
  std::string text_;
  bool at_begin_ = true;
};

/// Passes on whole lines or records; `last_end(text)` returns the end of the last complete one in
/// the text, 0 for none, and `drop` receives what was passed on.
template <class LastEnd, class Drop>
void take_all(whole_lines& in, query_collector& queries, LastEnd&& last_end, Drop&& drop) {
  do {
    std::size_t const size = last_end(in.text());
    if (size == 0) continue;
    queries.take(in.text().substr(0, size));
    in.drop(size);
    drop(size);
  } while (in.next());
  queries.take(in.text());
}

void take_lines(whole_lines& in, query_collector& queries, svmlight_options const& options) {
  queries.begin(
      [rules = rules_of(options)](std::string_view text, parsed_documents& out) {
        parse_documents(text, rules, out);
      },
      {}, 0);
  std::size_t seen = 0;  // bytes without a line end
  take_all(
      in, queries,
      [&](std::string_view text) {
        std::size_t const feed = text.substr(seen).rfind('\n');
        std::size_t const end = feed == text.npos ? 0 : seen + feed + 1;
        seen = text.size();
        return end;
      },
      [&](std::size_t size) { seen -= size; });
}

void take_records(whole_lines& in, query_collector& queries, std::string const& name,
                  char delimiter, read_options const& options,
                  std::function<void(std::string const&)> const& warn) {
  record_ends ends;
  std::size_t const told = separator_of(in.text()).size;
  std::size_t header_size = 0;
  do header_size = ends.first(in.text().substr(told));
  while (header_size == 0 && in.next());
  if (header_size > 0) header_size += told;
  std::string const header(in.text().substr(0, header_size == 0 ? in.text().npos : header_size));
  delimited_layout const layout = read_layout(header, delimiter, name, options);
  if (warn)
    for (std::string const& note : layout.notes) warn(fmt::format("{}: {}", name, note));
  queries.begin(parser_of(layout, options), layout_form(layout), layout.feeds);
  in.drop(header.size());
  ends = {};
  take_all(
      in, queries, [&](std::string_view text) { return ends.last(text); },
      [&](std::size_t size) { ends.drop(size); });
}

}  // namespace

void stream_svmlight(context const& ctx, int descriptor, std::string name,
                     svmlight_options const& options,
                     std::function<void(dataset const&)> const& take_query,
                     std::function<void(std::string const&)> const& warn) {
  check_stream(options);
  query_collector queries(ctx, name, options, take_query);
  whole_lines in(ctx, descriptor, std::move(name));
  take_lines(in, queries, options);
  queries.finish(warn);
}

void stream_dataset(context const& ctx, int descriptor, std::string name,
                    read_options const& options,
                    std::function<void(dataset const&)> const& take_query,
                    std::function<void(std::string const&)> const& warn) {
  check_stream(options);
  query_collector queries(ctx, name, options, take_query);
  whole_lines in(ctx, descriptor, name);
  while (in.text().find('\n') == std::string_view::npos && in.next()) {
  }
  char const delimiter = delimiter_of(name, in.text().substr(0, in.text().find('\n')), options);
  if (delimiter == 0)
    take_lines(in, queries, options);
  else
    take_records(in, queries, name, delimiter, options, warn);
  queries.finish(warn);
}

}  // namespace rulerank::datasets
