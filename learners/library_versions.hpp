#pragma once

#include <string>

// The libraries of members with their versions; empty where this build has not the library.
namespace rulerank::inline v0::learners {

std::string liblinear_version();  // ranksvm.cpp
std::string xgboost_version();    // boosted.cpp

}  // namespace rulerank::learners
