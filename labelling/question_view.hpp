#pragma once

#include "al/labelling.hpp"
#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/discretizer.hpp"
#include "datasets/item_words.hpp"
#include "labelling/document_texts.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// A labeller's view of a document, at a terminal and in a browser.
namespace rulerank::inline v0::labelling {

/// A feature of a document in its original units.
struct feature_view {
  std::string value;  ///< as in the pool's file, or `not listed`
  std::string range;  ///< of the item, such as `BM25 of title in [1.9, 3.7)`
};

/// A labelled document similar to the one in question.
struct neighbour_view {
  std::size_t document = 0;
  std::int32_t label = 0;
  std::string docid, qid, comment;
  std::string query;  ///< empty if it is the question's own query
  std::string title;  ///< or the beginning of the text
  std::size_t shared = 0;
};

struct question_view {
  std::size_t document = 0;
  std::string docid, qid, comment;
  std::string query;  ///< empty without texts, like the next three
  marked_text title, passage, whole;
  std::string why;                  ///< reason for the choice of the document
  std::vector<std::string> brings;  ///< the rules that it adds: their number, then the shortest
  std::vector<feature_view> features;
  std::vector<neighbour_view> neighbours;
  std::size_t feature_count = 0;  ///< number of all features, some of which neighbours share
};

/// A question described by the sampler or by another part of the program.
struct view_request {
  std::size_t document = 0;
  std::string why;
  std::vector<std::string> brings;
  std::vector<std::size_t> columns;  ///< indices of the features to show
  std::vector<al::neighbour> neighbours;
  std::function<std::int32_t(std::size_t)> label_of;
};

/// Makes views of a pool's documents. Not thread-safe.
class question_views {
 public:
  /// References must outlive the object; `texts` may be null.
  struct sources {
    datasets::dataset const& pool;
    datasets::binned_dataset const& binned;
    datasets::discretizer const& cuts;
    datasets::feature_names names;
    document_texts* texts = nullptr;
    std::size_t neighbours = 3;
  };
  question_views(context const& ctx, sources what);

  view_request request(al::question const& asked, al::labelling const& work) const;
  question_view view(view_request const& asked) const;
  std::vector<feature_view> features(std::size_t document,
                                     std::span<std::size_t const> columns) const;
  std::vector<feature_view> all_features(std::size_t document) const;
  /// Names and values of the features that the document's line lists; NaN: missing.
  std::vector<std::pair<std::string, double>> listed_features(std::size_t document) const;
  /// Titles and cells of the text columns in a table to be filled in.
  static std::vector<std::string> text_titles() { return {"query", "title", "text"}; }
  std::vector<std::string> text_cells(std::size_t document) const;
  bool has_texts() const noexcept { return what_.texts != nullptr; }
  std::string docid(std::size_t document) const { return what_.pool.docid(document); }
  std::string const& qid(std::size_t document) const;

 private:
  /// The linear map from a feature's normalized values within a query to its original values.
  struct own_units {
    double low = 0, low_normalized = 0, slope = 0;  // slope 0: constant in the query
  };
  datasets::query_group const& group(std::size_t document) const;
  own_units units(std::size_t document, std::uint32_t feature) const;
  datasets::item_range own_range(std::size_t document, std::size_t column) const;
  std::string range_words(std::size_t document, std::size_t column) const;
  std::string value_words(std::size_t document, std::size_t column) const;
  /// Whether a normalized feature varies within the document's query.
  bool differs_in_query(std::size_t document, std::size_t column) const;
  std::string short_title(std::size_t document) const;

  sources what_;
  std::vector<datasets::item_range> ranges_;
  datasets::dataset normalized_;  // the pool, normalized as for the cuts; empty without
                                  // normalization
};

/// A question about a document, as a program reads it (docs/reference/judges.md), without its `id`.
nlohmann::ordered_json judge_request(question_views const& views, std::size_t document,
                                     std::int32_t max_label);

/// The outlook as a sentence.
std::string describe(al::outlook const& ahead);

/// Minimum number of labels other than the most common one for an estimate of the remaining
/// documents. With fewer, estimates are unreliable: on Cranfield, where few documents of a pool are
/// relevant, up to ten times too high while all labels are 0, and up to five times while 5 are not.
inline constexpr std::size_t enough_minority_labels = 10;
/// Whether an outlook estimates the number of remaining documents.
inline bool is_estimate(al::outlook const& ahead) {
  return ahead.minority_labels >= enough_minority_labels || ahead.documents == 0;
}

/// The number of documents in the first part of an estimate.
inline constexpr std::size_t next_documents = 10;

}  // namespace rulerank::labelling
