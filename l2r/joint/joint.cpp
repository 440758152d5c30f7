#include "l2r/joint/joint.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/values_of.hpp"
#include "l2r/linear/z_scores.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rulerank::inline v0::l2r {

namespace {

static_assert(joint_bits == linear_bits && joint_bits == card_bits);

bool has_missing_items(joint_member const& of) {
  return of.cuts == nullptr || of.cuts->options.missing == datasets::missing_values::item;
}

}  // namespace

void check(joint_options const& options) {
  if (options.max_pairs > 1000)
    throw usage_error(
        fmt::format("found {} pairs of features, expected 0 to 1000", options.max_pairs));
  if (options.folds < 2 || options.folds > 1000)
    throw usage_error(fmt::format("found {} folds, expected 2 to 1000", options.folds));
}

std::uint32_t joint_group_count(std::uint32_t bins, bool has_missing_item) {
  std::uint32_t const missing = has_missing_item ? 1 : 0;
  return std::min(joint_groups, bins - missing) + missing;
}

std::uint32_t joint_group_of(std::uint8_t bin, std::uint32_t bins, bool has_missing_item) {
  std::uint32_t const values = bins - (has_missing_item ? 1 : 0);
  std::uint32_t const groups = std::min(joint_groups, values);
  return bin < values ? bin * groups / values : groups;
}

joint_documents joint_documents_of(context const& ctx, datasets::discretizer const& cuts,
                                   datasets::dataset const& documents) {
  joint_documents made{datasets::apply_discretizer(ctx, documents, cuts), {}};
  datasets::discretizer_options const& how = cuts.options;
  datasets::dataset const normalized =
      z_scores(ctx, documents, cuts.names, how.missing, how.unlisted);
  std::vector<std::uint32_t> const& features = made.items.features;
  made.z.resize(documents.size() * features.size());
  double const unlisted = datasets::unlisted_value(how.missing, how.unlisted);
  parallel_for(ctx, documents.size(), 256, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d)
      datasets::for_each_value(normalized.document(d), features, unlisted,
                               [&](std::size_t k, double z) {
                                 made.z[d * features.size() + k] = std::isnan(z) ? 0 : z;
                               });
  });
  return made;
}

namespace {

void expect_joint_items(joint_member const& by, datasets::binned_dataset const& items) {
  if (items.features != by.features || items.item_begin != by.item_begin)
    throw usage_error(
        "the items of the documents differ from those of the joint member, expected the same cuts");
}

/// As joint_parts, into `parts`.
void put_parts(joint_member const& by, joint_documents const& documents, std::size_t d,
               std::vector<double>& parts) {
  datasets::binned_dataset const& items = documents.items;
  parts.assign(by.features.size() + by.pairs.size(), 0);
  for (std::size_t f = 0; f < by.features.size(); ++f) {
    parts[f] = documents.z_of(d)[f] * value_of_weight(by.weights[f]);
    if (std::uint8_t const code = items.code(f, d); code != datasets::no_item)
      parts[f] += value_of_points(by.points[items.item_begin[f] + code]);
  }
  bool const missing = has_missing_items(by);
  for (std::size_t p = 0; p < by.pairs.size(); ++p) {
    joint_pair const& pair = by.pairs[p];
    std::uint8_t const first = items.code(pair.first, d), second = items.code(pair.second, d);
    if (first == datasets::no_item || second == datasets::no_item) continue;
    std::uint32_t const bins = items.bins(pair.second);
    std::size_t const cell =
        joint_group_of(first, items.bins(pair.first), missing) * joint_group_count(bins, missing) +
        joint_group_of(second, bins, missing);
    parts[by.features.size() + p] = value_of_points(pair.points[cell]);
  }
}

}  // namespace

std::vector<double> joint_parts(joint_member const& by, joint_documents const& documents,
                                std::size_t d) {
  expect_joint_items(by, documents.items);
  std::vector<double> parts;
  put_parts(by, documents, d, parts);
  return parts;
}

std::vector<double> score(context const& ctx, joint_member const& by,
                          joint_documents const& documents) {
  expect_joint_items(by, documents.items);
  std::vector<double> scores(documents.items.documents);
  parallel_for(ctx, scores.size(), 256, [&](std::size_t begin, std::size_t end, int) {
    std::vector<double> parts;
    for (std::size_t d = begin; d < end; ++d) {
      put_parts(by, documents, d, parts);
      for (double const part : parts) scores[d] += part;
    }
  });
  return scores;
}

}  // namespace rulerank::l2r
