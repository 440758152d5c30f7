#pragma once

#include "experiment/experiment.hpp"

#include <chrono>
#include <string_view>

namespace rulerank::experiment {

/// Times a stage until it is destroyed.
class stage_timer {
 public:
  stage_timer(sinks const& out, std::string_view stage) : out_(out), stage_(stage) {}
  ~stage_timer() {
    if (out_.stage) out_.stage(stage_, seconds());
  }
  stage_timer(stage_timer const&) = delete;
  stage_timer& operator=(stage_timer const&) = delete;

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  sinks const& out_;
  std::string_view stage_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace rulerank::experiment
