#include "knn/dense/index_file.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/section_file.hpp"
#include "core/testing.hpp"
#include "datasets/input/text_source.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::dense_index_file_test {
namespace {

using datasets::element;
using datasets::vectors;
using rulerank::testing_tools::message_of;
using rulerank::testing_tools::temporary_folder;

std::vector<float> small_integers(std::size_t count) {
  std::vector<float> values(count);
  std::uint32_t state = 7;
  for (float& value : values) value = static_cast<float>((state = state * 1664525 + 1) >> 28);
  return values;
}

std::string bytes_of(std::string const& path) {
  return datasets::read_file(path, "an index");
}
std::string written(temporary_folder const& folder, std::string const& name,
                    std::string const& bytes) {
  std::ofstream(folder / name, std::ios::binary) << bytes;
  return folder / name;
}

/// Returns the message of the error when opening the index, or "OK".
std::string told_by(std::string const& path) {
  return message_of([&] { dense_index::open({}, path); });
}

void expect_same(dense_index const& one, dense_index const& other, vectors const& queries) {
  ASSERT_EQ(one.size(), other.size());
  EXPECT_EQ(one.type(), other.type());
  EXPECT_EQ(one.metric(), other.metric());
  EXPECT_EQ(one.dimensions(), other.dimensions());
  EXPECT_EQ(one.has_ids(), other.has_ids());
  neighbours const a = one.search({}, queries, 7);
  neighbours const b = other.search({}, queries, 7);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(one.ids_of(a.id), other.ids_of(b.id));
}

TEST(dense_index_file, what_is_opened_finds_what_was_saved) {
  temporary_folder const folder;
  vectors const rows(small_integers(40 * 5), 5);
  vectors const queries(small_integers(3 * 5), 5);
  for (element const type :
       {element::float32, element::float16, element::bfloat16, element::int8, element::uint8})
    for (similarity const metric :
         {similarity::l2, similarity::inner_product, similarity::cosine}) {
      dense_index const made({}, datasets::converted({}, rows, type), {metric});
      made.save({}, folder / "index");
      expect_same(dense_index::open({}, folder / "index"), made, queries);
    }
}

TEST(dense_index_file, ids_and_rows_that_were_added_are_kept) {
  temporary_folder const folder;
  vectors const rows(small_integers(40 * 5), 5);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 40; ++i) ids.push_back(std::numeric_limits<std::int64_t>::min() + i);
  std::span<std::int64_t const> const all(ids);
  dense_index made({}, rows.rows(0, 25), {}, {ids.begin(), ids.begin() + 25});
  made.add({}, rows.rows(25, 15), all.subspan(25));
  made.save({}, folder / "index");
  dense_index opened = dense_index::open({}, folder / "index");
  EXPECT_TRUE(opened.has_ids());
  expect_same(opened, made, vectors(small_integers(15), 5));

  // An index may be saved over its own file, and grow after it was opened.
  opened.save({}, folder / "index");
  std::array<std::int64_t, 1> const more{12};
  opened.add({}, rows.rows(3, 1), more);
  made.add({}, rows.rows(3, 1), more);
  expect_same(opened, made, vectors(small_integers(15), 5));
}

TEST(dense_index_file, an_index_without_rows_is_one) {
  temporary_folder const folder;
  dense_index({}, vectors(), {similarity::cosine}).save({}, folder / "index");
  dense_index opened = dense_index::open({}, folder / "index");
  EXPECT_EQ(opened.size(), 0u);
  EXPECT_EQ(opened.metric(), similarity::cosine);
  opened.add({}, vectors(small_integers(10), 5));
  EXPECT_EQ(opened.size(), 2u);
}

TEST(dense_index_file, any_byte_that_is_changed_or_cut_off_is_told) {
  temporary_folder const folder;
  dense_index({}, vectors(small_integers(6 * 3), 3), {}, {1, 2, 3, 4, 5, 6})
      .save({}, folder / "index");
  std::string const good = bytes_of(folder / "index");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    EXPECT_NE(told_by(written(folder, "other", bytes)), "OK") << at;
  }
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64},
                           good.size() / 2, good.size() - 1})
    EXPECT_NE(told_by(written(folder, "other", good.substr(0, size))), "OK") << size;
  EXPECT_NE(told_by(written(folder, "other", good + ' ')), "OK");
}

/// Returns an index file with correct checksums after `change`.
std::string forged(std::string const& good,
                   std::function<void(std::span<float>, nlohmann::ordered_json&)> const& change) {
  static constexpr std::array<std::string_view, 2> names{"rows", "ids"};
  static constexpr section_kind kind{"rulerank dense index", 1, "a test", names};
  std::string bytes = good;
  std::span<std::byte> const all{reinterpret_cast<std::byte*>(bytes.data()), bytes.size()};
  auto const read = check_section_file({}, std::span(&kind, 1), all, "good");
  std::array<std::size_t, 2> const sizes{read.sections[0].size(), read.sections[1].size()};
  section_layout const layout(sizes);
  nlohmann::ordered_json what = nlohmann::ordered_json::object();
  for (auto const& [key, one] : read.header.items())
    if (key != "sections") what[key] = one;
  auto const rows = layout.of(all, 0);
  change({reinterpret_cast<float*>(rows.data()), rows.size() / sizeof(float)}, what);
  std::string header = section_header({}, kind, layout, all, what);
  header.resize(bytes.size() - layout.end(), ' ');
  finish_section_file(all, layout, header);
  return bytes;
}

TEST(dense_index_file, headers_and_values_that_cannot_be_are_told) {
  temporary_folder const folder;
  dense_index({}, vectors(small_integers(6 * 3), 3), {}, {1, 2, 3, 4, 5, 6})
      .save({}, folder / "index");
  std::string const good = bytes_of(folder / "index");
  EXPECT_EQ(told_by(written(folder, "same", forged(good, [](auto, auto&) {}))), "OK");
  std::uint64_t const huge = std::uint64_t{1} << 62;
  for (auto const& [key, value] : std::vector<std::pair<std::string, nlohmann::ordered_json>>{
           {"metric", "cos"},
           {"metric", 3},
           {"type", "f8"},
           {"type", "f64"},
           {"type", "bf16"},
           {"rows", 5},
           {"rows", 0},
           {"rows", -6},
           {"rows", huge},
           {"dimensions", 0},
           {"dimensions", 4},
           {"dimensions", huge},
           {"dimensions", 1.5},
           {"version", 2},
           {"format", "rulerank text index"}})
    EXPECT_NE(told_by(written(
                  folder, "other",
                  forged(good, [&, &key = key, &value = value](
                                   auto, nlohmann::ordered_json& what) { what[key] = value; }))),
              "OK")
        << key << value;
  for (float const value :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::string const told = told_by(written(
        folder, "other", forged(good, [&](std::span<float> rows, auto&) { rows[7] = value; })));
    EXPECT_NE(told.find("row 3"), std::string::npos) << told;
  }
}

TEST(dense_index_file, types_and_sizes_that_no_search_takes_are_bad_input) {
  temporary_folder const folder;
  // The sections have the sizes in the header, whatever their type.
  dense_index({}, vectors(small_integers(6 * 4), 4), {}).save({}, folder / "index");
  std::string const good = bytes_of(folder / "index");
  for (auto const& [type, dimensions] :
       std::vector<std::pair<std::string, std::size_t>>{{"f64", 2}, {"i32", 4}}) {
    std::string const told =
        told_by(written(folder, "other",
                        forged(good, [&, &type = type, &dimensions = dimensions](
                                         auto, nlohmann::ordered_json& what) {
                          what["type"] = type;
                          what["dimensions"] = dimensions;
                        })));
    EXPECT_NE(told.find("other:1:1: found rows of type " + type + ", expected f32, f16"),
              std::string::npos)
        << told;
  }
  std::string const told =
      told_by(written(folder, "other", forged(good, [](auto, nlohmann::ordered_json& what) {
                        what["rows"] = std::uint64_t{0xffffffff};
                      })));
  EXPECT_NE(told.find("other:1:1: found 4294967295 rows, expected fewer than 4294967295"),
            std::string::npos)
      << told;
}

TEST(dense_index_file, what_is_no_index_or_cannot_be_written_is_told) {
  temporary_folder const folder;
  EXPECT_NE(told_by(folder / "absent"), "OK");
  EXPECT_NE(told_by(written(folder, "text", "1 qid:1 1:0.5\n")).find("not an index of rulerank"),
            std::string::npos);
  EXPECT_THROW(dense_index({}, vectors(), {}).save({}, folder / "absent/index"), output_error);
}

}  // namespace
}  // namespace rulerank::knn::dense_index_file_test
