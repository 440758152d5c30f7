#include "labelling/label_service.hpp"

#include "core/error.hpp"
#include "labelling/testing.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <numeric>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace rulerank::inline v0::labelling::label_service_test {
namespace {

using nlohmann::json;

class service : public pool_test {
 protected:
  service()
      : texts_(texts()),
        views_(ctx, {pool, binned, cuts, {}, &texts_, 3}),
        work_(ctx, binned, options()),
        journal_(folder + "/journal", work_.identity(), pool, al::labellers::several),
        team_(work_, journal_, "journal", 1),
        service_({.token = "secret",
                  .hosts = {"127.0.0.1:8420", "localhost:8420"},
                  .max_label = 2,
                  .documents = pool.size(),
                  .out = "out.txt"},
                 team_, views_, [this](std::vector<al::answer> answers) {
                   before_estimate_();
                   return work_.look_ahead(next_documents, std::move(answers));
                 }) {}

  static http_request request(std::string const& target, std::string const& body) {
    return {"POST",
            target,
            {{"host", "127.0.0.1:8420"},
             {"origin", "http://127.0.0.1:8420"},
             {"content-type", "application/json"},
             {"x-rulerank-token", "secret"}},
            body};
  }
  json post(std::string const& target, json body, std::string const& who = "An") {
    body["labeller"] = who;
    http_response const reply = service_.handle(request(target, body.dump()));
    EXPECT_EQ(reply.status, 200) << reply.body;
    return json::parse(reply.body);
  }
  int status(http_request const& what) { return service_.handle(what).status; }

  document_texts texts_;
  question_views views_;
  al::labelling work_;
  al::answer_journal journal_;
  label_team team_;
  std::function<void()> before_estimate_ = [] {};
  label_service service_;
};

TEST_F(service, asks_until_all_labels_are_there) {
  json state = post("/next", json::object());
  std::size_t answers = 0;
  for (; state["state"] == "question"; ++answers) {
    EXPECT_EQ(state["answers"], answers);
    std::size_t const document = state["question"]["document"];
    state = post("/answer", {{"document", document}, {"answer", labels[document]}});
    EXPECT_EQ(journal_.answers().size(), answers + 1) << "kept before the next page";
  }
  EXPECT_EQ(state["state"], "done");
  datasets::binned_dataset labelled = binned;
  labelled.labels = labels;
  EXPECT_EQ(work_.take().documents, al::reduce(ctx, labelled, options()).documents);
  EXPECT_FALSE(service_.finished());
  // An withdraws an answer while Bo still sees the end.
  json const again = post("/undo", json::object());
  EXPECT_EQ(post("/finish", json::object(), "Bo")["state"], "question");
  EXPECT_FALSE(service_.finished());
  std::size_t const document = again["question"]["document"];
  EXPECT_EQ(post("/answer", {{"document", document}, {"answer", labels[document]}})["state"],
            "done");
  EXPECT_EQ(post("/finish", json::object())["out"], "out.txt");
  EXPECT_TRUE(service_.finished());
  EXPECT_EQ(status(request("/next", R"({"labeller":"An"})")), 410);
}

TEST_F(service, has_a_page_without_secrets) {
  for (std::string const path : {"/", "/page.js", "/page.css"}) {
    http_response const reply = service_.handle({"GET", path, {{"host", "localhost:8420"}}, {}});
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body.find("secret"), std::string::npos);
    EXPECT_EQ(reply.body.find("://"), std::string::npos) << "fetches nothing from elsewhere";
    EXPECT_EQ(reply.body.find("innerHTML"), std::string::npos);
  }
  EXPECT_EQ(status({"GET", "/etc/passwd", {{"host", "localhost:8420"}}, {}}), 404);
  EXPECT_EQ(status({"GET", "/../page.js", {{"host", "localhost:8420"}}, {}}), 404);
  std::set<std::string> names;
  for (auto const& [name, value] : server::page_fields()) names.insert(name);
  EXPECT_TRUE(names.contains("Content-Security-Policy"));
}

TEST_F(service, refuses_what_does_not_come_from_its_page) {
  std::string const body = R"({"labeller":"An"})";
  EXPECT_EQ(status(request("/next", body)), 200);
  auto const changed = [&](std::string const& field, char const* value) {
    http_request what = request("/next", body);
    what.fields.erase(field);
    if (value != nullptr) what.fields[field] = value;
    return status(what);
  };
  for (char const* const host :
       {"evil.example", "evil.example:8420", "127.0.0.1", "127.0.0.1:80", ""})
    EXPECT_EQ(changed("host", host), 421) << host;
  EXPECT_EQ(changed("host", nullptr), 421);
  EXPECT_EQ(status({"GET", "/", {{"host", "evil.example"}}, {}}), 421);
  for (char const* const origin :
       {"http://evil.example", "null", "ftp://127.0.0.1:8420", "http://localhost:8420", ""})
    EXPECT_EQ(changed("origin", origin), 403) << origin;
  EXPECT_EQ(changed("origin", nullptr), 403);
  for (char const* const type :
       {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
        "application/jsonp", "", "text/plain;application/json", "application/json;charset=latin1",
        "application/json;charset=utf-8;x=y"})
    EXPECT_EQ(changed("content-type", type), 415) << type;
  for (char const* const type :
       {"application/json;charset=utf-8", "application/json; charset=UTF-8", "Application/JSON",
        "application/json ;\tcharset=\"utf-8\"", "application/json;"})
    EXPECT_EQ(changed("content-type", type), 200) << type;
  EXPECT_EQ(changed("content-type", nullptr), 415);
  for (char const* const token : {"", "secre", "secret ", "Secret", "secretsecret"})
    EXPECT_EQ(changed("x-rulerank-token", token), 401) << token;
  EXPECT_EQ(changed("x-rulerank-token", nullptr), 401);
  http_request other = request("/next", body);
  other.method = "PUT";
  EXPECT_EQ(status(other), 405);
  EXPECT_EQ(service_.handle(other).fields, (server::header_fields{{"Allow", "GET, HEAD, POST"}}));
  EXPECT_EQ(status(request("/nothing", body)), 404);
  EXPECT_TRUE(journal_.answers().empty());
}

TEST_F(service, refuses_malformed_bodies) {
  std::size_t const document = work_.wanted().front().document;
  for (std::string const body :
       {"", "{", "[]", "3", "null", "{}", R"({"labeller":3})", R"({"labeller":""})",
        R"({"labeller":" An"})", R"({"labeller":"=An"})", R"({"labeller":"a\tb"})",
        R"({"labeller":"a\nb"})", R"({"labeller":"\"a"})", "{\"labeller\":\"\xff\"}",
        R"({"labeller":"\u001b[0m"})", R"({"labeller":"\u202enA"})", R"({"labeller":"An\u200f"})",
        R"({"a":{"b":{"c":{"d":{"e":{}}}}},"labeller":"An"})", R"({"labeller":"An"} x)"})
    for (std::string const path : {"/next", "/answer", "/undo"})
      EXPECT_EQ(status(request(path, body)), 400) << path << " " << body;
  for (std::size_t const length : {160, 161})
    EXPECT_EQ(
        status(request("/next", fmt::format(R"({{"labeller":"{}"}})", std::string(length, 'x')))),
        length == 160 ? 200 : 400);
  std::string const asked = fmt::format(R"("document":{},)", document);
  for (std::string const more :
       {R"("answer":1)", R"("document":-1,"answer":1)", R"("document":40,"answer":1)",
        R"("document":1.5,"answer":1)", R"("document":"1","answer":1)"})
    EXPECT_EQ(status(request("/answer", R"({"labeller":"An",)" + more + "}")), 400) << more;
  for (std::string const answer : {"3", "-1", "\"1\"", "1.0", "18446744073709551615", "true", "[]"})
    EXPECT_EQ(status(request("/answer",
                             fmt::format(R"({{"labeller":"An",{}"answer":{}}})", asked, answer))),
              400)
        << answer;
  EXPECT_EQ(
      status(request("/answer", fmt::format(R"({{"labeller":"An","document":{}}})", document))),
      400);
  EXPECT_EQ(status(request("/next", std::string(most_body + 1, ' '))), 413);
  EXPECT_EQ(status(request("/next", std::string(most_body, '['))), 400);
  EXPECT_TRUE(journal_.answers().empty());
}

TEST_F(service, refuses_a_document_that_nobody_is_asked_about) {
  std::size_t document = 0;
  while (std::ranges::find(work_.wanted(), document, &al::question::document) !=
         work_.wanted().end())
    ++document;
  std::string const body = fmt::format(R"({{"labeller":"An","document":{},"answer":1}})", document);
  for (char const* const path : {"/answer", "/show"}) {
    http_response const reply = service_.handle(request(path, body));
    EXPECT_EQ(reply.status, 400) << path;
    EXPECT_EQ(json::parse(reply.body)["error"],
              "nobody was asked about this document, expected a document of a question");
  }
  EXPECT_TRUE(journal_.answers().empty());
  EXPECT_TRUE(work_.answers().empty());
}

/// Two labellers view one document; neither the first one's answer nor a withdrawn answer that led
/// to the document invalidates the second one's.
TEST_F(service, takes_an_answer_about_a_document_that_was_wanted) {
  for (std::size_t i = 0; i < work_.wanted().size() + 1; ++i)
    post("/next", json::object(), fmt::format("L{}", i));
  std::size_t const document = post("/next", json::object(), "An")["question"]["document"];
  ASSERT_EQ(post("/next", json::object(), "Bo")["question"]["document"], document);
  post("/answer", {{"document", document}, {"answer", 2}}, "An");
  std::size_t const next = post("/next", json::object(), "An")["question"]["document"];
  EXPECT_EQ(post("/answer", {{"document", document}, {"answer", 1}}, "Bo")["disputes"].size(), 1U);
  post("/undo", json::object(), "Bo");
  post("/undo", json::object(), "An");
  post("/answer", {{"document", next}, {"answer", 1}}, "Bo");
}

TEST_F(service, two_labellers_differ_and_agree) {
  std::size_t const document = post("/next", json::object(), "An")["question"]["document"];
  EXPECT_NE(post("/next", json::object(), "Bo")["question"]["document"], document);
  post("/answer", {{"document", document}, {"answer", 2}}, "An");
  json state = post("/answer", {{"document", document}, {"answer", nullptr}}, "Bo");
  ASSERT_EQ(state["disputes"].size(), 1U);
  EXPECT_EQ(state["disputes"][0]["answers"],
            json::parse(R"([{"labeller":"An","answer":2,"note":""},)"
                        R"({"labeller":"Bo","answer":null,"note":""}])"));
  EXPECT_EQ(state["disputes"][0]["label"], 2);
  EXPECT_EQ(state["labellers"], json::parse(R"(["An","Bo"])"));
  state = post("/show", {{"document", document}}, "Bo");
  EXPECT_TRUE(state.contains("before") && state["before"].is_null());
  EXPECT_EQ(state["question"]["document"], document);
  state = post("/answer", {{"document", document}, {"answer", 2}}, "Bo");
  EXPECT_TRUE(state["disputes"].empty());
}

TEST_F(service, undo_shows_the_document_again) {
  std::size_t const document = post("/next", json::object())["question"]["document"];
  post("/answer", {{"document", document}, {"answer", 0}});
  json const state = post("/undo", json::object());
  EXPECT_EQ(state["question"]["document"], document);
  EXPECT_EQ(state["answers"], 0);
  EXPECT_EQ(post("/undo", json::object())["state"], "question") << "there is none";
}

TEST_F(service, answers_have_notes_and_are_withdrawn_together) {
  json state = post("/next", json::object());
  std::vector<std::size_t> asked;
  for (int i = 0; i < 3; ++i) {
    asked.push_back(state["question"]["document"]);
    state = post("/answer",
                 {{"document", asked.back()}, {"answer", i}, {"note", i == 1 ? "half" : ""}});
  }
  json const mine = post("/mine", json::object())["mine"];
  ASSERT_EQ(mine.size(), 3U);
  EXPECT_EQ(mine[1]["document"], asked[1]);
  EXPECT_EQ(mine[1]["answer"], 1);
  EXPECT_EQ(mine[1]["note"], "half");
  EXPECT_EQ(post("/show", {{"document", asked[1]}})["note"], "half");
  state = post("/undo", {{"document", asked[1]}});
  EXPECT_EQ(state["question"]["document"], asked[1]);
  EXPECT_EQ(state["answers"], 1);
  EXPECT_EQ(status(request("/undo", R"({"labeller":"An","document":1000})")), 400);
  EXPECT_EQ(status(request("/answer", R"({"labeller":"An","document":0,"answer":0,"note":1})")),
            400);
  for (std::string const& bad :
       {std::string(2001, 'x'), std::string("two\nlines"), std::string("\u202e")})
    EXPECT_EQ(
        status(request(
            "/answer",
            json{{"labeller", "An"}, {"document", asked[1]}, {"answer", 0}, {"note", bad}}.dump())),
        400);
  EXPECT_EQ(post("/mine", json::object())["mine"].size(), 1U) << "nothing was kept";
}

TEST_F(service, texts_of_the_collection_are_strings_of_json) {
  std::size_t const third = 3;
  team_.answer("An", third, 1);
  json const state = post("/show", {{"document", third}});
  std::string text;
  for (json const& piece : state["question"]["whole"]) text += piece[0].get<std::string>();
  EXPECT_EQ(text, "<script>alert(1)</script>  [31m  flow over wings of shape 3");
  EXPECT_EQ(service_.handle(request("/show", R"({"labeller":"An","document":3})")).content_type,
            "application/json");
}

/// Ids, feature names and hand-edited labellers, which are not texts of the collection.
TEST_F(service, marks_of_direction_are_visible) {
  std::string lines;
  for (int d = 0; d < 6; ++d)
    lines += fmt::format("-1 qid:q\xe2\x80\xae 7:{} #docid = D\xe2\x80\x8f{} \xd8\x9c\n", d % 3, d);
  datasets::svmlight_options reading;
  reading.unlabelled = -1;
  datasets::dataset const odd = datasets::parse_svmlight(ctx, lines, "odd", reading);
  datasets::discretizer const odd_cuts = datasets::fit_discretizer(ctx, odd, {});
  datasets::binned_dataset const odd_bins = datasets::apply_discretizer(ctx, odd, odd_cuts);
  question_views views(ctx, {odd, odd_bins, odd_cuts, {{7, "rank\xe2\x80\xad"}}, nullptr, 3});
  al::sampler_options how;
  how.rule_size = 2;
  how.partitions = 1;
  al::labelling work(ctx, odd_bins, how);
  std::string const path = folder + "/odd";
  al::answer_journal journal(path, work.identity(), odd, al::labellers::several);
  label_team team(work, journal, path, 3);
  std::size_t const document = team.next("An")->document;
  team.answer("An", document, 0);
  team.answer("Bo\xe2\x81\xa6", document, 1);
  label_service shown({.token = "secret",
                       .hosts = {"127.0.0.1:8420"},
                       .max_label = 2,
                       .documents = odd.size(),
                       .out = "out.txt"},
                      team, views, {});
  std::string const page = shown.handle(request("/next", R"({"labeller":"Cy"})")).body;
  for (std::string_view const mark :
       {"\xe2\x80\xae", "\xe2\x80\x8f", "\xd8\x9c", "\xe2\x80\xad", "\xe2\x81\xa6"}) {
    EXPECT_EQ(page.find(mark), page.npos) << page;
    EXPECT_NE(page.find(json(printable(mark)).dump().substr(1, 8)), page.npos) << page;
  }
}

TEST_F(service, an_estimate_waits_for_answers) {
  json state;
  std::vector<std::size_t> count_of(3);
  std::size_t minority = 0;
  for (int i = 0; minority < enough_minority_labels; ++i) {
    state = post("/estimate", json::object());
    EXPECT_TRUE(state["documents"].is_null()) << minority;
    std::size_t const document = post("/next", json::object())["question"]["document"];
    // The first ten are alike.
    std::int32_t const label = i < 10 ? 0 : labels[document];
    post("/answer", {{"document", document}, {"answer", label}});
    ++count_of[static_cast<std::size_t>(label)];
    minority = std::accumulate(count_of.begin(), count_of.end(), std::size_t{0}) -
               *std::ranges::max_element(count_of);
  }
  state = post("/estimate", json::object());
  EXPECT_LE(state["low"], state["documents"]);
  EXPECT_LE(state["documents"], state["high"]);
}

TEST_F(service, answers_while_an_estimate_is_computed) {
  json state = post("/next", json::object());
  auto const answer = [&] {
    std::size_t const document = state["question"]["document"];
    state = post("/answer", {{"document", document}, {"answer", labels[document]}});
  };
  std::size_t answers = 0;
  for (; work_.look_ahead(0).minority_labels < enough_minority_labels; ++answers) answer();
  std::size_t const expected = work_.look_ahead(next_documents).documents;
  std::promise<void> begun, answered;
  auto answered_too = answered.get_future();
  before_estimate_ = [&] {
    begun.set_value();
    EXPECT_EQ(answered_too.wait_for(std::chrono::minutes(10)), std::future_status::ready)
        << "the others were held";
  };
  auto estimate =
      std::async(std::launch::async, [&] { return post("/estimate", json::object(), "Bo"); });
  begun.get_future().wait();
  answer();
  EXPECT_EQ(state["answers"], answers + 1);
  state = post("/undo", json::object());
  EXPECT_EQ(state["answers"], answers);
  EXPECT_TRUE(post("/estimate", json::object())["documents"].is_null()) << "there is no last one";
  answer();
  answered.set_value();
  EXPECT_EQ(estimate.get()["documents"], expected) << "from the answers when it was asked for";
  before_estimate_ = [] {};
  EXPECT_EQ(post("/estimate", json::object())["documents"],
            work_.look_ahead(next_documents).documents);
}

TEST_F(service, estimates_and_answers_at_once) {
  std::atomic<bool> labelling = true;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int who = 0; who < 2; ++who)
    threads.emplace_back([&] {
      while (labelling) failures += status(request("/estimate", R"({"labeller":"Bo"})")) != 200;
    });
  json state = post("/next", json::object());
  while (state["state"] == "question") {
    std::size_t const document = state["question"]["document"];
    state = post("/answer", {{"document", document}, {"answer", labels[document]}});
    if (document % 5 == 0) state = post("/undo", json::object());
    if (document % 5 == 0)
      state = post("/answer", {{"document", document}, {"answer", labels[document]}});
  }
  labelling = false;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(work_.finished());
}

TEST_F(service, requests_at_once_are_answered_one_after_the_other) {
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int who = 0; who < 4; ++who)
    threads.emplace_back([&, name = fmt::format("person {}", who)] {
      json state =
          json::parse(service_.handle(request("/next", json{{"labeller", name}}.dump())).body);
      for (int i = 0; i < 200 && state["state"] == "question"; ++i) {
        std::size_t const document = state["question"]["document"];
        http_response const reply = service_.handle(request(
            "/answer",
            json{{"labeller", name}, {"document", document}, {"answer", labels[document]}}.dump()));
        failures += reply.status != 200;
        state = json::parse(reply.body);
      }
      failures += state["state"] != "done" && state["state"] != "waiting";
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(work_.finished());
  datasets::binned_dataset labelled = binned;
  labelled.labels = labels;
  EXPECT_EQ(work_.take().documents, al::reduce(ctx, labelled, options()).documents);
}

TEST(tokens, differ) {
  EXPECT_EQ(new_token().size(), 32U);
  EXPECT_NE(new_token(), new_token());
}

}  // namespace
}  // namespace rulerank::labelling::label_service_test
