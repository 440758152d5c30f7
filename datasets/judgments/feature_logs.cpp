// Feature logs of search engines. Sources:
// https://docs.opensearch.org/latest/search-plugins/ltr/logging-features/,
// https://elasticsearch-learning-to-rank.readthedocs.io/en/latest/logging-features.html and
// https://solr.apache.org/guide/solr/latest/query-guide/learning-to-rank.html.
#include "core/error.hpp"
#include "datasets/input/number.hpp"
#include "datasets/judgments/read.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// Returns the name of a file up to its first point, as in q1.json.gz.
std::string first_of_name(std::string const& path) {
  if (path == "-") return {};
  std::string const name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.'));
}

/// Reads responses; their file is the last one of the log.
class log_reader {
 public:
  log_reader(feature_log& log, judgment_notes& notes) : log_(log), notes_(notes) {}

  void read_ltr(json_view response, query_key const& query) {
    response.member("hits").member("hits").for_each_element("an array of hits", [&](json_view hit) {
      logged_document document = begin(hit.member("_id"));
      hit.member("fields").member("_ltrlog").for_each_element("an array", [&](json_view entry) {
        entry.for_each_member("an object of logs", [&](std::string const&, json_view log) {
          read_ltr_features(log, document);
        });
      });
      finish(query, std::move(document), hit);
    });
  }

  void read_solr(json_view response, query_key const& query, std::string const& id_field) {
    response.member("response")
        .member("docs")
        .for_each_element("an array of documents", [&](json_view hit) {
          logged_document document = begin(hit.member(id_field));
          read_solr_features(hit.member("[features]"), document);
          finish(query, std::move(document), hit);
        });
  }

 private:
  file_place place_of(json_view value) const {
    source_position const where = value.place();
    return {log_.files.size() - 1, where.line, where.column};
  }

  logged_document begin(json_view id) const { return {id.id(), {}, place_of(id)}; }

  void add_feature(logged_document& document, std::string const& name, double value) {
    document.features.push_back({log_.number_of(name, document.place), value});
  }

  void finish(query_key const& query, logged_document document, json_view hit) {
    auto& features = document.features;
    std::sort(features.begin(), features.end(),
              [](feature_value const& a, feature_value const& b) { return a.feature < b.feature; });
    auto const again = std::adjacent_find(
        features.begin(), features.end(),
        [](feature_value const& a, feature_value const& b) { return a.feature == b.feature; });
    if (again != features.end())
      hit.fail(fmt::format("the feature {} once",
                           rulerank::quoted(log_.features[again->feature].first)));
    ++notes_.found;
    log_.add(query, std::move(document));
  }

  /// Reads a list of names and values, or an object, which old versions of the plugin write. A
  /// feature that did not match has no value.
  void read_ltr_features(json_view log, logged_document& document) {
    constexpr std::string_view expected = "a number as the feature's value";
    if (log.is_object())
      return log.for_each_member({}, [&](std::string const& name, json_view value) {
        add_feature(document, name, value.number(expected));
      });
    log.for_each_element("an array of features", [&](json_view feature) {
      auto const value = feature.find("value");
      add_feature(document, feature.member("name").string("the name of a feature"),
                  value ? value->number(expected) : 0);
    });
  }

  /// Reads `name=value,name=value`. Names contain neither `=` nor `;`, which other separators than
  /// Solr's would leave in them.
  void read_solr_features(json_view features, logged_document& document) {
    std::string const text = features.any_string("a string of features, name=value,name=value");
    for (std::string_view rest = text; !rest.empty();) {
      std::string_view const pair = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
      std::size_t const sign = pair.find('=');
      double value = 0;
      number_kind const kind =
          sign == pair.npos ? number_kind::malformed : read_number(pair.substr(sign + 1), value);
      bool const has_name = sign != 0 && pair.find(';') == pair.npos;
      if (!has_name || (kind != number_kind::finite && kind != number_kind::missing))
        features.fail("features as name=value,name=value, each with a finite number or NaN");
      add_feature(document, std::string(pair.substr(0, sign)), value);
    }
  }

  feature_log& log_;
  judgment_notes& notes_;
};

/// Returns the query of a response from its own members, or from the request that Solr repeats.
std::optional<query_key> query_of_response(json_view response) {
  auto const header = response.find("responseHeader");
  auto const params = header ? header->find("params") : std::nullopt;
  for (auto const& [object, text_name] :
       {std::pair(std::optional(response), "query"), std::pair(params, "q")}) {
    if (!object) continue;
    if (auto const id = object->find("qid")) return query_key{id->id(), false};
    if (auto const text = object->find(text_name))
      return query_key{text->string("the text of a query"), true};
  }
  return {};
}

}  // namespace

void read_log(std::span<json_view const> values, judgment_form form, std::string const& path,
              std::string const& id_field, feature_log& to, judgment_notes& notes) {
  std::vector<json_view> responses;
  for (json_view const value : values)
    if (auto const list = value.find("responses"); list && form == judgment_form::ltr_log)
      list->for_each_element("an array of responses",
                             [&](json_view response) { responses.push_back(response); });
    else
      responses.push_back(value);
  log_reader reader(to, notes);
  std::string const file_id = responses.size() == 1 ? first_of_name(path) : "";
  for (json_view const response : responses) {
    auto query = query_of_response(response);
    if (!query && file_id.empty()) response.fail("a member qid or query in each response");
    if (!query) query = query_key{file_id, false};
    if (form == judgment_form::ltr_log)
      reader.read_ltr(response, *query);
    else
      reader.read_solr(response, *query, id_field);
  }
}

}  // namespace rulerank::datasets
