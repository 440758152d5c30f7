#include "l2r/model.hpp"

#include "core/error.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "datasets/json_text.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::l2r {

namespace {

constexpr std::string_view magic = "rulerank-model";
constexpr std::uint64_t header_line = 2;

void append_little_endian(std::string& to, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>(value >> shift & 0xff);
}

std::uint32_t little_endian(char const* from) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

/// What the header says about a feature column.
nlohmann::ordered_json column_json(datasets::binned_dataset const& data, std::size_t f) {
  return {{"feature", data.features[f]},
          {"bins", data.bins(f)},
          {"missing_item", static_cast<bool>(data.has_missing_item[f])}};
}

model parse(nlohmann::json const& header, std::string_view payload, std::string const& name) {
  auto fail = [&](std::string_view found) -> void { throw error({name, 1, 1}, found); };
  model m;
  m.discretizer = datasets::discretizer_from_json(header.at("discretizer"), name);
  nlohmann::json const& options = header.at("options");
  m.options.rule_size = options.at("rule_size").get<std::uint32_t>();
  m.options.thresholds.min_support = options.at("min_support").get<std::uint32_t>();
  m.options.thresholds.min_confidence = options.at("min_confidence").get<double>();
  m.options.support_weight = options.at("support_weight").get<double>();
  m.options.smoothing = options.at("smoothing").get<double>();
  m.options.feature_share = options.value("feature_share", 1.0);
  check(m.options);

  datasets::binned_dataset& t = m.training;
  t.documents = header.at("documents").get<std::size_t>();
  nlohmann::json const& columns = header.at("columns");
  if (t.documents > payload.size() ||
      columns.size() * t.documents + 4 * t.documents != payload.size())
    fail(fmt::format("{} bytes of codes and labels, expected {} columns of {} documents",
                     payload.size(), columns.size(), t.documents));
  t.stride = round_up(t.documents, alignment);
  t.codes.assign(columns.size() * t.stride, datasets::no_item);
  t.item_begin.push_back(0);
  for (std::size_t f = 0; f < columns.size(); ++f) {
    auto const bins = columns[f].at("bins").get<std::uint32_t>();
    t.features.push_back(columns[f].at("feature").get<std::uint32_t>());
    t.item_begin.push_back(t.item_begin.back() + bins);
    t.has_missing_item.push_back(columns[f].at("missing_item").get<bool>());
    if (bins > datasets::no_item || (f > 0 && t.features[f - 1] >= t.features[f]))
      fail(fmt::format("column {} is not possible", f));
    std::uint8_t* const codes = t.codes.data() + f * t.stride;
    std::memcpy(codes, payload.data() + f * t.documents, t.documents);
    for (std::size_t d = 0; d < t.documents; ++d)
      if (codes[d] >= bins && codes[d] != datasets::no_item)
        fail(fmt::format("bin {} of feature {}, expected less than {}", codes[d], t.features[f],
                         bins));
  }
  char const* const labels = payload.data() + columns.size() * t.documents;
  for (std::size_t d = 0; d < t.documents; ++d)
    t.labels.push_back(std::bit_cast<std::int32_t>(little_endian(labels + 4 * d)));
  t.max_label = header.at("max_label").get<std::int32_t>();
  return m;
}

}  // namespace

std::string to_bytes(model const& m) {
  datasets::binned_dataset const& t = m.training;
  nlohmann::ordered_json header;
  header["discretizer"] = datasets::to_json(m.discretizer);
  header["options"] = {{"rule_size", m.options.rule_size},
                       {"min_support", m.options.thresholds.min_support},
                       {"min_confidence", m.options.thresholds.min_confidence},
                       {"support_weight", m.options.support_weight},
                       {"smoothing", m.options.smoothing},
                       {"feature_share", m.options.feature_share}};
  header["documents"] = t.documents;
  header["max_label"] = t.max_label;
  header["columns"] = nlohmann::ordered_json::array();
  for (std::size_t f = 0; f < t.feature_count(); ++f)
    header["columns"].push_back(column_json(t, f));

  std::string body = header.dump() + "\n";
  for (std::size_t f = 0; f < t.feature_count(); ++f)
    body.append(reinterpret_cast<char const*>(t.column(f)), t.documents);
  for (std::int32_t label : t.labels) append_little_endian(body, static_cast<std::uint32_t>(label));
  return fmt::format("{} {} {}\n", magic, model_version, sha256_hex(body)) + body;
}

model model_from_bytes(std::string_view bytes, std::string const& name) {
  auto fail = [&](std::string_view found) -> void { throw error({name, 1, 1}, found); };
  std::size_t const line_end = bytes.substr(0, 256).find('\n');
  if (!bytes.starts_with(fmt::format("{} ", magic)) || line_end == bytes.npos)
    fail("not a model of rulerank, expected a file that `rulerank fit` wrote");
  std::string_view const line = bytes.substr(magic.size() + 1, line_end - magic.size() - 1);
  std::string_view const version = line.substr(0, line.find(' '));
  if (version != fmt::format("{}", model_version))
    fail(fmt::format("a model of version {}, expected {}", version, model_version));
  std::string_view const body = bytes.substr(line_end + 1);
  if (line.substr(std::min(version.size() + 1, line.size())) != sha256_hex(body))
    fail(
        "a model that is damaged or cut short: its bytes do not have the checksum of its first "
        "line");
  std::size_t const header_end = body.find('\n');
  if (header_end == body.npos) fail("a model without a header");
  try {
    return parse(
        datasets::parse_json(body.substr(0, header_end), name, "a model's header", header_line),
        body.substr(header_end + 1), name);
  } catch (nlohmann::json::exception const& e) {
    fail(fmt::format("a model with a header that is not understood: {}", e.what()));
  } catch (usage_error const& e) {
    fail(fmt::format("a model with options that are not understood: {}", e.what()));
  }
  throw error({name, 1, 1}, "a model that is not understood");
}

void write_model(model const& m, std::string const& path) {
  write_file(path, to_bytes(m));
}

model read_model(std::string const& path) {
  if (std::filesystem::is_directory(path)) throw error({path}, "a folder, expected a model");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw error({path}, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string const bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw error({path}, "cannot be read to its end");
  return model_from_bytes(bytes, path);
}

}  // namespace rulerank::l2r
