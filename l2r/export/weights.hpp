#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "l2r/export/export.hpp"
#include "l2r/model/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

// A linear member fitted with linear_scale::pool as weights of raw values, for engines that sum in
// float32 and take a feature without a value as 0.
namespace rulerank::inline v0::l2r {

struct raw_feature {
  std::uint32_t feature = 0;
  std::string name;
  float weight = 0;
};

struct weights_form {
  std::vector<raw_feature> features;
  double above_model = 0;  ///< the export's scores minus the model's
};

/// Whether a model is one linear member with linear_scale::pool.
bool has_raw_weights(model const& of);

/// Adds a sentence to `notes` for each difference of an engine to the model. Throws `usage_error`
/// for weights that float32 does not hold, and as export_model does for names.
weights_form weights_form_of(model const& of, export_options const& options,
                             std::vector<std::string>& notes);

/// The engine's scores, from the model's point of view (without `above_model`), and how far float32
/// may move each from the sum of the raw values.
struct weighted_scores {
  std::vector<double> scores, within;
};
weighted_scores scores_of(context const& ctx, weights_form const& form,
                          datasets::dataset const& documents);

/// For the plugins of Elasticsearch and OpenSearch: model/linear.
std::string write_plugin_weights(weights_form const& form, export_options const& options);
/// LinearModel.
std::string write_solr_weights(weights_form const& form, export_options const& options);

}  // namespace rulerank::l2r
