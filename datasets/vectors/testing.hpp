#pragma once
// Makes files of vectors byte by byte, for tests and fuzz targets; not installed.

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets::testing_tools {

/// Concatenates the bytes of values.
template <class T>
std::string bytes_of_values(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

inline std::string u32(std::uint32_t number) {
  return bytes_of_values({number});
}
inline std::string big_endian_u32(std::uint32_t number) {
  return u32(__builtin_bswap32(number));
}

/// Makes a .npy file with this dictionary followed by the values; the length is that of the header
/// unless it is given.
inline std::string numpy(std::string_view dictionary, std::string_view values, int version = 1,
                         std::int64_t length = -1) {
  std::string bytes = fmt::format("\x93NUMPY{}{}", static_cast<char>(version), '\0');
  std::string const size = u32(static_cast<std::uint32_t>(
      length < 0 ? dictionary.size() : static_cast<std::size_t>(length)));
  bytes += size.substr(0, version == 1 ? 2 : 4);
  bytes += dictionary;
  bytes += values;
  return bytes;
}

/// Returns the dictionary that NumPy writes for an array in C order.
inline std::string numpy_dictionary(std::string_view descr, std::string_view shape,
                                    std::string_view fortran_order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}      \n", descr,
                     fortran_order, shape);
}

inline std::string idx_file(std::uint8_t type, std::initializer_list<std::uint32_t> lengths,
                            std::string_view values) {
  std::string bytes(2, '\0');
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(lengths.size());
  for (std::uint32_t const length : lengths) bytes += big_endian_u32(length);
  bytes += values;
  return bytes;
}

}  // namespace rulerank::datasets::testing_tools
