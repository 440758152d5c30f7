#include "knn/dense/neighbour_matrix.hpp"

#include "core/error.hpp"
#include "core/memory_gate.hpp"
#include "datasets/vectors.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::knn {

namespace {

bool ends_with_any(std::string name, std::initializer_list<std::string_view> ends) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

bool neighbour_matrix::is_name_of_numbers(std::string const& name) {
  return ends_with_any(name, {".ivecs", ".ibin", ".npy"});
}
bool neighbour_matrix::is_name_of_values(std::string const& name) {
  return ends_with_any(name, {".fvecs", ".fbin", ".npy"});
}

void neighbour_matrix::expect_rows(std::string const& name, std::size_t rows) {
  constexpr std::size_t most = std::size_t{1} << 31;
  if (rows > most && is_name_of_numbers(name))
    throw usage_error(
        fmt::format("{}: found {}, expected at most {}, because row numbers are int32; a name "
                    "without a format of vectors gives lines of text",
                    name, counted(rows, "row"), most));
}

neighbour_matrix::neighbour_matrix(std::string const& name, std::size_t queries, std::size_t k,
                                   bool has_values)
    : k_(k) {
  std::size_t const entry = sizeof(std::int32_t) + (has_values ? sizeof(float) : 0);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  memory_gate().take(
      {k <= most / entry / queries ? queries * k * entry : most,
       fmt::format("{}: {} entries of each of {}", name, k, counted(queries, "query", "queries")),
       "use a smaller --k, fewer queries at a time, or a name without a format of vectors, which "
       "gives lines of text"},
      [&] {
        rows_.assign(queries * k, -1);
        if (has_values) values_.assign(queries * k, 0);
      });
}

void neighbour_matrix::take(std::size_t first, neighbours const& found) {
  for (std::size_t q = 0; q < found.queries; ++q) {
    std::size_t const at = (first + q) * k_;
    for (std::size_t i = 0; i < found.count_of(q); ++i) {
      rows_[at + i] = static_cast<std::int32_t>(found.ids_of(q)[i]);
      if (!values_.empty()) values_[at + i] = static_cast<float>(found.values_of(q)[i]);
    }
  }
}

std::vector<output_file> neighbour_matrix::files(context const& ctx, std::string const& numbers,
                                                 std::string const& values) {
  std::vector<output_file> files;
  files.push_back(datasets::vectors_file(ctx, numbers, datasets::vectors(std::move(rows_), k_)));
  if (!values.empty())
    files.push_back(datasets::vectors_file(ctx, values, datasets::vectors(std::move(values_), k_)));
  return files;
}

}  // namespace rulerank::knn
