#include "apps/shared/search/neighbour_output.hpp"

#include "apps/shared/arguments/text_arguments.hpp"
#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/json_text.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {

namespace {

/// Throws unless the word is a valid column of a TREC run.
std::string const& one_word(std::string const& word, char const* what) {
  if (!datasets::is_run_column(word))
    throw usage_error(fmt::format("--run: found {} {}, expected one word as a column of the run{}",
                                  what, rulerank::quoted(word),
                                  word == "#" ? ", because # begins a comment" : ""));
  return word;
}

/// Throws unless the text is a valid cell of a tab-separated line.
std::string const& one_cell(std::string const& text, char const* option, char const* what) {
  if (std::ranges::any_of(text, [](char c) { return c == '\t' || c == '\r' || c == '\n'; }))
    throw usage_error(fmt::format("{}: found {} {}, expected a column without tabs and line breaks",
                                  option, what, rulerank::quoted(text)));
  return text;
}

}  // namespace

neighbour_files::neighbour_files(session const& owner, std::string const& out,
                                 std::string const& run, std::string tag)
    : as_json_(owner.run.json && out == "-"), tag_(std::move(tag)) {
  if (!out.empty()) neighbours_.emplace(owner.destination(out));
  if (run.empty()) return;
  one_word(tag_, "the tag");
  run_.emplace(owner.destination(run));
}

void neighbour_files::add_lines(knn::result_lines& to, knn::query_result const& found,
                                id_of_fn const& id_of) const {
  if (!neighbours_ && !run_) return;
  auto const [query, order, items, values] = found;
  std::string const name = id_of_query_(query);
  if (run_) one_word(name, "a query's id");
  std::size_t rank = 0;
  nlohmann::ordered_json near = nlohmann::ordered_json::array();
  char const* const value = order == knn::value_order::larger_is_nearer ? "similarity" : "distance";
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string const id = id_of(items[i]);
    if (others_ && (id == name || rank == *others_)) continue;
    if (++rank == 1 && neighbours_ && !as_json_) one_cell(name, "--out", "a query's id");
    if (neighbours_ && as_json_)
      near.push_back({{"id", id}, {value, values[i]}});
    else if (neighbours_)
      append_format(to.lines, "{}\t{}\t{}\t{}\n", name, rank,
                    one_cell(id, "--out", "a document's id"), values[i]);
    if (run_)
      to.run += datasets::run_line(name, one_word(id, "a document's id"), rank,
                                   knn::score_of(order, values[i]), tag_);
  }
  if (neighbours_ && as_json_)
    to.lines += json_line_of(nlohmann::ordered_json{{"query", name}, {"neighbours", near}}) + "\n";
  to.most = std::max<std::uint64_t>(to.most, rank);
}

std::optional<std::uint64_t> neighbour_files::fewer_than(std::uint64_t k) const {
  if ((neighbours_ || run_) && most_ < others_.value_or(k)) return most_;
  return std::nullopt;
}

void neighbour_files::write(knn::result_lines const& lines) {
  most_ = std::max(most_, lines.most);
  if (neighbours_) neighbours_->write(lines.lines);
  if (run_) run_->write(lines.run);
}

void neighbour_files::take(std::size_t first, knn::neighbours found) {
  if (!votes_) return;
  auto const given = votes_->given(found);
  for (std::size_t q = 0; q < given.size(); ++q)
    votes_->add(id_of_query_(first + q), label_of_query_(first + q), given[q]);
}

void neighbour_files::flush() {
  if (neighbours_) neighbours_->flush();
  if (run_) run_->flush();
  if (votes_) votes_->flush();
}

void neighbour_files::commit() {
  if (neighbours_) neighbours_->commit();
  if (run_) run_->commit();
  if (votes_) votes_->commit();
}

class_votes::class_votes(std::string const& votes, std::string const& out)
    : how_(knn::voting_from(votes)) {
  if (!out.empty()) out_.emplace(out);
}

void class_votes::learn(std::vector<std::string> const& labels) {
  for (std::string const& label : labels) of_item_.push_back(number(label));
  if (!labels.empty() && names_.empty())
    throw usage_error(
        "--votes: found no document with a label, expected --labels, labels in JSON, or a folder "
        "for each label");
}

void class_votes::add(std::string const& id, std::string const& label, std::uint32_t given) {
  truth_.push_back(number(label));
  given_.push_back(given);
  std::string const voted = given == knn::no_class ? std::string() : names_[given];
  if (out_)
    out_->write(fmt::format("{}\t{}\t{}\n", one_cell(id, "--classes", "an id"),
                            one_cell(label, "--classes", "a label"),
                            one_cell(voted, "--classes", "a class")));
}

void class_votes::flush() {
  if (out_) out_->flush();
}

void class_votes::commit() {
  if (out_) out_->commit();
}

std::uint32_t class_votes::number(std::string const& label) {
  if (label.empty()) return knn::no_class;
  auto const [found, is_new] =
      number_of_.emplace(label, static_cast<std::uint32_t>(number_of_.size()));
  if (is_new) names_.push_back(label);
  return found->second;
}

}  // namespace rulerank::apps
