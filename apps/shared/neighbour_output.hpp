#pragma once

#include "apps/shared/session.hpp"
#include "core/even_shares.hpp"
#include "core/output_file.hpp"
#include "datasets/text/documents.hpp"
#include "datasets/vectors.hpp"
#include "knn/classification.hpp"
#include "knn/sparse/search.hpp"
#include "knn/text/text_index.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

// What `search` writes of the neighbours that it finds.
namespace rulerank::apps {

/// Where neighbours are written to: a verb's options, and what they are set to.
struct neighbour_paths {
  std::string out = "-";
  std::string run;
  std::string tag = "rulerank";

  /// --out, --run and --tag. `lines`: what --out is, for the help.
  void add_outputs_to(CLI::App& verb, std::string const& lines);
};

/// Vectors as a search takes them: doubles become the nearest floats, as NumPy's and FAISS's users
/// expect, 32-bit integers floats where they are the same.
datasets::vectors read_searched_vectors(
    context const& ctx, std::string const& path,
    datasets::vectors_format format = datasets::vectors_format::automatic);

/// A rank's part of them, of `parts`: equal ones that follow each other.
datasets::vectors_part read_searched_part(
    context const& ctx, std::string const& path, std::size_t part, std::size_t parts,
    datasets::vectors_format format = datasets::vectors_format::automatic);

/// Neighbours as lines of TSV and of a TREC run, those of the outputs that there are.
struct neighbour_lines {
  std::string out, run;
  static auto members_of(auto& lines) { return std::tie(lines.out, lines.run); }
};

/// Neighbours, query by query, as TSV and as a TREC run.
class neighbour_files {
 public:
  /// `out`, `run`: their paths, or empty. Throws `usage_error` for a tag that is no column of a
  /// run.
  neighbour_files(std::string const& out, std::string const& run, std::string tag);

  /// Adds the lines of the q-th query of `found`, as `write` writes them. `ids`: [k] of its
  /// neighbours, in their order. Throws `usage_error` for an id that does not fit a column. Any
  /// thread may call it, and those below.
  void add(neighbour_lines& to, std::string const& query, std::size_t q,
           knn::neighbours const& found, std::span<std::string const> ids) const;
  void add(neighbour_lines& to, std::string const& query, std::size_t q,
           knn::neighbours const& found,
           std::function<std::string(std::uint32_t)> const& id_of) const;
  /// With the numbers of items as their ids.
  void add(neighbour_lines& to, std::string const& query, std::size_t q,
           knn::neighbours const& found) const;
  /// Of queries from `first` on, whose numbers are their ids.
  void add(neighbour_lines& to, std::size_t first, knn::rows_in_range const& found) const;
  void write(neighbour_lines const& lines);
  /// Those of the q-th query of `found`. `ids`: [k] of its neighbours, in their order.
  void write(std::string const& query, std::size_t q, knn::neighbours const& found,
             std::span<std::string const> ids);
  /// With the numbers of items as their ids.
  void write(std::string const& query, std::size_t q, knn::neighbours const& found);
  /// Of queries from `first` on, whose numbers are their ids.
  void write(std::size_t first, knn::rows_in_range const& found);
  void flush();
  void commit();

 private:
  void add_line(neighbour_lines& to, std::string const& query, std::size_t rank,
                std::string const& id, knn::value_order order, double score) const;
  /// The q-th query's lines.
  void add_range(neighbour_lines& to, std::size_t first, std::size_t q,
                 knn::rows_in_range const& found) const;

  std::optional<output_file> neighbours_;
  std::optional<output_file> run_;
  std::string tag_;
};

/// What a rank makes of some queries that it was dealt.
struct dealt_neighbours {
  neighbour_lines lines;
  knn::neighbours found;  ///< where more than their lines is asked for, else none
  static auto members_of(auto& all) { return std::tie(all.lines, all.found); }
};

/// Deals the queries of a batch to several ranks, each of which has the whole collection: shares
/// that become smaller, of `least` queries at least, or on GPUs even ones. `answer` searches for
/// one that is not empty; its lines are written in the order of the queries. All ranks call it
/// together with the same queries, and have what was found of all of them, where that is asked for.
knn::neighbours deal_queries(session& owner, std::size_t queries, std::size_t least,
                             neighbour_files& out,
                             std::function<dealt_neighbours(share)> const& answer);

/// The classes of documents and queries, and what the neighbours vote for.
class class_votes {
 public:
  /// `votes`: --votes. `out`: the path of the lines of query, label and class, or empty.
  class_votes(std::string const& votes, std::string const& out);

  /// The documents' classes. Throws `usage_error` where none has one.
  void learn(knn::text_index const& index);
  /// Of documents that lie elsewhere: their labels.
  void learn(std::vector<std::string> const& labels);
  void add(std::span<datasets::text_document const> queries, knn::neighbours const& found);
  /// The items' classes by their numbers.
  void learn(std::vector<std::int32_t> const& labels);
  /// The queries from `first` on, whose numbers are their ids. `labels`: of all queries, or empty.
  void add(std::size_t first, std::vector<std::int32_t> const& labels,
           knn::neighbours const& found);
  void flush();
  void commit();
  /// Over the queries that have a label.
  knn::classification_quality quality() const { return knn::quality_of(truth_, given_); }

 private:
  std::uint32_t number(std::string const& label);
  void add_one(std::string const& id, std::string const& label, std::uint32_t given);

  knn::voting how_;
  std::map<std::string, std::uint32_t> number_of_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> of_document_, truth_, given_;
  std::optional<output_file> out_;
};

/// Says how good the classes are, where queries have labels.
void note_quality(session& owner, class_votes const& votes, nlohmann::ordered_json& summary);

}  // namespace rulerank::apps
