#include "knn/metric/search.hpp"

#include "core/error.hpp"
#include "core/message_testing.hpp"
#include "core/output_file.hpp"
#include "core/random.hpp"
#include "core/testing.hpp"
#include "datasets/forms.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/testing.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rulerank::inline v0::knn::metric_search_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;
using namespace testing_tools;
using datasets::vectors;

struct pair_found {
  std::uint32_t id;
  double value;
  bool operator==(pair_found const&) const = default;
};

/// Returns all objects that `holds` allows, nearest first: the definition.
std::vector<pair_found> ordered(metric_space const& space, metric_queries const& queries,
                                std::size_t q, std::function<bool(std::uint32_t)> const& holds) {
  std::vector<pair_found> all;
  auto const origin = queries.from(q);
  for (std::uint32_t i = 0; i < space.size(); ++i)
    if (holds(i)) all.push_back({i, origin->to(i)});
  std::sort(all.begin(), all.end(), [](pair_found const& a, pair_found const& b) {
    return a.value != b.value ? a.value < b.value : a.id < b.id;
  });
  return all;
}

std::vector<pair_found> found_by(neighbours const& found, std::size_t q) {
  std::vector<pair_found> all;
  for (std::size_t i = 0; i < found.count_of(q); ++i)
    all.push_back({found.ids_of(q)[i], found.values_of(q)[i]});
  return all;
}
std::vector<pair_found> found_by(rows_in_range const& found, std::size_t q) {
  std::vector<pair_found> all;
  for (std::size_t i = 0; i < found.rows_of(q).size(); ++i)
    all.push_back({found.rows_of(q)[i], found.values_of(q)[i]});
  return all;
}

bool all_objects(std::uint32_t) {
  return true;
}

/// Compares an index with the definition: k from 1 to all, radii from 0 to all, including the
/// distances and the adjacent doubles.
void expect_exact(metric_index const& index, metric_queries const& queries,
                  std::function<bool(std::uint32_t)> const& holds = all_objects) {
  std::size_t const n = index.size();
  std::vector<std::vector<pair_found>> expected;
  std::set<double> radii{0, 1e300};
  for (std::size_t q = 0; q < queries.size(); ++q) {
    expected.push_back(ordered(index.space(), queries, q, holds));
    ASSERT_EQ(expected.back().size(), n);
    for (std::size_t const i : {std::size_t{0}, n / 20, n / 2, n - 1})
      if (i < n && q < 4) {
        double const value = expected[q][i].value;
        radii.insert({value, std::nextafter(value, 0), std::nextafter(value, 1e9)});
      }
  }
  for (std::size_t const k : {std::size_t{1}, std::size_t{2}, std::size_t{10}, n, n + 3}) {
    if (k == 0) continue;
    neighbours const found = index.search(of_threads(1), queries, k);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      auto first = expected[q];
      first.resize(std::min(k, n));
      ASSERT_EQ(found_by(found, q), first) << name_of(index.type()) << " k " << k << " query " << q;
    }
  }
  for (double const radius : radii) {
    rows_in_range const found = index.search_range(of_threads(1), queries, radius);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      std::vector<pair_found> within;
      for (pair_found const& one : expected[q])
        if (one.value <= radius) within.push_back(one);
      ASSERT_EQ(found_by(found, q), within)
          << name_of(index.type()) << " radius " << radius << " query " << q;
    }
  }
}

class every_type : public testing::TestWithParam<metric_index_type> {
 protected:
  metric_index_options options(std::size_t bucket = 0, double alpha = .4) const {
    return {GetParam(), bucket, alpha, 0};
  }
};
std::vector<metric_index_type> listed_types() {
  std::vector<metric_index_type> types;
  for (auto const& entry : metric_index_types()) types.push_back(entry.which);
  return types;
}
INSTANTIATE_TEST_SUITE_P(metric_index, every_type, testing::ValuesIn(listed_types()), name_of_case);

constexpr metric_distance of_vectors[] = {metric_distance::l1, metric_distance::l2,
                                          metric_distance::linf, metric_distance::angular};

TEST_P(every_type, finds_vectors) {
  for (metric_distance const which : of_vectors)
    for (int const of : {0, 3})
      for (std::size_t const rows : {40, 700}) {
        auto const space =
            std::make_shared<vector_space>(context{}, drawn_vectors(rows, 4, 1, of), which);
        metric_index const index({}, space, options(rows == 40 ? 3 : 0));
        expect_exact(index, *space->queries({}, drawn_vectors(7, 4, 2, of)));
        expect_exact(index, *space->queries({}, drawn_vectors(rows, 4, 1, of).rows(5, 4)));
      }
}

TEST_P(every_type, finds_words) {
  for (std::size_t const longest : {4, 12, 90})
    for (double const alpha : {.2, .5, 1.}) {
      auto const space = std::make_shared<word_space>(drawn_words(600, 5, longest));
      metric_index const index({}, space, options(5, alpha));
      expect_exact(index, *space->queries(drawn_words(6, 6, longest)));
      expect_exact(index, *space->queries({"", "abc", space->words()[17]}));
    }
}

TEST_P(every_type, finds_objects_of_any_type) {
  struct point {
    int x = 0, y = 0;
  };
  auto const blocks = [](point const& a, point const& b) {
    return static_cast<double>(std::abs(a.x - b.x) + std::abs(a.y - b.y));
  };
  std::vector<point> points;
  for (int i = 0; i < 500; ++i) points.push_back({i * 37 % 101, i * i % 97});
  using space_type = object_space<point, std::function<double(point const&, point const&)>>;
  auto const space = std::make_shared<space_type>(points, blocks, distance_rounding{});
  metric_index const index({}, space, options(4));
  expect_exact(index, *space->queries({{0, 0}, {50, 50}, {3, 400}}));
}

TEST_P(every_type, finds_what_is_there_alone_or_again) {
  auto const expect = [&](std::vector<float> values, std::size_t bucket) {
    for (metric_distance const which : of_vectors) {
      auto const space = std::make_shared<vector_space>(context{}, vectors(values, 2), which);
      metric_index const index({}, space, options(bucket));
      expect_exact(index, *space->queries({}, vectors(std::vector<float>{1, 1, 0, 0, 3, -4}, 2)));
    }
  };
  expect({1, 1}, 0);
  expect({0, 0}, 1);
  expect({3, 1, 3, 1}, 1);
  for (std::size_t const bucket : {1, 2, 7}) {
    std::vector<float> same;
    for (int i = 0; i < 300; ++i) same.insert(same.end(), {1.5F, -.7F});
    expect(same, bucket);
    same.insert(same.end(), {1, 1, 0, 0, 0, 0, 9, 9});
    expect(same, bucket);
  }
}

TEST_P(every_type, finds_nothing_in_nothing) {
  auto const space = std::make_shared<word_space>(std::vector<std::string>{});
  metric_index const index({}, space, options());
  auto const queries = space->queries({"", "a"});
  EXPECT_EQ(index.size(), 0u);
  EXPECT_EQ(index.search({}, *queries, 3).id, std::vector<std::uint32_t>(6, no_neighbour));
  EXPECT_TRUE(index.search_range({}, *queries, 1e9).row.empty());
  metric_index const some({}, std::make_shared<word_space>(std::vector<std::string>{"a"}),
                          options());
  auto const words = dynamic_cast<word_space const&>(some.space()).queries({});
  EXPECT_EQ(some.search({}, *words, 2).queries, 0u);
  EXPECT_EQ(some.search_range({}, *words, 2).begin, std::vector<std::uint64_t>{0});
}

/// Points on a line at multiples of a tenth, whose distances are rounded: exclusion without slack
/// would lose some of those at the radius.
TEST_P(every_type, finds_objects_within_a_unit_in_the_last_place_of_the_radius) {
  std::vector<double> places;
  for (int i = 0; i < 400; ++i) places.push_back(i * .1);
  auto const apart = [](double a, double b) { return std::abs(a - b); };
  auto const space =
      std::make_shared<object_space<double, std::function<double(double, double)>>>(places, apart);
  metric_index const index({}, space, options(3));
  std::vector<double> asked{.1, .3, 7 * .1, 12.3, 39.9};
  auto const queries = space->queries(asked);
  expect_exact(index, *queries);
  for (int i = 1; i < 40; ++i)
    for (double const radius :
         {i * .1, std::nextafter(i * .1, 0), std::nextafter(i * .1, 100), i / 10.}) {
      auto const found = index.search_range({}, *queries, radius);
      for (std::size_t q = 0; q < asked.size(); ++q) {
        std::size_t within = 0;
        for (double const place : places) within += apart(asked[q], place) <= radius ? 1 : 0;
        ASSERT_EQ(found.rows_of(q).size(), within) << radius;
      }
    }
}

TEST_P(every_type, is_the_same_on_any_number_of_threads) {
  auto const space =
      std::make_shared<vector_space>(context{}, drawn_vectors(3000, 6, 8), metric_distance::l2);
  auto const queries = space->queries({}, drawn_vectors(50, 6, 9));
  context const one = of_threads(1);
  context const several = of_threads(5);
  metric_index const a(one, space, options());
  metric_index const b(several, space, options());
  EXPECT_EQ(a.build_evaluations(), b.build_evaluations());
  metric_work work_a;
  metric_work work_b;
  auto const found_a = a.search(one, *queries, 7, &work_a);
  auto const found_b = b.search(several, *queries, 7, &work_b);
  EXPECT_EQ(found_a.id, found_b.id);
  EXPECT_EQ(found_a.value, found_b.value);
  EXPECT_EQ(work_a.evaluations, work_b.evaluations);
  EXPECT_GT(work_a.evaluations, 0u);
  if (GetParam() == metric_index_type::brute) {
    EXPECT_EQ(work_a.evaluations, 50u * 3000u);
  } else {
    EXPECT_LT(work_a.evaluations, 50u * 3000u);
  }
}

TEST_P(every_type, stops_when_it_is_told) {
  std::stop_source stop;
  stop.request_stop();
  context stopped;
  stopped.stop = stop.get_token();
  auto const space = std::make_shared<word_space>(drawn_words(400, 1, 9));
  metric_index const index({}, space, options());
  EXPECT_THROW(index.search(stopped, *space->queries({"abc"}), 1), interrupted);
  if (GetParam() != metric_index_type::brute) {
    EXPECT_THROW(metric_index(stopped, space, options(8)), interrupted);
  }
}

bool takes(metric_index_type type, bool out) {
  using enum metric_index_type;
  return type == brute || type == egnat || (type == m_tree && !out);
}

TEST_P(every_type, takes_objects_in) {
  std::size_t const rows = 900;
  auto const space =
      std::make_shared<vector_space>(context{}, drawn_vectors(rows, 3, 4), metric_distance::l1);
  metric_index index({}, space, options(6), 200);
  EXPECT_EQ(index.size(), 200u);
  auto const queries = space->queries({}, drawn_vectors(5, 3, 5));
  expect_exact(index, *queries, [](std::uint32_t id) { return id < 200; });
  EXPECT_THROW(index.insert(5), usage_error);
  EXPECT_THROW(index.insert(900), usage_error);
  if (!takes(GetParam(), false)) {
    EXPECT_THROW(index.insert(300), usage_error);
    return;
  }
  for (std::uint32_t id = 200; id < rows; ++id) index.insert(id);
  expect_exact(index, *queries);
}

TEST_P(every_type, takes_objects_out) {
  std::uint32_t const rows = 600;
  for (bool const words : {false, true}) {
    std::shared_ptr<metric_space const> space;
    std::unique_ptr<metric_queries> queries;
    if (words) {
      auto const some = std::make_shared<word_space>(drawn_words(rows, 7, 9));
      queries = some->queries(drawn_words(5, 8, 9));
      space = some;
    } else {
      auto const some = std::make_shared<vector_space>(context{}, drawn_vectors(rows, 3, 6),
                                                       metric_distance::angular);
      queries = some->queries({}, drawn_vectors(5, 3, 7));
      space = some;
    }
    metric_index index({}, space, options(4));
    EXPECT_THROW(index.erase(rows), usage_error);
    if (!takes(GetParam(), true)) {
      EXPECT_THROW(index.erase(3), usage_error);
      return;
    }
    std::vector<std::uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0U);
    random_engine chance(12);
    shuffle(std::span(order), chance);
    std::set<std::uint32_t> out;
    auto const holds = [&](std::uint32_t id) { return out.count(id) == 0; };
    for (std::uint32_t i = 0; i < rows; ++i) {
      index.erase(order[i]);
      out.insert(order[i]);
      if (i % 3 == 2) {  // inserted again
        index.insert(order[i - 1]);
        out.erase(order[i - 1]);
      }
      if (i % 100 == 99) expect_exact(index, *queries, holds);
      ASSERT_THROW(index.erase(order[i]), usage_error);
    }
    for (std::uint32_t const id : order)
      if (holds(id)) {
        index.erase(id);
        out.insert(id);
      }
    EXPECT_EQ(index.size(), 0u);
    index.insert(9);
    out.erase(9);
    expect_exact(index, *queries, holds);
  }
}

TEST(metric_search, values_are_those_of_the_definition) {
  vectors const rows(std::vector<float>{0, 0, 3, 4, 1, 0, -3, -4}, 2);
  vectors const asked(std::vector<float>{3, 4}, 2);
  double const right = std::acos(0.0);
  auto const values = [&](metric_distance which) {
    vector_space const space({}, rows, which);
    std::vector<double> all;
    for (std::uint32_t i = 0; i < 4; ++i) all.push_back(space.queries({}, asked)->from(0)->to(i));
    return all;
  };
  EXPECT_EQ(values(metric_distance::l1), (std::vector<double>{7, 0, 6, 14}));
  EXPECT_EQ(values(metric_distance::l2), (std::vector<double>{5, 0, std::sqrt(20.0), 10}));
  EXPECT_EQ(values(metric_distance::linf), (std::vector<double>{4, 0, 4, 8}));
  EXPECT_EQ(values(metric_distance::angular),
            (std::vector<double>{right, 0, std::acos(.6), std::acos(-1.0)}));
}

TEST(metric_search, l2_is_that_of_dense_search) {
  vectors const rows = drawn_vectors(300, 9, 21);
  vectors const asked = drawn_vectors(5, 9, 22);
  auto const space = std::make_shared<vector_space>(context{}, rows, metric_distance::l2);
  auto const found = metric_index({}, space).search({}, *space->queries({}, asked), 300);
  auto const dense = dense_index({}, rows).search({}, asked, 300);
  EXPECT_EQ(found.value, dense.value);
}

TEST(metric_search, wrong_usage_is_told) {
  EXPECT_EQ(metric_distance_from("linf"), metric_distance::linf);
  for (char const* const name : {"squared-l2", "cosine", "ip", "L2", ""})
    EXPECT_THROW(metric_distance_from(name), usage_error) << name;
  EXPECT_EQ(metric_index_type_from("sss-tree"), metric_index_type::sss_tree);
  EXPECT_THROW(metric_index_type_from("vp"), usage_error);
  vectors const rows(std::vector<float>{1, 2}, 2);
  EXPECT_THROW(vector_space({}, rows, metric_distance::edit), usage_error);
  EXPECT_THROW(vector_space({}, vectors(std::vector<double>{1, 2}, 2), metric_distance::l1),
               usage_error);
  auto const space = std::make_shared<vector_space>(context{}, rows, metric_distance::l1);
  EXPECT_THROW(space->queries({}, vectors(std::vector<float>{1, 2, 3}, 3)), usage_error);
  EXPECT_THROW(metric_index({}, space, {metric_index_type::sss, 0, 0}), usage_error);
  EXPECT_THROW(metric_index({}, space, {metric_index_type::sss, 0, 1.5}), usage_error);
  metric_index const index({}, space);
  auto const queries = space->queries({}, rows);
  EXPECT_THROW(index.search({}, *queries, 0), usage_error);
  EXPECT_THROW(index.search_range({}, *queries, -1), usage_error);
  EXPECT_THROW(index.search_range({}, *queries, std::nan("")), usage_error);
  for (float const wrong : {std::nanf(""), HUGE_VALF})
    EXPECT_THROW(vector_space({}, vectors(std::vector<float>{1, wrong}, 2), metric_distance::l1),
                 error);
}

TEST(metric_search, automatic_is_a_type_with_a_reason) {
  auto const line = [](std::size_t objects) {
    std::vector<float> values(objects);
    std::iota(values.begin(), values.end(), 0.F);
    return std::make_shared<vector_space>(context{}, vectors(std::move(values), 1),
                                          metric_distance::l1);
  };
  auto const few = line(10);
  EXPECT_EQ(choose_metric_index(*few, 1000000).type, metric_index_type::brute);
  EXPECT_NE(choose_metric_index(*few, 1000000).reason.find("10 objects"), std::string::npos);
  auto const many = line(2000);
  EXPECT_EQ(choose_metric_index(*many, 399).type, metric_index_type::brute);
  EXPECT_NE(choose_metric_index(*many, 399).reason.find("pays for 400 queries or more"),
            std::string::npos);
  EXPECT_EQ(choose_metric_index(*many, 400).type, metric_index_type::lc);
  EXPECT_FALSE(choose_metric_index(*many, 400).reason.empty());
  word_space const words(drawn_words(2000, 1, 5));
  EXPECT_EQ(choose_metric_index(words, 1000000).type, metric_index_type::brute);
  EXPECT_NE(choose_metric_index(words, 1000000).reason.find("at once"), std::string::npos);
  vector_space const plane({}, drawn_vectors(2000, 2, 3), metric_distance::l2);
  EXPECT_EQ(choose_metric_index(plane, 1000000).type, metric_index_type::brute);
  EXPECT_NE(choose_metric_index(plane, 1000000).reason.find("dense search"), std::string::npos);
  EXPECT_EQ(choose_metric_index(plane, 1000000, false).type, metric_index_type::lc);
  EXPECT_EQ(metric_index({}, many).type(), metric_index_type::brute);
  metric_index_options options;
  options.queries = 500;
  EXPECT_EQ(metric_index({}, many, options).type(), metric_index_type::lc);
}

/// A small radius needs few of 256 points; a large one never measures more than all of them.
TEST(metric_search, mvpt_measures_the_points_that_pay) {
  auto const space = std::make_shared<word_space>(drawn_words(10000, 1, 12));
  auto const queries = space->queries(drawn_words(20, 2, 12));
  metric_index const index({}, space, {metric_index_type::mvpt});
  auto const evaluations = [&](double radius) {
    metric_work work;
    index.search_range({}, *queries, radius, &work);
    return work.evaluations;
  };
  EXPECT_LT(evaluations(0), 20u * 128);
  EXPECT_LT(evaluations(0), evaluations(2));
  EXPECT_EQ(evaluations(12), 20u * 10000);
}

TEST(check_metric, finds_a_breach_and_none_where_there_is_none) {
  std::vector<double> places;
  for (int i = 0; i < 50; ++i) places.push_back(i * .37);
  auto const breach = [&](auto const& distance) {
    return check_metric({}, object_space(places, distance), 5000);
  };
  EXPECT_FALSE(breach([](double a, double b) { return std::abs(a - b); }));
  EXPECT_FALSE(breach([](double a, double b) { return std::sqrt(std::abs(a - b)); }));
  auto const squared = breach([](double a, double b) { return (a - b) * (a - b); });
  ASSERT_TRUE(squared);
  EXPECT_GT(squared->ac, squared->ab + squared->bc);
  EXPECT_NE(squared->what.find("from object"), std::string::npos);
  EXPECT_TRUE(breach([](double a, double b) { return a < b ? b - a : 2 * (a - b); }));
  EXPECT_TRUE(breach([](double a, double b) { return std::abs(a - b) + 1; }));
  EXPECT_TRUE(breach([](double, double) { return std::nan(""); }));
  EXPECT_TRUE(breach([](double a, double b) { return a - b; }));
  EXPECT_FALSE(
      check_metric({}, object_space(std::vector<double>{}, [](double, double) { return 1.; }), 10));
  for (metric_distance const which : of_vectors)
    EXPECT_FALSE(check_metric({}, vector_space({}, drawn_vectors(300, 5, 3), which), 20000));
  EXPECT_FALSE(check_metric({}, word_space(drawn_words(300, 3, 12)), 20000));
}

/// The samples of datasets/forms.cpp for this module.
TEST(metric_search, forms_of_words_are_recognized_or_refused) {
  rulerank::testing_tools::temporary_folder const folder;
  for (datasets::file_form const& form : datasets::file_forms()) {
    if (form.input != "words") continue;
    write_file(folder / "words", form.sample);
    bool is_counted = false;
    auto const words = read_words({}, folder / "words", [&](std::string const& what) {
      is_counted = what.find("a word and its count") != what.npos;
    });
    EXPECT_EQ(fmt::format("{}", fmt::join(words, "; ")), form.content);
    EXPECT_EQ(is_counted, form.name == "words with counts");
    write_file(folder / "words", form.wrong);
    EXPECT_PRED2(says, message_of([&] { read_words({}, folder / "words"); }),
                 fmt::format("{}{}...", folder / "words", form.message));
  }
}

/// Returns the words of a dictionary and the warnings, without the file's name.
std::string shown_dictionary(std::string const& path, std::string_view text) {
  write_file(path, text);
  std::string said;
  auto const words = read_words({}, path, [&](std::string const& what) { said += what; });
  for (std::size_t parts = 2; parts < 4; ++parts) {
    std::vector<std::string> together;
    for (std::size_t p = 0; p < parts; ++p)
      for (std::string& word : read_words_part({}, path, p, parts))
        together.push_back(std::move(word));
    EXPECT_EQ(together, words);
  }
  return fmt::format("{}{}", fmt::join(words, "|"), said.empty() ? "" : said.substr(path.size()));
}

constexpr char const* counted_note =
    ": each line is a word and a number, read as a word and its count; the counts are left out";

TEST(metric_search, dictionaries_with_marks_in_numbers_and_titles) {
  rulerank::testing_tools::temporary_folder const folder;
  auto const read = [&](std::string_view text) { return shown_dictionary(folder / "words", text); };
  std::string const counted = counted_note;
  std::string const some =
      " have several columns, a number after a word, or quotes (this is the first); each whole "
      "line is read as the word";
  for (std::string const number : {"1,234", "0,05", "1,234,567", "1,234.5"}) {
    EXPECT_EQ(read("the " + number + "\nof " + number + "\n"), "the|of" + counted) << number;
    EXPECT_EQ(read(number + " the\n" + number + " of\n"), "the|of" + counted) << number;
  }
  EXPECT_EQ(read("the 12:30\nof 12:31\n"), "the 12:30|of 12:31:1: 2 of 2 lines" + some);
  EXPECT_EQ(read("top 10,last 5\nfirst 3,best 2\n"),
            "top 10,last 5|first 3,best 2:1: 2 of 2 lines" + some);
  EXPECT_EQ(read("route 66,3\nNew York,2\n"), "route 66|New York" + counted);
  EXPECT_EQ(read("\"route 66\",3\n\"area 51\",2\n"), "route 66|area 51" + counted);
  EXPECT_EQ(read("word,count\nroute 66,3\narea 51,2\n"),
            "route 66|area 51" + counted + ", and so is the header");
  EXPECT_EQ(read("Word\nred\nblue\n"),
            "Word|red|blue:1: the first line names a column of words and is read as a word; remove "
            "it if it is a header");
  EXPECT_EQ(read("red\nword\n"), "red|word");
}

TEST(metric_search, dictionaries_of_tools) {
  rulerank::testing_tools::temporary_folder const folder;
  auto const read = [&](std::string_view text) { return shown_dictionary(folder / "words", text); };
  std::string const counted = counted_note;
  EXPECT_EQ(read("red,3\r\nNew York,2\r\n"), "red|New York" + counted);
  EXPECT_EQ(read("\xef\xbb\xbfword\tcount\nred\t0.5\n"),
            "red" + counted + ", and so is the header");
  EXPECT_EQ(read("Word,Freq\n\"red\",3\n\"a, b\",1e-5\n"),
            "red|a, b" + counted + ", and so is the header");
  EXPECT_EQ(read("      3 red\n     12 blue\n"), "red|blue" + counted) << "uniq -c";
  EXPECT_EQ(read("red 0,5\nblue, 1,234\n"), "red|blue" + counted);
  EXPECT_EQ(read("\"red\"\n\"a \"\"b\"\"\"\n"),
            "red|a \"b\": each line is in quotes, which are left out");
  std::string const some =
      " have several columns, a number after a word, or quotes (this is the first); each whole "
      "line is read as the word";
  EXPECT_EQ(read("red\nblue 2\nwing\n"), "red|blue 2|wing:2: 1 of 3 lines" + some);
  EXPECT_EQ(read("red\n\"blue\"\n"), "red|\"blue\":2: 1 of 2 lines" + some);
  EXPECT_EQ(read("word count\nred 2\nblue\n"), "word count|red 2|blue:2: 1 of 3 lines" + some);
  EXPECT_EQ(read("red\tof\nblue\n"), "red\tof|blue:1: 1 of 2 lines" + some);
  EXPECT_EQ(read("Smith, John\nDoe, Jane\n"), "Smith, John|Doe, Jane:1: 2 of 2 lines" + some);
  EXPECT_EQ(read("red -3.2\nblue -0.5\n"), "red|blue" + counted) << "logarithms";
  EXPECT_EQ(read("the:5\nof:3\n"), "the|of" + counted);
  EXPECT_EQ(read("the|5\nof|3\n"), "the|of" + counted);
  EXPECT_EQ(read("the=5\nof=3\n"), "the|of" + counted);
  EXPECT_EQ(read("the (5)\nof (3)\n"), "the|of" + counted);
  EXPECT_EQ(read("the (5)\nNew York (3)\n"), "the (5)|New York (3):1: 2 of 2 lines" + some);
  EXPECT_EQ(read("the [5]\nof [3]\n"), "the|of" + counted);
  EXPECT_EQ(read("the 5%\nof 3%\n"), "the|of" + counted);
  EXPECT_EQ(read("a=b\nc=d\n"), "a=b|c=d");
  EXPECT_EQ(read("RED  R EH1 D\nHAT  HH AE1 T\n"),
            "RED  R EH1 D|HAT  HH AE1 T:1: 2 of 2 lines" + some);
  EXPECT_EQ(read("- red\n- New York\n"), "- red|- New York:1: 2 of 2 lines" + some);
  EXPECT_EQ(read("'red'\n'blue'\n"), "'red'|'blue':1: 2 of 2 lines" + some);
  EXPECT_EQ(read("the\nof \r\n\tto\nNew York\n"),
            "the|of|to|New York:2: 2 lines beginning or ending with blanks, which are left out "
            "(this is the first)");
  EXPECT_EQ(read("route 66\n"), "route 66") << "a single query";
  EXPECT_EQ(read("Smith, John"), "Smith, John") << "a single query";
  std::string const only = " words and is read as one word; expected one word on each line";
  EXPECT_EQ(read("red,green, blue\n"), "red,green, blue:1: the only line has 3" + only);
  EXPECT_EQ(read("red;green;New York"), "red;green;New York:1: the only line has 3" + only);
  EXPECT_EQ(read("red green blue pink"), "red green blue pink:1: the only line has 4" + only);
  EXPECT_EQ(read("the:10,of:20\n"), "the:10,of:20:1: the only line has 2" + only);
  EXPECT_EQ(read("red,green\n"), "red,green") << "a single query";
  EXPECT_EQ(read("12:30\n13:00\n"), "12:30|13:00");
  EXPECT_EQ(read("AC/DC\ninput/output\nand/or\n"), "AC/DC|input/output|and/or");
  EXPECT_EQ(read("\"abcs of 2\"\n\"a b 1\"\n"),
            "abcs of 2|a b 1: each line is in quotes, which are left out");
  EXPECT_EQ(read("tea\nd\xe9j\xe0 vu\n"),
            "tea|d\xe9j\xe0 vu:2:2: found the byte E9, expected UTF-8; iconv -f NAME -t UTF-8 "
            "converts the file");
  read_words(
      {}, folder / "words", [](std::string const& what) { ADD_FAILURE() << what; }, letters::bytes);
  EXPECT_EQ(read("b2\n7up\nword count\n1 2 3\n"), "b2|7up|word count|1 2 3");
}

TEST(metric_search, dictionaries_of_several_columns) {
  rulerank::testing_tools::temporary_folder const folder;
  auto const read = [&](std::string_view text) { return shown_dictionary(folder / "words", text); };
  auto const column = [](int columns, int read_one) {
    return fmt::format(
        ": each line has {} columns; column {} is read as words, the others are left out", columns,
        read_one);
  };
  EXPECT_EQ(read("1\tthe\t1000\n2\tNew York\t900\n"), "the|New York" + column(3, 2));
  EXPECT_EQ(read("rank,word,count\n1,the,5\n2,\"a, b\",3\n"),
            "the|a, b" + column(3, 2) + ", and so is the header");
  EXPECT_EQ(read("\tword\tcount\n0\tthe\t5\n"), "the" + column(3, 2) + ", and so is the header")
      << "pandas";
  EXPECT_EQ(read("lemma,word,POS\nbe,is,V\n"), "is" + column(3, 2) + ", and so is the header");
  EXPECT_EQ(read("the 0.4 -0.2 1e-3\n, 0.1 0.2 0.3\n7 1 2 3\n"), "the|,|7" + column(4, 1))
      << "GloVe";
  EXPECT_EQ(read("# some words\nword,count\nred,3\n#x,2\n"),
            "red|#x:1: left out 1 line of comments (this is the first)" + folder / "words" +
                counted_note + ", and so is the header");
  for (auto const& [text, fault] : std::map<std::string_view, std::string_view>{
           {"abcs of 10956800\naaron and 10721728\n", ":1:1: found 3 columns in each line, 2 of"},
           {"# x\nthe\t23\tDT\n", ":2:1: found 3 columns in each line, 2 of them with words; exp"},
           {"the\tDT\nof\tIN\n", ":1:1: found 2 columns"},
           {"the,5,DT\nof,3,IN\n", ":1:1: found 3 columns"},
           {"1,2,3\n4,5,6\n", ":1:1: found 3 columns in each line, 0 of"},
           {"3\nthe/SM\nof\n", ":2:1: found a word with the flags of a Hunspell"},
           {"{\"word\":\"the\"}\n", ":1:1: found JSON, expected words"},
           {"['the', 'of']\n", ":1:1: found a list of Python, expected words"},
           {"red|JJ|5\nhat|NN|3\n", ":1:1: found 3 columns in each line, 2 of"},
           {"the/SM\nred/X\nof\n", ":1:1: found a word with the flags"},
           {"7z\xbc\xaf\x27\x1c\n", ":1:1: found a 7z archive, expected text"},
           {"7 \xbc\xaf\x27\x1c\n", ":1:6: found a byte of value 28, expected words"}}) {
    write_file(folder / "words", text);
    EXPECT_PRED2(says, message_of([&] { read_words({}, folder / "words"); }),
                 fmt::format("{}{}...", folder / "words", fault));
  }
}

TEST(metric_search, real_words_and_vectors) {
  RULERANK_REAL_DATA(path, "metric/dictionaries/Spanish.dic");
  auto words = read_words({}, path);
  words.resize(1500);
  std::vector<std::string> const asked(words.end() - 8, words.end());
  auto const space = std::make_shared<word_space>(std::move(words), letters::bytes);
  for (metric_index_type const type : listed_types())
    expect_exact(metric_index({}, space, {type}), *space->queries(asked));
  RULERANK_REAL_DATA(mnist, "metric/mnist-pca20/mnist_pca20_40150.ascii");
  // SISAP's text: dimensions, rows and the distance's name, then the rows.
  std::ifstream file(mnist);
  std::size_t dimensions = 0;
  std::string rest;
  file >> dimensions;
  std::getline(file, rest);
  ASSERT_EQ(dimensions, 20U);
  std::vector<float> values(1208 * dimensions);
  for (float& value : values) file >> value;
  ASSERT_TRUE(file);
  vectors const rows(std::move(values), dimensions);
  for (auto const metric : {metric_distance::l2, metric_distance::l1, metric_distance::angular}) {
    auto const of_rows = std::make_shared<vector_space>(context{}, rows.rows(0, 1200), metric);
    for (metric_index_type const type : listed_types())
      expect_exact(metric_index({}, of_rows, {type}), *of_rows->queries({}, rows.rows(1200, 8)));
  }
}

TEST(metric_search, more_neighbours_than_memory_holds) {
  auto const space =
      std::make_shared<vector_space>(context{}, drawn_vectors(9, 2, 1), metric_distance::l1);
  constexpr std::size_t too_many = std::numeric_limits<std::size_t>::max() / 16;
  for (metric_index_type const type : listed_types()) {
    metric_index const index({}, space, {type});
    auto const asked = space->queries({}, drawn_vectors(3, 2, 2));
    EXPECT_EQ(message_of<usage_error>([&] { index.search({}, *asked, too_many); }),
              fmt::format("found k = {}, more neighbours than memory holds", too_many));
    // Without queries there are no results.
    EXPECT_EQ(
        index.search({}, *space->queries({}, vectors(std::vector<float>{}, 2)), too_many).id.size(),
        0U);
  }
}

}  // namespace
}  // namespace rulerank::knn::metric_search_test
