#include "datasets/transactions.hpp"

#include "core/error.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {
namespace {

constexpr std::size_t lines_a_report = 1 << 16;

bool is_separator_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Reads the integers of a line behind `out`.
void read_integers(char const* const begin, char const* const end, source_position const& line,
                   std::vector<std::uint32_t>& out) {
  for (char const* at = begin; at != end;) {
    if (is_separator_blank(*at)) {
      ++at;
      continue;
    }
    char const* const word = at;
    std::uint64_t value = 0;
    while (at != end && *at >= '0' && *at <= '9' &&
           value <= std::numeric_limits<std::uint32_t>::max())
      value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
    if (at == word || (at != end && !is_separator_blank(*at)) ||
        value > std::numeric_limits<std::uint32_t>::max()) {
      std::string_view const rest(
          word, static_cast<std::size_t>(std::find_if(word, end, is_separator_blank) - word));
      throw error({line.file, line.line, static_cast<std::uint64_t>(word - begin) + 1},
                  fmt::format("found {}, expected an item, an integer from 0 to 4294967295",
                              rulerank::quoted(rest)));
    }
    out.push_back(static_cast<std::uint32_t>(value));
  }
}

/// Sorts what stands behind `begin` and drops what stands twice.
void make_set(std::vector<std::uint32_t>& items, std::size_t begin) {
  auto const first = items.begin() + static_cast<std::ptrdiff_t>(begin);
  if (std::adjacent_find(first, items.end(), std::greater_equal<>()) == items.end()) return;
  std::sort(first, items.end());
  items.erase(std::unique(first, items.end()), items.end());
}

/// Items become their ranks among the distinct ones; what these are is returned.
std::vector<std::uint32_t> rank(std::vector<std::uint32_t>& items) {
  std::uint32_t const largest = items.empty() ? 0 : *std::max_element(items.begin(), items.end());
  std::vector<std::uint32_t> distinct;
  if (largest / 4 <= items.size()) {
    std::vector<std::uint32_t> rank_of(std::size_t{largest} + 1);
    for (std::uint32_t const x : items) rank_of[x] = 1;
    for (std::size_t x = 0; x < rank_of.size(); ++x) {
      if (rank_of[x] == 0) continue;
      rank_of[x] = static_cast<std::uint32_t>(distinct.size());
      distinct.push_back(static_cast<std::uint32_t>(x));
    }
    if (!items.empty())
      for (std::uint32_t& x : items) x = rank_of[x];
    else
      distinct.clear();
    return distinct;
  }
  distinct = items;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::uint32_t& x : items)
    x = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), x) -
                                   distinct.begin());
  return distinct;
}

}  // namespace

namespace {

/// Calls read_line(begin, end, position of the line, items) for each line of a file.
template <class ReadLine>
transactions read_lines(context const& ctx, std::string const& path, ReadLine&& read_line) {
  auto const text = open_text(ctx, path);
  std::string_view const bytes = text->bytes();
  transactions read;
  read.name = display_name(path);
  source_position line{read.name, 0, 0};
  for (std::size_t begin = bytes.starts_with("\xef\xbb\xbf") ? 3 : 0; begin < bytes.size();) {
    std::size_t const end = std::min(bytes.find('\n', begin), bytes.size());
    if (++line.line % lines_a_report == 0) ctx.report("read", begin, bytes.size());
    read_line(bytes.data() + begin, bytes.data() + end, line, read.items);
    make_set(read.items, read.row.back());
    read.row.push_back(read.items.size());
    begin = end + 1;
  }
  expect_unchanged(*text, read.name);
  if (read.size() == 0) throw error({read.name, 1, 1}, "no transactions, expected one a line");
  return read;
}

/// Names get numbers as they come.
class name_numbers {
 public:
  std::uint32_t of(std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }
  /// The names in the order of their bytes; `place` says where each number's name went.
  std::vector<std::string> sorted(std::vector<std::uint32_t>& place) const {
    std::vector<std::string> names;
    place.resize(numbers_.size());
    for (auto const& [name, number] : std::map(numbers_.begin(), numbers_.end())) {
      place[number] = static_cast<std::uint32_t>(names.size());
      names.push_back(name);
    }
    return names;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

void read_names(char const* const begin, char const* const end, char separator,
                source_position const& line, name_numbers& numbers,
                std::vector<std::uint32_t>& out) {
  bool const by_blanks = is_separator_blank(separator);
  if (std::all_of(begin, end, is_separator_blank)) return;
  for (char const* at = begin;;) {
    char const* const stop =
        by_blanks ? std::find_if(at, end, is_separator_blank) : std::find(at, end, separator);
    char const* first = std::find_if_not(at, stop, is_separator_blank);
    char const* last = stop;
    while (last != first && is_separator_blank(last[-1])) --last;
    if (first != last)
      out.push_back(numbers.of({first, static_cast<std::size_t>(last - first)}));
    else if (!by_blanks)
      throw error({line.file, line.line, static_cast<std::uint64_t>(at - begin) + 1},
                  "found no name, expected one between two separators");
    if (stop == end) return;
    at = stop + 1;
  }
}

/// What the items of a feature stand for.
void name_ranges(feature_cuts const& of, std::string const& feature, bool missing,
                 std::vector<std::string>& names) {
  for (std::size_t b = 0; b <= of.cuts.size(); ++b)
    names.push_back(fmt::format("{}:{}{})", feature,
                                b == 0 ? "(-inf," : fmt::format("[{},", of.cuts[b - 1]),
                                b == of.cuts.size() ? "inf" : fmt::format("{}", of.cuts[b])));
  if (missing) names.push_back(fmt::format("{}:missing", feature));
}

}  // namespace

transactions read_fimi(context const& ctx, std::string const& path) {
  transactions read = read_lines(ctx, path, read_integers);
  for (std::uint32_t const x : rank(read.items)) read.names.push_back(std::to_string(x));
  return read;
}

transactions read_baskets(context const& ctx, std::string const& path, char separator) {
  name_numbers numbers;
  transactions read =
      read_lines(ctx, path, [&](auto const begin, auto const end, auto const& line, auto& out) {
        read_names(begin, end, separator, line, numbers, out);
      });
  std::vector<std::uint32_t> place;
  read.names = numbers.sorted(place);
  for (std::uint32_t& x : read.items) x = place[x];
  for (std::size_t t = 0; t < read.size(); ++t)
    std::sort(read.items.begin() + static_cast<std::ptrdiff_t>(read.row[t]),
              read.items.begin() + static_cast<std::ptrdiff_t>(read.row[t + 1]));
  return read;
}

transactions transactions_of(binned_dataset const& data, discretizer const& fitted, bool labels) {
  transactions made;
  for (std::size_t f = 0; f < data.feature_count(); ++f) {
    auto const of = std::find_if(fitted.features.begin(), fitted.features.end(),
                                 [&](auto const& c) { return c.feature == data.features[f]; });
    if (of == fitted.features.end())
      throw usage_error(fmt::format("feature {} has no cuts", data.features[f]));
    name_ranges(*of, name_of(of->feature, fitted.names), data.has_missing_item[f], made.names);
  }
  std::map<std::int32_t, std::uint32_t> item_of_label;
  if (labels) {
    for (std::int32_t const l : data.labels)
      if (l != unlabelled) item_of_label[l] = 0;
    for (auto& [label, its_item] : item_of_label) {
      its_item = static_cast<std::uint32_t>(made.names.size());
      made.names.push_back(fmt::format("label={}", label));
    }
  }
  for (std::size_t d = 0; d < data.documents; ++d) {
    for (std::size_t f = 0; f < data.feature_count(); ++f)
      if (std::uint8_t const c = data.code(f, d); c != no_item)
        made.items.push_back(data.item_begin[f] + c);
    if (labels && data.labels[d] != unlabelled)
      made.items.push_back(item_of_label.at(data.labels[d]));
    made.row.push_back(made.items.size());
  }
  return made;
}

}  // namespace rulerank::datasets
