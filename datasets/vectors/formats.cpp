#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/named_values.hpp"
#include "datasets/vectors/layout.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// In the order of the enum.
constexpr std::array<named_vectors_format, 10> known_formats{{
    {vectors_format::automatic, "auto"},
    {vectors_format::npy, "npy"},
    {vectors_format::fvecs, "fvecs"},
    {vectors_format::bvecs, "bvecs"},
    {vectors_format::ivecs, "ivecs"},
    {vectors_format::fbin, "fbin"},
    {vectors_format::u8bin, "u8bin"},
    {vectors_format::i8bin, "i8bin"},
    {vectors_format::ibin, "ibin"},
    {vectors_format::idx, "idx"},
}};

struct stored_element {
  element type;
  number_form form;
};
constexpr std::array<stored_element, 6> stored{{
    {element::float32, {'f', 4}},
    {element::float16, {'f', 2}},
    {element::int8, {'i', 1}},
    {element::uint8, {'u', 1}},
    {element::int32, {'i', 4}},
    {element::float64, {'f', 8}},
}};

/// Recognizes names of MNIST's files: `train-images-idx3-ubyte` and `train-images.idx3-ubyte`.
bool is_mnist_name(std::string_view name) {
  constexpr std::string_view form = "?idx#-ubyte";
  if (name.size() < form.size()) return false;
  name.remove_prefix(name.size() - form.size());
  return (name[0] == '-' || name[0] == '.') && name.substr(1, 3) == "idx" && name[4] >= '1' &&
         name[4] <= '9' && name.substr(5) == form.substr(5);
}

}  // namespace

std::span<named_vectors_format const> vectors_formats() {
  return known_formats;
}
std::string_view name_of(vectors_format which) {
  return known_formats[static_cast<std::size_t>(which)].name;
}
vectors_format vectors_format_from(std::string_view name) {
  for (named_vectors_format const& one : known_formats)
    if (one.name == name) return one.which;
  throw unknown_name("found the format", name, list_of_names(known_formats, name_list::one_of));
}

std::string spelled(number_form form) {
  return fmt::format("{}{}{}", form.bytes == 1 ? '|' : '<', form.kind, form.bytes);
}

std::optional<element> element_of(number_form form) {
  for (stored_element const& one : stored)
    if (one.form == form) return one.type;
  return std::nullopt;
}

number_form form_of(element type) {
  for (stored_element const& one : stored)
    if (one.type == type) return one.form;
  throw usage_error(
      fmt::format("found values of type {}, which no file format holds", name_of(type)));
}

std::optional<number_form> form_of(vectors_format format) {
  switch (format) {
    case vectors_format::fvecs:
    case vectors_format::fbin:
      return form_of(element::float32);
    case vectors_format::bvecs:
    case vectors_format::u8bin:
      return form_of(element::uint8);
    case vectors_format::i8bin:
      return form_of(element::int8);
    case vectors_format::ivecs:
    case vectors_format::ibin:
      return form_of(element::int32);
    default:
      return std::nullopt;
  }
}

namespace {

/// Returns `automatic` if the name implies no format.
vectors_format named_format(std::string const& path, bool read) {
  std::string name = path.substr(path.rfind('/') + 1);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::string_view const end : {".gz", ".zst"})
    if (read && name.ends_with(end)) {
      name.resize(name.size() - end.size());
      break;
    }
  for (named_vectors_format const& one : known_formats) {
    bool const ends = name.size() > one.name.size() && name.ends_with(one.name) &&
                      name[name.size() - one.name.size() - 1] == '.';
    if (ends && one.which != vectors_format::automatic) return one.which;
  }
  return is_mnist_name(name) ? vectors_format::idx : vectors_format::automatic;
}

}  // namespace

std::optional<vectors_format> vectors_format_of_name(std::string const& path) {
  auto const named = named_format(path, true);
  if (named == vectors_format::automatic) return std::nullopt;
  return named;
}

vectors_format format_of_name(std::string const& path, bool read) {
  auto const named = named_format(path, read);
  if (named != vectors_format::automatic) return named;
  std::string names;
  for (named_vectors_format const& one : known_formats)
    if (one.which != vectors_format::automatic)
      append_format(names, "{}.{}", names.empty() ? "" : ", ", one.name);
  throw usage_error(fmt::format(
      "{}: found no format of vectors in the name, expected a name that ends with one of {}",
      path != "-" ? path
      : read      ? "standard input"
                  : "standard output",
      names));
}

}  // namespace rulerank::datasets
