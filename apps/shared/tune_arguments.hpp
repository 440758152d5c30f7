#pragma once

#include "apps/shared/session.hpp"
#include "tuning/space.hpp"
#include "tuning/tuner.hpp"

#include <cstddef>
#include <string>

namespace rulerank::apps {

/// What tune, and experiment with --tune, try and how: --try-... --cross-fit --members
/// --search --rungs --keep --budget.
struct tune_arguments {
  std::string methods = "tube,width,frequency";
  std::string bins = "5,10,20";
  std::string rule_sizes = "3,4";
  std::string min_supports = "1,3";
  std::string min_confidences = "0.001,0.1";
  std::string support_weights = "0,-0.25,-0.5";
  std::string smoothings = "0,5,20";
  std::string feature_shares = "1";
  std::size_t cross_fit = 0;
  std::size_t members = 1;
  std::string search = "halving";
  std::size_t rungs = 3;
  std::size_t keep = 2;
  std::string budget = "none";

  void add_to(CLI::App& verb);
  /// Both throw `usage_error` for words that are not known and for values that make no sense.
  tuning::space space() const;
  tuning::search_options options() const;
};

/// A tuner's trials on disk: what an earlier run left is taken over, and a file that is whole at
/// any time is written every few seconds, at the end, and when the search is interrupted.
class trials_file {
 public:
  /// An empty path: no file. Throws `error` for a file of something else.
  trials_file(tuning::tuner& t, std::string path, std::string fingerprint);
  /// How many candidates an earlier run had tried.
  std::size_t found() const noexcept { return found_; }
  /// The search, with its trials kept. What ends it is thrown on after they are written.
  tuning::search_result search(context const& ctx, std::size_t measure,
                               tuning::search_options const& options);

 private:
  void write() const;

  tuning::tuner& tuner_;
  std::string path_;
  std::string fingerprint_;
  std::size_t found_ = 0;
};

}  // namespace rulerank::apps
