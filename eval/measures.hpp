#pragma once

#include "eval/measure_definition.hpp"

// The kinds of measures, each defined in the file named after it.
namespace rulerank::inline v0::eval {

extern measure_definition const ndcg;               // ndcg.cpp
extern measure_definition const mean_ndcg;          // mean_ndcg.cpp
extern measure_definition const average_precision;  // average_precision.cpp
extern measure_definition const geometric_map;      // average_precision.cpp
extern measure_definition const precision;          // precision.cpp
extern measure_definition const r_precision;        // r_precision.cpp
extern measure_definition const recall;             // recall.cpp
extern measure_definition const success;            // success.cpp
extern measure_definition const bpref;              // bpref.cpp
extern measure_definition const reciprocal_rank;    // reciprocal_rank.cpp
extern measure_definition const err;                // err.cpp
extern measure_definition const rbp;                // rbp.cpp
extern measure_definition const pfound;             // pfound.cpp
extern measure_definition const kendall_tau;        // kendall_tau.cpp
extern measure_definition const judged;             // judged.cpp

}  // namespace rulerank::eval
