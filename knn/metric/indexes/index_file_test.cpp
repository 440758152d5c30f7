#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/section_file.hpp"
#include "core/testing.hpp"
#include "datasets/input/text_source.hpp"
#include "knn/metric/search.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::metric_index_file_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::temporary_folder;

std::vector<std::string> some_words(std::size_t count) {
  std::vector<std::string> words{"", "a\xc3\xb1o", std::string("nul\0byte", 8)};
  for (std::size_t i = words.size(); i < count; ++i)
    words.push_back(std::to_string(i * i * 7919) + std::string(i % 5, 'x'));
  words.resize(count);
  return words;
}
datasets::vectors some_vectors(std::size_t rows) {
  std::vector<float> values(rows * 3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i * i * 31 % 97) * .1F;
  return {std::move(values), 3};
}

/// Returns the message of the error when opening the index, or "OK".
std::string told_by(std::string const& path) {
  context ctx;
  ctx.threads = 1;  // many small files are opened
  return message_of([&] { metric_index::open(ctx, path); });
}
std::string written(temporary_folder const& folder, std::string const& bytes) {
  std::ofstream(folder / "other", std::ios::binary) << bytes;
  return folder / "other";
}

void expect_same(metric_index const& a, metric_queries const& of_a, metric_index const& b,
                 metric_queries const& of_b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(a.type(), b.type());
  EXPECT_EQ(a.options().bucket, b.options().bucket);
  if (has_alpha(a.type())) {
    EXPECT_EQ(a.options().alpha, b.options().alpha);
  }
  metric_work work_a;
  metric_work work_b;
  auto const near_a = a.search({}, of_a, 5, &work_a);
  auto const near_b = b.search({}, of_b, 5, &work_b);
  EXPECT_EQ(near_a.id, near_b.id);
  EXPECT_EQ(near_a.value, near_b.value);
  EXPECT_EQ(work_a.evaluations, work_b.evaluations);
  EXPECT_EQ(a.search_range({}, of_a, 3).row, b.search_range({}, of_b, 3).row);
}

TEST(metric_index_file, what_is_opened_finds_what_was_saved) {
  temporary_folder const folder;
  for (auto const& entry : metric_index_types())
    for (std::size_t const objects : {0, 1, 3, 250}) {
      auto const words = std::make_shared<word_space>(
          some_words(objects), objects == 3 ? letters::bytes : letters::code_points);
      metric_index const of_words({}, words, {entry.which, 4, .3});
      of_words.save({}, folder / "words");
      auto const opened = metric_index::open({}, folder / "words");
      ASSERT_TRUE(opened.words && !opened.vectors);
      EXPECT_EQ(opened.words->words(), words->words());
      EXPECT_EQ(opened.words->unit(), words->unit());
      std::vector<std::string> const asked{"", "9x", "a\xc3\xb1"};
      expect_same(of_words, *words->queries(asked), opened.index, *opened.words->queries(asked));
      if (objects == 0) continue;
      for (metric_distance const which : {metric_distance::l1, metric_distance::angular}) {
        auto const vectors =
            std::make_shared<vector_space>(context{}, some_vectors(objects), which);
        metric_index const of_vectors({}, vectors, {entry.which, 4});
        of_vectors.save({}, folder / "vectors");
        auto const again = metric_index::open({}, folder / "vectors");
        ASSERT_TRUE(again.vectors && !again.words);
        EXPECT_EQ(again.vectors->which(), which);
        auto const queries = some_vectors(9);
        expect_same(of_vectors, *vectors->queries({}, queries), again.index,
                    *again.vectors->queries({}, queries));
      }
    }
}

TEST(metric_index_file, what_was_taken_in_and_out_is_kept) {
  temporary_folder const folder;
  auto const space = std::make_shared<word_space>(some_words(200));
  for (metric_index_type const type : {metric_index_type::egnat, metric_index_type::m_tree}) {
    metric_index index({}, space, {type, 4}, 150);
    for (std::uint32_t i = 150; i < 180; ++i) index.insert(i);
    if (type == metric_index_type::egnat)
      for (std::uint32_t i = 0; i < 120; i += 2) index.erase(i);
    index.save({}, folder / "index");
    auto opened = metric_index::open({}, folder / "index");
    auto const asked = some_words(7);
    expect_same(index, *space->queries(asked), opened.index, *opened.words->queries(asked));
    EXPECT_THROW(opened.index.insert(1), usage_error);
    for (std::uint32_t i = 180; i < 200; ++i) {
      index.insert(i);
      opened.index.insert(i);
    }
    expect_same(index, *space->queries(asked), opened.index, *opened.words->queries(asked));
  }
}

TEST(metric_index_file, any_byte_that_is_changed_or_cut_off_is_told) {
  temporary_folder const folder;
  auto const space = std::make_shared<word_space>(some_words(12));
  metric_index({}, space, {metric_index_type::mvpt, 2}).save({}, folder / "index");
  std::string const good = datasets::read_file(folder / "index", "an index");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    EXPECT_NE(told_by(written(folder, bytes)), "OK") << at;
  }
  for (std::size_t const size : {std::size_t{0}, std::size_t{63}, good.size() / 2, good.size() - 1})
    EXPECT_NE(told_by(written(folder, good.substr(0, size))), "OK") << size;
  EXPECT_NE(told_by(written(folder, good + ' ')), "OK");
}

struct parts {
  std::span<std::byte> objects;
  std::span<std::uint64_t> begins;
  std::span<std::uint32_t> numbers;
  std::span<double> distances;
};

template <class T>
std::span<T> as(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Returns an index file with correct checksums after `change`.
std::string forged(std::string const& good,
                   std::function<void(parts const&, nlohmann::ordered_json&)> const& change) {
  static constexpr std::array<std::string_view, 4> names{"objects", "begins", "numbers",
                                                         "distances"};
  static constexpr section_kind kind{"rulerank metric index", 3, "a test", names};
  std::string bytes = good;
  std::span<std::byte> const all{reinterpret_cast<std::byte*>(bytes.data()), bytes.size()};
  auto const read = check_section_file({}, std::span(&kind, 1), all, "good");
  std::array<std::size_t, 4> sizes{};
  for (std::size_t s = 0; s < 4; ++s) sizes[s] = read.sections[s].size();
  section_layout const layout(sizes);
  nlohmann::ordered_json what = nlohmann::ordered_json::object();
  for (auto const& [key, one] : read.header.items())
    if (key != "sections") what[key] = one;
  change({layout.of(all, 0), as<std::uint64_t>(layout.of(all, 1)),
          as<std::uint32_t>(layout.of(all, 2)), as<double>(layout.of(all, 3))},
         what);
  std::string header = section_header({}, kind, layout, all, what);
  header.resize(bytes.size() - layout.end(), ' ');
  finish_section_file(all, layout, header);
  return bytes;
}

TEST(metric_index_file, is_read_as_it_was_written_before_but_for_mvpt) {
  temporary_folder const folder;
  auto const words = std::make_shared<word_space>(some_words(200));
  for (auto const& entry : metric_index_types()) {
    metric_index({}, words, {entry.which, 4}).save({}, folder / "index");
    std::string const now = datasets::read_file(folder / "index", "an index");
    std::string const told = told_by(written(
        folder,
        forged(now, [](auto const&, nlohmann::ordered_json& what) { what["version"] = 2; })));
    if (entry.which == metric_index_type::mvpt)
      EXPECT_NE(told.find("found type mvpt of version 2, expected version 3"), std::string::npos)
          << told;
    else
      EXPECT_EQ(told, "OK") << entry.name;
  }
}

TEST(metric_index_file, headers_that_cannot_be_are_told) {
  temporary_folder const folder;
  auto const words = std::make_shared<word_space>(some_words(30));
  metric_index({}, words, {metric_index_type::lc, 4}).save({}, folder / "index");
  std::string const good = datasets::read_file(folder / "index", "an index");
  EXPECT_EQ(told_by(written(folder, forged(good, [](auto const&, auto&) {}))), "OK");
  std::uint64_t const huge = std::uint64_t{1} << 62;
  for (auto const& [key, value] :
       std::vector<std::pair<std::string, nlohmann::ordered_json>>{{"metric", "l2"},
                                                                   {"metric", "cosine"},
                                                                   {"metric", 3},
                                                                   {"type", "auto"},
                                                                   {"type", "vp"},
                                                                   {"type", "sss"},
                                                                   {"objects", 29},
                                                                   {"objects", 0},
                                                                   {"objects", huge},
                                                                   {"objects", -1},
                                                                   {"letters", "runes"},
                                                                   {"version", 1},
                                                                   {"bucket", -1},
                                                                   {"alpha", 0},
                                                                   {"alpha", 1.5},
                                                                   {"alpha", "half"}})
    EXPECT_NE(told_by(written(
                  folder, forged(good, [&, &key = key, &value = value](
                                           auto const&,
                                           nlohmann::ordered_json& what) { what[key] = value; }))),
              "OK")
        << key << value;
  for (auto const& change : std::vector<std::function<void(parts const&)>>{
           [](parts const& p) { p.begins[0] = 1; }, [](parts const& p) { p.begins[3] = 0; },
           [](parts const& p) { p.begins[3] = std::uint64_t{1} << 60; },
           [](parts const& p) { p.begins[30] = 3; }})
    EXPECT_NE(told_by(written(folder, forged(good, [&](parts const& p, auto&) { change(p); }))),
              "OK");
}

/// Changes each number and distance of each type: the result is an error, or an index that can be
/// searched.
TEST(metric_index_file, numbers_that_cannot_be_are_told_or_do_no_harm) {
  temporary_folder const folder;
  auto const space = std::make_shared<word_space>(some_words(30));
  for (auto const& entry : metric_index_types()) {
    metric_index({}, space, {entry.which, 4}).save({}, folder / "index");
    std::string const good = datasets::read_file(folder / "index", "an index");
    std::size_t numbers = 0;
    std::size_t distances = 0;
    forged(good, [&](parts const& p, auto&) {
      numbers = p.numbers.size();
      distances = p.distances.size();
    });
    std::size_t told = 0;
    for (std::size_t at = 0; at < numbers; ++at)
      for (std::uint32_t const value : {0U, 1U, 29U, 30U, 0xffffffffU}) {
        std::string const path =
            written(folder, forged(good, [&](parts const& p, auto&) { p.numbers[at] = value; }));
        if (told_by(path) != "OK") {
          ++told;
          continue;
        }
        context ctx;
        ctx.threads = 1;
        auto const opened = metric_index::open(ctx, path);
        opened.index.search(ctx, *opened.words->queries({"abc", "77"}), 5);
      }
    EXPECT_GT(told, numbers) << entry.name;
    for (std::size_t const at : {std::size_t{0}, distances / 2, distances - 1})
      for (double const value : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
        if (distances == 0) continue;
        EXPECT_NE(told_by(written(folder, forged(good, [&](parts const& p,
                                                           auto&) { p.distances[at] = value; }))),
                  "OK")
            << entry.name;
      }
  }
}

TEST(metric_index_file, what_is_no_index_or_cannot_be_written_is_told) {
  temporary_folder const folder;
  EXPECT_NE(told_by(folder / "absent"), "OK");
  EXPECT_NE(told_by(written(folder, "1 qid:1 1:0.5\n")).find("not an index of rulerank"),
            std::string::npos);
  auto const words = std::make_shared<word_space>(some_words(3));
  EXPECT_THROW(metric_index({}, words).save({}, folder / "absent/index"), output_error);
  auto const apart = [](int a, int b) { return static_cast<double>(std::abs(a - b)); };
  auto const own =
      std::make_shared<object_space<int, decltype(apart)>>(std::vector<int>{1, 2}, apart);
  EXPECT_THROW(metric_index({}, own).save({}, folder / "index"), usage_error);
}

}  // namespace
}  // namespace rulerank::knn::metric_index_file_test
