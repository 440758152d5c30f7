#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rulerank {

/// SHA-256 (FIPS 180-4) of a stream of bytes, as sha256sum prints it. One thread at a time may use
/// an object.
class sha256 {
 public:
  sha256();
  ~sha256();
  sha256(sha256&&) noexcept;
  sha256& operator=(sha256&&) noexcept;
  void update(std::string_view bytes);
  /// 64 hexadecimal digits; the object is empty again afterwards.
  std::string hex();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

std::string sha256_hex(std::string_view bytes);
/// Of a file's bytes as they lie on disk; throws `error` when it cannot be read.
std::string sha256_of_file(std::string const& path);

}  // namespace rulerank
