#include "l2r/model.hpp"

#include "core/error.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/ranker.hpp"

#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::l2r {
namespace {

model small_model() {
  std::string text;
  for (int d = 0; d < 40; ++d)
    text += fmt::format("{} qid:{} 1:{} 3:{} 7:{}\n", d % 3, d / 8, d % 7 * .1,
                        d % 5 == 0 ? "NULL" : fmt::format("{}", d % 4), d);
  context const ctx;
  auto const data = datasets::parse_svmlight(ctx, text, "small");
  model m;
  m.discretizer = datasets::fit_discretizer(ctx, data, {});
  m.training = datasets::apply_discretizer(ctx, data, m.discretizer);
  m.options.rule_size = 4;
  m.options.thresholds = {2, .01};
  m.options.support_weight = -.25;
  m.options.smoothing = 5;
  m.options.feature_share = .5;
  return m;
}

/// The message of the error that reading the bytes gives.
std::string message_of(std::string const& bytes) {
  try {
    model_from_bytes(bytes, "m.model");
  } catch (error const& e) {
    return e.what();
  }
  return "no error";
}

TEST(model, comes_back_whole) {
  model const m = small_model();
  testing_tools::temporary_folder const folder;
  write_model(m, folder / "m");
  model const back = read_model(folder / "m");
  EXPECT_EQ(back.training.codes, m.training.codes);
  EXPECT_EQ(back.training.stride, m.training.stride);
  EXPECT_EQ(back.training.labels, m.training.labels);
  EXPECT_EQ(back.training.features, m.training.features);
  EXPECT_EQ(back.training.item_begin, m.training.item_begin);
  EXPECT_EQ(back.training.has_missing_item, m.training.has_missing_item);
  EXPECT_EQ(back.training.max_label, m.training.max_label);
  EXPECT_EQ(back.options.rule_size, 4U);
  EXPECT_EQ(back.options.thresholds.min_support, 2U);
  EXPECT_EQ(back.options.thresholds.min_confidence, .01);
  EXPECT_EQ(back.options.support_weight, -.25);
  EXPECT_EQ(back.options.smoothing, 5);
  EXPECT_EQ(back.options.feature_share, .5);
  EXPECT_EQ(to_bytes(back), to_bytes(m));
  context const ctx;
  ranker_options options;
  options.rule_size = 4;
  EXPECT_EQ(ranker(ctx, back.training, options).score(ctx, m.training).scores,
            ranker(ctx, m.training, options).score(ctx, m.training).scores);
}

TEST(model, any_damaged_byte_is_noticed) {
  std::string const bytes = to_bytes(small_model());
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_TRUE(message_of(damaged).starts_with("m.model:1:1: ")) << "byte " << at;
  }
}

TEST(model, any_missing_end_is_noticed) {
  std::string const bytes = to_bytes(small_model());
  for (std::size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_TRUE(message_of(bytes.substr(0, length)).starts_with("m.model:1:1: ")) << length;
  EXPECT_TRUE(message_of(bytes + "x").starts_with("m.model:1:1: "));
}

TEST(model, foreign_and_later_files) {
  EXPECT_NE(message_of("1 qid:1 1:0.5\n").find("not a model of rulerank"), std::string::npos);
  EXPECT_NE(message_of("").find("not a model of rulerank"), std::string::npos);
  std::string later = to_bytes(small_model());
  later.replace(later.find(' ') + 1, 1, "2");
  EXPECT_NE(message_of(later).find("version 2, expected 1"), std::string::npos);
  EXPECT_THROW(read_model("/nonexistent/model"), error);
  // A right checksum over wrong contents.
  for (std::string const body : {"", "{}\n", "[1,2]\n", "{\"options\": 3}\n"}) {
    std::string const whole = "rulerank-model 1 " + sha256_hex(body) + "\n" + body;
    EXPECT_TRUE(message_of(whole).starts_with("m.model:1:1: ")) << body;
  }
  for (auto const& [body, place] : {std::pair{"{\"a\": b}\n", "m.model:2:7: malformed"},
                                    {"{\"a\": [1, 1e999]}\n", "m.model:2:11: found 1e999, "}}) {
    std::string const whole =
        "rulerank-model 1 " + sha256_hex(std::string_view(body)) + "\n" + body;
    EXPECT_TRUE(message_of(whole).starts_with(place)) << message_of(whole);
  }
}

}  // namespace
}  // namespace rulerank::l2r
