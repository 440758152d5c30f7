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

// Fits and scores a joint_member: lines and points together (docs/reference/components.md).
namespace rulerank::inline v0::l2r {

/// Documents as a joint member needs them. The features are those for which the cuts make items.
struct joint_documents {
  datasets::binned_dataset items;
  /// [documents x features] the z-score within the query; 0 where the value is missing.
  std::vector<double> z;

  double const* z_of(std::size_t d) const { return z.data() + d * items.feature_count(); }
};
joint_documents joint_documents_of(context const& ctx, datasets::discretizer const& cuts,
                                   datasets::dataset const& documents);

/// The labelled training documents of a member; `queries` cover them.
struct joint_training {
  std::span<datasets::query_group const> queries;
  joint_documents documents;
  std::shared_ptr<datasets::discretizer const> cuts;  ///< that made the documents' items
};

/// Limit on the system's size: one of this size takes 0.13 GB, and each fold keeps one.
inline constexpr std::size_t most_joint_unknowns = std::size_t{1} << 12;
/// Limit on a query's labelled documents, whose pairs are weighted in a table.
inline constexpr std::size_t most_joint_list = std::size_t{1} << 13;

/// Fits weights, points and tables (joint_options). Sums run in a fixed order: the same bits for
/// any number of threads. Throws `usage_error` for invalid options, for more than
/// most_joint_unknowns weights and points, and for a query of more than most_joint_list documents.
joint_member fit_joint(context const& ctx, joint_training const& training,
                       joint_options const& options);

/// The contributions to the score of document d: those of the features, then those of the feature
/// pairs. Added in this order they give the score. Throws `usage_error` if the documents' items
/// differ from the member's.
std::vector<double> joint_parts(joint_member const& by, joint_documents const& documents,
                                std::size_t d);
/// The scores [documents].
std::vector<double> score(context const& ctx, joint_member const& by,
                          joint_documents const& documents);

/// A table of two features has at most this many groups of neighbouring bins per side, plus one for
/// missing values.
inline constexpr std::uint32_t joint_groups = 5;
/// The number of groups of a feature with `bins` bins, and the group of one bin.
std::uint32_t joint_group_count(std::uint32_t bins, bool has_missing_item);
std::uint32_t joint_group_of(std::uint8_t bin, std::uint32_t bins, bool has_missing_item);

}  // namespace rulerank::l2r
