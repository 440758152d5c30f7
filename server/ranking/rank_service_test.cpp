#include "server/ranking/rank_service.hpp"

#include "core/message_testing.hpp"
#include "core/sha256.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/model.hpp"
#include "server/access_log.hpp"
#include "server/ranking/problem.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace rulerank::inline v0::server::rank_service_test {
namespace {

using nlohmann::json;

datasets::dataset documents(int salt) {
  std::string text;
  for (int d = 0; d < 30; ++d) {
    int const x = (d * 37 + salt * 11) % 101;
    text += fmt::format("{} qid:{} 1:{} 2:{} 4:{}\n", x % 3, d / 10, x * .25, (x * 7) % 13, d % 4);
  }
  return datasets::parse_svmlight(context{}, text, "synthetic");
}

l2r::model model_of(int salt) {
  return l2r::fit(context{}, documents(salt),
                  std::vector<l2r::recipe>{l2r::rules_recipe{}, l2r::linear_recipe{}});
}

class service : public testing::Test {
 protected:
  service() {
    std::filesystem::create_directory(folder);
    for (char const* const name : {"a", "b"}) l2r::write_model(model_of(*name), path_of(name));
    models.emplace(std::map<std::string, std::string>{{"a", path_of("a")}, {"b", path_of("b")}},
                   [](l2r::model m) { return l2r::scorer(context{}, std::move(m)); });
  }
  ~service() override { std::filesystem::remove_all(folder); }

  std::string path_of(std::string const& name) const { return (folder / name).string(); }
  static json rows_of(datasets::dataset const& data) {
    json rows = json::array();
    for (std::size_t d = 0; d < data.size(); ++d) {
      rows.push_back(json::array());
      for (datasets::feature_value const& entry : data.document(d))
        rows.back().push_back(entry.value);
    }
    return rows;
  }
  static http_response send(rank_service& to, std::string const& target, json const& body,
                            std::string const& method = "POST") {
    http_request request{method, target, {}, body.dump()};
    static http_load const load;
    return to.handle(request, load);
  }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("rulerank-service-{}", ::getpid());
  std::optional<model_store> models;
};

TEST_F(service, scores_are_the_scorers_from_many_threads_at_once) {
  rank_service served({}, *models);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      datasets::dataset list = documents(t);
      list.queries = {{"q", 0, list.size()}};
      for (std::string const name : {"a", "b"}) {
        auto const want =
            l2r::scorer(context{}, l2r::read_model(path_of(name))).score(context{}, list).scores;
        json const answer =
            json::parse(send(served, "/rank",
                             {{"model", name}, {"features", {1, 2, 4}}, {"rows", rows_of(list)}})
                            .body);
        EXPECT_EQ(answer["sha256"], sha256_of_file(path_of(name)));
        ASSERT_EQ(answer["ranking"].size(), want.size());
        double last = std::numeric_limits<double>::infinity();
        for (json const& one : answer["ranking"]) {
          EXPECT_EQ(one["score"].get<double>(), want[one["document"].get<std::size_t>()]);
          EXPECT_LE(one["score"].get<double>(), last);
          last = one["score"].get<double>();
        }
      }
    });
  for (std::thread& one : threads) one.join();
}

TEST_F(service, needs_the_name_of_a_model_if_there_are_several) {
  rank_service served({}, *models);
  http_response const reply = send(served, "/rank", {{"rows", json::array()}});
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(json::parse(reply.body)["detail"], "found no model, expected one of: a, b");
}

TEST_F(service, a_model_that_is_in_use_survives_its_unloading) {
  model_pointer const mine = models->find("a");
  models->unload("a");
  EXPECT_THROW(models->find("a"), problem);
  EXPECT_EQ(mine->version, 1U);
  EXPECT_EQ(models->load("a")->version, 2U);
  EXPECT_EQ(models->load("a")->version, 2U);  // the same file
  l2r::write_model(model_of(3), path_of("a"));
  std::vector<std::string> said;
  models->load_changed([&](std::string const& what) { said.push_back(what); });
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said.front().starts_with("model a: version 3, SHA-256 ")) << said.front();
  std::ofstream(path_of("a")) << "no model";
  models->load_changed([&](std::string const& what) { said.push_back(what); });
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said.back().ends_with("; the loaded version stays")) << said.back();
  models->load_changed([&](std::string const& what) { said.push_back(what); });
  EXPECT_EQ(said.size(), 2U);  // reported once
  EXPECT_EQ(models->find("a")->version, 3U);
}

TEST_F(service, expects_the_token_the_host_and_no_other_origin) {
  rank_service served({.token = "secret", .hosts = {"localhost:1"}}, *models);
  static http_load const load;
  auto const status = [&](std::map<std::string, std::string> const& fields,
                          std::string const& target = "/metrics") {
    http_request request{"GET", target, fields, {}};
    return served.handle(request, load).status;
  };
  EXPECT_EQ(status({{"host", "localhost:1"}, {"authorization", "Bearer secret"}}), 200);
  EXPECT_EQ(status({{"host", "localhost:1"}, {"authorization", "secret"}}), 401);
  EXPECT_EQ(status({{"host", "localhost:1"}}), 401);
  EXPECT_EQ(status({{"host", "localhost:1"}}, "/v2/health/live"), 200);
  EXPECT_EQ(status({{"host", "evil"}, {"authorization", "Bearer secret"}}), 421);
  EXPECT_EQ(status({{"host", "localhost:1"}, {"origin", "http://evil"}}), 403);
  EXPECT_EQ(status({{"host", "localhost:1"}, {"origin", "http://localhost:1"}}, "/"), 200);
}

TEST_F(service, counts_responses_by_route) {
  rank_service served({}, *models);
  for (std::string const target : {"/v2/models/a", "/v2/models/b?x=1", "/nothing", ""})
    served.count({.target = target, .status = 200, .total_s = .002});
  std::string const text = send(served, "/metrics", {}, "GET").body;
  EXPECT_NE(text.find("rulerank_responses_total{path=\"/v2/models/{}\",status=\"200\"} 2\n"),
            text.npos);
  EXPECT_NE(text.find("rulerank_responses_total{path=\"other\",status=\"200\"} 2\n"), text.npos);
  EXPECT_NE(text.find("rulerank_stage_seconds_bucket{stage=\"total\",le=\"0.001\"} 0\n"),
            text.npos);
  EXPECT_NE(text.find("rulerank_stage_seconds_bucket{stage=\"total\",le=\"0.0025\"} 4\n"),
            text.npos);
  EXPECT_NE(text.find("rulerank_stage_seconds_count{stage=\"total\"} 4\n"), text.npos);
}

TEST(access_lines, are_json_whatever_the_target) {
  json const line =
      json::parse(access_line({.remote = "::1", .method = "GET", .target = "/\"\n\xff"}));
  EXPECT_EQ(line["target"], "/\"\n\xef\xbf\xbd");
  EXPECT_EQ(line["remote"], "::1");
}

}  // namespace
}  // namespace rulerank::server::rank_service_test
