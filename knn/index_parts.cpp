#include "knn/index_parts.hpp"

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/file_reader.hpp"
#include "core/json_fields.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/section_file.hpp"
#include "core/sha256.hpp"
#include "datasets/input/text_source.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::string_view format = "rulerank index in parts";
constexpr std::string_view beginning = "{\"format\":\"rulerank index in parts\"";
constexpr std::size_t version = 1;
constexpr std::size_t prefix_bytes = 64;

/// Returns the first `bytes` bytes of a file, or fewer if it is shorter. Throws `error`.
std::string begin_of(std::string const& path, std::size_t bytes) {
  std::string begin(bytes, '\0');
  begin.resize(file_reader(path).read(begin.data(), bytes, 0));
  return begin;
}

std::string checksum_of(nlohmann::ordered_json all) {
  all.erase("sha256");
  return sha256_hex(all.dump());
}

}  // namespace

bool is_index_in_parts(std::string const& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  try {
    return begin_of(path, beginning.size()) == beginning;
  } catch (error const&) {
    return false;
  }
}

std::string path_of_part(std::string const& path, std::size_t part) {
  return fmt::format("{}.part{}", path, part);
}

void write_index_parts(process_group const& group, std::string const& path, std::string_view kind,
                       std::uint64_t items) {
  std::string mine;
  put(mine, items);
  put(mine, sha256_hex(begin_of(path_of_part(path, static_cast<std::size_t>(group.rank())),
                                prefix_bytes)));
  auto const told = group.gather(mine);
  if (group.is_first()) {
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    std::uint64_t first = 0;
    for (std::size_t p = 0; p < told.size(); ++p) {
      std::string_view bytes = told[p];
      std::uint64_t count = 0;
      std::string sum;
      take(bytes, count);
      take(bytes, sum);
      parts.push_back({{"file", std::filesystem::path(path_of_part(path, p)).filename().string()},
                       {"first", first},
                       {"items", count},
                       {"sha256_of_first_64_bytes", sum}});
      first += count;
    }
    nlohmann::ordered_json all{{"format", format},
                               {"version", version},
                               {"kind", kind},
                               {"items", first},
                               {"parts", parts}};
    all["sha256"] = checksum_of(all);
    write_file(path, all.dump() + "\n");
  }
  group.gather({});  // the file exists before any process continues
}

index_parts read_index_parts(std::string const& path, std::string_view kind) {
  auto const fail = [&](std::string_view what) { throw error({path, 1, 1}, what); };
  auto const text = datasets::read_file(path, "an index in parts");
  auto const all = parse_ordered_json(text, path, "an index in parts", 1);
  return read_json({path, 1, 1}, "this list of an index's parts is invalid", [&] {
    index_parts read;
    if (all.at("format") != format)
      fail(fmt::format("found a different format, expected {}", format));
    std::size_t const found = count_at(all, "version");
    if (found != version)
      fail(fmt::format("found an index in parts of version {}, expected {}", found, version));
    if (all.at("sha256") != checksum_of(all))
      fail("this list of an index's parts is damaged: its checksum does not match");
    if (all.at("kind") != kind)
      fail(fmt::format("found an index of kind {}, expected {}", all.at("kind").dump(), kind));
    read.items = count_at(all, "items");
    std::filesystem::path const folder = std::filesystem::path(path).parent_path();
    std::uint64_t first = 0;
    for (auto const& one : all.at("parts")) {
      index_part& part = read.parts.emplace_back();
      part.path = (folder / one.at("file").get<std::string>()).string();
      part.first = count_at(one, "first");
      part.items = count_at(one, "items");
      part.sha256 = one.at("sha256_of_first_64_bytes").get<std::string>();
      if (part.first != first) fail("the parts of this index leave a gap or overlap");
      first += part.items;
    }
    if (read.parts.empty() || first != read.items)
      fail("some parts of this index are missing from the list");
    return read;
  });
}

void expect_part(index_part const& part) {
  if (sha256_hex(begin_of(part.path, prefix_bytes)) != part.sha256)
    throw error({part.path, 1, 1},
                "this part of the index was not written with the other parts, expected all parts "
                "of one run");
}

void expect_items(index_part const& part, std::uint64_t found) {
  if (found != part.items)
    throw error({part.path, 1, 1},
                fmt::format("found {}, expected {}", counted(found, "item"), part.items));
}

std::vector<index_part> parts_here(context const& ctx, index_parts const& all, bool is_split) {
  if (!is_split) return all.parts;
  process_group const& group = *ctx.processes;
  std::vector<index_part> mine;
  for (auto p = static_cast<std::size_t>(group.rank()); p < all.parts.size();
       p += static_cast<std::size_t>(group.size()))
    mine.push_back(all.parts[p]);
  return mine;
}

}  // namespace rulerank::knn
