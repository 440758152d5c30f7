// libFuzzer: an index is opened or refused with a place, whatever its header says. The input is the
// header behind the sections of a good index, cut or filled up with blanks to the header's room;
// the checksums are made right, so that what stands behind them is tried. Built as
// datasets/svmlight/svmlight_fuzz.cpp says; bin/index_fuzz --seeds=DIR writes a corpus to start
// from.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "core/output_file.hpp"
#include "knn/text/index_layout.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;

/// A path of this process, in memory where the system has such a folder.
std::string const& path() {
  static std::string const at =
      (std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                           : std::filesystem::temp_directory_path()) /
      ("rulerank-index-fuzz-" + std::to_string(::getpid()));
  return at;
}

std::string const& good_index() {
  static std::string const bytes = [] {
    write_file(path(),
               "{\"id\":1,\"text\":\"rules rank documents\"}\n"
               "{\"id\":2,\"label\":\"l\",\"text\":\"documents have terms\"}\n");
    output_file out(path() + ".index");
    knn::text_index::build({}, path(), {}, out);
    out.commit();
    std::ifstream file(path() + ".index", std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  }();
  return bytes;
}

std::span<std::byte> bytes_of(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

struct header_place {
  knn::index_layout layout;
  std::string header;
};

header_place header_of(std::string good) {
  knn::read_index const read = knn::check_index({}, bytes_of(good), "good");
  knn::index_layout::sizes sizes;
  for (std::size_t s = 0; s < sizes.size(); ++s) sizes[s] = read.sections[s].size();
  return {knn::index_layout(sizes), read.header.dump()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  static header_place const place = header_of(good_index());
  std::string forged = good_index();
  std::string header(reinterpret_cast<char const*>(bytes), size);
  header.resize(forged.size() - place.layout.end(), ' ');
  knn::finish_index(bytes_of(forged), place.layout, header);
  std::ofstream(path(), std::ios::binary) << forged;
  try {
    knn::text_index const read = knn::text_index::open({}, path());
    require(read.ids().size() <= 2, "an index has more documents than ids");
  } catch (error const& e) {
    require(e.where().file == path(), "an error names no file");
    require(e.where().line > 0, "an error names no line");
  }
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  write_seeds_where_asked(*argc, *argv, [] { return std::vector{header_of(good_index()).header}; });
  return 0;
}
