#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "l2r/joint/joint.hpp"
#include "l2r/model/member_kind.hpp"
#include "l2r/model/options_json.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

// The member kind `joint`: lines, points and tables of one fit.
namespace rulerank::inline v0::l2r {

namespace {

constexpr std::int64_t most_joint_points = std::int64_t{1} << 52;  // exactly representable as
                                                                   // double

model_member fit_joint_member(context const& ctx, fitting& from, recipe const& how) {
  auto const& wanted = std::get<joint_recipe>(how);
  check(wanted.options);
  cuts_pointer const cuts = items_of(ctx, from, wanted.discretizer, wanted.cuts).cuts;
  joint_documents all = joint_documents_of(ctx, *cuts, from.train);
  joint_training training{from.lists, {}, cuts};
  std::size_t const features = all.items.feature_count();
  for (std::size_t const d : from.labelled)
    training.documents.z.insert(training.documents.z.end(), all.z_of(d), all.z_of(d) + features);
  training.documents.items = datasets::subset(all.items, from.labelled);
  return fit_joint(ctx, training, wanted.options);
}

/// A joint member with the features and items of its cuts.
joint_member items_by(cuts_pointer const& cuts) {
  joint_member member;
  member.cuts = cuts;
  scorecard columns = columns_of(*cuts);
  member.features = std::move(columns.features);
  member.item_begin = std::move(columns.item_begin);
  return member;
}

/// The number of cells in the table of two features.
std::size_t cells_of(joint_member const& member, std::size_t first, std::size_t second) {
  bool const missing = member.cuts->options.missing == datasets::missing_values::item;
  auto const groups = [&](std::size_t f) {
    return joint_group_count(member.item_begin[f + 1] - member.item_begin[f], missing);
  };
  return std::size_t{groups(first)} * groups(second);
}

nlohmann::ordered_json write_joint(model_member const& of, stored_parts& parts) {
  auto const& member = std::get<joint_member>(of);
  if (!member.cuts) throw usage_error("a joint member without cuts cannot be saved");
  joint_member const by_cuts = items_by(member.cuts);
  if (by_cuts.features != member.features || by_cuts.item_begin != member.item_begin ||
      member.points.size() != by_cuts.item_begin.back() ||
      member.weights.size() != member.features.size())
    throw usage_error(
        "the items of the joint member differ from those of its cuts, expected the same");
  nlohmann::ordered_json options = to_json(member.options);
  options["loss"] = name_of(member.loss);
  options["penalties"] = {{"weights", member.penalties.weights},
                          {"points", member.penalties.points},
                          {"smoothness", member.penalties.smoothness},
                          {"tables", member.penalties.tables}};
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (std::size_t f = 0; f < member.features.size(); ++f)
    points.push_back(std::vector(member.points.begin() + member.item_begin[f],
                                 member.points.begin() + member.item_begin[f + 1]));
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (joint_pair const& pair : member.pairs)
    pairs.push_back({{"first", pair.first}, {"second", pair.second}, {"points", pair.points}});
  return {{"cuts", parts.index_of(member.cuts)},
          {"options", std::move(options)},
          {"unit_bits", joint_bits},
          {"weights", member.weights},
          {"points", std::move(points)},
          {"pairs", std::move(pairs)},
          {"training_documents", member.training_documents},
          {"moved", member.moved}};
}

void read_joint_options(json_fields const& from, joint_member& member) {
  json_fields const options(from.member("options"), from.name(), from.prefix() + "options.");
  member.options = joint_options_from(from.member("options"), from.name(), options.prefix());
  member.loss = options.known("loss", card_loss_from);
  if (member.loss == card_loss::list) options.fail("loss", "found list, expected pair or point");
  json_fields const found(options.member("penalties"), from.name(),
                          options.prefix() + "penalties.");
  auto const penalty = [&](std::string_view key) {
    double const value = found.number(key);
    if (!(value >= 0 && value <= 1e9)) found.fail(key, "found no number from 0 to 1e9");
    return value;
  };
  member.penalties = {penalty("weights"), penalty("points"), penalty("smoothness"),
                      penalty("tables")};
}

joint_pair read_pair(json_fields const& from, joint_member const& member) {
  joint_pair pair;
  std::size_t const features = member.features.size();
  pair.first = from.index("first", features);
  pair.second = from.index("second", features);
  if (pair.first >= pair.second)
    from.fail("second", fmt::format("found {} after {}, expected ascending positions", pair.second,
                                    pair.first));
  pair.points =
      read_integers(from, "points", from.list("points"), cells_of(member, pair.first, pair.second),
                    -most_joint_points, most_joint_points);
  return pair;
}

model_member read_joint(json_fields const& from, stored_parts const& parts) {
  joint_member member = items_by(parts.cuts[from.index("cuts", parts.cuts.size())]);
  std::size_t const features = member.features.size();
  if (features == 0) from.fail("cuts", "found cuts without features, expected one feature or more");
  read_joint_options(from, member);
  from.integer("unit_bits", joint_bits, joint_bits);
  member.weights = read_integers(from, "weights", from.list("weights"), features,
                                 -most_joint_points, most_joint_points);
  member.points =
      read_by_feature(from, "points", member.item_begin, -most_joint_points, most_joint_points);
  nlohmann::ordered_json const& pairs = from.list("pairs");
  for (std::size_t p = 0; p < pairs.size(); ++p)
    member.pairs.push_back(read_pair(
        json_fields(pairs[p], from.name(), fmt::format("{}pairs[{}].", from.prefix(), p)), member));
  if (member.pairs.size() > member.options.max_pairs)
    from.fail("pairs", fmt::format("found {}, expected at most {}", member.pairs.size(),
                                   member.options.max_pairs));
  member.training_documents = static_cast<std::uint32_t>(
      from.integer("training_documents", 1, std::numeric_limits<std::int32_t>::max()));
  member.moved = read_integers(from, "moved", from.list("moved"), features + member.pairs.size(), 0,
                               most_joint_points);
  return member;
}

class prepared_joint final : public prepared_member {
 public:
  explicit prepared_joint(joint_member member) : member_(std::move(member)) {}

  using prepared_member::score;
  scored score(context const& ctx, datasets::dataset const& documents) const override {
    scored result;
    stopwatch watch;
    joint_documents const taken = joint_documents_of(ctx, *member_.cuts, documents);
    result.timings.discretize_s = watch.seconds();
    stopwatch const scoring;
    result.scores = l2r::score(ctx, member_, taken);
    result.timings.score_s = scoring.seconds();
    return result;
  }

 private:
  joint_member member_;
};

std::unique_ptr<prepared_member> prepare_joint(context const&, model_member const& of,
                                               engine_options const&) {
  return std::make_unique<prepared_joint>(std::get<joint_member>(of));
}

}  // namespace

nlohmann::ordered_json to_json(joint_options const& options) {
  return {{"max_pairs", options.max_pairs}, {"folds", options.folds}};
}

joint_options joint_options_from(nlohmann::ordered_json const& json, std::string const& name,
                                 std::string const& prefix) {
  json_fields const fields(json, name, prefix);
  return {fields.integer("max_pairs", 0, 1000), fields.integer("folds", 2, 1000)};
}

constinit member_kind const joint_kind{"joint",     true,       fit_joint_member,
                                       write_joint, read_joint, prepare_joint};

}  // namespace rulerank::l2r
