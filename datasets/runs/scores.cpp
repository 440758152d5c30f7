#include "datasets/scores.hpp"

#include "core/append_format.hpp"
#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/number.hpp"
#include "datasets/input/text_source.hpp"

#include <charconv>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

double read_score(std::string const& name, std::uint64_t line, field const& f) {
  double value = 0;
  if (read_number(f.text, value) != number_kind::finite)
    throw error({name, line, f.column},
                fmt::format("found '{}', expected a finite number as score", f.text));
  return value;
}

std::uint64_t read_index(std::string const& name, std::uint64_t line, field const& f) {
  std::uint64_t value = 0;
  char const* const last = f.text.data() + f.text.size();
  auto const [end, status] = std::from_chars(f.text.data(), last, value);
  if (status != std::errc{} || end != last)
    throw error({name, line, f.column},
                fmt::format("found '{}', expected a document's index within its query", f.text));
  return value;
}

/// Recognizes CatBoost's header of two columns, a document's number and its score.
bool is_catboost_header(std::vector<field> const& fields) {
  return fields.size() == 2 && (fields[0].text == "SampleId" || fields[0].text == "DocId") &&
         (fields[1].text == "RawFormulaVal" || fields[1].text == "Probability");
}

/// Compares RankLib's qids and indices, line by line, with those of the documents.
void check_documents(score_list const& scores, dataset const& test,
                     std::span<std::size_t const> places) {
  struct document {
    query_group const* query;
    std::size_t index;
  };
  std::vector<document> expected(test.size());
  for (query_group const& query : test.queries)
    for (std::size_t d = query.begin; d < query.end; ++d)
      expected[places[d]] = {&query, d - query.begin};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto const [query, index] = expected[i];
    if (scores.qids[i] != query->qid)
      throw error({scores.name, scores.line_numbers[i], 1},
                  fmt::format("found qid '{}', expected '{}' as in {}", scores.qids[i], query->qid,
                              test.name));
    if (scores.index[i] != index)
      throw error({scores.name, scores.line_numbers[i], 0},
                  fmt::format("found index {}, expected {}: scores in the order of {}",
                              scores.index[i], index, test.name));
  }
}

}  // namespace

score_list read_scores(context const& ctx, std::string const& path) {
  auto const text = open_text(ctx, path);
  score_list scores;
  scores.name = display_name(path);
  std::size_t columns = 0;
  std::vector<field> fields;
  for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t number) {
    split_fields(line, fields);
    if (fields.empty()) return;
    if (columns == 0 && is_catboost_header(fields)) {
      columns = 2;
      return;
    }
    if (columns == 0) {
      if (fields.size() != 1 && fields.size() != 3)
        throw error({scores.name, number, fields.back().column},
                    fmt::format("found {}, expected a score, or qid, index and score",
                                counted(fields.size(), "column")));
      columns = fields.size();
    }
    if (fields.size() != columns)
      throw error({scores.name, number, fields[std::min(columns, fields.size() - 1)].column},
                  fmt::format("found {}, expected {} as on the lines before",
                              counted(fields.size(), "column"), columns));
    if (columns == 3) {
      scores.qids.emplace_back(fields[0].text);
      scores.index.push_back(read_index(scores.name, number, fields[1]));
    }
    if (columns == 2 && read_index(scores.name, number, fields[0]) != scores.values.size())
      throw error(
          {scores.name, number, fields[0].column},
          fmt::format("found document {}, expected {}: scores in the order of the documents",
                      fields[0].text, scores.values.size()));
    scores.values.push_back(read_score(scores.name, number, fields.back()));
    scores.line_numbers.push_back(number);
  });
  expect_unchanged(*text, scores.name);
  if (scores.values.empty())
    throw error({scores.name, 1, 1}, "found no scores, expected a number on each line");
  return scores;
}

std::vector<double> read_scores_of(context const& ctx, std::string const& path,
                                   dataset const& test) {
  score_list scores = read_scores(ctx, path);
  std::size_t const found = scores.values.size();
  if (found != test.size()) {
    std::uint64_t const line = scores.line_numbers[std::min(found - 1, test.size())];
    throw error({scores.name, line, 0},
                fmt::format("found {}, expected {}, one for each document of {}",
                            counted(found, "score"), test.size(), test.name));
  }
  std::vector<std::size_t> const places = input_places(test);
  if (!scores.qids.empty()) check_documents(scores, test, places);
  std::vector<double> values(test.size());
  for (std::size_t d = 0; d < test.size(); ++d) values[d] = scores.values[places[d]];
  return values;
}

std::string scores_text(dataset const& test, std::span<double const> scores) {
  if (scores.size() != test.size())
    throw usage_error(fmt::format("found {} for {}, expected as many",
                                  counted(scores.size(), "score"),
                                  counted(test.size(), "document")));
  std::vector<std::size_t> const places = input_places(test);
  std::vector<double> in_input_order(scores.size());
  for (std::size_t d = 0; d < scores.size(); ++d) in_input_order[places[d]] = scores[d];
  std::string text;
  for (double score : in_input_order) append_format(text, "{}\n", score);
  return text;
}

void write_scores(dataset const& test, std::span<double const> scores, output_file& out) {
  out.write(scores_text(test, scores));
}

}  // namespace rulerank::datasets
