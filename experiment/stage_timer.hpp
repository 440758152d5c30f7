#pragma once

#include "core/stopwatch.hpp"
#include "experiment/experiment.hpp"

#include <string_view>

namespace rulerank::inline v0::experiment {

/// Times a stage from construction to destruction.
class stage_timer {
 public:
  stage_timer(sinks const& out, std::string_view stage) : out_(out), stage_(stage) {}
  ~stage_timer() {
    if (out_.stage) out_.stage(stage_, seconds());
  }
  stage_timer(stage_timer const&) = delete;
  stage_timer& operator=(stage_timer const&) = delete;

  double seconds() const { return watch_.seconds(); }

 private:
  sinks const& out_;
  std::string_view stage_;
  stopwatch watch_;
};

}  // namespace rulerank::experiment
