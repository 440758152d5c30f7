#pragma once

#include "knn/metric/edit_distance/edit_distance.hpp"
#include "knn/metric/edit_distance/edit_kernels.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rulerank::inline v0::knn {

/// Maps letters to classes. A word's signature says whether it has no letter, one letter, or more
/// letters of each class. Letters of one class share its bits.
class letter_classes {
 public:
  letter_classes() = default;
  /// Letters that about half of the words contain get classes first, because they distinguish most
  /// words. Letters are numbers below `alphabet`; one further number represents all other letters.
  letter_classes(std::span<std::span<std::uint32_t const> const> words, std::size_t alphabet);

  /// The number of distinguished letters.
  std::size_t alphabet() const { return class_.size() - 1; }
  /// Returns two bits per class: whether the word has a letter of it, and whether it has several.
  /// One edit sets at most one bit and clears at most one.
  std::uint64_t signature(std::span<std::uint32_t const> word) const;

 private:
  std::vector<std::uint8_t> class_{0};
};

/// Receives the distances that `edit_groups` computes.
class edit_sink {
 public:
  virtual ~edit_sink() = default;
  /// Words at a larger distance are ignored. It may decrease.
  virtual std::size_t bound() const = 0;
  /// Receives the words of several lanes: numbers[i] if bit i of `near` is set, at a distance of
  /// `length` + differences[i].
  virtual void take(std::uint32_t const* numbers, std::size_t length,
                    std::int8_t const* differences, std::uint64_t near) = 0;
};

/// A word that is compared with words in groups, and its scratch memory. One thread at a time.
class edit_query {
 public:
  /// The letters and the classes must outlive it; the classes are those of the groups.
  edit_query(std::span<std::uint32_t const> letters, letter_classes const& classes);

  /// Returns the distance to a word of these letters, or any number above `bound` if the distance
  /// is.
  std::size_t to(std::span<std::uint32_t const> word, std::size_t bound);

 private:
  friend class edit_groups;
  static constexpr std::size_t groups_at_once = 8;

  std::span<std::uint32_t const> letters_;
  std::size_t alphabet_;
  std::uint64_t signature_;
  std::optional<edit_pattern> pattern_;
  // The groups to compare next, their rows [groups][1 + letters], and the results.
  std::array<std::size_t, groups_at_once> waiting_{};
  std::size_t waiting_count_ = 0;
  std::vector<edit_row const*> rows_;
  std::array<std::int8_t[edit_row_bytes], groups_at_once> differences_;
  std::array<std::uint64_t, groups_at_once> near_{};
};

/// Words laid out to compare one word with many at once (edit_kernels.hpp). A group has words of
/// similar length and letters, and for each of its letters a row with bits for the equal letters of
/// its words. Words of more than 64 letters are compared one by one. Groups are skipped if their
/// lengths or letters exclude all their words.
class edit_groups {
 public:
  using word = std::span<std::uint32_t const>;

  /// The words with these numbers; they and the classes must outlive the groups. Letters are below
  /// the alphabet of the classes.
  edit_groups(std::span<word const> words, std::span<std::uint32_t const> numbers,
              letter_classes const& classes);

  /// Passes the words within the bound of `to`, groups of the most similar lengths first.
  void compare(edit_query& with, edit_sink& to) const;
  /// Returns the numbers of the parts in the order in which `compare` visits them. Together they
  /// hold all words; each holds at most some thousand.
  std::vector<std::uint32_t> parts(edit_query const& with) const;
  /// Compares one part, and returns the number of its words.
  std::size_t compare_part(std::uint32_t part, edit_query& with, edit_sink& to) const;
  /// Removes the word with this number; returns whether it was present.
  bool erase(std::uint32_t number);

 private:
  struct group {
    std::uint32_t first = 0;  ///< first lane in `numbers_`
    std::size_t row = 0;      ///< first row in `rows_`
    std::size_t rare = 0;     ///< first entry in `rare_`
    std::uint64_t there = 0;  ///< lanes that hold a word
  };
  /// Consecutive groups whose words have equal lengths and lane widths.
  struct run {
    std::size_t shortest, longest;
    std::size_t lane_bytes;
    std::size_t begin, end;  ///< range in `groups_`
    /// Returns a lower bound of the distance of words of `length` letters to its words.
    std::size_t at_least(std::size_t length) const {
      return length < shortest ? shortest - length : length > longest ? length - longest : 0;
    }
  };
  /// A letter without a place in the table of a group, and its row.
  struct rare_letter {
    std::uint32_t letter;
    std::uint32_t row;
  };
  struct long_word {
    word letters;
    std::uint32_t number;
  };

  void add_group(std::span<std::size_t const> places, std::span<word const> words,
                 std::size_t lane_bytes);
  /// Returns the row of bits for a letter in a group: the group's first row if it lacks the letter.
  std::size_t row_of(std::size_t which, std::uint32_t letter) const;
  void compare(edit_query& with, edit_sink& to, run const& some) const;
  void compare_waiting(edit_query& with, edit_sink& to, std::size_t lane_bytes) const;
  void compare(edit_query& with, edit_sink& to, std::span<long_word const> words) const;

  std::size_t common_;  ///< lower letters have a place in the table of each group
  std::vector<run> runs_;
  std::vector<run> parts_;  ///< pieces of the runs; long words are further parts after them
  std::vector<group> groups_;
  /// By group: the bits that all signatures have, and that any signature has.
  std::vector<std::uint64_t> all_, any_;
  std::vector<std::uint16_t> row_of_;  ///< [groups][common]
  std::vector<rare_letter> rare_;      ///< by group, ascending
  /// By group: an empty row, the bits of all words, and a row for each letter of the group.
  std::vector<edit_row> rows_;
  std::vector<std::uint32_t> numbers_;
  std::vector<long_word> long_;
};

}  // namespace rulerank::knn
