#pragma once

#include "core/aligned.hpp"
#include "core/context.hpp"
#include "core/output_file.hpp"
#include "datasets/dataset.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Threads: functions may be called from any number of threads at once; an object may be read by
// several threads at once, or changed by one.
namespace rulerank::inline v0::datasets {

/// How the values of a feature are cut (docs/reference/definitions.md, Items): recursively where
/// the density changes, into equal widths, into bins of equally many documents; or, `capped`, a bin
/// a value where these suffice, else equally many documents where no value counts for more than a
/// bin.
enum class binning { tube, width, frequency, capped };
enum class missing_values { item, none, zero };  ///< what a listed NULL/nan becomes
enum class unlisted_values { zero, missing };    ///< what a feature without an entry is
enum class normalization { none, query_minmax, query_zscore };

/// How features become items (docs/reference/definitions.md, Items).
struct discretizer_options {
  binning method = binning::tube;
  int bins = 10;  ///< at most this many a feature, 2..250; 0: by cross-validation
  missing_values missing = missing_values::item;
  unlisted_values unlisted = unlisted_values::zero;
  normalization norm = normalization::none;
};

/// The cuts of one feature, ascending; the bin of x is the number of cuts <= x.
struct feature_cuts {
  std::uint32_t feature = 0;
  std::vector<double> cuts;
};

/// What was fitted: everything that turns a document into items, no more.
struct discretizer {
  discretizer_options options;
  std::vector<feature_cuts> features;  ///< all features of the training set, ascending;
                                       ///< one without a cut makes no items
  feature_names names;                 ///< of these, where the training set has names
  /// Of the arrays that they were fitted to, where that is known and more than the last feature's
  /// number: no document lists the features behind it. 0 where not.
  std::uint32_t columns = 0;
};

/// The code of a document that has no item in a feature.
inline constexpr std::uint8_t no_item = 255;

/// The documents of a data set as items. Only features with at least one cut are here; they are
/// the columns. Codes lie column by column, one byte each: `code(f, d)` is the bin, or
/// `bins(f) - 1` for the item "missing" where there is one, or `no_item`.
/// Item ids: feature f's items are `item_begin[f] + code`, so ids run from 0 to `items()` - 1.
struct binned_dataset {
  std::size_t documents = 0;
  std::size_t stride = 0;                 ///< bytes from one column to the next
  std::vector<std::uint32_t> features;    ///< [F] the file's numbers, ascending
  feature_names names;                    ///< of the fitted features, where they have names
  std::vector<std::uint32_t> item_begin;  ///< [F + 1]
  std::vector<bool> has_missing_item;     ///< [F]
  aligned_vector<std::uint8_t> codes;     ///< [F x stride], the padding holds `no_item`
  std::vector<std::int32_t> labels;       ///< [N] as in the data set
  std::int32_t max_label = 0;

  std::size_t feature_count() const noexcept { return features.size(); }
  std::size_t items() const noexcept { return item_begin.back(); }
  std::uint32_t bins(std::size_t f) const { return item_begin[f + 1] - item_begin[f]; }
  std::uint8_t const* column(std::size_t f) const { return codes.data() + f * stride; }
  std::uint8_t code(std::size_t f, std::size_t d) const { return column(f)[d]; }
};

/// The data set with every feature normalized within every query, on its own, over the query's
/// present values: `query_minmax` gives (x - min) / (max - min), `query_zscore` gives
/// (x - mean) / sd with the sd of the n values themselves (divided by n). A feature that is
/// constant in a query becomes 0 there. Missing values stay missing. Where `unlisted` is zero, a
/// document that does not list a feature has the value 0, which counts and is normalized like any
/// other (it becomes a listed value where the result is not 0); where `missing` is zero, so has one
/// that lists it as missing. `none` copies. Ids, comments and lines are kept as they are.
dataset normalize(context const& ctx, dataset const& data, normalization how,
                  missing_values missing, unlisted_values unlisted);

/// The features, ascending, that the data set has normalized within its queries, as LETOR's are: of
/// 10 or more queries where a feature has different values, 95 % span 0 to 1 with a value between,
/// or have mean 0 and standard deviation 1. A document that does not list a feature has 0.
std::vector<std::uint32_t> features_normalized_within_queries(dataset const& data);

/// Fits cuts on a training set. Features that no document lists have no cuts.
/// `ctx.seed` draws the folds of `bins == 0`. Throws `usage_error` for bins out of range.
discretizer fit_discretizer(context const& ctx, dataset const& train,
                            discretizer_options const& options);

/// Applies fitted cuts to any data set. A feature that was not fitted makes no items. Features that
/// have names are found by these, whatever their numbers; throws `error` that names the data set
/// where one side has names and the other numbers.
binned_dataset apply_discretizer(context const& ctx, dataset const& data,
                                 discretizer const& fitted);

/// Calls `warn` (may be empty) once where delimited text lacks columns of features that have names
/// in `expected`: with their number, the first three, and as what they count. Call it before
/// `renumbered`, which gives the data set their names.
void warn_of_lacking_features(dataset const& data, feature_names const& expected,
                              unlisted_values unlisted,
                              std::function<void(std::string const&)> const& warn);

/// The documents with the numbers of their bins, from 0, as values: every document lists every
/// feature of `binned`, which was made of `data`, and no other. NaN where a feature has no value.
dataset with_bin_numbers(context const& ctx, dataset data, binned_dataset const& binned);

/// Throws `error` that names the data set when no feature has two bins.
void expect_items(dataset const& data, binned_dataset const& items);

/// The documents `chosen` of a binned data set, in that order.
binned_dataset subset(binned_dataset const& data, std::span<std::size_t const> chosen);

/// One line of JSON, from which `discretizer_from_text` gives the same cuts to the bit. It throws
/// `error` with `name` and the place for anything malformed.
std::string to_text(discretizer const& fitted);
discretizer discretizer_from_text(std::string_view text, std::string const& name);
discretizer read_discretizer(std::string const& path);
/// Writes what `read_discretizer` reads; the output is not committed.
void write_discretizer(discretizer const& fitted, output_file& out);

/// The words of the command line; from_* throw `usage_error`.
std::string_view name_of(binning);
std::string_view name_of(missing_values);
std::string_view name_of(unlisted_values);
std::string_view name_of(normalization);
binning binning_from(std::string_view);
missing_values missing_values_from(std::string_view);
unlisted_values unlisted_values_from(std::string_view);
normalization normalization_from(std::string_view);

}  // namespace rulerank::datasets
