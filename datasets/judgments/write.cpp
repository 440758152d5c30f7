#include "core/error.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/judgments/judgments.hpp"
#include "datasets/svmlight/names.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <list>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns an integer grade of at least `least`. Throws `error` for others.
std::int32_t whole_grade(judgment_list const& list, graded_document const& document,
                         std::int32_t least, std::string_view form) {
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  if (document.grade != std::trunc(document.grade) || std::abs(document.grade) > most ||
      document.grade < least)
    throw error(list.position(document.place),
                fmt::format("found grade {} of document {}, expected a whole number{} for {}{}",
                            document.grade, rulerank::quoted(document.id),
                            least == 0 ? " of 0 or more" : "", form,
                            document.grade != std::trunc(document.grade)
                                ? "; --to csv, rre and srw can hold fractions"
                                : ""));
  return static_cast<std::int32_t>(document.grade);
}

/// Throws `error` for an id that is more than one word, or a comment.
void expect_word(source_position const& where, std::string_view what, std::string_view id,
                 std::string_view form) {
  if (!is_run_column(id))
    throw error(where, fmt::format("found {} {}, expected one word other than # for {}", what,
                                   rulerank::quoted(id), form));
}

/// Returns a quoted string. Throws `error` for bytes that are not UTF-8.
std::string json_string(std::string const& text, source_position const& where) {
  try {
    return nlohmann::json(text).dump();
  } catch (nlohmann::json::type_error const&) {
    throw error(where, fmt::format("found {}, expected UTF-8 for JSON", rulerank::quoted(text)));
  }
}

/// Writes the judgments of one list in one format.
class list_writer {
 public:
  list_writer(judgment_list const& list, judgment_writing const& options, output_file& out)
      : list_(list), options_(options), out_(out) {}

  void write_qrels() {
    for_each([&](graded_query const& query, graded_document const& document) {
      source_position const where = list_.position(document.place);
      expect_word(where, "query", query.key.name, "qrels");
      expect_word(where, "document", document.id, "qrels");
      constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
      out_.write(fmt::format("{} 0 {} {}\n", query.key.name, document.id,
                             whole_grade(list_, document, least, "qrels")));
    });
  }

  void write_csv() {
    out_.write("query,docid,rating\n");
    std::string line;
    for_each([&](graded_query const& query, graded_document const& document) {
      line.clear();
      append_cell(query.key.name, ',', line);
      append_cell(document.id, ',', line += ',');
      out_.write(fmt::format("{},{}\n", line, document.grade));
    });
  }

  void write_rre() {
    out_.write(
        fmt::format("{{\n  \"index\": {},\n  \"id_field\": {},\n  \"topics\": [{{\n"
                    "    \"description\": {},\n    \"query_groups\": [",
                    option(options_.name), option(options_.id_field), option(options_.name)));
    std::string const template_file = option(options_.template_file);
    write_queries(
        [&](std::string const& text) {
          return fmt::format(
              "\n      {{\"name\": {0}, \"queries\": [{{\"template\": {1}, "
              "\"placeholders\": {{\"$query\": {0}}}}}],\n"
              "       \"relevant_documents\": {{",
              text, template_file);
        },
        [](std::string const& id, double grade) {
          return fmt::format("\n        {}: {{\"gain\": {}}}", id, grade);
        },
        "}}");
    out_.write("\n    ]\n  }]\n}\n");
  }

  void write_srw() {
    out_.write(
        fmt::format("{{\n  \"name\": {},\n  \"description\": \"\",\n"
                    "  \"type\": \"IMPORT_JUDGMENT\",\n  \"judgmentRatings\": [",
                    option(options_.name)));
    write_queries(
        [](std::string const& text) {
          return fmt::format("\n    {{\"query\": {}, \"ratings\": [", text);
        },
        [](std::string const& id, double grade) {
          return fmt::format("\n      {{\"docId\": {}, \"rating\": \"{}\"}}", id, grade);
        },
        "]}");
    out_.write("\n  ]\n}\n");
  }

 private:
  static std::string option(std::string const& text) {
    return json_string(text, {"options", 0, 0});
  }

  template <class Work>
  void for_each(Work&& work) {
    for (graded_query const& query : list_.queries())
      for (graded_document const& document : query.documents) work(query, document);
  }

  template <class Begin, class Document>
  void write_queries(Begin&& begin, Document&& text_of, std::string_view end) {
    std::string_view between = "";
    for (graded_query const& query : list_.queries()) {
      source_position const where = list_.position(query.documents.front().place);
      out_.write(between);
      out_.write(begin(json_string(query.key.name, where)));
      std::string_view comma = "";
      for (graded_document const& document : query.documents) {
        out_.write(comma);
        out_.write(
            text_of(json_string(document.id, list_.position(document.place)), document.grade));
        comma = ",";
      }
      out_.write(end);
      between = ",";
    }
  }

  judgment_list const& list_;
  judgment_writing const& options_;
  output_file& out_;
};

/// Returns the numbers of a log's features in a data set, and sets their names unless all names are
/// numbers.
std::vector<std::uint32_t> number_features(feature_log const& log, feature_names& names) {
  auto const number_in = [](std::string const& name) {
    std::int32_t number = 0;  // 0: not a number
    auto const [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
    bool const is_number = status == std::errc{} && end == name.data() + name.size() &&
                           number > 0 && name == std::to_string(number);
    return static_cast<std::uint32_t>(is_number ? number : 0);
  };
  std::vector<std::uint32_t> numbers;
  for (auto const& [name, place] : log.features) numbers.push_back(number_in(name));
  if (std::find(numbers.begin(), numbers.end(), 0U) == numbers.end()) return numbers;
  std::vector<std::uint32_t> order(numbers.size());
  for (std::uint32_t f = 0; f < order.size(); ++f) order[f] = f;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return log.features[a].first < log.features[b].first;
  });
  for (std::uint32_t const f : order) {
    auto const& [name, place] = log.features[f];
    if (!is_feature_name(name))
      throw error(log.position(place),
                  fmt::format("found the feature {}, expected a name that begins with a letter and "
                              "has no blanks, colons and #, for letor",
                              rulerank::quoted(name)));
    numbers[f] = static_cast<std::uint32_t>(names.size() + 1);
    names.emplace(numbers[f], name);
  }
  return numbers;
}

}  // namespace

void write_judgments(judgment_list const& judgments, judgment_form form,
                     judgment_writing const& options, output_file& out) {
  list_writer writer(judgments, options, out);
  switch (form) {
    case judgment_form::qrels:
      return writer.write_qrels();
    case judgment_form::csv:
      return writer.write_csv();
    case judgment_form::rre:
      return writer.write_rre();
    case judgment_form::srw:
      return writer.write_srw();
    default:
      throw usage_error("write_judgments: expected qrels, csv, rre or srw");
  }
}

labelled_log label_log(feature_log const& log, judgment_list const& judgments) {
  labelled_log result;
  dataset& data = result.data;
  data.name = log.files.front();
  std::vector<std::uint32_t> const number = number_features(log, data.names);
  std::list<std::string> ids;
  std::vector<feature_value> row;
  for (logged_query const& query : log.queries()) {
    std::size_t const begin = data.size();
    for (logged_document const& document : query.documents) {
      graded_document const* const judged = judgments.find(query.key, document.id);
      if (judged == nullptr) {
        ++result.without_label;
        continue;
      }
      source_position const where = log.position(document.place);
      expect_word(where, "query", query.key.name, "letor");
      if (query.key.name.find('#') != std::string::npos)
        throw error(where, fmt::format("found query {}, expected an id without # for letor",
                                       rulerank::quoted(query.key.name)));
      expect_word(where, "document", document.id, "letor");
      data.labels.push_back(whole_grade(judgments, *judged, 0, "letor"));
      data.ids.push_back(ids.emplace_back(document.id));
      row.clear();
      for (feature_value const& entry : document.features)
        row.push_back({number[entry.feature], entry.value});
      std::sort(row.begin(), row.end(), [](feature_value const& a, feature_value const& b) {
        return a.feature < b.feature;
      });
      data.entries.insert(data.entries.end(), row.begin(), row.end());
      data.row.push_back(data.entries.size());
    }
    if (data.size() > begin) data.queries.push_back({query.key.name, begin, data.size()});
  }
  std::size_t judged = 0;
  for (graded_query const& query : judgments.queries()) judged += query.documents.size();
  result.without_features = judged - data.size();
  if (data.size() == 0)
    throw error({data.name, 1, 1}, "found no document with a judgment, expected at least one");
  data.text = text_with_ids(make_text({}), std::move(ids));
  return result;
}

}  // namespace rulerank::datasets
