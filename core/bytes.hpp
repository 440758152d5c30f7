#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Serializes values as bytes for other processes of the same program on machines of the same kind:
// plain values as in memory, containers after their size, structs member by member.
namespace rulerank::inline v0 {

/// A struct that lists the members to serialize:
///     static auto members_of(auto& value) { return std::tie(value.name, value.counts); }
template <class Value>
concept ListsMembers = requires(Value& value) {
  Value::members_of(value);
};

namespace bytes_detail {

template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;
template <class Value>
inline constexpr bool is_pair = false;
template <class First, class Second>
inline constexpr bool is_pair<std::pair<First, Second>> = true;

/// A value whose bytes are its whole state.
template <class Value>
concept Plain = std::is_trivially_copyable_v<Value> && !ListsMembers<Value> &&
                !std::ranges::view<Value> && !is_optional<Value> && !is_pair<Value>;

/// A contiguous range of plain values.
template <class Value>
concept PlainRow = std::ranges::contiguous_range<Value> && Plain<std::ranges::range_value_t<Value>>;

}  // namespace bytes_detail

template <class Value>
void put(std::string& bytes, Value const& value) {
  if constexpr (ListsMembers<Value>) {
    std::apply([&](auto const&... member) { (put(bytes, member), ...); }, Value::members_of(value));
  } else if constexpr (bytes_detail::is_optional<Value>) {
    put(bytes, value.has_value());
    if (value) put(bytes, *value);
  } else if constexpr (bytes_detail::is_pair<Value>) {
    put(bytes, value.first);
    put(bytes, value.second);
  } else if constexpr (bytes_detail::Plain<Value>) {
    bytes.append(reinterpret_cast<char const*>(&value), sizeof(value));
  } else {
    std::size_t const count = std::ranges::size(value);
    put(bytes, count);
    if constexpr (bytes_detail::PlainRow<Value>)
      bytes.append(reinterpret_cast<char const*>(std::ranges::data(value)),
                   count * sizeof(*std::ranges::data(value)));
    else
      for (auto const& one : value) put(bytes, one);
  }
}

/// Removes a value from the front of `bytes`, in the order of `put`. Elements of a vector, map or
/// set are added to the existing ones.
template <class Value>
void take(std::string_view& bytes, Value& value) {
  if constexpr (ListsMembers<Value>) {
    std::apply([&](auto&... member) { (take(bytes, member), ...); }, Value::members_of(value));
  } else if constexpr (bytes_detail::is_optional<Value>) {
    bool has_value = false;
    take(bytes, has_value);
    value.reset();
    if (has_value) take(bytes, value.emplace());
  } else if constexpr (bytes_detail::is_pair<Value>) {
    take(bytes, value.first);
    take(bytes, value.second);
  } else if constexpr (bytes_detail::Plain<Value>) {
    std::memcpy(&value, bytes.data(), sizeof(value));
    bytes.remove_prefix(sizeof(value));
  } else {
    std::size_t count = 0;
    take(bytes, count);
    if constexpr (std::is_same_v<Value, std::string>) {
      value = bytes.substr(0, count);
      bytes.remove_prefix(count);
    } else if constexpr (requires { typename Value::key_type; }) {
      while (count-- > 0) {
        typename Value::key_type key{};
        take(bytes, key);
        if constexpr (requires { typename Value::mapped_type; })
          take(bytes, value[std::move(key)]);
        else
          value.insert(std::move(key));
      }
    } else {
      std::size_t const before = value.size();
      value.resize(before + count);
      if constexpr (bytes_detail::PlainRow<Value>) {
        if (count == 0) return;
        std::size_t const size = count * sizeof(*value.data());
        std::memcpy(value.data() + before, bytes.data(), size);
        bytes.remove_prefix(size);
      } else {
        for (std::size_t i = before; i < value.size(); ++i) take(bytes, value[i]);
      }
    }
  }
}

template <class Value>
std::string bytes_of(Value const& value) {
  std::string bytes;
  put(bytes, value);
  return bytes;
}

/// Inverts `bytes_of`.
template <class Value>
Value value_of(std::string_view bytes) {
  Value value{};
  take(bytes, value);
  return value;
}

}  // namespace rulerank
