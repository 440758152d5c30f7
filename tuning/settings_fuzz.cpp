// Fuzz target (core/fuzzing.cpp): settings are read or rejected with a place, and survive a round
// trip.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "l2r/rules/options.hpp"
#include "tuning/settings_file.hpp"
#include "tuning/settings_json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  try {
    auto const read =
        tuning::settings_from({reinterpret_cast<char const*>(bytes), size}, "settings");
    require(!read.empty(), "settings have no members");
    for (tuning::settings_file const& one : read) l2r::check(one.scoring);
    std::string const written = tuning::to_json(read).dump();
    require(tuning::to_json(tuning::settings_from(written, "again")).dump() == written,
            "settings do not come back");
  } catch (error const& e) {
    require(e.where().file == "settings", "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::vector<tuning::settings_file> one(1), two(2), kinds(2);
  two[1].discretizer.emplace();
  two[1].scoring.rule_size = 4;
  kinds[0].scorecard.emplace();
  kinds[1].linear.emplace();
  return std::vector{tuning::to_json(one).dump(2), tuning::to_json(two).dump(),
                     tuning::to_json(kinds).dump()};
}
