#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Values as bytes for other processes of the same program on machines of one kind: as they are in
// memory.
namespace rulerank {

template <class Value>
requires std::is_trivially_copyable_v<Value>
void put(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<char const*>(&value), sizeof(value));
}

inline void put(std::string& bytes, std::string const& text) {
  put(bytes, text.size());
  bytes += text;
}

template <class Value>
void put(std::string& bytes, std::vector<Value> const& values) {
  put(bytes, values.size());
  if constexpr (std::is_trivially_copyable_v<Value>)
    bytes.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(Value));
  else
    for (Value const& value : values) put(bytes, value);
}

/// What was put first is taken, and left out of `bytes`.
template <class Value>
requires std::is_trivially_copyable_v<Value>
void take(std::string_view& bytes, Value& value) {
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
}

inline void take(std::string_view& bytes, std::string& text) {
  std::size_t size = 0;
  take(bytes, size);
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
}

/// Behind those that are there.
template <class Value>
void take(std::string_view& bytes, std::vector<Value>& values) {
  std::size_t count = 0;
  take(bytes, count);
  std::size_t const before = values.size();
  values.resize(before + count);
  if constexpr (std::is_trivially_copyable_v<Value>) {
    if (count == 0) return;
    std::memcpy(values.data() + before, bytes.data(), count * sizeof(Value));
    bytes.remove_prefix(count * sizeof(Value));
  } else {
    for (std::size_t i = before; i < values.size(); ++i) take(bytes, values[i]);
  }
}

}  // namespace rulerank
