#pragma once
// Joins the documents of all chunks of a text into one data set.

#include "datasets/dataset.hpp"
#include "datasets/svmlight/documents.hpp"
#include "datasets/svmlight/queries.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

namespace rulerank::inline v0::datasets {

/// Joins the chunks of a text in order.
class whole_text {
 public:
  /// Fills `data`, whose name is set and which must outlive this; `lines_before` lines precede the
  /// text.
  whole_text(query_former queries, dataset& data, std::uint64_t lines_before)
      : queries_(std::move(queries)), data_(data), line_count_(lines_before) {}

  /// Allocates for these numbers; `entries` are resized at once, uninitialized.
  void reserve(std::size_t documents, std::size_t entries);
  /// Appends a chunk without its entries; returns their place in `entries`. Features by name get
  /// `part.numbers`.
  std::size_t append(parsed_documents& part);
  /// True after a chunk with a fault; nothing more may be appended.
  bool stopped() const { return fault_.has_value(); }
  /// Forms the queries and numbers features that have names, or throws the first fault of the text.
  void finish(context const& ctx, std::function<void(std::string const&)> const& warn);

 private:
  /// Documents of one query, from `begin` to the next run.
  struct query_run {
    std::size_t query = 0;
    std::size_t begin = 0;
  };
  std::size_t run_end(std::size_t run) const;
  void gather_queries();

  query_former queries_;
  dataset& data_;
  std::vector<query_run> runs_;
  text_names names_;
  feature_form form_ = feature_form::unknown;
  std::list<std::string> made_;  // ids that are not literal parts of the text
  std::string_view text_id_;     // the first qid converted from a text; refers to `made_`
  std::uint64_t line_count_;
  std::optional<text_fault> fault_;
};

}  // namespace rulerank::datasets
