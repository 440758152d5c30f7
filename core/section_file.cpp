#include "core/section_file.hpp"

#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/file_reader.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "core/process_group.hpp"
#include "core/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
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
  std::uint32_t own_crc;  // of the bytes before
};
static_assert(sizeof(prefix) == 48);
constexpr char magic[16] = "rulerank-index\n";
constexpr std::size_t prefix_size = alignment;
constexpr std::string_view header_problem = "the header of this index is not right";
static_assert(sizeof(prefix) <= prefix_size);

std::uint32_t crc_of(void const* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<unsigned char const*>(bytes), size));
}

/// Computed in parallel, from those of parts, of which each process does some.
std::uint32_t crc_of(context const& ctx, std::span<std::byte const> bytes) {
  constexpr std::size_t part_size = std::size_t{4} << 20;
  std::vector<std::uint32_t> parts((bytes.size() + part_size - 1) / part_size);
  index_range const own = own_range(ctx, parts.size());
  parallel_for(ctx, own.size(), 1, [&](std::size_t first, std::size_t last, int) {
    for (std::size_t i = own.begin + first; i < own.begin + last; ++i) {
      auto const part =
          bytes.subspan(i * part_size).first(std::min(part_size, bytes.size() - i * part_size));
      parts[i] = crc_of(part.data(), part.size());
    }
  });
  if (has_processes(ctx))
    parts = join(*ctx.processes,
                 std::vector<std::uint32_t>(parts.data() + own.begin, parts.data() + own.end));
  std::uint32_t crc = crc_of(nullptr, 0);
  for (std::size_t i = 0; i < parts.size(); ++i)
    crc = static_cast<std::uint32_t>(crc32_combine(
        crc, parts[i], static_cast<z_off_t>(std::min(part_size, bytes.size() - i * part_size))));
  return crc;
}

/// Its prefix, and that nothing of the file is missing.
prefix checked_prefix(section_kind const& kind, std::span<std::byte const> file,
                      std::string const& name) {
  auto const fail = [&](std::string_view what) { throw error({name, 1, 1}, what); };
  prefix p{};
  if (file.size() < prefix_size || std::memcmp(file.data(), magic, sizeof magic) != 0)
    fail(fmt::format("found no index of rulerank, expected what `{}` wrote", kind.written_by));
  std::memcpy(&p, file.data(), sizeof p);
  if (p.own_crc != crc_of(&p, offsetof(prefix, own_crc)))
    fail("the beginning of this index is damaged");
  if (p.file_size != file.size())
    fail(fmt::format("found an index of {}, expected {}: it is cut off or was added to",
                     counted(file.size(), "byte"), p.file_size));
  if (p.header_begin > file.size() || p.header_size != file.size() - p.header_begin ||
      p.header_crc != crc_of(file.data() + p.header_begin, p.header_size))
    fail("the header of this index is damaged");
  return p;
}

/// The version of a format that a header is of.
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
              fmt::format("found an index of version {}, expected {}", version, expected));
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
                    {"crc32", crc_of(without_processes(ctx), bytes)}});
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
  p.header_crc = crc_of(header.data(), header.size());
  p.own_crc = crc_of(&p, offsetof(prefix, own_crc));
  std::memcpy(file.data(), &p, sizeof p);
  std::memcpy(file.data() + layout.end(), header.data(), header.size());
}

void write_section_file(context const& ctx, section_kind const& kind, std::string const& path,
                        std::span<std::size_t const> bytes, nlohmann::ordered_json const& what,
                        std::function<void(std::size_t, std::span<std::byte>)> const& fill) {
  section_layout const layout(bytes);
  // What the header may take, whatever its checksums will be.
  std::size_t const header_size = round_up(what.dump().size() + 1024, alignment);
  output_file out(path);
  std::span<std::byte> const file = out.map(layout.end() + header_size);
  for (std::size_t s = 0; s < bytes.size(); ++s) fill(s, layout.of(file, s));
  std::string header = section_header(ctx, kind, layout, file, what);
  header.resize(header_size, ' ');
  finish_section_file(file, layout, header);
  out.commit();
}

read_sections check_section_file(context const& ctx, section_kind const& kind,
                                 std::span<std::byte const> file, std::string const& name) {
  return check_section_file(ctx, std::span(&kind, 1), file, name);
}

read_sections check_section_file(context const& ctx, std::span<section_kind const> versions,
                                 std::span<std::byte const> file, std::string const& name) {
  auto const fail = [&](std::string_view what) { throw error({name, 1, 1}, what); };
  prefix const p = checked_prefix(versions.front(), file, name);
  auto const* const text = reinterpret_cast<char const*>(file.data() + p.header_begin);
  read_sections read;
  return read_json({name, 1, 1}, header_problem, [&] {
    read.header = parse_json({text, p.header_size}, name, "an index's header");
    section_kind const& kind = kind_of(read.header, versions, name);
    nlohmann::json const& list = read.header.at("sections");
    std::size_t at = sizeof(prefix);
    auto const zeros_up_to = [&](std::size_t end) {
      for (; at < end; ++at)
        if (file[at] != std::byte{0})
          fail("found something between the sections of this index, expected zeros");
    };
    for (std::size_t s = 0; s < kind.sections.size(); ++s) {
      std::size_t const begin = count_at(list.at(s), "begin");
      std::size_t const bytes = count_at(list.at(s), "bytes");
      if (list.at(s).at("name") != kind.sections[s] || begin % alignment != 0 || begin < at ||
          begin > p.header_begin || bytes > p.header_begin - begin)
        fail(fmt::format("the header of this index misplaces {}", kind.sections[s]));
      zeros_up_to(begin);
      read.sections.push_back(file.subspan(begin, bytes));
      if (crc_of(ctx, read.sections[s]) != count_at(list.at(s), "crc32"))
        fail(fmt::format("{} of this index are damaged", kind.sections[s]));
      at = begin + bytes;
    }
    zeros_up_to(p.header_begin);
    return read;
  });
}

std::string sha256_of_section_header(std::string const& path) {
  file_reader const file(path);
  std::string all(prefix_size, '\0');
  if (file.read(all.data(), prefix_size, 0) < prefix_size) return {};
  prefix p{};
  std::memcpy(&p, all.data(), sizeof p);
  if (std::memcmp(p.magic, magic, sizeof magic) != 0 ||
      p.own_crc != crc_of(&p, offsetof(prefix, own_crc)) || p.header_begin > p.file_size ||
      p.header_size != p.file_size - p.header_begin || p.file_size != file_state_of(path).size)
    return {};
  all.resize(prefix_size + p.header_size);
  if (file.read(all.data() + prefix_size, p.header_size, p.header_begin) < p.header_size ||
      p.header_crc != crc_of(all.data() + prefix_size, p.header_size))
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
