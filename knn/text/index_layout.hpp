#pragma once

#include "core/context.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// The file of a text index: 64 bytes of prefix, sections that begin at multiples of 64 bytes, and a
// header in JSON that names them. Numbers are little-endian.
namespace rulerank::knn {

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
  count
};

/// How much there is of what an index holds.
struct index_counts {
  std::size_t documents = 0;
  std::size_t terms = 0;
  std::size_t postings = 0;
  std::size_t labels = 0;  ///< different ones
  std::size_t term_bytes = 0, id_bytes = 0, label_bytes = 0;
};

/// Where the sections lie, from their sizes in bytes.
class index_layout {
 public:
  using sizes = std::array<std::size_t, static_cast<std::size_t>(section::count)>;
  explicit index_layout(sizes const& bytes);
  /// Where the last section ends, rounded up: the header begins there.
  std::size_t end() const noexcept { return end_; }
  std::span<std::byte> of(std::span<std::byte> file, section s) const {
    return file.subspan(begin_[static_cast<std::size_t>(s)], bytes_[static_cast<std::size_t>(s)]);
  }
  template <class T>
  std::span<T> of(std::span<std::byte> file, section s) const {
    std::span<std::byte> const bytes = of(file, s);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  sizes bytes_;
  sizes begin_;
  std::size_t end_;
};

/// The sizes of the sections of an index.
index_layout::sizes sizes_of(index_counts const& of);

/// The header of sections that are filled: `what`, and where they lie and their checksums.
std::string index_header(context const& ctx, index_layout const& layout,
                         std::span<std::byte> sections, nlohmann::ordered_json what);
/// Writes the prefix before the sections and the header behind them. `file`: all of it.
void finish_index(std::span<std::byte> file, index_layout const& layout, std::string_view header);

/// A file that was read: its header and its sections.
struct read_index {
  nlohmann::json header;
  std::array<std::span<std::byte const>, static_cast<std::size_t>(section::count)> sections;
  template <class T>
  std::span<T const> of(section s) const {
    std::span<std::byte const> const bytes = sections[static_cast<std::size_t>(s)];
    return {reinterpret_cast<T const*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};
/// Throws `error` where the bytes are no index of this version, or not the ones that were written.
read_index check_index(context const& ctx, std::span<std::byte const> file,
                       std::string const& name);

}  // namespace rulerank::knn
