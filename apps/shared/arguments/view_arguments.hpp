#pragma once

#include "apps/shared/session/session.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "labelling/document_texts.hpp"
#include "labelling/question_view.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace rulerank::inline v0::apps {

/// The documents to choose from.
struct label_pool {
  datasets::dataset const& train;
  datasets::binned_dataset const& binned;
  datasets::discretizer const& cuts;
};

/// Options of a document's view for labellers: --show --topics --show-format --labels --text-fields
/// --query-fields --id-field --number-by-position --other-texts --stemmer --names --neighbours; and
/// --max-label, the largest label that they may give.
struct view_arguments {
  std::string show;
  std::string topics;
  std::string format = "auto";
  bool labels = false;
  std::vector<std::string> text_fields, query_fields;
  std::string id_field, encoding;
  std::optional<bool> number_by_position;
  bool other_texts = false;
  std::string stemmer = "english";
  std::string names;
  std::int32_t max_label = 4;
  std::size_t neighbours = 3;

  void add_to(CLI::App& verb);
  /// Throws `usage_error` for conflicting or unknown options.
  void check() const;
  /// The input files.
  std::vector<session::named_input> files() const;
};

/// The labels' names and the guidelines on the page: --label-names --guidelines.
struct page_arguments {
  std::string label_names;  ///< of the labels 0, 1, ..., separated by commas; empty: none
  /// The names, without duplicates; empty: none. Throws `usage_error` for unusable names, such as
  /// 1 for the label 0.
  std::vector<std::string> names() const;
  std::string guidelines;  ///< path; empty: none

  /// Adds the options; they exclude --max-label.
  void add_to(CLI::App& verb);
};

/// Returns the names of --label-names. Throws `usage_error` for an empty or a repeated name, and
/// for a single one.
std::vector<std::string> parse_label_names(std::string const& text);

/// The views of a pool, and their texts.
struct pool_views {
  std::unique_ptr<labelling::document_texts> texts;  ///< null without --show
  std::unique_ptr<labelling::question_views> views;
};

/// Reads the texts and names. Warns of documents and queries without a text. The result keeps
/// references to the pool.
pool_views make_views(session& owner, view_arguments const& arguments, label_pool const& pool);

}  // namespace rulerank::apps
