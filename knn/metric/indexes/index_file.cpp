#include "core/error.hpp"
#include "core/section_file.hpp"
#include "knn/metric/indexes/index_state.hpp"

#include <array>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

// The file of an index and its objects (core/section_file.hpp).
namespace rulerank::inline v0::knn {

namespace {

enum place : std::size_t { of_objects, of_begins, of_numbers, of_distances, places };
constexpr std::array<std::string_view, places> metric_sections{"objects", "begins", "numbers",
                                                               "distances"};
constexpr section_kind kind_of(std::size_t version) {
  return {"rulerank metric index", version, "rulerank search metric --index", metric_sections};
}
constexpr section_kind metric_kind = kind_of(3);
/// Up to this version, mvpt stored only some distances between its points; other types are
/// unchanged.
constexpr std::size_t version_before = 2;
constexpr std::array<section_kind, 2> metric_kinds{metric_kind, kind_of(version_before)};
using section_bytes = std::array<std::span<std::byte const>, places>;

/// Returns the offset of each word, and the end of the last one.
std::vector<std::uint64_t> begins_of(std::vector<std::string> const& words) {
  std::vector<std::uint64_t> begins{0};
  for (std::string const& word : words) begins.push_back(begins.back() + word.size());
  return begins;
}

template <class T>
std::span<T const> array_in(std::span<std::byte const> section) {
  if (section.size() % sizeof(T) != 0) throw usage_error("a section ends within a number");
  return {reinterpret_cast<T const*>(section.data()), section.size() / sizeof(T)};
}

void write_sections(context const& ctx, std::string const& path, section_bytes const& from,
                    nlohmann::ordered_json const& what) {
  std::array<std::size_t, places> bytes{};
  for (std::size_t s = 0; s < places; ++s) bytes[s] = from[s].size();
  write_section_file(ctx, metric_kind, path, bytes, what,
                     [&](std::size_t s, std::span<std::byte> to) {
                       if (!to.empty()) std::memcpy(to.data(), from[s].data(), to.size());
                     });
}

std::shared_ptr<vector_space const> read_vectors_in(context const& ctx, read_sections const& read,
                                                    std::string const& name) {
  nlohmann::json const& header = read.header;
  std::span<std::byte const> const section = read.sections[of_objects];
  std::size_t const objects = count_at(header, "objects");
  std::size_t const dimensions = count_at(header, "dimensions");
  std::size_t const values = section.size() / sizeof(float);
  bool const fit = objects == 0
                       ? section.empty()
                       : dimensions > 0 && dimensions <= values && values / dimensions == objects &&
                             dimensions * objects * sizeof(float) == section.size();
  if (!fit) throw usage_error("the number of vectors contradicts the size of the file");
  datasets::vectors const rows(datasets::element::float32, section.data(), objects,
                               std::max<std::size_t>(dimensions, 1), read.memory, name);
  return std::make_shared<vector_space>(
      ctx, rows, metric_distance_from(header.at("metric").get<std::string>()));
}

std::shared_ptr<word_space const> read_words_in(nlohmann::json const& header,
                                                std::span<std::byte const> section,
                                                std::span<std::uint64_t const> begins) {
  if (begins.size() != count_at(header, "objects") + 1 || begins.front() != 0 ||
      begins.back() != section.size())
    throw usage_error("the number of words contradicts the size of the file");
  std::vector<std::string> words;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    if (begins[i] > begins[i + 1] || begins[i + 1] > section.size())
      throw usage_error("word offsets do not ascend");
    words.emplace_back(reinterpret_cast<char const*>(section.data()) + begins[i],
                       begins[i + 1] - begins[i]);
  }
  std::string const unit = header.at("letters").get<std::string>();
  if (unit != "bytes" && unit != "code-points")
    throw usage_error("the kind of letters is not known");
  return std::make_shared<word_space>(std::move(words),
                                      unit == "bytes" ? letters::bytes : letters::code_points);
}

}  // namespace

void metric_index::save(context const& ctx, std::string const& path) const {
  implementation const& all = *implementation_;
  auto const* const vectors = dynamic_cast<vector_space const*>(all.space.get());
  auto const* const words = dynamic_cast<word_space const*>(all.space.get());
  if (vectors == nullptr && words == nullptr)
    throw usage_error("an index of a caller's own objects cannot be written to a file");
  structure_arrays arrays;
  all.structure->save(arrays);
  nlohmann::ordered_json what{
      {"metric", name_of(vectors != nullptr ? vectors->which() : metric_distance::edit)},
      {"type", name_of(all.options.type)},
      {"objects", all.space->size()},
      {"bucket", all.options.bucket}};
  if (has_alpha(all.options.type)) what["alpha"] = all.options.alpha;
  section_bytes bytes;
  std::string text;
  std::vector<std::uint64_t> begins;
  if (vectors != nullptr) {
    what["dimensions"] = vectors->rows().dimensions();
    bytes[of_objects] = {vectors->rows().data(), vectors->rows().bytes()};
  } else {
    what["letters"] = words->unit() == letters::bytes ? "bytes" : "code-points";
    for (std::string const& word : words->words()) text += word;
    begins = begins_of(words->words());
    bytes[of_objects] = std::as_bytes(std::span(text));
    bytes[of_begins] = std::as_bytes(std::span(begins));
  }
  bytes[of_numbers] = std::as_bytes(std::span(arrays.numbers));
  bytes[of_distances] = std::as_bytes(std::span(arrays.distances));
  write_sections(ctx, path, bytes, what);
}

saved_metric_index metric_index::open(context const& ctx, std::string const& path) {
  auto const read = read_section_file(ctx, metric_kinds, path);
  auto const fail = [&](std::string_view what) -> error { return {{path, 1, 1}, what}; };
  // The checksums prove that the bytes are those written; this checks that they are consistent.
  try {
    auto const begins = array_in<std::uint64_t>(read.sections[of_begins]);
    auto const numbers = array_in<std::uint32_t>(read.sections[of_numbers]);
    auto const distances = array_in<double>(read.sections[of_distances]);
    saved_metric_index opened{metric_index(std::unique_ptr<implementation>()), nullptr, nullptr};
    std::shared_ptr<metric_space const> space;
    if (read.header.at("metric").get<std::string>() == "edit")
      space = opened.words = read_words_in(read.header, read.sections[of_objects], begins);
    else
      space = opened.vectors = read_vectors_in(ctx, read, path);
    if (space->size() >= no_neighbour) throw usage_error("it has too many objects");
    metric_index_options options;
    options.type = metric_index_type_from(read.header.at("type").get<std::string>());
    options.bucket = count_at(read.header, "bucket");
    // Older files have no alpha.
    options.alpha = read.header.value("alpha", options.alpha);
    if (!(options.alpha > 0 && options.alpha <= 1))
      throw usage_error(fmt::format("found alpha {}", options.alpha));
    auto const* const entry = find_engine(metric_index_types(), options.type);
    if (entry == nullptr) throw usage_error("found index type 'auto'");
    if (options.type == metric_index_type::mvpt &&
        count_at(read.header, "version") == version_before)
      throw usage_error(
          fmt::format("found type mvpt of version {}, expected version {}; make the index again "
                      "from its objects",
                      version_before, metric_kind.version));
    exclusion const rule(space->rounding(), space->has_four_points());
    opened.index.implementation_ =
        std::make_unique<implementation>(implementation{space, options, rule, nullptr});
    implementation& all = *opened.index.implementation_;
    structure_reader reader(numbers, distances, space->size());
    all.structure = maker_of(options.type)({ctx, *space, all.options, space->size(), &reader});
    reader.expect_end();
    all.holds = reader.holds();
    return opened;
  } catch (nlohmann::json::exception const& e) {
    throw fail(fmt::format("the header of this index is invalid: {}", e.what()));
  } catch (usage_error const& e) {
    throw fail(fmt::format("this index is invalid: {}", e.what()));
  }
}

}  // namespace rulerank::knn
