#include "apps/shared/neighbour_output.hpp"

#include "apps/shared/options.hpp"
#include "apps/shared/text_arguments.hpp"
#include "core/append_format.hpp"
#include "core/error.hpp"
#include "core/process_group.hpp"
#include "datasets/text_source.hpp"
#include "datasets/trec.hpp"
#include "mpi/split.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::apps {

namespace {

/// A column of a TREC run.
std::string const& one_word(std::string const& word, std::string const& what) {
  if (!datasets::is_run_column(word))
    throw usage_error(fmt::format("--run: found {} {}, expected one word, a column of the run{}",
                                  what, rulerank::quoted(word),
                                  word == "#" ? ": # begins a comment" : ""));
  return word;
}

/// A column of a line with tabs.
std::string const& one_cell(std::string const& text, char const* option, std::string const& what) {
  if (text.find_first_of("\t\r\n") != text.npos)
    throw usage_error(fmt::format("{}: found {} {}, expected no tab and no line break in a column",
                                  option, what, rulerank::quoted(text)));
  return text;
}

datasets::vectors searchable(context const& ctx, datasets::vectors const& some) {
  using enum datasets::element;
  if (some.type() == float64)
    return datasets::converted(ctx, some, float32, datasets::rounding::nearest);
  if (some.type() == int32) return datasets::converted(ctx, some, float32);
  return some;
}

}  // namespace

void neighbour_paths::add_outputs_to(CLI::App& verb, std::string const& lines) {
  path_option(verb, "--out", out, lines)->type_name("FILE")->capture_default_str();
  path_option(verb, "--run", run, "The same as a TREC run")->type_name("FILE");
  verb.add_option("--tag", tag, "Last column of the run")->capture_default_str();
}

datasets::vectors read_searched_vectors(context const& ctx, std::string const& path,
                                        datasets::vectors_format format) {
  return searchable(ctx, datasets::read_vectors(ctx, path, {.format = format}));
}

datasets::vectors_part read_searched_part(context const& ctx, std::string const& path,
                                          std::size_t part, std::size_t parts,
                                          datasets::vectors_format format) {
  auto read = datasets::read_vectors_part(
      ctx, path, [&](std::size_t rows) { return share_of(rows, parts, part); }, {.format = format});
  read.rows = searchable(ctx, read.rows);
  return read;
}

neighbour_files::neighbour_files(std::string const& out, std::string const& run, std::string tag)
    : tag_(std::move(tag)) {
  if (!out.empty()) neighbours_.emplace(out);
  if (run.empty()) return;
  one_word(tag_, "the tag");
  run_.emplace(run);
}

void neighbour_files::add_line(neighbour_lines& to, std::string const& query, std::size_t rank,
                               std::string const& id, knn::value_order order, double score) const {
  if (neighbours_)
    append_format(to.out, "{}\t{}\t{}\t{}\n", one_cell(query, "--out", "a query's id"), rank,
                  one_cell(id, "--out", "a document's id"), score);
  if (run_)
    to.run += datasets::run_line(query, one_word(id, "a document's id"), rank,
                                 run_score(order, score), tag_);
}

void neighbour_files::add(neighbour_lines& to, std::string const& query, std::size_t q,
                          knn::neighbours const& found, std::span<std::string const> ids) const {
  if (run_) one_word(query, "a query's id");
  std::size_t const count = found.count_of(q);
  for (std::size_t i = 0; i < count; ++i)
    add_line(to, query, i + 1, ids[i], found.order, found.values_of(q)[i]);
}

void neighbour_files::add(neighbour_lines& to, std::string const& query, std::size_t q,
                          knn::neighbours const& found,
                          std::function<std::string(std::uint32_t)> const& id_of) const {
  std::vector<std::string> ids;
  for (std::uint32_t const item : found.ids_of(q).first(found.count_of(q)))
    ids.push_back(id_of(item));
  add(to, query, q, found, ids);
}

void neighbour_files::add(neighbour_lines& to, std::string const& query, std::size_t q,
                          knn::neighbours const& found) const {
  add(to, query, q, found, [](std::uint32_t item) { return std::to_string(item); });
}

void neighbour_files::add(neighbour_lines& to, std::size_t first,
                          knn::rows_in_range const& found) const {
  for (std::size_t q = 0; q + 1 < found.begin.size(); ++q) add_range(to, first, q, found);
}

void neighbour_files::add_range(neighbour_lines& to, std::size_t first, std::size_t q,
                                knn::rows_in_range const& found) const {
  auto const rows = found.rows_of(q);
  auto const values = found.values_of(q);
  std::string const query = std::to_string(first + q);
  for (std::size_t i = 0; i < rows.size(); ++i)
    add_line(to, query, i + 1, std::to_string(rows[i]), found.order, values[i]);
}

void neighbour_files::write(neighbour_lines const& lines) {
  if (neighbours_) neighbours_->write(lines.out);
  if (run_) run_->write(lines.run);
}

void neighbour_files::write(std::string const& query, std::size_t q, knn::neighbours const& found,
                            std::span<std::string const> ids) {
  neighbour_lines lines;
  add(lines, query, q, found, ids);
  write(lines);
}

void neighbour_files::write(std::string const& query, std::size_t q, knn::neighbours const& found) {
  neighbour_lines lines;
  add(lines, query, q, found);
  write(lines);
}

void neighbour_files::write(std::size_t first, knn::rows_in_range const& found) {
  for (std::size_t q = 0; q + 1 < found.begin.size(); ++q) {
    neighbour_lines lines;
    add_range(lines, first, q, found);
    write(lines);
  }
}

void neighbour_files::flush() {
  if (neighbours_) neighbours_->flush();
  if (run_) run_->flush();
}

void neighbour_files::commit() {
  if (neighbours_) neighbours_->commit();
  if (run_) run_->commit();
}

knn::neighbours deal_queries(session& owner, std::size_t queries, std::size_t least,
                             neighbour_files& out,
                             std::function<dealt_neighbours(share)> const& answer) {
  // Ranks may have other threads and devices: all take the first one's shares.
  auto const shares = value_from_first(owner.ranks(), [&] {
    auto const ranks = static_cast<std::size_t>(owner.ranks().size());
    std::size_t const even = (queries + ranks - 1) / ranks;
    return mpi::factored_shares(queries, ranks,
                                owner.ctx().devices.empty() ? std::min(even, least) : even);
  });
  std::map<std::size_t, neighbour_lines> waiting;  // for those before them
  std::size_t next = 0;
  auto const kept = owner.deal(
      shares.size(), [&](std::size_t t) { return bytes_of(answer(shares[t])); },
      [&](std::size_t t, std::string const& bytes) {
        auto some = value_of<dealt_neighbours>(bytes);
        waiting[t] = std::move(some.lines);
        for (; !waiting.empty() && waiting.begin()->first == next; ++next)
          out.write(waiting.extract(waiting.begin()).mapped());
        return some.found.queries > 0 ? bytes_of(some.found) : std::string();
      });
  std::vector<knn::neighbours> found;
  for (std::string const& bytes : kept)
    if (!bytes.empty()) found.push_back(value_of<knn::neighbours>(bytes));
  return found.empty() ? knn::neighbours() : mpi::joined(std::move(found));
}

class_votes::class_votes(std::string const& votes, std::string const& out)
    : how_(knn::voting_from(votes)) {
  if (!out.empty()) out_.emplace(out);
}

void class_votes::learn(knn::text_index const& index) {
  std::vector<std::string> labels;
  for (std::size_t d = 0; d < index.ids().size(); ++d) labels.emplace_back(index.label(d));
  learn(labels);
}

void class_votes::learn(std::vector<std::string> const& labels) {
  for (std::string const& label : labels) of_document_.push_back(number(label));
  if (names_.empty())
    throw usage_error(
        "--votes: found no document with a label, expected --labels, or labels in JSON or by "
        "folders");
}

void class_votes::learn(std::vector<std::int32_t> const& labels) {
  for (std::int32_t const label : labels) of_document_.push_back(number(std::to_string(label)));
}

void class_votes::add(std::span<datasets::text_document const> queries,
                      knn::neighbours const& found) {
  auto const given = knn::classify(found, of_document_, how_);
  for (std::size_t q = 0; q < given.size(); ++q) add_one(queries[q].id, queries[q].label, given[q]);
}

void class_votes::add(std::size_t first, std::vector<std::int32_t> const& labels,
                      knn::neighbours const& found) {
  auto const given = knn::classify(found, of_document_, how_);
  for (std::size_t q = 0; q < given.size(); ++q)
    add_one(std::to_string(first + q),
            labels.empty() ? std::string() : std::to_string(labels[first + q]), given[q]);
}

void class_votes::add_one(std::string const& id, std::string const& label, std::uint32_t given) {
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

void note_quality(session& owner, class_votes const& votes, nlohmann::ordered_json& summary) {
  auto const quality = votes.quality();
  if (quality.queries == 0) return;
  summary["accuracy"] = quality.accuracy;
  summary["micro_f1"] = quality.micro_f1;
  summary["macro_f1"] = quality.macro_f1;
  owner.say(fmt::format("accuracy {:.4f}, macro-F1 {:.4f} over {}", quality.accuracy,
                        quality.macro_f1, counted(quality.queries, "query", "queries")));
}

}  // namespace rulerank::apps
