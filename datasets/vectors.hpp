#pragma once
// Dense vectors: matrices of numbers with one vector per row, and their files.

#include "core/context.hpp"
#include "datasets/dataset.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rulerank::inline v0 {
class output_file;
}  // namespace rulerank

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

/// The type of a vector's values.
enum class element : std::uint8_t { float32, float16, bfloat16, int8, uint8, int32, float64 };

struct named_element {
  element which;
  std::string_view name;  ///< in options and messages: f32, f16, bf16, i8, u8, i32, f64
  std::size_t bytes;      ///< per value
};

/// Lists all element types.
std::span<named_element const> elements();
std::string_view name_of(element which);
std::size_t bytes_of(element which);

/// A value of 16 bits, IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// Rounds to nearest, ties to even; infinity from 65520 on.
  explicit float16(double value);
  /// Exact.
  explicit operator float() const {
    std::uint32_t const magnitude = (bits & 0x7fffU) << 13;
    // The exponent begins at -14, that of a float at -126; subnormal values are scaled, too.
    auto const scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
    bool const finite = magnitude < (0x1fU << 23);
    return std::bit_cast<float>((bits & 0x8000U) << 16 |
                                (finite ? scaled : magnitude | 0x7f800000U));
  }
};

/// A value of 16 bits, the upper half of a float: 8 bits of exponent, 7 of fraction.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; infinity beyond the largest value.
  explicit bfloat16(double value);
  /// Exact.
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// Returns the element type for a C++ type.
template <class T>
constexpr element element_of() {
  if constexpr (std::is_same_v<T, float>) {
    return element::float32;
  } else if constexpr (std::is_same_v<T, float16>) {
    return element::float16;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return element::bfloat16;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return element::int8;
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return element::uint8;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return element::int32;
  } else {
    static_assert(std::is_same_v<T, double>, "no element has values of this type");
    return element::float64;
  }
}

enum class rounding : std::uint8_t {
  exact,    ///< a value that the other type cannot represent is an error
  nearest,  ///< floating types round to nearest, ties to even
};

/// A dense matrix with one vector per row: rows are contiguous, values in the machine's format.
/// Copies and parts share the owner of the memory (an array, or a file's text or mapping). The data
/// is aligned to the size of a value; copied data is aligned to 64 bytes.
class vectors {
 public:
  /// Empty.
  vectors() = default;
  /// Refers to memory that `owner` keeps alive, or the caller if it is null. `name` is used in
  /// messages. Throws `usage_error` for rows without values and for misaligned data.
  vectors(element type, void const* data, std::size_t rows, std::size_t dimensions,
          std::shared_ptr<void const> owner = nullptr, std::string name = "vectors");
  /// Takes rows of `dimensions` values; throws `usage_error` if they are not whole rows.
  template <class T>
  vectors(std::vector<T> values, std::size_t dimensions, std::string name = "vectors");

  std::size_t size() const noexcept { return rows_; }
  bool empty() const noexcept { return rows_ == 0; }
  std::size_t dimensions() const noexcept { return dimensions_; }
  element type() const noexcept { return type_; }
  /// [size()][dimensions()]
  std::byte const* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return rows_ * row_bytes(); }
  std::size_t row_bytes() const noexcept { return dimensions_ * bytes_of(type_); }
  /// For messages.
  std::string const& name() const noexcept { return name_; }
  /// For a range of rows: the number of its first row in the whole, for messages.
  std::size_t first_row() const noexcept { return first_row_; }

  /// Returns all values; throws `usage_error` if they have another type.
  template <class T>
  std::span<T const> values() const {
    if (element_of<T>() != type_) refuse_type(element_of<T>());
    return {reinterpret_cast<T const*>(data_), rows_ * dimensions_};
  }
  /// Returns a vector; `i` must be below `size()`.
  template <class T>
  std::span<T const> row(std::size_t i) const {
    return values<T>().subspan(i * dimensions_, dimensions_);
  }
  /// Calls `use` with all values as a std::span<T const> of their type.
  template <class Use>
  decltype(auto) visit(Use&& use) const {
    switch (type_) {
      case element::float16:
        return use(values<float16>());
      case element::bfloat16:
        return use(values<bfloat16>());
      case element::int8:
        return use(values<std::int8_t>());
      case element::uint8:
        return use(values<std::uint8_t>());
      case element::int32:
        return use(values<std::int32_t>());
      case element::float64:
        return use(values<double>());
      default:
        return use(values<float>());
    }
  }

  /// Returns a range of rows that shares the memory; `begin + count` is at most `size()`.
  vectors rows(std::size_t begin, std::size_t count) const;

  /// Throws `error` naming a mapped file that has changed since it was opened. Callers that read
  /// vectors must call it after computing with them. If a mapped file is cut short meanwhile, the
  /// program turns the SIGBUS into an error.
  void expect_unchanged() const;

 private:
  friend class vectors_reader;
  friend void expect_finite(context const& ctx, vectors const& values);
  friend vectors converted(context const& ctx, vectors const& values, element to, rounding how);
  [[noreturn]] void refuse_type(element asked) const;
  static std::size_t whole_rows(std::size_t values, std::size_t dimensions,
                                std::string const& name);

  element type_ = element::float32;
  std::byte const* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t dimensions_ = 0;
  std::size_t first_row_ = 0;
  bool finite_ = false;  // known to satisfy `expect_finite`
  std::shared_ptr<void const> owner_;
  std::shared_ptr<text_source const> text_;  // of the mapped file
  std::string name_ = "vectors";
};

/// Throws `error` for the first row with a value that is NaN or infinite or, for float64, has a
/// magnitude above `largest_value` (datasets/text/documents.hpp). Its line is the row, its column
/// the value's, both from 1. Vectors from `read_vectors` are already checked, and not checked
/// again.
void expect_finite(context const& ctx, vectors const& values);

/// Returns the same numbers as another type, in new memory, or the vectors themselves if they have
/// the type. Throws `error` with row and column as above for the first value that is out of range,
/// or that must be rounded when rounding is not requested. A zero keeps its sign in floating types.
vectors converted(context const& ctx, vectors const& values, element to,
                  rounding how = rounding::exact);

/// The formats of vector files. Numbers are little-endian except in idx.
enum class vectors_format : std::uint8_t {
  /// By the end of the file's name, before `.gz` or `.zst`: the format's name after a point, and
  /// idx also for names of MNIST's files (`-idx3-ubyte`).
  automatic,
  /// NumPy, versions 1.0, 2.0 and 3.0: two dimensions, C order, float of 16, 32 or 64 bits, int8,
  /// uint8 or int32. Python objects are rejected, never unpickled.
  npy,
  fvecs,  ///< per row: the dimensions as int32, then the values as float32
  bvecs,  ///< ... uint8
  ivecs,  ///< ... int32
  fbin,   ///< the rows and the dimensions as uint32, then all float32
  u8bin,  ///< ... uint8
  i8bin,  ///< ... int8
  ibin,   ///< ... int32
  idx,    ///< MNIST: uint8 or int8 of several dimensions; a row has all dimensions except the first
};

struct named_vectors_format {
  vectors_format which;
  std::string_view name;
};

/// Lists all formats.
std::span<named_vectors_format const> vectors_formats();
std::string_view name_of(vectors_format which);
/// Throws `usage_error` that lists the names.
vectors_format vectors_format_from(std::string_view name);
/// Returns the format that the name of an input file implies, if any.
std::optional<vectors_format> vectors_format_of_name(std::string const& path);

struct vectors_options {
  vectors_format format = vectors_format::automatic;
  /// A plain file whose rows are stored as in memory is mapped unless this is set; a copied file
  /// may change after it is read.
  bool copy = false;
};

/// Reads all vectors of a file, or of standard input ("-"), plain, gzip or zstd. All values are
/// finite as in `expect_finite`. float64 stays float64, so nothing is rounded implicitly;
/// `converted` makes float32 of it, as FAISS uses. No format has bfloat16; `converted` makes it.
/// Throws `error` if the file is not in the format, has no rows or no values, or has extra bytes at
/// the end; throws `usage_error` if the format is automatic and the name implies none.
vectors read_vectors(context const& ctx, std::string const& path,
                     vectors_options const& options = {});

/// Reads one integer per vector, such as its class: one dimension of idx or npy (int8 to int64,
/// uint8 to uint32), or rows of one value in any format of integers. Throws as `read_vectors`, and
/// `error` for a number beyond int32.
std::vector<std::int32_t> read_classes(context const& ctx, std::string const& path,
                                       vectors_options const& options = {});

/// Returns a file of vectors in a format with their type, other than idx, complete except for its
/// commit, so that several files can appear together. Throws `usage_error` for a type or size that
/// the format does not support, and for a name that implies no format; throws `output_error`.
output_file vectors_file(context const& ctx, std::string const& path, vectors const& values,
                         vectors_format format = vectors_format::automatic);

/// Writes such a file, whole or not at all.
void write_vectors(context const& ctx, std::string const& path, vectors const& values,
                   vectors_format format = vectors_format::automatic);

template <class T>
vectors::vectors(std::vector<T> values, std::size_t dimensions, std::string name) {
  std::size_t const rows = whole_rows(values.size(), dimensions, name);
  auto const kept = std::make_shared<std::vector<T> const>(std::move(values));
  *this = vectors(element_of<T>(), kept->data(), rows, dimensions, kept, std::move(name));
}

}  // namespace rulerank::datasets
