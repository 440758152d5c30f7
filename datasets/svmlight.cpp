#include "datasets/svmlight.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/svmlight_assembler.hpp"
#include "datasets/svmlight_lines.hpp"
#include "datasets/svmlight_parser.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>

namespace rulerank::datasets {

namespace {

constexpr std::size_t default_piece_bytes = 1 << 17;
constexpr std::size_t pieces_between_reports = 512;

/// Lets the workers on pieces 0, 1, 2, ... pass one by one, in that order.
class turnstile {
 public:
  /// Waits until all pieces before this one have passed; this one passes when it is destroyed.
  class turn {
   public:
    turn(turnstile& gate, std::size_t piece) : gate_(gate) {
      for (std::size_t now = gate.next_.load(); now != piece; now = gate.next_.load())
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

/// Offsets that cut a text after line ends into pieces of about `bytes`; some may be empty.
std::vector<std::size_t> cut_at_lines(std::string_view text, std::size_t bytes) {
  std::vector<std::size_t> cuts{0};
  for (std::size_t at = bytes; at < text.size(); at += bytes) {
    std::size_t const feed = text.find('\n', std::max(at, cuts.back()) - 1);
    if (feed == text.npos) break;
    cuts.push_back(feed + 1);
  }
  if (cuts.back() != text.size()) cuts.push_back(text.size());
  return cuts;
}

struct byte_counts {
  std::size_t feeds = 0;
  std::size_t colons = 0;
};

/// In blocks that byte-wide counters hold, which compilers turn into vector code.
byte_counts count_bytes(std::string_view text) {
  constexpr std::size_t lanes = 64;
  constexpr std::size_t rounds = 255;
  byte_counts counts;
  while (text.size() >= lanes) {
    std::size_t const n = std::min(text.size() / lanes, rounds);
    std::uint8_t feeds[lanes] = {};
    std::uint8_t colons[lanes] = {};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        char const c = text[i * lanes + lane];
        feeds[lane] = static_cast<std::uint8_t>(feeds[lane] + (c == '\n'));
        colons[lane] = static_cast<std::uint8_t>(colons[lane] + (c == ':'));
      }
    }
    counts.feeds += std::accumulate(feeds, feeds + lanes, std::size_t{0});
    counts.colons += std::accumulate(colons, colons + lanes, std::size_t{0});
    text.remove_prefix(n * lanes);
  }
  counts.feeds += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  counts.colons += static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
  return counts;
}

}  // namespace

void remove_byte_order_mark(std::string_view& text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
}

void check_options(svmlight_options const& options) {
  if (options.unlabelled && *options.unlabelled >= 0)
    throw usage_error("the label that means \"not labelled yet\" must be negative");
}

dataset parse_svmlight_pieces(context const& ctx, std::shared_ptr<text_source const> text,
                              std::string name, svmlight_options const& options,
                              std::function<void(std::string const&)> const& warn,
                              std::size_t piece_bytes) {
  check_options(options);
  dataset data;
  data.name = std::move(name);
  std::string_view bytes = text->bytes();
  data.text = std::move(text);
  remove_byte_order_mark(bytes);
  ctx.report("read", 0, bytes.size());

  std::vector<std::size_t> const cuts = cut_at_lines(bytes, piece_bytes);
  std::size_t const pieces = cuts.size() - 1;
  auto const piece = [&](std::size_t p) { return bytes.substr(cuts[p], cuts[p + 1] - cuts[p]); };

  // Upper bounds: a document needs a line, an entry a colon.
  std::atomic<std::size_t> lines{1};
  std::atomic<std::size_t> colons{0};
  parallel_for(ctx, pieces, 1, [&](std::size_t p, std::size_t, int) {
    byte_counts const counts = count_bytes(piece(p));
    lines += counts.feeds;
    colons += counts.colons;
  });

  svmlight_assembler whole(options, data);
  whole.reserve(lines, colons);
  line_rules const rules{options.zero_based, options.unlabelled};
  std::vector<parsed_lines> parsed(static_cast<std::size_t>(ctx.thread_count()));
  turnstile gate;
  std::atomic<bool> stopped{false};
  auto const read_piece = [&](std::size_t p, int thread) {
    parsed_lines& part = parsed[static_cast<std::size_t>(thread)];
    std::exception_ptr trouble;  // must not keep this piece from its turn
    try {
      if (!stopped) parse_lines(piece(p), rules, part);
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
    std::copy(part.entries.begin(), part.entries.end(),
              data.entries.begin() + static_cast<std::ptrdiff_t>(first_entry));
  };
  for (std::size_t begin = 0; begin < pieces && !stopped; begin += pieces_between_reports) {
    std::size_t const n = std::min(pieces_between_reports, pieces - begin);
    parallel_for(ctx, n, 1,
                 [&](std::size_t i, std::size_t, int thread) { read_piece(begin + i, thread); });
    ctx.report("read", cuts[begin + n], bytes.size());
  }
  whole.finish(ctx, warn);
  return data;
}

dataset parse_svmlight(context const& ctx, std::shared_ptr<text_source const> text,
                       std::string name, svmlight_options const& options,
                       std::function<void(std::string const&)> const& warn) {
  return parse_svmlight_pieces(ctx, std::move(text), std::move(name), options, warn,
                               default_piece_bytes);
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
