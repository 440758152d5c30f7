#include "datasets/svmlight/read.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/lines.hpp"
#include "datasets/svmlight/whole_text.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t chunks_between_reports = 512;

/// Lets the workers on chunks 0, 1, 2, ... pass one by one, in that order.
class turnstile {
 public:
  /// Waits until all chunks before this one have passed; this one passes when it is destroyed.
  class turn {
   public:
    turn(turnstile& gate, std::size_t chunk) : gate_(gate) {
      for (std::size_t now = gate.next_.load(); now != chunk; now = gate.next_.load())
        gate.next_.wait(now);
    }
    ~turn() {
      ++gate_.next_;
      gate_.next_.notify_all();
    }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;

   private:
    turnstile& gate_;
  };

 private:
  std::atomic<std::size_t> next_{0};
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
  rules.fractional_labels = options.fractional_labels;
  rules.optional_labels = options.optional_labels;
  return rules;
}

void read_chunks(context const& ctx, std::string_view text, std::span<std::size_t const> cuts,
                 chunk_parser const& parser, whole_text& whole, dataset& data) {
  std::size_t const chunks = cuts.size() - 1;
  auto const chunk = [&](std::size_t p) { return text.substr(cuts[p], cuts[p + 1] - cuts[p]); };

  // Upper bounds: a document needs a line, an entry a mark or a line's end.
  std::atomic<std::size_t> lines{1};
  std::atomic<std::size_t> marks{0};
  parallel_for(ctx, chunks, 1, [&](std::size_t p, std::size_t, int) {
    byte_counts const counts = count_bytes(chunk(p), parser.mark);
    lines += counts.feeds;
    marks += counts.marks;
  });
  whole.reserve(lines, lines + marks);

  std::vector<parsed_documents> parsed(static_cast<std::size_t>(ctx.thread_count()));
  turnstile gate;
  std::atomic<bool> stopped{false};
  auto const read_chunk = [&](std::size_t p, int thread) {
    parsed_documents& part = parsed[static_cast<std::size_t>(thread)];
    std::exception_ptr trouble;  // must not keep this chunk from its turn
    try {
      if (!stopped) parser.parse(chunk(p), part);
    } catch (...) {
      trouble = std::current_exception();
    }
    std::size_t first_entry = 0;
    {
      turnstile::turn const turn(gate, p);
      if (trouble) std::rethrow_exception(trouble);
      if (stopped) return;
      first_entry = whole.append(part);
      stopped = whole.stopped();
    }
    if (!part.numbers.empty())
      for (feature_value& entry : part.entries) entry.feature = part.numbers[entry.feature];
    if (part.entries.size() > data.entries.size() - std::min(first_entry, data.entries.size()))
      throw error({data.name, 0, 0}, "was changed while it was read: found more than was counted");
    std::copy(part.entries.begin(), part.entries.end(),
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
  chunk_parser const parser{
      [rules = rules_of(options)](std::string_view chunk, parsed_documents& out) {
        parse_documents(chunk, rules, out);
      },
      ':'};
  read_chunks(ctx, bytes, cut_at_lines(bytes, chunk_bytes), parser, whole, data);
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
