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

/// The class of each letter, of which a word's signature counts none, one, or more. Letters of one
/// class share its bits.
class letter_classes {
 public:
  letter_classes() = default;
  /// Letters that about half of the words have come first, since they tell most words apart.
  /// Letters are numbers below `alphabet`; one more number stands for all others.
  letter_classes(std::span<std::span<std::uint32_t const> const> words, std::size_t alphabet);

  /// Letters that are told apart.
  std::size_t alphabet() const { return class_.size() - 1; }
  /// Of each class, two bits: whether the word has a letter of it, and whether it has several. One
  /// edit sets one bit of it at most, and clears one at most.
  std::uint64_t signature(std::span<std::uint32_t const> word) const;

 private:
  std::vector<std::uint8_t> class_{0};
};

/// What is done with the distances that `edit_groups` finds.
class edit_sink {
 public:
  virtual ~edit_sink() = default;
  /// Words that are farther are not wanted. It may shrink.
  virtual std::size_t bound() const = 0;
  /// The words of some lanes: numbers[i] where bit i of `near` is set, at a distance of `length` +
  /// differences[i].
  virtual void take(std::uint32_t const* numbers, std::size_t length,
                    std::int8_t const* differences, std::uint64_t near) = 0;
};

/// A word to be compared with those of groups, and what it takes. For one thread.
class edit_query {
 public:
  /// The letters outlive it, and so do the classes, which are those of the groups.
  edit_query(std::span<std::uint32_t const> letters, letter_classes const& classes);

  /// Its distance to a word of these letters, or where that is above `bound` any number above it.
  std::size_t to(std::span<std::uint32_t const> word, std::size_t bound);

 private:
  friend class edit_groups;
  static constexpr std::size_t groups_at_once = 8;

  std::span<std::uint32_t const> letters_;
  std::size_t alphabet_;
  std::uint64_t signature_;
  std::optional<edit_pattern> pattern_;
  // Groups that it is compared with next, their rows [groups][1 + letters], and what was found.
  std::array<std::size_t, groups_at_once> waiting_{};
  std::size_t waiting_count_ = 0;
  std::vector<edit_row const*> rows_;
  std::array<std::int8_t[edit_row_bytes], groups_at_once> differences_;
  std::array<std::uint64_t, groups_at_once> near_{};
};

/// Words laid out so that one word is compared with many of them at once (edit_kernels.hpp): of
/// similar length and letters in a group, for each letter of a group a row with the bits of the
/// words' letters that are the same. Words of more than 64 letters are compared one by one. Groups
/// whose lengths or letters say that all their words are too far are passed over.
class edit_groups {
 public:
  using word = std::span<std::uint32_t const>;

  /// The words with these numbers, which outlive the groups, and so do the classes. Letters are
  /// below the alphabet of the classes.
  edit_groups(std::span<word const> words, std::span<std::uint32_t const> numbers,
              letter_classes const& classes);

  /// The words within the bound of `to`, groups of the most similar lengths first.
  void compare(edit_query& with, edit_sink& to) const;
  /// The numbers of parts that together are all words, in the order in which `compare` looks at
  /// them. A part has some thousand words at most.
  std::vector<std::uint32_t> parts(edit_query const& with) const;
  /// Compares a part alone, and says how many words it has.
  std::size_t compare_part(std::uint32_t part, edit_query& with, edit_sink& to) const;
  /// Whether it had the word with this number, which is never found from now on.
  bool erase(std::uint32_t number);

 private:
  struct group {
    std::uint32_t first = 0;  ///< of `numbers_`, of its first lane
    std::size_t row = 0;      ///< of `rows_`, its first
    std::size_t rare = 0;     ///< of `rare_`, its first
    std::uint64_t there = 0;  ///< lanes that have a word
  };
  /// Groups that follow each other whose words are as long, and lanes as wide.
  struct run {
    std::size_t shortest, longest;
    std::size_t lane_bytes;
    std::size_t begin, end;  ///< of `groups_`
    /// How far words of `length` letters are from its words at least.
    std::size_t at_least(std::size_t length) const {
      return length < shortest ? shortest - length : length > longest ? length - longest : 0;
    }
  };
  /// A letter that has no place in the table of a group, and its row.
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
  /// The row of the bits that are this letter: of the group, the first where it has it not.
  std::size_t row_of(std::size_t which, std::uint32_t letter) const;
  void compare(edit_query& with, edit_sink& to, run const& some) const;
  void compare_waiting(edit_query& with, edit_sink& to, std::size_t lane_bytes) const;
  void compare(edit_query& with, edit_sink& to, std::span<long_word const> words) const;

  std::size_t common_;  ///< letters below have a place in the table of each group
  std::vector<run> runs_;
  std::vector<run> parts_;  ///< the runs in pieces; long words are parts behind them
  std::vector<group> groups_;
  std::vector<std::uint64_t> all_, any_;  ///< by group: what the signatures have in common, in all
  std::vector<std::uint16_t> row_of_;     ///< [groups][common]
  std::vector<rare_letter> rare_;         ///< by group, ascending
  /// By group: an empty row, the bits that words have, and a row for each letter of the group.
  std::vector<edit_row> rows_;
  std::vector<std::uint32_t> numbers_;
  std::vector<long_word> long_;
};

}  // namespace rulerank::knn
