#include "core/section_file.hpp"

#include "core/aligned.hpp"
#include "core/crc32.hpp"
#include "core/error.hpp"
#include "core/file_reader.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "core/machine.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "core/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <zlib.h>

namespace rulerank::inline v0 {

namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

struct prefix {
  char magic[16];
  std::uint64_t header_begin;
  std::uint64_t header_size;
  std::uint64_t file_size;
  std::uint32_t header_crc;
  std::uint32_t own_crc;  // of the preceding bytes
};
static_assert(sizeof(prefix) == 48);
constexpr char magic[16] = "rulerank-index\n";
constexpr std::size_t prefix_size = alignment;
constexpr std::string_view header_problem = "the header of this index is invalid";
static_assert(sizeof(prefix) <= prefix_size);

std::uint32_t own_crc_of(prefix const& p) {
  return crc32_of(std::as_bytes(std::span(&p, 1)).first(offsetof(prefix, own_crc)));
}

/// The bytes of an index. A file is read piece by piece on demand.
struct index_bytes {
  std::span<std::byte const> all;
  /// Empty: the bytes are in memory.
  std::function<void(std::size_t begin, std::size_t size)> read;

  /// Returns a piece; no byte is requested twice.
  std::span<std::byte const> at(std::size_t begin, std::size_t size) const {
    if (read) read(begin, size);
    return all.subspan(begin, size);
  }
};

/// Returns the checksum of `size` bytes from `begin` on, computed in parallel from the checksums of
/// pieces.
std::uint32_t crc_of(context const& ctx, index_bytes const& bytes, std::size_t begin,
                     std::size_t size) {
  constexpr std::size_t piece_size = std::size_t{4} << 20;
  auto const size_of = [&](std::size_t i) { return std::min(piece_size, size - i * piece_size); };
  std::vector<std::uint32_t> pieces((size + piece_size - 1) / piece_size);
  parallel_for(ctx, pieces.size(), 1, [&](std::size_t first, std::size_t last, int) {
    for (std::size_t i = first; i < last; ++i)
      pieces[i] = crc32_of(bytes.at(begin + i * piece_size, size_of(i)));
  });
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    crc =
        static_cast<std::uint32_t>(crc32_combine(crc, pieces[i], static_cast<z_off_t>(size_of(i))));
  return crc;
}

/// Returns the prefix of a file that has its full size.
prefix checked_prefix(section_kind const& kind, index_bytes const& file, std::string const& name) {
  auto const fail = [&](std::string_view what) { throw error({name, 1, 1}, what); };
  prefix p{};
  std::size_t const size = file.all.size();
  auto const begin = file.at(0, std::min(size, prefix_size));
  if (size < prefix_size || std::memcmp(begin.data(), magic, sizeof magic) != 0)
    fail(fmt::format("not an index of rulerank, expected a file that `{}` wrote", kind.written_by));
  std::memcpy(&p, begin.data(), sizeof p);
  if (p.own_crc != own_crc_of(p))
    fail("the first bytes of this index are damaged; make the index again");
  if (p.file_size != size)
    fail(fmt::format("found an index of {}, expected {}: the file was cut short or extended",
                     counted(size, "byte"), p.file_size));
  if (p.header_begin < prefix_size || p.header_begin > size ||
      p.header_size != size - p.header_begin ||
      p.header_crc != crc32_of(file.at(p.header_begin, p.header_size)))
    fail("the header of this index is damaged; make the index again");
  return p;
}

/// Returns the version of the format that a header names.
section_kind const& kind_of(nlohmann::json const& header, std::span<section_kind const> versions,
                            std::string const& name) {
  auto const fail = [&](std::string_view what) { throw error({name, 1, 1}, what); };
  std::size_t const version = count_at(header, "version");
  std::string const format = header.at("format");
  if (format != versions.front().format)
    fail(fmt::format("found a {}, expected a {}", rulerank::quoted(format),
                     versions.front().format));
  auto const at = std::ranges::find(versions, version, &section_kind::version);
  if (at != versions.end()) return *at;
  std::string expected;
  for (section_kind const& kind : versions)
    expected += fmt::format("{}{}", expected.empty() ? "" : " or ", kind.version);
  throw error({name, 1, 1},
              fmt::format("found an index of version {}, expected {}; make the index again",
                          version, expected));
}

}  // namespace

section_layout::section_layout(std::span<std::size_t const> bytes)
    : bytes_(bytes.begin(), bytes.end()) {
  std::size_t at = prefix_size;
  for (std::size_t const size : bytes_) {
    begin_.push_back(at);
    at += round_up(size, alignment);
  }
  end_ = at;
}

std::string section_header(context const& ctx, section_kind const& kind,
                           section_layout const& layout, std::span<std::byte> sections,
                           nlohmann::ordered_json const& what) {
  nlohmann::ordered_json header{{"format", kind.format}, {"version", kind.version}};
  header.update(what);
  nlohmann::ordered_json& list = header["sections"] = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < kind.sections.size(); ++s) {
    std::span<std::byte> const bytes = layout.of(sections, s);
    list.push_back({{"name", kind.sections[s]},
                    {"begin", bytes.data() - sections.data()},
                    {"bytes", bytes.size()},
                    {"crc32", crc_of(ctx, {bytes, {}}, 0, bytes.size())}});
  }
  return header.dump();
}

void finish_section_file(std::span<std::byte> file, section_layout const& layout,
                         std::string_view header) {
  prefix p{};
  std::memcpy(p.magic, magic, sizeof magic);
  p.header_begin = layout.end();
  p.header_size = header.size();
  p.file_size = file.size();
  p.header_crc = crc32_of(std::as_bytes(std::span(header)));
  p.own_crc = own_crc_of(p);
  std::memcpy(file.data(), &p, sizeof p);
  std::memcpy(file.data() + layout.end(), header.data(), header.size());
}

void write_section_file(context const& ctx, section_kind const& kind, std::string const& path,
                        std::span<std::size_t const> bytes, nlohmann::ordered_json const& what,
                        std::function<void(std::size_t, std::span<std::byte>)> const& fill) {
  section_layout const layout(bytes);
  // An upper bound for the header with its checksums.
  std::size_t const header_size = round_up(what.dump().size() + 1024, alignment);
  output_file out(path);
  std::span<std::byte> const file = out.map(layout.end() + header_size);
  for (std::size_t s = 0; s < bytes.size(); ++s) fill(s, layout.of(file, s));
  std::string header = section_header(ctx, kind, layout, file, what);
  header.resize(header_size, ' ');
  finish_section_file(file, layout, header);
  out.commit();
}

namespace {

read_sections checked_sections(context const& ctx, std::span<section_kind const> versions,
                               index_bytes const& file, std::string const& name) {
  auto const fail = [&](std::string_view what) { throw error({name, 1, 1}, what); };
  prefix const p = checked_prefix(versions.front(), file, name);
  auto const* const text = reinterpret_cast<char const*>(file.all.data() + p.header_begin);
  read_sections read;
  read.bytes = file.all;
  return read_json({name, 1, 1}, header_problem, [&] {
    read.header = parse_json({text, p.header_size}, name, "an index's header");
    section_kind const& kind = kind_of(read.header, versions, name);
    nlohmann::json const& list = read.header.at("sections");
    auto const expect_zeros = [&](std::span<std::byte const> bytes) {
      if (std::ranges::any_of(bytes, [](std::byte byte) { return byte != std::byte{0}; }))
        fail("found data between the sections of this index, expected zeros");
    };
    expect_zeros(file.all.first(prefix_size).subspan(sizeof(prefix)));
    std::size_t at = prefix_size;
    for (std::size_t s = 0; s < kind.sections.size(); ++s) {
      std::size_t const begin = count_at(list.at(s), "begin");
      std::size_t const bytes = count_at(list.at(s), "bytes");
      if (list.at(s).at("name") != kind.sections[s] || begin % alignment != 0 || begin < at ||
          begin > p.header_begin || bytes > p.header_begin - begin)
        fail(fmt::format("the header of this index gives a wrong place of {}; make the index again",
                         kind.sections[s]));
      expect_zeros(file.at(at, begin - at));
      if (crc_of(ctx, file, begin, bytes) != count_at(list.at(s), "crc32"))
        fail(fmt::format("{} of this index are damaged; make the index again", kind.sections[s]));
      read.sections.push_back(file.all.subspan(begin, bytes));
      at = begin + bytes;
    }
    expect_zeros(file.at(at, p.header_begin - at));
    return read;
  });
}

/// Allocates memory for a file's bytes. Throws `error` if there is not enough.
std::shared_ptr<std::byte> memory_for(std::size_t size, std::string const& name) {
  void* const at = size <= free_memory() ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                         : MAP_FAILED;
  if (at == MAP_FAILED)
    throw error({name, 0, 0},
                fmt::format("found an index of {}, expected one that fits in free memory",
                            counted(size, "byte")));
  ::madvise(at, size, MADV_HUGEPAGE);  // a hint, without effect if huge pages are unavailable
  return {static_cast<std::byte*>(at), [size](std::byte* p) { ::munmap(p, size); }};
}

}  // namespace

read_sections check_section_file(context const& ctx, std::span<section_kind const> versions,
                                 std::span<std::byte const> bytes, std::string const& name) {
  return checked_sections(ctx, versions, {bytes, {}}, name);
}

read_sections read_section_file(context const& ctx, std::span<section_kind const> versions,
                                std::string const& path) {
  file_reader const file(path);
  std::size_t const size = file.expect_regular("an index");
  if (size == 0) throw error({path, 1, 1}, "found an empty file, expected an index");
  auto const memory = memory_for(size, path);
  auto const read = [&](std::size_t begin, std::size_t bytes) {
    if (file.read(memory.get() + begin, bytes, begin) < bytes)
      throw error({path, 0, 0},
                  "was cut short while it was read, expected the same file to the end");
  };
  read_sections sections = checked_sections(ctx, versions, {{memory.get(), size}, read}, path);
  sections.memory = memory;
  return sections;
}

std::string sha256_of_section_header(std::string const& path) {
  file_reader const file(path);
  std::string all(prefix_size, '\0');
  if (file.read(all.data(), prefix_size, 0) < prefix_size) return {};
  prefix p{};
  std::memcpy(&p, all.data(), sizeof p);
  if (std::memcmp(p.magic, magic, sizeof magic) != 0 || p.own_crc != own_crc_of(p) ||
      p.header_begin > p.file_size || p.header_size != p.file_size - p.header_begin ||
      p.file_size != file_state_of(path).size)
    return {};
  all.resize(prefix_size + p.header_size);
  if (file.read(all.data() + prefix_size, p.header_size, p.header_begin) < p.header_size ||
      p.header_crc != crc32_of(std::as_bytes(std::span(all)).subspan(prefix_size)))
    return {};
  return sha256_hex(all);
}

std::size_t count_at(nlohmann::json const& json, std::string_view name) {
  nlohmann::json const& value = json.at(name);
  if (!value.is_number_unsigned())
    throw usage_error(fmt::format("found {} {}, expected a count", name, json_shown(value)));
  return value.get<std::size_t>();
}

}  // namespace rulerank
