#include "labelling/document_texts.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "datasets/text/text_sums.hpp"
#include "labelling/testing.hpp"

#include <fmt/format.h>

namespace rulerank::inline v0::labelling::document_texts_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

class texts : public pool_test {
 protected:
  /// The texts of a pool of one document, from this text and query.
  document_texts of(std::string const& text, std::string const& query) const {
    datasets::dataset one = datasets::parse_svmlight(ctx, "0 qid:a 1:1 #docid = x\n", "one", {});
    auto const documents = write("one.tsv", "x\t" + text + "\n");
    auto const topics = write("query.tsv", "a\t" + query + "\n");
    return {ctx, one, {documents, topics, {}, {}}};
  }
};

TEST_F(texts, words_of_the_query_are_marked) {
  document_texts shown = pool_test::texts();
  EXPECT_EQ(shown.query(12), "the winged shapes 1");
  EXPECT_EQ(shown.title(12), (marked_text{{"Wing", true}, {" 12", false}}));
  marked_text const expected{
      {"flow over ", false}, {"wings", true}, {" of ", false}, {"shape", true}, {" 12", false}};
  EXPECT_EQ(shown.whole(12), expected);
  EXPECT_EQ(shown.passage(12, 100), expected);
  EXPECT_EQ(plain(shown.title(39)), "") << "it has no text";
  EXPECT_EQ(shown.documents_missing(), 1U);
  EXPECT_EQ(shown.queries_missing(), 0U);
}

TEST_F(texts, commands_of_terminals_and_marks_of_direction_are_taken_out) {
  document_texts shown = pool_test::texts();
  EXPECT_EQ(plain(shown.whole(3)), "<script>alert(1)</script>  [31m  flow over wings of shape 3");
  document_texts odd =
      of("a\x1b]0;x\x07 \xc2\x9b\x31m \xff \xe2\x80\xae"
         "b\xe2\x81\xa6",
         "b");
  EXPECT_EQ(plain(odd.whole(0)), "a ]0;x   1m \xc3\xbf  b ");
}

TEST_F(texts, other_scripts_and_accents_are_marked_too) {
  document_texts shown =
      of("Caf\xc3\xa9s, \xe6\x9d\xb1\xe4\xba\xac\xe3\x81\xae\xe6\x96\x87.", "cafe");
  EXPECT_EQ(shown.whole(0)[0], (text_piece{"Caf\xc3\xa9s", true}));
}

/// A passage is an excerpt of the text, not much longer than requested, with as many distinct query
/// words as any excerpt of that length.
TEST_F(texts, a_passage_is_where_the_words_are) {
  random_engine engine(3);
  for (int round = 0; round < 60; ++round) {
    std::string text;
    for (int w = 0; w < 60; ++w)
      text += uniform_below(engine, 9) == 0
                  ? fmt::format("goal{} ", static_cast<char>('a' + uniform_below(engine, 3)))
                  : std::string("hay ");
    text.pop_back();
    document_texts shown = of(text, "goala goalb goalc");
    std::size_t const size = 20 + uniform_below(engine, 60);
    marked_text const passage = shown.passage(0, size);
    std::string part = plain(passage);
    if (part.starts_with("... ")) part = part.substr(4);
    if (part.ends_with(" ...")) part.resize(part.size() - 4);
    EXPECT_NE(text.find(part), text.npos) << part;
    EXPECT_LE(part.size(), size + 8);
    auto const different = [](std::string_view where) {
      int count = 0;
      for (std::string const goal : {"goala", "goalb", "goalc"})
        count += where.find(goal) != where.npos;
      return count;
    };
    int best = 0;
    for (std::size_t at = 0; at + size <= text.size(); ++at)
      best = std::max(best, different(std::string_view(text).substr(at, size)));
    EXPECT_EQ(different(part), best) << part << " of " << text;
  }
  EXPECT_EQ(plain(of("", "x").passage(0, 50)), "");
  EXPECT_EQ(plain(of("nothing of it but many words", "x").passage(0, 12)), "nothing of ...");
  EXPECT_EQ(plain(of(std::string(100, 'y'), "x").passage(0, 12)).size(), 16U);
}

TEST_F(texts, of_something_else_are_refused) {
  auto const other = write("other.tsv", "none\ttext\n");
  EXPECT_THROW(document_texts(ctx, pool, {other, folder + "/topics.tsv", {}, {}}), error);
  EXPECT_THROW(document_texts(ctx, pool, {folder + "/documents.jsonl", other, {}, {}}), error);
}

/// In SMART's form a number is one text, the position with the same digits another: a pool's
/// checksums decide; without them the caller must.
TEST_F(texts, a_pools_checksums_say_whose_text_an_id_is) {
  std::string const documents = write("smart.docs", ".I 2\n.W\nrye\n.I 1\n.W\nsails\n");
  std::string const topics = write("smart.topics", ".I 2\n.W\nbread\n.I 1\n.W\nships\n");
  auto const pool_of = [&](std::string const& query, std::string const& document) {
    std::string const sums = comment_of(
        datasets::text_sums{datasets::sum_of_text(query), datasets::sum_of_text(document)});
    return datasets::parse_svmlight(ctx, "0 qid:1 1:1 #docid = 1 " + sums + "\n", "pool", {});
  };
  auto const query_of = [&](datasets::dataset const& of, text_sources sources) {
    sources.documents = documents;
    sources.topics = topics;
    document_texts shown(ctx, of, sources);
    return shown.query(0) + " " + plain(shown.whole(0));
  };
  datasets::dataset const by_number = pool_of("ships", "sails"),
                          by_position = pool_of("bread", "rye"), mixed = pool_of("bread", "sails");
  EXPECT_EQ(query_of(by_number, {}), "ships sails");
  EXPECT_EQ(query_of(by_position, {}), "bread rye");
  EXPECT_EQ(query_of(mixed, {}), "bread sails") << "topics and documents have each their own";
  text_sources numbers, positions, others;
  numbers.number_by_position = false;
  positions.number_by_position = true;
  others.other_texts = positions.other_texts = true;
  // One file's checksums decide for the other, all of whose texts differ.
  EXPECT_EQ(query_of(pool_of("boats", "sails"), others), "ships sails");
  EXPECT_EQ(query_of(pool_of("bread", "masts"), others), "bread rye");
  EXPECT_THROW(query_of(pool_of("boats", "masts"), others), error) << "nothing says it";
  EXPECT_THROW(query_of(by_position, numbers), error);
  EXPECT_EQ(query_of(by_number, positions), "bread rye") << "other texts are wanted";
  EXPECT_EQ(query_of(by_number, others), "ships sails") << "the pool says which are meant";
  positions.other_texts = false;
  EXPECT_THROW(query_of(by_number, positions), error);
  EXPECT_THROW(query_of(pool_of("boats", "sails"), {}), error);
  EXPECT_THROW(query_of(pool_of("ships", "masts"), {}), error);
  datasets::dataset const none = datasets::parse_svmlight(ctx, "0 qid:1 1:1 #docid = 1\n", "p", {});
  EXPECT_THROW(query_of(none, {}), error) << "nothing says which are meant";
  EXPECT_EQ(query_of(none, numbers), "ships sails");
  EXPECT_EQ(query_of(none, positions), "bread rye");
}

TEST_F(texts, all_lines_have_checksums_that_can_be_read_or_none_has) {
  std::string const documents = write("two.tsv", "x\trye\ny\tsails\n");
  std::string const topics = write("one.topics", "1\tbread\n");
  std::string const sums =
      comment_of(datasets::text_sums{datasets::sum_of_text("bread"), datasets::sum_of_text("rye")});
  auto const fault_of = [&](std::string const& comment, bool others = false) {
    datasets::dataset const two = datasets::parse_svmlight(
        ctx, "0 qid:1 1:1 #docid = x " + sums + "\n0 qid:1 1:1 #docid = y" + comment + "\n", "p",
        {});
    text_sources sources{documents, topics, {}, {}};
    sources.other_texts = others;
    return message_of([&] { document_texts const shown(ctx, two, sources); });
  };
  EXPECT_PRED2(says, fault_of(""), "...p:2:1: found a document without text_sums, which 1 of 2...");
  std::string const damaged = " text_sums = XXXXXXXX-00000000";
  EXPECT_PRED2(says, fault_of(damaged),
               "...p:2:1: found text_sums \"XXXXXXXX-00000000\", expected ...");
  std::string const another = " text_sums = 00000001-00000002";
  EXPECT_PRED2(says, fault_of(another),
               "...p:2:1: found query 1 with a text that differs from that of earlier lines, "
               "expected one text for each query...");
  for (std::string const& comment : {std::string(), damaged, another})
    EXPECT_EQ(fault_of(comment, true), "OK") << comment;
}

/// A topic with a changed text, and no position with its digits.
TEST_F(texts, a_changed_text_is_no_missing_one) {
  std::string const documents = write("d.tsv", "x\trye\n");
  std::string const topics =
      write("changed.topics", ".I 1\n.W\nbread\n.I 7\n.W\nships of others\n");
  std::string lines;
  for (auto const& [qid, topic] : {std::pair{"1", "bread"}, {"7", "ships"}})
    lines += fmt::format("0 qid:{} 1:1 #docid = x {}\n", qid,
                         comment_of(datasets::text_sums{datasets::sum_of_text(topic),
                                                        datasets::sum_of_text("rye")}));
  datasets::dataset const two = datasets::parse_svmlight(ctx, lines, "p", {});
  EXPECT_THROW(document_texts(ctx, two, {documents, topics, {}, {}}), error);
}

/// An object's members may be in any order; a superfluous member is named, and if one is missing,
/// the existing ones are named.
TEST_F(texts, fields_are_the_same_in_any_order_and_others_are_named) {
  std::string const topics = write("one.topics", "1\tbread\n");
  std::vector<datasets::text_field> const fields{
      {"title", "Rye"}, {"text", "of the north"}, {"abstract", "Ada"}};
  datasets::dataset const one =
      datasets::parse_svmlight(ctx,
                               "0 qid:1 1:1 #docid = x " +
                                   comment_of(datasets::text_sums{datasets::sum_of_text("bread"),
                                                                  datasets::sum_of_text(fields)}) +
                                   "\n",
                               "p", {});
  auto const shown = [&](std::string const& members) {
    std::string const documents = write("d.jsonl", R"({"id": "x", )" + members + "}\n");
    std::string read;
    std::string const message = message_of([&] {
      document_texts texts(ctx, one, {documents, topics, {}, {}});
      read = plain(texts.title(0)) + "|" + plain(texts.whole(0));
    });
    return message == "OK" ? read : message;
  };
  std::string const title = R"("title": "Rye")", text = R"("text": "of the north")",
                    author = R"("abstract": "Ada")";
  EXPECT_EQ(shown(title + ", " + text + ", " + author), "Rye|of the north\nAda");
  EXPECT_EQ(shown(author + ", " + text + ", " + title), "Rye|Ada\nof the north");
  std::string const more = shown(title + R"(, "headline": "see B", )" + text + ", " + author);
  EXPECT_NE(
      more.find("; without its field \"headline\" the text is the same; expected the same texts"),
      more.npos)
      << more;
  std::string const less = shown(text + ", " + title);
  EXPECT_NE(less.find("; its fields are \"text\", \"title\"; expected"), less.npos) << less;
}

/// A document of many queries has one text.
TEST_F(texts, are_there_for_every_query_of_a_document) {
  std::string const documents = write("d.tsv", "x\trye bread\n");
  std::string const topics = write("two.topics", "1\tbread\n2\trye\n");
  datasets::dataset const two = datasets::parse_svmlight(
      ctx, "0 qid:1 1:1 #docid = x\n0 qid:1 1:1 #docid = y\n0 qid:2 1:1 #docid = x\n", "p", {});
  document_texts shown(ctx, two, {documents, topics, {}, {}});
  EXPECT_EQ(shown.whole(0), (marked_text{{"rye ", false}, {"bread", true}}));
  EXPECT_EQ(shown.whole(2), (marked_text{{"rye", true}, {" bread", false}}));
  EXPECT_EQ(plain(shown.whole(1)), "");
  EXPECT_EQ(shown.documents_missing(), 1U);
}

}  // namespace
}  // namespace rulerank::labelling::document_texts_test
