#include "labelling/label_team.hpp"

#include "core/error.hpp"
#include "labelling/testing.hpp"

namespace rulerank::inline v0::labelling::label_team_test {
namespace {

class teams : public pool_test {
 protected:
  /// A team on the test's pool with the test's journal.
  struct workplace {
    workplace(teams const& test, std::size_t needed)
        : work(test.ctx, test.binned, options()),
          journal(test.folder + "/journal", work.identity(), test.pool, al::labellers::several),
          team(work, journal, "journal", needed) {}
    al::labelling work;
    al::answer_journal journal;
    label_team team;
  };
  al::sample expected() const {
    datasets::binned_dataset labelled = binned;
    labelled.labels = labels;
    return al::reduce(ctx, labelled, options());
  }
};

TEST_F(teams, of_one_is_asked_what_a_person_at_a_terminal_is_asked) {
  workplace here(*this, 1);
  al::labelling alone(ctx, binned, options());
  while (auto const q = here.team.next("An")) {
    ASSERT_EQ(q->document, alone.wanted().front().document);
    alone.answer(q->document, labels[q->document]);
    here.team.answer("An", q->document, labels[q->document]);
  }
  EXPECT_TRUE(here.work.finished());
  EXPECT_EQ(here.work.take().documents, expected().documents);
}

TEST_F(teams, shares_the_documents_and_chooses_the_same) {
  workplace here(*this, 1);
  std::vector<std::string> const names{"An", "Bo", "Cy"};
  bool shared = false;
  for (std::size_t turn = 0; !here.work.finished(); ++turn) {
    auto const a = here.team.next("An"), b = here.team.next("Bo");
    ASSERT_TRUE(a && b);
    shared = shared || a->document != b->document;
    std::string const& who = names[turn % 2];
    std::size_t const document = turn % 2 == 0 ? a->document : b->document;
    here.team.answer(who, document, labels[document]);
  }
  EXPECT_TRUE(shared) << "two partitions want two documents";
  EXPECT_EQ(here.work.take().documents, expected().documents);
  EXPECT_TRUE(here.team.disputes().empty());
  EXPECT_FALSE(here.team.next("Cy"));
}

TEST_F(teams, needs_as_many_answers_as_asked_for) {
  workplace here(*this, 2);
  std::size_t const document = here.team.next("An")->document;
  here.team.answer("An", document, 2);
  EXPECT_EQ(here.work.label_of(document), datasets::unlabelled);
  EXPECT_NE(here.team.next("An") ? here.team.next("An")->document : pool.size(), document);
  EXPECT_EQ(here.team.next("Bo")->document, document);
  here.team.answer("Bo", document, 0);
  EXPECT_EQ(here.work.label_of(document), 2) << "of two the first";
  ASSERT_EQ(here.team.disputes().size(), 1U);
  here.team.answer("Cy", document, 0);
  EXPECT_EQ(here.work.label_of(document), 0) << "most";
  EXPECT_EQ(here.team.disputes()[0].answers.size(), 3U);
  EXPECT_EQ(here.team.disputes()[0].label, 0);
  here.team.answer("An", document, 0);
  EXPECT_TRUE(here.team.disputes().empty());
  EXPECT_EQ(here.team.labellers(), (std::vector<std::string>{"Bo", "Cy", "An"}));
}

TEST_F(teams, undoes_each_ones_last_answer) {
  workplace here(*this, 1);
  EXPECT_FALSE(here.team.undo("An"));
  std::size_t const first = here.team.next("An")->document;
  here.team.answer("An", first, 1);
  std::size_t const second = here.team.next("Bo")->document;
  here.team.answer("Bo", second, {});
  EXPECT_EQ(here.team.undo("An"), first);
  EXPECT_EQ(here.work.label_of(first), datasets::unlabelled);
  EXPECT_EQ(here.team.next("An")->document, first);
  EXPECT_EQ(here.team.answers_of("Bo"), 1U);
  EXPECT_FALSE(here.team.undo("An"));
}

TEST_F(teams, undoes_back_to_a_document) {
  workplace here(*this, 1);
  std::vector<std::size_t> asked;
  for (int i = 0; i < 4; ++i) {
    asked.push_back(here.team.next("An")->document);
    here.team.answer("An", asked.back(), labels[asked.back()], i == 1 ? "unsure" : "");
  }
  std::size_t const other = here.team.next("Bo")->document;
  here.team.answer("Bo", other, 0);
  auto const all = here.team.all_of("An");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].document, asked[3]) << "most recent first";
  EXPECT_EQ(all[2].note, "unsure");
  EXPECT_FALSE(here.team.undo_back_to("An", other)) << "not An's";
  EXPECT_EQ(here.team.answers_of("An"), 4U);
  EXPECT_EQ(here.team.undo_back_to("An", asked[1]), asked[1]);
  EXPECT_EQ(here.team.answers_of("An"), 1U);
  EXPECT_EQ(here.team.answers_of("Bo"), 1U);
  EXPECT_EQ(here.work.label_of(asked[0]), labels[asked[0]]);
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_EQ(here.work.label_of(asked[i]), datasets::unlabelled) << i;
}

/// After any answers, changes and withdrawals, the state equals that of a new team with the current
/// answers; with the true labels at the end, the sample is that of all labels.
TEST_F(teams, is_what_its_standing_answers_make) {
  random_engine engine(9);
  for (std::size_t const needed : {1U, 2U}) {
    std::filesystem::remove(folder + "/journal");
    std::vector<std::string> const names{"An", "Bo", "Cy"};
    for (int part = 0; part < 4; ++part) {
      workplace here(*this, needed);
      for (int i = 0; i < 12; ++i) {
        std::string const& who = names[uniform_below(engine, 3)];
        if (uniform_below(engine, 4) == 0) {
          here.team.undo(who);
        } else if (auto const q = here.team.next(who)) {
          here.team.answer(who, q->document, static_cast<std::int32_t>(uniform_below(engine, 3)));
        }
      }
      // A new labelling from the current labels.
      al::labelling again(ctx, binned, options());
      for (al::answer const& a : here.work.answers()) again.answer(a.document, a.label);
      ASSERT_EQ(again.wanted().size(), here.work.wanted().size());
      for (std::size_t i = 0; i < again.wanted().size(); ++i)
        EXPECT_EQ(again.wanted()[i].document, here.work.wanted()[i].document);
    }
    workplace here(*this, needed);
    for (std::string const& who : names)
      for (std::size_t d = 0; d < pool.size(); ++d)
        if (here.team.answer_of(who, d)) here.team.answer(who, d, labels[d]);
    for (std::size_t turn = 0; !here.work.finished() && turn < 500; ++turn)
      for (std::string const& who : names)
        if (auto const q = here.team.next(who))
          here.team.answer(who, q->document, labels[q->document]);
    EXPECT_EQ(here.work.take().documents, expected().documents);
  }
}

TEST_F(teams, refuses_a_document_that_the_pool_labels) {
  binned.labels[0] = 2;
  al::labelling work(ctx, binned, options());
  al::answer_journal journal(folder + "/journal", work.identity(), pool, al::labellers::several);
  journal.add(0, 1, "An");
  EXPECT_THROW(label_team(work, journal, "journal", 1), error);
  journal.undo("An");
  label_team some(work, journal, "journal", 1);
  EXPECT_THROW(some.answer("An", 0, 1), usage_error);
}

/// The program answers after people; its answers are shown and never count.
TEST_F(teams, get_a_second_opinion_of_a_program) {
  workplace here(*this, 1);
  std::size_t const first = here.team.next("An")->document;
  EXPECT_TRUE(here.team.without_opinion().empty());
  here.team.answer("An", first, 2);
  EXPECT_EQ(here.team.without_opinion(), std::vector{first});
  here.team.add_opinion(first, 0);
  EXPECT_TRUE(here.team.without_opinion().empty());
  EXPECT_EQ(here.work.label_of(first), 2);
  ASSERT_EQ(here.team.disputes().size(), 1U);
  EXPECT_EQ(here.team.disputes()[0].label, 2);
  EXPECT_EQ(here.team.disputes()[0].answers.size(), 2U);
  // A changed answer is later than the program's, and counts all the same.
  here.team.answer("An", first, 1);
  EXPECT_EQ(here.work.label_of(first), 1);
  here.team.undo("An");
  EXPECT_EQ(here.work.label_of(first), datasets::unlabelled);
  EXPECT_TRUE(here.team.disputes().empty());
}

TEST_F(teams, of_two_wait_for_people_whatever_the_program_says) {
  workplace here(*this, 2);
  std::size_t const document = here.team.next("An")->document;
  here.team.answer("An", document, 0);
  here.team.add_opinion(document, 1);
  EXPECT_EQ(here.work.label_of(document), datasets::unlabelled);
  EXPECT_NE(here.team.next("An")->document, document);
  EXPECT_EQ(here.team.next("Bo")->document, document);
  here.team.answer("Bo", document, 0);
  EXPECT_EQ(here.work.label_of(document), 0);
}

}  // namespace
}  // namespace rulerank::labelling::label_team_test
