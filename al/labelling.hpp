#pragma once

#include "al/answers.hpp"
#include "al/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rulerank::inline v0::al {

/// A request for the label of a document that is about to be chosen. For whole queries: partition
/// is 0, and iteration counts queries.
struct question {
  std::size_t document = 0;
  std::size_t partition = 0;
  std::size_t iteration = 0;  ///< of the partition, from 0
  std::uint64_t rules = 0;    ///< its number of valid rules over the partition's sample
  reason why = reason::rules;
};

/// A document similar to another.
struct neighbour {
  std::size_t document = 0;
  std::size_t shared_items = 0;  ///< features in which both documents have the same item
};

/// The documents with `counts` true, except `document`, that share the most items with it over all
/// features; ties by the smaller number. At most k. May be called from several threads at once.
std::vector<neighbour> nearest(datasets::binned_dataset const& data, std::size_t document,
                               std::size_t k, std::function<bool(std::size_t)> const& counts);

/// The estimated benefit of more labels: a simulation with guessed labels and the current share of
/// excluded documents.
struct outlook {
  /// Number of labels, in the data set and in answers, other than the most common one. With few of
  /// them the estimate is unreliable: while all labels are equal, so are all guesses.
  std::size_t minority_labels = 0;
  std::uint64_t rules = 0;      ///< current valid rules over the sample, summed over partitions
  std::size_t next = 0;         ///< number of further documents that `next_rules` refers to
  std::int64_t next_rules = 0;  ///< rules that these would add; negative if more become invalid
  std::size_t documents = 0;    ///< number of further documents to ask about until the end
  std::size_t left_out = 0;     ///< of these, documents to be excluded
  /// Bounds on the number of further documents. At least 95 % of the measured points with 10 or
  /// more such labels were within them, on each data set (bench/studies/label_estimates.py).
  std::size_t documents_low = 0;
  std::size_t documents_high = 0;
  std::int64_t documents_rules = 0;  ///< rules that all of these would add
};

/// The rules that a document would add, whatever its label: one for each itemset that no document
/// of its partition's sample has.
struct brought_rules {
  std::size_t items = 0;  ///< maximum size considered: rule_size - 1, or less if there are too many
  std::uint64_t itemsets = 0;  ///< the document's itemsets of at most this size, in the partition's
                               ///< features
  std::uint64_t unseen = 0;    ///< of these, itemsets not in the sample
  /// The shortest unseen itemsets, none containing another, as columns of the data set; ascending.
  std::vector<std::vector<std::size_t>> shortest;
};

/// Selective sampling with labels given one by one by a person or a file: chooses the same
/// documents in the same order as `reduce`. The state depends only on the answers, so an object
/// that gets the same answers again resumes an interrupted run.
///
/// Questions come in (iteration, partition) order, in which a budget counts documents: the
/// documents labelled so far are always the sample for some budget. Documents with a label in the
/// data set, or asked about in another partition, are not asked about. An excluded document is
/// never chosen in any partition; the one with the next smallest key is chosen instead.
///
/// Answers may be given in advance. They are kept until the document is chosen: the choice depends
/// on the answers, not on their time.
///
/// With `options.query_begin`, whole queries are chosen, and all documents of one are asked about,
/// in order, before the next is chosen. The sampling ends at a query that does not fit the budget
/// completely.
///
/// Runs on the CPU. Const functions may be called from several threads at once if no other function
/// is; objects are independent of each other.
class labelling {
 public:
  /// Keeps references to the arguments. Throws `usage_error` as `reduce` does, for GPU engines, and
  /// for a budget smaller than the first query.
  labelling(context const& ctx, datasets::binned_dataset const& data,
            sampler_options const& options);
  ~labelling();
  labelling(labelling&&) noexcept;
  labelling& operator=(labelling&&) noexcept;

  /// The documents to label now, in question order: the next choice of each partition, as far as it
  /// is certain to be within the budget, or the documents of a query. Empty if the sample is
  /// complete. No question depends on the answer to another, so several people can share them.
  /// Valid until the next answer or undo.
  std::vector<question> const& wanted() const noexcept;
  bool finished() const noexcept { return wanted().empty(); }
  bool whole_queries() const noexcept;

  /// The next documents to ask about if each had the label of its nearest labelled neighbour (0
  /// while there is none): at least `count` if there are enough, beginning with `wanted()`; whole
  /// queries are not split. Documents beyond `wanted()` are guesses: the label of one that is not
  /// chosen after all is unused. Takes as long as this much sampling with `delta`.
  std::vector<question> batch(std::size_t count) const;

  /// Answers a question, in advance or not: a label of 0 or more, or empty to exclude the document.
  /// Throws `usage_error` for a document that has a label or an answer, or does not exist.
  void answer(std::size_t document, std::optional<std::int32_t> label);
  /// Withdraws the last answer; false if there is none. Replays the earlier answers.
  bool undo();
  /// Withdraws the answer about a document; false if there is none. Replays the other answers.
  bool take_back(std::size_t document);

  /// The current answers in the order given. Valid until the next answer or undo.
  std::span<al::answer const> answers() const noexcept;
  /// A document's label, from the data set or an answer; `datasets::unlabelled` if there is none
  /// yet.
  std::int32_t label_of(std::size_t document) const;
  /// The value of `outlook::minority_labels`, without the cost of an outlook.
  std::size_t minority_labels() const;
  /// The features of a partition, as columns of the data set.
  std::span<std::size_t const> features(std::size_t partition) const;
  /// The labelled documents that share the most items over all features; ties by the smaller
  /// number. At most k.
  std::vector<neighbour> nearest_labelled(std::size_t document, std::size_t k) const;

  /// The rules that a wanted document adds to the current sample, with at most `most` examples.
  brought_rules brings(question const& asked, std::size_t most) const;

  /// Simulates the sampling with each document labelled like its nearest labelled neighbour (0
  /// while there is none) or, for the same share as among the answers, excluded. Reports the next
  /// `next` documents (whole queries: rounded up to a query) and all documents until the end. Takes
  /// as long as a sampling with `delta`.
  outlook look_ahead(std::size_t next) const;
  /// As above, from these answers, such as a copy of `answers()`, instead of the current ones. May
  /// be called while another thread calls any function, even non-const ones.
  outlook look_ahead(std::size_t next, std::vector<al::answer> answers) const;

  /// The current sample; complete once `finished()`.
  sample take() const;
  /// SHA-256 over all inputs of the questions besides the answers: items, existing labels, and
  /// options except engine and budget.
  std::string identity() const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// A reply to a question.
struct reply {
  enum class kind : std::uint8_t { label, leave_out, undo, quit };
  kind what = kind::quit;
  std::int32_t label = 0;
};

/// Calls `ask` with the first wanted question until the sample is complete (true) or the reply is
/// quit (false). `ask` must save what should outlast the process before it returns. An undo without
/// an answer repeats the question.
bool ask_for_labels(labelling& work, std::function<reply(question const&)> const& ask);

}  // namespace rulerank::al
