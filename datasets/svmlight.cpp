#include "datasets/svmlight.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/group_file.hpp"
#include "datasets/svmlight_lines.hpp"
#include "datasets/svmlight_parser.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

namespace rulerank::datasets {

namespace {

constexpr std::size_t default_piece_bytes = 1 << 17;

/// Lets the workers on pieces 0, 1, 2, ... pass one by one, in that order.
class turnstile {
 public:
  void wait_for(std::size_t piece) const {
    for (std::size_t now = turn_.load(); now != piece; now = turn_.load()) turn_.wait(now);
  }
  void pass() {
    ++turn_;
    turn_.notify_all();
  }

 private:
  std::atomic<std::size_t> turn_{0};
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

/// Puts the pieces of a text together, in their order.
class assembler {
 public:
  assembler(svmlight_options const& options, dataset& data) : options_(options), data_(data) {}

  void reserve(std::size_t documents, std::size_t entries) {
    data_.labels.reserve(documents);
    data_.row.reserve(documents + 1);
    data_.lines.reserve(documents);
    data_.line_numbers.reserve(documents);
    data_.entries.resize(entries);
  }

  bool stopped() const { return fault_.has_value(); }

  /// Appends all of a piece but its entries; answers where in `entries` they belong.
  std::size_t append(parsed_lines const& part) {
    std::size_t const first_document = data_.labels.size();
    std::size_t const first_entry = data_.row.back();
    data_.labels.insert(data_.labels.end(), part.labels.begin(), part.labels.end());
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

  /// Makes the queries, or throws the first fault of the text.
  void finish(context const& ctx, std::function<void(std::string const&)> const& warn) {
    bool const together = number_queries();
    if (fault_)
      throw error({data_.name, fault_->place.line + 1, fault_->place.column},
                  fault_->found_and_expected);
    if (data_.labels.empty()) throw error({data_.name, 0, 0}, no_documents);
    data_.entries.resize(data_.row.back());
    if (runs_.front().qid)
      together ? make_queries() : gather_queries();
    else if (!options_.group_file.empty())
      take_groups(read_group_file(ctx, options_.group_file));
    else
      one_query(warn);
  }

 private:
  void stop(line_place place, std::string found_and_expected) {
    fault_ = {place, std::move(found_and_expected)};
  }

  std::size_t run_end(std::size_t run) const {
    return run + 1 < runs_.size() ? runs_[run + 1].begin : data_.labels.size();
  }

  /// Numbers the queries by their first document. True when each query's lines are together;
  /// otherwise the first that are not are a fault, unless they are to be gathered.
  bool number_queries() {
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

  void make_queries() {
    data_.queries.reserve(runs_.size());
    for (std::size_t run = 0; run < runs_.size(); ++run)
      data_.queries.push_back({std::string(*runs_[run].qid), runs_[run].begin, run_end(run)});
  }

  /// Brings the documents of a query together, queries in the order of their first documents.
  void gather_queries() {
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

  void take_groups(std::vector<group_size> const& sizes) {
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
      throw error({name, sizes.empty() ? 0 : sizes.back().line, 0},
                  fmt::format("the group sizes add up to {} documents, expected the {} of {}",
                              begin, data_.size(), data_.name));
  }

  void one_query(std::function<void(std::string const&)> const& warn) {
    data_.queries.push_back({"1", 0, data_.size()});
    if (warn)
      warn(fmt::format("{}: no line has a qid, so all {} documents are one query", data_.name,
                       data_.size()));
  }

  svmlight_options const& options_;
  dataset& data_;
  std::vector<qid_run> runs_;  // documents and lines counted over the whole text
  std::vector<std::size_t> query_of_run_;
  std::size_t query_count_ = 0;
  std::uint64_t line_count_ = 0;
  std::optional<parsed_lines::fault_place> fault_;
};

}  // namespace

void remove_byte_order_mark(std::string_view& text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
}

std::string qid_not_on_all(std::optional<std::string_view> found) {
  return found ? fmt::format("qid {} found, expected none as on the lines before", quoted(*found))
               : "no qid found, expected qid:<id> as on the lines before";
}

std::string qid_beside_groups(std::string_view found, std::string const& group_file) {
  return fmt::format("qid {} found, expected none since {} gives the queries", quoted(found),
                     display_name(group_file));
}

std::string groups_too_large(std::size_t documents, std::string const& name) {
  return fmt::format("the group sizes add up to more than {} documents, expected as many as {} has",
                     documents, name);
}

std::string query_again(std::string_view qid, std::uint64_t last_line) {
  return fmt::format("query {} occurs again, expected its lines together (they ended on line {})",
                     quoted(qid), last_line);
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

  assembler whole(options, data);
  whole.reserve(lines, colons);
  line_rules const rules{options.zero_based, options.unlabelled};
  std::vector<parsed_lines> parsed(static_cast<std::size_t>(ctx.thread_count()));
  turnstile order;
  parallel_for(ctx, pieces, 1, [&](std::size_t p, std::size_t, int thread) {
    parsed_lines& part = parsed[static_cast<std::size_t>(thread)];
    std::exception_ptr trouble;
    try {
      parse_lines(piece(p), rules, part);
    } catch (...) {
      trouble = std::current_exception();
    }
    order.wait_for(p);
    bool const wanted = !trouble && !whole.stopped();
    std::size_t const first_entry = wanted ? whole.append(part) : 0;
    order.pass();
    if (trouble) std::rethrow_exception(trouble);
    if (wanted)
      std::copy(part.entries.begin(), part.entries.end(),
                data.entries.begin() + static_cast<std::ptrdiff_t>(first_entry));
  });
  whole.finish(ctx, warn);
  ctx.report("read", bytes.size(), bytes.size());
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
