#include "core/error.hpp"
#include "core/output_file.hpp"
#include "datasets/vectors.hpp"
#include "datasets/vectors/layout.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t bytes_a_write = 1 << 20;
constexpr std::size_t header_alignment = 64;

std::string_view text_of(std::byte const* data, std::size_t bytes) {
  return {reinterpret_cast<char const*>(data), bytes};
}

std::string little_endian(std::size_t number) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// Returns the header that numpy.save writes, in version 1.0.
std::string npy_header(vectors const& values) {
  std::string header = "\x93NUMPY\x01";
  header += '\0';
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                  spelled(form_of(values.type())), values.size(), values.dimensions());
  constexpr std::size_t length_size = 2;
  std::size_t const used = header.size() + length_size + text.size() + 1;
  text.append((header_alignment - used % header_alignment) % header_alignment, ' ');
  text += '\n';
  header += little_endian(text.size()).substr(0, length_size);
  return header + text;
}

void check_form(std::string const& name, vectors const& values, vectors_format format) {
  if (format == vectors_format::idx)
    throw usage_error(fmt::format("{}: cannot write idx, expected a different format", name));
  std::optional<number_form> const form = form_of(format);
  if (form && *form != form_of(values.type()))
    throw usage_error(fmt::format("{}: {} cannot hold values of type {}, expected {}", name,
                                  name_of(format), name_of(values.type()),
                                  name_of(*element_of(*form))));
}

bool has_lengths(vectors_format format) {
  return format == vectors_format::fvecs || format == vectors_format::bvecs ||
         format == vectors_format::ivecs;
}

void check_size(std::string const& name, vectors const& values, vectors_format format) {
  if (format == vectors_format::npy) return;
  std::size_t const most = has_lengths(format) ? std::numeric_limits<std::int32_t>::max()
                                               : std::numeric_limits<std::uint32_t>::max();
  if (values.dimensions() > most || (!has_lengths(format) && values.size() > most))
    throw usage_error(fmt::format("{}: found {} rows of {} values, more than {} can hold", name,
                                  values.size(), values.dimensions(), name_of(format)));
}

void write_rows(context const& ctx, output_file& out, vectors const& values) {
  std::size_t const bytes = values.bytes();
  for (std::size_t at = 0; at < bytes; at += bytes_a_write) {
    ctx.check_stop();
    out.write(text_of(values.data() + at, std::min(bytes_a_write, bytes - at)));
  }
}

void write_rows_with_lengths(context const& ctx, output_file& out, vectors const& values) {
  std::string const length = little_endian(values.dimensions());
  std::size_t const row_bytes = values.row_bytes();
  std::size_t const rows_a_check = std::max<std::size_t>(bytes_a_write / row_bytes, 1);
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (row % rows_a_check == 0) ctx.check_stop();
    out.write(length);
    out.write(text_of(values.data() + row * row_bytes, row_bytes));
  }
}

}  // namespace

output_file vectors_file(context const& ctx, std::string const& path, vectors const& values,
                         vectors_format format) {
  if (format == vectors_format::automatic) format = format_of_name(path, false);
  std::string const name = path == "-" ? "standard output" : path;
  if (values.empty())
    throw usage_error(fmt::format("{}: found no vectors to write, expected at least 1", name));
  check_form(name, values, format);
  check_size(name, values, format);
  output_file out(path);
  if (has_lengths(format)) {
    write_rows_with_lengths(ctx, out, values);
  } else {
    out.write(format == vectors_format::npy
                  ? npy_header(values)
                  : little_endian(values.size()) + little_endian(values.dimensions()));
    write_rows(ctx, out, values);
  }
  values.expect_unchanged();
  out.flush();
  return out;
}

void write_vectors(context const& ctx, std::string const& path, vectors const& values,
                   vectors_format format) {
  vectors_file(ctx, path, values, format).commit();
}

}  // namespace rulerank::datasets
