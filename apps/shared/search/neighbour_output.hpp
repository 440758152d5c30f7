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

// The output of `search`: neighbours and classes.
namespace rulerank::inline v0::apps {

/// The classes of items and queries, and the neighbours' votes.
class class_votes {
 public:
  /// `votes`: --votes. `out`: path of the lines of query, label and class, or empty.
  class_votes(std::string const& votes, std::string const& out);

  /// Sets the items' labels by number, empty if an item has none. Throws `usage_error` if no item
  /// has one.
  void learn(std::vector<std::string> const& labels);
  /// Adds a query's id, label (empty if it has none) and assigned class.
  void add(std::string const& id, std::string const& label, std::uint32_t given);
  /// The class that the neighbours of each query vote for.
  std::vector<std::uint32_t> given(knn::neighbours const& found) const {
    return knn::classify(found, of_item_, how_);
  }
  void flush();
  void commit();
  /// Computed over the queries with a label.
  knn::classification_quality quality() const { return knn::quality_of(truth_, given_); }

 private:
  std::uint32_t number(std::string const& label);

  knn::voting how_;
  std::map<std::string, std::uint32_t> number_of_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> of_item_, truth_, given_;
  std::optional<output_file> out_;
};

/// Writes neighbours by query as TSV or JSON lines and as a TREC run, and their votes. By default a
/// query's id is its number, and it has no label.
class neighbour_files : public knn::search_output {
 public:
  using text_of_query = std::function<std::string(std::size_t query)>;

  /// `out`, `run`: paths, or empty. With --json, standard output gets an object per query:
  /// {"query", "neighbours": [{"id", "distance" or "similarity"}]}. Throws `usage_error` for a tag
  /// that is not a valid column of a run.
  neighbour_files(session const& owner, std::string const& out, std::string const& run,
                  std::string tag);

  void name_queries(text_of_query id) { id_of_query_ = std::move(id); }
  /// Omits the item with the query's own id from at most `k` + 1 neighbours.
  void leave_out_self(std::size_t k) { others_ = k; }
  void vote(class_votes votes, text_of_query label_of_query) {
    votes_.emplace(std::move(votes));
    label_of_query_ = std::move(label_of_query);
  }
  class_votes const* votes() const { return votes_ ? &*votes_ : nullptr; }

  /// The number of results of the query with the most, if that is below `k`, or below the number
  /// that remains without the query itself.
  std::optional<std::uint64_t> fewer_than(std::uint64_t k) const;

  /// Throws `usage_error` for an id that does not fit a column.
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
  std::optional<std::size_t> others_;  // maximum number of neighbours besides the query itself
  std::optional<class_votes> votes_;
  std::uint64_t most_ = 0;
};

}  // namespace rulerank::apps
