#include "datasets/vectors.hpp"

#include "core/error.hpp"
#include "datasets/input/text_source.hpp"

#include <array>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// In the order of the enum.
constexpr std::array<named_element, 7> known_elements{{
    {element::float32, "f32", 4},
    {element::float16, "f16", 2},
    {element::bfloat16, "bf16", 2},
    {element::int8, "i8", 1},
    {element::uint8, "u8", 1},
    {element::int32, "i32", 4},
    {element::float64, "f64", 8},
}};

}  // namespace

std::span<named_element const> elements() {
  return known_elements;
}
std::string_view name_of(element which) {
  return known_elements[static_cast<std::size_t>(which)].name;
}
std::size_t bytes_of(element which) {
  return known_elements[static_cast<std::size_t>(which)].bytes;
}

vectors::vectors(element type, void const* data, std::size_t rows, std::size_t dimensions,
                 std::shared_ptr<void const> owner, std::string name)
    : type_(type),
      data_(static_cast<std::byte const*>(data)),
      rows_(rows),
      dimensions_(dimensions),
      owner_(std::move(owner)),
      name_(std::move(name)) {
  if (dimensions_ == 0)
    throw usage_error(fmt::format("{}: found rows of 0 values, expected at least 1", name_));
  if (reinterpret_cast<std::uintptr_t>(data_) % bytes_of(type_) != 0)
    throw usage_error(
        fmt::format("{}: found values at an address that is not a multiple of their {}", name_,
                    counted(bytes_of(type_), "byte")));
}

std::size_t vectors::whole_rows(std::size_t values, std::size_t dimensions,
                                std::string const& name) {
  if (dimensions == 0 || values % dimensions != 0)
    throw usage_error(fmt::format("{}: found {}, expected whole rows of {}", name,
                                  counted(values, "value"), dimensions));
  return values / dimensions;
}

void vectors::refuse_type(element asked) const {
  throw usage_error(fmt::format("{}: found values of type {}, expected {}", name_, name_of(type_),
                                name_of(asked)));
}

vectors vectors::rows(std::size_t begin, std::size_t count) const {
  vectors part = *this;
  part.data_ += begin * row_bytes();
  part.rows_ = count;
  part.first_row_ += begin;
  return part;
}

void vectors::expect_unchanged() const {
  if (text_ != nullptr) datasets::expect_unchanged(*text_, name_);
}

}  // namespace rulerank::datasets
