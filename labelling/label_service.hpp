#pragma once

#include "labelling/label_team.hpp"
#include "labelling/question_view.hpp"
#include "server/http.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

// The requests and responses of labelling in a browser, without sockets.
namespace rulerank::inline v0::labelling {

using server::http_request;
using server::http_response;

/// Maximum size of a request's body in bytes.
inline constexpr std::size_t most_body = 4096;

/// A random token of 32 hexadecimal digits.
std::string new_token();

/// The page, and the requests that it makes:
///
///   GET /, /page.js, /page.css         the page, which contains no secret; also HEAD
///   POST /next     {labeller}          the next document to label
///   POST /answer   {labeller, document, answer, note}
///                                      a label, or null to exclude the document, with an optional
///                                      note; responds with the next document
///   POST /undo     {labeller, document}
///                                      withdraws the labeller's last answer or, with a document,
///                                      all their answers back to that about it; responds with the
///                                      document of the earliest
///   POST /mine     {labeller}          the labeller's answers, most recent first
///   POST /show     {labeller, document}
///                                      a document that the labeller or the team has answered
///   POST /estimate {labeller}          the estimated benefit of more labels
///   POST /finish   {labeller}          ends the labelling with the answers given
///
/// Bodies are JSON. A POST must come from this page: Host is one of `hosts`, Origin is that host's,
/// the type is application/json, and `x-rulerank-token` is the run's token. Thread-safe: requests
/// are answered one at a time, except that estimates are computed while other requests are
/// answered. One estimate is computed at a time; concurrent requests receive the previous estimate.
class label_service {
 public:
  struct options {
    std::string token;
    std::vector<std::string> hosts;  ///< such as `localhost:8420`, in lower case
    std::int32_t max_label = 4;
    std::vector<std::string> label_names{};  ///< of the labels 0, 1, ...; empty: none
    std::string guidelines{};                ///< the meaning of the labels, for labellers
    std::optional<std::size_t> goal{};       ///< number of documents to label
    std::size_t documents = 0;               ///< in the pool
    std::string out;                         ///< path of the result, shown at the end
  };
  /// Estimates the benefit of labels beyond these answers, as `al::labelling::look_ahead` does;
  /// called while other threads change the team's work.
  using estimator = std::function<al::outlook(std::vector<al::answer> answers)>;
  /// Keeps references to `team` and `views`.
  label_service(options how, label_team& team, question_views& views, estimator look_ahead);

  /// Throws only `interrupted` and `std::bad_alloc`.
  http_response handle(http_request const& request);
  /// Calls `work` while no request changes or reads the team and its views. Other threads may call
  /// it.
  void exclusively(std::function<void()> const& work) const;
  /// Whether a labeller has ended the labelling.
  bool finished() const;

 private:
  struct call;
  http_response refuse(int status, std::string_view why) const;
  http_response post(http_request const& request);
  http_response page(std::string_view target) const;
  bool is_ours(http_request const& request) const;
  std::string next(std::string const& labeller);
  std::string shown(std::string const& labeller, std::size_t document);
  std::string mine(std::string const& labeller) const;
  std::string estimate();

  options how_;
  label_team& team_;
  question_views& views_;
  estimator look_ahead_;
  bool finished_ = false;
  std::string last_estimate_;
  mutable std::mutex mutex_;  // guards everything but `look_ahead_`
  std::mutex estimating_;     // locked before `mutex_`
};

}  // namespace rulerank::labelling
