#pragma once

#include "apps/shared/session/session.hpp"
#include "core/named_values.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"

#include <optional>
#include <span>
#include <string>

namespace rulerank::inline v0::apps {

/// --text-fields --query-fields --id-field --encoding.
void add_fields_to(CLI::App& verb, std::vector<std::string>& text_fields,
                   std::vector<std::string>& query_fields, std::string& id_field,
                   std::string& encoding);

inline constexpr char const* stemmer_help =
    "Language of the words, whose endings are removed: english, german, ..., porter, or none";

/// --stemmer, whose values are `none` and the languages of libstemmer.
void add_stemmer_to(CLI::App& verb, std::string& stemmer, std::string const& help);

/// The formats of texts; `vectors`: includes svmlight, as the last one.
std::span<named_value<datasets::text_format> const> text_formats(bool vectors);

/// How text is read and indexed: --collection-format --labels --text-fields --query-fields
/// --id-field --encoding --number-by-position --stop-words --stemmer --no-fold --min-length
/// --max-length --no-numbers --weights --tf --weighting --k1 --b --min-documents --max-share.
struct text_arguments {
  std::string format = "auto";
  bool vectors = false;  ///< svmlight is allowed; set it before adding options
  std::string weights;   ///< empty: `smart`, or tf-idf if `tf` is given; none for vectors
  std::string tf;        ///< empty: raw
  std::string smart{knn::default_smart_weighting};
  CLI::Option* smart_option = nullptr;
  bool no_fold = false;
  bool no_numbers = false;
  knn::text_index_options index;

  /// Options that only matter when an index is made form a separate group, so that a verb can
  /// reject them for an existing index.
  void add_reading_to(CLI::App& verb);
  void add_index_to(CLI::App& verb);
  /// Throws `usage_error` for unknown keywords. Sends warnings of the reading to the session.
  knn::text_index_options options(session& owner) const;
  /// The file of the stop list, if it is a file. Throws `usage_error` for an empty name.
  session::named_input stop_list() const;
  /// The names of the options that `add_index_to` adds.
  static std::vector<std::string> index_options();
  /// The names in index_options() that are invalid for vectors.
  static std::vector<std::string> word_options();
  /// The metric of --metric; for `auto` the one that suits the weights.
  static knn::similarity metric_from(std::string const& name, knn::similarity of_weights);
  /// Throws `usage_error` for redundant options of weights.
  void check_weights(CLI::App const& verb) const;

 private:
  bool smart_is_given() const { return smart_option != nullptr && smart_option->count() > 0; }
  knn::weighting_options weighting_from_names(bool of_vectors) const;
};

/// Throws `usage_error` for an output, or --manifest, inside an input folder of documents: the next
/// run would read it.
void expect_outside(session const& owner, std::span<session::named_input const> inputs,
                    std::span<session::named_output const> outputs);

/// Warns of an index without terms after cut-offs and stop words: it finds nothing.
void warn_without_terms(session& owner, knn::text_index const& index);

}  // namespace rulerank::apps
