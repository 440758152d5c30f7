#include "datasets/dataset.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/delimited/layout.hpp"
#include "datasets/delimited/read.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight/documents.hpp"
#include "datasets/svmlight/read.hpp"
#include "datasets/testing.hpp"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rulerank::inline v0::datasets::dataset_test {
namespace {

using rulerank::testing_tools::says;
using namespace std::chrono_literals;
using testing_tools::gzip;
using testing_tools::message_of;
using testing_tools::zstd;

std::string read_all(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string drawn_letor(std::size_t lines) {
  random_engine engine(3);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += fmt::format("{} qid:{}", uniform_below(engine, 3), i / 7);
    for (int f = 1; f <= 20; ++f) text += fmt::format(" {}:{:.6f}", f, uniform_unit(engine));
    text += fmt::format(" #docid = D{}\n", i);
  }
  return text;
}

dataset parse(std::string text) {
  return parse_svmlight(context(), std::move(text), "f");
}

TEST(dataset, comment_and_docid) {
  dataset const data = parse(
      "1 qid:a 1:1 #docid = D-1 inc = 1\n1 qid:a 1:1 # docid=D2\n1 qid:a # #docid =\tD3 x\n"
      "1 qid:a # nodocid = 4\n1 qid:a # docid D5\n1 qid:a #docid = \n1 qid:a #\n1 qid:a\n"
      "1 qid:b # docidx docid = D9\n");
  std::vector<std::string> docids;
  for (std::size_t d = 0; d < data.size(); ++d) docids.push_back(data.docid(d));
  EXPECT_EQ(docids,
            (std::vector<std::string>{"D-1", "D2", "D3", "a-4", "a-5", "a-6", "a-7", "a-8", "D9"}));
  EXPECT_EQ(data.comment(2), "#docid =\tD3 x");
  EXPECT_EQ(data.ids[1], "D2");
  EXPECT_EQ(data.ids[3], "");
  EXPECT_TRUE(parse("1 qid:a # c\n").ids.empty());
  EXPECT_TRUE(parse("1 qid:a\n").comments.empty());
  EXPECT_EQ(data.comment(6), "");
  EXPECT_EQ(data.comment(7), "");
}

TEST(dataset, drawn_sets_have_no_lines) {
  dataset data;
  data.labels = {0, 1};
  data.row = {0, 0, 1};
  data.entries = {{3, 0.5}};
  data.queries = {{"q", 0, 2}};
  EXPECT_EQ(data.comment(1), "");
  EXPECT_EQ(data.docid(1), "q-2");
  EXPECT_EQ(data.max_label(), 1);
  EXPECT_EQ(dataset().max_label(), 0);
  std::size_t const second = 1;
  dataset const part = subset(data, {&second, 1});
  EXPECT_EQ(part.size(), 1U);
  EXPECT_TRUE(part.lines.empty());
}

TEST(dataset, listed_features_are_distinct_and_ascending) {
  EXPECT_EQ(listed_features(parse("1 qid:1 9:1 70000:1\n1 qid:1 2:0 9:0 2147483647:1 65536:2\n")),
            (std::vector<std::uint32_t>{2, 9, 65536, 70000, 2147483647}));
  EXPECT_TRUE(listed_features(parse("1 qid:1\n")).empty());
}

TEST(dataset, subset_keeps_order_and_drops_empty_groups) {
  dataset const data =
      parse("0 qid:a 1:1\n1 qid:a 1:2 2:3\n2 qid:b 1:4\n3 qid:c\n4 qid:c 7:5 #docid = X\n");
  std::vector<std::size_t> const chosen{1, 3, 4};
  dataset const part = subset(data, chosen);
  EXPECT_EQ(part.labels, (std::vector<std::int32_t>{1, 3, 4}));
  ASSERT_EQ(part.queries.size(), 2U);
  EXPECT_EQ(part.queries[0].qid, "a");
  EXPECT_EQ(part.queries[0].end, 1U);
  EXPECT_EQ(part.queries[1].qid, "c");
  EXPECT_EQ(part.queries[1].begin, 1U);
  EXPECT_EQ(part.queries[1].end, 3U);
  EXPECT_EQ(part.document(0)[1].value, 3);
  EXPECT_EQ(part.document(1).size(), 0U);
  EXPECT_EQ(part.docid(2), "X");
  EXPECT_EQ(part.comments, (std::vector<std::string_view>{"", "", "docid = X"}));
  EXPECT_EQ(part.ids, (std::vector<std::string_view>{"", "", "X"}));
  EXPECT_EQ(part.line_numbers, (std::vector<std::uint64_t>{2, 4, 5}));
  EXPECT_EQ(subset(data, {}).size(), 0U);
  dataset const turned = subset(data, std::vector<std::size_t>{3, 4, 0});
  EXPECT_EQ(turned.labels, (std::vector<std::int32_t>{3, 4, 0}));
  EXPECT_EQ(turned.queries[1].qid, "a");
  EXPECT_EQ(turned.queries[1].begin, 2U);
  EXPECT_EQ(turned.document(1)[0].value, 5);
  EXPECT_THROW(subset(data, std::vector<std::size_t>{1, 1}), usage_error);
  EXPECT_THROW(subset(data, std::vector<std::size_t>{1, 0}), usage_error);
  EXPECT_THROW(subset(data, std::vector<std::size_t>{0, 2, 1}), usage_error);
  EXPECT_THROW(subset(data, std::vector<std::size_t>{5}), usage_error);
}

TEST(dataset, entries_grow_like_any_vector) {
  entry_list entries;
  for (std::uint32_t i = 0; i < 300000; ++i) entries.push_back({i, i * 0.5});
  entries.resize(400000);
  entry_list const copy = entries;
  for (std::uint32_t i = 0; i < 300000; ++i) ASSERT_EQ(copy[i].value, i * 0.5);
}

// Text sources.

TEST(text_source, told_by_their_first_bytes) {
  testing_tools::temporary_folder const folder;
  std::string const text = drawn_letor(3000);
  std::string const half = text.substr(0, text.size() / 2);
  std::string const rest = text.substr(text.size() / 2);
  std::string const skippable("\x50\x2a\x4d\x18\x04\x00\x00\x00skip", 12);
  struct {
    char const* name;
    std::string bytes;
  } const files[] = {{"plain.gz", text},
                     {"a.txt", gzip(text)},
                     {"members.gz", gzip(half) + gzip("") + gzip(rest)},
                     {"padded.gz", gzip(text) + std::string(1000, '\0')},
                     {"b.txt", zstd(text)},
                     {"frames.zst", zstd(half) + zstd(rest)},
                     {"skippable.zst", skippable + zstd(text)}};
  for (auto const& file : files) {
    write_file(folder / file.name, file.bytes);
    EXPECT_EQ(open_text(context(), folder / file.name)->bytes(), text) << file.name;
    dataset const data = read_svmlight(context(), folder / file.name);
    EXPECT_EQ(data.size(), 3000U) << file.name;
  }
  write_file(folder / "empty", "");
  EXPECT_EQ(open_text(context(), folder / "empty")->bytes(), "");
  write_file(folder / "empty.gz", gzip(""));
  EXPECT_EQ(open_text(context(), folder / "empty.gz")->bytes(), "");
}

TEST(text_source, damaged_archives_are_named_with_the_place_reached) {
  testing_tools::temporary_folder const folder;
  std::string const text = drawn_letor(3000);
  auto const said = [&](std::string const& bytes) {
    write_file(folder / "f", bytes);
    return message_of([&] { read_svmlight(context(), folder / "f"); });
  };
  auto const place_of = [](std::string const& message) {  // line and column
    std::istringstream in(message.substr(message.rfind("/f:") + 3));
    std::pair<std::uint64_t, std::uint64_t> place;
    char colon = 0;
    in >> place.first >> colon >> place.second;
    return place;
  };
  auto const has = [](std::string const& message, char const* part) {
    return message.find(part) != std::string::npos;
  };
  for (auto const& archive : {gzip(text), zstd(text)}) {
    std::uint64_t last = 0;
    for (std::size_t const size : {archive.size() / 4, archive.size() / 2, archive.size() - 1}) {
      std::string const message = said(archive.substr(0, size));
      EXPECT_TRUE(has(message, "archive ends too early, expected the rest")) << message;
      EXPECT_GE(place_of(message).first, std::max<std::uint64_t>(last, 1)) << message;
      EXPECT_GE(place_of(message).second, 1U) << message;
      last = place_of(message).first;
    }
    EXPECT_GT(last, 1500U);
    for (std::size_t const size : {5, 10})
      EXPECT_TRUE(has(said(archive.substr(0, size)), "f:1:1: the "))
          << said(archive.substr(0, size));
    std::string damaged = archive;
    for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 20; ++i) damaged[i] ^= 0x5a;
    EXPECT_TRUE(has(said(damaged), "is damaged")) << said(damaged);
    std::string wrong_sum = archive;
    wrong_sum[wrong_sum.size() - 6] ^= 1;
    if (archive[0] == '\x1f') {
      EXPECT_TRUE(has(said(wrong_sum), "f:3001:1: the gzip archive is damaged"));
    }
    EXPECT_FALSE(has(said(archive + "rubbish"), "OK")) << said(archive + "rubbish");
  }
  EXPECT_TRUE(
      has(said(gzip(text).substr(0, gzip(text).size() - 3)), "f:3001:1: the gzip archive ends"));
  EXPECT_TRUE(has(said(std::string("\x1f\x8b", 2)), "f:1:1: the gzip archive ends too early"));
  EXPECT_TRUE(has(said(gzip(text) + std::string(4, '\0') + "x"),
                  "found data after the gzip archive that is not gzip"));
}

TEST(text_source, files_that_change_before_their_end_are_named) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "streamed";
  std::string const text(std::size_t{1} << 20, 'a');
  for (bool const grows : {true, false}) {
    write_file(path, text);
    text_stream stream = text_stream::open({}, path);
    EXPECT_FALSE(stream.next().empty());
    std::filesystem::resize_file(path, grows ? text.size() + 1 : text.size() / 2);
    EXPECT_EQ(message_of([&] {
                while (!stream.next().empty()) continue;
              }),
              path + ": was changed while it was read, expected the same file to the end");
  }
}

TEST(text_source, a_copied_file_may_be_cut) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "f";
  std::string const text = drawn_letor(3000);
  write_file(path, text);
  context copies;
  copies.map_files = false;
  auto const copied = open_text(copies, path);
  std::filesystem::resize_file(path, 0);  // a mapping would raise SIGBUS
  EXPECT_EQ(copied->bytes(), text);
}

TEST(text_source, what_cannot_be_read) {
  testing_tools::temporary_folder const folder;
  EXPECT_EQ(message_of([&] { open_text(context(), folder / "absent"); }),
            folder / "absent" + ": cannot be read: No such file or directory");
  EXPECT_EQ(message_of([&] { open_text(context(), folder.path().string()); }),
            folder.path().string() + ": is a folder, expected a file");
}

// Streams.

/// A pipe whose read end is read by stream_svmlight in a separate thread.
class streamed {
 public:
  explicit streamed(svmlight_options options = {}) : options_(std::move(options)) {
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    thread_ = std::thread([this] {
      context ctx;
      ctx.stop = stop_.get_token();
      said_ = message_of([&] {
        try {
          stream_svmlight(ctx, ends_[0], "s", options_, [this](dataset const& data) {
            std::lock_guard const lock(mutex_);
            answers_.push_back(data);
            changed_.notify_all();
          });
        } catch (interrupted const&) {
          was_interrupted_ = true;
        }
      });
    });
  }
  ~streamed() {
    if (thread_.joinable()) finish();
    ::close(ends_[0]);
  }
  void write(std::string const& text) {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// Waits until n queries were answered; returns false after ten minutes.
  bool answered(std::size_t n) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10min, [&] { return answers_.size() >= n; });
  }
  std::vector<dataset> const& finish() {
    ::close(ends_[1]);
    thread_.join();
    return answers_;
  }
  void stop() {
    stop_.request_stop();
    thread_.join();
    ::close(ends_[1]);
  }
  std::string const& said() const { return said_; }
  bool was_interrupted() const { return was_interrupted_; }

 private:
  svmlight_options options_;
  int ends_[2] = {-1, -1};
  std::stop_source stop_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<dataset> answers_;
  std::string said_;
  bool was_interrupted_ = false;
};

TEST(stream, answers_a_query_with_the_first_line_of_the_next) {
  streamed stream;
  stream.write("# head\n1 qid:a 1:1 #docid = X\r\n0 qid:a 2:");
  stream.write("2 1:7\n1 qid:b");
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(stream.said().starts_with("s"));
  stream.write(" 1:1\n");
  ASSERT_TRUE(stream.answered(1));
  stream.write("2 qid:c 3:NULL");
  auto const& answers = stream.finish();
  EXPECT_EQ(stream.said(), "OK");
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].queries[0].qid, "a");
  EXPECT_EQ(answers[0].queries[0].end, 2U);
  EXPECT_EQ(answers[0].labels, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(answers[0].document(1)[0].value, 7);
  EXPECT_EQ(answers[0].lines[1], "0 qid:a 2:2 1:7");
  EXPECT_EQ(answers[0].docid(0), "X");
  EXPECT_EQ(answers[0].docid(1), "a-3");
  EXPECT_EQ(answers[1].queries[0].qid, "b");
  EXPECT_EQ(answers[1].size(), 1U);
  EXPECT_TRUE(std::isnan(answers[2].document(0)[0].value));
  EXPECT_EQ(answers[2].line_numbers, (std::vector<std::uint64_t>{5}));
}

TEST(stream, answers_a_query_at_the_blank_line_behind_it) {
  streamed stream;
  stream.write("\n1 qid:a 1:1\n0 qid:a 1:2\n\n");
  ASSERT_TRUE(stream.answered(1));
  stream.write("\n# c\n\n0 qid:b 1:1\n \t\r\n");
  ASSERT_TRUE(stream.answered(2));
  stream.write("2 qid:c 1:1\n# no blank line\n1 qid:c 1:3\n  ");
  auto const& answers = stream.finish();
  EXPECT_EQ(stream.said(), "OK");
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].line_numbers, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(answers[1].line_numbers, (std::vector<std::uint64_t>{8}));
  EXPECT_EQ(answers[2].line_numbers, (std::vector<std::uint64_t>{10, 12}));
}

TEST(stream, blank_lines_end_nothing_without_qids) {
  testing_tools::temporary_folder const folder;
  svmlight_options groups;
  groups.group_file = folder / "g";
  write_file(groups.group_file, "2\n");
  for (svmlight_options const& options : {svmlight_options(), groups}) {
    streamed stream(options);
    stream.write("1 1:1\n\n0 1:2\n\n");
    auto const& answers = stream.finish();
    EXPECT_EQ(stream.said(), "OK");
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].size(), 2U);
  }
}

/// The results of a stream: each query as `qid: lines`, and the error.
struct outcome {
  std::vector<std::string> queries;
  std::string said = "OK";
};

/// Computes the expected result by the rules of `stream_dataset`, line by line: the qid of each
/// line, or "" for an empty line, "#" for a comment and "x" for a faulty one.
outcome expected_of(std::vector<std::string> const& lines, std::size_t first_line) {
  outcome expected;
  std::vector<std::size_t> query;
  std::string now;
  std::set<std::string> seen;
  std::size_t blank = 0;
  auto const end_query = [&] {
    if (!query.empty())
      expected.queries.push_back(fmt::format("{}: {}", now, fmt::join(query, " ")));
    query.clear();
  };
  for (std::size_t line = first_line; std::string const& kind : lines) {
    if (kind == "x") {
      expected.said = fmt::format("s:{}:1: label", line);
      return expected;
    }
    if (kind.empty()) {
      end_query();
      if (blank == 0) blank = line;
    } else if (kind != "#") {
      if (kind != now) end_query();
      if (kind == now ? blank != 0 : seen.contains(kind)) {
        expected.said = fmt::format("s:{}:3: found {}query \"{}\"{}", line,
                                    kind == now ? "more lines of " : "", kind,
                                    kind == now ? fmt::format(", expected its lines together "
                                                              "(the blank line {} ended it)",
                                                              blank)
                                                : " again");
        return expected;
      }
      now = kind;
      seen.insert(kind);
      blank = 0;
      query.push_back(line);
    }
    if (kind.empty() && now.empty()) blank = 0;
    ++line;
  }
  if (seen.empty()) expected.said = "s:1:1: found no documents";
  end_query();
  return expected;
}

/// Passes whole lines through the collector in chunks of `cut()` lines.
outcome collected(std::vector<std::string> const& lines, bool delimited,
                  std::function<std::size_t()> const& cut) {
  outcome result;
  std::function<void(dataset const&)> const take = [&](dataset const& query) {
    result.queries.push_back(
        fmt::format("{}: {}", query.queries[0].qid, fmt::join(query.line_numbers, " ")));
  };
  result.said = message_of([&] {
    query_collector queries({}, "s", {}, take);
    if (delimited) {
      auto const layout = read_layout("label,qid\n", ',', "s", {});
      queries.begin(parser_of(layout, {}), layout_form(layout), layout.feeds);
    } else {
      queries.begin([](std::string_view text,
                       parsed_documents& out) { parse_documents(text, rules_of({}), out); },
                    {}, 0);
    }
    for (std::size_t at = 0; at < lines.size();) {
      std::string chunk;
      for (std::size_t end = std::min(lines.size(), at + cut()); at < end; ++at) chunk += lines[at];
      queries.take(chunk);
    }
    queries.finish({});
  });
  return result;
}

TEST(stream, blank_lines_mean_the_same_however_the_text_is_cut) {
  random_engine engine(5);
  auto const below = [&](std::uint64_t n) { return uniform_below(engine, n); };
  std::map<std::string, int> ends;
  for (int round = 0; round < 2000; ++round) {
    bool const delimited = round % 2 == 1;
    std::vector<std::string> kinds, lines;
    std::uint64_t qid = 1;
    for (std::uint64_t n = below(20); n > 0; --n) {
      auto const what = below(40);
      if (what == 0) {
        kinds.emplace_back("x");
      } else if (what < 10) {
        kinds.emplace_back();
        if (below(4) != 0) ++qid;
      } else if (what < 14 && !delimited) {
        kinds.emplace_back("#");
      } else {
        if (what < 20) ++qid;
        kinds.push_back(std::to_string(what == 39 ? 1 + below(qid) : qid));
      }
    }
    // Long lines are read by another reader than short lines and the last line of the text.
    std::string const tail(below(2) * 100, ' ');
    for (std::string const& kind : kinds) {
      bool const is_document = kind != "x" && kind != "#" && !kind.empty();
      std::string const form = delimited ? "{},{}" : "{} qid:{} 1:5";
      lines.push_back(kind == "#"   ? "# c"
                      : kind == "x" ? fmt::format(fmt::runtime(form), "x", 1)
                      : is_document ? fmt::format(fmt::runtime(form), 1, kind)
                                    : "");
      lines.back() += tail + (below(3) == 0 ? "\r\n" : "\n");
    }
    outcome const expected = expected_of(kinds, delimited ? 2 : 1);
    for (std::size_t const size : {1, 2, 3, 20}) {
      outcome got = collected(lines, delimited, [&] { return 1 + below(size); });
      EXPECT_EQ(got.said.substr(0, expected.said.size()), expected.said);
      EXPECT_EQ(got.queries, expected.queries);
    }
    std::string const& said = expected.said;
    ++ends[said.find("more lines") != said.npos ? "more lines" : said.substr(0, 2)];
  }
  EXPECT_GT(ends["more lines"], 100);
  EXPECT_GT(ends["OK"], 100);
}

TEST(stream, says_what_is_wrong_after_the_queries_before_it) {
  struct {
    char const* text;
    std::size_t answers;
    char const* expected;
  } const cases[] = {
      {"", 0, "s:1:1: found no documents"},
      {"# c\n\n", 0, "s:1:1: found no documents"},
      {"1 qid:1 1:1\n0 qid:2 1:1 1:2\n", 1, "s:2:13: found feature 1 twice"},
      {"1 qid:1\n1 qid:2\n1 qid:3\n1 qid:2\n", 3,
       "s:4:3: found query \"2\" again, expected its lines together (they ended on line 2); "
       "--regroup gathers them"},
      {"1 qid:1\n\n1 qid:1\n", 1,
       "s:3:3: found more lines of query \"1\", expected its lines together (the blank line 2 "
       "ended it)"},
      {"1 qid:1\n\n\n# c\n\n1 qid:1\n", 1,
       "s:6:3: found more lines of query \"1\", expected its lines together (the blank line 2 "
       "ended it)"},
      {"1 qid:1\n\n1 qid:2\n\n1 qid:1\n", 2,
       "s:5:3: found query \"1\" again, expected its lines together (they ended on line 1); "
       "--regroup gathers them"},
      {"1 qid:1\n\nx qid:1\n", 1, "s:3:1: label \"x\""},
      {"1 qid:1 1:1\n0 1:1\n", 0, "s:2:3: found no qid"},
      {"1 1:1\n0 qid:1 1:1\n", 0, "s:2:3: found qid \"1\", expected none"},
      {"1 qid:1\n-1 qid:1", 0, "s:2:1: label \"-1\" is negative"},
  };
  for (auto const& one : cases) {
    streamed stream;
    stream.write(one.text);
    EXPECT_EQ(stream.finish().size(), one.answers) << one.text;
    EXPECT_EQ(stream.said().substr(0, std::string(one.expected).size()), one.expected);
  }
}

TEST(stream, gives_the_same_as_the_file_reader) {
  std::string const text = drawn_letor(500);
  dataset const whole = parse(text);
  for (std::string const& bytes : {text, gzip(text), zstd(text)}) {
    streamed stream;
    for (std::size_t at = 0; at < bytes.size(); at += 777) stream.write(bytes.substr(at, 777));
    auto const& answers = stream.finish();
    EXPECT_EQ(stream.said(), "OK");
    ASSERT_EQ(answers.size(), whole.queries.size());
    for (std::size_t q = 0; q < answers.size(); ++q) {
      query_group const& group = whole.queries[q];
      ASSERT_EQ(answers[q].size(), group.size());
      EXPECT_EQ(answers[q].queries[0].qid, group.qid);
      for (std::size_t i = 0; i < group.size(); ++i) {
        EXPECT_EQ(answers[q].labels[i], whole.labels[group.begin + i]);
        EXPECT_EQ(answers[q].lines[i], whole.lines[group.begin + i]);
        EXPECT_EQ(answers[q].comment(i), whole.comment(group.begin + i));
        EXPECT_EQ(answers[q].docid(i), whole.docid(group.begin + i));
        EXPECT_EQ(answers[q].line_numbers[i], whole.line_numbers[group.begin + i]);
        ASSERT_EQ(answers[q].document(i).size(), whole.document(group.begin + i).size());
        for (std::size_t e = 0; e < answers[q].document(i).size(); ++e)
          EXPECT_EQ(answers[q].document(i)[e].value, whole.document(group.begin + i)[e].value);
      }
    }
  }
}

TEST(stream, group_sizes_answer_at_once) {
  testing_tools::temporary_folder const folder;
  svmlight_options options;
  options.group_file = folder / "g";
  write_file(options.group_file, "2\n1\n");
  {
    streamed stream(options);
    stream.write("1 1:1\n0 1:1\n");
    EXPECT_TRUE(stream.answered(1));
    stream.write("2 1:1\n");
    auto const& answers = stream.finish();
    EXPECT_EQ(stream.said(), "OK");
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[1].queries[0].qid, "2");
  }
  for (auto const& [text, expected] :
       {std::pair{"1 1:1\n0 1:1\n", ":2:1: the group sizes add up to more than 2 documents"},
        std::pair{"1 1:1\n", ":1:1: the group sizes add up to more than 1 document"},
        std::pair{"1\n1\n1\n1\n", ":2:1: the group sizes add up to 3 documents"}}) {
    streamed stream(options);
    stream.write(text);
    stream.finish();
    EXPECT_EQ(stream.said().find(options.group_file + expected), 0U) << stream.said();
  }
}

TEST(stream, stops_on_request) {
  streamed stream;
  stream.write("1 qid:1 1:1\n");
  stream.stop();
  EXPECT_TRUE(stream.was_interrupted());
}

TEST(stream, cannot_regroup) {
  svmlight_options options;
  options.regroup = true;
  EXPECT_THROW(stream_svmlight(context(), 0, "s", options, [](dataset const&) {}), usage_error);
}

// Writers.

TEST(write_svmlight, is_read_back_as_it_was) {
  testing_tools::temporary_folder const folder;
  svmlight_options options;
  options.unlabelled = -1;
  dataset const data =
      parse_svmlight(context(),
                     "2 qid:a 7:0.1 2:NULL 3:-1e-310 #docid = X inc = 1\n-1 qid:a # c\n"
                     "0 qid:b 1:1e300 2:0.30000000000000004 3:-0 4:123456789012\n",
                     "f", options);
  {
    output_file out(folder / "w");
    write_svmlight(data, out);
    out.commit();
  }
  EXPECT_EQ(read_all(folder / "w"),
            "2 qid:a 2:NaN 3:-1e-310 7:0.1 #docid = X inc = 1\n-1 qid:a #c\n"
            "0 qid:b 1:1e+300 2:0.30000000000000004 3:-0 4:123456789012\n");
  dataset const again = read_svmlight(context(), folder / "w", options);
  ASSERT_EQ(again.entries.size(), data.entries.size());
  EXPECT_EQ(again.labels, data.labels);
  for (std::size_t i = 0; i < data.entries.size(); ++i) {
    EXPECT_EQ(again.entries[i].feature, data.entries[i].feature);
    if (!std::isnan(data.entries[i].value)) {
      EXPECT_EQ(again.entries[i].value, data.entries[i].value);
    }
  }
}

TEST(write_lines, is_verbatim) {
  testing_tools::temporary_folder const folder;
  dataset const data = parse("1 qid:1  1:0.50 #x\r\n\n0 qid:1 \t2:1\n2 qid:2 3:1");
  {
    output_file out(folder / "w");
    write_lines(data, std::vector<std::size_t>{0, 2}, out);
    out.commit();
  }
  EXPECT_EQ(read_all(folder / "w"), "1 qid:1  1:0.50 #x\n2 qid:2 3:1\n");
  output_file out(folder / "w");
  EXPECT_THROW(write_lines(data, std::vector<std::size_t>{3}, out), usage_error);
}

TEST(write_lines, keeps_the_order_of_the_file) {
  testing_tools::temporary_folder const folder;
  write_file(folder / "r", "1 qid:a 1:1\n0 qid:b 1:2\n2 qid:a 1:3\n");
  svmlight_options options;
  options.regroup = true;
  dataset const data = read_svmlight(context{}, folder / "r", options);
  output_file out(folder / "w");
  write_lines(data, std::vector<std::size_t>{0, 1, 2}, out);
  out.commit();
  EXPECT_EQ(read_all(folder / "w"), read_all(folder / "r"));
  // Also for a part: documents 1 and 2 are the third line and the second.
  output_file part(folder / "p");
  write_lines(subset(data, std::vector<std::size_t>{1, 2}), std::vector<std::size_t>{0, 1}, part);
  part.commit();
  EXPECT_EQ(read_all(folder / "p"), "0 qid:b 1:2\n2 qid:a 1:3\n");
}

TEST(write_lines, counts_documents_where_lines_have_no_numbers) {
  testing_tools::temporary_folder const folder;
  dataset data = parse("1 qid:1 1:1\n0 qid:1 1:2\n");
  data.line_numbers.clear();
  output_file out(folder / "w");
  write_lines(data, std::vector<std::size_t>{1, 0}, out);
  out.commit();
  EXPECT_EQ(read_all(folder / "w"), "1 qid:1 1:1\n0 qid:1 1:2\n");
}

TEST(labelled_by_sample, finds_documents_by_query_and_values) {
  context const ctx;
  auto const pool = parse_svmlight(
      ctx, "0 qid:1 1:1 2:NULL\n1 qid:1 1:2\n0 qid:2 1:1 2:NULL\n2 qid:2 1:3\n2 qid:2 1:3\n",
      "pool");
  auto const sample =
      parse_svmlight(ctx, "2 qid:2 1:3\n1 qid:2 1:1 2:NULL\n0 qid:2 1:3\n", "sample");
  auto const found = labelled_by_sample(pool, sample);
  // The first of two equal documents has the first label.
  EXPECT_EQ(found.labels, (std::vector<std::int32_t>{-1, -1, 1, 2, 0}));
  EXPECT_EQ(labelled_documents(found, "learn from"), (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(found.entries.size(), pool.entries.size());
  for (auto const& [text, words] : {std::pair{"1 qid:1 1:2\n0 qid:1 1:3\n", "other:2:1: "},
                                    {"1 qid:3 1:2\n", "other:1:1: "},
                                    {"1 qid:1 1:2\n1 qid:1 1:2\n", "other:2:1: "}}) {
    std::string const message = message_of(
        [&, &lines = text] { labelled_by_sample(pool, parse_svmlight(ctx, lines, "other")); });
    EXPECT_TRUE(message.starts_with(words)) << message;
    EXPECT_PRED2(says, message, "...not in pool...");
  }
}

}  // namespace
}  // namespace rulerank::datasets::dataset_test
