#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/encoding.hpp"
#include "knn/metric/edit_distance/edit_groups.hpp"
#include "knn/metric/indexes/structure.hpp"
#include "knn/metric/search.hpp"
#include "knn/metric/spaces/word_lines.hpp"
#include "knn/unicode.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

namespace rulerank::inline v0::knn {

namespace {

/// Words as sequences of letters, concatenated.
struct letter_table {
  std::vector<std::uint32_t> letter;
  std::vector<std::size_t> begin{0};

  std::size_t size() const { return begin.size() - 1; }
  std::span<std::uint32_t const> operator[](std::size_t i) const {
    return {letter.data() + begin[i], begin[i + 1] - begin[i]};
  }
};

/// Appends the code points of well-formed UTF-8.
void add_code_points(std::string_view utf8, std::vector<std::uint32_t>& to) {
  for (std::size_t i = 0; i < utf8.size();) {
    auto const byte = [&](std::size_t at) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(utf8[at]));
    };
    std::uint32_t const first = byte(i);
    std::size_t const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    std::uint32_t point = length == 1 ? first : first & (0xffU >> (length + 1));
    for (std::size_t j = 1; j < length; ++j) point = point << 6 | (byte(i + j) & 0x3fU);
    to.push_back(point);
    i += length;
  }
}

letter_table letters_of(std::vector<std::string> const& words, letters unit) {
  letter_table table;
  std::string buffer, composed;
  for (std::string const& word : words) {
    bool const is_ascii = std::ranges::all_of(word, [](char c) { return c >= 0; });
    if (unit == letters::bytes) {
      for (char const c : word) table.letter.push_back(static_cast<unsigned char>(c));
    } else if (is_ascii) {
      add_code_points(word, table.letter);
    } else {
      compose(well_formed(word, buffer), composed);
      add_code_points(composed, table.letter);
    }
    table.begin.push_back(table.letter.size());
  }
  return table;
}

/// Returns the largest integer distance within a bound; no word is as long as the maximum.
std::size_t whole_bound(double bound) {
  return bound >= 0x1p52 ? std::size_t{1} << 52
                         : static_cast<std::size_t>(std::floor(std::max(bound, 0.0)));
}

/// Distances of a word, with letters numbered as in the database.
class distances_of_word final : public distances_from {
 public:
  distances_of_word(std::span<std::uint32_t const> word, letter_table const& words,
                    letter_classes const& classes)
      : words_(words), query_(word, classes) {}
  void compute(std::span<std::uint32_t const> objects, double bound, double* values) override {
    std::size_t const most = whole_bound(bound);
    for (std::size_t i = 0; i < objects.size(); ++i)
      values[i] = static_cast<double>(query_.to(words_[objects[i]], most));
  }
  edit_query& query() { return query_; }

 private:
  letter_table const& words_;
  edit_query query_;
};

class block_of_words final : public metric_block {
 public:
  explicit block_of_words(edit_groups groups) : groups_(std::move(groups)) {}
  void compare(distances_from& origin, metric_query& query) const override {
    found to(query);
    groups_.compare(word_of(origin), to);
  }
  std::vector<std::uint32_t> parts(distances_from& origin) const override {
    return groups_.parts(word_of(origin));
  }
  std::size_t compare_part(std::uint32_t part, distances_from& origin,
                           metric_query& query) const override {
    found to(query);
    return groups_.compare_part(part, word_of(origin), to);
  }
  void erase(std::uint32_t object) override { groups_.erase(object); }

 private:
  class found final : public edit_sink {
   public:
    explicit found(metric_query& query) : query_(query) {}
    std::size_t bound() const override { return whole_bound(query_.bound()); }
    void take(std::uint32_t const* numbers, std::size_t length, std::int8_t const* differences,
              std::uint64_t near) override {
      for (; near != 0; near &= near - 1) {
        int const lane = std::countr_zero(near);
        query_.offer(numbers[lane],
                     static_cast<double>(length) + static_cast<double>(differences[lane]));
      }
    }

   private:
    metric_query& query_;
  };
  static edit_query& word_of(distances_from& origin) {
    return static_cast<distances_of_word&>(origin).query();
  }

  edit_groups groups_;
};

}  // namespace

struct word_space::implementation {
  std::vector<std::string> words;
  letters unit;
  letter_table table;                   // by number
  std::vector<std::uint32_t> alphabet;  // ascending; the number of a letter is its index
  letter_classes classes;

  /// Replaces letters by their numbers. All letters that no word of the database has get one
  /// further number, which equals no letter of the database.
  void number(letter_table& some) const {
    for (std::uint32_t& letter : some.letter) {
      auto const at = std::lower_bound(alphabet.begin(), alphabet.end(), letter);
      letter = static_cast<std::uint32_t>(
          (at == alphabet.end() || *at != letter ? alphabet.end() : at) - alphabet.begin());
    }
  }
};

word_space::word_space(std::vector<std::string> words, letters unit)
    : implementation_(std::make_unique<implementation>()) {
  implementation& all = *implementation_;
  all.words = std::move(words);
  all.unit = unit;
  all.table = letters_of(all.words, unit);
  all.alphabet = all.table.letter;
  std::sort(all.alphabet.begin(), all.alphabet.end());
  all.alphabet.erase(std::unique(all.alphabet.begin(), all.alphabet.end()), all.alphabet.end());
  all.number(all.table);
  std::vector<edit_groups::word> table(all.table.size());
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = all.table[i];
  all.classes = letter_classes(table, all.alphabet.size());
}
word_space::~word_space() = default;

std::size_t word_space::size() const noexcept {
  return implementation_->words.size();
}
distance_rounding word_space::rounding() const noexcept {
  return {};
}
std::unique_ptr<distances_from> word_space::from(std::uint32_t object) const {
  implementation const& all = *implementation_;
  return std::make_unique<distances_of_word>(all.table[object], all.table, all.classes);
}
/// Access for `block_of`.
struct word_space_access {
  static word_space::implementation const& of(word_space const& space) {
    return *space.implementation_;
  }
};

std::unique_ptr<metric_block> block_of(metric_space const& space,
                                       std::span<std::uint32_t const> objects) {
  auto const* const of_words = dynamic_cast<word_space const*>(&space);
  if (of_words == nullptr) return nullptr;
  auto const& all = word_space_access::of(*of_words);
  std::vector<edit_groups::word> words(objects.size());
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = all.table[objects[i]];
  return std::make_unique<block_of_words>(edit_groups(words, objects, all.classes));
}
bool has_blocks(metric_space const& space) {
  return dynamic_cast<word_space const*>(&space) != nullptr;
}
letters word_space::unit() const noexcept {
  return implementation_->unit;
}
std::vector<std::string> const& word_space::words() const noexcept {
  return implementation_->words;
}

std::unique_ptr<metric_queries> word_space::queries(std::vector<std::string> some) const {
  class words_asked final : public metric_queries {
   public:
    words_asked(implementation const& all, std::vector<std::string> words)
        : all_(all), words_(std::move(words)), letters_(letters_of(words_, all.unit)) {
      all.number(letters_);
    }
    std::size_t size() const noexcept override { return words_.size(); }
    std::unique_ptr<distances_from> from(std::size_t query) const override {
      return std::make_unique<distances_of_word>(letters_[query], all_.table, all_.classes);
    }
    std::optional<std::vector<std::string>> as_words(std::size_t first,
                                                     std::size_t count) const override {
      auto const begin = words_.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count));
    }

   private:
    implementation const& all_;
    std::vector<std::string> words_;
    letter_table letters_;
  };
  return std::make_unique<words_asked>(*implementation_, std::move(some));
}

std::vector<std::string> read_words(context const& ctx, std::string const& path,
                                    std::function<void(std::string const&)> const& warn,
                                    letters unit) {
  return read_words_part(ctx, path, 0, 1, warn, unit);
}

std::vector<std::string> read_words_part(context const& ctx, std::string const& path,
                                         std::size_t part, std::size_t parts,
                                         std::function<void(std::string const&)> const& warn,
                                         letters unit) {
  auto const text = datasets::open_text(ctx, path);
  std::vector<std::string> words;
  std::string_view const bytes = text->bytes();
  std::string_view lines = bytes;
  datasets::remove_byte_order_mark(lines);
  word_lines const form(lines);
  std::string const name = datasets::display_name(path);
  if (form.fault) throw error({name, form.fault->line, form.fault->column}, form.fault->message);
  if (warn && part == 0) {
    for (std::string const& note : form.notes()) warn(name + note);
    std::string const note = unit == letters::bytes ? "" : datasets::encoding_note(lines);
    if (!note.empty()) warn(name + note);
  }
  datasets::for_each_line_of_part(bytes, part, parts, [&](std::string_view line) {
    line = line.substr(0, line.find_last_not_of('\r') + 1);
    if (auto word = form.word_of(line)) words.push_back(std::move(*word));
  });
  datasets::expect_unchanged(*text, name);
  return words;
}

}  // namespace rulerank::knn
