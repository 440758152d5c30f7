#pragma once

#include "al/sampler.hpp"
#include "apps/shared/arguments/arguments.hpp"
#include "apps/shared/arguments/sampler_arguments.hpp"
#include "apps/shared/arguments/view_arguments.hpp"
#include "apps/shared/session/session.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

// Shared by `reduce` and `label`: reading a pool and writing the chosen lines.
namespace rulerank::inline v0::apps {

/// --out --ids --discretizer-out, the options of the sampling with --whole-queries, and how the
/// pool is read and cut.
struct reduction_arguments {
  std::string train;  ///< the pool; the verb adds its option
  std::string out;
  std::string ids;
  std::string model;
  reading_arguments reading;
  discretizer_arguments discretizer;
  sampler_arguments sampler;
  bool whole_queries = false;

  /// Adds the options of the sampling; `add_reading_to` adds the rest, after the verb's own.
  void add_sampling_to(CLI::App& verb);
  void add_reading_to(CLI::App& verb);
  std::vector<session::named_input> inputs(char const* pool_option) const;
  std::vector<session::named_output> outputs() const;
  /// The options with the pool's feature order, tie keys and, if whole queries are chosen, the
  /// queries.
  al::sampler_options options(session& owner, struct reduction_pool const& pool) const;
};

/// A pool after reading and cutting. Over several MPI ranks each may have a part of the documents'
/// lines, in rank order; cuts and items cover all documents.
struct reduction_pool {
  datasets::dataset train;
  bool is_part = false;   ///< `train` is this rank's part, and its documents list no features
  std::size_t first = 0;  ///< number of the first document of `train`
  datasets::discretizer cuts;
  datasets::binned_dataset binned;
  std::vector<std::size_t>
      query_begin;  ///< of all documents: the first of each query, and their end
  std::vector<std::uint64_t> tie_keys;  ///< of all documents, with --ties seeded; else empty
  label_pool view() const { return {train, binned, cuts}; }
  /// The index in `train` of a document with this number among all documents; empty: it is in
  /// another rank's part.
  std::optional<std::size_t> place_of(std::size_t document) const {
    if (document < first || document - first >= train.size()) return std::nullopt;
    return document - first;
  }
};
/// Reads the pool; with `in_parts`, a part of it if the file can be read in parts.
reduction_pool read_pool(session& owner, reduction_arguments const& arguments,
                         bool in_parts = false);

/// Opens outputs before the work, so that one that cannot be written fails at once. Over several
/// MPI ranks the first one writes.
class reduction_outputs {
 public:
  reduction_outputs(session const& owner, reduction_arguments const& arguments);
  /// Writes the lines of the documents (with the labels [N], if given and the pool is whole), the
  /// cuts and `ids`, as far as requested. All ranks must call it together for a pool in parts.
  void write(session& owner, reduction_pool const& pool, std::span<std::size_t const> documents,
             std::vector<std::int32_t> const& labels, std::string const& ids);

 private:
  output_file chosen_;
  std::optional<output_file> cuts_, ids_;
};

/// al::choices_table, with reasons if the budget is filled. All ranks must call it together for a
/// pool in parts.
std::string choices_table(session& owner, reduction_pool const& pool,
                          al::sampler_options const& options, al::sample const& sample);

nlohmann::ordered_json summary_of(label_pool const& pool, reduction_arguments const& arguments,
                                  al::sample const& sample);

/// Warns if ties follow the order of the file and that order predicts the labels.
void warn_of_order(session& owner, reduction_arguments const& arguments,
                   reduction_pool const& pool);
/// Reports how many documents were chosen, and where the rules ran out.
void say_what_was_chosen(session& owner, reduction_arguments const& arguments,
                         label_pool const& pool, al::sample const& sample);
/// Reports how many documents got no label, if any: somebody looked at more documents than were
/// chosen.
void say_what_was_skipped(session& owner, std::size_t asked, std::size_t skipped);

}  // namespace rulerank::apps
