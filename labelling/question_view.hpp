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
#include <vector>

// What somebody sees who labels a document: the same at a terminal and in a browser.
namespace rulerank::inline v0::labelling {

/// A feature of a document in its own units.
struct feature_view {
  std::string value;  ///< as in the pool's file, or `not listed`
  std::string range;  ///< the item: `BM25 of title in [1.9, 3.7)`
};

/// A labelled document that is like the one asked about.
struct neighbour_view {
  std::size_t document = 0;
  std::int32_t label = 0;
  std::string docid, qid, comment;
  std::string query;  ///< empty where it is that of the document asked about
  std::string title;  ///< or the begin of the text
  std::size_t shared = 0;
};

struct question_view {
  std::size_t document = 0;
  std::string docid, qid, comment;
  std::string query;  ///< empty without texts, as the next three
  marked_text title, passage, whole;
  std::string why;                  ///< the document was chosen
  std::vector<std::string> brings;  ///< the rules that it brings: how many, then the shortest
  std::vector<feature_view> features;
  std::vector<neighbour_view> neighbours;
  std::size_t feature_count = 0;  ///< of all features, of which neighbours share some
};

/// A question in words that the sampling's own question, or another part of the program, has.
struct view_request {
  std::size_t document = 0;
  std::string why;
  std::vector<std::string> brings;
  std::vector<std::size_t> columns;  ///< the features that are shown
  std::vector<al::neighbour> neighbours;
  std::function<std::int32_t(std::size_t)> label_of;
};

/// Makes views of a pool's documents. One thread at a time may use an object.
class question_views {
 public:
  /// What is referred to outlives it; `texts` may be null.
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
  /// Titles and cells of the columns that a table to be filled in has of the texts.
  static std::vector<std::string> text_titles() { return {"query", "title", "text"}; }
  std::vector<std::string> text_cells(std::size_t document) const;
  bool has_texts() const noexcept { return what_.texts != nullptr; }
  std::string docid(std::size_t document) const { return what_.pool.docid(document); }
  std::string const& qid(std::size_t document) const;

 private:
  /// A line through what the values of a feature are normalized to within a query.
  struct own_units {
    double low = 0, low_normalized = 0, slope = 0;  // slope 0: constant there
  };
  datasets::query_group const& group(std::size_t document) const;
  own_units units(std::size_t document, std::uint32_t feature) const;
  datasets::item_range own_range(std::size_t document, std::size_t column) const;
  std::string range_words(std::size_t document, std::size_t column) const;
  std::string value_words(std::size_t document, std::size_t column) const;
  /// Whether a normalized feature says something of a document: all values of its query may be one.
  bool differs_in_query(std::size_t document, std::size_t column) const;
  std::string short_title(std::size_t document) const;

  sources what_;
  std::vector<datasets::item_range> ranges_;
  datasets::dataset normalized_;  // the pool as the cuts have it; empty without a normalization
};

/// An outlook as a sentence.
std::string describe(al::outlook const& ahead);

/// Labels other than the commonest before which others are guessed from too little to say how many
/// documents there are to the end: on Cranfield, where few documents of a pool are relevant, up to
/// ten times too many are expected while all labels are 0, and up to five times while 5 are not.
inline constexpr std::size_t enough_minority_labels = 10;
/// Whether an outlook says how many documents are to come.
inline bool is_estimate(al::outlook const& ahead) {
  return ahead.minority_labels >= enough_minority_labels || ahead.documents == 0;
}

/// Documents that the first part of an estimate is about.
inline constexpr std::size_t next_documents = 10;

}  // namespace rulerank::labelling
