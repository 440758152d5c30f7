#include "core/error.hpp"
#include "datasets/fields.hpp"
#include "datasets/text_source.hpp"
#include "knn/metric/edit_distance.hpp"
#include "knn/metric/search.hpp"
#include "knn/text/unicode.hpp"

#include <algorithm>
#include <cmath>

namespace rulerank::knn {

namespace {

/// Words as letters, one behind the other.
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
  std::string buffer;
  for (std::string const& word : words) {
    if (unit == letters::bytes)
      for (char const c : word) table.letter.push_back(static_cast<unsigned char>(c));
    else
      add_code_points(well_formed(word, buffer), table.letter);
    table.begin.push_back(table.letter.size());
  }
  return table;
}

/// Distances of a word, whose letters are numbered as the database's are.
class distances_of_word final : public distances_from {
 public:
  distances_of_word(std::span<std::uint32_t const> word, letter_table const& words,
                    std::size_t alphabet)
      : words_(words), pattern_(word, alphabet) {}
  void compute(std::span<std::uint32_t const> objects, double bound, double* values) override {
    // No word is so long.
    std::size_t const most = bound >= 0x1p52
                                 ? std::size_t{1} << 52
                                 : static_cast<std::size_t>(std::floor(std::max(bound, 0.0)));
    for (std::size_t i = 0; i < objects.size(); ++i)
      values[i] = static_cast<double>(pattern_.to(words_[objects[i]], most));
  }

 private:
  letter_table const& words_;
  edit_pattern pattern_;
};

}  // namespace

struct word_space::implementation {
  std::vector<std::string> words;
  letters unit;
  letter_table table;                   // by number
  std::vector<std::uint32_t> alphabet;  // ascending; the number of a letter is its place

  /// Letters that no word of the database has share a number behind the others: they are equal to
  /// no letter of it.
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
  return std::make_unique<distances_of_word>(all.table[object], all.table, all.alphabet.size() + 1);
}
letters word_space::unit() const noexcept {
  return implementation_->unit;
}
std::vector<std::string> const& word_space::words() const noexcept {
  return implementation_->words;
}

std::unique_ptr<metric_queries> word_space::queries(std::vector<std::string> const& some) const {
  class words_asked final : public metric_queries {
   public:
    words_asked(implementation const& all, letter_table words)
        : all_(all), words_(std::move(words)) {}
    std::size_t size() const noexcept override { return words_.size(); }
    std::unique_ptr<distances_from> from(std::size_t query) const override {
      return std::make_unique<distances_of_word>(words_[query], all_.table,
                                                 all_.alphabet.size() + 1);
    }

   private:
    implementation const& all_;
    letter_table words_;
  };
  letter_table table = letters_of(some, implementation_->unit);
  implementation_->number(table);
  return std::make_unique<words_asked>(*implementation_, std::move(table));
}

std::vector<std::string> read_words(context const& ctx, std::string const& path) {
  auto const text = datasets::open_text(ctx, path);
  std::vector<std::string> words;
  datasets::for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    words.emplace_back(line);
  });
  datasets::expect_unchanged(*text, datasets::display_name(path));
  return words;
}

}  // namespace rulerank::knn
