#pragma once

#include "datasets/dataset.hpp"
#include "server/ranking/model_store.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rulerank::inline v0::server {

/// The documents of a query.
struct requested_list {
  std::string qid;
  std::size_t begin = 0, end = 0;  ///< in rank_request::documents
  std::string pointer;             ///< of the query's documents in the JSON
};

/// The document of a query that a request names.
using named_document = std::optional<std::size_t>;

/// The body of POST /rank and /explain.
struct rank_request {
  model_pointer model;
  bool is_single = false;  ///< one query without the list `queries`
  std::vector<requested_list> lists;
  /// The documents of all lists that are not empty. Ids are views of the parser's memory, which the
  /// next request of the thread replaces.
  datasets::dataset documents;
  std::optional<std::size_t> top;
  bool explain = false;
  named_document document, against;
  /// Names of the features that change a score and that no document lists.
  std::vector<std::string> lacking;
};

/// Limits of one request.
struct request_limits {
  std::size_t documents = 100'000;  ///< of all queries together
  std::size_t features = 100'000;   ///< of a document
};

/// Parses a body, which may be changed. `find`: the model by its name, empty if the body names
/// none. Throws `problem`, with the status 413 beyond a limit.
rank_request parse_rank_request(std::string& body,
                                std::function<model_pointer(std::string_view)> const& find,
                                request_limits const& limits = {});

/// The body of POST /search.
struct search_request {
  std::string model, query;
  std::optional<std::size_t> top;
  bool explain = false;
};
search_request parse_search_request(std::string& body);

/// A request and a response of the Open Inference Protocol.
struct infer_request {
  std::string id;
  std::vector<std::size_t> list_sizes;  ///< not 0
  std::vector<double> values;           ///< [rows][columns] row by row
  std::size_t rows = 0;
  bool binary_output = false;
};
/// `header_bytes`: bytes of the JSON in front of the binary tensors; nothing: all. Throws
/// `problem`, with the status 413 beyond a limit.
infer_request parse_infer_request(std::string& body, std::optional<std::size_t> header_bytes,
                                  served_model const& model, request_limits const& limits = {});

}  // namespace rulerank::server
