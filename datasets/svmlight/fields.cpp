#include "datasets/svmlight/fields.hpp"

#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/faults.hpp"
#include "datasets/svmlight/values.hpp"
#include "datasets/text/encoding.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

constexpr char expected_feature[] = "expected <feature>:<value>";

class line_reader {
 public:
  line_reader(std::string_view line, line_rules const& rules, line_document& out)
      : line_(line), rules_(rules), out_(out) {}

  bool read() {
    out_.qid.reset();
    out_.qid_offset = line_.npos;
    out_.features_offset = line_.npos;
    out_.entries.clear();
    std::string_view token = next_token();
    if (!token.empty()) {
      if (read_label(token)) token = next_token();
      out_.qid_offset = offset_of(token);
      if (token.starts_with("qid:")) {
        read_qid(token);
        token = next_token();
      }
      try {
        for (; !token.empty(); token = next_token()) read_feature(token);
      } catch (line_fault const&) {
        sort_features();  // a duplicate feature before this position is the first fault
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

  /// Returns an empty text at the end of the line or at the comment.
  std::string_view next_token() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    std::size_t const begin = at_;
    while (at_ < line_.size() && !is_blank(line_[at_]) && line_[at_] != '#') ++at_;
    return line_.substr(begin, at_ - begin);
  }

  /// Returns false if the token is no label and labels are optional.
  bool read_label(std::string_view token) {
    if (rules_.optional_labels && token.find(':') != token.npos) {
      out_.label = unlabelled;
      out_.label_value = unlabelled;
      return false;
    }
    document_label label;
    if (std::string fault = datasets::read_label(token, rules_, label); !fault.empty())
      fail(token, std::move(fault));
    out_.label = label.label;
    out_.label_value = label.value;
    return true;
  }

  void read_qid(std::string_view token) {
    std::string_view const qid = token.substr(4);
    if (qid.empty()) fail(token, "found qid: without an id, expected qid:<id>");
    if (is_missing_word(qid)) fail(token, missing_id_fault("qid", qid));
    for (std::size_t i = 0; i < qid.size(); ++i)
      if (static_cast<unsigned char>(qid[i]) < ' ')
        fail(qid.substr(i),
             fmt::format("found {} in a qid, expected text", rulerank::quoted(qid.substr(i, 1))));
    out_.qid = qid;
  }

  void read_feature(std::string_view token) {
    std::size_t const colon = token.find(':');
    if (colon == token.npos)
      fail(token,
           fmt::format("found {} without a colon, {}", rulerank::quoted(token), expected_feature));
    std::string_view const name = token.substr(0, colon);
    std::string_view const digits = token.substr(colon + 1);
    if (name == "qid")
      fail(token, fmt::format("found {}, expected one qid, right after the label",
                              rulerank::quoted(token)));
    std::uint32_t const feature = number_of(token, name);
    double value = 0;
    if (std::string fault = read_value(digits, name, rules_, value); !fault.empty())
      fail(digits, std::move(fault));
    if (!out_.entries.empty() && out_.entries.back().feature >= feature) sorted_ = false;
    out_.entries.push_back({feature, value});
    offsets_.push_back(offset_of(token));
  }

  /// Returns the number of a feature; for a name, its number in the chunk.
  std::uint32_t number_of(std::string_view token, std::string_view name) {
    bool const named = rules_.names != nullptr && is_feature_name(name);
    if (!named && !is_feature_number(name))
      fail(token, fmt::format("feature {} is not a number{}, {}", rulerank::quoted(name),
                              rules_.names == nullptr ? "" : " or a name", expected_feature));
    if (out_.features_offset == line_.npos) out_.features_offset = offset_of(token);
    if (rules_.names != nullptr) {
      feature_form const form = named ? feature_form::names : feature_form::numbers;
      if (rules_.names->form == feature_form::unknown) rules_.names->form = form;
      if (rules_.names->form != form) fail(token, other_form(form));
    }
    if (named && first_not_utf8(name) != name.npos) fail(token, name_not_utf8(name));
    if (named) return rules_.names->number_of(name);
    std::uint32_t feature = 0;
    if (std::string fault = read_feature_number(name, rules_, feature); !fault.empty())
      fail(token, std::move(fault));
    return feature;
  }

  std::string name_of(std::uint32_t feature) const {
    if (rules_.names != nullptr && rules_.names->form == feature_form::names)
      return std::string(rules_.names->names()[feature]);
    return std::to_string(feature);
  }

  /// Throws the first position where a feature is listed again.
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
                       fmt::format("found feature {} twice, expected each feature once",
                                   name_of(out_.entries[again].feature))};
    out_.entries = std::move(entries);
  }

  void read_comment() {
    out_.comment_offset = std::min(at_ + 1, line_.size());
    std::size_t const bad = std::min(line_.find('\0', at_), line_.find('\r', at_));
    if (bad == line_.npos) return;
    throw line_fault{bad, line_[bad] == '\r'
                              ? "found a carriage return inside the line, expected a line end"
                              : "found a NUL byte, expected text"};
  }

  std::string_view line_;
  line_rules const& rules_;
  line_document& out_;
  std::vector<std::size_t> offsets_;  // of the entries, in line order
  std::size_t at_ = 0;
  bool sorted_ = true;
};

}  // namespace

bool read_line(std::string_view line, line_rules const& rules, line_document& out) {
  return line_reader(line, rules, out).read();
}

}  // namespace rulerank::datasets
