#include "knn/features/field_counts.hpp"

#include "core/error.hpp"
#include "core/testing.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::knn {
namespace {

using testing_tools::temporary_folder;

std::string written(temporary_folder const& folder, std::string const& name,
                    std::string const& text) {
  std::string const path = folder / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// A row as `term:count ...`.
std::string row(text_index const& index, sparse_matrix const& counts, std::size_t d) {
  std::string text;
  sparse_row const of = sparse_rows(counts)[d];
  for (std::size_t i = 0; i < of.size(); ++i)
    text += std::string(index.terms()[of.term[i]]) + ":" +
            std::to_string(static_cast<int>(of.weight[i])) + " ";
  return text;
}

TEST(field_counts, by_hand) {
  temporary_folder const folder;
  std::string const path =
      written(folder, "c.jsonl",
              "{\"id\": 1, \"text\": \"red fish\"}\n"
              "{\"id\": 2, \"title\": \"Red\", \"text\": \"fish fish\"}\n"
              "{\"id\": 3, \"title\": \"blue\", \"other\": \"red\", \"text\": \"\"}\n");
  text_index_options const options;
  text_index const index = text_index::build({}, path, options);
  auto const fields = count_fields({}, index, path, options);
  ASSERT_EQ(fields.size(), 4U);
  std::vector<std::vector<std::string>> const expected{
      {"fish:1 red:1 ", "fish:2 ", ""},
      {"", "red:1 ", "blue:1 "},
      {"", "", "red:1 "},
      {"fish:1 red:1 ", "fish:2 red:1 ", "blue:1 red:1 "}};
  std::vector<std::string> const names{"text", "title", "other", "document"};
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(fields[f].name, names[f]);
    ASSERT_EQ(fields[f].counts.size(), 3U);
    EXPECT_EQ(fields[f].counts.terms, 3U);
    for (std::size_t d = 0; d < 3; ++d)
      EXPECT_EQ(row(index, fields[f].counts, d), expected[f][d]) << names[f] << " " << d;
  }
}

// More documents than are read at a time, a field that comes late, formats without fields.
TEST(field_counts, of_many_documents) {
  temporary_folder const folder;
  std::string text, plain;
  for (int d = 0; d < 2500; ++d) {
    std::string const words = "w" + std::to_string(d % 7) + " w" + std::to_string(d % 3);
    text += "{\"id\": " + std::to_string(d) + ", \"text\": \"" + words + "\"" +
            (d >= 1500 ? ", \"late\": \"xylophone\"" : "") + "}\n";
    plain += std::to_string(d) + "\t" + words + "\n";
  }
  std::string const path = written(folder, "c.jsonl", text);
  text_index const index = text_index::build({}, path, {});
  auto const fields = count_fields({}, index, path, {});
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[1].name, "late");
  ASSERT_EQ(fields[1].counts.size(), 2500U);
  EXPECT_EQ(row(index, fields[1].counts, 1499), "");
  EXPECT_EQ(row(index, fields[1].counts, 1500), "xylophon:1 ");
  EXPECT_EQ(row(index, fields[2].counts, 2001), "w0:1 w6:1 xylophon:1 ");
  std::string const lines = written(folder, "c.tsv", plain);
  text_index const of_lines = text_index::build({}, lines, {});
  auto const one = count_fields({}, of_lines, lines, {});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(row(of_lines, one[0].counts, 7), "w0:1 w1:1 ");
}

TEST(field_counts, refuses_another_collection) {
  temporary_folder const folder;
  std::string const path = written(folder, "c.tsv", "1\ta1\n2\tb1\n");
  text_index const index = text_index::build({}, path, {});
  for (char const* const text : {"1\ta1\n", "1\ta1\n3\tb1\n", "1\ta1\n2\tb1\n3\tc1\n"})
    EXPECT_THROW(count_fields({}, index, written(folder, "other.tsv", text), {}), error) << text;
  std::string const taken = written(folder, "c.jsonl", "{\"id\": 1, \"document\": \"x1\"}\n");
  EXPECT_THROW(count_fields({}, text_index::build({}, taken, {}), taken, {}), error);
}

}  // namespace
}  // namespace rulerank::knn
