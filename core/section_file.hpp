#pragma once

#include "core/context.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// The file of an index: a prefix of 64 bytes, sections that begin at multiples of 64 bytes, and a
// JSON header with the sections' places and checksums. Numbers are little-endian.
namespace rulerank::inline v0 {

/// The contents of one kind of index.
struct section_kind {
  std::string_view format;                     ///< named in the header
  std::size_t version;                         ///< in the header; other versions are rejected
  std::string_view written_by;                 ///< in messages: `rulerank ...`
  std::span<std::string_view const> sections;  ///< their names, in file order
};

/// The places of the sections, from their sizes in bytes.
class section_layout {
 public:
  explicit section_layout(std::span<std::size_t const> bytes);
  /// The end of the last section, rounded up, where the header begins.
  std::size_t end() const noexcept { return end_; }
  std::span<std::byte> of(std::span<std::byte> file, std::size_t section) const {
    return file.subspan(begin_[section], bytes_[section]);
  }

 private:
  std::vector<std::size_t> bytes_;
  std::vector<std::size_t> begin_;
  std::size_t end_;
};

/// Returns the header of filled sections: `what`, and the sections' places and checksums.
std::string section_header(context const& ctx, section_kind const& kind,
                           section_layout const& layout, std::span<std::byte> sections,
                           nlohmann::ordered_json const& what);
/// Writes the prefix before the sections and the header after them. `file`: all bytes of the file.
void finish_section_file(std::span<std::byte> file, section_layout const& layout,
                         std::string_view header);

/// Writes an index file, whole or not at all. `bytes` are the sizes of its sections, and fill(s,
/// to) writes section s, in order. Throws `output_error`, and what `fill` throws.
void write_section_file(context const& ctx, section_kind const& kind, std::string const& path,
                        std::span<std::size_t const> bytes, nlohmann::ordered_json const& what,
                        std::function<void(std::size_t, std::span<std::byte>)> const& fill);

/// A checked index: its header, and its sections in the order of their kind.
struct read_sections {
  nlohmann::json header;
  std::vector<std::span<std::byte const>> sections;
  std::span<std::byte const> bytes;         ///< the whole file, including the sections
  std::shared_ptr<std::byte const> memory;  ///< the owner of `bytes`; null: the caller owns them
};
/// Checks an index in memory against the versions of its format, at least one. Throws `error`
/// naming it if the bytes are no index of this kind and version, or differ from those written.
read_sections check_section_file(context const& ctx, std::span<section_kind const> versions,
                                 std::span<std::byte const> bytes, std::string const& name);
/// Reads a file once into memory and checks the bytes that it read, so later changes of the file
/// have no effect. Throws `error` as `check_section_file`, if the file is unreadable or not a
/// regular file, and if the file is larger than the memory that the process can allocate.
read_sections read_section_file(context const& ctx, std::span<section_kind const> versions,
                                std::string const& path);

/// Returns the SHA-256 of a file's prefix and header, which include the checksums of all sections:
/// two different files that `read_section_file` accepts differ here. Empty if the file is no index,
/// or its prefix or header is damaged. Throws `error` if the file cannot be read.
std::string sha256_of_section_header(std::string const& path);

/// Returns a member of a header that is a count. Throws `usage_error` or a JSON exception for
/// anything else.
std::size_t count_at(nlohmann::json const& json, std::string_view name);

}  // namespace rulerank
