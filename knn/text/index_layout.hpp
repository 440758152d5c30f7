#pragma once

#include "core/context.hpp"
#include "core/section_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// The sections of a text index file (core/section_file.hpp).
namespace rulerank::inline v0::knn {

enum class section : std::size_t {
  terms,
  term_begin,
  ids,
  id_begin,
  label_names,
  label_begin,
  label_of,
  document_frequency,
  row_begin,
  row_term,
  row_weight,
  norms,
  list_begin,
  list_document,
  list_weight,
  words,  ///< this and the next two: of an optional dictionary
  word_begin,
  word_documents,
  count
};

/// The sizes of an index.
struct index_counts {
  std::size_t documents = 0;
  std::size_t terms = 0;
  std::size_t postings = 0;
  std::size_t labels = 0;  ///< distinct labels
  std::size_t term_bytes = 0, id_bytes = 0, label_bytes = 0;
  std::optional<std::size_t> words;  ///< in the dictionary, if there is one
  std::size_t word_bytes = 0;
};

/// The places of the sections, from their sizes in bytes.
class index_layout {
 public:
  using sizes = std::array<std::size_t, static_cast<std::size_t>(section::count)>;
  /// `part`: the index is one of several.
  explicit index_layout(sizes const& bytes, bool dictionary = false, bool part = false)
      : sections_(bytes), dictionary_(dictionary), part_(part) {}
  bool is_part() const noexcept { return part_; }
  bool has_dictionary() const noexcept { return dictionary_; }
  section_layout const& sections() const noexcept { return sections_; }
  /// The end of the last section, rounded up, where the header begins.
  std::size_t end() const noexcept { return sections_.end(); }
  std::span<std::byte> of(std::span<std::byte> file, section s) const {
    return sections_.of(file, static_cast<std::size_t>(s));
  }
  template <class T>
  std::span<T> of(std::span<std::byte> file, section s) const {
    std::span<std::byte> const bytes = of(file, s);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  section_layout sections_;
  bool dictionary_;
  bool part_;
};

/// Returns the sizes in bytes of the sections of an index.
index_layout::sizes sizes_of(index_counts const& of);

/// Returns the header of filled sections: `what`, and the sections' places and checksums.
std::string index_header(context const& ctx, index_layout const& layout,
                         std::span<std::byte> sections, nlohmann::ordered_json const& what);
/// Writes the prefix before the sections and the header after them. `file`: all bytes of the file.
void finish_index(std::span<std::byte> file, index_layout const& layout, std::string_view header);

/// A checked index: its header and its sections.
struct read_index : read_sections {
  bool has_dictionary() const noexcept {
    return sections.size() > static_cast<std::size_t>(section::words);
  }
  bool is_part() const { return header.contains("of_documents"); }
  template <class T>
  std::span<T const> of(section s) const {
    std::span<std::byte const> const one = sections[static_cast<std::size_t>(s)];
    return {reinterpret_cast<T const*>(one.data()), one.size() / sizeof(T)};
  }
};
/// Checks an index in memory. Throws what `check_section_file` throws.
read_index check_index(context const& ctx, std::span<std::byte const> bytes,
                       std::string const& name);
/// Reads a file and checks it. Throws what `read_section_file` throws.
read_index read_index_file(context const& ctx, std::string const& path);

}  // namespace rulerank::knn
