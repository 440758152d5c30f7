#include "datasets/svmlight/read.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/whole_text.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t chunks_between_reports = 512;

/// A count of finished chunks, for which threads can wait.
class chunk_count {
 public:
  void wait_for(std::size_t chunks) const {
    for (std::size_t now = count_.load(); now != chunks; now = count_.load()) count_.wait(now);
  }
  /// Counts one chunk on destruction.
  class one {
   public:
    explicit one(chunk_count& of) : of_(of) {}
    ~one() {
      ++of_.count_;
      of_.count_.notify_all();
    }
    one(one const&) = delete;
    one& operator=(one const&) = delete;

   private:
    chunk_count& of_;
  };

 private:
  std::atomic<std::size_t> count_{0};
};

}  // namespace

void check_options(svmlight_options const& options) {
  if (options.unlabelled && *options.unlabelled >= 0)
    throw usage_error("the label that means \"not labelled yet\" must be negative");
}

line_rules rules_of(svmlight_options const& options) {
  line_rules rules;
  rules.zero_based = options.zero_based;
  rules.unlabelled = options.unlabelled;
  rules.suggest_unlabelled = !options.unlabelled;
  rules.options_are_arguments = options.options_are_arguments;
  rules.fractional_labels = options.fractional_labels;
  rules.optional_labels = options.optional_labels;
  return rules;
}

void read_chunks(context const& ctx, std::string_view text, std::span<std::size_t const> cuts,
                 chunk_parser const& parse, whole_text& whole, dataset& data) {
  std::size_t const chunks = cuts.size() - 1;
  auto const chunk = [&](std::size_t p) { return text.substr(cuts[p], cuts[p + 1] - cuts[p]); };

  std::vector<parsed_documents> parsed(static_cast<std::size_t>(ctx.thread_count()));
  chunk_count appended, copied;
  std::atomic<bool> stopped{false};
  // Allocates for the documents up to chunk p and, at the same density, for the rest of the text.
  auto const make_room = [&](std::size_t p, std::size_t entries) {
    copied.wait_for(p);  // reallocation moves entries
    double const more = 1.1 * static_cast<double>(text.size()) / static_cast<double>(cuts[p + 1]);
    auto const of_all = [&](std::size_t n) {
      return static_cast<std::size_t>(more * static_cast<double>(n));
    };
    whole.reserve(of_all(data.size()), of_all(entries));
  };
  auto const read_chunk = [&](std::size_t p, int thread) {
    chunk_count::one const counts_when_copied(copied);
    parsed_documents& part = parsed[static_cast<std::size_t>(thread)];
    std::exception_ptr trouble;  // must not prevent this chunk's turn
    try {
      if (!stopped) parse(chunk(p), part);
    } catch (...) {
      trouble = std::current_exception();
    }
    std::size_t first_entry = 0;
    {
      appended.wait_for(p);
      chunk_count::one const counts_when_appended(appended);
      if (trouble) std::rethrow_exception(trouble);
      if (stopped) return;
      first_entry = whole.append(part);
      stopped = whole.stopped();
      std::size_t const entries = first_entry + part.entries.size();
      if (entries > data.entries.size()) make_room(p, entries);
    }
    if (!part.numbers.empty())
      for (feature_value& entry : part.entries) entry.feature = part.numbers[entry.feature];
    std::ranges::copy(part.entries,
                      data.entries.begin() + static_cast<std::ptrdiff_t>(first_entry));
  };
  for (std::size_t begin = 0; begin < chunks && !stopped; begin += chunks_between_reports) {
    std::size_t const n = std::min(chunks_between_reports, chunks - begin);
    parallel_for(ctx, n, 1,
                 [&](std::size_t i, std::size_t, int thread) { read_chunk(begin + i, thread); });
    ctx.report("read", cuts[begin + n], text.size());
  }
}

dataset parse_lines(context const& ctx, text_lines lines, std::string name,
                    svmlight_options const& options,
                    std::function<void(std::string const&)> const& warn, std::size_t chunk_bytes) {
  check_options(options);
  dataset data;
  data.name = std::move(name);
  std::string_view const bytes = lines.bytes;
  data.text = std::move(lines.text);
  ctx.report("read", 0, bytes.size());
  whole_text whole(query_former(ctx, options, data.name), data, lines.lines_before);
  auto const parse = [rules = rules_of(options)](std::string_view chunk, parsed_documents& out) {
    parse_documents(chunk, rules, out);
  };
  read_chunks(ctx, bytes, cut_at_lines(bytes, chunk_bytes), parse, whole, data);
  expect_unchanged(*data.text, data.name);
  whole.finish(ctx, warn);
  return data;
}

dataset parse_svmlight_chunks(context const& ctx, std::shared_ptr<text_source const> text,
                              std::string name, svmlight_options const& options,
                              std::function<void(std::string const&)> const& warn,
                              std::size_t chunk_bytes) {
  std::string_view bytes = text->bytes();
  remove_byte_order_mark(bytes);
  return parse_lines(ctx, {std::move(text), bytes, 0}, std::move(name), options, warn, chunk_bytes);
}

dataset parse_svmlight(context const& ctx, std::shared_ptr<text_source const> text,
                       std::string name, svmlight_options const& options,
                       std::function<void(std::string const&)> const& warn) {
  return parse_svmlight_chunks(ctx, std::move(text), std::move(name), options, warn,
                               default_chunk_bytes);
}

dataset parse_svmlight(context const& ctx, std::string text, std::string name,
                       svmlight_options const& options) {
  return parse_svmlight(ctx, make_text(std::move(text)), std::move(name), options);
}

dataset read_svmlight(context const& ctx, std::string const& path, svmlight_options const& options,
                      std::function<void(std::string const&)> const& warn) {
  return parse_svmlight(ctx, open_text(ctx, path), display_name(path), options, warn);
}

}  // namespace rulerank::datasets
