#pragma once

#include "core/context.hpp"
#include "learners/lightgbm.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Shared code of the learners by LightGBM. Objects are not thread-safe.
namespace rulerank::inline v0::learners {

// LightGBM's wheel has no header. These are the prototypes used from include/LightGBM/c_api.h,
// version 4; see https://lightgbm.readthedocs.io/en/stable/C-API.html.
struct lightgbm_library::functions {
  using dataset = void*;
  using booster = void*;

  char const* (*last_error)() = nullptr;
  int (*register_log)(void (*)(char const*)) = nullptr;
  int (*dataset_from_matrix)(void const* data, int type, std::int32_t rows, std::int32_t columns,
                             int row_major, char const* parameters, dataset reference,
                             dataset* out) = nullptr;
  int (*dataset_set_field)(dataset, char const* name, void const* data, int count,
                           int type) = nullptr;
  int (*dataset_free)(dataset) = nullptr;
  int (*booster_create)(dataset, char const* parameters, booster* out) = nullptr;
  int (*booster_update)(booster, int* finished) = nullptr;
  int (*booster_predict)(booster, void const* data, int type, std::int32_t rows,
                         std::int32_t columns, int row_major, int kind, int first, int count,
                         char const* parameters, std::int64_t* length, double* out) = nullptr;
  int (*booster_leaf)(booster, int tree, int leaf, double* out) = nullptr;
  int (*booster_text)(booster, int first, int count, int importance, std::int64_t room,
                      std::int64_t* length, char* out) = nullptr;
  int (*booster_free)(booster) = nullptr;
  std::string version;

  /// Throws `error` with LightGBM's text if a call failed.
  void check(int status) const;
};

using lightgbm_functions = std::shared_ptr<lightgbm_library::functions const>;

// Constants from c_api.h.
inline constexpr int lightgbm_float32 = 0, lightgbm_float64 = 1, lightgbm_int32 = 2;

/// Frees a data set or a booster.
class lightgbm_handle {
 public:
  lightgbm_handle() = default;
  lightgbm_handle(void* of, int (*free)(void*)) : of_(of), free_(free) {}
  ~lightgbm_handle() {
    if (of_ != nullptr) free_(of_);
  }
  lightgbm_handle(lightgbm_handle&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), free_(std::exchange(other.free_, nullptr)) {}
  lightgbm_handle& operator=(lightgbm_handle&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(free_, other.free_);
    return *this;
  }
  void* get() const noexcept { return of_; }

 private:
  void* of_ = nullptr;
  int (*free_)(void*) = nullptr;
};

/// A booster's model as text.
std::string text_of(lightgbm_library::functions const& call, void* booster);

/// Documents as rows of a matrix with one column per feature.
struct lightgbm_matrix {
  std::vector<double> values;
  std::int32_t rows = 0, columns = 0;
};

/// Listed missing values are NaN, unlisted ones 0.
lightgbm_matrix matrix_of(datasets::dataset const& data, std::span<std::size_t const> documents,
                          std::vector<std::uint32_t> const& features);
/// As above, for all documents.
lightgbm_matrix matrix_of(datasets::dataset const& data,
                          std::vector<std::uint32_t> const& features);

/// LightGBM's parameters for these options: one thread, deterministic.
std::string parameters_of(lightgbm_options const& options);
/// Throws `usage_error` for invalid options.
void check(lightgbm_options const& options);
/// Throws `usage_error` for a number of trees outside 1 to `most`.
void expect_trees(std::span<std::size_t const> counts, std::size_t most);

/// One boosting run on labelled documents.
class lightgbm_booster {
 public:
  /// `rows`: the labelled documents of `pool`. `start`: their initial scores; may be empty.
  lightgbm_booster(lightgbm_functions of, std::string const& parameters,
                   lightgbm_matrix const& rows, datasets::dataset const& pool,
                   labelled const& known, std::vector<double> const& start = {});

  /// Grows to at most `trees` trees in total. Stops at a tree that cannot grow, because all later
  /// ones would be equal.
  void grow(context const& ctx, std::size_t trees);
  std::size_t trees() const noexcept { return trees_; }
  /// Whether no further tree can grow.
  bool ended() const noexcept { return ended_; }
  /// Scores by the first trees, without the initial scores: one row for each of `counts`. Each row
  /// passes each tree once.
  std::vector<std::vector<double>> scores(context const& ctx, lightgbm_matrix const& rows,
                                          std::span<std::size_t const> counts) const;
  /// Scores by all trees.
  std::vector<double> scores(context const& ctx, lightgbm_matrix const& rows) const;
  std::string text() const { return text_of(*call_, booster_.get()); }

 private:
  void set_field(char const* name, void const* values, std::size_t count, int type) const;
  /// [rows][trees] the leaf that each row reaches in each of the first trees.
  std::vector<double> leaves(lightgbm_matrix const& rows, std::size_t trees) const;

  lightgbm_functions call_;
  lightgbm_handle training_, booster_;  // the booster refers to the training data
  std::size_t trees_ = 0;
  bool ended_ = false;
};

/// Throws `usage_error` for invalid options.
std::unique_ptr<learner> make_ilmart(lightgbm_functions of, ilmart_options const& options);

}  // namespace rulerank::learners
