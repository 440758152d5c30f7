// Fuzz target (core/fuzzing.cpp): an index is opened or rejected with a position, whatever its
// header and its sections contain, and an opened index can be searched. The first byte of the input
// selects whether the other bytes replace the header or the sections of a good index. Checksums are
// corrected, so that the code after their check is tested.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "core/output_file.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/index_layout.hpp"
#include "knn/text/spelling.hpp"
#include "knn/text/text_index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
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

std::string built(text_index_options const& options, std::string_view collection) {
  std::string const path = std::filesystem::temp_directory_path() /
                           ("rulerank-index-fuzz-" + std::to_string(::getpid()));
  output_file out(path);
  text_index::build(one_thread(), memory_file(collection).path(), options, out);
  out.commit();
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return bytes;
}

/// The parts of an index.
struct index_parts {
  index_layout layout;
  std::string sections;  ///< without padding between them
  nlohmann::ordered_json header;

  explicit index_parts(std::string good) : layout({}) {
    read_index const read = check_index(one_thread(), bytes_of(good), "good");
    index_layout::sizes sizes{};
    for (std::size_t s = 0; s < read.sections.size(); ++s) {
      sizes[s] = read.sections[s].size();
      sections.append(reinterpret_cast<char const*>(read.sections[s].data()), sizes[s]);
    }
    layout = index_layout(sizes, read.has_dictionary());
    for (auto const& [key, value] : read.header.items())
      if (key != "sections") header[key] = value;
  }

  /// Returns a file of sections, as far as they are given, with space for the header at its end.
  std::string with_sections(std::string_view given) const {
    std::string file(layout.end(), '\0');
    std::string_view of_good = sections;
    for (std::size_t s = 0; s < static_cast<std::size_t>(section::count); ++s) {
      std::span<std::byte> const to = layout.of(bytes_of(file), static_cast<section>(s));
      auto* const at = reinterpret_cast<char*>(to.data());
      of_good.copy(at, to.size());
      of_good.remove_prefix(to.size());
      given.remove_prefix(given.copy(at, to.size()));
    }
    return file;
  }
  std::string header_of(std::string& file) const {
    return index_header(one_thread(), layout, bytes_of(file), header);
  }
  std::string finished(std::string file, std::string_view with) const {
    file.resize(layout.end() + with.size());
    finish_index(bytes_of(file), layout, with);
    return file;
  }
};

index_parts const& words() {
  static index_parts const parts(
      built({},
            "{\"id\":1,\"text\":\"rules rank documents\"}\n"
            "{\"id\":2,\"label\":\"l\",\"text\":\"documents have terms\"}\n"));
  return parts;
}
index_parts const& words_with_dictionary() {
  static index_parts const parts = [] {
    text_index_options options;
    options.dictionary = true;
    return index_parts(built(options,
                             "{\"id\":1,\"text\":\"rules rank documents\"}\n"
                             "{\"id\":2,\"label\":\"l\",\"text\":\"documents have rules\"}\n"));
  }();
  return parts;
}
index_parts const& vectors() {
  static index_parts const parts = [] {
    text_index_options options;
    options.format = datasets::text_format::svmlight;
    options.weighting = {.how = weighting::tf_idf};
    return index_parts(built(options, "1 3:0.5 7:2\n-1 3:1\n-1 9:-2\n"));
  }();
  return parts;
}

void search(text_index const& in) {
  std::vector<datasets::text_document> queries(1);
  queries[0].id.assign(1, 'q');
  queries[0].fields.push_back({"", "documents of rules and terms"});
  queries[0].vector = {{3, 1}, {9, 0.5}};
  if (in.dictionary()) {
    queries[0].fields.push_back({"", "documnets ruls"});
    for (spelling_change const& one :
         spelling_corrector(one_thread(), in).correct(one_thread(), queries))
      require(one.distance <= 2 && one.document == 0, "a word that is not near stands for another");
  }
  sparse_matrix const rows = in.queries(one_thread(), queries);
  for (similarity const metric : {similarity::cosine, similarity::inner_product}) {
    neighbours const found =
        sparse_searcher(one_thread(), in.index(), {metric}).search(one_thread(), rows, 2);
    require(
        std::ranges::all_of(
            found.id, [&](std::uint32_t d) { return d == no_neighbour || d < in.ids().size(); }),
        "a neighbour is no document");
  }
  for (std::size_t d = 0; d < in.ids().size(); ++d)
    require(in.ids()[d].size() + in.label(d).size() < 1 << 20, "an id or a label is too long");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size == 0) return 0;
  index_parts const& good = (bytes[0] & 4) != 0   ? words_with_dictionary()
                            : (bytes[0] & 2) == 0 ? words()
                                                  : vectors();
  std::string_view const given(reinterpret_cast<char const*>(bytes) + 1, size - 1);
  bool const is_header = (bytes[0] & 1) == 0;
  std::string sections = good.with_sections(is_header ? std::string_view() : given);
  std::string const header = is_header ? std::string(given) : good.header_of(sections);
  memory_file const file(good.finished(std::move(sections), header));
  try {
    search(text_index::open(one_thread(), file.path()));
  } catch (error const& e) {
    require(e.where().file == file.path(), "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  std::vector<std::string> seeds;
  for (index_parts const* const good : {&words(), &vectors(), &words_with_dictionary()}) {
    std::string sections = good->with_sections({});
    char const which = good == &words() ? 0 : good == &vectors() ? 2 : 4;
    seeds.emplace_back(1, which).append(good->header_of(sections));
    seeds.emplace_back(1, static_cast<char>(which + 1)).append(good->sections);
  }
  return seeds;
}
