#pragma once
// Dense vectors: matrices of numbers, a row a vector, and the files that hold them.

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

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// What a value of a vector is.
enum class element : std::uint8_t { float32, float16, bfloat16, int8, uint8, int32, float64 };

struct named_element {
  element which;
  std::string_view name;  ///< as users know it: f32, f16, bf16, i8, u8, i32, f64
  std::size_t bytes;      ///< of a value
};

/// All of them.
std::span<named_element const> elements();
std::string_view name_of(element which);
std::size_t bytes_of(element which);

/// A value of 16 bits, IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// The nearest one, of two equally near ones the even one; infinity from 65520 on.
  explicit float16(double value);
  /// Exact.
  explicit operator float() const {
    std::uint32_t const magnitude = (bits & 0x7fffU) << 13;
    // The exponent begins at -14, a float's at -126; what is subnormal is scaled as well.
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
  /// The nearest one, of two equally near ones the even one; infinity beyond the largest.
  explicit bfloat16(double value);
  /// Exact.
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// The element whose values are a type of C++.
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
  exact,    ///< a value that the other type has not is an error
  nearest,  ///< of a floating type: the nearest value, of two equally near ones the even one
};

/// A dense matrix, a row a vector: rows follow each other without gaps, values are as this machine
/// has them. What holds the memory (an array, a file's text or mapping) is shared by copies and
/// parts. The data begins at a multiple of a value's size, where it was copied at a multiple of 64.
class vectors {
 public:
  /// None.
  vectors() = default;
  /// Memory that `owner` keeps alive; with an empty one that is up to the caller. `name` stands in
  /// messages. `usage_error` where rows have no values, or the data is not at a multiple of a
  /// value's size.
  vectors(element type, void const* data, std::size_t rows, std::size_t dimensions,
          std::shared_ptr<void const> owner = nullptr, std::string name = "vectors");
  /// Rows of so many values; `usage_error` where they are no whole rows.
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
  /// Of some rows: the number of the first among those that they are a part of, for messages.
  std::size_t first_row() const noexcept { return first_row_; }

  /// All values; `usage_error` where they are of another type.
  template <class T>
  std::span<T const> values() const {
    if (element_of<T>() != type_) refuse_type(element_of<T>());
    return {reinterpret_cast<T const*>(data_), rows_ * dimensions_};
  }
  /// A vector; `i` is below `size()`.
  template <class T>
  std::span<T const> row(std::size_t i) const {
    return values<T>().subspan(i * dimensions_, dimensions_);
  }
  /// Calls `use` with all values, whatever their type is: a std::span<T const>.
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

  /// Some rows, on the same memory; `begin + count` is at most `size()`.
  vectors rows(std::size_t begin, std::size_t count) const;

  /// Throws `error` naming a mapped file that was written to since it was opened: who computes with
  /// vectors that were read calls it at the end. A mapped file that is cut short in between is a
  /// SIGBUS, which the program turns into an error.
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
  bool finite_ = false;  // what `expect_finite` expects is known to be so
  std::shared_ptr<void const> owner_;
  std::shared_ptr<text_source const> text_;  // of the file that was mapped
  std::string name_ = "vectors";
};

/// Throws `error` for the first row with a value that is NaN or infinite or, of float64, larger
/// than `largest_value` (datasets/text/documents.hpp), whatever its sign; its line is the row, its
/// column the value's, both from 1. What `read_vectors` read was checked, and is not looked at
/// again.
void expect_finite(context const& ctx, vectors const& values);

/// The same numbers as another type, in memory of their own; the vectors themselves where they have
/// the type. Throws `error` for the first row with a value that is out of the type's range, or that
/// is rounded where that is not asked for, with row and column as above. A zero keeps its sign in
/// floating types.
vectors converted(context const& ctx, vectors const& values, element to,
                  rounding how = rounding::exact);

/// The forms that files of vectors have. Numbers are little-endian but for idx.
enum class vectors_format : std::uint8_t {
  automatic,  ///< by the end of the file's name: the format's name behind a point, and idx also
              ///< where it is that of MNIST's files (`-idx3-ubyte`); before it goes `.gz` or `.zst`
  npy,        ///< NumPy's, versions 1.0, 2.0 and 3.0: two dimensions, C order, float of 16, 32 or
              ///< 64 bits, int8, uint8 or int32. Python's objects are refused, never unpickled
  fvecs,      ///< a row: the dimensions as int32, then so many float32
  bvecs,      ///< ... uint8
  ivecs,      ///< ... int32
  fbin,       ///< the rows and the dimensions as uint32, then all float32
  u8bin,      ///< ... uint8
  i8bin,      ///< ... int8
  ibin,       ///< ... int32
  idx,        ///< MNIST's: uint8 or int8 of several dimensions; those after the first are a row's
};

struct named_vectors_format {
  vectors_format which;
  std::string_view name;
};

/// All of them.
std::span<named_vectors_format const> vectors_formats();
std::string_view name_of(vectors_format which);
/// The format that the end of the name of a file to read says, none where it says none.
std::optional<vectors_format> vectors_format_of_name(std::string const& path);

struct vectors_options {
  vectors_format format = vectors_format::automatic;
  /// A plain file whose rows lie as in memory is mapped, unless this is set: then it may change
  /// once it is read.
  bool copy = false;
};

/// Reads all vectors of a file, or of standard input ("-"); it may be plain, gzip or zstd. What is
/// read is finite, as `expect_finite` says. float64 stays float64, so that nothing is rounded
/// unasked: `converted` makes float32 of it, as FAISS has it. No format has bfloat16: `converted`
/// makes it. Throws `error` for anything else than vectors of the format, for a file of no rows or
/// of rows without values, and for bytes behind the last; `usage_error` where the format is
/// automatic and the name does not say one.
vectors read_vectors(context const& ctx, std::string const& path,
                     vectors_options const& options = {});

/// Reads one integer a vector, such as its class: one dimension of idx or npy (int8 to int64, uint8
/// to uint32), or rows of one value of any format of integers. Throws as `read_vectors`, and
/// `error` for a number that is no int32.
std::vector<std::int32_t> read_classes(context const& ctx, std::string const& path,
                                       vectors_options const& options = {});

/// A file of vectors in a format that has their type and is not idx, complete but for its commit,
/// so that several files can appear together. Throws `usage_error` for a type or size that the
/// format has not, and for a name that says no format; `output_error`.
output_file vectors_file(context const& ctx, std::string const& path, vectors const& values,
                         vectors_format format = vectors_format::automatic);

/// Writes such a file: whole or not at all.
void write_vectors(context const& ctx, std::string const& path, vectors const& values,
                   vectors_format format = vectors_format::automatic);

template <class T>
vectors::vectors(std::vector<T> values, std::size_t dimensions, std::string name) {
  std::size_t const rows = whole_rows(values.size(), dimensions, name);
  auto const kept = std::make_shared<std::vector<T> const>(std::move(values));
  *this = vectors(element_of<T>(), kept->data(), rows, dimensions, kept, std::move(name));
}

}  // namespace rulerank::datasets
