#include "knn/text/analyzer.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/text/documents.hpp"
#include "knn/text/analyzer_reference.hpp"
#include "knn/text/ascii_words.hpp"
#include "knn/text/stop_words.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::analyzer_test {
namespace {

using rulerank::testing_tools::message_of;
using terms = std::vector<std::string>;

terms analyzed(analyzer& a, std::string_view text) {
  terms result;
  a.analyze(text, [&](std::string_view term) { result.emplace_back(term); });
  return result;
}

/// Returns the terms of an analyzer, after comparing it with the plain one.
terms analyzed(analyzer_options const& options, std::string_view text) {
  analyzer a(options);
  terms const result = analyzed(a, text);
  EXPECT_EQ(result, analyzed_plainly(options, text)) << text;
  EXPECT_EQ(result, analyzed(a, text)) << "the second time: " << text;
  return result;
}

analyzer_options const words{.stop_words = "none", .stemmer = "none"};

template <class Fault>
std::string complaint(analyzer_options const& options) {
  return message_of<Fault>([&] { analyzer const a(options); });
}

// sentences

TEST(analyzer, suffixes_of_turkish_names) {
  auto const in = [](std::string_view text, bool elision = true) {
    return analyzed({.stop_words = "none", .stemmer = "turkish", .elision = elision}, text);
  };
  EXPECT_EQ(in("Ankara'n\u0131n Ankara\u2019ya ANKARA'DA ankara"),
            in("ankara ankara ankara ankara"));
  EXPECT_EQ(in("T\u00fcrkiye'nin"), in("T\u00fcrkiye"));
  EXPECT_EQ(in("Ankara'da", false).at(0).substr(0, 7), "ankara'");
  EXPECT_EQ(analyzed(words, "Ankara'da"), (terms{"ankara'da"}));
}

TEST(analyzer, capitals_of_turkish_i) {
  auto const in = [](std::string_view text, bool elision = true) {
    return analyzed({.stop_words = "none", .stemmer = "turkish", .elision = elision}, text);
  };
  // IŞIK, ışık, Işık; İSTANBUL, istanbul, I with a combining dot.
  EXPECT_EQ(in("I\u015eIK \u0131\u015f\u0131k I\u015f\u0131k"), (terms{"isik", "isik", "isik"}));
  EXPECT_EQ(in("\u0130STANBUL istanbul I\u0307STANBUL"), in("istanbul istanbul istanbul"));
  EXPECT_EQ(in("IRMAK \u0131rmak"), in("\u0131rmak \u0131rmak"));  // capitals in ASCII
  EXPECT_EQ(in("INTERNET"), in("internet"));
  EXPECT_NE(in("I\u015eIK", false), in("\u0131\u015f\u0131k", false));
  EXPECT_EQ(analyzed({.stop_words = "none", .stemmer = "none"}, "IRMAK"), (terms{"irmak"}));
}

TEST(analyzer, elision_of_french_italian_and_catalan) {
  auto const in = [](char const* stemmer, std::string_view text) {
    return analyzed({.stop_words = "none", .stemmer = stemmer}, text);
  };
  EXPECT_EQ(in("french", "l'\u00e9nergie L\u2019\u00c9nergie \u00e9nergie"),
            (terms{"energ", "energ", "energ"}));
  EXPECT_EQ(in("french", "d'opium qu'il aujourd'hui jusqu'ici"),
            in("french", "opium il aujourd'hui ici"));
  EXPECT_EQ(in("italian", "dell'arte un'opera l'altro"), in("italian", "arte opera altro"));
  EXPECT_EQ(in("catalan", "l'home d'aigua"), in("catalan", "home aigua"));
  EXPECT_EQ(in("english", "l'energie d'art"), (terms{"l'energi", "d'art"}));
  EXPECT_EQ(analyzed({.stop_words = "none", .stemmer = "french", .elision = false}, "l'opium")
                .at(0)
                .substr(0, 3),
            "l'o");
  EXPECT_EQ(analyzed({.fold = false, .stop_words = "none", .stemmer = "french"}, "L\u2019opium"),
            (terms{"opium"}));
}

TEST(analyzer, english) {
  EXPECT_EQ(analyzed({}, "The quick brown foxes weren't jumping over the lazy dogs' 3 houses."),
            (terms{"quick", "brown", "fox", "jump", "lazi", "dog", "3", "hous"}));
  EXPECT_EQ(analyzed({},
                     "what problems of heat conduction in composite slabs have been solved so\n"
                     "far ."),
            (terms{"problem", "heat", "conduct", "composit", "slab", "solv"}));
  EXPECT_EQ(
      analyzed({}, "Re: Why? Isn\u2019t it the world's U.S.A. (e-mail) -- it costs $1,000.50"),
      (terms{"world", "u.s.a", "mail", "cost", "1,000.50"}));
}

TEST(analyzer, texts_without_words) {
  for (std::string_view const text :
       {"", " ", "\n\r\n\t", ".,;:!?", "___ _ -- ''", "the of and", "\u00ab\u2014\u00bb \u2026",
        "\u0301", "\xd7\xbb", "\u00bd \u00b2"})
    EXPECT_EQ(analyzed({}, text), terms{}) << text;
  EXPECT_EQ(analyzed({}, std::string_view("\0", 1)), terms{});
  EXPECT_EQ(analyzed(words, std::string_view("a\0b", 3)), (terms{"a", "b"}));
}

TEST(analyzer, more_words_than_its_cache_holds) {
  for (int const distinct : {255, 257, 40'000}) {
    std::string text;
    for (int n = 0; n < 2 * distinct; ++n) text += fmt::format("walking{} ", n * 7 % distinct);
    EXPECT_EQ(analyzed(analyzer_options{}, text).size(), 2 * std::size_t(distinct));
  }
}

TEST(analyzer, boundaries_of_words) {
  EXPECT_EQ(analyzed(words, "a.b a'b a''b .a. 1,2.3;4 1'0 1. a1 1a a.1 1.a _a_ a_1 __1 C++ f(x)"),
            (terms{"a.b", "a'b", "a", "b", "a",   "1,2.3;4", "1'0", "1", "a1", "1a",
                   "a",   "1",   "1", "a", "_a_", "a_1",     "__1", "c", "f",  "x"}));
  EXPECT_EQ(analyzed(words, "x"), terms{"x"});
  EXPECT_EQ(analyzed(words, "x'"), terms{"x"});
  EXPECT_EQ(analyzed(words, "up\u00ADon e\u0301 \u0301a \uFEFFbom"),
            (terms{"upon", "e", "a", "bom"}));
}

// Unicode

TEST(analyzer, letters_are_folded) {
  EXPECT_EQ(
      analyzed(words,
               "CAF\u00c9 cafe\u0301 na\u00efve \u00c5ngstr\u00f6m \u1e9e \u00df Stra\u00dfe"),
      (terms{"cafe", "cafe", "naive", "angstrom", "ss", "ss", "strasse"}));
  EXPECT_EQ(analyzed(words, "\u0130stanbul \u0131 I"), (terms{"istanbul", "\u0131", "i"}));
  EXPECT_EQ(analyzed(words, "\ufb01n \uff21\uff11 \u2168 \u24d0 \u00b5m \u03a3\u0391\u03a3 \u03c2"),
            (terms{"fin", "a1", "ix", "a", "\u03bcm", "\u03c3\u03b1\u03c3", "\u03c3"}));
  EXPECT_EQ(analyzed(words, "\u0141\u00f3d\u017a \u00d8"), (terms{"\u0142odz", "\u00f8"}));
  EXPECT_EQ(analyzed(words, "don\u2019t DON'T"), (terms{"don't", "don't"}));
  EXPECT_EQ(analyzed({.fold = false, .stop_words = "none", .stemmer = "none"},
                     "CAF\u00c9 Don\u2019t USA \ufb01n"),
            (terms{"CAF\u00c9", "Don\u2019t", "USA", "\ufb01n"}));
}

TEST(analyzer, marks_that_make_other_words_stay) {
  // Hindi: vowel signs and viramas. Japanese: voicing. Korean: syllables. Hebrew, Arabic: points.
  EXPECT_EQ(analyzed(words, "\u0939\u093f\u0928\u094d\u0926\u0940"),
            terms{"\u0939\u093f\u0928\u094d\u0926\u0940"});
  EXPECT_EQ(analyzed(words, "\u30ac"), terms{"\u30ac"});
  EXPECT_EQ(analyzed(words, "\ud55c\uad6d\uc5b4 \ub2e8\uc5b4"),
            (terms{"\ud55c\uad6d\uc5b4", "\ub2e8\uc5b4"}));
  EXPECT_EQ(analyzed(words, "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd"),
            terms{"\u05e9\u05dc\u05d5\u05dd"});
  EXPECT_EQ(analyzed(words, "\u0643\u064e\u062a\u064e\u0628"), terms{"\u0643\u062a\u0628"});
}

TEST(analyzer, scripts_without_blanks) {
  EXPECT_EQ(analyzed(words, "\u6771\u4eac\u90fd\u306b\u884c\u304f."),
            (terms{"\u6771\u4eac", "\u90fd", "\u306b", "\u884c\u304f"}));
  EXPECT_EQ(analyzed(words, "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a"),
            (terms{"\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u0e04\u0e23\u0e31\u0e1a"}));
}

TEST(analyzer, a_character_that_stands_for_words_becomes_words) {
  EXPECT_EQ(analyzed(words, "\ufdfa"),
            (terms{"\u0635\u0644\u0649", "\u0627\u0644\u0644\u0647", "\u0639\u0644\u064a\u0647",
                   "\u0648\u0633\u0644\u0645"}));
}

TEST(analyzer, bytes_that_are_no_utf8_are_latin_1) {
  EXPECT_EQ(analyzed(words, "caf\xe9 M\xfcller \xff"), (terms{"cafe", "muller", "y"}));
  EXPECT_EQ(analyzed(words, "caf\xe9\xc3\xa9"), terms{"cafee"});
  // Truncated, overlong, surrogates, beyond the last code point.
  EXPECT_EQ(analyzed(words, "a \xc3"), (terms{"a", "a"}));
  EXPECT_EQ(analyzed(words, "\xc0\xaf"), terms{"a"});
  std::string buffer;
  EXPECT_EQ(well_formed("\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82", buffer),
            "\u00ed\u00a0\u0080|\u00f4\u0090\u0080\u0080|\u00e2\u0082");
  EXPECT_EQ(well_formed("a\u20ac\U0001f600", buffer), "a\u20ac\U0001f600");
  EXPECT_EQ(well_formed("", buffer), "");
}

// stop words

TEST(stop_list, smart) {
  terms const list = stop_words("smart");
  EXPECT_EQ(list.size(), 570U);  // 571 as published, where "would" occurs twice
  EXPECT_EQ(std::set<std::string>(list.begin(), list.end()).size(), 570U);
  EXPECT_EQ(list.front(), "a");
  EXPECT_EQ(list.back(), "zero");
  for (std::string const& word : list)
    EXPECT_EQ(analyzed({.stemmer = "none"}, word), terms{}) << word;
  for (std::string const& word : list) EXPECT_EQ(analyzed(words, word), terms{word});
}

TEST(stop_list, none_and_files) {
  rulerank::testing_tools::temporary_folder const folder;
  std::string const path = folder / "stop.txt";
  write_file(path, "\xef\xbb\xbf# mine\r\n\r\n\u00dcber\n e.g. \ndon't\nL'\nlast");
  EXPECT_EQ(stop_words("file:" + path), (terms{"\u00dcber", "e.g", "don't", "L", "last"}));
  analyzer_options options{.stop_words = "file:" + path, .stemmer = "none"};
  EXPECT_EQ(analyzed(options, "\u00dcBER uber e.g. Don\u2019t l last the"), terms{"the"});
  options.fold = false;
  EXPECT_EQ(analyzed(options, "\u00dcber uber LAST last"), (terms{"uber", "LAST"}));
  // Words of the list are compared before stemming.
  options = {.stop_words = "file:" + path};
  write_file(path, "running\n");
  EXPECT_EQ(analyzed(options, "running runs"), terms{"run"});
  EXPECT_EQ(analyzed({.stop_words = "none"}, "the running"), (terms{"the", "run"}));
}

TEST(stop_list, faults) {
  EXPECT_EQ(complaint<usage_error>({.stop_words = "english"}),
            "found the stop list 'english', expected none, smart or file:PATH");
  rulerank::testing_tools::temporary_folder const folder;
  std::string const path = folder / "stop.txt";
  auto const said = [&](std::string_view text) {
    write_file(path, text);
    std::string const what = complaint<error>({.stop_words = "file:" + path});
    EXPECT_TRUE(what.starts_with(path)) << what;
    return what.substr(std::min(what.size(), path.size()));
  };
  EXPECT_EQ(said("a\n\n b c\n"),
            ":3:2: found \"b c\", which is 2 words, expected one word on each line");
  EXPECT_EQ(said("and/or"),
            ":1:1: found \"and/or\", which is 2 words, expected one word on each line");
  EXPECT_EQ(said("a\n--\n"),
            ":2:1: found \"--\", which is 0 words, expected one word on each line");
  EXPECT_EQ(said(""), ":1:1: found no words, expected one word on each line");
  EXPECT_EQ(said("# a\n\n"), ":1:1: found no words, expected one word on each line");
  EXPECT_EQ(complaint<error>({.stop_words = "file:" + path + "/none"}),
            path + "/none: cannot be read: Not a directory");
}

// stems

TEST(stems, of_languages) {
  EXPECT_EQ(analyzed({}, "relational conditioning generously skies"),
            (terms{"relat", "condit", "generous", "sky"}));
  EXPECT_EQ(analyzed({.stemmer = "porter"}, "relational conditioning generously skies"),
            (terms{"relat", "condit", "gener", "ski"}));
  EXPECT_EQ(analyzed({.stop_words = "none", .stemmer = "german"}, "H\u00e4user Haus Stra\u00dfen"),
            (terms{"haus", "haus", "strass"}));
  EXPECT_EQ(analyzed({.stop_words = "none", .stemmer = "russian"},
                     "\u043d\u043e\u0432\u044b\u0439 \u041d\u041e\u0412\u0410\u042f"),
            (terms{"\u043d\u043e\u0432", "\u043d\u043e\u0432"}));
  // The stem is aboard\u0131: a stem may contain letters that its word lacks.
  EXPECT_EQ(analyzed({.stop_words = "none", .stemmer = "turkish"}, "aaronc aboard"),
            (terms{"aaronc", "aboardi"}));
}

TEST(stems, every_algorithm_can_be_asked_for) {
  terms const all = stemmers();
  for (char const* name : {"english", "porter", "german", "french", "russian", "turkish"})
    EXPECT_EQ(std::count(all.begin(), all.end(), name), 1) << name;
  std::string const text =
      "Running r\u00fcn \u0431\u0435\u0433\u0443\u0449\u0438\u0439 "
      "\u03c4\u03c1\u03ad\u03be\u03b9\u03bc\u03bf 42 s' o'x";
  for (std::string const& name : all)
    for (std::string const& term : analyzed({.stop_words = "none", .stemmer = name}, text))
      EXPECT_FALSE(term.empty()) << name;
  std::string const said = complaint<usage_error>({.stemmer = "klingon"});
  EXPECT_TRUE(said.starts_with("found the stemmer 'klingon', expected none or one of: arabic, "))
      << said;
  EXPECT_NE(said.find("porter"), said.npos);
}

// limits

TEST(limits, are_code_points_of_the_folded_word) {
  analyzer_options options = words;
  options.min_length = 2;
  options.max_length = 4;
  EXPECT_EQ(
      analyzed(options,
               "a bb cccc ddddd \u00e9 \u00e9\u00e9\u00e9\u00e9 \u00df \u6771\u4eac 12 12345 123"),
      (terms{"bb", "cccc", "eeee", "ss", "\u6771\u4eac", "12", "123"}));
  EXPECT_EQ(analyzed({.min_length = 4}, "skies sky"), terms{"sky"});
  EXPECT_EQ(analyzed(words, std::string(64, 'x') + " " + std::string(65, 'x')),
            terms{std::string(64, 'x')});
  EXPECT_EQ(analyzed(words, std::string(10 << 20, 'x') + " y"), terms{"y"});
  options.min_length = 5;
  EXPECT_EQ(complaint<usage_error>(options),
            "found words of 5 to 4 code points, expected a least length that does not exceed the "
            "largest");
}

TEST(limits, numbers_are_words_without_a_letter) {
  analyzer_options options = words;
  options.keep_numbers = false;
  EXPECT_EQ(analyzed(options, "1 1,000.5 _1 a1 2nd \u0663 \u0663a \u2168 x"),
            (terms{"a1", "2nd", "\u0663a", "ix", "x"}));
}

// agreement with the plain analyzer

std::string drawn(random_engine& random, std::vector<std::string> const& pieces) {
  std::string text;
  for (std::size_t n = uniform_below(random, 30); n-- > 0;)
    text += pieces[uniform_below(random, pieces.size())];
  return text;
}

TEST(agreement, of_ascii_words_with_icu) {
  // Every string of four characters.
  std::string const few = "aB0_.,':;-@ \n\x01";
  word_breaker breaker;
  auto const both = [&](std::string const& text) {
    std::vector<std::pair<std::string, bool>> ours;
    std::vector<std::pair<std::string, bool>> icus;
    split_ascii(text, [&](std::string_view w, bool l) { ours.emplace_back(w, l); });
    breaker.split(text, [&](std::string_view w, bool l) { icus.emplace_back(w, l); });
    return ours == icus;
  };
  for (char const a : few)
    for (char const b : few)
      for (char const c : few)
        for (char const d : few)
          ASSERT_TRUE(both({a, b, c, d})) << '\'' << a << b << c << d << '\'';
  random_engine random(1);
  for (int draw = 0; draw < 20000; ++draw) {
    std::string text;
    for (std::size_t n = uniform_below(random, 40); n-- > 0;)
      text += static_cast<char>(uniform_below(random, 128));
    ASSERT_TRUE(both(text)) << text;
  }
}

// Long because of the table of pieces for random texts.
TEST(agreement, of_drawn_texts) {
  std::vector<std::string> const pieces{"a",
                                        "B",
                                        "the",
                                        "running",
                                        "1",
                                        "23",
                                        "_",
                                        ".",
                                        ",",
                                        "'",
                                        ":",
                                        ";",
                                        "-",
                                        "\"",
                                        "@",
                                        "$",
                                        " ",
                                        " ",
                                        " ",
                                        "  ",
                                        "\n",
                                        "\r\n",
                                        "\t",
                                        "\v",
                                        "\f",
                                        std::string(1, '\0'),
                                        "\u00a0",
                                        "\u3000",
                                        "\u0085",
                                        "\u2028",
                                        "\u200b",
                                        "\u200d",
                                        "\u00ad",
                                        "\ufeff",
                                        "\u0301",
                                        "\u0308",
                                        "\u20dd",
                                        "\u3099",
                                        "\u00e9",
                                        "\u00c9",
                                        "e\u0301",
                                        "\u00df",
                                        "\u0130",
                                        "\u0131",
                                        "\u2019",
                                        "\u00b7",
                                        "\ufb01",
                                        "\u00bd",
                                        "\u0663",
                                        "\u05d0",
                                        "\u05d0\"\u05d0",
                                        "\u0639\u0631\u0628",
                                        "\u0915\u094d",
                                        "\u6771",
                                        "\u4eac\u90fd",
                                        "\u30ac",
                                        "\u30ab\u3099",
                                        "\u306b",
                                        "\ud55c",
                                        "\u1112\u1161",
                                        "\u0e2a\u0e27\u0e31\u0e2a",
                                        "\ufdfa",
                                        "\U0001f600",
                                        "\U0001f1e9",
                                        "\u2764\ufe0f",
                                        "\U0001d400",
                                        "\xe9",
                                        "\xff",
                                        "\xc3",
                                        "\x80",
                                        "\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\xf0\x9f",
                                        std::string(70, 'z'),
                                        std::string(90, ' ')};
  std::vector<analyzer_options> const kinds{
      {},
      words,
      {.fold = false},
      {.stop_words = "none", .stemmer = "french", .max_length = 3, .keep_numbers = false},
      {.stop_words = "none", .stemmer = "turkish", .min_length = 2}};
  random_engine random(2);
  for (analyzer_options const& options : kinds) {
    analyzer a(options);
    for (int draw = 0; draw < 600; ++draw) {
      std::string const text = drawn(random, pieces);
      ASSERT_EQ(analyzed(a, text), analyzed_plainly(options, text)) << text;
    }
  }
}

TEST(agreement, of_copies_in_threads) {
  analyzer const first{analyzer_options{}};
  std::string text;
  for (int n = 0; n < 3000; ++n) text += "Words number" + std::to_string(n % 997) + " caf\u00e9s ";
  terms const expected = analyzed_plainly({}, text);
  std::vector<terms> got(4);
  std::vector<std::thread> threads;
  for (terms& result : got)
    threads.emplace_back([&result, &text, a = first]() mutable { result = analyzed(a, text); });
  for (std::thread& t : threads) t.join();
  for (terms const& result : got) EXPECT_EQ(result, expected);
}

TEST(agreement, on_newsgroups) {
  RULERANK_REAL_DATA(folder, "text/20news-bydate/20news-bydate-test/sci.crypt");
  analyzer a;
  std::size_t documents = 0;
  std::size_t count = 0;
  datasets::read_documents(context{}, folder, datasets::text_format::folder,
                           [&](datasets::text_document&& d) {
                             terms const got = analyzed(a, d.fields[0].text);
                             count += got.size();
                             if (++documents % 8 == 0) {
                               ASSERT_EQ(got, analyzed_plainly({}, d.fields[0].text)) << d.id;
                             }
                           });
  EXPECT_EQ(documents, 396U);
  EXPECT_GT(count, 40000U);
}

}  // namespace
}  // namespace rulerank::knn::analyzer_test
