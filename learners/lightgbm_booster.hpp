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

// What learners by LightGBM have in common. One object is one thread's.
namespace rulerank::inline v0::learners {

// LightGBM's wheel has no header. These are the prototypes of include/LightGBM/c_api.h that are
// used, version 4; https://lightgbm.readthedocs.io/en/stable/C-API.html describes them.
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

  /// Throws `error` with LightGBM's text where a call failed.
  void check(int status) const;
};

using lightgbm_functions = std::shared_ptr<lightgbm_library::functions const>;

// Constants of c_api.h.
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

/// The model of a booster as text.
std::string text_of(lightgbm_library::functions const& call, void* booster);

/// Documents as rows of a matrix, a column for each of the features.
struct lightgbm_matrix {
  std::vector<double> values;
  std::int32_t rows = 0, columns = 0;
};

/// A listed value that is missing is NaN, one that is not listed 0.
lightgbm_matrix matrix_of(datasets::dataset const& data, std::span<std::size_t const> documents,
                          std::vector<std::uint32_t> const& features);
/// Of all documents.
lightgbm_matrix matrix_of(datasets::dataset const& data,
                          std::vector<std::uint32_t> const& features);

/// LightGBM's parameters for these options, one thread, deterministic.
std::string parameters_of(lightgbm_options const& options);
/// Throws `usage_error` for what makes no sense.
void check(lightgbm_options const& options);
/// Throws `usage_error` for a number of trees that is not 1 to `most`.
void expect_trees(std::span<std::size_t const> counts, std::size_t most);

/// One boosting of labelled documents.
class lightgbm_booster {
 public:
  /// `rows`: of the labelled documents of `pool`. `start`: their scores before the first tree; or
  /// none.
  lightgbm_booster(lightgbm_functions of, std::string const& parameters,
                   lightgbm_matrix const& rows, datasets::dataset const& pool,
                   labelled const& known, std::vector<double> const& start = {});

  /// Grows up to so many trees in all. A tree that cannot grow ends it: those that follow would be
  /// the same.
  void grow(context const& ctx, std::size_t trees);
  std::size_t trees() const noexcept { return trees_; }
  /// No further tree can grow.
  bool ended() const noexcept { return ended_; }
  /// Scores by the first trees, without those of the start: a row for each of `counts`. A row goes
  /// through a tree once.
  std::vector<std::vector<double>> scores(context const& ctx, lightgbm_matrix const& rows,
                                          std::span<std::size_t const> counts) const;
  /// Scores by all trees.
  std::vector<double> scores(context const& ctx, lightgbm_matrix const& rows) const;
  std::string text() const { return text_of(*call_, booster_.get()); }

 private:
  void set_field(char const* name, void const* values, std::size_t count, int type) const;
  /// The leaf that each row reaches in each of the first trees, row by row.
  std::vector<double> leaves(lightgbm_matrix const& rows, std::size_t trees) const;

  lightgbm_functions call_;
  lightgbm_handle training_, booster_;  // the booster refers to the training data
  std::size_t trees_ = 0;
  bool ended_ = false;
};

/// Throws `usage_error` for options that make no sense.
std::unique_ptr<learner> make_ilmart(lightgbm_functions of, ilmart_options const& options);

}  // namespace rulerank::learners
