#include "datasets/svmlight/fields.hpp"

#include "datasets/number.hpp"
#include "datasets/text_source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace rulerank::datasets {

namespace {

constexpr char expected_feature[] = "expected <feature>:<value>";
constexpr char expected_label[] = "expected an integer of 0 or more";

class line_reader {
 public:
  line_reader(std::string_view line, line_rules const& rules, line_document& out)
      : line_(line), rules_(rules), out_(out) {}

  bool read() {
    out_.qid.reset();
    out_.qid_offset = line_.npos;
    out_.entries.clear();
    std::string_view token = next_token();
    if (!token.empty()) {
      read_label(token);
      token = next_token();
      out_.qid_offset = offset_of(token);
      if (token.starts_with("qid:")) {
        read_qid(token);
        token = next_token();
      }
      try {
        for (; !token.empty(); token = next_token()) read_feature(token);
      } catch (line_fault const&) {
        sort_features();  // a feature listed twice before this place is the first fault
        throw;
      }
      sort_features();
      read_comment();
      return true;
    }
    read_comment();
    return false;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }

  std::size_t offset_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - line_.data());
  }

  [[noreturn]] void fail(std::string_view where, std::string found_and_expected) const {
    throw line_fault{offset_of(where), std::move(found_and_expected)};
  }

  /// Empty at the end of the line or at the comment.
  std::string_view next_token() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    std::size_t const begin = at_;
    while (at_ < line_.size() && !is_blank(line_[at_]) && line_[at_] != '#') ++at_;
    return line_.substr(begin, at_ - begin);
  }

  void read_label(std::string_view token) {
    double value = 0;
    number_kind const kind = read_number(token, value);
    if (rules_.any_label) {
      if (kind != number_kind::finite)
        fail(token, fmt::format("label {}, expected a finite number", quoted(token)));
      out_.class_label = value;
      return;
    }
    if (kind == number_kind::malformed)
      fail(token, fmt::format("label {} is not a number, {}", quoted(token), expected_label));
    if (kind == number_kind::missing || kind == number_kind::infinite)
      fail(token, fmt::format("label {}, {}", quoted(token), expected_label));
    if (kind == number_kind::finite && value != std::floor(value))
      fail(token, fmt::format("label {} is fractional, {}", quoted(token), expected_label));
    if (kind == number_kind::too_large ||
        std::abs(value) > std::numeric_limits<std::int32_t>::max())
      fail(token, fmt::format("label {} is out of range, expected an integer of 0 to {}",
                              quoted(token), std::numeric_limits<std::int32_t>::max()));
    out_.label = static_cast<std::int32_t>(value);
    if (rules_.unlabelled && out_.label == *rules_.unlabelled)
      out_.label = unlabelled;
    else if (out_.label < 0)
      fail(token, rules_.unlabelled
                      ? fmt::format("label {} is negative, {} (or {} for one not labelled yet)",
                                    quoted(token), expected_label, *rules_.unlabelled)
                      : fmt::format("label {} is negative, {}", quoted(token), expected_label));
  }

  void read_qid(std::string_view token) {
    std::string_view const qid = token.substr(4);
    if (qid.empty()) fail(token, "qid: without an id, expected qid:<id>");
    for (std::size_t i = 0; i < qid.size(); ++i)
      if (static_cast<unsigned char>(qid[i]) < ' ')
        fail(qid.substr(i), fmt::format("{} in a qid, expected text", quoted(qid.substr(i, 1))));
    out_.qid = qid;
  }

  void read_feature(std::string_view token) {
    std::size_t const colon = token.find(':');
    if (colon == token.npos)
      fail(token, fmt::format("{} without a colon, {}", quoted(token), expected_feature));
    std::string_view const name = token.substr(0, colon);
    std::string_view const digits = token.substr(colon + 1);
    if (name == "qid")
      fail(token,
           fmt::format("{} found, expected one qid and only right after the label", quoted(token)));
    if (name.empty() || name.find_first_not_of("0123456789") != name.npos)
      fail(token, fmt::format("feature {} is not a number, {}", quoted(name), expected_feature));
    std::uint64_t feature = 0;
    for (char const c : name) {
      feature = feature * 10 + static_cast<std::uint64_t>(c - '0');
      if (feature > max_feature)
        fail(token, fmt::format("feature {} is too large, expected at most {}", quoted(name),
                                max_feature));
    }
    if (feature == 0 && !rules_.zero_based)
      fail(token, "feature 0, expected 1 or more (unless read as zero-based)");
    double value = 0;
    switch (read_number(digits, value)) {
      case number_kind::missing:
        if (!rules_.missing_values)
          fail(digits, fmt::format("value {} of feature {} is missing, expected a finite number",
                                   quoted(digits), feature));
        break;
      case number_kind::finite:
        if (std::abs(value) > rules_.largest)
          fail(digits, fmt::format("value {} of feature {} is too large, expected at most {}",
                                   quoted(digits), feature, rules_.largest));
        break;
      case number_kind::infinite:
      case number_kind::too_large:
        fail(digits, fmt::format("value {} of feature {} is {}, expected a finite number",
                                 quoted(digits), feature,
                                 digits.find_first_of("0123456789") == digits.npos
                                     ? "infinite"
                                     : "too large for a double"));
      case number_kind::malformed:
        fail(digits, fmt::format("value {} of feature {} is not a number, expected one such as "
                                 "0.5, nan or NULL",
                                 quoted(digits), feature));
    }
    if (!out_.entries.empty() && out_.entries.back().feature >= feature) sorted_ = false;
    out_.entries.push_back({static_cast<std::uint32_t>(feature), value});
    offsets_.push_back(offset_of(token));
  }

  /// Throws the first place where a feature is listed again.
  void sort_features() {
    if (sorted_) return;
    std::vector<std::size_t> order(out_.entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return out_.entries[a].feature < out_.entries[b].feature;
    });
    entry_list entries;
    entries.reserve(order.size());
    std::size_t again = order.size();
    for (std::size_t const i : order) {
      if (!entries.empty() && entries.back().feature == out_.entries[i].feature)
        again = std::min(again, i);
      entries.push_back(out_.entries[i]);
    }
    if (again < order.size())
      throw line_fault{offsets_[again],
                       fmt::format("feature {} is listed twice, expected each feature once",
                                   out_.entries[again].feature)};
    out_.entries = std::move(entries);
  }

  void read_comment() {
    out_.comment_offset = std::min(at_ + 1, line_.size());
    std::size_t const bad = std::min(line_.find('\0', at_), line_.find('\r', at_));
    if (bad == line_.npos) return;
    throw line_fault{bad, line_[bad] == '\r'
                              ? "a carriage return within the line, expected a line end"
                              : "a NUL byte, expected text"};
  }

  std::string_view line_;
  line_rules const& rules_;
  line_document& out_;
  std::vector<std::size_t> offsets_;  // of the entries, in the order of the line
  std::size_t at_ = 0;
  bool sorted_ = true;
};

}  // namespace

bool read_line(std::string_view line, line_rules const& rules, line_document& out) {
  return line_reader(line, rules, out).read();
}

}  // namespace rulerank::datasets
