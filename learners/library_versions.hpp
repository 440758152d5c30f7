#pragma once

#include <string>

// The learners' libraries with their versions; empty if this build lacks the library.
namespace rulerank::inline v0::learners {

std::string liblinear_version();  // ranksvm.cpp
std::string xgboost_version();    // boosted.cpp

}  // namespace rulerank::learners
