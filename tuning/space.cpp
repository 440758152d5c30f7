#include "tuning/space.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::tuning {

namespace {

template <class Value>
void check_distinct(std::string_view what, std::vector<Value> const& values) {
  for (auto v = values.begin(); v != values.end(); ++v)
    if (std::find(values.begin(), v, *v) != v)
      throw usage_error(fmt::format("a {} to try is given twice", what));
}

template <class Value>
void check_list(std::string_view what, std::vector<Value> const& values) {
  if (values.empty()) throw usage_error(fmt::format("no {} to try, expected one or more", what));
  check_distinct(what, values);
}

nlohmann::ordered_json bins_json(int bins) {
  if (bins == 0) return "cv";
  return bins;
}

}  // namespace

std::vector<candidate> candidates_of(space const& s) {
  check_list("method", s.methods);
  check_list("number of bins", s.bins);
  check_distinct("norm", s.norms);
  check_list("rule size", s.rule_sizes);
  check_list("min support", s.min_supports);
  check_list("min confidence", s.min_confidences);
  check_list("support weight", s.support_weights);
  check_list("smoothing", s.smoothings);
  check_list("feature share", s.feature_shares);
  for (int const bins : s.bins)
    if (bins != 0 && (bins < 2 || bins > 250))
      throw usage_error(fmt::format("{} to try, expected 2 to 250 or cv",
                                    bins < 0 ? fmt::format("{} bins", bins)
                                             : counted(static_cast<std::uint64_t>(bins), "bin")));
  std::vector<std::optional<datasets::normalization>> norms(s.norms.begin(), s.norms.end());
  if (norms.empty()) norms.emplace_back();
  std::vector<candidate> all;
  for (std::uint32_t const size : s.rule_sizes)
    for (std::uint32_t const support : s.min_supports)
      for (double const confidence : s.min_confidences)
        for (double const weight : s.support_weights)
          for (double const smoothing : s.smoothings)
            for (double const share : s.feature_shares) {
              l2r::scoring_options const scoring{
                  size, {support, confidence}, weight, smoothing, share};
              l2r::check(scoring);
              for (datasets::binning const method : s.methods)
                for (int const bins : s.bins)
                  for (auto const norm : norms) all.push_back({{method, bins, norm}, scoring});
            }
  return all;
}

nlohmann::ordered_json to_json(candidate const& c) {
  nlohmann::ordered_json json{{"method", datasets::name_of(c.cuts.method)},
                              {"bins", bins_json(c.cuts.bins)}};
  if (c.cuts.norm) json["norm"] = datasets::name_of(*c.cuts.norm);
  json.update(l2r::to_json(c.scoring));
  return json;
}

nlohmann::ordered_json to_json(space const& s) {
  nlohmann::ordered_json json;
  for (datasets::binning const method : s.methods)
    json["method"].push_back(datasets::name_of(method));
  for (int const bins : s.bins) json["bins"].push_back(bins_json(bins));
  for (datasets::normalization const norm : s.norms)
    json["norm"].push_back(datasets::name_of(norm));
  json["rule_size"] = s.rule_sizes;
  json["min_support"] = s.min_supports;
  json["min_confidence"] = s.min_confidences;
  json["support_weight"] = s.support_weights;
  json["smoothing"] = s.smoothings;
  json["feature_share"] = s.feature_shares;
  return json;
}

}  // namespace rulerank::tuning
