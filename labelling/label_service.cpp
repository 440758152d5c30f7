#include "labelling/label_service.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "labelling/page.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::labelling {

namespace {

using json = nlohmann::ordered_json;

/// A rejected request, with status and reason.
class refusal : public std::runtime_error {
 public:
  refusal(int status, std::string const& why) : std::runtime_error(why), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

std::string text_of(json const& value) {
  return json_line_of(value);
}

/// Whether a content type is JSON, alone or with `charset=utf-8`: ignoring case and blanks around
/// the semicolon, the charset quoted or not (RFC 9110, 5.6.6 and 8.3.1).
bool is_json(std::string_view type) {
  auto const part = [&](std::size_t begin, std::size_t end) {
    return boost::trim_copy_if(std::string(type.substr(begin, end - begin)),
                               boost::is_any_of(" \t"));
  };
  std::size_t const semicolon = std::min(type.find(';'), type.size());
  std::string const parameter = part(std::min(semicolon + 1, type.size()), type.size());
  return boost::iequals(part(0, semicolon), "application/json") &&
         (parameter.empty() || boost::iequals(parameter, "charset=utf-8") ||
          boost::iequals(parameter, "charset=\"utf-8\""));
}

json pieces(marked_text const& text) {
  json list = json::array();
  for (text_piece const& p : text) list.push_back(json::array({p.text, p.marked}));
  return list;
}

json label_or_null(std::optional<std::int32_t> label) {
  return label ? json(*label) : json(nullptr);
}

/// Texts are displayable already; ids, comments and feature names are made displayable here.
json view_json(question_view const& view) {
  json features = json::array();
  for (feature_view const& f : view.features)
    features.push_back({{"value", f.value}, {"range", printable(f.range)}});
  json neighbours = json::array();
  for (neighbour_view const& n : view.neighbours)
    neighbours.push_back({{"label", n.label},
                          {"docid", printable(n.docid)},
                          {"qid", printable(n.qid)},
                          {"query", n.query},
                          {"title", n.title},
                          {"shared", n.shared}});
  json brings = json::array();
  for (std::string const& line : view.brings) brings.push_back(printable(line));
  return {{"document", view.document},
          {"docid", printable(view.docid)},
          {"qid", printable(view.qid)},
          {"comment", printable(view.comment)},
          {"query", view.query},
          {"title", pieces(view.title)},
          {"passage", pieces(view.passage)},
          {"whole", pieces(view.whole)},
          {"why", view.why},
          {"brings", brings},
          {"features", features},
          {"featureCount", view.feature_count},
          {"neighbours", neighbours}};
}

json answers_json(std::vector<said> const& answers) {
  json list = json::array();
  for (said const& s : answers)
    list.push_back({{"labeller", printable(s.labeller)},
                    {"answer", label_or_null(s.label)},
                    {"note", printable(s.note)}});
  return list;
}

std::string labeller_of(json const& body) {
  constexpr std::size_t longest = 160;  // the page's limit of 40 letters, in bytes, for any
                                        // alphabet
  auto const found = body.find("labeller");
  if (found == body.end() || !found->is_string())
    throw refusal(400, "found no labeller, expected a name");
  auto name = found->get<std::string>();
  if (name.empty() || name.size() > longest || printable(name) != name || name.front() == ' ' ||
      name.back() == ' ' || name.find('"') != name.npos ||
      std::string_view("=+-@'").find(name.front()) != std::string_view::npos)
    throw refusal(
        400,
        fmt::format("found an invalid name of a labeller, expected 1 to {} bytes without control "
                    "characters, marks of direction and quotes, with a letter or digit first",
                    longest));
  if (name == program_labeller)
    throw refusal(400, fmt::format("found the name {}, which is the program's, expected another "
                                   "name",
                                   name));
  return name;
}

std::size_t document_of(json const& body, std::size_t documents) {
  auto const found = body.find("document");
  if (found == body.end() || !found->is_number_unsigned() ||
      found->get<std::uint64_t>() >= documents)
    throw refusal(400,
                  fmt::format("found no document of the pool, expected 0 to {}", documents - 1));
  return found->get<std::size_t>();
}

/// As above, and the labeller is or was asked about the document.
std::size_t asked_document(json const& body, std::size_t documents, label_team const& team,
                           std::string const& labeller) {
  std::size_t const document = document_of(body, documents);
  if (!team.may_answer(labeller, document))
    throw refusal(400, "nobody was asked about this document, expected a document of a question");
  return document;
}

std::optional<std::int32_t> answer_of(json const& body, std::int32_t max_label) {
  auto const found = body.find("answer");
  if (found != body.end() && found->is_null()) return {};
  if (found == body.end() || !found->is_number_unsigned() ||
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(max_label))
    throw refusal(400, fmt::format("found no answer, expected 0 to {}, or null", max_label));
  return found->get<std::int32_t>();
}

std::string note_of(json const& body) {
  constexpr std::size_t longest = 2000;
  auto const found = body.find("note");
  if (found == body.end()) return {};
  if (!found->is_string()) throw refusal(400, "found a note that is no text, expected text");
  auto note = found->get<std::string>();
  if (note.size() > longest || printable(note) != note)
    throw refusal(400, fmt::format("found an invalid note, expected at most {} bytes without "
                                   "control characters and marks of direction",
                                   longest));
  return note;
}

json body_of(std::string const& text) {
  constexpr int deepest = 4;
  bool deep = false;
  auto const shallow = [&](int depth, json::parse_event_t, json const&) {
    deep = deep || depth > deepest;
    return !deep;
  };
  json body = json::parse(text, shallow, false);
  if (deep || !body.is_object()) throw refusal(400, "found no JSON object, expected one");
  return body;
}

}  // namespace

std::string new_token() {
  std::random_device random;  // the system's source, not a seeded generator
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

label_service::label_service(options how, label_team& team, question_views& views,
                             estimator look_ahead)
    : how_(std::move(how)),
      team_(team),
      views_(views),
      look_ahead_(std::move(look_ahead)),
      last_estimate_(
          text_of({{"text", ""}, {"documents", nullptr}, {"low", nullptr}, {"high", nullptr}})) {}

bool label_service::finished() const {
  std::lock_guard const lock(mutex_);
  return finished_;
}

void label_service::exclusively(std::function<void()> const& work) const {
  std::lock_guard const lock(mutex_);
  work();
}

http_response label_service::refuse(int status, std::string_view why) const {
  return {status, "application/json", text_of({{"error", why}})};
}

bool label_service::is_ours(http_request const& request) const {
  auto const host = request.fields.find("host");
  return host != request.fields.end() &&
         std::ranges::find(how_.hosts, host->second) != how_.hosts.end();
}

http_response label_service::handle(http_request const& request) {
  try {
    // DNS rebinding: a foreign page whose name resolves to this server sends its own host.
    if (!is_ours(request))
      return refuse(421, "found a different host, expected the host of this server");
    if (request.body.size() > most_body)
      return refuse(413, fmt::format("found more than {} bytes", most_body));
    if (request.method == "GET" || request.method == "HEAD") return page(request.target);
    if (request.method == "POST") return post(request);
    http_response reply = refuse(405, "found a different method, expected GET, HEAD or POST");
    reply.fields = {{"Allow", "GET, HEAD, POST"}};
    return reply;
  } catch (refusal const& e) {
    return refuse(e.status(), e.what());
  } catch (usage_error const& e) {
    return refuse(400, e.what());
  } catch (output_error const& e) {
    return refuse(507, e.what());
  }
}

http_response label_service::page(std::string_view target) const {
  if (target == "/") return {200, "text/html; charset=utf-8", std::string(page_html)};
  if (target == "/page.js") return {200, "text/javascript; charset=utf-8", std::string(page_js)};
  if (target == "/page.css") return {200, "text/css; charset=utf-8", std::string(page_css)};
  return refuse(404, "found a different path, expected /");
}

http_response label_service::post(http_request const& request) {
  auto const field = [&](char const* name) {
    auto const found = request.fields.find(name);
    return found == request.fields.end() ? std::string() : found->second;
  };
  // A proxy in front may use TLS; this port itself serves only http.
  if (field("origin") != "http://" + field("host") && field("origin") != "https://" + field("host"))
    return refuse(403, "found a different origin, expected the page of this server");
  if (!is_json(field("content-type")))
    return refuse(415, "found a different content type, expected application/json");
  if (!server::same_secret(field("x-rulerank-token"), how_.token))
    return refuse(
        401, "found a different token, expected the token in the address that the program printed");
  json const body = body_of(request.body);
  std::string const labeller = labeller_of(body);
  if (request.target == "/estimate" && !finished()) return {200, "application/json", estimate()};
  std::lock_guard const lock(mutex_);
  if (finished_) return refuse(410, "the labelling has ended");
  std::string reply;
  // A labeller may have withdrawn an answer in the meantime.
  if (request.target == "/next" || (request.target == "/finish" && !team_.work().finished())) {
    reply = next(labeller);
  } else if (request.target == "/answer") {
    team_.answer(labeller, asked_document(body, how_.documents, team_, labeller),
                 answer_of(body, how_.max_label), note_of(body));
    reply = next(labeller);
  } else if (request.target == "/undo") {
    auto const document = body.contains("document")
                              ? team_.undo_back_to(labeller, document_of(body, how_.documents))
                              : team_.undo(labeller);
    reply = document ? shown(labeller, *document) : next(labeller);
  } else if (request.target == "/mine") {
    reply = mine(labeller);
  } else if (request.target == "/show") {
    reply = shown(labeller, asked_document(body, how_.documents, team_, labeller));
  } else if (request.target == "/finish") {
    finished_ = true;
    reply = text_of({{"state", "ended"}, {"out", how_.out}});
  } else {
    return refuse(404, "found a different path, expected one that the page uses");
  }
  return {200, "application/json", std::move(reply)};
}

namespace {

/// The state that the page shows next to a document.
json page_state(label_team const& team, std::string const& labeller, question_views const& views,
                label_service::options const& how) {
  json disputes = json::array();
  for (dispute const& d : team.disputes())
    disputes.push_back({{"document", d.document},
                        {"docid", printable(views.docid(d.document))},
                        {"qid", printable(views.qid(d.document))},
                        {"answers", answers_json(d.answers)},
                        {"label", label_or_null(d.label)}});
  auto const answers = team.work().answers();
  std::size_t const skipped = al::left_out_of(answers);
  json labellers = json::array();  // an answer file may have been edited by hand
  for (std::string const& name : team.labellers()) labellers.push_back(printable(name));
  return {{"labeller", labeller},
          {"labellers", labellers},
          {"needed", team.needed()},
          {"mine", team.answers_of(labeller)},
          {"answers", answers.size()},
          {"skipped", skipped},
          {"maxLabel", how.max_label},
          {"labelNames", how.label_names},
          {"guidelines", how.guidelines},
          {"goal", how.goal ? json(*how.goal) : json(nullptr)},
          {"out", how.out},
          {"disputes", disputes}};
}

}  // namespace

std::string label_service::next(std::string const& labeller) {
  auto const question = team_.next(labeller);
  json state = page_state(team_, labeller, views_, how_);
  if (question) {
    state["state"] = "question";
    state["question"] = view_json(views_.view(views_.request(*question, team_.work())));
  } else {
    state["state"] = team_.work().finished() ? "done" : "waiting";
  }
  return text_of(state);
}

/// Shows a document again, with its question if it is still wanted.
std::string label_service::shown(std::string const& labeller, std::size_t document) {
  auto const& wanted = team_.work().wanted();
  auto const asked = std::ranges::find(wanted, document, &al::question::document);
  view_request request;
  if (asked != wanted.end()) {
    request = views_.request(*asked, team_.work());
  } else {
    request.document = document;
    request.why = "a document that was answered before";
    auto const columns = team_.work().features(0);
    request.columns.assign(columns.begin(), columns.end());
    request.neighbours = team_.work().nearest_labelled(document, 3);
    request.label_of = [&](std::size_t d) { return team_.work().label_of(d); };
  }
  json state = page_state(team_, labeller, views_, how_);
  state["state"] = "question";
  state["question"] = view_json(views_.view(request));
  auto const before = team_.answer_of(labeller, document);
  if (before) {
    state["before"] = label_or_null(before->label);
    state["note"] = printable(before->note);
  }
  return text_of(state);
}

std::string label_service::mine(std::string const& labeller) const {
  json list = json::array();
  for (al::answer const& a : team_.all_of(labeller))
    list.push_back({{"document", a.document},
                    {"docid", printable(views_.docid(a.document))},
                    {"qid", printable(views_.qid(a.document))},
                    {"answer", label_or_null(a.label)},
                    {"note", printable(a.note)}});
  return text_of(json{{"mine", list}});
}

/// Estimates from the current answers; releases `mutex_` during the computation.
std::string label_service::estimate() {
  std::unique_lock const estimating(estimating_, std::try_to_lock);
  std::unique_lock lock(mutex_);
  if (!estimating) return last_estimate_;
  auto const given = team_.work().answers();
  std::vector<al::answer> answers(given.begin(), given.end());
  lock.unlock();
  al::outlook const ahead = look_ahead_(std::move(answers));
  bool const enough = is_estimate(ahead);
  std::string text = text_of({{"text", describe(ahead)},
                              {"documents", enough ? json(ahead.documents) : json(nullptr)},
                              {"low", enough ? json(ahead.documents_low) : json(nullptr)},
                              {"high", enough ? json(ahead.documents_high) : json(nullptr)}});
  lock.lock();
  last_estimate_ = text;
  return text;
}

}  // namespace rulerank::labelling
