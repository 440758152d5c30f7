#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "l2r/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// A joint fit of lines and points (joint_member, docs/reference/components.md).
namespace rulerank::inline v0::l2r {

/// Documents as a joint member takes them. Features are those that the cuts make items of.
struct joint_documents {
  datasets::binned_dataset items;
  /// [documents x features] the z-score within the query; 0 where the value is missing.
  std::vector<double> z;

  double const* z_of(std::size_t d) const { return z.data() + d * items.feature_count(); }
};
joint_documents joint_documents_of(context const& ctx, datasets::discretizer const& cuts,
                                   datasets::dataset const& documents);

/// The labelled documents that a member is fitted to; `queries` cover them.
struct joint_training {
  std::span<datasets::query_group const> queries;
  joint_documents documents;
  std::shared_ptr<datasets::discretizer const> cuts;  ///< that made the documents' items
};

/// Larger systems are not solved: one of so many unknowns takes 0.13 GB, and one a fold is kept.
inline constexpr std::size_t most_joint_unknowns = std::size_t{1} << 12;
/// The pairs of a query's labelled documents are weighed in a table.
inline constexpr std::size_t most_joint_list = std::size_t{1} << 13;

/// Fits weights, points and tables (joint_options). All sums run in a fixed order: the same bits
/// for any number of threads. Throws `usage_error` for options that make no sense, more than
/// most_joint_unknowns weights and points, and a query of more than most_joint_list documents.
joint_member fit_joint(context const& ctx, joint_training const& training,
                       joint_options const& options);

/// The parts of the score of document d: first those of the features, then those of the pairs of
/// features. Added in this order they are the score. Throws `usage_error` where the documents have
/// other items than the member.
std::vector<double> joint_parts(joint_member const& by, joint_documents const& documents,
                                std::size_t d);
/// The scores [documents].
std::vector<double> score(context const& ctx, joint_member const& by,
                          joint_documents const& documents);

/// A table of two features has at most so many groups of neighbouring bins on each side, and one
/// more for missing values.
inline constexpr std::uint32_t joint_groups = 5;
/// The number of groups that a feature's bins make, and the group of one of them.
std::uint32_t joint_group_count(std::uint32_t bins, bool has_missing_item);
std::uint32_t joint_group_of(std::uint8_t bin, std::uint32_t bins, bool has_missing_item);

}  // namespace rulerank::l2r
