#include "knn/collection_parts.hpp"

#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/process_group_testing.hpp"
#include "core/testing.hpp"
#include "knn/dense/engine.hpp"
#include "knn/dense/search.hpp"
#include "knn/index_parts.hpp"
#include "knn/metric/search.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"
#include "knn/text/text_index_part.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::collection_parts_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

constexpr std::size_t sizes[] = {1, 2, 3, 5, 16};

/// The context of each thread that acts as a process.
context one_thread() {
  context ctx;
  ctx.threads = 1;
  return ctx;
}

/// Rows of few distinct values, so that many are equally near.
datasets::vectors drawn(std::size_t rows, std::size_t dimensions, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<float> values(rows * dimensions);
  for (float& value : values) value = static_cast<float>(draw() % 4);
  return {std::move(values), dimensions};
}

void expect_same(knn::neighbours const& found, knn::neighbours const& expected) {
  EXPECT_EQ(found.queries, expected.queries);
  EXPECT_EQ(found.k, expected.k);
  EXPECT_EQ(found.order, expected.order);
  EXPECT_EQ(found.id, expected.id);
  EXPECT_EQ(found.value, expected.value);
}

TEST(CollectionSplit, DenseRowsInPartsAreFoundAsInOne) {
  auto const rows = drawn(101, 5, 1), queries = drawn(17, 5, 2);
  std::vector<std::uint64_t> filter(2);
  for (std::size_t row = 0; row < rows.size(); row += 3)
    filter[row / 64] |= std::uint64_t{1} << (row % 64);
  for (char const* const metric : {"l2", "ip", "cosine"})
    for (bool const filtered : {false, true})
      for (std::size_t const k : {1, 7, 101}) {
        knn::dense_index_options const options{knn::dense_similarity_from(metric)};
        knn::dense_index const whole({}, rows, options);
        knn::dense_filter const allowed{
            filtered ? std::span<std::uint64_t const>(filter) : std::span<std::uint64_t const>(),
            {}};
        auto const expected = whole.search({}, queries, k, allowed);
        auto const in_range = whole.search_range({}, queries, 2, allowed);
        for (std::size_t const size : sizes)
          testing_tools::run_processes(static_cast<int>(size), [&](process_group const& group) {
            index_range const mine =
                even_range(rows.size(), size, static_cast<std::size_t>(group.rank()));
            knn::dense_index const part({}, rows.rows(mine.begin, mine.size()), options);
            auto const bits = bits_of(allowed.rows, mine.begin, mine.end);
            std::vector<knn::part_neighbours> found{
                knn::dense_index_access::search_part(part, {}, queries, k, {bits, {}})};
            renumber(found[0], static_cast<std::uint32_t>(mine.begin));
            expect_same(merge(group, found, queries.size(), k), expected);
            std::vector<knn::part_rows_in_range> within{
                knn::dense_index_access::search_range_part(part, {}, queries, 2, {bits, {}})};
            renumber(within[0], static_cast<std::uint32_t>(mine.begin));
            auto const merged = merge(group, within, queries.size());
            EXPECT_EQ(merged.begin, in_range.begin);
            EXPECT_EQ(merged.row, in_range.row);
            EXPECT_EQ(merged.value, in_range.value);
          });
      }
}

TEST(CollectionSplit, SumsWhoseRootsAreEqualKeepTheirOrder) {
  // Under l2, the first row is farther by a unit in the last place, which the root rounds off.
  datasets::vectors const rows(std::vector<float>{1, 0x1p-26F, 1, 0}, 2);
  datasets::vectors const query(std::vector<float>{0, 0}, 2);
  auto const expected = knn::dense_index({}, rows).search({}, query, 2);
  EXPECT_EQ(expected.id, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(expected.value, (std::vector<double>{1, 1}));
  std::vector<knn::part_neighbours> parts;
  for (std::uint32_t const p : {0U, 1U}) {
    parts.push_back(
        knn::dense_index_access::search_part(knn::dense_index({}, rows.rows(p, 1)), {}, query, 1));
    renumber(parts.back(), p);
  }
  expect_same(merge(parts, 1, 2), expected);
}

TEST(CollectionSplit, FewerRowsThanProcesses) {
  auto const rows = drawn(3, 2, 3), queries = drawn(4, 2, 4);
  auto const expected = knn::dense_index({}, rows).search({}, queries, 3);
  testing_tools::run_processes(5, [&](process_group const& group) {
    index_range const mine = even_range(rows.size(), 5, static_cast<std::size_t>(group.rank()));
    std::vector<knn::part_neighbours> found;
    if (mine.size() > 0) {
      found.push_back(knn::dense_index_access::search_part(
          knn::dense_index({}, rows.rows(mine.begin, mine.size())), {}, queries, 3));
      renumber(found[0], static_cast<std::uint32_t>(mine.begin));
    }
    expect_same(merge(group, found, queries.size(), 3), expected);
  });
}

TEST(CollectionSplit, WordsInPartsOfAFileAreAllOnceInOrder) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "words.txt";
  for (char const* const text : {"", "\n", "a", "a\n", "a\r\n\nbb\nccc", "\xEF\xBB\xBFx\ny\n\n"}) {
    write_file(path, text);
    auto const all = knn::read_words({}, path);
    for (std::size_t const size : sizes) {
      std::vector<std::string> words;
      for (std::size_t p = 0; p < size; ++p)
        for (std::string const& word : knn::read_words_part({}, path, p, size))
          words.push_back(word);
      EXPECT_EQ(words, all) << size;
    }
  }
}

TEST(CollectionSplit, NamesComeFromWhoHasThem) {
  testing_tools::run_processes(3, [&](process_group const& group) {
    std::vector<std::uint32_t> const items{2, 0, knn::no_neighbour, 1, 2};
    auto const names = names_of(group, items, [&](std::uint32_t item) {
      return static_cast<int>(item) == group.rank() ? std::make_optional(std::to_string(item) + "!")
                                                    : std::nullopt;
    });
    EXPECT_EQ(names, (std::vector<std::string>{"2!", "0!", "", "1!", "2!"}));
  });
}

/// Documents with a common word, two without it, and an empty one.
std::string documents(std::size_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::string lines;
  for (std::size_t d = 0; d < count; ++d) {
    lines += "d" + std::to_string(d) + "\tall";
    for (unsigned word = draw() % 9; word > 0; --word) lines += " w" + std::to_string(draw() % 30);
    lines += "\n";
  }
  return lines;
}

TEST(CollectionSplit, DocumentsInPartsAreFoundAsInOne) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "docs.tsv";
  write_file(path, documents(61, 1));
  std::vector<datasets::text_document> const queries{{"1", "", {{"", "w1 w2 w3"}}},
                                                     {"2", "", {{"", "all w4 w4 w29"}}},
                                                     {"3", "", {{"", "nothing"}}},
                                                     {"4", "", {{"", "all"}}},
                                                     {"5", "", {{"", "w7"}}}};
  for (char const* const smart : {"lnc.ltc", "ntc.nnc", "nnn.ntn", "bm25"})
    for (auto const metric :
         {knn::similarity::cosine, knn::similarity::inner_product, knn::similarity::normalized_l2})
      for (bool const pad : {false, true}) {
        knn::text_index_options options;
        if (std::string_view(smart) == "bm25")
          options.weighting = {.how = knn::weighting::bm25};
        else
          options.weighting = knn::smart_weighting_from(smart).weights;
        options.dictionary = true;
        options.min_documents = 3;
        auto const whole = knn::text_index::build(one_thread(), path, options);
        auto const expected =
            knn::sparse_searcher(one_thread(), whole.index(), {metric})
                .search(one_thread(), whole.queries(one_thread(), queries), 25, {.pad = pad});
        for (std::size_t const size : {1, 2, 5})
          testing_tools::run_processes(static_cast<int>(size), [&](process_group const& group) {
            auto const part = knn::text_index_part::build(one_thread(), path, options, group);
            EXPECT_EQ(part.statistics().documents, 61U);
            EXPECT_EQ(part.statistics().mean_length, whole.statistics().mean_length);
            EXPECT_EQ(part.statistics().document_frequency, whole.statistics().document_frequency);
            ASSERT_EQ(part.dictionary()->words.size(), whole.dictionary()->words.size());
            for (std::size_t w = 0; w < part.dictionary()->words.size(); ++w)
              EXPECT_EQ(part.dictionary()->documents[w], whole.dictionary()->documents[w]);
            for (std::size_t d = 0; d < part.ids().size(); ++d)
              EXPECT_EQ(part.ids()[d], whole.ids()[part.first_document() + d]);
            std::vector<knn::part_neighbours> found{knn::sparse_searcher_access::search_part(
                knn::sparse_searcher(one_thread(), part.index(), {metric}), one_thread(),
                part.queries(one_thread(), queries), 25, {.pad = pad})};
            renumber(found[0], static_cast<std::uint32_t>(part.first_document()));
            SCOPED_TRACE(std::string(smart) + " " + std::to_string(size));
            expect_same(merge(group, found, queries.size(), 25), expected);
          });
      }
}

TEST(CollectionSplit, ErrorsOfDocumentsInPartsNameTheLinesOfTheFile) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "docs";
  std::string const good = documents(40, 3);
  for (std::string const& text :
       {std::string("\n\n"), std::string(), good + "d3\tagain\n", good + "no tab\n" + good,
        std::string("{\"id\": 1, \"text\": \"a\"}\n{\"id\": 2, \"text\": \"b\"}\n\n{]\n"),
        std::string("{\"id\": 1, \"text\": \"a\"}\n\n{\"id\": 1, \"text\": \"b\"}\n")}) {
    write_file(path, text);
    std::string const expected =
        message_of([&] { knn::text_index::build(one_thread(), path, {}); });
    EXPECT_NE(expected, "OK");
    for (std::size_t const size : {2, 3, 7}) {
      // A process with a good part cannot go on without the others: all throw.
      EXPECT_EQ(message_of([&] {
                  testing_tools::run_processes(
                      static_cast<int>(size), [&](process_group const& group) {
                        knn::text_index_part::build(one_thread(), path, {}, group);
                      });
                }),
                expected)
          << size;
    }
  }
}

TEST(CollectionSplit, LinesInPartsAreDocumentsAsInOneFile) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "docs";
  for (std::string const& text :
       {std::string("a\tx\nb\ty"), "\xEF\xBB\xBF" + documents(9, 4),
        std::string("a\tx\r\n\r\n\nb\ty\n"),
        std::string("{\"id\": 1, \"text\": \"a\"}\n\n{\"id\": 2, \"title\": \"b\"}\n"),
        "a\t" + std::string(5000, 'x') +
            "\n\xEF\xBB\xBF"
            "b\ty\n"}) {
    write_file(path, text);
    auto const whole = knn::text_index::build(one_thread(), path, {});
    for (std::size_t const size : {1, 2, 5})
      testing_tools::run_processes(static_cast<int>(size), [&](process_group const& group) {
        auto const part = knn::text_index_part::build(one_thread(), path, {}, group);
        EXPECT_EQ(part.statistics().documents, whole.statistics().documents);
        EXPECT_EQ(part.terms().size(), whole.terms().size());
        for (std::size_t d = 0; d < part.ids().size(); ++d)
          EXPECT_EQ(part.ids()[d], whole.ids()[part.first_document() + d]);
      });
  }
}

TEST(CollectionSplit, APartOfATextIndexIsNoIndex) {
  testing_tools::temporary_folder const folder;
  std::string const docs = folder / "docs.tsv", whole = folder / "whole";
  write_file(docs, documents(9, 2));
  {
    output_file file(whole);
    knn::text_index::build(one_thread(), docs, {}, file);
    file.commit();
  }
  testing_tools::run_processes(2, [&](process_group const& group) {
    std::string const path = path_of_part(folder / "index", static_cast<std::size_t>(group.rank()));
    output_file file(path);
    knn::text_index_part::build(one_thread(), docs, {}, group, file);
    file.commit();
    EXPECT_EQ(knn::text_index_part::open({}, path).first_document() == 0, group.is_first());
    EXPECT_THROW(knn::text_index::open({}, path), error);
  });
  EXPECT_THROW(knn::text_index_part::open({}, whole), error);
}

class IndexParts : public ::testing::Test {
 protected:
  /// Writes parts with this many rows each, in several processes.
  void write(std::string const& name, std::size_t processes, unsigned seed) const {
    auto const rows = drawn(20, 3, seed);
    testing_tools::run_processes(static_cast<int>(processes), [&](process_group const& group) {
      auto const rank = static_cast<std::size_t>(group.rank());
      index_range const mine = even_range(rows.size(), processes, rank);
      knn::dense_index({}, rows.rows(mine.begin, mine.size()))
          .save({}, path_of_part(at(name), rank));
      write_index_parts(group, at(name), "dense", mine.size());
    });
  }
  std::string at(std::string const& name) const { return folder_ / name; }
  void expect_error(std::string const& message, std::string const& name) const {
    EXPECT_PRED2(says, message_of([&] {
                   for (index_part const& part : read_index_parts(at(name), "dense").parts) {
                     expect_part(part);
                     expect_items(part, knn::dense_index::open({}, part.path).size());
                   }
                 }),
                 "..." + message + "...");
  }

 private:
  testing_tools::temporary_folder folder_;
};

TEST_F(IndexParts, AreReadAsTheyWereWritten) {
  for (std::size_t const processes : {1, 3}) {
    write("index", processes, 1);
    EXPECT_TRUE(is_index_in_parts(at("index")));
    EXPECT_FALSE(is_index_in_parts(at("index.part0")));
    EXPECT_FALSE(is_index_in_parts(at("absent")));
    index_parts const read = read_index_parts(at("index"), "dense");
    EXPECT_EQ(read.items, 20U);
    ASSERT_EQ(read.parts.size(), processes);
    std::uint64_t first = 0;
    for (index_part const& part : read.parts) {
      EXPECT_EQ(part.first, first);
      expect_part(part);
      first += part.items;
    }
  }
  index_parts const read = read_index_parts(at("index"), "dense");
  EXPECT_EQ(parts_here({}, read, false).size(), 3U);
  testing_tools::run_processes(2, [&](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    auto const mine = parts_here(ctx, read, true);
    EXPECT_EQ(mine.size(), group.is_first() ? 2U : 1U);
    EXPECT_EQ(mine.at(0).path, at(group.is_first() ? "index.part0" : "index.part1"));
  });
  testing_tools::run_processes(5, [&](process_group const& group) {
    context ctx;
    ctx.processes = &group;
    EXPECT_EQ(parts_here(ctx, read, true).size(), group.rank() < 3 ? 1U : 0U);
  });
}

TEST_F(IndexParts, OthersAreRefusedByName) {
  write("index", 3, 1);
  EXPECT_THROW(read_index_parts(at("index"), "text"), error);
  write("other", 3, 2);
  std::filesystem::copy_file(at("other.part1"), at("index.part1"),
                             std::filesystem::copy_options::overwrite_existing);
  expect_error("index.part1:1:1: this part of the index was not written", "index");
  std::filesystem::remove(at("index.part1"));
  expect_error("index.part1: cannot be read", "index");
  write("index", 3, 1);
  {
    std::fstream part(at("index.part2"), std::ios::in | std::ios::out | std::ios::binary);
    part.seekp(70);
    part.put('\x7f');
  }
  expect_error("index.part2:1:1: rows of this index are damaged", "index");
  std::string text;
  std::getline(std::ifstream(at("other")), text);
  text.replace(text.find("\"items\":20"), 10, "\"items\":21");
  write_file(at("other"), text);
  expect_error("other:1:1: this list of an index's parts is damaged", "other");
}

TEST(QueryShares, FactoredSharesAreHalfOfWhatIsLeft) {
  auto const sizes_of = [](std::size_t n, std::size_t parts, std::size_t least) {
    std::vector<std::size_t> all;
    std::size_t at = 0;
    for (index_range const& one : factored_shares(n, parts, least)) {
      EXPECT_EQ(one.begin, at);
      at = one.end;
      all.push_back(one.size());
    }
    EXPECT_EQ(at, n);
    return all;
  };
  using counts = std::vector<std::size_t>;
  EXPECT_EQ(sizes_of(100, 2, 4), (counts{25, 25, 12, 12, 6, 6, 4, 4, 4, 2}));
  EXPECT_EQ(sizes_of(100, 3, 40), (counts{40, 40, 20}));
  EXPECT_EQ(sizes_of(5, 2, 0), (counts{1, 1, 1, 1, 1}));
  EXPECT_EQ(sizes_of(0, 4, 32), counts());
}

TEST(QueryShares, NeighboursOfSharesAreThoseOfAll) {
  knn::neighbours first, second;
  first.queries = 1;
  first.k = second.k = 2;
  first.order = second.order = knn::value_order::smaller_is_nearer;
  first.id = {4, knn::no_neighbour};
  first.value = {.5, 0};
  second.queries = 2;
  second.id = {1, 2, 7, 0};
  second.value = {.25, .5, 1, 2};
  knn::neighbours const all = joined({first, second});
  EXPECT_EQ(all.queries, 3U);
  EXPECT_EQ(all.k, 2U);
  EXPECT_EQ(all.order, knn::value_order::smaller_is_nearer);
  EXPECT_EQ(all.id, (std::vector<std::uint32_t>{4, knn::no_neighbour, 1, 2, 7, 0}));
  EXPECT_EQ(all.value, (std::vector<double>{.5, 0, .25, .5, 1, 2}));
}

}  // namespace
}  // namespace rulerank::knn::collection_parts_test
