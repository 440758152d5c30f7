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

/// A table of labels (read_labels) that answers the questions of a labelling. Each answer
/// that is used goes to the journal first, where there is one, so that the next table may be
/// another. Not for several threads at a time.
class label_table {
 public:
  /// `rows` were read from `path`, with the documents of `pool`. What is referred to outlives the
  /// table. Throws `error` with the line of a row that differs from the label that the pool, or
  /// from the answer that the journal, has for the document.
  label_table(std::vector<answer> rows, std::string path, datasets::dataset const& pool,
              answer_journal* journal);

  /// The rows, by document; of a document with several the first.
  std::span<answer const> rows() const noexcept { return rows_; }

  /// Answers what is wanted, and what is wanted then, until nothing wanted has a row.
  void answer_wanted(labelling& work) const;
  /// Answers every other document that has a row and no label yet, in the order of the rows' lines.
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

/// Gives the journal's answers again, in their order. `only_wanted`: stops where the sampling is
/// complete, as later answers were given to something else. Throws `error` that names `path`, the
/// journal's file, for an answer that the labelling refuses.
void replay(answer_journal const& journal, std::string const& path, labelling& work,
            bool only_wanted);

}  // namespace rulerank::al
