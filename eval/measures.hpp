#pragma once

#include "eval/measure.hpp"

// The kinds of measures, each defined in the file of its name.
namespace rulerank::inline v0::eval {

extern measure_kind const ndcg;               // ndcg.cpp
extern measure_kind const mean_ndcg;          // mean_ndcg.cpp
extern measure_kind const average_precision;  // average_precision.cpp
extern measure_kind const geometric_map;      // average_precision.cpp
extern measure_kind const precision;          // precision.cpp
extern measure_kind const r_precision;        // r_precision.cpp
extern measure_kind const recall;             // recall.cpp
extern measure_kind const success;            // success.cpp
extern measure_kind const bpref;              // bpref.cpp
extern measure_kind const reciprocal_rank;    // reciprocal_rank.cpp
extern measure_kind const err;                // err.cpp
extern measure_kind const rbp;                // rbp.cpp
extern measure_kind const pfound;             // pfound.cpp
extern measure_kind const kendall_tau;        // kendall_tau.cpp
extern measure_kind const judged;             // judged.cpp

}  // namespace rulerank::eval
