// Fuzz target (core/fuzzing.cpp): an index of dense vectors or of a metric space is opened or
// rejected with a position, whatever its header and its sections contain, and an opened index can
// be searched, saved and opened again. The first byte of the input selects the index, the second
// whether the other bytes replace the header or the sections of a good index. Checksums are
// corrected, so that the code after their check is tested.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "core/section_file.hpp"
#include "knn/dense/search.hpp"
#include "knn/metric/search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;
using namespace rulerank::knn;

/// Returns the bytes that `save` writes to a file.
std::string saved(std::function<void(std::string const& path)> const& save) {
  std::string const path = std::filesystem::temp_directory_path() /
                           ("rulerank-saved-index-fuzz-" + std::to_string(::getpid()));
  save(path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return bytes;
}

/// The parts of an index's file.
class index_parts {
 public:
  index_parts(std::string const& good, bool of_dense) : is_dense(of_dense) {
    std::uint64_t begin = 0, size = 0;
    std::memcpy(&begin, good.data() + 16, sizeof begin);
    std::memcpy(&size, good.data() + 24, sizeof size);
    header_ = nlohmann::ordered_json::parse(good.substr(begin, size));
    format_ = header_.at("format");
    version_ = header_.at("version");
    for (auto const& one : header_.at("sections")) {
      names_.push_back(one.at("name"));
      sizes_.push_back(one.at("bytes"));
      sections += good.substr(one.at("begin"), one.at("bytes"));
    }
    for (char const* const key : {"format", "version", "sections"}) header_.erase(key);
  }

  /// Returns a file with these sections, as far as they are given.
  std::string with_sections(std::string_view given) const {
    section_layout const layout(sizes_);
    std::string file(layout.end(), '\0');
    std::string_view of_good = sections;
    for (std::size_t s = 0; s < sizes_.size(); ++s) {
      std::span<std::byte> const to = layout.of(bytes_of(file), s);
      auto* const at = reinterpret_cast<char*>(to.data());
      of_good.remove_prefix(of_good.copy(at, to.size()));
      given.remove_prefix(given.copy(at, to.size()));
    }
    return file;
  }
  std::string header_of(std::string& file) const {
    std::vector<std::string_view> const names(names_.begin(), names_.end());
    section_kind const kind{format_, version_, "a fuzz target", names};
    return section_header(one_thread(), kind, section_layout(sizes_), bytes_of(file), header_);
  }
  std::string finished(std::string file, std::string_view header) const {
    section_layout const layout(sizes_);
    file.resize(layout.end() + header.size());
    finish_section_file(bytes_of(file), layout, header);
    return file;
  }

  bool is_dense;
  std::string sections;  ///< without padding between them

 private:
  nlohmann::ordered_json header_;
  std::string format_;
  std::size_t version_ = 0;
  std::vector<std::string> names_;
  std::vector<std::size_t> sizes_;
};

datasets::vectors some_vectors(std::size_t rows) {
  std::vector<float> values;
  for (std::size_t i = 0; i < 3 * rows; ++i) values.push_back(static_cast<float>(i * i % 17));
  return {std::move(values), 3};
}

index_parts metric_parts(std::shared_ptr<metric_space const> const& space, metric_index_type type) {
  metric_index_options options;
  options.type = type;
  options.bucket = 4;
  metric_index const index(one_thread(), space, options);
  return {saved([&](std::string const& path) { index.save(one_thread(), path); }), false};
}

std::vector<index_parts> const& good_indexes() {
  static std::vector<index_parts> const all = [] {
    std::vector<index_parts> made;
    for (std::vector<std::int64_t> const& ids :
         {std::vector<std::int64_t>(), std::vector<std::int64_t>{5, -6, 7, 8}}) {
      dense_index const dense(one_thread(), some_vectors(4), {}, ids);
      made.emplace_back(saved([&](std::string const& path) { dense.save(one_thread(), path); }),
                        true);
    }
    auto const vectors =
        std::make_shared<vector_space>(one_thread(), some_vectors(40), metric_distance::l2);
    std::vector<std::string> list;
    for (int i = 0; i < 40; ++i) list.push_back(std::string(i % 5, 'a') + std::to_string(i * 7));
    auto const words = std::make_shared<word_space>(list, letters::bytes);
    for (auto const& entry : metric_index_types()) {
      if (entry.which == metric_index_type::automatic) continue;
      made.push_back(metric_parts(vectors, entry.which));
      made.push_back(metric_parts(words, entry.which));
    }
    return made;
  }();
  return all;
}

void expect_objects(neighbours const& found, std::size_t size) {
  require(std::ranges::all_of(found.id,
                              [&](std::uint32_t id) { return id == no_neighbour || id < size; }),
          "a neighbour is no object");
}

void search_dense(std::string const& path) {
  dense_index const index = dense_index::open(one_thread(), path);
  if (index.dimensions() == 0 || index.dimensions() > 1000) return;
  datasets::vectors const query(std::vector<float>(index.dimensions(), 1), index.dimensions());
  expect_objects(index.search(one_thread(), query, 2), index.size());
}

void search_metric(std::string const& path) {
  saved_metric_index const opened = metric_index::open(one_thread(), path);
  std::unique_ptr<metric_queries const> queries;
  if (opened.vectors) {
    std::size_t const dimensions = opened.vectors->rows().dimensions();
    queries = opened.vectors->queries(
        one_thread(), datasets::vectors(std::vector<float>(dimensions, 1), dimensions));
  } else {
    queries = opened.words->queries({"aa7"});
  }
  std::size_t const objects = opened.index.space().size();
  expect_objects(opened.index.search(one_thread(), *queries, 3), objects);
  rows_in_range const near = opened.index.search_range(one_thread(), *queries, 2);
  require(std::ranges::all_of(near.row, [&](std::uint32_t id) { return id < objects; }),
          "an object in range is none");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size < 2) return 0;
  index_parts const& good = good_indexes()[bytes[0] % good_indexes().size()];
  std::string_view const given(reinterpret_cast<char const*>(bytes) + 2, size - 2);
  bool const is_header = (bytes[1] & 1) == 0;
  std::string sections = good.with_sections(is_header ? std::string_view() : given);
  std::string const header = is_header ? std::string(given) : good.header_of(sections);
  memory_file const file(good.finished(std::move(sections), header));
  try {
    if (good.is_dense)
      search_dense(file.path());
    else
      search_metric(file.path());
  } catch (error const& e) {
    require(e.where().file == file.path(), "an error names no file");
  }
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::vector<std::string> seeds;
  for (std::size_t i = 0; i < good_indexes().size(); ++i) {
    index_parts const& good = good_indexes()[i];
    std::string sections = good.with_sections({});
    seeds.push_back({static_cast<char>(i), 0});
    seeds.back() += good.header_of(sections);
    seeds.push_back({static_cast<char>(i), 1});
    seeds.back() += good.sections;
  }
  return seeds;
}
