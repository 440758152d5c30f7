#pragma once

#include "datasets/discretizer.hpp"
#include "l2r/options.hpp"

#include <string>

namespace rulerank::l2r {

/// Everything that ranking needs: the cuts, the training documents as items, the scoring options.
struct model {
  datasets::discretizer discretizer;
  datasets::binned_dataset training;
  scoring_options options;
};

/// Model files are read by programs that know this version or a later one.
inline constexpr int model_version = 1;

/// One file: the line `rulerank-model VERSION SHA256` (of all that follows the line), a line of
/// JSON (cuts, options, sizes), then little-endian binary: the bin codes column by column, one byte
/// each, without padding, and the labels, four bytes each.
std::string to_bytes(model const& m);
/// Throws `error` naming `name` for a file that is not a model, is damaged or cut short, or was
/// written by a later version.
model model_from_bytes(std::string_view bytes, std::string const& name);

/// Appears whole or not at all; throws `output_error`.
void write_model(model const& m, std::string const& path);
model read_model(std::string const& path);

}  // namespace rulerank::l2r
