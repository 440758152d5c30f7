#include "knn/text/index_layout.hpp"

#include "core/aligned.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "datasets/json_text.hpp"
#include "knn/text/index_options.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace rulerank::knn {

namespace {

static_assert(std::endian::native == std::endian::little, "the index file is little-endian");

constexpr std::string_view format_name = "rulerank text index";
constexpr std::size_t format_version = 2;

constexpr std::array<std::string_view, static_cast<std::size_t>(section::count)> names{
    "terms",      "term_begin",         "ids",        "id_begin", "label_names", "label_begin",
    "label_of",   "document_frequency", "row_begin",  "row_term", "row_weight",  "norms",
    "list_begin", "list_document",      "list_weight"};

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
static_assert(sizeof(prefix) <= prefix_size);

std::uint32_t crc_of(void const* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<unsigned char const*>(bytes), size));
}

/// Computed in parallel, from those of parts.
std::uint32_t crc_of(context const& ctx, std::span<std::byte const> bytes) {
  constexpr std::size_t part_size = std::size_t{16} << 20;
  std::vector<std::uint32_t> parts((bytes.size() + part_size - 1) / part_size);
  parallel_for(ctx, bytes.size(), part_size, [&](std::size_t begin, std::size_t end, int) {
    parts[begin / part_size] = crc_of(bytes.data() + begin, end - begin);
  });
  std::uint32_t crc = crc_of(nullptr, 0);
  for (std::size_t i = 0; i < parts.size(); ++i)
    crc = static_cast<std::uint32_t>(crc32_combine(
        crc, parts[i], static_cast<z_off_t>(std::min(part_size, bytes.size() - i * part_size))));
  return crc;
}

}  // namespace

index_layout::index_layout(sizes const& bytes) : bytes_(bytes) {
  std::size_t at = prefix_size;
  for (std::size_t s = 0; s < bytes.size(); ++s) {
    begin_[s] = at;
    at += round_up(bytes[s], alignment);
  }
  end_ = at;
}

index_layout::sizes sizes_of(index_counts const& of) {
  index_layout::sizes bytes{};
  auto const set = [&](section s, std::size_t size) { bytes[static_cast<std::size_t>(s)] = size; };
  set(section::terms, of.term_bytes);
  set(section::term_begin, (of.terms + 1) * sizeof(std::uint64_t));
  set(section::ids, of.id_bytes);
  set(section::id_begin, (of.documents + 1) * sizeof(std::uint64_t));
  set(section::label_names, of.label_bytes);
  set(section::label_begin, (of.labels + 1) * sizeof(std::uint64_t));
  set(section::label_of, of.documents * sizeof(std::uint32_t));
  set(section::document_frequency, of.terms * sizeof(std::uint32_t));
  set(section::row_begin, (of.documents + 1) * sizeof(std::uint64_t));
  set(section::row_term, of.postings * sizeof(std::uint32_t));
  set(section::row_weight, of.postings * sizeof(double));
  set(section::norms, of.documents * sizeof(double));
  set(section::list_begin, (of.terms + 1) * sizeof(std::uint64_t));
  set(section::list_document, of.postings * sizeof(std::uint32_t));
  set(section::list_weight, of.postings * sizeof(double));
  return bytes;
}

std::string index_header(context const& ctx, index_layout const& layout,
                         std::span<std::byte> sections, nlohmann::ordered_json what) {
  nlohmann::ordered_json header{{"format", format_name}, {"version", format_version}};
  header.update(what);
  nlohmann::ordered_json& list = header["sections"] = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < names.size(); ++s) {
    std::span<std::byte> const bytes = layout.of(sections, static_cast<section>(s));
    list.push_back({{"name", names[s]},
                    {"begin", bytes.data() - sections.data()},
                    {"bytes", bytes.size()},
                    {"crc32", crc_of(ctx, bytes)}});
  }
  return header.dump();
}

void finish_index(std::span<std::byte> file, index_layout const& layout, std::string_view header) {
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

read_index check_index(context const& ctx, std::span<std::byte const> file,
                       std::string const& name) {
  auto const fail = [&](std::string_view what) { throw error({name, 1, 1}, what); };
  prefix p{};
  if (file.size() < prefix_size || std::memcmp(file.data(), magic, sizeof magic) != 0)
    fail("found no index of rulerank, expected what `rulerank search text --index` wrote");
  std::memcpy(&p, file.data(), sizeof p);
  if (p.own_crc != crc_of(&p, offsetof(prefix, own_crc)))
    fail("the beginning of this index is damaged");
  if (p.file_size != file.size())
    fail(fmt::format("found an index of {}, expected {}: it is cut off or was added to",
                     counted(file.size(), "byte"), p.file_size));
  if (p.header_begin > file.size() || p.header_size != file.size() - p.header_begin ||
      p.header_crc != crc_of(file.data() + p.header_begin, p.header_size))
    fail("the header of this index is damaged");
  auto const* const text = reinterpret_cast<char const*>(file.data() + p.header_begin);
  read_index read;
  try {
    read.header = datasets::parse_json({text, p.header_size}, name, "an index's header");
    std::size_t const version = count_at(read.header, "version");
    if (read.header.at("format") != format_name || version != format_version)
      fail(fmt::format("found an index of version {}, expected {}", version, format_version));
    nlohmann::json const& list = read.header.at("sections");
    std::size_t at = sizeof(prefix);
    auto const zeros_up_to = [&](std::size_t end) {
      for (; at < end; ++at)
        if (file[at] != std::byte{0})
          fail("found something between the sections of this index, expected zeros");
    };
    for (std::size_t s = 0; s < names.size(); ++s) {
      std::size_t const begin = count_at(list.at(s), "begin");
      std::size_t const bytes = count_at(list.at(s), "bytes");
      if (list.at(s).at("name") != names[s] || begin % alignment != 0 || begin < at ||
          begin > p.header_begin || bytes > p.header_begin - begin)
        fail(fmt::format("the header of this index misplaces {}", names[s]));
      zeros_up_to(begin);
      read.sections[s] = file.subspan(begin, bytes);
      if (crc_of(ctx, read.sections[s]) != count_at(list.at(s), "crc32"))
        fail(fmt::format("{} of this index are damaged", names[s]));
      at = begin + bytes;
    }
    zeros_up_to(p.header_begin);
  } catch (nlohmann::json::exception const& e) {
    fail(fmt::format("the header of this index is not right: {}", e.what()));
  } catch (usage_error const& e) {
    fail(fmt::format("the header of this index is not right: {}", e.what()));
  }
  return read;
}

}  // namespace rulerank::knn
