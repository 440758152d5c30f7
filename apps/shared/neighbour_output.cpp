#include "apps/shared/neighbour_output.hpp"

#include "apps/shared/text_arguments.hpp"
#include "core/error.hpp"
#include "datasets/text_source.hpp"
#include "datasets/trec.hpp"

#include <utility>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

/// A column of a TREC run.
std::string const& one_word(std::string const& word, std::string const& what) {
  if (!datasets::is_run_column(word))
    throw usage_error(fmt::format("--run: found {} {}, expected one word, a column of the run{}",
                                  what, datasets::quoted(word),
                                  word == "#" ? ": # begins a comment" : ""));
  return word;
}

/// A column of a line with tabs.
std::string const& one_cell(std::string const& text, char const* option, std::string const& what) {
  if (text.find_first_of("\t\r\n") != text.npos)
    throw usage_error(fmt::format("{}: found {} {}, expected no tab and no line break in a column",
                                  option, what, datasets::quoted(text)));
  return text;
}

}  // namespace

neighbour_files::neighbour_files(std::string const& out, std::string const& run, std::string tag)
    : neighbours_(out), tag_(std::move(tag)) {
  if (run.empty()) return;
  one_word(tag_, "the tag");
  run_.emplace(run);
}

void neighbour_files::write(std::string const& query, std::size_t q, knn::neighbours const& found,
                            knn::string_table const& ids) {
  if (run_) one_word(query, "a query's id");
  std::size_t const count = found.count_of(q);
  for (std::size_t i = 0; i < count; ++i) {
    std::string const id(ids[found.ids_of(q)[i]]);
    double const score = found.values_of(q)[i];
    neighbours_.write(fmt::format("{}\t{}\t{}\t{}\n", one_cell(query, "--out", "a query's id"),
                                  i + 1, one_cell(id, "--out", "a document's id"), score));
    if (run_)
      run_->write(datasets::run_line(query, one_word(id, "a document's id"), i + 1,
                                     run_score(found.order, score), tag_));
  }
}

void neighbour_files::flush() {
  neighbours_.flush();
  if (run_) run_->flush();
}

void neighbour_files::commit() {
  neighbours_.commit();
  if (run_) run_->commit();
}

class_votes::class_votes(std::string const& votes, std::string const& out)
    : how_(knn::voting_from(votes)) {
  if (!out.empty()) out_.emplace(out);
}

void class_votes::learn(knn::text_index const& index) {
  for (std::size_t d = 0; d < index.ids().size(); ++d)
    of_document_.push_back(number(std::string(index.label(d))));
  if (names_.empty())
    throw usage_error(
        "--votes: found no document with a label, expected --labels, or labels in JSON or by "
        "folders");
}

void class_votes::add(std::vector<datasets::text_document> const& queries,
                      knn::neighbours const& found) {
  auto const given = knn::classify(found, of_document_, how_);
  for (std::size_t q = 0; q < given.size(); ++q) {
    truth_.push_back(number(queries[q].label));
    given_.push_back(given[q]);
    std::string const voted = given[q] == knn::no_class ? "" : names_[given[q]];
    if (out_)
      out_->write(fmt::format("{}\t{}\t{}\n", one_cell(queries[q].id, "--classes", "an id"),
                              one_cell(queries[q].label, "--classes", "a label"),
                              one_cell(voted, "--classes", "a class")));
  }
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
