#pragma once

#include "core/context.hpp"
#include "datasets/vectors.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Threads: all functions may be called from any number of threads at once.
namespace rulerank::inline v0::datasets {

/// How a number is stored, little-endian.
struct number_form {
  char kind = 'f';  ///< f: IEEE's floats, i: signed, u: unsigned integers
  std::size_t bytes = 4;

  friend bool operator==(number_form, number_form) = default;
};

/// As numpy writes it: `<f4`, `|u1`.
std::string spelled(number_form form);
/// The element of that form, where there is one. bfloat16 has none.
std::optional<element> element_of(number_form form);
/// The form of an element; `usage_error` for bfloat16.
number_form form_of(element type);

/// Where the numbers of a file lie. They do lie there: the bytes of the file are exactly those that
/// `rows` and `stride` say.
struct vectors_layout {
  number_form form;
  std::size_t rows = 0;        ///< at least 1
  std::size_t dimensions = 0;  ///< at least 1
  std::size_t begin = 0;       ///< the byte of the first number
  std::size_t stride = 0;      ///< bytes from a row to the next
  bool listed = false;         ///< numbers in one dimension; `dimensions` is 1
  bool by_columns = false;     ///< a column behind the other; `stride` is as without
};

/// Formats are asked for by name, and `automatic` is none here. All throw `error` with `name` for
/// bytes that are no file of the format.
vectors_layout npy_layout(std::string_view bytes, std::string const& name);
vectors_layout idx_layout(std::string_view bytes, std::string const& name);
/// fvecs, bvecs, ivecs: each row has its length in front.
vectors_layout vecs_layout(context const& ctx, std::string_view bytes, number_form form,
                           std::string const& name);
/// fbin, u8bin, i8bin, ibin.
vectors_layout bin_layout(std::string_view bytes, number_form form, std::string const& name);

/// A layout without gaps of so many rows and dimensions, for a file of `size` bytes; throws `error`
/// where it has not exactly the bytes that are needed, or there are none.
vectors_layout layout_without_gaps(number_form form, std::size_t rows, std::size_t dimensions,
                                   std::size_t begin, std::size_t size, std::string const& name);

/// What a format's numbers are; no value where the file says it (npy, idx).
std::optional<number_form> form_of(vectors_format format);

/// The format that the end of a file's name says; that of a file to `read` may go on with .gz or
/// .zst. Throws `usage_error` where it says none.
vectors_format format_of_name(std::string const& path, bool read);

}  // namespace rulerank::datasets
