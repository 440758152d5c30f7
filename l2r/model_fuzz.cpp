// libFuzzer: a model is read or refused with a place, whatever its header says and its documents
// are. The input is what follows a model's first line; the checksum there is made right, so that
// what stands behind it is tried. Built and seeded as datasets/svmlight/svmlight_fuzz.cpp:
// bin/model_fuzz --seeds=DIR writes a corpus to start from.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "core/sha256.hpp"
#include "datasets/svmlight.hpp"
#include "l2r/model.hpp"
#include "l2r/scorer.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;

datasets::dataset documents() {
  return datasets::parse_svmlight(
      context{}, "0 qid:1 1:1 2:3\n1 qid:1 1:2 2:1\n2 qid:1 1:4\n0 qid:2 1:1 2:2\n", "documents");
}

l2r::model small_model() {
  context const ctx;
  auto const cuts = std::make_shared<datasets::discretizer const>(
      datasets::fit_discretizer(ctx, documents(), {}));
  auto const items = std::make_shared<datasets::binned_dataset const>(
      datasets::apply_discretizer(ctx, documents(), *cuts));
  l2r::model m;
  m.members.push_back(l2r::rules_member{cuts, items, {}});
  return m;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  std::string const body(reinterpret_cast<char const*>(bytes), size);
  try {
    l2r::model const read =
        l2r::model_from_bytes("rulerank-model 2 " + sha256_hex(body) + "\n" + body, "model");
    require(!read.members.empty(), "a model has no members");
    std::string const written = l2r::to_bytes(read);
    require(l2r::to_bytes(l2r::model_from_bytes(written, "again")) == written,
            "a model does not come back");
  } catch (error const& e) {
    require(e.where().file == "model", "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  write_seeds_where_asked(*argc, *argv, [] {
    std::string const whole = l2r::to_bytes(small_model());
    return std::vector{whole.substr(whole.find('\n') + 1)};
  });
  return 0;
}
