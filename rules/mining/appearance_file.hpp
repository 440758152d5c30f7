#pragma once

#include "core/context.hpp"
#include "rules/mining/association_rules.hpp"

#include <span>
#include <string>
#include <vector>

namespace rulerank::rules {

/// Reads where items may stand, in the form of Borgelt's programs: the first line says it of all
/// items that no other names, every other line names an item and, behind the last blank, says it of
/// that one. Words for it: antecedent, a, ante, body, b, in, i; consequent, c, cons, head, h, out,
/// o; both, ac, bh, inout, io, x; neither, none, neutral, n, -. Blank lines count for nothing.
/// Throws `error` for another word, and for an item named twice or not among `names`.
std::vector<appearance> read_appearances(context const& ctx, std::string const& path,
                                         std::span<std::string const> names);

}  // namespace rulerank::rules
