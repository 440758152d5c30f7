// Fuzz target (core/fuzzing.cpp): files of vectors are read in each format, with equal results
// mapped and copied, or rejected with a message; written vectors are read back unchanged. The first
// byte selects the format.

#include "core/error.hpp"
#include "core/fuzzing.hpp"
#include "datasets/vectors.hpp"
#include "datasets/vectors/testing.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rulerank;
using namespace rulerank::fuzzing;
using namespace rulerank::datasets;

/// The result of reading: vectors, or a message.
struct outcome {
  vectors read;
  std::string said;
};

outcome read(std::string const& path, vectors_format format, bool copy) {
  outcome result;
  try {
    result.read = read_vectors(context{}, path, {format, copy});
  } catch (error const& e) {
    require(!e.where().file.empty(), "an error names no file");
    result.said = e.what();
  }
  return result;
}

bool same(vectors const& a, vectors const& b) {
  return a.type() == b.type() && a.size() == b.size() && a.dimensions() == b.dimensions() &&
         std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

void check_finite(vectors const& read) {
  read.visit([](auto values) {
    for (auto const value : values) {
      if constexpr (std::is_class_v<std::decay_t<decltype(value)>>)
        require(std::isfinite(static_cast<float>(value)), "a value is not finite");
      else
        require(std::isfinite(static_cast<double>(value)), "a value is not finite");
    }
  });
}

void check_written(vectors const& read, vectors_format format) {
  memory_file const empty("");
  write_vectors(context{}, empty.path(), read, format);
  require(same(read_vectors(context{}, empty.path(), {format, false}), read),
          "what is written does not come back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  if (size == 0) return 0;
  auto const formats = vectors_formats();
  vectors_format const format = formats[1 + bytes[0] % (formats.size() - 1)].which;
  memory_file const file({reinterpret_cast<char const*>(bytes) + 1, size - 1});
  outcome const mapped = read(file.path(), format, false);
  outcome const copied = read(file.path(), format, true);
  require(mapped.said == copied.said, "mapped and copied, a file says different things");
  if (mapped.said.empty()) {
    require(!mapped.read.empty() && mapped.read.dimensions() > 0, "nothing was read");
    require(same(mapped.read, copied.read), "mapped and copied, a file is different");
    check_finite(mapped.read);
    check_written(mapped.read, format == vectors_format::idx ? vectors_format::npy : format);
  }
  try {
    read_classes(context{}, file.path(), {format, false});
  } catch (error const& e) {
    require(!e.where().file.empty(), "an error names no file");
  }
  return 0;
}

std::vector<std::string> rulerank::fuzzing::seeds() {
  using namespace rulerank::datasets::testing_tools;
  std::string const f32 = bytes_of_values({1.5F, -2.0F, 3.0F, 0.0F});
  std::string const f64 = bytes_of_values({1.5, -2.0, 3.0, 0.0});
  auto const row = [](std::string const& values) {
    return fmt::format("{0}{1}{0}{1}", u32(2), values);
  };
  std::string const sizes = u32(2) + u32(2);
  std::vector<std::string> seeds;
  // The first byte is the index of the format after `automatic`.
  auto const add = [&](vectors_format format, std::string_view first, std::string_view rest) {
    char const place = static_cast<char>(static_cast<int>(format) - 1);
    seeds.push_back(fmt::format("{}{}{}", place, first, rest));
  };
  using enum vectors_format;
  add(npy, numpy(numpy_dictionary("<f4", "(2, 2)"), f32), "");
  add(npy, numpy(numpy_dictionary("<f8", "(2, 2)"), f64, 2), "");
  add(npy, numpy(numpy_dictionary("<f2", "(4, 2)"), f32, 3), "");
  add(npy, numpy(numpy_dictionary("<i4", "(4L, 1L)"), f32), "");
  add(npy, numpy("{\"shape\":(4,),'fortran_order':False,'descr':'<i8'}", f64), "");
  add(npy, numpy(numpy_dictionary("|u1", "(2, 8)"), f32), "");
  add(fvecs, row(f32.substr(0, 8)), "");
  add(bvecs, row("ab"), "");
  add(ivecs, row(f32.substr(8)), "");
  add(fbin, sizes, f32);
  add(u8bin, sizes, "abcd");
  add(i8bin, sizes, "abcd");
  add(ibin, sizes, f32);
  add(vectors_format::idx, idx_file(8, {2, 2, 1}, "abcd"), "");
  add(vectors_format::idx, idx_file(9, {4}, "abcd"), "");
  return seeds;
}
