#pragma once
// A collection of documents, read once and counted: how often each term is in each document.

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

/// Terms of a document in byte order, each once, with their counts.
using counted_terms = std::vector<std::pair<std::string, double>>;

/// A document's terms. Where fields are counted, also how often each field with a name has them.
struct counted_document {
  struct field {
    std::string_view name;           ///< of the document that was counted
    std::vector<term_count> counts;  ///< `term` is an index into `terms`, ascending
  };
  counted_terms terms;
  std::vector<field> fields;         ///< in the order of the document
  std::vector<std::string> words;    ///< for a dictionary: the different ones, folded
  std::optional<std::uint32_t> sum;  ///< where fields are counted: `datasets::sum_of_text`
};

enum class counting { documents, documents_and_fields };

/// Counts the terms of documents, with an analyzer a thread; of vectors, takes the values.
class document_counter {
 public:
  document_counter(context const& ctx, text_index_options const& options,
                   counting what = counting::documents);
  std::vector<counted_document> count(context const& ctx,
                                      std::span<datasets::text_document const> documents);

 private:
  std::vector<analyzer> of_thread_;  // none for vectors
  counting what_;
  bool words_;
};

/// Strings one behind the other.
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

/// What is known of a collection of which other processes have the other parts.
struct other_parts {
  std::uint64_t first = 0;                    ///< document of the collection that is the first here
  std::uint64_t documents = 0;                ///< of all parts
  std::vector<std::uint32_t> frequency_here;  ///< [terms] `document_frequency` of this part
};

/// What is kept of a collection that was read once. Terms are numbered in the order in which they
/// came.
struct collection_counts {
  boost::unordered_flat_map<std::string, std::uint32_t, string_hash, std::equal_to<>> number_of;
  std::vector<std::uint32_t> document_frequency;  ///< [terms]
  std::vector<double> collection_frequency;       ///< [terms]
  /// For a dictionary: how many documents have a word.
  boost::unordered_flat_map<std::string, std::uint32_t, string_hash, std::equal_to<>> documents_of;
  string_store ids, label_names;
  std::vector<std::uint32_t> label_of;  ///< [documents] into label_names
  count_spill rows;                     ///< [documents]
  std::vector<field_counts> fields;     ///< in the order in which they came; a row a document
  std::vector<std::uint32_t> sums;      ///< [documents] of their texts, where fields are counted
  /// Where other processes have the other parts: then terms, their frequencies and `documents_of`
  /// are those of all.
  std::optional<other_parts> others;

  /// `counts_in_memory`: entries of `rows`; more of them go to the disk.
  explicit collection_counts(std::size_t counts_in_memory) : rows(counts_in_memory) {}
  std::size_t documents() const noexcept { return label_of.size(); }
  std::size_t documents_of_all() const noexcept { return others ? others->documents : documents(); }
  void add(datasets::text_document const& document, counted_document& counted);
  /// After the last document: completes the fields' rows.
  void finish();
  /// Then, of a part: adds what the other processes counted.
  void add_others(process_group const& group);

 private:
  sparse_matrix& counts_of_field(std::string_view name);
  std::map<std::string, std::uint32_t> labels_;
  std::vector<term_count> row_;
};

/// Where the documents of a collection come from.
struct collection_source {
  collection_source(std::string path)
      : name(std::move(path)) {}  // NOLINT: a path stands for itself
  collection_source(std::string message_name, std::span<datasets::text_document const> given)
      : name(std::move(message_name)), documents(given) {}

  std::string name;  ///< the path that is read, or what stands in messages
  std::optional<std::span<datasets::text_document const>> documents{};  ///< in memory
};

/// Throws `error` for a field of the name that all fields together have.
[[noreturn]] void throw_reserved_field(std::string const& collection);

/// Reads and counts a collection into `counts`, which is empty; throws what
/// `datasets::read_documents` throws and, where fields are counted, `error` for a field that is
/// named as the whole document is. `group`: has the other parts of the collection, or null.
void count_collection(context const& ctx, collection_source const& collection,
                      text_index_options const& options, counting what, collection_counts& counts,
                      process_group const* group = nullptr);

}  // namespace rulerank::knn
