#include "knn/text/text_index.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/testing.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/count_spill.hpp"
#include "knn/text/index_layout.hpp"
#include "knn/text/index_writer.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace rulerank::inline v0::knn::text_index_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;
using rulerank::testing_tools::temporary_folder;

context on_threads(int threads) {
  context ctx;
  ctx.threads = threads;
  return ctx;
}

std::string written(temporary_folder const& folder, std::string const& name,
                    std::string const& text) {
  std::string const path = (folder.path() / name).string();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string bytes_of(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string const collection =
    "{\"id\": \"a\", \"label\": \"x\", \"title\": \"The flow\", \"text\": \"flows of air\"}\n"
    "{\"id\": \"b\", \"label\": \"y\", \"text\": \"air and heat\"}\n"
    "{\"id\": \"c\", \"label\": \"x\", \"text\": \"\"}\n"
    "{\"id\": \"d\", \"text\": \"Heat! heat, and the flow\"}\n";

text_index_options plain() {
  text_index_options options;
  options.weighting = {.how = weighting::none};
  return options;
}

TEST(text_index, by_hand) {
  temporary_folder const folder;
  text_index const index = text_index::build({}, written(folder, "c.jsonl", collection), plain());
  ASSERT_EQ(index.terms().size(), 3U);  // air, flow, heat: in byte order
  EXPECT_EQ(index.terms()[0], "air");
  EXPECT_EQ(index.terms()[1], "flow");
  EXPECT_EQ(index.terms()[2], "heat");
  EXPECT_EQ(index.terms().find("flow"), 1U);
  for (char const* const absent : {"", "a", "flo", "flows", "z"})
    EXPECT_FALSE(index.terms().find(absent)) << absent;
  ASSERT_EQ(index.ids().size(), 4U);
  EXPECT_EQ(index.ids()[3], "d");
  EXPECT_EQ(index.label(0), "x");
  EXPECT_EQ(index.label(1), "y");
  EXPECT_EQ(index.label(2), "x");
  EXPECT_EQ(index.label(3), "");
  sparse_rows const rows = index.index().documents();
  EXPECT_EQ(std::vector(rows.begin.begin(), rows.begin.end()),
            (std::vector<std::uint64_t>{0, 2, 4, 4, 6}));
  EXPECT_EQ(std::vector(rows.term.begin(), rows.term.end()),
            (std::vector<std::uint32_t>{0, 1, 0, 2, 1, 2}));
  EXPECT_EQ(std::vector(rows.weight.begin(), rows.weight.end()),
            (std::vector<double>{1, 2, 1, 1, 1, 2}));
  EXPECT_EQ(index.statistics().document_frequency, (std::vector<std::uint32_t>{2, 2, 2}));
  EXPECT_EQ(index.statistics().mean_length, 2);
  EXPECT_EQ(index.index().norms()[0], std::sqrt(5.0));
  EXPECT_EQ(index.index().list(2).document[1], 3U);

  datasets::text_document query;
  query.id = "q";
  query.fields = {{"", "flowing water, flows"}};
  sparse_matrix const queries = index.queries({}, {&query, 1});
  EXPECT_EQ(queries.term, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(queries.weight, (std::vector<double>{2}));
}

TEST(text_index, cut_offs_and_weights) {
  temporary_folder const folder;
  std::string const path =
      written(folder, "c.tsv", "1\tred red fish\n2\tblue fish\n3\tred fish hook\n");
  text_index_options options;
  options.weighting = {.tf = term_frequency::raw};
  text_index const all = text_index::build({}, path, options);
  EXPECT_EQ(all.terms().size(), 4U);
  // Fish is in every document and has weight 0.
  EXPECT_EQ(all.index().postings(), 4U);
  EXPECT_EQ(all.index().documents()[0].weight[0], 2 * std::log(3.0 / 2));
  options.min_documents = 2;
  EXPECT_EQ(text_index::build({}, path, options).terms().size(), 2U);
  options.max_share = 0.7;
  text_index const some = text_index::build({}, path, options);
  ASSERT_EQ(some.terms().size(), 1U);
  EXPECT_EQ(some.terms()[0], "red");
  EXPECT_EQ(some.statistics().mean_length, 1);
  options.max_share = 0;
  EXPECT_THROW(text_index::build({}, path, options), usage_error);
}

TEST(text_index, a_file_gives_what_memory_gives) {
  temporary_folder const folder;
  std::string text;
  for (int d = 0; d < 3000; ++d) {
    text += std::to_string(d) + "\t";
    for (int w = 0; w < d % 40; ++w)
      text += "word" + std::to_string(d * 7 % (w + 3) * w % 900) + " ";
    text += "\n";
  }
  std::string const path = written(folder, "c.tsv", text);
  text_index_options options;
  options.weighting = {.how = weighting::bm25};
  text_index const memory = text_index::build(on_threads(1), path, options);
  std::vector<std::string> files;
  for (int const threads : {1, 4}) {
    std::string const to = (folder.path() / ("index" + std::to_string(threads))).string();
    output_file file(to);
    text_index::build(on_threads(threads), path, options, file);
    EXPECT_FALSE(std::filesystem::exists(to));
    file.commit();
    files.push_back(bytes_of(to));
  }
  EXPECT_EQ(files[0], files[1]);
  text_index const opened = text_index::open({}, (folder.path() / "index1").string());
  for (text_index const* const index : {&memory, &opened})
    EXPECT_TRUE(std::ranges::equal(index->bytes(), std::as_bytes(std::span(files[0]))));
  EXPECT_EQ(opened.terms().size(), memory.terms().size());
  EXPECT_EQ(opened.statistics().document_frequency, memory.statistics().document_frequency);
  EXPECT_EQ(opened.options().weighting.how, weighting::bm25);
  sparse_rows const a = opened.index().documents(), b = memory.index().documents();
  EXPECT_TRUE(std::ranges::equal(a.begin, b.begin));
  EXPECT_TRUE(std::ranges::equal(a.term, b.term));
  EXPECT_TRUE(std::ranges::equal(a.weight, b.weight));
  datasets::text_document query{"q", "", {{"", "word7 word21 word3"}}};
  sparse_matrix const queries = opened.queries({}, {&query, 1});
  EXPECT_EQ(queries.size(), 1U);
  sparse_searcher const from_file({}, opened.index(), {.metric = similarity::inner_product});
  sparse_searcher const from_memory({}, memory.index(), {.metric = similarity::inner_product});
  EXPECT_EQ(from_file.search({}, queries, 30).id, from_memory.search({}, queries, 30).id);
}

TEST(text_index, a_file_carries_its_weights_and_its_metric) {
  temporary_folder const folder;
  std::string const path = written(folder, "c.jsonl", collection);
  datasets::text_document const query{"q", "", {{"", "flow flow heat unknown"}}};
  for (char const* const name : {"ntc.ntc", "ltc.lnc", "bnn.ltn", "nnn.bnn"}) {
    smart_weighting const asked = smart_weighting_from(name);
    text_index_options options;
    options.weighting = asked.weights;
    options.metric = asked.metric;
    text_index const memory = text_index::build({}, path, options);
    output_file file(folder / "index");
    text_index::build({}, path, options, file);
    file.commit();
    text_index const opened = text_index::open({}, folder / "index");
    EXPECT_EQ(opened.options().metric, asked.metric) << name;
    EXPECT_TRUE(
        std::ranges::equal(opened.index().documents().weight, memory.index().documents().weight))
        << name;
    sparse_matrix const queries = opened.queries({}, {&query, 1});
    EXPECT_EQ(queries.weight, memory.queries({}, {&query, 1}).weight) << name;
    EXPECT_EQ(
        queries.weight,
        weigh_queries(memory.counts({}, {&query, 1}), memory.statistics(), asked.weights).weight)
        << name;
  }
}

TEST(text_index, a_share_that_is_met_is_not_exceeded) {
  temporary_folder const folder;
  for (int const df : {29, 57, 58, 7}) {  // df / 100 times 100 is below df, except for 7
    std::string text;
    for (int d = 0; d < 100; ++d)
      text += std::to_string(d) + "\t" + (d < df ? "red" : "") + (d <= df ? " blue\n" : "\n");
    text_index_options options = plain();
    options.max_share = df / 100.0;
    text_index const index = text_index::build({}, written(folder, "c.tsv", text), options);
    ASSERT_EQ(index.terms().size(), 1U) << df;
    EXPECT_EQ(index.terms()[0], "red");
  }
}

TEST(text_index, the_same_bytes_whatever_is_kept_in_memory) {
  temporary_folder const folder;
  std::string text;
  for (int d = 0; d < 500; ++d) {
    text += std::to_string(d) + "\t";
    for (int w = 0; w < d % 23; ++w) text += "word" + std::to_string(d * w % 71) + " ";
    text += "\n";
  }
  std::string const path = written(folder, "c.tsv", text), to = folder / "index";
  std::vector<std::string> files;
  for (std::size_t const in_memory : {index_build_settings{}.counts_in_memory, std::size_t{1000},
                                      std::size_t{7}, std::size_t{0}}) {
    output_file file(to);
    build_index({}, path, {}, {.counts_in_memory = in_memory},
                [&](std::size_t size) { return file.map(size); });
    file.commit();
    files.push_back(bytes_of(to));
    EXPECT_EQ(files.back(), files.front()) << in_memory;
  }
}

TEST(text_index, documents_in_memory_are_those_of_a_file) {
  temporary_folder const folder;
  std::string const path = written(folder, "c.jsonl", collection);
  std::vector<datasets::text_document> documents;
  datasets::read_documents({}, path, datasets::text_format::jsonl,
                           [&](datasets::text_document&& one) { documents.push_back(one); });
  for (int copy = 0; copy < 1200; ++copy)  // more than are counted together
    documents.push_back({fmt::format("e{}", copy), "", {{"", "heat"}}});
  std::ofstream(path, std::ios::app) << [] {
    std::string lines;
    for (int copy = 0; copy < 1200; ++copy)
      lines += fmt::format("{{\"id\": \"e{}\", \"text\": \"heat\"}}\n", copy);
    return lines;
  }();
  std::vector<std::string> files;
  for (collection_source const& from :
       {collection_source(path), collection_source(path, documents)}) {
    std::string const to = folder / "index";
    output_file file(to);
    build_index({}, from, plain(), {}, [&](std::size_t size) { return file.map(size); });
    file.commit();
    files.push_back(bytes_of(to));
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(text_index::build({}, documents, plain()).ids().size(), documents.size());

  EXPECT_THROW(text_index::build({}, std::vector<datasets::text_document>{}, plain()), usage_error);
  documents[1].id = documents[0].id;
  EXPECT_THROW(text_index::build({}, documents, plain()), usage_error);
  documents[1].id.clear();
  EXPECT_THROW(text_index::build({}, documents, plain()), usage_error);
}

TEST(text_index, vectors) {
  temporary_folder const folder;
  std::string const path = written(
      folder, "v.txt", "-1 2:0.5 256:2 # a1\n1 10:-3 2:1 # b2\n1 # c3\n1 65536:4 2:1 10:0 # d4\n");
  text_index_options options = plain();
  options.format = datasets::text_format::svmlight;
  std::string const file_path = (folder.path() / "index").string();
  {
    output_file file(file_path);
    text_index::build({}, path, options, file);
    file.commit();
  }
  text_index const memory = text_index::build({}, path, options);
  text_index const opened = text_index::open({}, file_path);
  for (text_index const* const index : {&memory, &opened}) {
    EXPECT_TRUE(holds_vectors(index->options()));
    // Columns 2, 10, 256 and 65536: in numeric order, not in that of their digits.
    ASSERT_EQ(index->terms().size(), 4U);
    EXPECT_EQ(index->terms()[1], std::string("\0\0\0\n", 4));
    EXPECT_EQ(index->ids()[2], "c3");
    EXPECT_EQ(index->label(0), "-1");
    sparse_rows const rows = index->index().documents();
    EXPECT_EQ(std::vector(rows.begin.begin(), rows.begin.end()),
              (std::vector<std::uint64_t>{0, 2, 4, 4, 6}));
    EXPECT_EQ(std::vector(rows.term.begin(), rows.term.end()),
              (std::vector<std::uint32_t>{0, 2, 0, 1, 0, 3}));
    EXPECT_EQ(std::vector(rows.weight.begin(), rows.weight.end()),
              (std::vector<double>{0.5, 2, 1, -3, 1, 4}));
    datasets::text_document query;
    query.vector = {{2, -1}, {9, 5}, {65536, 0.25}};
    sparse_matrix const queries = index->queries({}, {&query, 1});
    EXPECT_EQ(queries.term, (std::vector<std::uint32_t>{0, 3}));
    EXPECT_EQ(queries.weight, (std::vector<double>{-1, 0.25}));
  }
  options.weighting.how = weighting::tf_idf;
  EXPECT_EQ(text_index::build({}, path, options).index().documents().weight[1], 2 * std::log(4.0));
  options.weighting.tf = term_frequency::binary;
  EXPECT_EQ(text_index::build({}, path, options).index().documents().weight[1], std::log(4.0));
  options.weighting.tf = term_frequency::log;
  EXPECT_THROW(text_index::build({}, path, options), usage_error);
  options.weighting = {.how = weighting::bm25};
  EXPECT_THROW(text_index::build({}, path, options), usage_error);
}

/// The file that `build` writes for the collection, left in the folder as "index".
std::string bytes_of_an_index(temporary_folder const& folder) {
  std::string const path = folder / "index";
  output_file file(path);
  text_index::build({}, written(folder, "c.jsonl", collection), plain(), file);
  file.commit();
  return bytes_of(path);
}

TEST(text_index, damage_is_told) {
  temporary_folder const folder;
  std::string const bytes = bytes_of_an_index(folder);
  EXPECT_NO_THROW(text_index::open({}, written(folder, "good", bytes)));
  for (std::size_t at = 0; at < bytes.size(); at += at < 1024 ? 1 : 13) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    std::string const path = written(folder, "damaged", damaged);
    EXPECT_PRED2(says, message_of([&] { text_index::open({}, path); }), path + ":1:1: ...") << at;
  }
  for (std::size_t const size :
       {std::size_t{1}, std::size_t{40}, std::size_t{100}, bytes.size() - 1})
    EXPECT_THROW(text_index::open({}, written(folder, "cut", bytes.substr(0, size))), error);
  EXPECT_THROW(text_index::open({}, written(folder, "longer", bytes + "x")), error);
  EXPECT_THROW(text_index::open({}, written(folder, "empty", "")), error);
  EXPECT_THROW(text_index::open({}, written(folder, "text", collection)), error);
  EXPECT_THROW(text_index::open({}, (folder.path() / "absent").string()), error);
  EXPECT_THROW(text_index::open({}, folder.path().string()), error);
}

/// Returns an index whose checksums are correct, but which `build` does not write.
std::string forged(std::string const& good,
                   std::function<void(index_layout const&, std::span<std::byte>,
                                      nlohmann::ordered_json&)> const& change) {
  std::string bytes = good;
  std::span<std::byte> const all{reinterpret_cast<std::byte*>(bytes.data()), bytes.size()};
  read_index const read = check_index({}, all, "good");
  index_layout::sizes sizes{};
  for (std::size_t s = 0; s < read.sections.size(); ++s) sizes[s] = read.sections[s].size();
  index_layout const layout(sizes, read.has_dictionary());
  nlohmann::ordered_json what = nlohmann::ordered_json::object();
  for (auto const& [key, one] : read.header.items())
    if (key != "sections") what[key] = one;
  change(layout, all, what);
  std::string header = index_header({}, layout, all, what);
  header.resize(bytes.size() - layout.end(), ' ');
  finish_index(all, layout, header);
  return bytes;
}

std::string forged(std::string const& good, section where, double value) {
  return forged(good, [&](index_layout const& layout, std::span<std::byte> all, auto&) {
    layout.of<double>(all, where)[1] = value;
  });
}

TEST(text_index, headers_that_cannot_be_are_told) {
  temporary_folder const folder;
  std::string const good = bytes_of_an_index(folder);
  std::string const other = folder / "other";
  nlohmann::json deep = 1;
  for (int level = 0; level < 600; ++level) deep = nlohmann::json::array({std::move(deep)});
  for (auto const& [pointer, value] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"/analyzer/stemmer", "klingon"},
           {"/analyzer/stop_words", "latin"},
           {"/analyzer/stop_words", "file:" + written(folder, "words", "the")},
           {"/analyzer/min_length", -5},
           {"/analyzer/min_length", deep},
           {"/analyzer/max_length", 0},
           {"/analyzer/fold", "yes"},
           {"/weighting/how", "bm26"},
           {"/weighting/tf", "ln"},
           {"/weighting/queries/how", "bm25"},
           {"/weighting/queries", 3},
           {"/weighting", {{"how", "bm25"}, {"k1", -1}, {"b", 0.5}}},
           {"/weighting", {{"how", "bm25"}, {"k1", 1}, {"b", 2}}},
           {"/metric", "cos"},
           {"/version", 1},
           {"/version", 3},
           {"/version", 2.5},
           {"/version", 1e300},
           {"/max_share", 7},
           {"/min_documents", -3},
           {"/mean_length", -1},
           {"/documents", 3.5},
           {"/documents", 1000},
           {"/terms", 1},
           {"/postings", 1}}) {
    auto const change = [&at = pointer, &with = value](auto const&, auto,
                                                       nlohmann::ordered_json& what) {
      what[nlohmann::ordered_json::json_pointer(at)] = with;
    };
    written(folder, "other", forged(good, change));
    EXPECT_PRED2(says, message_of([&] { text_index::open({}, other); }), other + ":1:...")
        << pointer << ' ' << value;
  }
}

TEST(text_index, dictionaries_that_cannot_be_are_told) {
  temporary_folder const folder;
  written(folder, "c.jsonl", collection);
  text_index_options options = plain();
  options.dictionary = true;
  std::string const path = folder / "with";
  {
    output_file out(path);
    text_index::build({}, folder / "c.jsonl", options, out);
    out.commit();
  }
  std::string const good = bytes_of(path);
  ASSERT_GT(text_index::open({}, path).dictionary()->words.size(),
            1U);  // air, and, flow, heat, the
  auto const refused = [&](auto const& change) {
    EXPECT_THROW(text_index::open({}, written(folder, "other", forged(good, change))), error);
  };
  for (std::uint32_t const documents : {0U, 1U, 5U})
    refused([documents](index_layout const& layout, std::span<std::byte> all, auto&) {
      layout.of<std::uint32_t>(all, section::word_documents)[0] = documents;
    });
  refused([](index_layout const& layout, std::span<std::byte> all, auto&) {
    layout.of<std::uint64_t>(all, section::word_begin)[1] = 1000;
  });
  refused([](index_layout const& layout, std::span<std::byte> all, auto&) {
    layout.of<char>(all, section::words)[0] = 'z';  // no longer in order
  });
  refused([](auto const&, auto, nlohmann::ordered_json& what) { what["vectors"] = true; });
  written(folder, "again", forged(good, [](auto const&, auto, auto&) {}));
  EXPECT_EQ(text_index::open({}, folder / "again").dictionary()->words[0], "air");
}

TEST(text_index, places_of_sections_that_cannot_be_are_told) {
  temporary_folder const folder;
  std::string good = bytes_of_an_index(folder);
  read_index const read =
      check_index({}, {reinterpret_cast<std::byte*>(good.data()), good.size()}, "good");
  index_layout::sizes sizes{};
  for (std::size_t s = 0; s < read.sections.size(); ++s) sizes[s] = read.sections[s].size();
  index_layout const layout(sizes, read.has_dictionary());
  nlohmann::json const& first = read.header.at("sections").at(0);
  auto const number = [&](char const* key) { return first.at(key).get<std::uint64_t>(); };
  for (auto const& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"begin", static_cast<double>(number("begin"))},
           {"begin", -64},
           {"begin", 1e300},
           {"bytes", static_cast<double>(number("bytes")) + 0.5},
           {"bytes", true},
           {"crc32", static_cast<double>(number("crc32"))},
           {"crc32", number("crc32") + (std::uint64_t{1} << 32)}}) {
    nlohmann::json changed = read.header;
    changed["sections"][0][key] = value;
    std::string const header = changed.dump();
    std::string bytes = good.substr(0, layout.end());
    bytes.resize(layout.end() + header.size());
    finish_index({reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}, layout, header);
    EXPECT_THROW(text_index::open({}, written(folder, "other", bytes)), error) << key << value;
  }
}

TEST(text_index, numbers_that_cannot_be_are_told) {
  temporary_folder const folder;
  std::string const good = bytes_of_an_index(folder);
  EXPECT_NO_THROW(text_index::open({}, written(folder, "same", forged(good, section::norms, 1))));
  double const infinite = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (auto const& [where, value] : {std::pair{section::norms, -1.0},
                                     {section::norms, infinite},
                                     {section::norms, nan},
                                     {section::list_weight, infinite},
                                     {section::list_weight, nan},
                                     {section::list_weight, -1e151},
                                     {section::row_weight, nan},
                                     {section::row_weight, 1e151}})
    EXPECT_THROW(text_index::open({}, written(folder, "other", forged(good, where, value))), error)
        << static_cast<int>(where) << ' ' << value;
}

TEST(text_index, standard_output_is_refused) {
  temporary_folder const folder;
  output_file file("-");
  EXPECT_THROW(text_index::build({}, written(folder, "c.jsonl", collection), plain(), file),
               usage_error);
}

TEST(count_spill, reads_what_was_appended) {
  for (std::size_t const most : {std::size_t{0}, std::size_t{5}, std::size_t{1} << 20}) {
    count_spill spill(most);
    std::vector<std::vector<term_count>> rows;
    for (std::uint32_t r = 0; r < 200; ++r) {
      rows.emplace_back();
      for (std::uint32_t i = 0; i < r % 17; ++i)
        rows.back().push_back({r + i, static_cast<double>(i)});
      spill.append(rows.back());
    }
    for (int again = 0; again < 2; ++again) {
      std::size_t r = 0;
      spill.read([&](std::span<term_count const> row) {
        ASSERT_EQ(row.size(), rows[r].size());
        for (std::size_t i = 0; i < row.size(); ++i) {
          EXPECT_EQ(row[i].term, rows[r][i].term);
          EXPECT_EQ(row[i].count, rows[r][i].count);
        }
        ++r;
      });
      EXPECT_EQ(r, rows.size());
    }
  }
}

TEST(count_spill, rows_longer_than_what_it_reads_at_once) {
  std::vector<std::size_t> const sizes{600'000, 700'000, 1'200'000, 3, 0, 10};
  for (std::size_t const most : {std::size_t{0}, std::size_t{700'000}, std::size_t{1} << 22}) {
    count_spill spill(most);
    for (std::uint32_t r = 0; r < sizes.size(); ++r)
      spill.append(std::vector<term_count>(sizes[r], term_count{r, 1. + r}));
    std::uint32_t r = 0;
    spill.read([&](std::span<term_count const> row) {
      ASSERT_EQ(row.size(), sizes[r]);
      EXPECT_TRUE(std::ranges::all_of(
          row, [&](term_count const& of) { return of.term == r && of.count == 1. + r; }));
      ++r;
    });
    EXPECT_EQ(r, sizes.size());
  }
}

/// Runs `work` where no file may grow, as on a full disk, and returns the message that it throws.
template <class Work>
std::string on_a_full_disk(Work&& work) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const none{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  std::string said = message_of<output_error>(work);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  return said;
}

TEST(count_spill, full_disk_and_no_folder) {
  std::vector<term_count> const row(100, term_count{1, 2});
  std::string const said = on_a_full_disk([&] {
    count_spill spill(10);
    for (int r = 0; r < 10; ++r) spill.append(row);
  });
  EXPECT_TRUE(said.starts_with("a temporary file in ")) << said;
  EXPECT_TRUE(said.ends_with(" cannot be written: File too large")) << said;

  temporary_folder const folder;
  char const* const before = std::getenv("TMPDIR");
  std::string const kept = before == nullptr ? "" : before;
  setenv("TMPDIR", (folder / "absent").c_str(), 1);
  count_spill spill(10);
  EXPECT_THROW(spill.append(row), output_error);
  if (before == nullptr)
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace rulerank::knn::text_index_test
