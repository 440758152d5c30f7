#include "datasets/input/decompress.hpp"

#include "datasets/text/encoding.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr std::size_t output_size = 1 << 18;

class gzip_decompressor final : public decompressor {
 public:
  gzip_decompressor() : output_(output_size) {
    if (inflateInit2(&stream_, gzip_window) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_decompressor() override { inflateEnd(&stream_); }

  void feed(std::string_view compressed, sink const& out) override {
    while (!compressed.empty()) {
      std::string_view const part = compressed.substr(0, std::numeric_limits<uInt>::max());
      compressed.remove_prefix(part.size());
      // zlib's interface lacks const, but does not write to its input.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      do {
        inflate_once(out);
      } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    }
  }

  void finish(sink const&) override {
    if (state_ == inside) throw archive_fault("the gzip archive ends too early");
  }

 private:
  static constexpr int gzip_window = 15 + 16;
  enum place { inside, between, padding };

  void inflate_once(sink const& out) {
    if (state_ != inside && stream_.avail_in > 0) start_member();
    if (state_ == padding) return;
    if (state_ == between) {
      stream_.avail_out = 1;  // nothing is left to write
      return;
    }
    stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
    stream_.avail_out = static_cast<uInt>(output_.size());
    int const status = inflate(&stream_, Z_NO_FLUSH);
    if (std::size_t const got = output_.size() - stream_.avail_out; got > 0)
      out({output_.data(), got});
    if (status == Z_STREAM_END)
      state_ = between;
    else if (status == Z_MEM_ERROR)
      throw std::bad_alloc();
    else if (status != Z_OK && status != Z_BUF_ERROR)
      throw archive_fault("the gzip archive is damaged");
  }

  /// Starts another member, or skips the zero bytes with which tapes are padded.
  void start_member() {
    auto const* const end = stream_.next_in + stream_.avail_in;
    if (state_ == padding || *stream_.next_in == 0) {
      state_ = padding;
      if (std::any_of(const_cast<Bytef const*>(stream_.next_in), end,
                      [](Bytef b) { return b != 0; }))
        throw archive_fault("found data after the gzip archive that is not gzip");
      stream_.avail_in = 0;
      stream_.avail_out = 1;
      return;
    }
    if (inflateReset(&stream_) != Z_OK) throw archive_fault("the gzip archive is damaged");
    state_ = inside;
  }

  z_stream stream_{};
  std::vector<char> output_;
  place state_ = inside;
};

class zstd_decompressor final : public decompressor {
 public:
  zstd_decompressor() : stream_(ZSTD_createDCtx()), output_(output_size) {
    if (stream_ == nullptr) throw std::bad_alloc();
    // The maximum of `zstd --long=31`.
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 31);
  }
  ~zstd_decompressor() override { ZSTD_freeDCtx(stream_); }
  zstd_decompressor(zstd_decompressor const&) = delete;
  zstd_decompressor& operator=(zstd_decompressor const&) = delete;

  void feed(std::string_view compressed, sink const& out) override {
    ZSTD_inBuffer input{compressed.data(), compressed.size(), 0};
    bool full = false;
    while (input.pos < input.size || full) {
      ZSTD_outBuffer output{output_.data(), output_.size(), 0};
      std::size_t const status = ZSTD_decompressStream(stream_, &output, &input);
      if (output.pos > 0) out({output_.data(), output.pos});
      if (ZSTD_isError(status)) fail(status);
      complete_ = status == 0;
      full = output.pos == output.size && !complete_;
    }
  }

  void finish(sink const&) override {
    if (!complete_) throw archive_fault("the zstd archive ends too early");
  }

 private:
  [[noreturn]] static void fail(std::size_t status) {
    switch (ZSTD_getErrorCode(status)) {
      case ZSTD_error_memory_allocation:
        throw archive_fault("the zstd archive needs a larger window than memory holds");
      case ZSTD_error_frameParameter_windowTooLarge:
        throw archive_fault("the zstd archive needs a window of more than 2 GiB");
      default:
        throw archive_fault(std::string("the zstd archive is damaged (") +
                            ZSTD_getErrorName(status) + ')');
    }
  }

  ZSTD_DCtx* stream_;
  std::vector<char> output_;
  bool complete_ = false;
};

/// A format that is recognized but not supported.
class refused_form final : public decompressor {
 public:
  explicit refused_form(std::string message) : message_(std::move(message)) {}
  void feed(std::string_view, sink const&) override { throw archive_fault(message_); }
  void finish(sink const&) override { throw archive_fault(message_); }

 private:
  std::string message_;
};

}  // namespace

std::string_view packing_of(std::string_view bytes) {
  bool const is_bzip2 = bytes.size() >= 4 && bytes.starts_with("BZh") && bytes[3] >= '1' &&
                        bytes[3] <= '9' && (bytes.size() < 10 || bytes.substr(4, 3) == "1AY");
  if (is_bzip2) return "bzip2";
  if (bytes.starts_with("\xfd"
                        "7zX"))
    return "xz";
  if (bytes.starts_with("\x04\x22\x4d\x18")) return "lz4";
  if (bytes.starts_with("PK\x03\x04")) return "a zip archive";
  if (bytes.starts_with("7z\xbc\xaf")) return "a 7z archive";
  if (bytes.starts_with("Rar!")) return "a RAR archive";
  return {};
}

namespace {

/// Returns what a binary file of data analysis is, and the program whose text is expected instead;
/// empty for other bytes.
std::pair<std::string_view, std::string_view> stored_data(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::tuple<std::string_view, std::string_view, std::string_view> known[] = {
      {"\x89HDF"sv, "an HDF5 file", "pandas writes CSV"},
      {"SQLite format"sv, "an SQLite database", "sqlite3 -csv writes a table"},
      {"\x93NUMPY"sv, "a NumPy array", "numpy.savetxt writes text"},
      {"X\n\0\0"sv, "a file of R's saveRDS", "write.csv writes text"},
      {"RDX2\n"sv, "a file of R's save", "write.csv writes text"},
      {"RDX3\n"sv, "a file of R's save", "write.csv writes text"}};
  for (auto const& [begin, found, writer] : known)
    if (bytes.starts_with(begin.substr(0, std::min(bytes.size(), begin.size()))) &&
        bytes.size() >= magic_size)
      return {found, writer};
  bool const is_pickle =
      bytes.size() >= magic_size && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  return is_pickle ? std::pair("a pickle of Python"sv, "pandas writes CSV"sv)
                   : std::pair<std::string_view, std::string_view>();
}

/// Returns the decoder of text in another encoding, or of an unsupported format; null for neither.
std::unique_ptr<decompressor> make_text_decoder(std::string_view bytes,
                                                std::string const& encoding) {
  using namespace std::string_view_literals;
  auto const refuse = [](std::string_view found, std::string_view expected) {
    return std::make_unique<refused_form>("found " + std::string(found) + ", expected " +
                                          std::string(expected));
  };
  std::string_view packing = packing_of(bytes);
  if (bytes.starts_with("\x1f\x9d")) packing = "a file of compress (.Z)";
  if (packing == "a zip archive")
    return refuse(packing, "text, gzip or zstd; unpack it first, or save a workbook as CSV");
  if (!packing.empty()) return refuse(packing, "text, gzip or zstd; unpack it first");
  if (bytes.starts_with("\xd0\xcf\x11\xe0"))
    return refuse("a file of Microsoft Office", "text; save a workbook as CSV");
  auto const refuse_table = [&](std::string_view found, std::string_view reader) {
    return refuse(found, "text; python3 -c \"import polars; polars." + std::string(reader) +
                             "('FILE').write_csv('FILE.csv')\" makes a CSV file of it");
  };
  if (bytes.starts_with("PAR1") && (bytes.size() < 5 || bytes[4] == '\x15'))
    return refuse_table("a Parquet file", "read_parquet");
  if (bytes.starts_with("ARRO") && (bytes.size() < 6 || bytes.substr(4, 2) == "W1"))
    return refuse_table("an Arrow file", "read_ipc");
  if (bytes.starts_with("\xff\xff\xff\xff"))
    return refuse_table("an Arrow stream", "read_ipc_stream");
  if (bytes.starts_with("%PDF") && (bytes.size() < 5 || bytes[4] == '-'))
    return refuse("a PDF file", "text; pdftotext makes text of it");
  if (auto const [stored, writer] = stored_data(bytes); !stored.empty())
    return refuse(stored, "text; " + std::string(writer));
  constexpr std::string_view utf8 = "UTF-8, or UTF-16 with its byte order mark";
  if (bytes.starts_with("\xff\xfe\0\0"sv) || bytes.starts_with("\0\0\xfe\xff"sv))
    return refuse("UTF-32", utf8);
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
    return make_encoding_decoder("UTF-16");
  if (bytes.starts_with("\xef\xbb\xbf")) return nullptr;
  if (!encoding.empty()) return make_encoding_decoder(encoding);
  if (bytes.size() >= 4 && (bytes[0] == 0) != (bytes[1] == 0) &&
      (bytes[0] == 0) == (bytes[2] == 0) && (bytes[1] == 0) == (bytes[3] == 0))
    return refuse("UTF-16 without a byte order mark", utf8);
  return nullptr;
}

/// Text in any encoding within an archive.
class archived_text final : public decompressor {
 public:
  archived_text(std::unique_ptr<decompressor> archive, std::string encoding)
      : archive_(std::move(archive)), encoding_(std::move(encoding)) {}

  void feed(std::string_view bytes, sink const& out) override {
    archive_->feed(bytes, [&](std::string_view part) { take(part, out); });
  }
  void finish(sink const& out) override {
    archive_->finish(out);
    if (!is_known_) decide(out);
    if (decoder_) decoder_->finish(out);
  }

 private:
  void take(std::string_view part, sink const& out) {
    if (is_known_) return pass(part, out);
    begin_ += part;
    if (begin_.size() >= magic_size) decide(out);
  }
  void decide(sink const& out) {
    decoder_ = make_text_decoder(begin_, encoding_);
    is_known_ = true;
    if (!begin_.empty()) pass(begin_, out);
  }
  void pass(std::string_view part, sink const& out) {
    decoder_ ? decoder_->feed(part, out) : out(part);
  }

  std::unique_ptr<decompressor> archive_;
  std::string encoding_;
  std::string begin_;  // beginning of the text, until its encoding is known
  bool is_known_ = false;
  std::unique_ptr<decompressor> decoder_;
};

std::unique_ptr<decompressor> make_archive(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b")) return std::make_unique<gzip_decompressor>();
  bool const frame = first_bytes.starts_with("\x28\xb5\x2f\xfd");
  bool const skippable = first_bytes.size() >= 4 && (first_bytes[0] & '\xf0') == '\x50' &&
                         first_bytes.substr(1, 3) == "\x2a\x4d\x18";
  if (frame || skippable) return std::make_unique<zstd_decompressor>();
  return nullptr;
}

}  // namespace

std::unique_ptr<decompressor> make_decompressor(std::string_view first_bytes, stream_kind kind,
                                                std::string const& encoding) {
  auto archive = make_archive(first_bytes);
  if (kind == stream_kind::binary) return archive;
  if (archive) return std::make_unique<archived_text>(std::move(archive), encoding);
  return make_text_decoder(first_bytes, encoding);
}

}  // namespace rulerank::datasets
