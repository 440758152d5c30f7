#include "core/section_file.hpp"

#include "core/crc32.hpp"
#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/testing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

namespace rulerank::inline v0::section_file_test {
namespace {

using rulerank::testing_tools::message_of;
using testing_tools::temporary_folder;

constexpr std::array<std::string_view, 1> names{"letters"};
constexpr section_kind kind{"rulerank test", 1, "rulerank test", names};

std::string written(std::string const& path, char letter, std::size_t size = 1000) {
  std::array<std::size_t, 1> const bytes{size};
  auto const fill = [&](std::size_t, std::span<std::byte> to) {
    std::ranges::fill(to, static_cast<std::byte>(letter));
  };
  write_section_file({}, kind, path, bytes, nlohmann::ordered_json::object(), fill);
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string sum_of_bytes(temporary_folder const& folder, std::string const& bytes) {
  std::ofstream(folder / "other", std::ios::binary) << bytes;
  return sha256_of_section_header(folder / "other");
}

/// Returns the message of the error from reading a file of these bytes, without the folder; "OK" if
/// there is none.
std::string said_of(std::string const& bytes) {
  temporary_folder const folder;
  std::string const path = folder / "index";
  std::ofstream(path, std::ios::binary) << bytes;
  std::string const said = message_of([&] { read_section_file({}, std::span(&kind, 1), path); });
  return said.starts_with(path) ? "index" + said.substr(path.size()) : said;
}

TEST(section_file, what_is_read_is_the_process_s_own) {
  temporary_folder const folder;
  constexpr std::size_t size = std::size_t{9} << 20;  // in several pieces
  written(folder / "index", 'a', size);
  written(folder / "other", 'b', size);
  read_sections const read = read_section_file({}, std::span(&kind, 1), folder / "index");
  std::ifstream other(folder / "other", std::ios::binary);
  std::fstream(folder / "index", std::ios::binary | std::ios::in | std::ios::out) << other.rdbuf();
  auto const all_are = [](std::span<std::byte const> bytes, char letter) {
    return std::ranges::count(bytes, static_cast<std::byte>(letter)) == std::ssize(bytes);
  };
  ASSERT_EQ(read.sections.front().size(), size);
  EXPECT_TRUE(all_are(read.sections.front(), 'a'));
  EXPECT_TRUE(
      all_are(read_section_file({}, std::span(&kind, 1), folder / "index").sections.front(), 'b'));
  std::filesystem::resize_file(folder / "index", 10);
  EXPECT_TRUE(all_are(read.sections.front(), 'a'));
}

TEST(section_file, damage_in_any_piece_is_refused) {
  temporary_folder const folder;
  constexpr std::size_t size = std::size_t{9} << 20;
  std::string bytes = written(folder / "a", 'a', size);
  EXPECT_EQ(said_of(bytes), "OK");
  for (std::size_t const at : {std::size_t{64}, size / 2, size}) {
    bytes[at] = 'b';
    EXPECT_EQ(said_of(bytes), "index:1:1: letters of this index are damaged");
    bytes[at] = 'a';
  }
  bytes[50] = 'b';  // after the numbers of the prefix
  EXPECT_EQ(said_of(bytes),
            "index:1:1: found data between the sections of this index, expected zeros");
  EXPECT_EQ(said_of(""), "index:1:1: found an empty file, expected an index");
  EXPECT_EQ(message_of([&] { read_section_file({}, std::span(&kind, 1), "/dev/null"); }),
            "/dev/null: not a regular file, expected an index in a regular file");
}

TEST(section_file, a_file_that_no_memory_holds_is_refused) {
  temporary_folder const folder;
  std::string const path = folder / "index";
  std::ofstream(path, std::ios::binary) << 'a';
  std::filesystem::resize_file(path, std::uint64_t{1} << 42);  // zeros that occupy no space
  EXPECT_EQ(
      message_of([&] { read_section_file({}, std::span(&kind, 1), path); }),
      path + ": found an index of 4398046511104 bytes, expected one that fits in free memory");
}

TEST(crc32, is_the_one_of_zlib) {
  std::mt19937 draw(1);
  std::vector<std::byte> bytes(70000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw());
  auto const expected = [](std::span<std::byte const> some, std::uint32_t before) {
    return crc32_z(before, reinterpret_cast<unsigned char const*>(some.data()), some.size());
  };
  std::span<std::byte const> const all(bytes);
  for (std::size_t size = 0; size < 700; ++size) {
    auto const some = all.subspan(size % 17, size);
    std::uint32_t const before = size % 3 == 0 ? 0 : static_cast<std::uint32_t>(draw());
    ASSERT_EQ(crc32_of(some, before), expected(some, before)) << size;
  }
  EXPECT_EQ(crc32_of(all), expected(all, 0));
  EXPECT_EQ(crc32_of(all.subspan(999), crc32_of(all.first(999))), expected(all, 0));
  EXPECT_EQ(crc32_of(std::as_bytes(std::span("123456789", 9))),
            0xcbf43926);  // the check value in the standard
}

TEST(section_file, headers_differ_where_sections_do) {
  temporary_folder const folder;
  std::string const a = written(folder / "a", 'a');
  std::string const sum = sha256_of_section_header(folder / "a");
  EXPECT_EQ(sum.size(), 64U);
  written(folder / "b", 'b');
  EXPECT_NE(sha256_of_section_header(folder / "b"), sum);
  EXPECT_EQ(written(folder / "b", 'a'), a);
  EXPECT_EQ(sha256_of_section_header(folder / "b"), sum);
}

TEST(section_file, damaged_headers_have_no_sum) {
  temporary_folder const folder;
  std::string const good = written(folder / "a", 'a');
  EXPECT_EQ(sum_of_bytes(folder, good), sha256_of_section_header(folder / "a"));
  std::size_t const prefix = 48, sections_end = 64 + 1024;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] ^= 1;
    bool const in_header = at < prefix || at >= sections_end;
    EXPECT_EQ(sum_of_bytes(folder, damaged).empty(), in_header) << at;
  }
  for (std::size_t const size : {std::size_t{0}, prefix, sections_end, good.size() - 1})
    EXPECT_EQ(sum_of_bytes(folder, good.substr(0, size)), "") << size;
  EXPECT_EQ(sum_of_bytes(folder, good + ' '), "");
  EXPECT_EQ(sum_of_bytes(folder, std::string(100, 'a')), "");
}

}  // namespace
}  // namespace rulerank::section_file_test
