#include "knn/text/count_spill.hpp"

#include "core/error.hpp"
#include "core/file_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace rulerank::inline v0::knn {

namespace {
std::string folder() {
  std::error_code none;
  auto const path = std::filesystem::temp_directory_path(none);
  if (none) throw output_error(fmt::format("$TMPDIR: {}, expected a folder", none.message()));
  return path.string();
}

[[noreturn]] void fail() {
  int const reason = errno;
  throw output_error(
      fmt::format("a temporary file in {} cannot be written: {}", folder(), std::strerror(reason)));
}
}  // namespace

count_spill::count_spill(std::size_t most_in_memory) : most_in_memory_(most_in_memory) {}
count_spill::~count_spill() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void count_spill::append(std::span<term_count const> row) {
  sizes_.push_back(static_cast<std::uint32_t>(row.size()));
  in_memory_.insert(in_memory_.end(), row.begin(), row.end());
  if (in_memory_.size() > most_in_memory_) write_out();
}

void count_spill::write_out() {
  if (descriptor_ < 0) {
    std::string name = folder() + "/rulerank-XXXXXX";
    descriptor_ = ::mkstemp(name.data());
    if (descriptor_ < 0) fail();
    ::unlink(name.c_str());
  }
  auto const* bytes = reinterpret_cast<char const*>(in_memory_.data());
  std::size_t left = in_memory_.size() * sizeof(term_count);
  while (left > 0) {
    ssize_t const n = ::write(descriptor_, bytes, left);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail();
    bytes += n;
    left -= static_cast<std::size_t>(n);
  }
  written_ += in_memory_.size();
  in_memory_.clear();
}

void count_spill::read(std::function<void(std::span<term_count const>)> const& take) {
  constexpr std::size_t window = std::size_t{1} << 20;
  std::vector<term_count> buffer;
  std::size_t used = 0;  // entries of the buffer
  std::uint64_t read_so_far = 0;
  for (std::size_t row = 0; row < sizes_.size(); ++row) {
    std::size_t const n = sizes_[row];
    if (buffer.size() - used < n) {
      buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(used));
      used = 0;
      std::size_t have = buffer.size();
      std::uint64_t const left = written_ + in_memory_.size() - read_so_far;
      buffer.resize(have + std::min<std::uint64_t>(left, std::max(n, window)));
      while (have < buffer.size()) {
        std::uint64_t const at = read_so_far;
        std::size_t got = 0;
        if (at >= written_) {
          got = std::min<std::uint64_t>(buffer.size() - have, in_memory_.size() - (at - written_));
          std::copy_n(in_memory_.begin() + static_cast<std::ptrdiff_t>(at - written_), got,
                      buffer.begin() + static_cast<std::ptrdiff_t>(have));
        } else {
          auto const wanted = std::min<std::uint64_t>(buffer.size() - have, written_ - at);
          auto const bytes = static_cast<ssize_t>(wanted * sizeof(term_count));
          if (read_at(descriptor_, buffer.data() + have, static_cast<std::size_t>(bytes),
                      at * sizeof(term_count)) != bytes)
            fail();
          got = wanted;
        }
        have += got;
        read_so_far += got;
      }
    }
    take({buffer.data() + used, n});
    used += n;
  }
}

}  // namespace rulerank::knn
