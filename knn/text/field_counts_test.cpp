#include "core/error.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/text/text_sums.hpp"
#include "knn/text/text_index.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::field_counts_test {
namespace {

using rulerank::testing_tools::temporary_folder;

std::string written(temporary_folder const& folder, std::string const& name,
                    std::string const& text) {
  std::string const path = folder / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<std::uint32_t> sums_of(std::string const& path, text_index_options const& options) {
  std::vector<std::uint32_t> sums;
  auto const add = [&](datasets::text_document const& document) {
    sums.push_back(datasets::sum_of_text(document.fields));
  };
  datasets::read_documents({}, path, options.format, add, options.reading);
  return sums;
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
              "{\"id\": 3, \"title\": \"blue\", \"abstract\": \"red\", \"text\": \"\"}\n");
  text_index_options const options;
  text_index const index = text_index::build({}, path, options);
  auto const fields = count_fields({}, index, path, options);
  ASSERT_EQ(fields.size(), 4U);
  std::vector<std::vector<std::string>> const expected{
      {"fish:1 red:1 ", "fish:2 ", ""},
      {"", "red:1 ", "blue:1 "},
      {"", "", "red:1 "},
      {"fish:1 red:1 ", "fish:2 red:1 ", "blue:1 red:1 "}};
  std::vector<std::string> const names{"text", "title", "abstract", "document"};
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(fields[f].name, names[f]);
    ASSERT_EQ(fields[f].counts.size(), 3U);
    EXPECT_EQ(fields[f].counts.terms, 3U);
    for (std::size_t d = 0; d < 3; ++d)
      EXPECT_EQ(row(index, fields[f].counts, d), expected[f][d]) << names[f] << " " << d;
  }
}

// More documents than are read at a time, a field that appears late, formats without fields.
TEST(field_counts, of_many_documents) {
  temporary_folder const folder;
  std::string text, plain;
  for (int d = 0; d < 2500; ++d) {
    std::string const words = fmt::format("w{} w{}", d % 7, d % 3);
    text += "{\"id\": " + std::to_string(d) + ", \"text\": \"" + words + "\"" +
            (d >= 1500 ? ", \"body\": \"xylophone\"" : "") + "}\n";
    plain += std::to_string(d) + "\t" + words + "\n";
  }
  std::string const path = written(folder, "c.jsonl", text);
  text_index const index = text_index::build({}, path, {});
  auto const fields = count_fields({}, index, path, {});
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[1].name, "body");
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

// One pass over a collection has the same results as two: the same index, the same counts.
TEST(field_counts, in_one_pass) {
  temporary_folder const folder;
  random_engine draw(21);
  std::vector<std::string> const fields{"title", "text", "late", "rare"};
  std::string text;
  for (int d = 0; d < 2300; ++d) {
    text += "{\"id\": " + std::to_string(d) + ", \"text\": \"" +
            (d % 5 == 0 ? "" : "common word" + std::to_string(uniform_below(draw, 900))) + "\"";
    for (std::string const& field : fields) {
      bool const here =
          field != "text" && (field != "late" || d > 1400) && uniform_below(draw, 3) == 0;
      if (!here) continue;
      text += ", \"" + field + "\": \"";
      for (std::uint64_t w = uniform_below(draw, 12); w > 0; --w)
        text += "Word" + std::to_string(uniform_below(draw, 60)) + " ";
      text += "\"";
    }
    text += "}\n";
  }
  std::string const smart =
      ".I 1\n.T\nOne title\n.W\nsome words\n.T\nagain a title\n.I 2\n.A\nan author\n";
  std::vector<std::string> const paths{written(folder, "c.jsonl", text),
                                       written(folder, "c.smart", smart),
                                       written(folder, "c.tsv", "1\tred fish\n2\tblue fish\n")};
  std::vector<text_index_options> all(3);
  all[1].min_documents = 3;
  all[1].max_share = 0.5;
  all[1].weighting = {.how = weighting::bm25};
  all[2].analyzer = {.stop_words = "words:word1 fish", .stemmer = "none"};
  for (std::string const& path : paths)
    for (text_index_options const& options : all)
      for (int const threads : {1, 4}) {
        context ctx;
        ctx.threads = threads;
        text_index const index = text_index::build(ctx, path, options);
        std::vector<field_counts> const counts = count_fields(ctx, index, path, options);
        indexed_collection const both = text_index::build_with_fields(ctx, path, options);
        sparse_rows const a = both.index.index().documents(), b = index.index().documents();
        EXPECT_TRUE(std::ranges::equal(a.begin, b.begin) && std::ranges::equal(a.term, b.term) &&
                    std::ranges::equal(a.weight, b.weight))
            << path;
        EXPECT_TRUE(std::ranges::equal(both.index.terms().bytes, index.terms().bytes)) << path;
        EXPECT_EQ(both.sums, sums_of(path, options)) << path;
        ASSERT_EQ(both.fields.size(), counts.size()) << path;
        for (std::size_t f = 0; f < counts.size(); ++f) {
          EXPECT_EQ(both.fields[f].name, counts[f].name);
          EXPECT_EQ(both.fields[f].counts.begin, counts[f].counts.begin) << counts[f].name;
          EXPECT_EQ(both.fields[f].counts.term, counts[f].counts.term) << counts[f].name;
          EXPECT_EQ(both.fields[f].counts.weight, counts[f].counts.weight) << counts[f].name;
          EXPECT_EQ(both.fields[f].counts.terms, counts[f].counts.terms) << counts[f].name;
        }
      }
  std::string const taken = written(folder, "taken.jsonl", "{\"id\": 1, \"document\": \"x1\"}\n");
  EXPECT_THROW(text_index::build_with_fields({}, taken, {}), error);
  text_index_options vectors;
  vectors.format = datasets::text_format::svmlight;
  vectors.weighting = {.how = weighting::none};
  EXPECT_THROW(text_index::build_with_fields({}, written(folder, "v", "1 1:2\n"), vectors),
               usage_error);
}

TEST(field_counts, of_documents_in_memory_are_those_of_a_file) {
  temporary_folder const folder;
  std::string const path = written(folder, "c.jsonl",
                                   "{\"id\": 1, \"title\": \"red fish\", \"text\": \"one fish\"}\n"
                                   "{\"id\": 2, \"text\": \"blue fish\"}\n");
  std::vector<datasets::text_document> const documents{
      {"1", "", {{"title", "red fish"}, {"text", "one fish"}}}, {"2", "", {{"text", "blue fish"}}}};
  indexed_collection const expected = text_index::build_with_fields({}, path, {}),
                           found = text_index::build_with_fields({}, documents, {});
  EXPECT_TRUE(std::ranges::equal(found.index.terms().bytes, expected.index.terms().bytes));
  EXPECT_EQ(found.sums, expected.sums);
  ASSERT_EQ(found.fields.size(), expected.fields.size());
  for (std::size_t f = 0; f < expected.fields.size(); ++f) {
    EXPECT_EQ(found.fields[f].name, expected.fields[f].name);
    EXPECT_EQ(found.fields[f].counts.begin, expected.fields[f].counts.begin);
    EXPECT_EQ(found.fields[f].counts.term, expected.fields[f].counts.term);
    EXPECT_EQ(found.fields[f].counts.weight, expected.fields[f].counts.weight);
  }
  std::vector<datasets::text_document> const twice{documents[0], documents[0]};
  EXPECT_THROW(text_index::build_with_fields({}, twice, {}), usage_error);
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
}  // namespace rulerank::knn::field_counts_test
