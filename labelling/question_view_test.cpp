#include "labelling/question_view.hpp"

#include "labelling/testing.hpp"

#include <regex>

#include <nlohmann/json.hpp>

namespace rulerank::inline v0::labelling::question_view_test {
namespace {

class views : public pool_test {};

TEST_F(views, have_what_a_labeller_looks_at) {
  document_texts read = texts();
  question_views const shown(ctx, {pool, binned, cuts, {{1, "BM25"}}, &read, 2});
  al::labelling work(ctx, binned, options());
  for (int i = 0; i < 4; ++i)
    work.answer(work.wanted().front().document, labels[work.wanted().front().document]);
  al::question const now = work.wanted().front();
  question_view const view = shown.view(shown.request(now, work));
  EXPECT_EQ(view.docid, fmt::format("D{}", now.document));
  EXPECT_EQ(view.qid, fmt::format("q{}", now.document / 10));
  EXPECT_EQ(view.query, fmt::format("the winged shapes {}", now.document / 10));
  EXPECT_TRUE(view.why.starts_with("the document with the fewest rules"));
  ASSERT_GE(view.brings.size(), 2U);
  EXPECT_NE(view.brings[0].find("of its 6 itemsets of at most 2 features"), std::string::npos)
      << view.brings[0];
  EXPECT_EQ(view.features.size(), 3U);
  ASSERT_EQ(view.neighbours.size(), 2U);
  EXPECT_EQ(view.neighbours[0].label, labels[view.neighbours[0].document]);
  EXPECT_GE(view.neighbours[0].shared, view.neighbours[1].shared);
  EXPECT_TRUE(view.neighbours[0].title.starts_with("Wing "));
  EXPECT_EQ(shown.text_cells(0)[1], "Wing 0");
}

TEST_F(views, ask_a_program_what_a_labeller_sees) {
  document_texts shown = texts();
  question_views const asked(ctx, {pool, binned, cuts, {{1, "bm25"}}, &shown, 3});
  nlohmann::ordered_json const request = judge_request(asked, 12, 2);
  EXPECT_EQ(request["qid"], "q1");
  EXPECT_EQ(request["docid"], "D12");
  EXPECT_EQ(request["query"], "the winged shapes 1");
  EXPECT_EQ(request["title"], "Wing 12");
  EXPECT_EQ(request["text"], "flow over wings of shape 12");
  EXPECT_EQ(request["labels"], (nlohmann::ordered_json{0, 1, 2}));
  EXPECT_EQ(request["features"].size(), 6U);
  EXPECT_TRUE(request["features"].contains("bm25"));
}

/// Every feature's value lies in its displayed range, in the units of the file.
TEST_F(views, show_features_in_their_own_units) {
  std::regex const between(R"(feature \d+ in \[(\S+), (\S+)\))");
  std::regex const from(R"(feature \d+ >= (\S+))"), below(R"(feature \d+ < (\S+))");
  using datasets::normalization;
  for (auto const norm :
       {normalization::none, normalization::query_minmax, normalization::query_zscore}) {
    datasets::discretizer_options how;
    how.method = datasets::binning::width;
    how.bins = 3;
    how.norm = norm;
    auto const fitted = datasets::fit_discretizer(ctx, pool, how);
    auto const items = datasets::apply_discretizer(ctx, pool, fitted);
    question_views const shown(ctx, {pool, items, fitted, {}, nullptr, 2});
    std::size_t bounds = 0;
    for (std::size_t d = 0; d < pool.size(); ++d)
      for (feature_view const& f : shown.all_features(d)) {
        double const value = f.value == "not listed" ? 0 : std::stod(f.value);
        std::smatch found;
        if (std::regex_match(f.range, found, between)) {
          double const low = std::stod(found[1]), high = std::stod(found[2]);
          EXPECT_LE(low, value + 1e-9) << f.range;
          EXPECT_GT(high, value - 1e-9) << f.range;
          EXPECT_GT(high - low, 1.0) << "normalized, not its own: " << f.range;
          ++bounds;
        } else if (std::regex_match(f.range, found, from)) {
          EXPECT_LE(std::stod(found[1]), value + 1e-9) << f.range;
        } else if (std::regex_match(f.range, found, below)) {
          EXPECT_GT(std::stod(found[1]), value - 1e-9) << f.range;
        } else {
          ADD_FAILURE() << f.range;
        }
      }
    EXPECT_GT(bounds, 20U);
  }
}

TEST_F(views, say_what_to_expect) {
  al::outlook ahead;
  ahead.rules = 3;
  EXPECT_EQ(describe(ahead), "3 rules so far; no more documents are needed");
  ahead.documents = 12;
  ahead.documents_low = 5;
  ahead.documents_high = 30;
  ahead.next = 10;
  EXPECT_EQ(describe(ahead),
            "3 rules so far; too few answers to estimate how many documents are left: 0 labels "
            "differ from the most frequent label, and 10 are needed");
  ahead.minority_labels = 1;
  EXPECT_TRUE(describe(ahead).ends_with(
      ": 1 label differs from the most frequent label, and 10 are needed"));
  ahead.minority_labels = 10;
  EXPECT_EQ(describe(ahead),
            "3 rules so far; estimated with guessed labels: about 0 more from the next 10 "
            "documents, about 0 more from 12 documents to the end (5 to 30 documents)");
  ahead.left_out = 4;
  EXPECT_TRUE(describe(ahead).ends_with(
      "from 12 documents to the end (5 to 30 documents), 4 of them skipped at the present rate"));
}

}  // namespace
}  // namespace rulerank::labelling::question_view_test
