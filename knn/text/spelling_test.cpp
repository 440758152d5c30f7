#include "knn/text/spelling.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "knn/metric/edit_distance/edit_distance_reference.hpp"
#include "knn/unicode.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::spelling_test {
namespace {

using rulerank::testing_tools::temporary_folder;

/// An index of documents, each a text.
text_index index_of(temporary_folder const& folder, std::vector<std::string> const& texts,
                    bool dictionary = true) {
  std::string const path = folder / "docs.tsv";
  {
    std::ofstream out(path, std::ios::binary);
    for (std::size_t d = 0; d < texts.size(); ++d) out << d << '\t' << texts[d] << '\n';
  }
  text_index_options options;
  options.dictionary = dictionary;
  return text_index::build({}, path, options);
}

std::vector<datasets::text_document> queries_of(std::vector<std::string> const& texts) {
  std::vector<datasets::text_document> queries;
  for (std::string const& text : texts) {
    datasets::text_document& query = queries.emplace_back();
    query.id = std::to_string(queries.size());
    query.fields.push_back({"", text});
  }
  return queries;
}

std::string corrected(text_index const& index, std::string const& text) {
  auto queries = queries_of({text});
  spelling_corrector({}, index).correct({}, queries);
  return queries[0].fields[0].text;
}

TEST(spelling, dictionary_is_of_words_of_two_documents) {
  temporary_folder const folder;
  text_index const index =
      index_of(folder, {"The flows of AIR, flowing", "the flows; air once once", "Caf\u00e9 mach2",
                        "caf\u00e9 mach2"});
  ASSERT_TRUE(index.dictionary());
  std::vector<std::string> words;
  for (std::size_t w = 0; w < index.dictionary()->words.size(); ++w)
    words.emplace_back(index.dictionary()->words[w]);
  // Folded, not stemmed, including stop words.
  EXPECT_EQ(words, (std::vector<std::string>{"air", "cafe", "flows", "mach2", "the"}));
  EXPECT_TRUE(std::ranges::all_of(index.dictionary()->documents, [](auto n) { return n == 2; }));
  EXPECT_TRUE(index.options().dictionary);
}

TEST(spelling, by_hand) {
  temporary_folder const folder;
  text_index const index =
      index_of(folder, {"boundary layer flow hello wind cold",
                        "boundary layer flow hello wind cold", "wing wing gold wind layer",
                        "wing gold fold", "fold the mach2 turbulence", "turbulence mach2 the"});
  for (auto const& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"the boundrry of a FLWO", "the boundary of a FLWO"},  // a swap is two edits: 4 letters
           {"Layr, (layers)!", "layer, (layer)!"},
           {"boundary layer", "boundary layer"},
           {"flo", "flo"},                 // 3 letters
           {"flow2 mach", "flow2 mach2"},  // flow2 has a digit, mach has none
           {"wint", "wind"},               // wind (3 documents) before wing (2)
           {"bold", "cold"},               // cold, fold, gold in 2 each: the first of them
           {"trbulense", "turbulence"},    // 9 letters: two edits
           {"turbulnc", "turbulence"},     // 8 letters: two edits
           {"turbuln", "turbuln"},         // 7: three
           {"xyzzyx", "xyzzyx"},           // nothing near
           {"they", "they"},               // a stop word that the collection lacks
           {"", ""}})
    EXPECT_EQ(corrected(index, text), expected) << text;
}

TEST(spelling, reports_what_it_replaced_in_the_order_of_the_texts) {
  temporary_folder const folder;
  text_index const index = index_of(folder, {"boundary layer flow", "boundary layer"});
  auto queries = queries_of({"layer", "laier bounqxry LAYR"});
  queries[1].fields.push_back({"title", "layrr"});
  auto const changes = spelling_corrector({}, index).correct({}, queries);
  ASSERT_EQ(changes.size(), 4U);
  std::vector<std::string> words;
  for (spelling_change const& one : changes) {
    EXPECT_EQ(one.document, 1U);
    words.push_back(one.word + ">" + one.replacement + std::to_string(one.distance));
    EXPECT_EQ(one.documents, 2U);
  }
  EXPECT_EQ(words, (std::vector<std::string>{"laier>layer1", "bounqxry>boundary2", "layr>layer1",
                                             "layrr>layer1"}));
  EXPECT_EQ(queries[0].fields[0].text, "layer");
  EXPECT_EQ(queries[1].fields[0].text, "layer boundary layer");
  EXPECT_EQ(queries[1].fields[1].text, "layer");
}

TEST(spelling, letters_are_code_points) {
  temporary_folder const folder;
  std::string const greek = "\u03ba\u03b1\u03c4\u03ac\u03bb\u03bf\u03b3\u03bf\u03c2";
  text_index const index = index_of(folder, {greek + " \u043c\u0438\u0440", greek + " naive"});
  // 7 of 9 letters, so one edit is allowed but two are needed; then 8 of 9.
  std::string const seven = "\u03ba\u03b1\u03c4\u03b1\u03bb\u03bf\u03b3";
  EXPECT_EQ(corrected(index, seven), seven);
  std::string const folded(index.dictionary()->words[0]);
  EXPECT_EQ(corrected(index, "\u03ba\u03b1\u03c4\u03b1\u03bb\u03bf\u03b3\u03bf"), folded);
}

TEST(spelling, other_bytes_stay_as_they_are) {
  temporary_folder const folder;
  text_index const index = index_of(folder, {"layer caf\u00e9s", "layer caf\u00e9s"});
  std::string const odd = "caf\xe9s \xff layer";
  EXPECT_EQ(corrected(index, odd), odd);  // Latin-1, without replacements
  EXPECT_EQ(corrected(index, "caf\xe9s \t layr\n"), "caf\u00e9s \t layer\n");
}

TEST(spelling, is_as_defined) {
  temporary_folder const folder;
  random_engine draw(7);
  auto const word = [&] {
    std::string text;
    for (std::size_t i = 3 + uniform_below(draw, 8); i > 0; --i)
      text += static_cast<char>('a' + uniform_below(draw, 3));
    return text;
  };
  std::vector<std::string> texts(60);
  std::map<std::string, std::set<std::size_t>> documents;
  for (std::size_t d = 0; d < texts.size(); ++d)
    for (int i = 0; i < 20; ++i) {
      std::string const one = word();
      texts[d] += one + " ";
      documents[one].insert(d);
    }
  text_index const index = index_of(folder, texts);
  auto const distance = [](std::string const& a, std::string const& b) {
    std::vector<std::uint32_t> const x(a.begin(), a.end()), y(b.begin(), b.end());
    return edit_distance_reference(x, y);
  };
  std::size_t replaced = 0;
  for (int i = 0; i < 400; ++i) {
    std::string const asked = word();
    std::string expected = asked;
    auto const at = documents.find(asked);
    if (asked.size() >= 4 && (at == documents.end() || at->second.size() < 2)) {
      std::tuple best{asked.size() >= 8 ? std::size_t{3} : std::size_t{2}, std::size_t{0}, asked};
      for (auto const& [one, in] : documents)
        if (in.size() >= 2)
          best = std::min(best, std::tuple(distance(asked, one), texts.size() - in.size(), one));
      if (std::get<0>(best) <= (asked.size() >= 8 ? 2U : 1U)) expected = std::get<2>(best);
    }
    replaced += expected != asked;
    ASSERT_EQ(corrected(index, asked), expected) << asked;
  }
  EXPECT_GT(replaced, 50U);
}

TEST(spelling, is_kept_in_files) {
  temporary_folder const folder;
  index_of(folder, {"boundary layer", "layer boundary"});
  auto const saved = [&](bool dictionary) {
    text_index_options options;
    options.dictionary = dictionary;
    std::string const path = folder / (dictionary ? "with" : "without");
    output_file out(path);
    text_index::build({}, folder / "docs.tsv", options, out);
    out.commit();
    return path;
  };
  text_index const with = text_index::open({}, saved(true));
  EXPECT_EQ(corrected(with, "layr"), "layer");
  text_index const without = text_index::open({}, saved(false));
  EXPECT_FALSE(without.dictionary());
  EXPECT_THROW(spelling_corrector({}, without), usage_error);
  // The words are separate: a version without dictionaries reads such a file.
  std::ifstream file(saved(false), std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(bytes.find("\"version\":2"), bytes.npos);
}

TEST(spelling, fields_and_threads_make_no_difference) {
  temporary_folder const folder;
  std::string const path = folder / "docs.jsonl";
  {
    std::ofstream out(path, std::ios::binary);
    for (int d = 0; d < 100; ++d)
      out << "{\"id\":" << d << ",\"title\":\"layer w" << d % 7 << "\",\"text\":\"x" << d % 60
          << " layer\"}\n";
  }
  text_index_options options;
  options.dictionary = true;
  std::vector<std::string> all;
  for (int const threads : {1, 3}) {
    context ctx;
    ctx.threads = threads;
    for (bool const fields : {false, true}) {
      text_index const index = fields ? text_index::build_with_fields(ctx, path, options).index
                                      : text_index::build(ctx, path, options);
      std::string text;
      for (std::size_t w = 0; w < index.dictionary()->words.size(); ++w)
        text += std::string(index.dictionary()->words[w]) + ":" +
                std::to_string(index.dictionary()->documents[w]) + " ";
      all.push_back(text);
    }
  }
  EXPECT_NE(all[0].find("layer:100 "), all[0].npos);
  for (std::string const& one : all) EXPECT_EQ(one, all[0]);
}

TEST(spelling, vectors_have_none) {
  temporary_folder const folder;
  std::ofstream(folder / "v.svm") << "1 1:2\n";
  text_index_options options;
  options.format = datasets::text_format::svmlight;
  options.weighting = {.how = weighting::none};
  options.dictionary = true;
  EXPECT_THROW(text_index::build({}, folder / "v.svm", options), usage_error);
}

TEST(spelling, nothing_is_near_in_an_empty_dictionary) {
  temporary_folder const folder;
  text_index const index = index_of(folder, {"one", "other"});
  ASSERT_TRUE(index.dictionary());
  EXPECT_EQ(index.dictionary()->words.size(), 0U);
  EXPECT_EQ(corrected(index, "othr"), "othr");
}

}  // namespace
}  // namespace rulerank::knn::spelling_test
