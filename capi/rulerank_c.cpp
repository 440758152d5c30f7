// The functions of rulerank.h, which write_interface.py makes of interface.json.
#include "core/error.hpp"
#include "core/version.hpp"
#include "datasets/arrays.hpp"
#include "l2r/explain/explanation.hpp"
#include "l2r/model/input_columns.hpp"
#include "l2r/model/model.hpp"
#include "l2r/model/row_scores.hpp"
#include "l2r/model/scorer.hpp"
#include "rulerank.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rulerank::inline v0::capi {
namespace {

/// The feature of a term, and of a pair its second feature; ordered as score_effects::features.
using term = std::pair<std::uint32_t, std::optional<std::uint32_t>>;

/// A call runs on the thread that calls it.
context calling_thread() {
  context ctx;
  ctx.threads = 1;
  return ctx;
}

void add_terms(std::set<term>& to, l2r::scorecard_member const& of) {
  for (std::uint32_t const feature : of.card.features) to.insert({feature, {}});
}
void add_terms(std::set<term>& to, l2r::linear_member const& of) {
  for (l2r::feature_weight const& one : of.weights.features) to.insert({one.feature, {}});
}
void add_terms(std::set<term>& to, l2r::joint_member const& of) {
  for (std::uint32_t const feature : of.features) to.insert({feature, {}});
  for (l2r::joint_pair const& pair : of.pairs)
    to.insert({of.features[pair.first], of.features[pair.second]});
}

/// What score_effects::features names, whatever the documents.
std::vector<term> terms_of(l2r::scorer const& scorer) {
  auto const& members = scorer.fitted().members;
  datasets::dataset nothing;  // one document without values
  nothing.labels = {datasets::unlabelled};
  nothing.queries = {{"1", 0, 1}};
  nothing.row = {0, 0};
  l2r::explainer const explainer(calling_thread(), scorer, nothing);
  std::set<term> all;
  for (std::size_t k = 0; k < members.size(); ++k)
    std::visit(
        [&]<class Member>(Member const& member) {
          if constexpr (std::is_same_v<Member, l2r::rules_member>) {
            for (datasets::item_range const& item : explainer.ranges(k))
              all.insert({item.feature, {}});
          } else {
            add_terms(all, member);
          }
        },
        members[k]);
  return {all.begin(), all.end()};
}

}  // namespace
}  // namespace rulerank::capi

struct rulerank_model {
  explicit rulerank_model(rulerank::l2r::model model)
      : scorer(rulerank::capi::calling_thread(), std::move(model)),
        names(rulerank::l2r::names_of(scorer.fitted())),
        portability(rulerank::l2r::portability_of(scorer.fitted())),
        terms(rulerank::capi::terms_of(scorer)) {
    auto const [first, count] = rulerank::l2r::columns_of(scorer.fitted());
    first_feature = first;
    columns = count;
  }

  rulerank::l2r::scorer scorer;
  rulerank::datasets::feature_names const& names;
  rulerank::l2r::portability portability;
  std::vector<rulerank::capi::term> terms;
  std::uint32_t first_feature = 1;  ///< of column 0
  std::size_t columns = 0;
};

namespace rulerank::inline v0::capi {
namespace {

/// Text for the caller: whole characters, as many as there is room for.
void give_text(std::string_view text, char* to, std::size_t size) noexcept {
  if (to == nullptr || size == 0) return;
  std::size_t length = std::min(text.size(), size - 1);
  if (length < text.size())
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// Runs `work`, and turns what it throws into a code and a text.
template <class Work>
rulerank_code guarded(char* text, std::size_t size, Work const& work) noexcept {
  auto const fail = [&](rulerank_code code, std::string_view what) {
    give_text(what, text, size);
    return code;
  };
  try {
    if (text == nullptr && size > 0) throw usage_error("error: found NULL, expected room for text");
    give_text("", text, size);
    work();
    return RULERANK_OK;
  } catch (usage_error const& e) {
    return fail(RULERANK_USAGE, e.what());
  } catch (error const& e) {
    return fail(RULERANK_BAD_INPUT, e.what());
  } catch (std::bad_alloc const&) {
    return fail(RULERANK_FAILED, "out of memory");
  } catch (std::exception const& e) {
    return fail(RULERANK_FAILED, e.what());
  } catch (...) {
    return fail(RULERANK_FAILED, "unknown error");
  }
}

void expect_pointer(void const* pointer, std::string_view name) {
  if (pointer == nullptr)
    throw usage_error(fmt::format("{}: found NULL, expected a pointer", name));
}

/// The rows of a call.
template <class Value>
struct rows_argument {
  Value const* values;
  std::size_t rows, columns, stride;
  std::size_t const* list_begin;
  std::size_t lists;
};

/// The sizes of the lists that have documents.
template <class Value>
std::vector<std::size_t> list_sizes(rows_argument<Value> const& of) {
  if (of.lists == 0 && of.list_begin == nullptr) return {of.rows};
  expect_pointer(of.list_begin, "list_begin");
  std::vector<std::size_t> sizes;
  if (of.list_begin[0] != 0)
    throw usage_error(fmt::format("list_begin[0]: found {}, expected 0", of.list_begin[0]));
  for (std::size_t k = 0; k < of.lists; ++k) {
    std::size_t const begin = of.list_begin[k], end = of.list_begin[k + 1];
    if (end < begin || end > of.rows)
      throw usage_error(
          fmt::format("list_begin[{}]: found {}, expected {} to {}", k + 1, end, begin, of.rows));
    if (end > begin) sizes.push_back(end - begin);
  }
  if (of.list_begin[of.lists] != of.rows)
    throw usage_error(fmt::format("list_begin[{}]: found {}, expected {}, the number of rows",
                                  of.lists, of.list_begin[of.lists], of.rows));
  return sizes;
}

/// Calls `use(rows, about)` with the documents of a call that has some. Throws `usage_error` for
/// arguments that make no sense.
template <class Value, class Use>
auto with_rows(rulerank_model const& by, rows_argument<Value> const& of, Use const& use) {
  expect_pointer(of.values, "values");
  if (of.columns != by.columns)
    throw usage_error(fmt::format("columns: found {}, expected {}, the columns of the model",
                                  of.columns, by.columns));
  if (of.stride < of.columns)
    throw usage_error(fmt::format("stride: found {}, expected at least {}, the number of columns",
                                  of.stride, of.columns));
  std::vector<std::size_t> const sizes = list_sizes(of);
  datasets::document_arrays about;
  about.name = "values";
  about.group_sizes = sizes;
  std::vector<std::uint32_t> from_zero;
  if (by.first_feature == 0) {
    from_zero.resize(of.columns);
    std::iota(from_zero.begin(), from_zero.end(), 0U);
    about.features = from_zero;
  }
  about.names = &by.names;
  return use(datasets::dense_rows<Value>{of.values, of.rows, of.columns, of.stride}, about);
}

template <class Value>
void score(rulerank_model const* by, rows_argument<Value> const& of, double* scores) {
  expect_pointer(by, "model");
  if (of.rows == 0) return;
  expect_pointer(scores, "scores");
  auto const found = with_rows(*by, of, [&](auto const& rows, auto const& about) {
    return l2r::score_rows(calling_thread(), by->scorer, rows, about).scores;
  });
  std::ranges::copy(found, scores);
}

/// The documents of one query as a data set of their own.
datasets::dataset list_of(datasets::dataset const& all, datasets::query_group const& query) {
  std::vector<std::size_t> documents(query.size());
  std::iota(documents.begin(), documents.end(), query.begin);
  return datasets::subset(all, documents);
}

template <class Value>
void explain(rulerank_model const* by, rows_argument<Value> const& of, double* base,
             double* added) {
  expect_pointer(by, "model");
  if (of.rows == 0) return;
  expect_pointer(base, "base");
  if (!by->terms.empty()) expect_pointer(added, "added");
  context const ctx = calling_thread();
  datasets::dataset const documents = with_rows(*by, of, [&](auto const& rows, auto const& about) {
    return datasets::make_dataset(ctx, rows, about);
  });
  for (datasets::query_group const& query : documents.queries) {
    l2r::explainer const explainer(ctx, by->scorer, list_of(documents, query));
    for (l2r::score_effects const& one : explainer.effects(ctx)) {
      if (one.features.size() != by->terms.size())
        throw std::logic_error(
            fmt::format("{} terms, expected {}", one.features.size(), by->terms.size()));
      *base++ = one.base;
      for (l2r::feature_effect const& effect : one.features) *added++ = effect.adds;
    }
  }
}

/// NULL for an empty text.
char const* description_text(rulerank_model const* model, std::size_t column,
                             std::string l2r::feature_description::*text) {
  if (model == nullptr || column >= model->columns) return nullptr;
  std::string const& found =
      l2r::description_of(static_cast<std::uint32_t>(column) + model->first_feature,
                          model->scorer.fitted().descriptions).*
      text;
  return found.empty() ? nullptr : found.c_str();
}

}  // namespace
}  // namespace rulerank::capi

using namespace rulerank;

char const* rulerank_version(void) {
  return rulerank::version;
}

rulerank_code rulerank_model_read(char const* path, rulerank_model** model, char* error,
                                  std::size_t error_size) {
  return capi::guarded(error, error_size, [&] {
    capi::expect_pointer(model, "model");
    *model = nullptr;
    capi::expect_pointer(path, "path");
    *model = new rulerank_model(l2r::read_model(path));
  });
}

rulerank_code rulerank_model_from_bytes(void const* bytes, std::size_t size, rulerank_model** model,
                                        char* error, std::size_t error_size) {
  return capi::guarded(error, error_size, [&] {
    capi::expect_pointer(model, "model");
    *model = nullptr;
    if (size > 0) capi::expect_pointer(bytes, "bytes");
    *model =
        new rulerank_model(l2r::model_from_bytes({static_cast<char const*>(bytes), size}, "model"));
  });
}

void rulerank_model_free(rulerank_model* model) {
  delete model;
}

std::size_t rulerank_model_columns(rulerank_model const* model) {
  return model == nullptr ? 0 : model->columns;
}

char const* rulerank_model_column_name(rulerank_model const* model, std::size_t column) {
  if (model == nullptr || column >= model->columns) return nullptr;
  auto const name = model->names.find(static_cast<std::uint32_t>(column) + model->first_feature);
  return name == model->names.end() ? nullptr : name->second.c_str();
}

char const* rulerank_model_column_unit(rulerank_model const* model, std::size_t column) {
  return capi::description_text(model, column, &l2r::feature_description::unit);
}

char const* rulerank_model_column_origin(rulerank_model const* model, std::size_t column) {
  return capi::description_text(model, column, &l2r::feature_description::origin);
}

int rulerank_model_is_portable(rulerank_model const* model) {
  return model != nullptr && model->portability.portable ? 1 : 0;
}

char const* rulerank_model_portability(rulerank_model const* model) {
  return model == nullptr ? nullptr : model->portability.words.c_str();
}

std::size_t rulerank_model_terms(rulerank_model const* model) {
  return model == nullptr ? 0 : model->terms.size();
}

rulerank_code rulerank_model_term(rulerank_model const* model, std::size_t term,
                                  std::size_t* column, std::size_t* partner, char* error,
                                  std::size_t error_size) {
  return capi::guarded(error, error_size, [&] {
    capi::expect_pointer(model, "model");
    capi::expect_pointer(column, "column");
    capi::expect_pointer(partner, "partner");
    if (term >= model->terms.size())
      throw usage_error(
          fmt::format("term: found {}, expected less than {}", term, model->terms.size()));
    auto const& [feature, second] = model->terms[term];
    *column = feature - model->first_feature;
    *partner = second.value_or(feature) - model->first_feature;
  });
}

rulerank_code rulerank_score_double(rulerank_model const* model, double const* values,
                                    std::size_t rows, std::size_t columns, std::size_t stride,
                                    std::size_t const* list_begin, std::size_t lists,
                                    double* scores, char* error, std::size_t error_size) {
  return capi::guarded(error, error_size, [&] {
    capi::score<double>(model, {values, rows, columns, stride, list_begin, lists}, scores);
  });
}

rulerank_code rulerank_score_float(rulerank_model const* model, float const* values,
                                   std::size_t rows, std::size_t columns, std::size_t stride,
                                   std::size_t const* list_begin, std::size_t lists, double* scores,
                                   char* error, std::size_t error_size) {
  return capi::guarded(error, error_size, [&] {
    capi::score<float>(model, {values, rows, columns, stride, list_begin, lists}, scores);
  });
}

rulerank_code rulerank_explain_double(rulerank_model const* model, double const* values,
                                      std::size_t rows, std::size_t columns, std::size_t stride,
                                      std::size_t const* list_begin, std::size_t lists,
                                      double* base, double* added, char* error,
                                      std::size_t error_size) {
  return capi::guarded(error, error_size, [&] {
    capi::explain<double>(model, {values, rows, columns, stride, list_begin, lists}, base, added);
  });
}

rulerank_code rulerank_explain_float(rulerank_model const* model, float const* values,
                                     std::size_t rows, std::size_t columns, std::size_t stride,
                                     std::size_t const* list_begin, std::size_t lists, double* base,
                                     double* added, char* error, std::size_t error_size) {
  return capi::guarded(error, error_size, [&] {
    capi::explain<float>(model, {values, rows, columns, stride, list_begin, lists}, base, added);
  });
}
