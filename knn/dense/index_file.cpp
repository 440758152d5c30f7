#include "knn/dense/index_file.hpp"

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/section_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t section_of_rows = 0;
constexpr std::size_t section_of_ids = 1;
constexpr std::array<std::string_view, 2> sections{"rows", "ids"};
constexpr section_kind kind{"rulerank dense index", 1, "rulerank search dense --index", sections};
constexpr std::size_t row_bytes_at_once = 1 << 20;

datasets::element element_from(std::string_view name) {
  for (auto const& one : datasets::elements())
    if (one.name == name) return one.which;
  throw usage_error(fmt::format("found values of type {}", rulerank::quoted(name)));
}

}  // namespace

void write_dense_index(context const& ctx, std::string const& path, dense_rows const& rows,
                       std::span<std::int64_t const> ids, similarity metric) {
  nlohmann::ordered_json const what{{"metric", name_of(metric)},
                                    {"type", datasets::name_of(rows.type())},
                                    {"rows", rows.size()},
                                    {"dimensions", rows.dimensions()}};
  std::array<std::size_t, sections.size()> const bytes{rows.size() * rows.row_bytes(),
                                                       ids.size_bytes()};
  auto const fill = [&](std::size_t section, std::span<std::byte> to) {
    if (section == section_of_ids) {
      if (!ids.empty()) std::memcpy(to.data(), ids.data(), ids.size_bytes());
      return;
    }
    std::size_t const grain =
        std::max<std::size_t>(row_bytes_at_once / std::max<std::size_t>(rows.row_bytes(), 1), 1);
    parallel_for(ctx, rows.size(), grain, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t row = begin; row < end; ++row)
        std::memcpy(to.data() + row * rows.row_bytes(), rows.row(row), rows.row_bytes());
    });
    rows.first().expect_unchanged();
  };
  write_section_file(ctx, kind, path, bytes, what, fill);
}

dense_index_content read_dense_index(context const& ctx, std::string const& path) {
  auto const read = read_section_file(ctx, std::span(&kind, 1), path);
  auto const fail = [&](std::string_view what) { throw error({path, 1, 1}, what); };
  dense_index_content content;
  // The checksums prove that the bytes are those written; this checks that they are consistent.
  try {
    content.metric = dense_similarity_from(read.header.at("metric").get<std::string>());
    auto const type = element_from(read.header.at("type").get<std::string>());
    std::size_t const rows = count_at(read.header, "rows");
    std::size_t const dimensions = count_at(read.header, "dimensions");
    if (!is_searchable(type))
      fail(fmt::format("found rows of type {}, expected {}", datasets::name_of(type),
                       searchable_types));
    if (rows >= no_neighbour)
      fail(fmt::format("found {}, expected fewer than {}", counted(rows, "row"), no_neighbour));
    auto const of_rows = read.sections[section_of_rows];
    auto const of_ids = read.sections[section_of_ids];
    std::size_t const row_bytes = rows == 0 ? 0 : of_rows.size() / rows;
    bool const rows_fit = rows == 0 ? of_rows.empty()
                                    : dimensions > 0 && row_bytes * rows == of_rows.size() &&
                                          dimensions <= row_bytes &&
                                          dimensions * bytes_of(type) == row_bytes;
    bool const ids_fit = of_ids.empty() || of_ids.size() == rows * sizeof(std::int64_t);
    if (!rows_fit || !ids_fit)
      fail("the sections of this index contradict each other; make the index again");
    if (dimensions > 0)
      content.rows = datasets::vectors(type, of_rows.data(), rows, dimensions, read.memory, path);
    content.ids.resize(of_ids.size() / sizeof(std::int64_t));
    if (!of_ids.empty()) std::memcpy(content.ids.data(), of_ids.data(), of_ids.size());
  } catch (nlohmann::json::exception const& e) {
    fail(fmt::format("the header of this index is invalid: {}", e.what()));
  } catch (usage_error const& e) {
    fail(fmt::format("this index is invalid: {}; make it again", e.what()));
  }
  return content;
}

}  // namespace rulerank::knn
