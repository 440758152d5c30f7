#include "core/section_file.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/process_group_testing.hpp"
#include "core/testing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

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

/// What a process says of bytes, which others check with it: "OK", or what is wrong.
std::vector<std::string> said_of(std::string& bytes, int processes) {
  std::vector<std::string> said(static_cast<std::size_t>(processes));
  testing_tools::run_processes(processes, [&](process_group const& group) {
    context ctx;
    ctx.threads = 2;
    ctx.processes = &group;
    said[static_cast<std::size_t>(group.rank())] = message_of(
        [&] { check_section_file(ctx, kind, std::as_bytes(std::span(bytes)), "index"); });
  });
  return said;
}

TEST(section_file, processes_check_a_share_each_and_know_all) {
  temporary_folder const folder;
  constexpr std::size_t size = std::size_t{9} << 20;  // in several pieces
  std::string bytes = written(folder / "a", 'a', size);
  for (int const processes : {2, 3, 5}) {
    std::vector<std::string> const none(static_cast<std::size_t>(processes), "OK");
    EXPECT_EQ(said_of(bytes, processes), none);
    for (std::size_t const at : {std::size_t{64}, size / 2, size}) {
      bytes[at] = 'b';
      EXPECT_EQ(said_of(bytes, processes),
                std::vector<std::string>(static_cast<std::size_t>(processes),
                                         "index:1:1: letters of this index are damaged"));
      bytes[at] = 'a';
    }
  }
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
