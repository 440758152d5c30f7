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

/// A document that wants a label: where it is about to be chosen. Of whole queries: partition 0
/// stands for all, and iteration counts queries.
struct question {
  std::size_t document = 0;
  std::size_t partition = 0;
  std::size_t iteration = 0;  ///< of the partition, from 0
  std::uint64_t rules = 0;    ///< its valid rules over the sample in the partition
  reason why = reason::rules;
};

/// A document beside another.
struct neighbour {
  std::size_t document = 0;
  std::size_t shared_items = 0;  ///< features in which both have the same item
};

/// The documents for which `counts` is true, other than `document`, with the most items in common
/// with it over all features; ties by the smaller number. At most k. May be called from several
/// threads at once.
std::vector<neighbour> nearest(datasets::binned_dataset const& data, std::size_t document,
                               std::size_t k, std::function<bool(std::size_t)> const& counts);

/// What more labels would bring, estimated by going on with guessed ones, and with as many
/// documents left out as have been so far.
struct outlook {
  /// Labels, of the data set and of answers, other than the commonest. Guesses from few of these
  /// say little: while all labels are alike, so are all guesses.
  std::size_t minority_labels = 0;
  std::uint64_t rules = 0;      ///< valid rules over the sample as it is, all partitions together
  std::size_t next = 0;         ///< documents asked about that `next_rules` is for
  std::int64_t next_rules = 0;  ///< rules that these would add; negative where more become invalid
  std::size_t documents = 0;    ///< documents still to be asked about, up to the end
  std::size_t left_out = 0;     ///< of these, such as get no label
  /// Between these two is the number that will be asked about: at 95 % or more of the points
  /// measured from 10 such labels on, on each set (bench/label_estimates.py).
  std::size_t documents_low = 0;
  std::size_t documents_high = 0;
  std::int64_t documents_rules = 0;  ///< rules that all of them would add
};

/// The rules that a document would bring, whatever its label: an itemset that no document of its
/// partition's sample has makes a rule with it.
struct brought_rules {
  std::size_t items = 0;       ///< in an itemset, at most: rule_size - 1, fewer where that is much
  std::uint64_t itemsets = 0;  ///< of the document, of so many items in the partition's features
  std::uint64_t unseen = 0;    ///< of these, such itemsets
  /// The shortest of them, none within another, as columns of the data set; ascending.
  std::vector<std::vector<std::size_t>> shortest;
};

/// Selective sampling with the labels given one by one, by a person or a file: the same documents
/// in the same order as `reduce` chooses. The state follows from the answers alone: an object that
/// is given the same answers again continues where another stopped.
///
/// Questions come in (iteration, partition) order, the order in which a budget counts documents:
/// what has been labelled so far is always the sample of some budget. A document that has a label
/// in the data set, or was asked about in another partition, is not asked about. A document that is
/// left out is never chosen, in any partition: the one with the next smallest key is.
///
/// Answers may be given before they are asked for. They wait until the document is chosen: which
/// documents are chosen depends on what the answers are, not on when they were given.
///
/// With `options.query_begin` whole queries are chosen, and all documents of one are asked about,
/// in their order, before the next is chosen. A query that does not fit the budget with all its
/// documents ends the sampling.
///
/// Runs on the CPU. Const members may be called from several threads at once, as long as no other
/// member is called; objects are independent of each other.
class labelling {
 public:
  /// What is referred to outlives it. Throws `usage_error` as `reduce` does, for engines that run
  /// on GPUs alone, and for a budget smaller than the first query.
  labelling(context const& ctx, datasets::binned_dataset const& data,
            sampler_options const& options);
  ~labelling();
  labelling(labelling&&) noexcept;
  labelling& operator=(labelling&&) noexcept;

  /// The documents that can be labelled now, in the order of the questions: of each partition the
  /// one it chooses next, as far as the budget is sure to keep it, or those of a query. Empty when
  /// the sample is complete. None depends on the answer to another, so several people can share
  /// them. Valid until the next answer or undo.
  std::vector<question> const& wanted() const noexcept;
  bool finished() const noexcept { return wanted().empty(); }
  bool whole_queries() const noexcept;

  /// The next documents to be asked about if each had the label of its nearest labelled neighbour
  /// (0 while there is none): at least `count` of them where there are so many, first those that
  /// are wanted now; whole queries are not cut short. Those beyond `wanted()` are guesses: a label
  /// for one that turns out not to be chosen is not used. Costs as much sampling with `delta`.
  std::vector<question> batch(std::size_t count) const;

  /// Answers a question, or one that may come: a label of 0 or more, or none to leave the document
  /// out. Throws `usage_error` for a document that has a label or an answer, or is not there.
  void answer(std::size_t document, std::optional<std::int32_t> label);
  /// Takes the last answer back; false when there is none. Costs a run through those before it.
  bool undo();
  /// Takes back the answer about a document, whenever it was given; false when there is none. Costs
  /// a run through the others.
  bool take_back(std::size_t document);

  /// The answers that stand, in the order they were given. Valid until the next answer or undo.
  std::span<al::answer const> answers() const noexcept;
  /// The label of a document, from the data set or from an answer; `datasets::unlabelled`: none
  /// yet.
  std::int32_t label_of(std::size_t document) const;
  /// Labels, of the data set and of answers, other than the commonest: `outlook::minority_labels`
  /// without its cost.
  std::size_t minority_labels() const;
  /// The features of a partition, columns of the data set.
  std::span<std::size_t const> features(std::size_t partition) const;
  /// The labelled documents with the most items in common, over all features; ties by the smaller
  /// number. At most k.
  std::vector<neighbour> nearest_labelled(std::size_t document, std::size_t k) const;

  /// What a document that is asked about brings to the sample as it is, with at most `most`
  /// examples.
  brought_rules brings(question const& asked, std::size_t most) const;

  /// How the sampling would go on if each document had the label of its nearest labelled neighbour
  /// (0 while there is none), or were left out, as large a share of them as of the answers: what
  /// the next `next` documents would bring (with whole queries: up to the end of one), and all up
  /// to the end. Costs a sampling with `delta`.
  outlook look_ahead(std::size_t next) const;
  /// The same from these answers, such as a copy of `answers()`, in the place of those that stand.
  /// May be called while another thread calls any member, those that change the object too.
  outlook look_ahead(std::size_t next, std::vector<al::answer> answers) const;

  /// The sample as it is; complete once `finished()`.
  sample take() const;
  /// SHA-256 of all that the questions depend on beside the answers: the items, the labels that are
  /// there, and the options but for the engine and the budget.
  std::string identity() const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// What somebody replies to a question.
struct reply {
  enum class kind : std::uint8_t { label, leave_out, undo, quit };
  kind what = kind::quit;
  std::int32_t label = 0;
};

/// Calls `ask` with one question after the other, each time the first of those wanted, until the
/// sample is complete (true) or the reply is to quit (false). What is to outlast the process is
/// written by `ask` before it returns. An undo without an answer to take back asks again.
bool ask_for_labels(labelling& work, std::function<reply(question const&)> const& ask);

}  // namespace rulerank::al
