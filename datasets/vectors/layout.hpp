#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Threads: any thread may call these functions at any time.
namespace rulerank::inline v0::datasets {

/// The representation of a number, little-endian.
struct number_form {
  char kind = 'f';  ///< f: IEEE floats, i: signed, u: unsigned integers
  std::size_t bytes = 4;

  friend bool operator==(number_form, number_form) = default;
};

/// Returns NumPy's notation: `<f4`, `|u1`.
std::string spelled(number_form form);
/// Returns the element type with this representation, if there is one. bfloat16 has none.
std::optional<element> element_of(number_form form);
/// Returns the representation of an element type; throws `usage_error` for bfloat16.
number_form form_of(element type);

/// The places of the numbers in a file. Checked: the size of the file is exactly what `rows` and
/// `stride` imply.
struct vectors_layout {
  number_form form;
  std::size_t rows = 0;        ///< at least 1
  std::size_t dimensions = 0;  ///< at least 1
  std::size_t begin = 0;       ///< offset of the first number in bytes
  std::size_t stride = 0;      ///< bytes from one row to the next
  bool listed = false;         ///< numbers in one dimension; `dimensions` is 1
  bool by_columns = false;     ///< in column-major order; `stride` is as in row-major order
};

/// Formats are given by name; `automatic` is not allowed here. All throw `error` with `name` for
/// bytes in another format.
vectors_layout npy_layout(std::string_view bytes, std::string const& name);
vectors_layout idx_layout(std::string_view bytes, std::string const& name);
/// fvecs, bvecs, ivecs: each row begins with its length.
vectors_layout vecs_layout(context const& ctx, std::string_view bytes, number_form form,
                           std::string const& name);
/// fbin, u8bin, i8bin, ibin.
vectors_layout bin_layout(std::string_view bytes, number_form form, std::string const& name);

/// Returns a layout without gaps for a file of `size` bytes; throws `error` if the size differs
/// from that of the numbers, or there are no numbers.
vectors_layout layout_without_gaps(number_form form, std::size_t rows, std::size_t dimensions,
                                   std::size_t begin, std::size_t size, std::string const& name);

/// Returns the representation of a format's numbers; nothing if the file defines it (npy, idx).
std::optional<number_form> form_of(vectors_format format);

/// Returns the format that a file name implies; for reading, .gz or .zst may follow. Throws
/// `usage_error` if it implies none.
vectors_format format_of_name(std::string const& path, bool read);

}  // namespace rulerank::datasets
