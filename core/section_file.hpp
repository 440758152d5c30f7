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

// The file of an index: 64 bytes of prefix, sections that begin at multiples of 64 bytes, and a
// header in JSON that names them, with their checksums. Numbers are little-endian.
namespace rulerank::inline v0 {

/// What one kind of index has.
struct section_kind {
  std::string_view format;                     ///< stands in the header
  std::size_t version;                         ///< likewise; another one is refused
  std::string_view written_by;                 ///< in messages: `rulerank ...`
  std::span<std::string_view const> sections;  ///< their names, in the order in which they lie
};

/// Where the sections lie, from their sizes in bytes.
class section_layout {
 public:
  explicit section_layout(std::span<std::size_t const> bytes);
  /// Where the last section ends, rounded up: the header begins there.
  std::size_t end() const noexcept { return end_; }
  std::span<std::byte> of(std::span<std::byte> file, std::size_t section) const {
    return file.subspan(begin_[section], bytes_[section]);
  }

 private:
  std::vector<std::size_t> bytes_;
  std::vector<std::size_t> begin_;
  std::size_t end_;
};

/// The header of sections that are filled: `what`, and where they lie and their checksums.
std::string section_header(context const& ctx, section_kind const& kind,
                           section_layout const& layout, std::span<std::byte> sections,
                           nlohmann::ordered_json const& what);
/// Writes the prefix before the sections and the header behind them. `file`: all of it.
void finish_section_file(std::span<std::byte> file, section_layout const& layout,
                         std::string_view header);

/// Writes such a file, whole or not at all: `bytes` are the sizes of its sections, and fill(s, to)
/// writes section s, in their order. Throws `output_error`, and what `fill` throws.
void write_section_file(context const& ctx, section_kind const& kind, std::string const& path,
                        std::span<std::size_t const> bytes, nlohmann::ordered_json const& what,
                        std::function<void(std::size_t, std::span<std::byte>)> const& fill);

/// An index that was checked: its header, and its sections in the order of their kind.
struct read_sections {
  nlohmann::json header;
  std::vector<std::span<std::byte const>> sections;
  std::span<std::byte const> bytes;         ///< all of them, the sections' among them
  std::shared_ptr<std::byte const> memory;  ///< where they were read into; null: the caller's
};
/// Checks an index in memory, which is of one of the versions of its format, at least one. Throws
/// `error` naming it where the bytes are no index of this kind and version, or differ from the ones
/// that were written.
read_sections check_section_file(context const& ctx, std::span<section_kind const> versions,
                                 std::span<std::byte const> bytes, std::string const& name);
/// Reads a file once, into memory of this process, and checks the bytes that it read: what happens
/// to the file afterwards changes nothing. Throws `error` as above, where the file cannot be read
/// or is no regular file, and where the process can take less memory than the file has bytes.
read_sections read_section_file(context const& ctx, std::span<section_kind const> versions,
                                std::string const& path);

/// SHA-256 of a file's prefix and header, which have the checksums of all sections: two files that
/// `read_section_file` lets pass and that differ, differ here. Empty for what is no such file, and
/// where prefix or header are damaged. Throws `error` where the file cannot be read.
std::string sha256_of_section_header(std::string const& path);

/// A member of a header that is a count. Throws `usage_error` or a JSON exception for anything
/// else.
std::size_t count_at(nlohmann::json const& json, std::string_view name);

}  // namespace rulerank
