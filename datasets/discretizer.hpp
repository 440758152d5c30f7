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

// Threads: any thread may call these functions at any time. Several threads may read an object at
// once, or one may change it.
namespace rulerank::inline v0::datasets {

/// How the values of a feature are cut (docs/reference/definitions.md, Items): `tube`, recursively
/// where the density changes; `width`, into equal widths; `frequency`, into bins with equal numbers
/// of documents; `capped`, one bin per value if there are enough bins, otherwise equal numbers of
/// documents, where no value counts for more than one bin.
enum class binning { tube, width, frequency, capped };
enum class missing_values { item, none, zero };  ///< the meaning of a listed NULL/nan
enum class unlisted_values { zero, missing };    ///< the meaning of an unlisted feature
enum class normalization { none, query_minmax, query_zscore };

/// How features become items (docs/reference/definitions.md, Items).
struct discretizer_options {
  binning method = binning::tube;
  int bins = 10;  ///< most bins per feature, 2..250; 0: by cross-validation
  missing_values missing = missing_values::item;
  unlisted_values unlisted = unlisted_values::zero;
  normalization norm = normalization::none;
};

/// The cuts of one feature, ascending; the bin of x is the number of cuts <= x.
struct feature_cuts {
  std::uint32_t feature = 0;
  std::vector<double> cuts;
};

/// The result of fitting: everything needed to convert documents to items.
struct discretizer {
  discretizer_options options;
  /// All features of the training set, ascending; a feature without cuts has no items.
  std::vector<feature_cuts> features;
  feature_names names;  ///< of these features, if the training set has names
  /// The number of columns of the arrays that were fitted, if it exceeds the last feature's number;
  /// otherwise 0. No document lists the features after the last one.
  std::uint32_t columns = 0;
};

/// The code of a document without an item in a feature.
inline constexpr std::uint8_t no_item = 255;

/// The documents of a data set as items. Only features with at least one cut are columns. Codes are
/// stored by column, one byte each: `code(f, d)` is the bin, or `bins(f) - 1` for the item
/// "missing" if there is one, or `no_item`. Feature f's items have the ids `item_begin[f] + code`,
/// from 0 to `items()` - 1.
struct binned_dataset {
  std::size_t documents = 0;
  std::size_t stride = 0;                 ///< bytes from one column to the next
  std::vector<std::uint32_t> features;    ///< [F] the file's numbers, ascending
  feature_names names;                    ///< of the fitted features, if they have names
  std::vector<std::uint32_t> item_begin;  ///< [F + 1]
  std::vector<bool> has_missing_item;     ///< [F]
  aligned_vector<std::uint8_t> codes;     ///< [F × stride], padded with `no_item`
  std::vector<std::int32_t> labels;       ///< [N] as in the data set
  std::int32_t max_label = 0;

  std::size_t feature_count() const noexcept { return features.size(); }
  std::size_t items() const noexcept { return item_begin.back(); }
  std::uint32_t bins(std::size_t f) const { return item_begin[f + 1] - item_begin[f]; }
  std::uint8_t const* column(std::size_t f) const { return codes.data() + f * stride; }
  std::uint8_t code(std::size_t f, std::size_t d) const { return column(f)[d]; }
};

/// Normalizes every feature within every query, over the query's present values. `query_minmax`
/// computes (x - min) / (max - min); `query_zscore` computes (x - mean) / sd with the population
/// standard deviation (divided by n). A feature that is constant in a query becomes 0 there.
/// Missing values stay missing. If `unlisted` is zero, unlisted features have the value 0, which is
/// normalized like any other value (and becomes a listed value if the result is not 0). If
/// `missing` is zero, the same applies to values listed as missing. `none` copies the data set.
/// Ids, comments and lines are unchanged.
dataset normalize(context const& ctx, dataset const& data, normalization how,
                  missing_values missing, unlisted_values unlisted);

/// Returns the features, ascending, that are already normalized within queries, as in LETOR: of at
/// least 10 queries in which the feature has different values, 95 % range from 0 to 1 with a value
/// in between, or have mean 0 and standard deviation 1. Unlisted features count as 0.
std::vector<std::uint32_t> features_normalized_within_queries(dataset const& data);

/// Fits cuts on a training set. Features that no document lists have no cuts. `ctx.seed` determines
/// the folds for `bins == 0`. Throws `usage_error` for bins out of range.
discretizer fit_discretizer(context const& ctx, dataset const& train,
                            discretizer_options const& options);

/// Applies fitted cuts to a data set. A feature that was not fitted has no items. Features with
/// names are matched by name. Throws `error` naming the data set if one side has names and the
/// other numbers.
binned_dataset apply_discretizer(context const& ctx, dataset const& data,
                                 discretizer const& fitted);

/// Calls `warn` (may be empty) once if delimited text lacks columns of named features in
/// `expected`, with their number, the first three, and their value. To be called before
/// `renumbered`, which gives the data set these names.
void warn_of_lacking_features(dataset const& data, feature_names const& expected,
                              unlisted_values unlisted,
                              std::function<void(std::string const&)> const& warn);

/// Returns the documents with bin numbers, from 0, as values. Every document lists exactly the
/// features of `binned`, which was made of `data`. NaN if a feature has no value.
dataset with_bin_numbers(context const& ctx, dataset data, binned_dataset const& binned);

/// Throws `error` naming the data set if no feature has two bins.
void expect_items(dataset const& data, binned_dataset const& items);

/// Returns the documents `chosen` of a binned data set, in that order.
binned_dataset subset(binned_dataset const& data, std::span<std::size_t const> chosen);

/// Returns one line of JSON, from which `discretizer_from_text` restores the same cuts, bit for
/// bit. `discretizer_from_text` throws `error` with `name` and the position for malformed text.
std::string to_text(discretizer const& fitted);
discretizer discretizer_from_text(std::string_view text, std::string const& name);
discretizer read_discretizer(std::string const& path);
/// Writes a file for `read_discretizer`; the caller commits the output.
void write_discretizer(discretizer const& fitted, output_file& out);

/// Option values of the command line; *_from throw `usage_error`.
std::string_view name_of(binning);
std::string_view name_of(missing_values);
std::string_view name_of(unlisted_values);
std::string_view name_of(normalization);
binning binning_from(std::string_view);
missing_values missing_values_from(std::string_view);
unlisted_values unlisted_values_from(std::string_view);
normalization normalization_from(std::string_view);

}  // namespace rulerank::datasets
