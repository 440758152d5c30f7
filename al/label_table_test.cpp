#include "al/label_table.hpp"

#include "al/sampler.hpp"
#include "al/testing.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/svmlight.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace rulerank::inline v0::al::label_table_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

class label_tables : public testing::Test {
 protected:
  label_tables() {
    random_engine engine(5);
    binned_ = drawn_items(engine, 80, 9, 4, 10);
    std::string text;
    for (std::size_t d = 0; d < binned_.documents; ++d) {
      labels_.push_back(static_cast<std::int32_t>(uniform_below(engine, 3)));
      text += "-1 qid:" + std::to_string(d / 8) + " 1:1 # docid = D" + std::to_string(d) + "\n";
    }
    datasets::svmlight_options reading;
    reading.unlabelled = -1;
    pool_ = datasets::parse_svmlight(ctx_, text, "pool", reading);
    binned_.max_label = 2;
    binned_.labels = labels_;
    options_.partitions = 2;
    whole_ = reduce(ctx_, binned_, options_);
    binned_.labels.assign(binned_.documents, datasets::unlabelled);
  }

  std::uint64_t line_of(std::size_t document) const { return 2 + document * 7 % labels_.size(); }
  /// Rows of all documents, in scrambled order.
  std::vector<answer> rows() const {
    std::vector<answer> rows;
    for (std::size_t d = labels_.size(); d-- > 0;) rows.push_back({d, labels_[d], line_of(d)});
    return rows;
  }

  context const ctx_;
  datasets::binned_dataset binned_;
  datasets::dataset pool_;
  std::vector<std::int32_t> labels_;
  sampler_options options_;
  sample whole_;
};

TEST_F(label_tables, with_all_labels_choose_what_reduce_chooses) {
  labelling work(ctx_, binned_, options_);
  label_table const table(rows(), "t", pool_, nullptr);
  EXPECT_EQ(table.rows().front().document, 0U);
  table.answer_wanted(work);
  EXPECT_TRUE(work.finished());
  EXPECT_EQ(work.take().documents, whole_.documents);
  EXPECT_EQ(work.answers().size(), whole_.documents.size()) << "no row is used that is not wanted";
}

TEST_F(label_tables, answer_as_far_as_they_have_rows) {
  labelling work(ctx_, binned_, options_);
  std::size_t const first = work.wanted().front().document;
  label_table const table({{first, labels_[first], 2}, {first, labels_[first], 3}}, "t", pool_,
                          nullptr);
  EXPECT_EQ(table.rows().size(), 1U);
  table.answer_wanted(work);
  EXPECT_EQ(work.answers().size(), 1U);
  EXPECT_FALSE(work.finished());
}

TEST_F(label_tables, in_advance_answer_all_in_the_order_of_the_lines) {
  labelling work(ctx_, binned_, options_);
  label_table const table(rows(), "t", pool_, nullptr);
  table.answer_in_advance(work);
  ASSERT_EQ(work.answers().size(), labels_.size());
  auto by_line = rows();
  std::ranges::sort(by_line, {}, &answer::line);
  EXPECT_TRUE(std::ranges::equal(work.answers(), by_line));
  EXPECT_TRUE(work.finished());
  EXPECT_EQ(work.take().documents, whole_.documents);
}

TEST_F(label_tables, keep_what_is_used_in_the_journal_which_replays_it) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "journal";
  labelling work(ctx_, binned_, options_);
  {
    answer_journal journal(path, work.identity(), pool_);
    label_table const table(rows(), "t", pool_, &journal);
    table.answer_wanted(work);
    EXPECT_EQ(journal.answers().size(), work.answers().size());
  }
  answer_journal journal(path, work.identity(), pool_);
  labelling again(ctx_, binned_, options_);
  replay(journal, path, again, false);
  EXPECT_EQ(again.take().documents, whole_.documents);
  EXPECT_THROW(replay(journal, path, again, false), error) << "all have labels already";
  EXPECT_NO_THROW(replay(journal, path, again, true)) << "it is complete";
  auto other = rows();
  for (answer& row : other) row.label = *row.label + 1;
  EXPECT_PRED2(says, message_of([&] { label_table const table(other, "t", pool_, &journal); }),
               "...the journal has...");
}

TEST_F(label_tables, differ_from_no_label_of_the_pool) {
  pool_.labels[3] = 1;
  EXPECT_NO_THROW(label_table({{3, 1, 2}}, "t", pool_, nullptr));
  std::string const message = message_of([&] {
    label_table const table({{3, {}, 7}}, "t", pool_, nullptr);
  });
  EXPECT_PRED2(says, message, "t:7:...");
  EXPECT_PRED2(says, message, "...pool has...");
}

}  // namespace
}  // namespace rulerank::al::label_table_test
