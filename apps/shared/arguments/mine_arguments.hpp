#pragma once

#include "apps/shared/arguments/arguments.hpp"
#include "datasets/transactions.hpp"
#include "rules/mining/miner.hpp"
#include "rules/mining/writer.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace rulerank::inline v0::apps {

/// The parsed request, validated before anything is read.
struct mine_request {
  rules::support_bound bound;
  rules::mining_options mining;
  double min_confidence = 0;
  rules::writer_options writing;
  datasets::basket_options baskets;
};

/// Options of the transactions and of mining: --transactions --form --separator --comments
/// --skip-lines, or --train with its reading and discretizing; --min-support --min-size --max-size
/// --kind --out --format --engine, and the group of --rules.
struct mine_arguments {
  std::string transactions;
  std::string form = "fimi";
  std::string separator;
  std::string comments;
  std::optional<std::size_t> skip_lines;
  std::string train;
  reading_arguments reading;
  discretizer_arguments discretizer;
  std::string out = "-";
  std::string min_support;
  std::uint32_t min_size = 1;
  std::uint32_t max_size = 0;
  std::string kind = "all";
  bool rules = false;
  std::string min_confidence = "80%";
  std::uint32_t max_consequent = 0;
  std::string appear;
  std::optional<double> max_p;
  std::string measures;
  std::string format = "borgelt";
  std::string engine = "auto";

  void add_to(CLI::App& verb);
  /// Throws `usage_error` for conflicting options and unknown keywords.
  mine_request request() const;
};

}  // namespace rulerank::apps
