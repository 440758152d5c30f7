#include "core/sha256.hpp"

#include "core/error.hpp"
#include "core/file_reader.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <openssl/evp.h>
#include <sys/stat.h>

namespace rulerank::inline v0 {

struct sha256::state {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  state() { reset(); }
  ~state() { EVP_MD_CTX_free(context); }
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  void reset() {
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("SHA-256 is not available");
  }
};

sha256::sha256() : state_(std::make_unique<state>()) {}
sha256::~sha256() = default;
sha256::sha256(sha256&&) noexcept = default;
sha256& sha256::operator=(sha256&&) noexcept = default;

void sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &length);
  state_->reset();
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

file_state file_state_of(std::string const& path) noexcept {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
          found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

std::string sha256_hex(std::string_view bytes) {
  sha256 sum;
  sum.update(bytes);
  return sum.hex();
}

std::string sha256_of_file(std::string const& path) {
  file_reader const file(path);
  sha256 sum;
  std::string buffer(1 << 20, '\0');
  std::uint64_t at = 0;
  while (std::size_t const got = file.read(buffer.data(), buffer.size(), at)) {
    sum.update({buffer.data(), got});
    at += got;
  }
  return sum.hex();
}

}  // namespace rulerank
