#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "l2r/linear/linear.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/model/options_json.hpp"

#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

// The member kind `linear`: weights of raw features.
namespace rulerank::inline v0::l2r {

namespace {

constexpr std::int64_t most_weight = std::int64_t{1} << 62;

/// Versions of the program without linear_scale::pool refuse files that have it, because they miss
/// `unit_bits`.
char const* unit_key(linear_options const& options) {
  return options.scale == linear_scale::query ? "unit_bits" : "pool_unit_bits";
}

model_member fit_weights(context const& ctx, fitting& from, recipe const& how) {
  return linear_member{fit_linear(ctx, from.train, std::get<linear_recipe>(how).options)};
}

nlohmann::ordered_json write_weights(model_member const& of, stored_parts&) {
  linear_weights const& w = std::get<linear_member>(of).weights;
  if (w.features.empty() || w.options.strength == 0)
    throw usage_error("a linear member that was not fitted cannot be saved");
  nlohmann::ordered_json features = nlohmann::ordered_json::array();
  for (feature_weight const& one : w.features) {
    nlohmann::ordered_json& entry = features.emplace_back();
    entry["feature"] = one.feature;
    if (!w.names.empty()) entry["name"] = datasets::name_of(one.feature, w.names);
    entry["weight"] = one.weight;
    if (one.misses) entry["missing"] = one.missing;
    if (one.moved >= 0) entry["moved"] = one.moved;
    if (w.options.scale == linear_scale::query) continue;
    entry["mean"] = one.mean;
    entry["deviation"] = one.deviation;
  }
  return {{"options", to_json(w.options)},
          {unit_key(w.options), linear_bits},
          {"features", std::move(features)}};
}

std::int64_t weight_from(json_fields const& from, std::string_view key) {
  nlohmann::ordered_json const& value = from.member(key);
  bool const fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= most_weight);
  std::int64_t const weight = fits ? value.get<std::int64_t>() : 0;
  if (!fits || weight < -most_weight)
    from.fail(key, fmt::format("found no integer from {} to {}", -most_weight, most_weight));
  return weight;
}

/// Reads the next feature; `names` holds the names read before.
void read_feature(json_fields const& from, linear_weights& w, std::set<std::string>& names) {
  feature_weight one;
  one.feature = static_cast<std::uint32_t>(
      from.integer("feature", 0, std::numeric_limits<std::int32_t>::max()));
  if (!w.features.empty() && w.features.back().feature >= one.feature)
    from.fail("feature", fmt::format("found {} after {}, expected ascending numbers", one.feature,
                                     w.features.back().feature));
  if (from.has("name") != !names.empty() && !w.features.empty())
    from.fail("name", "found names of some features, expected names of all features or of none");
  if (from.has("name")) {
    std::string const& name = from.word("name");
    if (name.empty() || !names.insert(name).second)
      from.fail("name", "found a missing or repeated name, expected each name once");
    w.names.emplace(one.feature, name);
  }
  one.weight = weight_from(from, "weight");
  one.misses = from.has("missing");
  if (one.misses) one.missing = weight_from(from, "missing");
  if (from.has("moved")) {
    one.moved = weight_from(from, "moved");
    if (one.moved < 0) from.fail("moved", "found a number below 0");
  }
  if (w.options.scale == linear_scale::pool) {
    one.mean = from.number("mean");
    one.deviation = from.number("deviation");
    if (!(one.deviation > 0)) from.fail("deviation", "found no number above 0");
  }
  w.features.push_back(one);
}

model_member read_weights(json_fields const& from, stored_parts const&) {
  linear_weights w;
  std::string const options = from.prefix() + "options.";
  w.options = linear_options_from(from.member("options"), from.name(), options);
  if (w.options.strength == 0)
    from.fail("options.strength", "found cross-fit, expected the strength that was used");
  from.integer(unit_key(w.options), linear_bits, linear_bits);
  std::set<std::string> names;
  nlohmann::ordered_json const& features = from.list("features");
  for (std::size_t k = 0; k < features.size(); ++k)
    read_feature(
        json_fields(features[k], from.name(), fmt::format("{}features[{}].", from.prefix(), k)), w,
        names);
  if (w.features.empty()) from.fail("features", "found none, expected one or more");
  return linear_member{std::move(w)};
}

class prepared_linear final : public prepared_member {
 public:
  explicit prepared_linear(linear_weights weights) : weights_(std::move(weights)) {}

  using prepared_member::score;
  scored score(context const& ctx, datasets::dataset const& documents) const override {
    stopwatch const watch;
    scored result;
    result.scores = l2r::score(ctx, weights_, documents);
    result.timings.score_s = watch.seconds();
    return result;
  }

 private:
  linear_weights weights_;
};

std::unique_ptr<prepared_member> prepare_weights(context const&, model_member const& of,
                                                 engine_options const&) {
  return std::make_unique<prepared_linear>(std::get<linear_member>(of).weights);
}

}  // namespace

constinit member_kind const linear_kind{"linear",      true,         fit_weights,
                                        write_weights, read_weights, prepare_weights};

}  // namespace rulerank::l2r
