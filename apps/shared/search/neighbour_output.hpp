#pragma once

#include "apps/shared/session/session.hpp"
#include "core/output_file.hpp"
#include "knn/classification.hpp"
#include "knn/searched_collection.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What `search` writes of the neighbours that it finds.
namespace rulerank::inline v0::apps {

/// The classes of items and queries, and what the neighbours vote for.
class class_votes {
 public:
  /// `votes`: --votes. `out`: the path of the lines of query, label and class, or empty.
  class_votes(std::string const& votes, std::string const& out);

  /// The items' labels by their numbers, empty where one has none. Throws `usage_error` where none
  /// has one.
  void learn(std::vector<std::string> const& labels);
  /// The neighbours of a query with its id and its label, which is empty where it has none.
  void add(std::string const& id, std::string const& label, std::uint32_t given);
  /// The class that the neighbours of each query vote for.
  std::vector<std::uint32_t> given(knn::neighbours const& found) const {
    return knn::classify(found, of_item_, how_);
  }
  void flush();
  void commit();
  /// Over the queries that have a label.
  knn::classification_quality quality() const { return knn::quality_of(truth_, given_); }

 private:
  std::uint32_t number(std::string const& label);

  knn::voting how_;
  std::map<std::string, std::uint32_t> number_of_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> of_item_, truth_, given_;
  std::optional<output_file> out_;
};

/// Neighbours, query by query, as TSV or JSON lines and as a TREC run, and the classes that they
/// vote for. By default a query's id is its number, and it has no label.
class neighbour_files : public knn::search_output {
 public:
  using text_of_query = std::function<std::string(std::size_t query)>;

  /// `out`, `run`: their paths, or empty. With --json, what goes to standard output is an object a
  /// query: {"query", "neighbours": [{"id", "distance" or "similarity"}]}. Throws `usage_error` for
  /// a tag that is no column of a run.
  neighbour_files(session const& owner, std::string const& out, std::string const& run,
                  std::string tag);

  void name_queries(text_of_query id) { id_of_query_ = std::move(id); }
  /// Leaves out the item whose id is the query's, of `k` + 1 neighbours or fewer.
  void leave_out_self(std::size_t k) { others_ = k; }
  void vote(class_votes votes, text_of_query label_of_query) {
    votes_.emplace(std::move(votes));
    label_of_query_ = std::move(label_of_query);
  }
  class_votes const* votes() const { return votes_ ? &*votes_ : nullptr; }

  /// The results of the query that has the most, where it has fewer than `k`, or than are left of
  /// them without the query itself.
  std::optional<std::uint64_t> fewer_than(std::uint64_t k) const;

  /// Throw `usage_error` for an id that does not fit a column.
  void add_lines(knn::result_lines& to, knn::query_result const& found,
                 id_of_fn const& id_of) const override;
  void write(knn::result_lines const& lines) override;
  bool takes_neighbours() const override { return votes_.has_value(); }
  using search_output::take;
  void take(std::size_t first, knn::neighbours found) override;
  virtual void flush();
  virtual void commit();

 private:
  std::optional<output_file> neighbours_;
  std::optional<output_file> run_;
  bool as_json_;
  std::string tag_;
  text_of_query id_of_query_ = [](std::size_t query) { return std::to_string(query); };
  text_of_query label_of_query_;
  std::optional<std::size_t> others_;  // most neighbours but the query itself
  std::optional<class_votes> votes_;
  std::uint64_t most_ = 0;
};

}  // namespace rulerank::apps
