#include "datasets/input/text_source.hpp"

#include "core/error.hpp"
#include "core/even_ranges.hpp"
#include "core/file_reader.hpp"
#include "core/process_group.hpp"
#include "datasets/input/decompress.hpp"
#include "datasets/input/lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr char const* const was_changed =
    "was changed while it was read, expected the same file to the end";
constexpr std::size_t read_size = 1 << 18;
constexpr int stop_check_ms = 100;

class owned_text final : public text_source {
 public:
  explicit owned_text(std::string text) : text_(std::move(text)) {}
  std::string_view bytes() const noexcept override { return text_; }

 private:
  std::string text_;
};

class kept_text final : public text_source {
 public:
  kept_text(std::shared_ptr<text_source const> text, std::list<std::string> ids)
      : text_(std::move(text)), ids_(std::move(ids)) {}
  std::string_view bytes() const noexcept override { return text_->bytes(); }

 private:
  std::shared_ptr<text_source const> text_;
  std::list<std::string> ids_;
};

/// Closes a descriptor that is not standard input.
class descriptor_owner {
 public:
  explicit descriptor_owner(int descriptor) : descriptor_(descriptor) {}
  ~descriptor_owner() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }
  descriptor_owner(descriptor_owner const&) = delete;
  descriptor_owner& operator=(descriptor_owner const&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

[[noreturn]] void cannot_read(std::string const& name) {
  throw error({name, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
}

/// The descriptor of a path, and its file's status.
struct opened_file {
  explicit opened_file(std::string const& path)
      : descriptor(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    std::string const name = display_name(path);
    if (descriptor.get() < 0 || ::fstat(descriptor.get(), &about) != 0) cannot_read(name);
    if (S_ISDIR(about.st_mode)) throw error({name, 0, 0}, "is a folder, expected a file");
  }
  /// Returns whether the file was written or truncated since it was opened.
  bool changed() const noexcept {
    struct stat now {};
    return ::fstat(descriptor.get(), &now) != 0 || now.st_size != about.st_size ||
           now.st_mtim.tv_sec != about.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != about.st_mtim.tv_nsec;
  }
  descriptor_owner descriptor;
  struct stat about {};
};

class mapped_text final : public changeable_text {
 public:
  /// The opened file must not be empty.
  explicit mapped_text(std::unique_ptr<opened_file const> file)
      : file_(std::move(file)),
        begin_(::mmap(nullptr, size(), PROT_READ, MAP_PRIVATE, file_->descriptor.get(), 0)) {}
  ~mapped_text() override {
    if (is_mapped()) ::munmap(begin_, size());
  }
  mapped_text(mapped_text const&) = delete;
  mapped_text& operator=(mapped_text const&) = delete;
  /// False, with errno set, if the system refused.
  bool is_mapped() const { return begin_ != MAP_FAILED; }
  std::string_view bytes() const noexcept override {
    return {static_cast<char const*>(begin_), size()};
  }
  bool changed() const noexcept override { return file_->changed(); }

 private:
  std::size_t size() const noexcept { return static_cast<std::size_t>(file_->about.st_size); }
  std::unique_ptr<opened_file const> file_;
  void* begin_;
};

/// Counts lines and columns of a text in sequence.
class text_position {
 public:
  void pass(std::string_view text) {
    line_ += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    std::size_t const last = text.rfind('\n');
    column_ = last == text.npos ? column_ + text.size() : text.size() - last;
  }
  source_position in(std::string const& name) const { return {name, line_, column_}; }

 private:
  std::uint64_t line_ = 1;
  std::uint64_t column_ = 1;
};

}  // namespace

struct text_stream::state {
  context ctx;
  int descriptor = -1;
  std::string name;
  stream_kind kind = stream_kind::text;
  std::string encoding{};
  std::optional<opened_file> file{};  // if the stream owns it
  std::string raw;                    // the last bytes read
  std::string text;                   // their decompressed text, if compressed
  std::unique_ptr<decompressor> archive;
  text_position reached;
  bool started = false;
  bool ended = false;
  std::string damage;  // thrown after the text before it was returned
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();  // most bytes to read

  /// Appends the bytes of one read to `raw`; returns false at the end.
  bool read_some() {
    std::size_t const most = std::min<std::uint64_t>(read_size, left);
    if (most == 0) return false;
    for (;;) {
      ctx.check_stop();
      pollfd waiting{descriptor, POLLIN, 0};
      int const ready = ::poll(&waiting, 1, stop_check_ms);
      if (ready < 0 && errno != EINTR) cannot_read(name);
      if (ready <= 0) continue;
      std::size_t const before = raw.size();
      raw.resize(before + most);
      ssize_t const got = ::read(descriptor, raw.data() + before, most);
      int const status = errno;
      raw.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got > 0) {
        left -= static_cast<std::uint64_t>(got);
        return true;
      }
      if (got == 0) return false;
      errno = status;
      if (errno != EINTR && errno != EAGAIN) cannot_read(name);
    }
  }

  void decompress() {
    try {
      auto const keep = [this](std::string_view part) {
        text.append(part);
        reached.pass(part);
      };
      if (ended)
        archive->finish(keep);
      else
        archive->feed(raw, keep);
    } catch (archive_fault const& fault) {
      damage = fault.what();
    }
  }
};

text_stream::text_stream(context const& ctx, int descriptor, std::string name, stream_kind kind,
                         std::string const& encoding)
    : state_(std::make_unique<state>()) {
  state_->ctx = ctx;
  state_->descriptor = descriptor;
  state_->name = std::move(name);
  state_->kind = kind;
  state_->encoding = encoding;
}
text_stream::text_stream(std::unique_ptr<state> begun) : state_(std::move(begun)) {}

text_stream text_stream::open(context const& ctx, std::string const& path,
                              std::string const& encoding) {
  auto begun = std::make_unique<state>();
  begun->ctx = ctx;
  begun->descriptor = begun->file.emplace(path).descriptor.get();
  begun->name = display_name(path);
  begun->encoding = encoding;
  return text_stream(std::move(begun));
}
text_stream text_stream::open(context const& ctx, std::string const& path, line_range const& part) {
  text_stream stream = open(ctx, path);
  state& s = *stream.state_;
  if (::lseek(s.descriptor, static_cast<off_t>(part.begin), SEEK_SET) < 0) cannot_read(s.name);
  s.left = part.end - part.begin;
  s.started = true;  // an archive never begins in the middle
  return stream;
}
text_stream::~text_stream() = default;
text_stream::text_stream(text_stream&&) noexcept = default;

std::string_view text_stream::next() {
  state& s = *state_;
  for (;;) {
    if (!s.damage.empty())
      throw error(
          s.reached.in(s.name),
          s.damage + (s.damage.starts_with("found ") ? "" : ", expected the rest of the text"));
    if (s.ended) return {};
    s.raw.clear();
    s.text.clear();
    s.ended = !s.read_some();
    if (s.ended && s.file && S_ISREG(s.file->about.st_mode) && s.file->changed())
      throw error({s.name, 0, 0}, was_changed);
    if (!s.started) {
      s.started = true;
      while (!s.ended && s.raw.size() < magic_size) s.ended = !s.read_some();
      s.archive = make_decompressor(s.raw, s.kind, s.encoding);
      if (s.archive && s.ended) {
        // Shorter than the magic bytes: decodes them, then reports the truncation.
        s.ended = false;
        s.decompress();
        s.ended = true;
      }
    }
    if (!s.archive) {
      if (!s.raw.empty()) return s.raw;
      continue;
    }
    s.decompress();
    if (!s.text.empty()) return s.text;
  }
}

std::shared_ptr<text_source const> make_text(std::string text) {
  return std::make_shared<owned_text>(std::move(text));
}

std::shared_ptr<text_source const> text_with_ids(std::shared_ptr<text_source const> text,
                                                 std::list<std::string> ids) {
  return std::make_shared<kept_text>(std::move(text), std::move(ids));
}

void expect_unchanged(text_source const& text, std::string const& name) {
  auto const* const changeable = dynamic_cast<changeable_text const*>(&text);
  if (changeable != nullptr && changeable->changed()) throw error({name, 0, 0}, was_changed);
}

std::string read_file(std::string const& path, std::string_view expected) {
  auto const fail = [&](std::string_view found) {
    throw error({path, 0, 0}, fmt::format("{}, expected {}", found, expected));
  };
  descriptor_owner const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  ssize_t got = file.get() < 0 ? -1 : 1;
  while (got > 0) {
    std::size_t const before = text.size();
    text.resize(before + read_size);
    got = ::read(file.get(), text.data() + before, read_size);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) got = 1;
  }
  if (got < 0 && errno == EISDIR) fail("found a folder");
  if (got < 0) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string_view marked = text;
  remove_byte_order_mark(marked);
  return text.substr(text.size() - marked.size());
}

std::string display_name(std::string const& path) {
  return path == "-" ? "standard input" : path;
}

namespace {

std::shared_ptr<text_source const> open_source(context const& ctx, std::string const& path,
                                               stream_kind kind, std::string const& encoding) {
  std::string const name = display_name(path);
  auto file = std::make_unique<opened_file const>(path);
  char magic[magic_size];
  if (path != "-" && S_ISREG(file->about.st_mode) && file->about.st_size > 0) {
    ssize_t const got = read_at(file->descriptor.get(), magic, magic_size, 0);
    if (got < 0) cannot_read(name);
    if (ctx.map_files &&
        !make_decompressor({magic, static_cast<std::size_t>(got)}, kind, encoding)) {
      auto const mapped = std::make_shared<mapped_text>(std::move(file));
      if (!mapped->is_mapped()) cannot_read(name);
      return mapped;
    }
  }
  text_stream stream(ctx, file->descriptor.get(), name, kind, encoding);
  std::string text;
  try {
    if (S_ISREG(file->about.st_mode)) text.reserve(static_cast<std::size_t>(file->about.st_size));
    for (std::string_view part = stream.next(); !part.empty(); part = stream.next()) text += part;
  } catch (std::bad_alloc const&) {
    std::size_t const size = std::exchange(text, {}).size();
    throw error({name, 0, 0},
                fmt::format("found more than {} of text, expected a text that memory holds",
                            counted(size, "byte")));
  }
  if (path != "-" && S_ISREG(file->about.st_mode) && file->changed())
    throw error({name, 0, 0}, was_changed);
  return make_text(std::move(text));
}

}  // namespace

std::shared_ptr<text_source const> open_text(context const& ctx, std::string const& path,
                                             std::string const& encoding) {
  return open_source(ctx, path, stream_kind::text, encoding);
}
std::shared_ptr<text_source const> open_bytes(context const& ctx, std::string const& path) {
  return open_source(ctx, path, stream_kind::binary, {});
}

namespace {

/// Calls use(bytes) for the bytes of a file from `begin` on, until it returns false or they end.
template <class Use>
void read_from(opened_file const& file, std::string const& name, std::uint64_t begin,
               std::uint64_t end, Use const& use) {
  std::string bytes(read_size, '\0');
  while (begin < end) {
    ssize_t const got = read_at(file.descriptor.get(), bytes.data(),
                                std::min<std::uint64_t>(read_size, end - begin), begin);
    if (got < 0) cannot_read(name);
    if (got == 0) return;
    begin += static_cast<std::uint64_t>(got);
    if (!use(std::string_view(bytes.data(), static_cast<std::size_t>(got)))) return;
  }
}

}  // namespace

double expected_text_bytes(std::string const& path) {
  constexpr double unknown = 1e8;
  constexpr double unpacked_a_byte = 4;  // LETOR's files have ratios of 4.5 to 4.8
  std::error_code none;
  if (path == "-" || !std::filesystem::is_regular_file(path, none)) return unknown;
  auto const bytes = std::filesystem::file_size(path, none);
  if (none) return unknown;
  bool const packed = path.ends_with(".gz") || path.ends_with(".zst");
  return static_cast<double>(bytes) * (packed ? unpacked_a_byte : 1);
}

std::optional<line_range> lines_of_process(std::string const& path, process_group const& group) {
  if (path == "-") return std::nullopt;
  opened_file const file(path);
  std::string const name = display_name(path);
  if (!S_ISREG(file.about.st_mode) || file.about.st_size == 0) return std::nullopt;
  auto const size = static_cast<std::uint64_t>(file.about.st_size);
  std::string magic;
  read_from(file, name, 0, std::min<std::uint64_t>(size, magic_size), [&](std::string_view bytes) {
    magic += bytes;
    return true;
  });
  if (make_decompressor(magic)) return std::nullopt;
  // Returns the beginning of the next line at or after a byte.
  auto const line_from = [&](std::uint64_t at) {
    if (at == 0) return at;
    std::uint64_t line = size;
    std::uint64_t passed = at - 1;
    read_from(file, name, at - 1, size, [&](std::string_view bytes) {
      std::size_t const feed = bytes.find('\n');
      if (feed != bytes.npos) line = passed + feed + 1;
      passed += bytes.size();
      return feed == bytes.npos;
    });
    return line;
  };
  index_range const bytes = own_range(group, size);
  line_range mine{line_from(bytes.begin), line_from(bytes.end), 0};
  std::uint64_t lines = 0;
  read_from(file, name, mine.begin, mine.end, [&](std::string_view some) {
    lines += static_cast<std::uint64_t>(std::count(some.begin(), some.end(), '\n'));
    return true;
  });
  auto const of_processes = gather_values(group, lines);
  for (int r = 0; r < group.rank(); ++r)
    mine.lines_before += of_processes[static_cast<std::size_t>(r)];
  return mine;
}

line_stream::line_stream(text_stream stream, std::uint64_t lines_before)
    : stream_(std::move(stream)), number_(lines_before) {}

bool line_stream::next() {
  begun_.clear();
  std::size_t feed = rest_.find('\n');
  while (feed == rest_.npos) {
    begun_ += rest_;
    rest_ = stream_.next();
    if (rest_.empty()) break;
    feed = rest_.find('\n');
  }
  if (feed == rest_.npos && begun_.empty()) return false;
  line_ = rest_.substr(0, feed);
  if (!begun_.empty()) line_ = begun_ += line_;
  rest_.remove_prefix(feed == rest_.npos ? rest_.size() : feed + 1);
  bytes_ += line_.size() + (feed == rest_.npos ? 0 : 1);
  ++number_;
  remove_byte_order_mark(line_);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  return true;
}

}  // namespace rulerank::datasets
