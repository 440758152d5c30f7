#pragma once

#include "al/answers.hpp"
#include "al/labelling.hpp"
#include "datasets/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::al {

/// A table of labels (read_labels) as the source of answers for a labelling. Each answer is first
/// written to the journal, if there is one, so the next run may use another table. Not thread-safe.
class label_table {
 public:
  /// `rows` were read from `path` for the documents of `pool`. Keeps references to the arguments.
  /// Throws `error` with the line of a row that contradicts a label in the pool or an answer in the
  /// journal.
  label_table(std::vector<answer> rows, std::string path, datasets::dataset const& pool,
              answer_journal* journal);

  /// The rows by document; the first one of a document with several.
  std::span<answer const> rows() const noexcept { return rows_; }

  /// Answers wanted documents, repeatedly, until no wanted document has a row.
  void answer_wanted(labelling& work) const;
  /// Answers all other documents with a row and without a label, in line order.
  void answer_in_advance(labelling& work) const;

 private:
  answer const* row_of(std::size_t document) const;
  void expect_same(std::size_t document, std::optional<std::int32_t> label,
                   std::string_view where) const;
  void give(labelling& work, answer const& row) const;

  std::vector<answer> rows_;
  std::string path_;
  answer_journal* journal_;
};

/// Replays the journal's answers in order. `only_wanted`: stops when the sampling is complete,
/// because later answers belong to something else. Throws `error` naming `path`, the journal's
/// file, for an answer that the labelling rejects.
void replay(answer_journal const& journal, std::string const& path, labelling& work,
            bool only_wanted);

}  // namespace rulerank::al
