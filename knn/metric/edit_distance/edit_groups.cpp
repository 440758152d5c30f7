#include "knn/metric/edit_distance/edit_groups.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <hwy/cache_control.h>

namespace rulerank::inline v0::knn {

namespace {

constexpr std::size_t classes_of_letters = 32;
constexpr std::size_t longest_in_lane = 64;
// Groups whose letters are tested before the bound is read again.
constexpr std::size_t groups_a_look = 32;
constexpr std::size_t most_common = 256;
constexpr std::size_t groups_a_part = groups_a_look;
constexpr std::size_t long_words_a_part = 256;

std::size_t apart(std::size_t a, std::size_t b) {
  return a < b ? b - a : a - b;
}
std::size_t lane_bytes_of(std::size_t letters) {
  return letters <= 8 ? 1 : std::bit_ceil(letters) / 8;
}

}  // namespace

letter_classes::letter_classes(std::span<std::span<std::uint32_t const> const> words,
                               std::size_t alphabet)
    : class_(alphabet + 1) {
  std::vector<std::size_t> words_with(alphabet);
  std::vector<std::size_t> last_word(alphabet);
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::uint32_t const letter : words[w]) {
      if (last_word[letter] != w + 1) ++words_with[letter];
      last_word[letter] = w + 1;
    }
  std::vector<std::size_t> order(alphabet);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return apart(2 * words_with[a], words.size()) < apart(2 * words_with[b], words.size());
  });
  for (std::size_t i = 0; i < alphabet; ++i)
    class_[order[i]] = static_cast<std::uint8_t>(i % classes_of_letters);
}

std::uint64_t letter_classes::signature(std::span<std::uint32_t const> word) const {
  std::uint64_t once = 0;
  std::uint64_t often = 0;
  for (std::uint32_t const letter : word) {
    std::uint64_t const bit = std::uint64_t{1} << (classes_of_letters - 1 - class_[letter]);
    often |= once & bit;
    once |= bit;
  }
  return once << classes_of_letters | often;
}

edit_groups::edit_groups(std::span<word const> words, std::span<std::uint32_t const> numbers,
                         letter_classes const& classes)
    : common_(std::min(classes.alphabet() + 1, most_common)) {
  std::vector<std::uint64_t> signature(words.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() > longest_in_lane) {
      long_.push_back({words[i], numbers[i]});
      continue;
    }
    signature[i] = classes.signature(words[i]);
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (words[a].size() != words[b].size()) return words[a].size() < words[b].size();
    return signature[a] != signature[b] ? signature[a] < signature[b] : a < b;
  });
  for (std::size_t const i : order) numbers_.push_back(numbers[i]);
  for (std::size_t begin = 0; begin < order.size();) {
    // Words that fit in one group form one, whatever their lengths; this is so in most small
    // buckets.
    std::size_t const length = words[order[begin]].size();
    std::size_t const longest = words[order.back()].size();
    bool const is_last = (order.size() - begin) * lane_bytes_of(longest) <= edit_row_bytes;
    std::size_t const lane_bytes = lane_bytes_of(is_last ? longest : length);
    std::size_t end = begin;
    while (end < order.size() && end - begin < edit_row_bytes / lane_bytes &&
           (is_last || words[order[end]].size() == length))
      ++end;
    if (runs_.empty() || is_last || runs_.back().shortest != length)
      runs_.push_back({length, is_last ? longest : length, lane_bytes, groups_.size(), 0});
    add_group(std::span(order).subspan(begin, end - begin), words, lane_bytes);
    runs_.back().end = groups_.size();
    groups_.back().first = static_cast<std::uint32_t>(begin);
    for (; begin < end; ++begin) {
      all_.back() &= signature[order[begin]];
      any_.back() |= signature[order[begin]];
    }
  }
  for (run const& whole : runs_)
    for (std::size_t begin = whole.begin; begin < whole.end; begin += groups_a_part) {
      parts_.push_back(whole);
      parts_.back().begin = begin;
      parts_.back().end = std::min(begin + groups_a_part, whole.end);
    }
  all_.resize(groups_.size() + edit_groups_read);
  any_.resize(groups_.size() + edit_groups_read);
}

void edit_groups::add_group(std::span<std::size_t const> places, std::span<word const> words,
                            std::size_t lane_bytes) {
  std::vector<std::uint32_t> letters;
  for (std::size_t const place : places)
    letters.insert(letters.end(), words[place].begin(), words[place].end());
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  std::size_t const which = groups_.size();
  std::size_t const first_row = rows_.size();
  groups_.push_back(
      {0, first_row, rare_.size(),
       places.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << places.size()) - 1});
  all_.push_back(~std::uint64_t{0});
  any_.push_back(0);
  rows_.resize(first_row + 2 + letters.size());
  row_of_.resize(row_of_.size() + common_);
  for (std::uint32_t row = 2; std::uint32_t const letter : letters) {
    if (letter < common_)
      row_of_[which * common_ + letter] = static_cast<std::uint16_t>(row);
    else
      rare_.push_back({letter, row});
    ++row;
  }
  for (std::size_t lane = 0; lane < places.size(); ++lane) {
    word const of = words[places[lane]];
    for (std::size_t i = 0; i < of.size(); ++i) {
      std::size_t const bit = lane_bytes * 8 - of.size() + i;
      std::size_t const byte = lane * lane_bytes + bit / 8;
      auto const mask = static_cast<std::uint8_t>(1U << bit % 8);
      rows_[first_row + 1].bytes[byte] |= mask;
      rows_[first_row + row_of(which, of[i])].bytes[byte] |= mask;
    }
  }
}

std::size_t edit_groups::row_of(std::size_t which, std::uint32_t letter) const {
  if (letter < common_) return row_of_[which * common_ + letter];
  auto const begin = rare_.begin() + static_cast<std::ptrdiff_t>(groups_[which].rare);
  auto const end = which + 1 < groups_.size()
                       ? rare_.begin() + static_cast<std::ptrdiff_t>(groups_[which + 1].rare)
                       : rare_.end();
  auto const at = std::lower_bound(
      begin, end, letter, [](rare_letter const& one, std::uint32_t l) { return one.letter < l; });
  return at != end && at->letter == letter ? at->row : 0;
}

edit_query::edit_query(std::span<std::uint32_t const> letters, letter_classes const& classes)
    : letters_(letters),
      alphabet_(classes.alphabet()),
      signature_(classes.signature(letters)),
      rows_(groups_at_once * (letters.size() + 1)) {}

std::size_t edit_query::to(std::span<std::uint32_t const> word, std::size_t bound) {
  if (!pattern_) pattern_.emplace(letters_, alphabet_ + 1);
  return pattern_->to(word, bound);
}

void edit_groups::compare_waiting(edit_query& with, edit_sink& to, std::size_t lane_bytes) const {
  std::size_t const bound = to.bound();
  std::size_t const length = with.letters_.size();
  // Differences are within [-64, 64].
  constexpr std::size_t most = 100;
  int const limit = bound >= length ? static_cast<int>(std::min(bound - length, most))
                                    : -static_cast<int>(std::min(length - bound, most));
  compare_edit_groups({lane_bytes, with.waiting_count_, length, with.rows_.data()}, limit,
                      with.differences_.data(), with.near_.data());
  for (std::size_t g = 0; g < with.waiting_count_; ++g) {
    group const& one = groups_[with.waiting_[g]];
    if (std::uint64_t const near = with.near_[g] & one.there; near != 0)
      to.take(numbers_.data() + one.first, length, with.differences_[g], near);
  }
  with.waiting_count_ = 0;
}

void edit_groups::compare(edit_query& with, edit_sink& to, run const& some) const {
  for (std::size_t begin = some.begin; begin < some.end; begin += groups_a_look) {
    std::uint64_t near =
        near_edit_groups(all_.data() + begin, any_.data() + begin,
                         std::min(groups_a_look, some.end - begin), with.signature_, to.bound());
    for (; near != 0; near &= near - 1) {
      std::size_t const which = begin + static_cast<std::size_t>(std::countr_zero(near));
      edit_row const* const first = rows_.data() + groups_[which].row;
      edit_row const** row = with.rows_.data() + with.waiting_count_ * (with.letters_.size() + 1);
      *row++ = first + 1;
      for (std::uint32_t const letter : with.letters_) {
        *row = first + row_of(which, letter);
        hwy::Prefetch(*row++);
      }
      with.waiting_[with.waiting_count_++] = which;
      if (with.waiting_count_ == edit_query::groups_at_once)
        compare_waiting(with, to, some.lane_bytes);
    }
  }
  if (with.waiting_count_ > 0) compare_waiting(with, to, some.lane_bytes);
}

void edit_groups::compare(edit_query& with, edit_sink& to) const {
  std::size_t const length = with.letters_.size();
  // From here on runs of longer words, before it runs of shorter words; nearest lengths first.
  auto longer = std::partition_point(runs_.begin(), runs_.end(),
                                     [&](run const& one) { return one.longest < length; });
  auto shorter = longer;
  while (longer != runs_.end() || shorter != runs_.begin()) {
    std::size_t const none = ~std::size_t{0};
    std::size_t const up = longer == runs_.end() ? none : longer->at_least(length);
    std::size_t const down = shorter == runs_.begin() ? none : std::prev(shorter)->at_least(length);
    if (std::min(up, down) > to.bound()) break;
    compare(with, to, up <= down ? *longer++ : *--shorter);
  }
  compare(with, to, long_);
}

void edit_groups::compare(edit_query& with, edit_sink& to, std::span<long_word const> words) const {
  for (long_word const& one : words) {
    std::size_t const bound = to.bound();
    std::size_t const distance = with.to(one.letters, bound);
    std::int8_t const difference = 0;
    if (distance <= bound) to.take(&one.number, distance, &difference, 1);
  }
}

std::vector<std::uint32_t> edit_groups::parts(edit_query const& with) const {
  std::size_t const of_long = (long_.size() + long_words_a_part - 1) / long_words_a_part;
  std::vector<std::uint32_t> order(parts_.size() + of_long);
  std::iota(order.begin(), order.end(), 0U);
  std::size_t const length = with.letters_.size();
  auto const behind = order.begin() + static_cast<std::ptrdiff_t>(parts_.size());
  std::stable_sort(order.begin(), behind, [&](std::uint32_t a, std::uint32_t b) {
    return parts_[a].at_least(length) < parts_[b].at_least(length);
  });
  return order;
}

std::size_t edit_groups::compare_part(std::uint32_t part, edit_query& with, edit_sink& to) const {
  if (part >= parts_.size()) {
    std::size_t const begin = (part - parts_.size()) * long_words_a_part;
    auto const words =
        std::span(long_).subspan(begin, std::min(long_words_a_part, long_.size() - begin));
    compare(with, to, words);
    return words.size();
  }
  run const& some = parts_[part];
  if (some.at_least(with.letters_.size()) <= to.bound()) compare(with, to, some);
  std::size_t words = 0;
  for (std::size_t g = some.begin; g < some.end; ++g)
    words += static_cast<std::size_t>(std::popcount(groups_[g].there));
  return words;
}

bool edit_groups::erase(std::uint32_t number) {
  auto const is_long = [&](long_word const& one) { return one.number == number; };
  if (std::erase_if(long_, is_long) > 0) return true;
  auto const at = std::find(numbers_.begin(), numbers_.end(), number);
  if (at == numbers_.end()) return false;
  auto const place = static_cast<std::uint32_t>(at - numbers_.begin());
  auto const in = std::prev(std::partition_point(
      groups_.begin(), groups_.end(), [&](group const& one) { return one.first <= place; }));
  in->there &= ~(std::uint64_t{1} << (place - in->first));
  return true;
}

}  // namespace rulerank::knn
