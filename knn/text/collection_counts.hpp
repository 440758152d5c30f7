#pragma once
// Reads a collection of documents once and counts the terms of each document.

#include "core/context.hpp"
#include "knn/text/count_spill.hpp"
#include "knn/text/text_index.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace rulerank::inline v0::knn {

/// The terms of a document in byte order, without duplicates, with their counts.
using counted_terms = std::vector<std::pair<std::string, double>>;

/// The terms of a document; if fields are counted, also the counts in each named field.
struct counted_document {
  struct field {
    std::string_view name;           ///< refers to the counted document
    std::vector<term_count> counts;  ///< `term` is an ascending index into `terms`
  };
  counted_terms terms;
  std::vector<field> fields;         ///< in the order of the document
  std::vector<std::string> words;    ///< distinct folded words, for a dictionary
  std::optional<std::uint32_t> sum;  ///< `datasets::sum_of_text`, if fields are counted
};

enum class counting { documents, documents_and_fields };

/// Counts the terms of documents with one analyzer per thread. For vectors, copies the values.
class document_counter {
 public:
  document_counter(context const& ctx, text_index_options const& options,
                   counting what = counting::documents);
  std::vector<counted_document> count(context const& ctx,
                                      std::span<datasets::text_document const> documents);

 private:
  std::vector<analyzer> of_thread_;  // one per thread; none for vectors
  counting what_;
  bool words_;
};

/// Concatenated strings.
struct string_store {
  std::vector<char> bytes;
  std::vector<std::uint64_t> begin{0};
  std::size_t size() const noexcept { return begin.size() - 1; }
  void push(std::string_view s) {
    bytes.insert(bytes.end(), s.begin(), s.end());
    begin.push_back(bytes.size());
  }
};

struct string_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

/// Facts about the parts of a collection that other processes hold.
struct other_parts {
  std::uint64_t first = 0;      ///< the collection's number of the first document here
  std::uint64_t documents = 0;  ///< total of all parts
  std::vector<std::uint32_t> frequency_here;  ///< [terms] `document_frequency` of this part alone
};

/// The counts of a collection after one pass. Terms are numbered in the order of their first
/// occurrence.
struct collection_counts {
  boost::unordered_flat_map<std::string, std::uint32_t, string_hash, std::equal_to<>> number_of;
  std::vector<std::uint32_t> document_frequency;  ///< [terms]
  std::vector<double> collection_frequency;       ///< [terms]
  /// For a dictionary: the number of documents that contain a word.
  boost::unordered_flat_map<std::string, std::uint32_t, string_hash, std::equal_to<>> documents_of;
  string_store ids, label_names;
  std::vector<std::uint32_t> label_of;  ///< [documents] into label_names
  count_spill rows;                     ///< [documents]
  /// In the order of their first occurrence; one row per document.
  std::vector<field_counts> fields;
  std::vector<std::uint32_t> sums;  ///< [documents] checksums of the texts, if fields are counted
  /// Set if other processes hold other parts. Terms, their frequencies and `documents_of` then
  /// cover all parts.
  std::optional<other_parts> others;

  /// `counts_in_memory`: entries of `rows` in memory; more are written to disk.
  explicit collection_counts(std::size_t counts_in_memory) : rows(counts_in_memory) {}
  std::size_t documents() const noexcept { return label_of.size(); }
  std::size_t documents_of_all() const noexcept { return others ? others->documents : documents(); }
  void add(datasets::text_document const& document, counted_document& counted);
  /// Called after the last document: completes the rows of the fields.
  void finish();
  /// Called after `finish` for a part: adds the counts of the other processes.
  void add_others(process_group const& group);

 private:
  sparse_matrix& counts_of_field(std::string_view name);
  std::map<std::string, std::uint32_t> labels_;
  std::vector<term_count> row_;
};

/// The documents of a collection: a path or documents in memory.
struct collection_source {
  collection_source(std::string path)
      : name(std::move(path)) {}  // NOLINT: a path stands for itself
  collection_source(std::string message_name, std::span<datasets::text_document const> given)
      : name(std::move(message_name)), documents(given) {}

  std::string name;  ///< the path to read, or the name for messages
  std::optional<std::span<datasets::text_document const>> documents{};  ///< in memory
};

/// Throws `error` for a field with the reserved name of the whole document.
[[noreturn]] void throw_reserved_field(std::string const& collection);

/// Reads and counts a collection into the empty `counts`. Throws what `datasets::read_documents`
/// throws. If fields are counted, throws `error` for a field with the reserved name of the whole
/// document. `group`: the processes with the other parts of the collection, or null.
void count_collection(context const& ctx, collection_source const& collection,
                      text_index_options const& options, counting what, collection_counts& counts,
                      process_group const* group = nullptr);

}  // namespace rulerank::knn
