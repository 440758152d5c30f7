#include "server/ranking/rank_request.hpp"

#include "server/ranking/problem.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

namespace rulerank::inline v0::server {

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::uint32_t ignored = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t max_feature = 0x7fffffff;

/// Where a text stops being JSON, such as " at byte 17", from 1; simdjson does not say it.
std::string fault_in(std::string_view text) {
  try {
    auto const keep_nothing = [](int, nlohmann::json::parse_event_t, nlohmann::json const&) {
      return false;
    };
    [[maybe_unused]] auto const nothing = nlohmann::json::parse(text, keep_nothing);
  } catch (nlohmann::json::parse_error const& e) {
    return fmt::format(" at byte {}", e.byte);
  } catch (nlohmann::json::exception const&) {  // a number that no double holds
  }
  return {};
}

void expect_at_most(std::size_t limit, std::size_t found, std::string_view what,
                    std::string const& pointer) {
  if (found > limit)
    throw problem(413, fmt::format("found more than {} {}, expected at most these", limit, what),
                  {pointer});
}

/// The JSON of a body's first `bytes`. The result is valid until the next call of the thread.
element parsed(std::string& body, std::size_t bytes) {
  // A parser keeps its memory; one that had a large body gives it back.
  constexpr std::size_t kept = std::size_t{4} << 20;
  thread_local simdjson::dom::parser parser;
  if (parser.capacity() > kept && bytes <= kept) parser = simdjson::dom::parser();
  bool const whole = bytes == body.size();
  if (whole) body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  element root;
  auto const failure = parser.parse(body.data(), bytes, !whole).get(root);
  if (failure == simdjson::MEMALLOC) throw std::bad_alloc();
  if (failure != simdjson::SUCCESS)
    throw problem(400, fmt::format("found no valid JSON{} ({}), expected an object",
                                   fault_in(std::string_view(body).substr(0, bytes)),
                                   simdjson::error_message(failure)));
  return root;
}

std::string_view kind_of(element const& value) {
  switch (value.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "a boolean";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

[[noreturn]] void fail(element const& value, std::string_view expected, fault_place place) {
  throw problem(400, fmt::format("found {}, expected {}", kind_of(value), expected),
                std::move(place));
}

template <class T>
T as(element const& value, std::string_view expected, std::string const& pointer) {
  T read;
  if (value.get(read) != simdjson::SUCCESS) fail(value, expected, {pointer});
  return read;
}

std::string string_of(element const& value, std::string const& pointer) {
  return std::string(as<std::string_view>(value, "a string", pointer));
}

std::size_t count_of(element const& value, std::size_t least, std::string const& pointer) {
  auto const count = as<std::uint64_t>(value, fmt::format("an integer from {}", least), pointer);
  if (count < least)
    throw problem(400, fmt::format("found {}, expected an integer from {}", count, least),
                  {pointer});
  return count;
}

/// Calls `take(key, value)` for each member of an object, which returns whether it knows the key.
template <class Take>
void for_members(element const& of, std::string const& pointer, std::string_view known,
                 Take const& take) {
  std::vector<std::string_view> seen;
  for (auto const [key, value] : as<object>(of, "an object", pointer)) {
    if (std::ranges::find(seen, key) != seen.end())
      throw problem(400, fmt::format("found the member '{}' twice, expected it once", key),
                    {pointer});
    seen.push_back(key);
    if (!take(key, value))
      throw problem(400, fmt::format("found the member '{}', expected one of: {}", key, known),
                    {pointer});
  }
}

/// The number of a feature that a request names; `ignored` for a name that the model lacks.
std::uint32_t number_of(std::string_view feature, served_model const& model,
                        fault_place const& place) {
  if (!model.names().empty()) {
    auto const found = model.numbers.find(feature);
    return found == model.numbers.end() ? ignored : found->second;
  }
  std::uint32_t number = 0;
  char const* const end = feature.data() + feature.size();
  auto const [at, status] = std::from_chars(feature.data(), end, number);
  if (status != std::errc{} || at != end || number > max_feature)
    throw problem(400,
                  fmt::format("found feature '{}', expected a number: the features of the model "
                              "have no names",
                              feature),
                  place);
  return number;
}

/// The features of dense documents: their numbers, and the order in which they ascend.
struct dense_columns {
  std::vector<std::uint32_t> numbers;  ///< [columns]
  std::vector<std::size_t> ascending;  ///< columns that are not ignored

  explicit dense_columns(std::vector<std::uint32_t> of) : numbers(std::move(of)) {
    for (std::size_t c = 0; c < numbers.size(); ++c)
      if (numbers[c] != ignored) ascending.push_back(c);
    std::ranges::sort(ascending, {}, [this](std::size_t c) { return numbers[c]; });
  }
};

dense_columns columns_of(served_model const& model) {
  std::vector<std::uint32_t> numbers(model.columns.count);
  std::iota(numbers.begin(), numbers.end(), model.columns.first_feature);
  return dense_columns(std::move(numbers));
}

dense_columns columns_of(element const& features, served_model const& model,
                         request_limits const& limits) {
  std::vector<std::uint32_t> numbers;
  std::set<std::uint32_t> seen;
  std::size_t c = 0;
  array const all = as<array>(features, "an array of names or numbers", "/features");
  expect_at_most(limits.features, all.size(), "features", "/features");
  for (element const one : all) {
    fault_place const place{fmt::format("/features/{}", c++)};
    std::uint64_t given = 0;
    std::uint32_t number = 0;
    if (one.get(given) == simdjson::SUCCESS)
      number = number_of(std::to_string(given), model, place);
    else
      number =
          number_of(as<std::string_view>(one, "a name or a number", place.pointer), model, place);
    if (number != ignored && !seen.insert(number).second)
      throw problem(400, "found a feature twice, expected distinct features", place);
    numbers.push_back(number);
  }
  dense_columns columns(std::move(numbers));
  if (columns.ascending.empty())
    throw problem(400,
                  model.names().empty()
                      ? "found no feature, expected some"
                      : fmt::format("found no feature of the model, expected names such as '{}'",
                                    model.names().begin()->second),
                  {"/features"});
  return columns;
}

/// Adds the documents of a body to a data set.
class document_reader {
 public:
  /// `columns`: of rows; nothing: all of the model.
  document_reader(rank_request& to, std::optional<dense_columns> columns,
                  request_limits const& limits)
      : to_(to), columns_(std::move(columns)), limits_(limits) {
    to_.documents.name = "request";
    to_.documents.names = to_.model->names();
  }

  void read_rows(array const& rows) {
    std::size_t d = 0;
    for (element const row : rows) {
      auto const place = [&] { return place_of(d); };
      array values;
      if (row.get(values) != simdjson::SUCCESS) fail(row, "an array of values", place());
      read_values(values, place);
      add_document();
      ++d;
    }
  }

  void read_documents(array const& documents) {
    std::size_t d = 0;
    for (element const document : documents) {
      auto const place = [&] { return place_of(d); };
      object members;
      if (document.get(members) != simdjson::SUCCESS) fail(document, "an object", place());
      std::string_view id;
      bool has_features = false;
      for (auto const [key, value] : members) {
        if (key == "id") {
          if (value.get(id) != simdjson::SUCCESS) fail(value, "a string as id", place());
        } else if (key == "features" && !has_features) {
          has_features = true;
          array dense;
          object sparse;
          if (value.get(dense) == simdjson::SUCCESS)
            read_values(dense, place);
          else if (value.get(sparse) == simdjson::SUCCESS)
            read_entries(sparse, place);
          else
            fail(value, "an object or an array of features", place());
        } else {
          throw problem(400, fmt::format("found the member '{}', expected id and features", key),
                        place());
        }
      }
      if (!has_features) throw problem(400, "found no features, expected some", place());
      add_document();
      set_id(to_.documents.size() - 1, id);
      ++d;
    }
  }

  void read_ids(array const& ids, std::size_t begin) {
    std::size_t d = begin;
    for (element const id : ids) {
      if (d == to_.documents.size()) break;
      set_id(d++, as<std::string_view>(id, "a string as id", pointer_ + "/ids"));
    }
    if (ids.size() != to_.documents.size() - begin)
      throw problem(400,
                    fmt::format("found {} ids, expected {}, one for each row", ids.size(),
                                to_.documents.size() - begin),
                    {pointer_ + "/ids"});
  }

  /// Reads a query; its members other than `rows`, `ids` and `documents` go to `other`.
  template <class Other>
  void read_query(element const& of, std::string pointer, std::string_view known,
                  Other const& other) {
    pointer_ = std::move(pointer);
    requested_list list{std::to_string(to_.lists.size() + 1), to_.documents.size(), 0, {}};
    std::optional<element> rows, ids, documents;
    for_members(of, pointer_, known, [&](std::string_view key, element const& value) {
      if (key == "qid")
        list.qid = string_of(value, pointer_ + "/qid");
      else if (key == "rows")
        rows = value;
      else if (key == "ids")
        ids = value;
      else if (key == "documents")
        documents = value;
      else
        return other(key);
      return true;
    });
    if (rows.has_value() == documents.has_value())
      throw problem(400, "expected either rows or documents", {pointer_});
    list.pointer = pointer_ + (rows ? "/rows" : "/documents");
    member_ = list.pointer;
    if (rows)
      read_rows(as<array>(*rows, "an array of rows", member_));
    else
      read_documents(as<array>(*documents, "an array of documents", member_));
    if (ids && !rows)
      throw problem(400, "found ids with documents, expected rows", {pointer_ + "/ids"});
    if (ids) read_ids(as<array>(*ids, "an array of ids", pointer_ + "/ids"), list.begin);
    list.end = to_.documents.size();
    if (list.end > list.begin) to_.documents.queries.push_back({list.qid, list.begin, list.end});
    to_.lists.push_back(std::move(list));
  }

 private:
  fault_place place_of(std::size_t document) const {
    return {fmt::format("{}/{}", member_, document), document};
  }

  void add_document() {
    expect_at_most(limits_.documents, to_.documents.labels.size() + 1, "documents", member_);
    to_.documents.labels.push_back(datasets::unlabelled);
    to_.documents.row.push_back(to_.documents.entries.size());
  }

  void set_id(std::size_t document, std::string_view id) {
    auto& ids = to_.documents.ids;
    if (id.empty() && ids.empty()) return;
    ids.resize(document + 1);
    ids[document] = id;
  }

  /// null: listed as missing.
  template <class Place>
  static double value_of(element const& of, Place const& place, auto const& feature) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (of.get(value) == simdjson::SUCCESS || of.is_null()) return value;
    fault_place at = place();
    at.feature = feature();
    fail(of, "a number, or null for a missing value", std::move(at));
  }

  /// Set at the first dense document: a model of sparse documents may have very many columns.
  dense_columns const& columns() {
    if (!columns_) columns_ = columns_of(*to_.model);
    values_.resize(columns_->numbers.size());
    return *columns_;
  }

  template <class Place>
  void read_values(array const& values, Place const& place) {
    dense_columns const& by = columns();
    std::size_t c = 0;
    for (element const value : values) {
      if (c < values_.size()) {
        auto const feature = [&] { return datasets::name_of(by.numbers[c], to_.model->names()); };
        values_[c] = value_of(value, place, feature);
      }
      ++c;
    }
    if (c != values_.size())
      throw problem(400, fmt::format("found {} values, expected {}", c, values_.size()), place());
    for (std::size_t const column : by.ascending)
      to_.documents.entries.push_back({by.numbers[column], values_[column]});
  }

  template <class Place>
  void read_entries(object const& entries, Place const& place) {
    auto const begin = static_cast<std::ptrdiff_t>(to_.documents.entries.size());
    if (entries.size() > limits_.features)
      expect_at_most(limits_.features, entries.size(), "features", place().pointer);
    for (auto const [name, value] : entries) {
      auto const feature = [name = name] { return std::string(name); };
      fault_place const nowhere;
      std::uint32_t number = 0;
      try {
        number = number_of(name, *to_.model, nowhere);
      } catch (problem const& e) {
        fault_place at = place();
        at.feature = feature();
        throw problem(e.status(), e.what(), std::move(at));
      }
      double const read = value_of(value, place, feature);
      if (number != ignored) to_.documents.entries.push_back({number, read});
    }
    auto const mine = std::span(to_.documents.entries).subspan(static_cast<std::size_t>(begin));
    std::ranges::sort(mine, {}, &datasets::feature_value::feature);
    auto const twice = std::ranges::adjacent_find(mine, {}, &datasets::feature_value::feature);
    if (twice != mine.end()) {
      fault_place at = place();
      at.feature = datasets::name_of(twice->feature, to_.model->names());
      throw problem(400, "found a feature twice, expected distinct features", std::move(at));
    }
  }

  rank_request& to_;
  std::optional<dense_columns> columns_;
  request_limits limits_;
  std::vector<double> values_;  // of a dense document
  std::string pointer_;         // of the query
  std::string member_;          // of its documents
};

/// A document by its index or id.
std::optional<std::size_t> find_document(element const& of, rank_request const& in,
                                         std::string const& pointer) {
  if (in.lists.size() != 1) throw problem(400, "expected one query", {"/queries"});
  std::uint64_t index = 0;
  std::size_t const n = in.documents.size();
  if (of.get(index) == simdjson::SUCCESS) {
    if (index < n) return index;
    throw problem(400, fmt::format("found document {}, expected less than {}", index, n),
                  {pointer});
  }
  std::string_view const id =
      as<std::string_view>(of, "the index or the id of a document", pointer);
  auto const& ids = in.documents.ids;
  auto const found = std::ranges::find(ids, id);
  if (found == ids.end() || id.empty())
    throw problem(400, fmt::format("found '{}', expected the id of a document", id), {pointer});
  return static_cast<std::size_t>(found - ids.begin());
}

/// Sets `lacking`. `columns`: of the member `features`. Documents of rows list all columns, so the
/// first one ends the walk.
void add_lacking(rank_request& request, std::optional<dense_columns> const& columns) {
  std::vector<std::uint32_t> const& scored = request.model->scored;
  std::vector<bool> is_listed(scored.size());
  std::size_t left = scored.size();
  auto const list = [&](std::uint32_t feature) {
    auto const at = std::ranges::lower_bound(scored, feature);
    if (at == scored.end() || *at != feature) return;
    auto one = is_listed[static_cast<std::size_t>(at - scored.begin())];
    if (!one) --left;
    one = true;
  };
  if (columns) std::ranges::for_each(columns->numbers, list);
  auto const& entries = request.documents.entries;
  for (std::size_t i = 0; i < entries.size() && left > 0; ++i) list(entries[i].feature);
  for (std::size_t f = 0; f < scored.size(); ++f)
    if (!is_listed[f])
      request.lacking.push_back(datasets::name_of(scored[f], request.model->names()));
}

}  // namespace

rank_request parse_rank_request(std::string& body,
                                std::function<model_pointer(std::string_view)> const& find,
                                request_limits const& limits) {
  constexpr std::string_view known =
      "model, features, queries, qid, rows, ids, documents, top, explain, document, against";
  element const root = parsed(body, body.size());
  rank_request request;
  std::string_view model;
  std::optional<element> features, queries, document, against;
  for_members(root, "", known, [&](std::string_view key, element const& value) {
    if (key == "model")
      model = as<std::string_view>(value, "a string", "/model");
    else if (key == "features")
      features = value;
    else if (key == "queries")
      queries = value;
    else if (key == "top")
      request.top = count_of(value, 1, "/top");
    else if (key == "explain")
      request.explain = as<bool>(value, "true or false", "/explain");
    else if (key == "document")
      document = value;
    else if (key == "against")
      against = value;
    else
      return key == "qid" || key == "rows" || key == "ids" || key == "documents";
    return true;
  });
  request.model = find(model);
  std::optional<dense_columns> columns;
  if (features) columns = columns_of(*features, *request.model, limits);
  document_reader reader(request, columns, limits);
  request.is_single = !queries;
  if (request.is_single) {
    reader.read_query(root, "", known, [](std::string_view) { return true; });
  } else {
    for (std::string_view const key : {"qid", "rows", "ids", "documents"})
      if (root.at_key(key).error() == simdjson::SUCCESS)
        throw problem(400, fmt::format("found queries and {}, expected one of them", key));
    std::size_t q = 0;
    for (element const query : as<array>(*queries, "an array of queries", "/queries"))
      reader.read_query(query, fmt::format("/queries/{}", q++), "qid, rows, ids, documents",
                        [](std::string_view) { return false; });
  }
  auto& ids = request.documents.ids;
  if (!ids.empty()) ids.resize(request.documents.size());
  if (request.documents.size() > 0) add_lacking(request, columns);
  if (document) request.document = find_document(*document, request, "/document");
  if (against) request.against = find_document(*against, request, "/against");
  return request;
}

search_request parse_search_request(std::string& body) {
  search_request request;
  for_members(parsed(body, body.size()), "", "query, model, top, explain",
              [&](std::string_view key, element const& value) {
                if (key == "query")
                  request.query = string_of(value, "/query");
                else if (key == "model")
                  request.model = string_of(value, "/model");
                else if (key == "top")
                  request.top = count_of(value, 1, "/top");
                else if (key == "explain")
                  request.explain = as<bool>(value, "true or false", "/explain");
                else
                  return false;
                return true;
              });
  if (request.query.empty()) throw problem(400, "found no query, expected words", {"/query"});
  return request;
}

namespace {

/// A tensor of the Open Inference Protocol.
struct tensor {
  std::string name, datatype;
  std::vector<std::size_t> shape;
  std::optional<element> data;
  std::optional<std::size_t> binary_bytes;
  std::string pointer;

  std::size_t size() const {
    std::size_t product = 1;
    for (std::size_t const n : shape) {
      if (n != 0 && product > std::numeric_limits<std::size_t>::max() / sizeof(double) / n)
        throw problem(400, "found a shape with too many elements", {pointer + "/shape"});
      product *= n;
    }
    return product;
  }
};

tensor read_tensor(element const& of, std::string pointer) {
  tensor read;
  read.pointer = std::move(pointer);
  for (auto const [key, value] : as<object>(of, "an object", read.pointer)) {
    if (key == "name") read.name = string_of(value, read.pointer + "/name");
    if (key == "datatype") read.datatype = string_of(value, read.pointer + "/datatype");
    if (key == "data") read.data = value;
    if (key == "shape")
      for (element const n : as<array>(value, "an array of sizes", read.pointer + "/shape"))
        read.shape.push_back(count_of(n, 0, read.pointer + "/shape"));
    if (key == "parameters") {
      element bytes;
      if (value.at_key("binary_data_size").get(bytes) == simdjson::SUCCESS)
        read.binary_bytes = count_of(bytes, 0, read.pointer + "/parameters/binary_data_size");
    }
  }
  return read;
}

/// Appends the numbers of nested arrays, which are at most two deep.
template <class Number>
void append_numbers(element const& of, std::string const& pointer, int depth,
                    std::vector<Number>& to) {
  for (element const one : as<array>(of, "an array of numbers", pointer)) {
    Number value{};
    if (one.is_array() && depth > 0)
      append_numbers(one, pointer, depth - 1, to);
    else if (one.get(value) == simdjson::SUCCESS)
      to.push_back(value);
    else if (std::is_floating_point_v<Number> && one.is_null())
      to.push_back(std::numeric_limits<Number>::quiet_NaN());
    else
      fail(one, "a number", {pointer});
  }
}

template <class Stored, class Number>
void append_stored(std::string_view bytes, std::vector<Number>& to) {
  static_assert(std::endian::native == std::endian::little);
  to.resize(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < to.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<Number>(value);
  }
}

/// The elements of a tensor. Takes binary data from the front of `binary`.
template <class Number>
std::vector<Number> elements_of(tensor const& of, std::string_view& binary) {
  constexpr bool is_real = std::is_floating_point_v<Number>;
  std::string_view const wide = is_real ? "FP64" : "INT64", narrow = is_real ? "FP32" : "INT32";
  if (of.datatype != wide && of.datatype != narrow)
    throw problem(400,
                  fmt::format("found datatype '{}', expected {} or {}", of.datatype, wide, narrow),
                  {of.pointer + "/datatype"});
  std::size_t const size = of.size();
  std::vector<Number> numbers;
  if (of.binary_bytes) {
    std::size_t const expected = size * (of.datatype == wide ? 8 : 4);
    if (*of.binary_bytes != expected || binary.size() < expected)
      throw problem(400,
                    fmt::format("found {} bytes of {}, expected {}",
                                std::min(*of.binary_bytes, binary.size()), of.name, expected),
                    {of.pointer});
    std::string_view const mine = binary.substr(0, expected);
    binary.remove_prefix(expected);
    if constexpr (is_real)
      of.datatype == wide ? append_stored<double>(mine, numbers)
                          : append_stored<float>(mine, numbers);
    else
      of.datatype == wide ? append_stored<std::int64_t>(mine, numbers)
                          : append_stored<std::int32_t>(mine, numbers);
    return numbers;
  }
  if (!of.data) throw problem(400, "found no data, expected some", {of.pointer});
  append_numbers(*of.data, of.pointer + "/data", 1, numbers);
  if (numbers.size() != size)
    throw problem(
        400,
        fmt::format("found {} elements, expected {}, those of the shape", numbers.size(), size),
        {of.pointer + "/data"});
  if constexpr (is_real)
    if (of.datatype == narrow)
      for (Number& one : numbers) one = static_cast<Number>(static_cast<float>(one));
  return numbers;
}

bool flag_of(element const& parameters, std::string_view name, bool otherwise) {
  bool value = otherwise;
  return parameters.at_key(name).get(value) == simdjson::SUCCESS ? value : otherwise;
}

/// The lists that have documents.
std::vector<std::size_t> checked_sizes(std::vector<std::int64_t> const& sizes, std::size_t rows) {
  problem const wrong(400, "found sizes of lists whose sum is not the number of documents",
                      {"/inputs"});
  std::vector<std::size_t> checked;
  std::size_t left = rows;
  for (std::int64_t const size : sizes) {
    if (size < 0 || static_cast<std::uint64_t>(size) > left) throw wrong;
    left -= static_cast<std::size_t>(size);
    if (size > 0) checked.push_back(static_cast<std::size_t>(size));
  }
  if (!sizes.empty() && left > 0) throw wrong;
  return checked;
}

/// Reads the elements of the inputs; `binary`: the bytes of all binary tensors.
void read_inputs(std::vector<tensor> const& inputs, std::string_view binary,
                 served_model const& model, request_limits const& limits, infer_request& request) {
  std::vector<std::int64_t> sizes;
  bool has_features = false;
  for (tensor const& input : inputs) {
    if (input.name == "features" && !has_features) {
      has_features = true;
      if (input.shape.size() != 2 || input.shape[1] != model.columns.count)
        throw problem(400,
                      fmt::format("found the shape [{}], expected [documents, {}]",
                                  fmt::join(input.shape, ", "), model.columns.count),
                      {input.pointer + "/shape"});
      request.rows = input.shape[0];
      if (input.size() > 0)
        expect_at_most(limits.documents, request.rows, "documents", input.pointer + "/shape");
      request.values = elements_of<double>(input, binary);
    } else if (input.name == "list_sizes" && sizes.empty()) {
      sizes = elements_of<std::int64_t>(input, binary);
    } else {
      throw problem(400,
                    fmt::format("found the input '{}', expected features and, for several queries, "
                                "list_sizes",
                                input.name),
                    {input.pointer});
    }
  }
  if (!has_features) throw problem(400, "found no input features, expected one", {"/inputs"});
  if (!binary.empty())
    throw problem(400, fmt::format("found {} bytes after the last tensor", binary.size()));
  request.list_sizes = checked_sizes(sizes, request.rows);
}

}  // namespace

infer_request parse_infer_request(std::string& body, std::optional<std::size_t> header_bytes,
                                  served_model const& model, request_limits const& limits) {
  if (header_bytes.value_or(0) > body.size())
    throw problem(400, fmt::format("found {} bytes, expected the {} of "
                                   "Inference-Header-Content-Length",
                                   body.size(), *header_bytes));
  element const root = parsed(body, header_bytes.value_or(body.size()));
  std::string_view const binary =
      header_bytes ? std::string_view(body).substr(*header_bytes) : std::string_view{};
  infer_request request;
  std::vector<tensor> inputs;
  for (auto const [key, value] : as<object>(root, "an object", "")) {
    if (key == "id") request.id = string_of(value, "/id");
    if (key == "parameters")
      request.binary_output = flag_of(value, "binary_data_output", request.binary_output);
    if (key == "inputs")
      for (element const one : as<array>(value, "an array of tensors", "/inputs"))
        inputs.push_back(read_tensor(one, fmt::format("/inputs/{}", inputs.size())));
    if (key == "outputs")
      for (element const one : as<array>(value, "an array of tensors", "/outputs")) {
        std::string_view name;
        if (one.at_key("name").get(name) != simdjson::SUCCESS || name != "scores")
          throw problem(400, "found a different output, expected scores", {"/outputs"});
        element parameters;
        if (one.at_key("parameters").get(parameters) == simdjson::SUCCESS)
          request.binary_output = flag_of(parameters, "binary_data", request.binary_output);
      }
  }
  read_inputs(inputs, binary, model, limits, request);
  return request;
}

}  // namespace rulerank::server
