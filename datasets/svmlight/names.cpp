#include "datasets/svmlight/names.hpp"

#include "core/control_characters.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

std::uint32_t chunk_names::number_of(std::string_view name) {
  if (next_ >= names_.size() || names_[next_] != name) {
    auto const [found, is_new] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    next_ = found->second;
  }
  auto const number = static_cast<std::uint32_t>(next_);
  next_ = next_ + 1 < names_.size() ? next_ + 1 : 0;
  return number;
}

void chunk_names::clear() {
  form = feature_form::unknown;
  names_.clear();
  numbers_.clear();
  next_ = 0;
}

std::vector<std::uint32_t> text_names::take(chunk_names const& names) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(names.names().size());
  for (std::string_view const name : names.names())
    numbers.push_back(
        numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size()))
            .first->second);
  return numbers;
}

void text_names::number(context const& ctx, dataset& data) const {
  std::vector<std::pair<std::string_view, std::uint32_t>> order(numbers_.begin(), numbers_.end());
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> number(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    number[order[i].second] = static_cast<std::uint32_t>(i + 1);
    data.names.emplace_hint(data.names.end(), static_cast<std::uint32_t>(i + 1), order[i].first);
  }
  parallel_for(ctx, data.size(), 256, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t d = begin; d < end; ++d) {
      auto const first = data.entries.begin() + static_cast<std::ptrdiff_t>(data.row[d]);
      auto const last = data.entries.begin() + static_cast<std::ptrdiff_t>(data.row[d + 1]);
      for (auto entry = first; entry != last; ++entry) entry->feature = number[entry->feature];
      std::sort(first, last, [](feature_value const& a, feature_value const& b) {
        return a.feature < b.feature;
      });
    }
  });
}

bool has_control_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at)
    if (control_size(text.substr(at)) > 0) return true;
  return false;
}

bool begins_feature_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_feature_name(std::string_view name) {
  return !name.empty() && begins_feature_name(name.front()) && name != "qid" &&
         name.find_first_of(" :#") == name.npos && !has_control_characters(name);
}

std::string feature_word(std::string_view name) {
  std::string word;
  while (!name.empty()) {
    char const c = name.front();
    std::size_t const control = control_size(name);
    word += c == ':' || c == '#' || c == ' ' || control > 0 ? '_' : c;
    name.remove_prefix(std::max<std::size_t>(control, 1));
  }
  if (!word.empty() && !begins_feature_name(word.front())) word.insert(0, 1, '_');
  return word;
}

dataset with_feature_words(dataset data, std::string const& place) {
  std::map<std::string, std::string> name_of_word;
  for (auto& [number, name] : data.names) {
    std::string const word = feature_word(name);
    auto const [other, is_new] = name_of_word.emplace(word, name);
    if (!is_new)
      throw error({place, 1, 1}, fmt::format("found the features '{}' and '{}', whose names both "
                                             "become {}, expected different names",
                                             other->second, name, word));
    name = word;
  }
  feature_names in_order;
  for (auto const& one : name_of_word)
    in_order.emplace(static_cast<std::uint32_t>(in_order.size() + 1), one.first);
  return renumbered(std::move(data), in_order);
}

bool is_feature_number(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
}

}  // namespace rulerank::datasets
