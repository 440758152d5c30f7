// Fuzz target (core/fuzzing.cpp): a body of /rank, /explain, /search or of the Open Inference
// Protocol gets a response or a problem with a status from 400 to 499, whatever its bytes. The
// first byte selects the path, and for binary tensors the second the length of the JSON.

#include "core/fuzzing.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model/model.hpp"
#include "server/ranking/rank_service.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;

server::model_store& models() {
  static memory_file const file = [] {
    datasets::dataset const train = datasets::parse_svmlight(
        one_thread(), "0 qid:1 1:1 2:3\n1 qid:1 1:2 2:1\n2 qid:1 1:4\n0 qid:2 1:1 2:2\n", "train");
    return memory_file(l2r::to_bytes(l2r::fit(
        one_thread(), train, std::vector<l2r::recipe>{l2r::rules_recipe{}, l2r::linear_recipe{}})));
  }();
  static server::model_store store(
      {{"m", file.path()}}, [](l2r::model m) { return l2r::scorer(one_thread(), std::move(m)); });
  return store;
}

constexpr std::array<char const*, 4> paths{"/rank", "/explain", "/search", "/v2/models/m/infer"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  static server::rank_service service({}, models());
  static server::http_load const load;
  if (size < 2) return 0;
  server::http_request request{"POST", paths[bytes[0] % paths.size()], {}, {}};
  request.body.assign(reinterpret_cast<char const*>(bytes + 2), size - 2);
  if (bytes[1] != 0)
    request.fields["inference-header-content-length"] = std::to_string(unsigned{bytes[1]});
  server::http_response const reply = service.handle(request, load);
  require(reply.status == 200 || (reply.status >= 400 && reply.status < 500),
          "a request fails the server");
  require(!reply.body.empty(), "a response is empty");
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  auto const seed = [](char path, char header, std::string const& body) {
    return std::string{path, header} + body;
  };
  std::string const tensors =
      R"({"inputs":[{"name":"features","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}]})";
  return {
      seed(0, 0, R"({"features":[1,"2"],"rows":[[1,2.5],[null,-3e2]],"ids":["a","b"],"top":1})"),
      seed(
          0, 0,
          R"({"queries":[{"qid":"1","documents":[{"id":"a","features":{"1":2}}]}],"explain":true})"),
      seed(1, 0, R"({"rows":[[1,2],[2,1]],"document":0,"against":1})"),
      seed(2, 0, R"({"query":"red shoe","top":3})"),
      seed(
          3, 0,
          R"({"id":"7","inputs":[{"name":"features","datatype":"FP64","shape":[2,2],"data":[1,2,3,4]},)"
          R"({"name":"list_sizes","datatype":"INT64","shape":[2],"data":[1,1]}]})"),
      seed(3, static_cast<char>(tensors.size()), tensors + std::string(8, '\0'))};
}
