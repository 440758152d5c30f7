#include "server/ranking/rank_service.hpp"

#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/stopwatch.hpp"
#include "core/version.hpp"
#include "datasets/arrays.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/model/row_scores.hpp"
#include "report/model_words.hpp"
#include "report/models.hpp"
#include "server/ranking/page.hpp"
#include "server/ranking/problem.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::server {

namespace {

constexpr char const* json_type = "application/json";

http_response json_response(std::string body) {
  return {200, json_type, std::move(body += '\n')};
}

/// Takes the first segment, such as `/v2`, from a path.
std::string_view take_segment(std::string_view& path) {
  std::size_t const end = std::min(path.find('/', 1), path.size());
  std::string_view const segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

void append_model(served_model const& model, std::string& to) {
  to += R"({"model":)";
  append_json_string(model.name, to);
  append_format(to, R"(,"version":"{}","sha256":"{}")", model.version, model.sha256);
}

/// Opens an answer: the model, and features that the request lacks.
std::string answer_begin(served_model const& model, std::vector<std::string> const& lacking) {
  std::string body;
  append_model(model, body);
  if (lacking.empty()) return body;
  body += R"(,"lacking":[)";
  for (std::size_t i = 0; i < lacking.size(); ++i) {
    if (i > 0) body += ',';
    append_json_string(lacking[i], body);
  }
  return body + ']';
}

/// The documents of a list as a data set of their own.
datasets::dataset list_of(datasets::dataset const& all, requested_list const& list) {
  std::vector<std::size_t> documents(list.end - list.begin);
  std::iota(documents.begin(), documents.end(), list.begin);
  return datasets::subset(all, documents);
}

using all_words = std::vector<report::member_words>;

all_words words_of(l2r::explainer const& explainer, served_model const& model) {
  static datasets::feature_names const own;
  all_words words;
  l2r::model const& of = model.scorer.fitted();
  for (std::size_t k = 0; k < of.members.size(); ++k)
    words.push_back(report::words_of(of, k, explainer.ranges(k), own));
  return words;
}

/// The effects of features in all documents of a list, as `explain --all --json`.
std::string effects_of(context const& ctx, served_model const& model,
                       datasets::dataset const& list) {
  l2r::explainer const explainer(ctx, model.scorer, list);
  return json_line_of(
      report::effects_json(list, explainer.effects(ctx), words_of(explainer, model)));
}

/// `titles`: of the documents; empty: none.
void append_ranking(datasets::dataset const& documents, requested_list const& list,
                    std::span<double const> scores, std::size_t top,
                    std::span<std::string const> titles, std::string& to) {
  to += R"("ranking":[)";
  std::vector<std::size_t> order = l2r::ranking(scores, list.begin, list.end);
  order.resize(std::min(top, order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t const d = order[i];
    append_format(to, "{}{{\"document\":{},", i > 0 ? "," : "", d - list.begin);
    if (d < documents.ids.size() && !documents.ids[d].empty()) {
      to += R"("id":)";
      append_json_string(documents.ids[d], to);
      to += ',';
    }
    append_format(to, "\"score\":{}", scores[d]);
    if (!titles.empty()) to += R"(,"title":)" + json_line_of(nlohmann::json(titles[d]));
    to += '}';
  }
  to += ']';
}

std::optional<std::size_t> size_field(http_request const& request, std::string const& name) {
  std::string_view const text = request.field(name);
  if (text.empty()) return {};
  std::size_t value = 0;
  char const* const end = text.data() + text.size();
  auto const [at, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || at != end)
    throw problem(400, fmt::format("{}: found '{}', expected a number of bytes", name, text));
  return value;
}

std::string scores_tensor(std::span<double const> scores, bool binary) {
  std::string text =
      fmt::format(R"("outputs":[{{"name":"scores","datatype":"FP64","shape":[{}],)", scores.size());
  if (binary)
    return text + fmt::format(R"("parameters":{{"binary_data_size":{}}}}}])",
                              scores.size() * sizeof(double));
  text += R"("data":[)";
  for (std::size_t d = 0; d < scores.size(); ++d)
    append_format(text, "{}{}", d > 0 ? "," : "", scores[d]);
  return text + "]}]";
}

/// Runs `work`; its errors become problems.
template <class Work>
http_response guarded(Work const& work) {
  try {
    return work();
  } catch (problem const& e) {
    return problem_response(e);
  } catch (usage_error const& e) {
    return problem_response({400, e.what()});
  } catch (error const& e) {
    return problem_response({400, e.what()});
  } catch (std::bad_alloc const&) {
    return problem_response({503, "memory is exhausted"});
  } catch (std::exception const& e) {
    return problem_response({500, e.what()});
  }
}

}  // namespace

/// A method and a path, whose segments `{}` match any text.
struct rank_service::route {
  struct call {
    http_request& request;
    http_load const& load;
    std::vector<std::string_view> words;  ///< of the segments {}
  };
  std::string_view method, path;
  bool is_open;  ///< needs no token
  http_response (*respond)(rank_service&, call const&);

  /// The words at {}, if the target matches.
  std::optional<std::vector<std::string_view>> match(std::string_view target) const {
    std::string_view pattern = path;
    std::vector<std::string_view> words;
    while (!pattern.empty() && !target.empty()) {
      std::string_view const expected = take_segment(pattern), found = take_segment(target);
      if (expected == "/{}")
        words.push_back(found.substr(1));
      else if (expected != found)
        return {};
    }
    if (!pattern.empty() || !target.empty()) return {};
    return words;
  }
};

// Long because it is a table.
std::span<rank_service::route const> rank_service::routes() {
  using call = route::call;
  static auto const describe = [](rank_service& s, call const& c) {
    return s.metadata(*s.model_of(c.words));
  };
  static auto const is_ready = [](rank_service& s, call const& c) {
    s.model_of(c.words);
    return json_response(R"({"ready":true})");
  };
  static auto const score_tensors = [](rank_service& s, call const& c) {
    return s.infer(c.request, s.model_of(c.words));
  };
  static route const all[] = {
      {"GET", "/", true, [](rank_service& s, call const& c) { return s.page(c.request.path()); }},
      {"GET", "/page.js", true,
       [](rank_service& s, call const& c) { return s.page(c.request.path()); }},
      {"GET", "/page.css", true,
       [](rank_service& s, call const& c) { return s.page(c.request.path()); }},
      {"GET", "/openapi.json", true,
       [](rank_service& s, call const& c) { return s.page(c.request.path()); }},
      {"POST", "/rank", false, [](rank_service& s, call const& c) { return s.rank(c.request); }},
      {"POST", "/explain", false,
       [](rank_service& s, call const& c) { return s.explain(c.request); }},
      {"POST", "/search", false,
       [](rank_service& s, call const& c) { return s.search(c.request); }},
      {"GET", "/metrics", false,
       [](rank_service& s, call const& c) {
         return http_response{200, "text/plain; version=0.0.4",
                              s.metrics_.text(c.load, s.models_.entries(), s.how_.ctx.devices)};
       }},
      {"GET", "/v2", false,
       [](rank_service& s, call const&) {
         return json_response(
             fmt::format(R"({{"name":"rulerank","version":"{}",)"
                         R"("extensions":["model_repository","binary_tensor_data"{}]}})",
                         version, s.how_.search ? R"(,"search")" : ""));
       }},
      {"GET", "/v2/health/live", true,
       [](rank_service&, call const&) { return json_response(R"({"live":true})"); }},
      {"GET", "/v2/health/ready", true,
       [](rank_service& s, call const&) {
         if (s.draining_) throw problem(503, "the server is ending");
         for (model_store::entry const& one : s.models_.entries())
           if (!one.model) throw problem(503, fmt::format("model '{}' is not loaded", one.name));
         return json_response(R"({"ready":true})");
       }},
      {"GET", "/v2/models/{}", false, describe},
      {"GET", "/v2/models/{}/versions/{}", false, describe},
      {"GET", "/v2/models/{}/ready", false, is_ready},
      {"GET", "/v2/models/{}/versions/{}/ready", false, is_ready},
      {"POST", "/v2/models/{}/infer", false, score_tensors},
      {"POST", "/v2/models/{}/versions/{}/infer", false, score_tensors},
      {"POST", "/v2/repository/index", false,
       [](rank_service& s, call const&) { return s.index(); }},
      {"POST", "/v2/repository/models/{}/load", false,
       [](rank_service& s, call const& c) {
         s.models_.load(c.words[0]);
         return json_response("{}");
       }},
      {"POST", "/v2/repository/models/{}/unload", false,
       [](rank_service& s, call const& c) {
         s.models_.unload(c.words[0]);
         return json_response("{}");
       }},
  };
  return all;
}

rank_service::rank_service(options how, model_store& models)
    : how_(std::move(how)), models_(models) {
  how_.ctx.threads = 1;
}

http_response rank_service::handle(http_request& request, http_load const& load) {
  return guarded([&] { return respond(request, load); });
}

void rank_service::expect_allowed(http_request const& request, bool is_open) const {
  if (!how_.hosts.empty() &&
      std::ranges::find(how_.hosts, request.field("host")) == how_.hosts.end())
    throw problem(421, "found a different host, expected the host of this server");
  if (!is_same_origin(request))
    throw problem(403, "found a different origin, expected the page of this server");
  if (is_open || how_.token.empty()) return;
  if (!same_secret(request.field("authorization"), "Bearer " + how_.token))
    throw problem(401, "found no valid token, expected the field Authorization: Bearer TOKEN");
}

std::optional<http_response> rank_service::refusal_of(http_request const& head) {
  if (head.path().starts_with('/'))
    for (route const& one : routes())
      if (one.method == head.method && one.match(head.path())) try {
          expect_allowed(head, one.is_open);
          return std::nullopt;
        } catch (problem const& e) {
          return problem_response(e);
        }
  http_request request = head;
  return handle(request, {});
}

http_response rank_service::respond(http_request& request, http_load const& load) {
  std::string_view const path = request.path();
  if (!path.starts_with('/')) throw problem(400, "expected a path");
  std::string_view const method =
      request.method == "HEAD" ? "GET" : std::string_view(request.method);
  std::string allowed;
  for (route const& one : routes()) {
    auto words = one.match(path);
    if (!words) continue;
    allowed += (allowed.empty() ? "" : ", ") + std::string(one.method);
    if (one.method == "GET") allowed += ", HEAD";
    if (one.method != method) continue;
    expect_allowed(request, one.is_open);
    return one.respond(*this, {request, load, *std::move(words)});
  }
  if (allowed.empty())
    throw problem(404, fmt::format("found the path '{}', expected one of /openapi.json", path));
  http_response reply =
      problem_response({405, fmt::format("found {}, expected {}", request.method, allowed)});
  reply.fields.emplace_back("Allow", allowed);
  return reply;
}

void rank_service::count(http_exchange const& exchange) {
  std::string_view const path =
      std::string_view(exchange.target)
          .substr(0, std::min(exchange.target.find('?'), exchange.target.size()));
  std::string_view name = "other";
  for (route const& one : routes())
    if (one.match(path)) name = one.path;
  metrics_.add_response(name, exchange.status);
  metrics_.add(stage::queue, exchange.wait_s);
  metrics_.add(stage::total, exchange.total_s);
}

std::vector<double> rank_service::score(served_model const& model,
                                        datasets::dataset const& documents) {
  l2r::scored result = model.scorer.score(how_.ctx, documents);
  metrics_.add_batch(result.joined_calls);
  return std::move(result.scores);
}

rank_request rank_service::parse(http_request& request) {
  stopwatch const parsing;
  rank_request wanted = parse_rank_request(
      request.body, [this](std::string_view name) { return models_.find(name); }, how_.limits);
  metrics_.add(stage::parse, parsing.seconds());
  return wanted;
}

http_response rank_service::rank(http_request& request) {
  rank_request const wanted = parse(request);
  if (wanted.document || wanted.against)
    throw problem(400, "found a document to explain, expected it in /explain");
  stopwatch const scoring;
  std::vector<double> scores;
  if (wanted.documents.size() > 0) scores = score(*wanted.model, wanted.documents);
  metrics_.add(stage::score, scoring.seconds());
  stopwatch const writing;
  std::string body = answer_begin(*wanted.model, wanted.lacking);
  body += wanted.is_single ? "," : R"(,"queries":[)";
  for (requested_list const& list : wanted.lists) {
    metrics_.add_list(list.end - list.begin);
    if (!wanted.is_single) body += &list == &wanted.lists.front() ? "{" : ",{";
    body += R"("qid":)";
    append_json_string(list.qid, body);
    body += ',';
    append_ranking(wanted.documents, list, scores, wanted.top.value_or(scores.size()), {}, body);
    if (wanted.explain && list.end > list.begin)
      body += R"(,"explanation":)" +
              effects_of(how_.ctx, *wanted.model, list_of(wanted.documents, list));
    if (!wanted.is_single) body += '}';
  }
  body += wanted.is_single ? "}" : "]}";
  metrics_.add(stage::write, writing.seconds());
  return json_response(std::move(body));
}

http_response rank_service::explain(http_request& request) {
  rank_request const wanted = parse(request);
  if (wanted.lists.size() != 1 || wanted.documents.size() == 0)
    throw problem(400, "expected one query with documents");
  if (wanted.against && wanted.against == wanted.document)
    throw problem(400, "found the document itself, expected a different document", {"/against"});
  stopwatch const scoring;
  datasets::dataset const& list = wanted.documents;
  served_model const& model = *wanted.model;
  l2r::explainer const explainer(how_.ctx, model.scorer, list);
  all_words const words = words_of(explainer, model);
  std::size_t const d = wanted.document.value_or(explainer.order().front());
  std::size_t const top = wanted.top.value_or(20);
  report::query_document const document{list, d};
  nlohmann::ordered_json effects, why;
  if (wanted.against) {
    report::query_document const other{list, *wanted.against};
    effects = report::effects_json(document, other, explainer.effects(how_.ctx, d),
                                   explainer.effects(how_.ctx, other.d), words);
    why = report::explanation_json(document, other, explainer.compare(how_.ctx, d, other.d, top),
                                   words);
  } else {
    effects = report::effects_json(document, explainer.effects(how_.ctx, d), words);
    why = report::explanation_json(document, explainer.explain(how_.ctx, d, top), words);
  }
  metrics_.add(stage::score, scoring.seconds());
  metrics_.add_list(list.size());
  return json_response(answer_begin(model, wanted.lacking) + R"(,"effects":)" +
                       json_line_of(effects) + R"(,"explanation":)" + json_line_of(why) + "}");
}

http_response rank_service::search(http_request& request) {
  if (!how_.search)
    throw problem(404, "found no collection to search, expected a server with --collection");
  search_request const wanted = parse_search_request(request.body);
  model_pointer const model = models_.find(wanted.model);
  found_documents found;
  try {
    found = how_.search(how_.ctx, wanted.query);
  } catch (usage_error const& e) {
    throw problem(400, e.what(), {"/query"});
  }
  stopwatch const scoring;
  std::vector<double> scores;
  if (found.pairs.size() > 0) scores = score(*model, found.pairs);
  metrics_.add(stage::score, scoring.seconds());
  metrics_.add_list(scores.size());
  std::string body = answer_begin(*model, {});
  body += R"(,"query":)";
  append_json_string(wanted.query, body);
  body += ',';
  append_ranking(found.pairs, {{}, 0, scores.size(), {}}, scores,
                 wanted.top.value_or(scores.size()), found.titles, body);
  if (wanted.explain && !scores.empty())
    body +=
        R"(,"explanation":)" +
        effects_of(how_.ctx, *model, datasets::renumbered(std::move(found.pairs), model->names()));
  return json_response(body + "}");
}

model_pointer rank_service::model_of(std::span<std::string_view const> words) const {
  model_pointer model = models_.find(words[0]);
  if (words.size() > 1 && words[1] != std::to_string(model->version))
    throw problem(404, fmt::format("found version '{}' of model '{}', expected {}, which is loaded",
                                   words[1], model->name, model->version));
  return model;
}

http_response rank_service::infer(http_request& request, model_pointer const& model) {
  stopwatch const parsing;
  infer_request const wanted = parse_infer_request(
      request.body, size_field(request, "inference-header-content-length"), *model, how_.limits);
  std::vector<std::uint32_t> numbers(wanted.rows > 0 ? model->columns.count : 0);
  std::iota(numbers.begin(), numbers.end(), model->columns.first_feature);
  datasets::document_arrays about;
  about.name = "features";
  about.features = numbers;
  about.group_sizes = wanted.list_sizes;
  about.names = &model->names();
  metrics_.add(stage::parse, parsing.seconds());
  std::vector<double> scores;
  if (wanted.rows > 0) {
    stopwatch const scoring;
    try {
      l2r::scored result =
          l2r::score_rows(how_.ctx, model->scorer,
                          datasets::dense_rows<double>{wanted.values.data(), wanted.rows,
                                                       numbers.size(), numbers.size()},
                          about);
      metrics_.add_batch(result.joined_calls);
      scores = std::move(result.scores);
    } catch (error const& e) {
      if (e.where().file != about.name || e.where().line == 0) throw;
      throw problem(400, e.what(), {"/inputs", e.where().line - 1});
    }
    metrics_.add(stage::score, scoring.seconds());
    if (wanted.list_sizes.empty()) metrics_.add_list(wanted.rows);
    for (std::size_t const size : wanted.list_sizes) metrics_.add_list(size);
  }
  stopwatch const writing;
  std::string body = R"({"model_name":)";
  append_json_string(model->name, body);
  append_format(body, R"(,"model_version":"{}","parameters":{{"sha256":"{}"}},)", model->version,
                model->sha256);
  if (!wanted.id.empty()) {
    body += R"("id":)";
    append_json_string(wanted.id, body);
    body += ',';
  }
  body += scores_tensor(scores, wanted.binary_output) + "}";
  metrics_.add(stage::write, writing.seconds());
  if (!wanted.binary_output) return json_response(std::move(body));
  http_response reply{200, "application/octet-stream", {}};
  reply.fields.emplace_back("Inference-Header-Content-Length", std::to_string(body.size()));
  std::size_t const begin = body.size();
  body.resize(begin + scores.size() * sizeof(double));
  if (!scores.empty())
    std::memcpy(body.data() + begin, scores.data(), scores.size() * sizeof(double));
  reply.body = std::move(body);
  return reply;
}

http_response rank_service::metadata(served_model const& model) const {
  nlohmann::ordered_json json{
      {"name", model.name},
      {"versions", {std::to_string(model.version)}},
      {"platform", "rulerank"},
      {"inputs", nlohmann::ordered_json::array()},
      {"outputs", {{{"name", "scores"}, {"datatype", "FP64"}, {"shape", {-1}}}}},
      {"parameters",
       {{"sha256", model.sha256},
        {"depends_on_list", model.depends_on_list},
        {"portability", l2r::portability_of(model.scorer.fitted()).words},
        {"first_feature", model.columns.first_feature}}}};
  json["inputs"].push_back(
      {{"name", "features"}, {"datatype", "FP64"}, {"shape", {-1, model.columns.count}}});
  json["inputs"].push_back(
      {{"name", "list_sizes"}, {"datatype", "INT64"}, {"shape", {-1}}, {"optional", true}});
  for (auto const& [number, feature] : model.names())
    json["parameters"]["features"].push_back(feature);
  for (auto const& [feature, about] : model.scorer.fitted().descriptions) {
    nlohmann::ordered_json entry = report::feature_json(feature, model.names());
    entry.update(report::description_json(about));
    json["parameters"]["described_features"].push_back(std::move(entry));
  }
  for (l2r::model_member const& member : model.scorer.fitted().members)
    json["parameters"]["components"].push_back(l2r::kind_of(member));
  return json_response(json_line_of(json));
}

http_response rank_service::index() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (model_store::entry const& one : models_.entries()) {
    nlohmann::ordered_json entry{{"name", one.name}};
    if (one.model) entry["version"] = std::to_string(one.model->version);
    entry["state"] = one.model ? "READY" : "UNAVAILABLE";
    entry["reason"] = one.failure.empty() && !one.model ? "unloaded" : one.failure;
    all.push_back(std::move(entry));
  }
  return json_response(json_line_of(all));
}

http_response rank_service::page(std::string_view path) const {
  http_response reply{200, "text/html; charset=utf-8", std::string(page_html), page_fields()};
  if (path == "/page.js")
    reply = {200, "text/javascript; charset=utf-8", std::string(page_js), page_fields()};
  if (path == "/page.css")
    reply = {200, "text/css; charset=utf-8", std::string(page_css), page_fields()};
  if (path == "/openapi.json") reply = {200, json_type, std::string(openapi_json), page_fields()};
  return reply;
}

}  // namespace rulerank::server
