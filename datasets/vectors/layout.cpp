#include "datasets/vectors/layout.hpp"

#include "core/error.hpp"
#include "datasets/vectors/first_fault.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

[[noreturn]] void fail(std::string const& name, std::string const& what) {
  throw error({name, 0, 0}, what);
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

constexpr std::size_t length_size = sizeof(std::uint32_t);
constexpr std::size_t rows_at_once = 1 << 14;

}  // namespace

vectors_layout layout_without_gaps(number_form form, std::size_t rows, std::size_t dimensions,
                                   std::size_t begin, std::size_t size, std::string const& name) {
  if (rows == 0) fail(name, "found 0 rows, expected at least 1");
  if (dimensions == 0) fail(name, "found rows of 0 values, expected at least 1");
  std::size_t stride = 0;
  std::size_t needed = 0;
  bool const too_large = __builtin_mul_overflow(dimensions, form.bytes, &stride) ||
                         __builtin_mul_overflow(stride, rows, &needed);
  if (too_large || needed != size - begin)
    fail(name, fmt::format("found {} of values, expected {} of {} of {}",
                           counted(size - begin, "byte"), counted(rows, "row"),
                           counted(dimensions, "value"), counted(form.bytes, "byte")));
  return {form, rows, dimensions, begin, stride, false};
}

vectors_layout idx_layout(std::string_view bytes, std::string const& name) {
  constexpr std::size_t magic_size = 4;
  constexpr unsigned char type_uint8 = 8;
  constexpr unsigned char type_int8 = 9;
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() < magic_size)
    fail(name, fmt::format("found {}, expected an idx file", counted(bytes.size(), "byte")));
  unsigned char const type = byte(2);
  if (byte(0) != 0 || byte(1) != 0 || (type != type_uint8 && type != type_int8) || byte(3) == 0)
    fail(name, fmt::format("found {:02x} {:02x} {:02x} {:02x}, expected 00 00, 08 (uint8) or 09 "
                           "(int8) and the number of dimensions",
                           byte(0), byte(1), type, byte(3)));
  std::size_t const dimensions = byte(3);
  std::size_t const begin = magic_size + dimensions * length_size;
  if (bytes.size() < begin)
    fail(name, fmt::format("found {}, expected a header of {} for {}",
                           counted(bytes.size(), "byte"), begin, counted(dimensions, "dimension")));
  auto const length = [&](std::size_t dimension) {
    return std::size_t{__builtin_bswap32(little_endian(bytes, magic_size + dimension * 4))};
  };
  std::size_t values = 1;
  for (std::size_t i = 1; i < dimensions; ++i)
    if (__builtin_mul_overflow(values, length(i), &values))
      fail(name, "found rows of more values than a file can hold");
  vectors_layout layout = layout_without_gaps({type == type_uint8 ? 'u' : 'i', 1}, length(0),
                                              values, begin, bytes.size(), name);
  layout.listed = dimensions == 1;
  return layout;
}

vectors_layout bin_layout(std::string_view bytes, number_form form, std::string const& name) {
  constexpr std::size_t begin = 2 * length_size;
  if (bytes.size() < begin)
    fail(name, fmt::format("found {}, expected the number of rows and the number of values in {}",
                           counted(bytes.size(), "byte"), counted(begin, "byte")));
  return layout_without_gaps(form, little_endian(bytes, 0), little_endian(bytes, length_size),
                             begin, bytes.size(), name);
}

vectors_layout vecs_layout(context const& ctx, std::string_view bytes, number_form form,
                           std::string const& name) {
  if (bytes.empty()) fail(name, "found 0 rows, expected at least 1");
  auto const fail_in_row = [&](std::size_t row, std::string const& what) {
    throw error({name, row + 1, 0}, fmt::format("row {} (from 1): {}", row + 1, what));
  };
  if (bytes.size() < length_size)
    fail_in_row(0, fmt::format("found {}, expected the number of its values in 4 bytes",
                               counted(bytes.size(), "byte")));
  auto const dimensions = static_cast<std::int32_t>(little_endian(bytes, 0));
  if (dimensions <= 0)
    fail_in_row(0, fmt::format("found {} values, expected at least 1", dimensions));
  std::size_t const stride = length_size + static_cast<std::size_t>(dimensions) * form.bytes;
  std::size_t const begun = (bytes.size() + stride - 1) / stride;
  // The first row with a different length; the last row may be incomplete.
  std::size_t const lengths = begun - (begun * stride - bytes.size() > stride - length_size);
  auto const another = [&](std::size_t row) {
    return little_endian(bytes, row * stride) != static_cast<std::uint32_t>(dimensions);
  };
  std::size_t const row =
      first_fault(ctx, lengths, rows_at_once, [&](std::size_t begin, std::size_t end) {
        while (begin < end && !another(begin)) ++begin;
        return begin;
      });
  if (row < lengths)
    fail_in_row(row, fmt::format("found {} values, expected {} as in the first row",
                                 static_cast<std::int32_t>(little_endian(bytes, row * stride)),
                                 dimensions));
  if (begun * stride != bytes.size())
    fail_in_row(
        begun - 1,
        fmt::format("found {}, expected {}: the number of its values ({}) and the values",
                    counted(bytes.size() - (begun - 1) * stride, "byte"), stride, dimensions));
  return {form, begun, static_cast<std::size_t>(dimensions), length_size, stride, false};
}

}  // namespace rulerank::datasets
