#include "knn/text/index_options.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/section_file.hpp"
#include "knn/text/stop_words.hpp"
#include "knn/text/word_rules.hpp"

#include <string>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

bool uses_log(weighting_options const& options) {
  return options.tf == term_frequency::log ||
         (options.queries && options.queries->tf == term_frequency::log);
}

nlohmann::ordered_json to_json(term_weighting const& how) {
  return {{"how", name_of(how.how)}, {"tf", name_of(how.tf)}};
}
term_weighting term_weighting_from(nlohmann::json const& json) {
  return {weighting_from(json.at("how").get<std::string>()),
          term_frequency_from(json.at("tf").get<std::string>())};
}

similarity metric_from(std::string_view name) {
  for (named_similarity const& one : similarities())
    if (one.name == name && one.which != similarity::l2) return one.which;
  throw usage_error(fmt::format("found metric '{}', expected the metric of the index", name));
}

nlohmann::ordered_json to_json(weighting_options const& options) {
  if (options.how == weighting::bm25)
    return {{"how", name_of(options.how)}, {"k1", options.k1}, {"b", options.b}};
  term_weighting const documents{options.how, options.tf};
  nlohmann::ordered_json json = to_json(documents);
  json["queries"] = to_json(options.queries.value_or(documents));
  return json;
}
weighting_options weighting_options_from(nlohmann::json const& json) {
  weighting_options options;
  options.how = weighting_from(json.at("how").get<std::string>());
  if (options.how == weighting::bm25) {
    options.k1 = json.at("k1").get<double>();
    options.b = json.at("b").get<double>();
  } else {
    options.tf = term_weighting_from(json).tf;
    options.queries = term_weighting_from(json.at("queries"));
  }
  return options;
}

}  // namespace

void check(text_index_options const& options) {
  if (!(options.max_share > 0 && options.max_share <= 1))
    throw usage_error(
        fmt::format("max share (the largest share of documents with a term): found {}, expected a "
                    "number above 0 and at most 1",
                    options.max_share));
  if (holds_vectors(options) && options.weighting.how == weighting::bm25)
    throw usage_error("found weighting 'bm25' for vectors, expected none or tf-idf");
  if (holds_vectors(options) && uses_log(options.weighting))
    throw usage_error(
        "found tf 'log' for vectors, whose values are not counts, expected raw or binary");
  if (holds_vectors(options) && options.dictionary)
    throw usage_error("found vectors, expected documents of words for a dictionary");
  check(options.weighting);
  analyzer const valid(options.analyzer);
}

text_index_options with_stop_words(text_index_options options) {
  std::string& list = options.analyzer.stop_words;
  if (list.starts_with("file:")) list = fmt::format("words:{}", fmt::join(stop_words(list), " "));
  return options;
}

nlohmann::ordered_json to_json(text_index_options const& options) {
  analyzer_options const& words = options.analyzer;
  nlohmann::ordered_json analyzer{{"fold", words.fold},
                                  {"stop_words", words.stop_words},
                                  {"stemmer", words.stemmer},
                                  {"min_length", words.min_length},
                                  {"max_length", words.max_length},
                                  {"keep_numbers", words.keep_numbers}};
  if (words.elision && has_elision(words.stemmer)) analyzer["elision"] = true;
  return {{"analyzer", analyzer},
          {"weighting", to_json(options.weighting)},
          {"metric", name_of(options.metric)},
          {"min_documents", options.min_documents},
          {"max_share", options.max_share},
          {"vectors", holds_vectors(options)}};
}

text_index_options options_from(nlohmann::json const& json) {
  text_index_options options;
  nlohmann::json const& words = json.at("analyzer");
  options.analyzer.fold = words.at("fold").get<bool>();
  options.analyzer.stop_words = words.at("stop_words").get<std::string>();
  options.analyzer.stemmer = words.at("stemmer").get<std::string>();
  options.analyzer.min_length = count_at(words, "min_length");
  options.analyzer.max_length = count_at(words, "max_length");
  options.analyzer.keep_numbers = words.at("keep_numbers").get<bool>();
  options.analyzer.elision = words.value("elision", false);
  options.weighting = weighting_options_from(json.at("weighting"));
  options.metric = metric_from(json.at("metric").get<std::string>());
  options.min_documents = count_at(json, "min_documents");
  options.max_share = json.at("max_share").get<double>();
  if (json.value("vectors", false)) options.format = datasets::text_format::svmlight;
  options.dictionary = json.contains("words");
  // An index stores the words of a stop list.
  if (options.analyzer.stop_words.starts_with("file:"))
    throw usage_error("found the path of a stop list, expected its words");
  check(options);
  return options;
}

}  // namespace rulerank::knn
