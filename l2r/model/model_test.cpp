#include "l2r/model/model.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/scorer.hpp"

#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r::model_test {
namespace {

using rulerank::testing_tools::says;

datasets::dataset small_set() {
  std::string text;
  for (int d = 0; d < 40; ++d)
    text += fmt::format("{} qid:{} 1:{} 3:{} 7:{}\n", d % 3, d / 8, d % 7 * .1,
                        d % 5 == 0 ? "NULL" : fmt::format("{}", d % 4), d);
  return datasets::parse_svmlight(context{}, text, "small");
}

/// Three members, two of which share cuts and training documents.
model small_model() {
  rules_recipe first, second;
  first.scoring = {4, {2, .01}, -.25, 5, .5};
  second.discretizer.method = datasets::binning::frequency;
  rules_recipe third = first;
  third.scoring.rule_size = 3;
  return fit(context{}, small_set(), std::vector<recipe>{first, second, third});
}

/// A member of each kind; rules and points share cuts.
model mixed_model() {
  linear_recipe linear;
  linear.options.strength = 0;
  return fit(context{}, small_set(),
             std::vector<recipe>{rules_recipe{}, scorecard_recipe{}, linear});
}

rules_member const& rules_of(model const& m, std::size_t k) {
  return std::get<rules_member>(m.members.at(k));
}

/// A model file with this header and these bytes, and a correct checksum.
std::string file_of(std::string const& header, std::string const& bytes = {},
                    int version = model_version) {
  std::string const body = header + "\n" + bytes;
  return fmt::format("rulerank-model {} {}\n", version, sha256_hex(body)) + body;
}

/// The message of the error that reading the bytes gives.
std::string message_of(std::string const& bytes) {
  return rulerank::testing_tools::message_of([&] { model_from_bytes(bytes, "m.model"); });
}

TEST(model, comes_back_whole) {
  model const m = small_model();
  rulerank::testing_tools::temporary_folder const folder;
  write_model(m, folder / "m");
  model const back = read_model(folder / "m");
  ASSERT_EQ(back.members.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    datasets::binned_dataset const& was = *rules_of(m, k).training;
    datasets::binned_dataset const& is = *rules_of(back, k).training;
    EXPECT_EQ(is.documents, was.documents);
    EXPECT_EQ(is.codes, was.codes);
    EXPECT_EQ(is.stride, was.stride);
    EXPECT_EQ(is.labels, was.labels);
    EXPECT_EQ(is.features, was.features);
    EXPECT_EQ(is.item_begin, was.item_begin);
    EXPECT_EQ(is.has_missing_item, was.has_missing_item);
    EXPECT_EQ(is.max_label, was.max_label);
    EXPECT_EQ(datasets::to_json(*rules_of(back, k).cuts), datasets::to_json(*rules_of(m, k).cuts));
  }
  scoring_options const& options = rules_of(back, 0).scoring;
  EXPECT_EQ(options.rule_size, 4U);
  EXPECT_EQ(options.thresholds.min_support, 2U);
  EXPECT_EQ(options.thresholds.min_confidence, .01);
  EXPECT_EQ(options.support_weight, -.25);
  EXPECT_EQ(options.smoothing, 5);
  EXPECT_EQ(options.feature_share, .5);
  EXPECT_EQ(rules_of(back, 2).scoring.rule_size, 3U);
  EXPECT_EQ(to_bytes(back), to_bytes(m));
  EXPECT_EQ(back.columns, 0U);
  model wider = m;
  wider.columns = 70;
  EXPECT_EQ(model_from_bytes(to_bytes(wider), "m").columns, 70U);
  EXPECT_EQ(to_bytes(model_from_bytes(to_bytes(wider), "m")), to_bytes(wider));
  EXPECT_NE(to_bytes(wider), to_bytes(m));
  context const ctx;
  EXPECT_EQ(scorer(ctx, back).score(ctx, small_set()).scores,
            scorer(ctx, m).score(ctx, small_set()).scores);
}

TEST(model, what_members_share_stands_once) {
  model const m = small_model();
  model const back = model_from_bytes(to_bytes(m), "m.model");
  EXPECT_EQ(rules_of(back, 0).training, rules_of(back, 2).training);
  EXPECT_EQ(rules_of(back, 0).cuts, rules_of(back, 2).cuts);
  EXPECT_NE(rules_of(back, 0).cuts, rules_of(back, 1).cuts);
  model copied = m;  // equal, not the same
  auto& third = std::get<rules_member>(copied.members[2]);
  third.training = std::make_shared<datasets::binned_dataset const>(*third.training);
  third.cuts = std::make_shared<datasets::discretizer const>(*third.cuts);
  EXPECT_EQ(to_bytes(copied), to_bytes(m));
}

TEST(model, cuts_that_do_not_make_the_training_items_are_refused) {
  model m = small_model();
  auto& first = std::get<rules_member>(m.members[0]);
  datasets::discretizer fewer = *first.cuts;
  fewer.features.back().cuts.pop_back();
  first.cuts = std::make_shared<datasets::discretizer const>(fewer);
  EXPECT_PRED2(says, message_of(to_bytes(m)),
               "...m.model:1:1: members[0].cuts: found cuts that do not make...");
  fewer.features.clear();
  first.cuts = std::make_shared<datasets::discretizer const>(fewer);
  EXPECT_NE(message_of(to_bytes(m)), "OK");
}

TEST(model, any_damaged_byte_is_noticed) {
  std::string const bytes = to_bytes(small_model());
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    // Rules alone are the same in version 2.
    if (damaged.starts_with("rulerank-model 2 ")) {
      EXPECT_EQ(to_bytes(model_from_bytes(damaged, "m.model")), bytes);
      continue;
    }
    EXPECT_TRUE(message_of(damaged).starts_with("m.model:1:1: ")) << "byte " << at;
  }
}

TEST(model, any_missing_end_is_noticed) {
  std::string const bytes = to_bytes(small_model());
  for (std::size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_TRUE(message_of(bytes.substr(0, length)).starts_with("m.model:1:1: ")) << length;
  EXPECT_TRUE(message_of(bytes + "x").starts_with("m.model:1:1: "));
}

TEST(model, foreign_earlier_and_later_files) {
  EXPECT_PRED2(says, message_of("1 qid:1 1:0.5\n"), "...not a model of rulerank...");
  EXPECT_PRED2(says, message_of(""), "...not a model of rulerank...");
  EXPECT_PRED2(says, message_of(file_of("{}", "", 4)), "...version 4, expected 3...");
  std::string const earlier = message_of(file_of("{}", "", 1));
  EXPECT_NE(earlier.find("version 1, expected 3"), std::string::npos);
  EXPECT_NE(earlier.find("run `rulerank fit` again"), std::string::npos);
  EXPECT_THROW(read_model("/nonexistent/model"), error);
  EXPECT_THROW(read_model("/"), error);
  EXPECT_THROW(to_bytes(model{}), usage_error);
  // Correct checksum, invalid contents.
  for (std::string const header : {"", "{}", "[1,2]", "{\"cuts\": 3}"})
    EXPECT_TRUE(message_of(file_of(header)).starts_with("m.model:")) << header;
  for (auto const& [header, begin] : {std::pair{"{\"a\": b}", "m.model:2:7: found malformed"},
                                      {"{\"a\": [1, 1e999]}", "m.model:2:11: found 1e999, "}})
    EXPECT_TRUE(message_of(file_of(header)).starts_with(begin)) << message_of(file_of(header));
  std::string const nested(100'000, '[');
  EXPECT_TRUE(
      message_of(file_of(nested)).starts_with("m.model:2:501: found JSON of more than 500"));
  EXPECT_TRUE(message_of(file_of("{\"a\":" + nested)).starts_with("m.model:2:"));
}

TEST(model, kinds_come_back_whole) {
  model const m = mixed_model();
  std::string const bytes = to_bytes(m);
  model const back = model_from_bytes(bytes, "m.model");
  EXPECT_EQ(to_bytes(back), bytes);
  ASSERT_EQ(back.members.size(), 3U);
  auto const& card = std::get<scorecard_member>(back.members[1]);
  EXPECT_EQ(kind_of(back.members[1]), "scorecard");
  EXPECT_EQ(kind_of(back.members[2]), "linear");
  EXPECT_EQ(card.cuts, rules_of(back, 0).cuts);
  EXPECT_EQ(card.card.points, std::get<scorecard_member>(m.members[1]).card.points);
  linear_weights const& linear = std::get<linear_member>(back.members[2]).weights;
  ASSERT_EQ(linear.features.size(), 3U);
  EXPECT_TRUE(linear.features[1].misses);
  EXPECT_GT(linear.options.strength, 0);
  context const ctx;
  EXPECT_EQ(scorer(ctx, back).score(ctx, small_set()).scores,
            scorer(ctx, m).score(ctx, small_set()).scores);
  for (std::size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_TRUE(message_of(bytes.substr(0, length)).starts_with("m.model:1:1: ")) << length;
}

TEST(model, a_card_says_that_its_penalties_were_cross_fitted) {
  scorecard_recipe how;
  how.options.cross_fit = true;
  how.options.folds = 3;
  model const m = fit(context{}, small_set(), std::vector<recipe>{how});
  auto const& made = std::get<scorecard_member>(m.members[0]);
  EXPECT_FALSE(made.options.cross_fit);
  EXPECT_EQ(made.cross_fitted_folds, 3U);
  std::string const bytes = to_bytes(m);
  EXPECT_NE(bytes.find("\"cross_fitted_folds\":3"), std::string::npos);
  model const back = model_from_bytes(bytes, "m.model");
  EXPECT_EQ(to_bytes(back), bytes);
  // The card itself is what these penalties give.
  scorecard_recipe again;
  again.options = std::get<scorecard_member>(back.members[0]).options;
  model const same = fit(context{}, small_set(), std::vector<recipe>{again});
  EXPECT_EQ(std::get<scorecard_member>(same.members[0]).card.points, made.card.points);
  EXPECT_EQ(to_bytes(same).find("cross_fitted"), std::string::npos);
  model undecided = m;
  std::get<scorecard_member>(undecided.members[0]).options.cross_fit = true;
  EXPECT_THROW(to_bytes(undecided), usage_error);
}

TEST(model, files_of_the_version_before_have_rules) {
  auto const as_version_2 = [](model const& m) {
    std::string const bytes = to_bytes(m);
    std::size_t const header = bytes.find('\n') + 1, end = bytes.find('\n', header);
    return file_of(bytes.substr(header, end - header), bytes.substr(end + 1), 2);
  };
  model const m = small_model();
  EXPECT_EQ(to_bytes(model_from_bytes(as_version_2(m), "m.model")), to_bytes(m));
  EXPECT_PRED2(says, message_of(as_version_2(mixed_model())),
               "...members[1].kind: found an unknown kind, expected one of rules...");
}

TEST(model, members_that_no_file_holds) {
  model m = mixed_model();
  std::get<scorecard_member>(m.members[1]).card.points.pop_back();
  EXPECT_THROW(to_bytes(m), usage_error);
  m = mixed_model();
  std::get<scorecard_member>(m.members[1]).cuts = nullptr;
  EXPECT_THROW(to_bytes(m), usage_error);
  m = mixed_model();
  std::get<linear_member>(m.members[2]).weights.features.clear();
  EXPECT_THROW(to_bytes(m), usage_error);
}

/// The message for a model whose header has `from` replaced by `to`.
std::string message_with(std::string const& from, std::string const& to,
                         model const& of = small_model()) {
  std::string const bytes = to_bytes(of);
  std::size_t const header = bytes.find('\n') + 1;
  std::size_t const end = bytes.find('\n', header);
  std::string changed = bytes.substr(header, end - header);
  EXPECT_NE(changed.find(from), std::string::npos) << from << " in " << changed;
  changed.replace(changed.find(from), from.size(), to);
  return message_of(file_of(changed, bytes.substr(end + 1)));
}

TEST(model, descriptions_of_features_come_back_whole) {
  model m = small_model();
  EXPECT_EQ(to_bytes(m).find("\"origin\""), std::string::npos);
  m.descriptions = {{1, {"EUR", "catalog.price"}}, {7, {"", "a \"b\" \u20ac"}}};
  model const back = model_from_bytes(to_bytes(m), "m.model");
  EXPECT_EQ(description_of(1, back.descriptions).unit, "EUR");
  EXPECT_EQ(description_of(1, back.descriptions).origin, "catalog.price");
  EXPECT_EQ(description_of(7, back.descriptions).origin, "a \"b\" \u20ac");
  EXPECT_EQ(description_of(3, back.descriptions).origin, "");
  EXPECT_EQ(to_bytes(back), to_bytes(m));
  for (auto const& [from, to, says] :
       {std::tuple{"\"unit\":\"EUR\"", "\"unit\":7",
                   "features[0].unit: found 7, expected a string"},
        {"price\"},{\"feature\":7", "price\"},{\"feature\":1",
         "features[1].feature: found 1 twice"},
        {"price\"},{\"feature\":7", "price\"},{\"feature\":-1",
         "features[1].feature: found -1, expected an integer"},
        {"EUR", "E\\nR", "features[0].unit: found a control character"},
        {"[{\"feature\":1,\"unit\"", "[3,{\"feature\":1,\"unit\"",
         "features[0]: found 3, expected an object"}})
    EXPECT_EQ(message_with(from, to, m).find(fmt::format("m.model:1:1: {}", says)), 0U)
        << message_with(from, to, m);
}

TEST(model, a_later_file_may_have_more_members) {
  EXPECT_EQ(message_with("{\"cuts\"", "{\"later\":[1],\"cuts\""), "OK");
}

TEST(feature_table, is_read_by_names_or_numbers) {
  std::vector<std::uint32_t> const listed{2, 5};
  auto const read = [&](std::string const& text, datasets::feature_names const& names = {}) {
    return feature_descriptions_from_text(text, "t.tsv", names, listed);
  };
  auto const by_number = read(
      "\xef\xbb\xbf"
      "feature\tunit\torigin\r\n5\tms\tlog\r\n\r\n3\t\tsearch engine\r\n");
  ASSERT_EQ(by_number.size(), 2U);
  EXPECT_EQ(by_number.at(5).unit, "ms");
  EXPECT_EQ(by_number.at(3).origin, "search engine");
  datasets::feature_names const names{{2, "b c"}, {5, "7"}};
  EXPECT_EQ(read("feature\tunit\torigin\n7\tms\t\nb c\t%\tx y", names).at(5).unit, "ms");
  EXPECT_TRUE(read("feature\tunit\torigin\n").empty());
  std::string const head = "feature\tunit\torigin\n";
  for (auto const& [text, of_names, message] :
       {std::tuple{std::string(), false, "1:1: found \"\", expected the titles"},
        {std::string("feature\torigin\tunit\n"), false, "1:1: found \"feature\\x09origin"},
        {std::string("name\n"), false, "1:5: found fewer than 3 cells"},
        {head + "2\tms\n", false, "2:5: found fewer than 3 cells"},
        {head + "2\tms\tlog\t\n", false, "2:9: found more than 3 cells"},
        {head + "6\tms\tlog\n", false, "2:1: found \"6\", expected a feature's number"},
        {head + "0\tms\tlog\n", false, "2:1: found \"0\", expected a feature's number"},
        {head + "b c\tms\tlog\n", false, "2:1: found \"b c\", expected a feature's number"},
        {head + "2\tms\tlog\n", true, "2:1: found \"2\", expected a feature's name"},
        {head + "2\t\t\n5\t\t\n2\tms\tlog\n", false, "4:1: found \"2\" twice"},
        {head + "2\tm\xff\tlog\n", false, "2:3: found \"m\\xff\", expected UTF-8"},
        {head + "2\tm\tl\x1b\n", false, "2:5: found \"l\\x1b\", expected UTF-8"}}) {
    std::string const found = rulerank::testing_tools::message_of(
        [&, &table = text, &is_named = of_names] {  // clang 14 captures no structured bindings
          read(table, is_named ? names : datasets::feature_names());
        });
    EXPECT_TRUE(found.starts_with(fmt::format("t.tsv:{}", message))) << found;
  }
}

TEST(model, bytes_after_the_last_documents_are_refused) {
  std::string const bytes = to_bytes(small_model());
  std::string const header = bytes.substr(bytes.find('\n') + 1);
  std::size_t const end = header.find('\n');
  EXPECT_PRED2(says, message_of(file_of(header.substr(0, end), header.substr(end + 1) + "xy")),
               "...found 2 bytes after the last documents...");
}

TEST(model, points_and_weights_that_do_not_fit_are_refused) {
  for (auto const& [from, to, expected] :
       {std::tuple{"\"loss\":\"pair\"", "\"loss\":\"pairs\"", "members[1].options.loss: found"},
        {"\"points_penalty\":0.0001", "\"points_penalty\":0", "points penalty 0, expected"},
        {"\"smoothness\":0.1", "\"smoothness\":-1", "smoothness -1, expected"},
        {"\"points_penalty\":0.0001,\"smoothness\":0.1",
         "\"points_penalty\":\"cross-fit\",\"folds\":5", "expected the penalty that was used"},
        {"\"smoothness\":0.1", "\"smoothness\":0.1,\"cross_fitted_folds\":1",
         "members[1].options.cross_fitted_folds: found 1"},
        {"\"unit_bits\":32", "\"unit_bits\":31", "members[1].unit_bits: found 31"},
        {"\"points\":[[", "\"points\":[7,[", "members[1].points: found 4 lists, expected 3"},
        {"\"points\":[[", "\"points\":[[0,", "points[0]: expected a list of"},
        {"\"points\":[[", "\"points\":[[1.5,", "points[0]: expected a list of"},
        {"\"item_documents\":[[", "\"item_documents\":[[0,",
         "item_documents[0]: expected a list of"},
        {"\"item_documents\":[[", "\"item_documents\":[7,[", "item_documents: found 4 lists"},
        {"\"training_documents\":", "\"training_documents\":1,\"x\":", "item_documents[0]: found"},
        {"\"training_documents\":", "\"training_documents\":0,\"x\":",
         "members[1].training_documents: found 0"},
        {"\"moved\":", "\"moved\":-1,\"x\":", "features[0].moved: found a number below 0"},
        {"\"strength\":", "\"strength\":\"cross-fit\",\"x\":", "expected the strength that was"},
        {"\"folds\":5", "\"folds\":1", "members[2].options.folds: found 1"},
        {"\"features\":[{\"feature\":1,\"weight\"", "\"features\":[{\"feature\":-1,\"weight\"",
         "members[2].features[0].feature: found -1"},
        {"\"feature\":3,\"weight\"", "\"feature\":1,\"weight\"", "found 1 after 1"},
        {"\"feature\":3,\"weight\"", "\"feature\":3,\"name\":\"a\",\"weight\"",
         "found names of some"},
        {"\"missing\":", "\"missing\":0.5,\"x\":", "features[1].missing: found no integer"},
        {"\"feature\":1,\"weight\":", "\"feature\":1,\"weight\":9223372036854775807,\"x\":",
         "features[0].weight: found no integer"}}) {
    std::string const message = message_with(from, to, mixed_model());
    EXPECT_TRUE(message.starts_with("m.model:")) << message;
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
  model too_many = mixed_model();
  std::get<scorecard_member>(too_many.members[1]).card.points[0] = (1LL << 52) + 1;
  EXPECT_PRED2(
      says, message_of(to_bytes(too_many)),
      "...points[0]: found 4503599627370497, expected an integer from -4503599627370496 to...");
}

TEST(model, numbers_that_do_not_fit_are_refused) {
  for (auto const& [from, to, expected] :
       {std::tuple{"\"rule_size\":4", "\"rule_size\":4294967299",
                   "members[0].options.rule_size: found 4294967299, expected an integer"},
        {"\"rule_size\":4", "\"rule_size\":3.9", "rule_size: found 3.9, expected an integer"},
        {"\"rule_size\":4", "\"rule_size\":1", "rule size 1, expected 2 or more"},
        {"\"min_support\":2", "\"min_support\":-1", "min_support: found -1, expected an integer"},
        {"\"min_confidence\":0.01", "\"min_confidence\":[[3]]",
         "min_confidence: found array, expected a number"},
        {"\"smoothing\":5.0", "\"smoothing\":-5", "smoothing -5, expected"},
        {"\"kind\":\"rules\"", "\"kind\":\"runes\"",
         "members[0].kind: found an unknown kind, expected one of rules"},
        {"\"cuts\":0", "\"cuts\":7", "members[0].cuts: found 7, expected an integer from 0 to 1"},
        {"\"training\":0", "\"training\":-1", "members[0].training: found -1"},
        {"\"documents\":40", "\"documents\":41", "training[0]"},
        {"\"documents\":40", "\"documents\":39", "training[0]"},
        {"\"documents\":40", "\"documents\":1e18", "training[0].documents: found 1e+18"},
        {"\"documents\":40", "\"documents\":4294967295", "bytes of codes and labels, expected"},
        {"\"max_label\":2", "\"max_label\":1", "training[0]: found label 2 of document 2"},
        {"\"max_label\":2", "\"max_label\":-2", "training[0].max_label: found -2"},
        {"\"feature\":1,\"bins\":11", "\"feature\":1,\"bins\":300", "columns[0].bins: found 300"},
        {"\"feature\":1,\"bins\":11", "\"feature\":1,\"bins\":2", "columns[0]: found bin"},
        {"\"cuts\":[", "\"columns\":0,\"cuts\":[",
         "m.model:1:1: columns: found 0, expected an integer"},
        {"\"missing_item\":", "\"missing_item\":7,\"x\":", "expected true or false"},
        {"\"feature\":1,\"bins", "\"feature\":9,\"bins", "columns[1].feature: found 3 after 9"}}) {
    std::string const message = message_with(from, to);
    EXPECT_TRUE(message.starts_with("m.model:")) << message;
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace rulerank::l2r::model_test
