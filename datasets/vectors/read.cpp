#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "datasets/input/decompress.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/vectors.hpp"
#include "datasets/vectors/first_fault.hpp"
#include "datasets/vectors/layout.hpp"
#include "datasets/vectors/memory.hpp"
#include "datasets/vectors/part.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t bytes_at_once = 1 << 20;

struct opened_vectors {
  opened_vectors(context const& ctx, std::string const& path, vectors_format asked)
      : format(asked == vectors_format::automatic ? format_of_name(path, true) : asked),
        text(open_bytes(ctx, path)),
        name(display_name(path)) {}

  vectors_format format;
  std::shared_ptr<text_source const> text;
  std::string name;
};

vectors_layout layout_of_format(context const& ctx, opened_vectors const& file) {
  std::string_view const bytes = file.text->bytes();
  switch (file.format) {
    case vectors_format::npy:
      return npy_layout(bytes, file.name);
    case vectors_format::idx:
      return idx_layout(bytes, file.name);
    case vectors_format::fvecs:
    case vectors_format::bvecs:
    case vectors_format::ivecs:
      return vecs_layout(ctx, bytes, *form_of(file.format), file.name);
    default:
      return bin_layout(bytes, *form_of(file.format), file.name);
  }
}

/// Returns the layout. If the file is in another format and was packed, throws `error` that names
/// the packing.
vectors_layout layout_of(context const& ctx, opened_vectors const& file) {
  try {
    return layout_of_format(ctx, file);
  } catch (error const&) {
    std::string_view const packing = packing_of(file.text->bytes());
    bool const is_npz = file.format == vectors_format::npy && packing == "a zip archive";
    if (packing.empty() || is_npz) throw;
    throw error({file.name, 0, 0},
                fmt::format("found {}, expected vectors; unpack the file first", packing));
  }
}

/// Copies the rows contiguously.
std::shared_ptr<std::byte const> copied_rows(context const& ctx, std::string_view bytes,
                                             vectors_layout const& layout) {
  std::size_t const row_bytes = layout.dimensions * layout.form.bytes;
  auto const kept = aligned_bytes(std::max<std::size_t>(layout.rows * row_bytes, 1));
  std::size_t const grain = std::max<std::size_t>(bytes_at_once / row_bytes, 1);
  parallel_for(ctx, layout.rows, grain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t row = begin; row < end; ++row)
      std::memcpy(kept.get() + row * row_bytes, bytes.data() + layout.begin + row * layout.stride,
                  row_bytes);
  });
  return kept;
}

/// Returns the integer of `form.bytes` bytes at a place; `kind` is i or u. A uint64 beyond the
/// largest int64 becomes that.
std::int64_t integer_at(char const* at, number_form form) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, form.bytes);
  if (form.kind == 'u')
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(bits, std::numeric_limits<std::int64_t>::max()));
  auto const shift = static_cast<int>(64 - 8 * form.bytes);
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

/// Returns rows of a file in column-major order; `first` is the number of the first row.
std::shared_ptr<std::byte const> rows_of_columns(context const& ctx, std::string_view bytes,
                                                 vectors_layout const& layout, std::size_t first,
                                                 std::size_t rows_of_file) {
  std::size_t const size = layout.form.bytes;
  auto const kept = aligned_bytes(std::max<std::size_t>(layout.rows * layout.stride, 1));
  std::size_t const grain = std::max<std::size_t>(bytes_at_once / layout.stride, 1);
  parallel_for(ctx, layout.rows, grain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = 0; d < layout.dimensions; ++d)
      for (std::size_t row = begin; row < end; ++row)
        std::memcpy(kept.get() + row * layout.stride + d * size,
                    bytes.data() + layout.begin + (d * rows_of_file + first + row) * size, size);
  });
  return kept;
}

/// Converts integers of other sizes to int32. Throws `error` for one out of range.
std::shared_ptr<std::byte const> int32_rows(context const& ctx, std::string_view bytes,
                                            vectors_layout const& layout, std::size_t first,
                                            std::size_t rows_of_file, std::string const& name) {
  std::size_t const size = layout.form.bytes;
  auto const kept = aligned_bytes(
      std::max<std::size_t>(layout.rows * layout.dimensions * sizeof(std::int32_t), 1));
  parallel_for(ctx, layout.rows, 1024, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t d = 0; d < layout.dimensions; ++d) {
        std::size_t const at = layout.by_columns ? (d * rows_of_file + first + row) * size
                                                 : row * layout.stride + d * size;
        std::int64_t const number = integer_at(bytes.data() + layout.begin + at, layout.form);
        auto const value = static_cast<std::int32_t>(number);
        if (value != number)
          throw error({name, 0, 0},
                      fmt::format("found {} in row {} (from 0), expected integers of 32 bits",
                                  number, first + row));
        std::memcpy(kept.get() + (row * layout.dimensions + d) * sizeof value, &value,
                    sizeof value);
      }
  });
  return kept;
}

}  // namespace

/// Makes vectors that keep their text alive.
class vectors_reader {
 public:
  static vectors in_place(std::shared_ptr<text_source const> const& text, std::size_t begin,
                          element type, std::size_t rows, std::size_t dimensions,
                          std::string const& name) {
    vectors read(type, text->bytes().data() + begin, rows, dimensions, text, name);
    read.text_ = text;
    return read;
  }
  static void number(vectors& rows, std::size_t first) { rows.first_row_ = first; }
  /// Throws as `expect_finite`; later checks of the vectors and of their parts are then skipped.
  static void check_finite(context const& ctx, vectors& rows) {
    expect_finite(ctx, rows);
    rows.finite_ = true;
  }
};

vectors read_vectors(context const& ctx, std::string const& path, vectors_options const& options) {
  return read_vectors_part(
             ctx, path,
             [](std::size_t rows) {
               return index_range{0, rows};
             },
             options)
      .rows;
}

vectors_part read_vectors_part(context const& ctx, std::string const& path,
                               std::function<index_range(std::size_t rows)> const& part_of,
                               vectors_options const& options) {
  opened_vectors const file(ctx, path, options.format);
  vectors_layout layout = layout_of(ctx, file);
  if (layout.listed)
    throw error({file.name, 0, 0},
                "found numbers in one dimension, expected rows and their values");
  std::optional<element> const type = element_of(layout.form);
  bool const is_other_integer = !type && layout.form.kind != 'f';
  if (!type && !is_other_integer)
    throw error(
        {file.name, 0, 0},
        fmt::format(
            "found values of type {}, expected <f2, <f4, <f8, |i1, |u1, <i2, <u2, <i4, <u4, "
            "<i8 or <u8",
            spelled(layout.form)));
  std::string_view const bytes = file.text->bytes();
  vectors_part part;
  part.of_file = layout.rows;
  index_range const some = part_of(layout.rows);
  part.first = some.begin;
  if (!layout.by_columns) layout.begin += some.begin * layout.stride;
  layout.rows = some.size();
  // Decompressed text is not kept for only a part of it.
  bool const kept_for_less = layout.rows < part.of_file &&
                             dynamic_cast<changeable_text const*>(file.text.get()) == nullptr;
  bool const gaps = layout.stride != layout.dimensions * layout.form.bytes;
  bool const aligned =
      reinterpret_cast<std::uintptr_t>(bytes.data() + layout.begin) % layout.form.bytes == 0;
  vectors& read = part.rows;
  if (is_other_integer) {
    auto const kept = int32_rows(ctx, bytes, layout, part.first, part.of_file, file.name);
    read = vectors(element::int32, kept.get(), layout.rows, layout.dimensions, kept, file.name);
  } else if (layout.by_columns) {
    auto const kept = rows_of_columns(ctx, bytes, layout, part.first, part.of_file);
    read = vectors(*type, kept.get(), layout.rows, layout.dimensions, kept, file.name);
  } else if (gaps || !aligned || options.copy || kept_for_less) {
    auto const kept = copied_rows(ctx, bytes, layout);
    read = vectors(*type, kept.get(), layout.rows, layout.dimensions, kept, file.name);
  } else {
    read = vectors_reader::in_place(file.text, layout.begin, *type, layout.rows, layout.dimensions,
                                    file.name);
  }
  vectors_reader::number(read, part.first);
  vectors_reader::check_finite(ctx, read);
  expect_unchanged(*file.text, file.name);
  return part;
}

std::vector<std::int32_t> read_classes(context const& ctx, std::string const& path,
                                       vectors_options const& options) {
  opened_vectors const file(ctx, path, options.format);
  vectors_layout const layout = layout_of(ctx, file);
  if (layout.dimensions != 1)
    throw error({file.name, 0, 0}, fmt::format("found rows of {}, expected one number each",
                                               counted(layout.dimensions, "value")));
  if (layout.form.kind == 'f')
    throw error({file.name, 0, 0},
                fmt::format("found values of type {}, expected integers", spelled(layout.form)));
  char const* const begin = file.text->bytes().data() + layout.begin;
  std::vector<std::int32_t> read(layout.rows);
  for (std::size_t row = 0; row < layout.rows; ++row) {
    std::int64_t const number = integer_at(begin + row * layout.stride, layout.form);
    read[row] = static_cast<std::int32_t>(number);
    if (read[row] != number)
      throw error({file.name, row + 1, 1},
                  fmt::format("found {} in row {} (from 1), expected a number of {} to {}", number,
                              row + 1, std::numeric_limits<std::int32_t>::min(),
                              std::numeric_limits<std::int32_t>::max()));
  }
  expect_unchanged(*file.text, file.name);
  return read;
}

}  // namespace rulerank::datasets
