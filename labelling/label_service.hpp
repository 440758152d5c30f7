#pragma once

#include "labelling/label_team.hpp"
#include "labelling/question_view.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

// Labelling in a browser, without the sockets: from a request to a response.
namespace rulerank::inline v0::labelling {

struct http_request {
  std::string method;
  std::string target;
  std::map<std::string, std::string> fields;  ///< names in small letters
  std::string body;
};

struct http_response {
  int status = 200;
  std::string content_type;
  std::string body;
  std::string allow{};  ///< the methods that the path has, of a 405
};

/// Bytes that a request's body may have.
inline constexpr std::size_t most_body = 4096;

/// The fields that every response has, beside its type and length: nothing is kept, framed or
/// fetched from elsewhere.
std::vector<std::pair<std::string, std::string>> const& security_fields();

/// 32 hexadecimal digits, unlike those of any other run.
std::string new_token();

/// The page, and the requests that it makes:
///
///   GET /, /page.js, /page.css         the page, which has no secret in it; HEAD likewise
///   POST /next     {labeller}          the next document to label
///   POST /answer   {labeller, document, answer}   a label, or null to leave the document out;
///                                      shows the next document
///   POST /undo     {labeller}          takes the labeller's last answer back; shows its document
///   POST /show     {labeller, document}  a document that the labeller or the team has answered
///   POST /estimate {labeller}          what more labels would bring
///   POST /finish   {labeller}          ends the labelling with the answers given
///
/// Bodies are JSON. A POST must come from this page: its Host is one of `hosts`, its Origin that
/// host's, its type application/json, and `x-rulerank-token` has the run's token. Any number of
/// threads may hand in requests; they are answered one at a time, but for estimates: these are
/// computed while others are answered. One is computed at a time; who asks meanwhile gets the last.
class label_service {
 public:
  struct options {
    std::string token;
    std::vector<std::string> hosts;  ///< `localhost:8420`, small letters
    std::int32_t max_label = 4;
    std::vector<std::string> label_names{};  ///< of the labels 0, 1, ...; empty: none
    std::string guidelines{};                ///< what labels mean, for the labellers
    std::optional<std::size_t> goal{};       ///< documents that are to be labelled
    std::size_t documents = 0;               ///< of the pool
    std::string out;                         ///< the file that the result goes to, shown at the end
  };
  /// What more labels would bring behind these answers, as `al::labelling::look_ahead` says; called
  /// while other threads change the team's work.
  using estimator = std::function<al::outlook(std::vector<al::answer> answers)>;
  /// What is referred to outlives it.
  label_service(options how, label_team& team, question_views& views, estimator look_ahead);

  /// Never throws but `interrupted` and `std::bad_alloc`.
  http_response handle(http_request const& request);
  /// Whether somebody has ended the labelling.
  bool finished() const;

 private:
  struct call;
  http_response refuse(int status, std::string_view why) const;
  http_response post(http_request const& request);
  http_response page(std::string_view target) const;
  bool is_ours(http_request const& request) const;
  std::string next(std::string const& labeller);
  std::string shown(std::string const& labeller, std::size_t document);
  std::string estimate();

  options how_;
  label_team& team_;
  question_views& views_;
  estimator look_ahead_;
  bool finished_ = false;
  std::string last_estimate_;
  mutable std::mutex mutex_;  // of all but `look_ahead_`
  std::mutex estimating_;     // taken before `mutex_`
};

}  // namespace rulerank::labelling
