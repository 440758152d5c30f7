#include "l2r/model/feature_descriptions.hpp"

#include "core/error.hpp"
#include "datasets/input/lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

// Units and origins of features: the table that a person writes, and their part of a model file.
namespace rulerank::inline v0::l2r {

namespace {

constexpr std::array<std::string_view, 3> titles{"feature", "unit", "origin"};

bool is_text(std::string_view cell) {
  return printable(cell) == cell;
}

class description_reader {
 public:
  description_reader(std::string_view text, std::string const& name,
                     datasets::feature_names const& names, std::span<std::uint32_t const> listed)
      : text_(text), name_(name), listed_(listed) {
    datasets::remove_byte_order_mark(text_);
    for (auto const& [number, title] : names) numbers_.emplace(title, number);
  }

  feature_descriptions read() {
    next_line();
    if (cells_ != titles)
      fail(1, fmt::format("found {}, expected the titles feature, unit and origin, separated by "
                          "tabs",
                          quoted(line_)));
    feature_descriptions all;
    while (next_line()) {
      if (line_.empty()) continue;
      auto const [feature, unit, origin] = cells_;
      if (!all.emplace(number_of(feature),
                       feature_description{std::string(unit), std::string(origin)})
               .second)
        fail(1, fmt::format("found {} twice, expected each feature once", quoted(feature)));
    }
    return all;
  }

 private:
  [[noreturn]] void fail(std::size_t column, std::string const& what) const {
    throw error({name_, number_, column}, what);
  }

  bool next_line() {
    ++number_;
    if (text_.empty()) return false;
    std::size_t const end = std::min(text_.find('\n'), text_.size());
    line_ = text_.substr(0, end);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    if (!line_.empty()) split();
    return true;
  }

  void split() {
    std::size_t begin = 0;
    for (std::size_t cell = 0; cell < titles.size(); ++cell) {
      bool const is_last = cell + 1 == titles.size();
      std::size_t const tab = line_.find('\t', begin);
      if (is_last != (tab == line_.npos))
        fail(is_last ? tab + 1 : line_.size() + 1,
             fmt::format(
                 "found {} than 3 cells, expected a feature, its unit and its origin, separated "
                 "by tabs",
                 is_last ? "more" : "fewer"));
      cells_[cell] = line_.substr(begin, is_last ? line_.npos : tab - begin);
      if (!is_text(cells_[cell]))
        fail(begin + 1, fmt::format("found {}, expected UTF-8 without control characters",
                                    quoted(cells_[cell])));
      begin = tab + 1;
    }
  }

  std::uint32_t number_of(std::string_view feature) const {
    if (auto const named = numbers_.find(feature); named != numbers_.end()) return named->second;
    std::uint32_t number = 0;
    char const* const end = feature.data() + feature.size();
    auto const [stop, status] = std::from_chars(feature.data(), end, number);
    bool const is_known = numbers_.empty() && status == std::errc() && stop == end &&
                          !listed_.empty() && number >= std::min(1U, listed_.front()) &&
                          number <= listed_.back();
    if (!is_known)
      fail(1, fmt::format("found {}, expected {} of the training documents", quoted(feature),
                          numbers_.empty() ? "a feature's number" : "a feature's name"));
    return number;
  }

  std::string_view text_;
  std::string const& name_;
  std::map<std::string_view, std::uint32_t> numbers_;  // by names; empty: features have no names
  std::span<std::uint32_t const> listed_;
  std::string_view line_;
  std::array<std::string_view, 3> cells_;
  std::size_t number_ = 0;
};

}  // namespace

feature_descriptions feature_descriptions_from_text(std::string_view text, std::string const& name,
                                                    datasets::feature_names const& names,
                                                    std::span<std::uint32_t const> listed) {
  return description_reader(text, name, names, listed).read();
}

nlohmann::ordered_json to_json(feature_descriptions const& of) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (auto const& [feature, one] : of)
    list.push_back({{"feature", feature}, {"unit", one.unit}, {"origin", one.origin}});
  return list;
}

feature_descriptions feature_descriptions_from_json(json_fields const& header) {
  feature_descriptions all;
  nlohmann::ordered_json const& list = header.list("features");
  for (std::size_t i = 0; i < list.size(); ++i) {
    json_fields const entry(list[i], header.name(), fmt::format("features[{}].", i));
    auto const feature = static_cast<std::uint32_t>(
        entry.integer("feature", 0, std::numeric_limits<std::int32_t>::max()));
    for (char const* const key : {"unit", "origin"})
      if (!is_text(entry.word(key))) entry.fail(key, "found a control character, expected none");
    if (!all.emplace(feature, feature_description{entry.word("unit"), entry.word("origin")}).second)
      entry.fail("feature", fmt::format("found {} twice, expected each feature once", feature));
  }
  return all;
}

feature_description const& description_of(std::uint32_t feature, feature_descriptions const& in) {
  static feature_description const none;
  auto const at = in.find(feature);
  return at != in.end() ? at->second : none;
}

}  // namespace rulerank::l2r
