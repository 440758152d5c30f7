#pragma once

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/group_file.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rulerank::datasets {

/// Puts the pieces of a text together, in their order, and makes the queries.
class svmlight_assembler {
 public:
  /// Fills `data`, whose name is set; `options` and `data` outlive this.
  svmlight_assembler(svmlight_options const& options, dataset& data)
      : options_(options), data_(data) {}

  /// Room for at most so many; `entries` get their size at once, unset.
  void reserve(std::size_t documents, std::size_t entries);
  /// Appends all of a piece but its entries; answers where in `entries` they belong.
  std::size_t append(parsed_lines const& part);
  /// True once a piece had a fault; nothing more is to be appended.
  bool stopped() const { return fault_.has_value(); }
  /// Makes the queries, or throws the first fault of the text.
  void finish(context const& ctx, std::function<void(std::string const&)> const& warn);

 private:
  void stop(line_place place, std::string found_and_expected);
  std::size_t run_end(std::size_t run) const;
  bool number_queries();
  void make_queries();
  void gather_queries();
  void take_groups(std::vector<group_size> const& sizes);
  void one_query(std::function<void(std::string const&)> const& warn);

  svmlight_options const& options_;
  dataset& data_;
  std::vector<qid_run> runs_;  // documents and lines counted over the whole text
  std::vector<std::size_t> query_of_run_;
  std::size_t query_count_ = 0;
  std::uint64_t line_count_ = 0;
  std::optional<parsed_lines::fault_place> fault_;
};

}  // namespace rulerank::datasets
