#include "report/card_sheet.hpp"

#include <charconv>
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

namespace rulerank::inline v0::report::card_sheet_test {
namespace {

constexpr std::int64_t one_point = std::int64_t{1} << l2r::card_bits;

/// Two features of 100 documents; none misses the first one.
l2r::scorecard_member small_card(std::string const& name) {
  datasets::discretizer cuts;
  cuts.options.method = datasets::binning::capped;
  cuts.features = {{1, {0.1, 0.5}}, {2, {}}, {3, {7}}};
  cuts.names = {{1, name}};
  l2r::scorecard_member card;
  card.cuts = std::make_shared<datasets::discretizer const>(std::move(cuts));
  card.options.page.emplace();
  card.card = {{1, 3}, {0, 4, 7}, {0, 20, 100, 0, 50, 0, 10}};
  for (std::int64_t& points : card.card.points) points *= one_point;
  card.training_documents = 100;
  card.item_documents = {70, 20, 10, 0, 40, 57, 3};
  card.totals = {{0, 50, 0.1}, {60, 30, 0.5}, {61, 20, 1.5}};
  return card;
}

inspected_member inspected_card(l2r::model const& card) {
  static datasets::feature_names const none;
  return inspected({}, card, 0, none, {});
}

card_sheet small_sheet(std::string const& name = "BM25_of_title") {
  l2r::model const member{{small_card(name)}};
  return sheet_of(inspected_card(member));
}

std::size_t count(std::string const& text, std::string const& of) {
  std::size_t found = 0;
  for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++found;
  return found;
}

TEST(card_sheet, as_text) {
  blocks to;
  add_sheet(small_sheet(), true, to);
  EXPECT_EQ(
      to_text(to, eval::table_format::table),
      "2 features in 6 bins, fitted to 100 documents.\n"
      "A score is the sum of a document's points, 0 to 150; the largest score ranks first.\n"
      "Each feature gives the points of one bin: the last one whose \"from\" the value reaches.\n"
      "A missing value has 0 points where no bin \"missing\" is listed.\n"
      // Means of 20.3 and 14: (40 * 29.7 + 57 * 20.3 + 3 * 10.3) / 100, and
      // (70 * 14 + 20 * 6 + 10 * 86) / 100.
      "\n1. feature 3  \u2588\u2581\u2582  0 to 50 points, moves scores by 23.8\n"
      "from    lowest   7  missing\n"
      "points      50   0       10\n"
      "% docs      40  57        3\n"
      "\n2. BM25_of_title  \u2581\u2582\u2588  0 to 100 points, moves scores by 19.6\n"
      "from    lowest  0.1  0.5\n"
      "points       0   20  100\n"
      "% docs      70   20   10\n"
      "\nWhat a score means, over 100 labelled documents:\n"
      "score        <60    60   61+\n"
      "% below        0    50    80\n"
      "documents     50    30    20\n"
      "mean label  0.10  0.50  1.50\n"
      "Loss pair, smoothness 0.1, points penalty 0.0001; cuts capped, at most 10 "
      "bins.\n");
}

TEST(card_sheet, without_counts_shows_points_alone) {
  l2r::scorecard_member card = small_card("n");
  card.training_documents = 0;
  card.item_documents.clear();
  card.totals.clear();
  l2r::model const member{{card}};
  card_sheet const sheet = sheet_of(inspected_card(member));
  ASSERT_EQ(sheet.features.size(), 2U);
  EXPECT_EQ(sheet.features[0].title, "1. n");  // the widest range
  EXPECT_EQ(sheet.features[0].columns.size(), 4U);
  EXPECT_EQ(sheet.features[0].labels, (std::vector<std::string>{"from", "points"}));
  EXPECT_TRUE(sheet.totals.empty());
  blocks head;
  add_sheet(sheet, false, head);
  EXPECT_EQ(head.size(), sheet.head.size() + sheet.foot.size());
}

TEST(card_sheet, intervals_are_a_row) {
  l2r::model const member{{small_card("n")}};
  inspected_member of = inspected_card(member);
  of.intervals = {{0, 0}, {10, 25}, {90, 100}, {0, 0}, {40, 60}, {0, 0}, {0, 30}};
  card_sheet const sheet = sheet_of(of);
  EXPECT_EQ(sheet.features[1].labels[2], "90 %");
  EXPECT_EQ(sheet.features[1].columns[1], (std::vector<std::string>{"0.1", "20", "10-25", "20"}));
  EXPECT_EQ(sheet.features[0].columns[1][2], "0");
}

TEST(card_sheet, parts_have_each_bin_once_and_fit) {
  card_strip strip{"t", "", {"from", "points"}, {}, {}};
  for (int i = 0; i < 23; ++i) {
    strip.columns.push_back({std::to_string(1000 * i), std::to_string(i)});
    strip.bars.push_back(i);
  }
  auto const width = [](std::string_view text) { return static_cast<double>(text.size()); };
  EXPECT_EQ(parts_of(strip, 1000, 2, width).size(), 1U);
  for (double const room : {1.0, 20.0, 60.0, 100.0}) {
    double next = 0;
    for (card_strip const& part : parts_of(strip, room, 2, width)) {
      ASSERT_EQ(part.columns.size(), part.bars.size());
      double used = 6;
      for (auto const& column : part.columns) used += 2 + width(column[0]);
      EXPECT_TRUE(used <= room || part.columns.size() == 1) << used << " in " << room;
      for (std::size_t b = 0; b < part.bars.size(); ++b, ++next) {
        EXPECT_EQ(part.bars[b], next);
        EXPECT_EQ(part.columns[b][1], std::to_string(static_cast<int>(next)));
      }
    }
    EXPECT_EQ(next, 23);
  }
}

TEST(card_sheet, bars_have_one_scale) {
  std::vector<card_strip> strips(2);
  EXPECT_EQ(scale_of(strips).unit, 1);
  strips[0].bars = {0.5};
  strips[1].bars = {-1, 0.25};
  EXPECT_DOUBLE_EQ(scale_of(strips).zero, 1 / 1.5);
  EXPECT_DOUBLE_EQ(scale_of(strips).unit, 1 / 1.5);
}

TEST(card_sheet, html_and_latex_keep_texts_texts) {
  card_sheet const sheet = small_sheet("</style><b>&_%$");
  std::string const page = sheet_html(sheet, "card <1>");
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(count(page, "</style>"), 1U);
  EXPECT_EQ(count(page, "<rect "), 9U);
  EXPECT_EQ(count(page, "<title>card &lt;1&gt;</title>"), 1U);
  std::string const latex = sheet_latex(sheet, "card_1");
  EXPECT_EQ(count(latex, "caption{card\\_1. 2 features"), 1U);
  EXPECT_EQ(count(latex, "\\&\\_\\%\\$"), 1U);
  EXPECT_EQ(count(latex, "{lrrr}"), 1U);
  EXPECT_EQ(count(latex, "points & 0 & 20 & 100 \\\\\n"), 1U);
  EXPECT_EQ(count(latex, "\\begin{"), count(latex, "\\end{"));
  EXPECT_EQ(count(latex, "\\midrule"), 2U);
}

std::size_t number_at(std::string const& text, std::size_t at) {
  std::size_t value = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

/// Reads a file as PDF readers do: from its end, by its table of objects.
void expect_pdf(std::string const& file, std::size_t pages) {
  EXPECT_TRUE(file.starts_with("%PDF-1.4\n"));
  EXPECT_TRUE(file.ends_with("%%EOF\n"));
  std::size_t const table = number_at(file, file.rfind("startxref\n") + 10);
  ASSERT_EQ(file.substr(table, 7), "xref\n0 ");
  std::size_t const objects = number_at(file, table + 7);
  EXPECT_EQ(objects, 6 + 2 * pages);
  std::size_t entry = file.find('\n', table + 7) + 1;
  for (std::size_t i = 1; i < objects; ++i) {
    entry += 20;
    std::string const head = std::to_string(i) + " 0 obj\n";
    EXPECT_EQ(file.substr(number_at(file, file.find_first_not_of('0', entry)), head.size()), head);
  }
  for (std::size_t at = file.find("/Length "); at != std::string::npos;
       at = file.find("/Length ", at + 1)) {
    std::size_t const begin = file.find("stream\n", at) + 7;
    EXPECT_EQ(file.substr(begin + number_at(file, at + 8), 9), "endstream");
  }
  EXPECT_EQ(count(file, "/Type /Page "), pages);
  EXPECT_EQ(count(file, "/Count " + std::to_string(pages) + " "), 1U);
}

TEST(card_sheet, pdf_is_one_page_that_readers_find_their_way_in) {
  std::string const file = sheet_pdf(small_sheet("a (b) \\ \u00fc \u2192"), "card");
  expect_pdf(file, 1);
  EXPECT_EQ(count(file, "(2. a \\(b\\) \\\\ \xfc ?) Tj"), 1U);
  EXPECT_EQ(count(file, "(missing) Tj"), 1U);
  EXPECT_EQ(count(file, " re f\n"), 6 + 3 + 3U);  // bars, and each strip's zero line
}

TEST(card_sheet, pdf_of_many_features_has_more_pages) {
  card_sheet sheet = small_sheet();
  sheet.features.resize(25, sheet.features[0]);
  expect_pdf(sheet_pdf(sheet, "card"), 3);
}

}  // namespace
}  // namespace rulerank::report::card_sheet_test
