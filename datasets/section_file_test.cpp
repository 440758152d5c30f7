#include "datasets/section_file.hpp"

#include "core/testing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rulerank::datasets {
namespace {

using testing_tools::temporary_folder;

constexpr std::array<std::string_view, 1> names{"letters"};
constexpr section_kind kind{"rulerank test", 1, "rulerank test", names};

std::string written(std::string const& path, char letter) {
  std::array<std::size_t, 1> const bytes{1000};
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
}  // namespace rulerank::datasets
