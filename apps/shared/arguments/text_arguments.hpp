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

/// Forms of texts; `vectors`: svmlight, the last one, too.
std::span<named_value<datasets::text_format> const> text_formats(bool vectors);

/// How text is read and indexed: --collection-format --labels --text-fields --query-fields
/// --id-field --encoding --number-by-position --stop-words --stemmer --no-fold --min-length
/// --max-length --no-numbers --weights --tf --weighting --k1 --b
/// --min-documents --max-share.
struct text_arguments {
  std::string format = "auto";
  bool vectors = false;  ///< svmlight is a format too: to be set before anything is added
  std::string weights;   ///< empty: `smart`, or tf-idf where `tf` is given; of vectors none
  std::string tf;        ///< empty: raw
  std::string smart{knn::default_smart_weighting};
  CLI::Option* smart_option = nullptr;
  bool no_fold = false;
  bool no_numbers = false;
  knn::text_index_options index;

  /// The options that only matter where an index is made are a group of their own, so that a verb
  /// can refuse them beside an index that exists.
  void add_reading_to(CLI::App& verb);
  void add_index_to(CLI::App& verb);
  /// Throws `usage_error` for words that are not known. Warnings of the reading go to the session.
  knn::text_index_options options(session& owner) const;
  /// The file of the stop list, where it is one. Throws `usage_error` for one without a name.
  std::optional<session::named_input> stop_list() const;
  /// The names of what `add_index_to` adds.
  static std::vector<std::string> index_options();
  /// Those of them that make no sense for vectors.
  static std::vector<std::string> word_options();
  /// The metric of --metric, or for `auto` the one that the weights are meant for.
  static knn::similarity metric_from(std::string const& name, knn::similarity of_weights);
  /// Throws `usage_error` for options of weights that say the same twice.
  void check_weights(CLI::App const& verb) const;

 private:
  bool smart_is_given() const { return smart_option != nullptr && smart_option->count() > 0; }
  knn::weighting_options weighting_from_names(bool of_vectors) const;
};

/// Throws `usage_error` for an output, or --manifest, at or below an input that is a folder of
/// documents: the next run would read it.
void expect_outside(session const& owner, std::span<session::named_input const> inputs,
                    std::span<session::named_output const> outputs);

/// Warns of an index whose cut-offs and stop words left no term: it finds nothing.
void warn_without_terms(session& owner, knn::text_index const& index);

}  // namespace rulerank::apps
