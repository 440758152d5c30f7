#pragma once
// A simple reader for tests and fuzzing: line by line, token by token, with strtod.

#include "datasets/input/fields.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/text/encoding.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace rulerank::inline v0::datasets::reference {

struct document {
  std::int32_t label = 0;
  std::string qid;
  std::map<std::uint32_t, double> features;
  std::map<std::string, double> named;  ///< features by name; `features` also has their numbers
  std::string line;
  std::uint64_t line_number = 0;

  std::string comment() const {
    std::size_t const hash = line.find('#');
    if (hash == std::string::npos) return {};
    std::size_t const first = line.find_first_not_of(" \t\r\v\f", hash + 1);
    if (first == std::string::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r\v\f") + 1 - first);
  }
};

struct outcome {
  std::vector<document> documents;  ///< in file order
  std::vector<std::string> names;   ///< of features 1, 2, ..., if they have names
  bool with_qid = false;
  std::uint64_t bad_line = 0;  ///< of the first fault, 1 for a text without documents; 0: none
};

/// Parses a whole token as a decimal number; returns nothing for anything else. NaN: missing.
inline std::optional<double> number(std::string token) {
  std::string lower = token;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  std::set<std::string> const missing{"null", "nan", "+nan", "-nan"};
  if (missing.count(lower) != 0) return std::nan("");
  if (token.empty() || token.find_first_not_of("0123456789+-.eE") != token.npos)
    return std::nullopt;  // also rules out hexadecimal, inf and NUL
  char* end = nullptr;
  double const value = std::strtod(token.c_str(), &end);
  if (end != token.c_str() + token.size() || std::isinf(value)) return std::nullopt;
  return value;
}

enum class form { unknown, numbers, names };

/// Returns whether it is a name: first a letter, `_` or a non-ASCII byte, then neither whitespace
/// nor control characters, in UTF-8.
inline bool is_name(std::string const& name) {
  auto const first = static_cast<unsigned char>(name[0]);
  if (std::isalpha(first) == 0 && first != '_' && first < 128) return false;
  for (char const c : name)
    if (static_cast<unsigned char>(c) <= 32 || c == 127) return false;
  return name != "qid" && first_not_utf8(name) == name.npos;
}

/// Returns false if the line is faulty. `so_far` is the form of the previous features. `out` has no
/// value for a line without a document.
inline bool read_line(std::string line, svmlight_options const& options,
                      std::optional<document>& out, form& so_far) {
  out.reset();
  if (!line.empty() && line.back() == '\r') line.pop_back();
  document d;
  d.line = line;
  std::size_t const hash = std::min(line.find('#'), line.size());
  for (char const c : line.substr(hash))
    if (c == '\0' || c == '\r') return false;
  std::vector<std::string> tokens(1);
  for (char const c : line.substr(0, hash)) {
    if (c != ' ' && c != '\t')
      tokens.back() += c;
    else if (!tokens.back().empty())
      tokens.emplace_back();
  }
  if (tokens.back().empty()) tokens.pop_back();
  if (tokens.empty()) return true;
  auto const label = number(tokens[0]);
  if (!label || std::isnan(*label) || *label != std::floor(*label) || std::abs(*label) > 2147483647)
    return false;
  d.label = static_cast<std::int32_t>(*label);
  if (options.unlabelled && d.label == *options.unlabelled)
    d.label = unlabelled;
  else if (d.label < 0)
    return false;
  std::size_t next = 1;
  if (tokens.size() > 1 && tokens[1].substr(0, 4) == "qid:") {
    d.qid = tokens[1].substr(4);
    if (d.qid.empty() || is_missing_word(d.qid)) return false;
    for (char const c : d.qid)
      if (static_cast<unsigned char>(c) < 32) return false;
    next = 2;
  }
  for (; next < tokens.size(); ++next) {
    std::size_t const colon = tokens[next].find(':');
    if (colon == std::string::npos || colon == 0) return false;
    std::string const name = tokens[next].substr(0, colon);
    bool const digits = name.find_first_not_of("0123456789") == name.npos;
    if (!digits && !is_name(name)) return false;
    form const its = digits ? form::numbers : form::names;
    if (so_far == form::unknown) so_far = its;
    if (so_far != its) return false;
    auto const value = number(tokens[next].substr(colon + 1));
    if (!value) return false;
    if (!digits) {
      if (!d.named.emplace(name, *value).second) return false;
      continue;
    }
    double const feature = std::strtod(name.c_str(), nullptr);
    if (feature > 2147483647 || (feature == 0 && !options.zero_based)) return false;
    if (!d.features.emplace(static_cast<std::uint32_t>(feature), *value).second) return false;
  }
  out = std::move(d);
  return true;
}

/// Options without a group file; the caller handles `regroup`.
inline outcome read(std::string const& text, svmlight_options const& options) {
  outcome result;
  std::istringstream in(text.substr(0, 3) == "\xef\xbb\xbf" ? text.substr(3) : text);
  std::set<std::string> ended;
  std::string line;
  form so_far = form::unknown;
  for (std::uint64_t number = 1; std::getline(in, line); ++number) {
    std::optional<document> d;
    bool good = read_line(line, options, d, so_far);
    if (good && d) {
      d->line_number = number;
      if (result.documents.empty()) result.with_qid = !d->qid.empty();
      good = result.with_qid == !d->qid.empty();
      if (good && !options.regroup && result.with_qid && !result.documents.empty()) {
        std::string const& last = result.documents.back().qid;
        if (last != d->qid) {
          ended.insert(last);
          good = ended.count(d->qid) == 0;
        }
      }
    }
    if (!good) {
      result.bad_line = number;
      return result;
    }
    if (d) result.documents.push_back(std::move(*d));
  }
  if (result.documents.empty()) result.bad_line = 1;
  std::set<std::string> names;
  for (document const& d : result.documents)
    for (auto const& [name, value] : d.named) names.insert(name);
  result.names.assign(names.begin(), names.end());
  for (document& d : result.documents)
    for (auto const& [name, value] : d.named)
      d.features[static_cast<std::uint32_t>(std::distance(names.begin(), names.find(name))) + 1] =
          value;
  return result;
}

}  // namespace rulerank::datasets::reference
