#pragma once

#include "l2r/explain/explanation.hpp"

#include <boost/multiprecision/cpp_int.hpp>

namespace rulerank::inline v0::l2r {

/// The integer type of exact_integer's arithmetic; private to this module.
using wide_integer = boost::multiprecision::int512_t;

wide_integer wide(exact_integer const& of);
exact_integer exact(wide_integer const& of);

}  // namespace rulerank::l2r
