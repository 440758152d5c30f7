#include "l2r/model/model.hpp"

#include "core/error.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/sha256.hpp"
#include "datasets/discretizer/discretizer_json.hpp"
#include "datasets/input/text_source.hpp"
#include "l2r/model/feature_descriptions.hpp"
#include "l2r/model/json_fields.hpp"
#include "l2r/model/member_kind.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::l2r {

namespace {

constexpr std::string_view magic = "rulerank-model";
constexpr std::uint64_t header_line = 2;
constexpr int version_of_rules_alone = 2;
constexpr auto largest_label = std::numeric_limits<std::int32_t>::max();

void append_little_endian(std::string& to, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>(value >> shift & 0xff);
}

std::uint32_t little_endian(char const* from) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

/// The header's entry for training documents.
nlohmann::ordered_json header_of(datasets::binned_dataset const& t) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (std::size_t f = 0; f < t.feature_count(); ++f)
    columns.push_back({{"feature", t.features[f]},
                       {"bins", t.bins(f)},
                       {"missing_item", static_cast<bool>(t.has_missing_item[f])}});
  return {{"documents", t.documents}, {"max_label", t.max_label}, {"columns", std::move(columns)}};
}

void append_bytes(std::string& to, datasets::binned_dataset const& t) {
  for (std::size_t f = 0; f < t.feature_count(); ++f)
    to.append(reinterpret_cast<char const*>(t.column(f)), t.documents);
  for (std::int32_t label : t.labels) append_little_endian(to, static_cast<std::uint32_t>(label));
}

/// Reads the binary part of a model file sequentially.
class binary_part {
 public:
  binary_part(std::string_view bytes, std::string name) : left_(bytes), name_(std::move(name)) {}

  std::string_view take(std::uint64_t count) {
    if (count > left_.size())
      throw error({name_, 1, 1}, fmt::format("found {} of codes and labels, expected {}",
                                             counted(left_.size(), "byte"), count));
    std::string_view const taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  void expect_end() const {
    if (!left_.empty())
      throw error({name_, 1, 1},
                  fmt::format("found {} after the last documents, expected the end of the file",
                              counted(left_.size(), "byte")));
  }

 private:
  std::string_view left_;
  std::string name_;
};

/// Reads feature f's column of `t`; earlier columns are already in `t`.
void read_column(datasets::binned_dataset& t, std::size_t f, json_fields const& header,
                 binary_part& bytes) {
  t.features.push_back(static_cast<std::uint32_t>(header.integer("feature", 0, largest_label)));
  if (f > 0 && t.features[f - 1] >= t.features[f])
    header.fail("feature", fmt::format("found {} after {}, expected ascending numbers",
                                       t.features[f], t.features[f - 1]));
  auto const bins = static_cast<std::uint32_t>(header.integer("bins", 1, datasets::no_item));
  t.item_begin.push_back(t.item_begin.back() + bins);
  t.has_missing_item.push_back(header.boolean("missing_item"));
  std::uint8_t* const codes = t.codes.data() + f * t.stride;
  std::string_view const column = bytes.take(t.documents);
  std::copy(column.begin(), column.end(), reinterpret_cast<char*>(codes));
  for (std::size_t d = 0; d < t.documents; ++d)
    if (codes[d] >= bins && codes[d] != datasets::no_item)
      header.fail({}, fmt::format("found bin {} of feature {}, expected less than {}", codes[d],
                                  t.features[f], bins));
}

datasets::binned_dataset read_training(json_fields const& header, binary_part& bytes) {
  datasets::binned_dataset t;
  t.documents = header.integer("documents", 1, std::numeric_limits<std::uint32_t>::max());
  t.max_label = static_cast<std::int32_t>(header.integer("max_label", 0, largest_label));
  nlohmann::ordered_json const& columns = header.list("columns");
  // Checks the size before allocating; the columns are cut from `codes`.
  std::string_view const codes = bytes.take(columns.size() * t.documents);
  std::string_view const labels = bytes.take(4 * t.documents);
  binary_part column_bytes(codes, header.name());
  t.stride = round_up(t.documents, alignment);
  t.codes.assign(columns.size() * t.stride, datasets::no_item);
  t.item_begin.push_back(0);
  for (std::size_t f = 0; f < columns.size(); ++f)
    read_column(
        t, f,
        json_fields(columns[f], header.name(), fmt::format("{}columns[{}].", header.prefix(), f)),
        column_bytes);
  for (std::size_t d = 0; d < t.documents; ++d) {
    auto const label = std::bit_cast<std::int32_t>(little_endian(labels.data() + 4 * d));
    if (label < 0 || label > t.max_label)
      header.fail({}, fmt::format("found label {} of document {}, expected 0 to {}", label, d,
                                  t.max_label));
    t.labels.push_back(label);
  }
  return t;
}

/// `version`: of the model file.
model_member read_member(json_fields const& header, stored_parts const& parts, int version) {
  std::string const& name = header.word("kind");
  std::string known;
  for (member_kind const& kind : member_kinds()) {
    if (version == version_of_rules_alone && &kind != &member_kinds().front()) break;
    if (kind.name == name) return kind.read(header, parts);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.name);
  }
  header.fail("kind", fmt::format("found an unknown kind, expected one of {}", known));
}

/// Reads the numbers of `list_normalized`.
std::vector<std::uint32_t> features_from_json(json_fields const& header) {
  std::vector<std::uint32_t> all;
  for (nlohmann::ordered_json const& one : header.list("list_normalized")) {
    if (!one.is_number_unsigned() || one.get<std::uint64_t>() > largest_label ||
        (!all.empty() && one.get<std::uint32_t>() <= all.back()))
      header.fail("list_normalized",
                  fmt::format("found {}, expected ascending numbers of features", one.dump()));
    all.push_back(one.get<std::uint32_t>());
  }
  return all;
}

model parse(nlohmann::ordered_json const& json, std::string_view payload, std::string const& name,
            int version) {
  json_fields const header(json, name);
  auto const prefix_of = [](std::string_view list, std::size_t i) {
    return fmt::format("{}[{}].", list, i);
  };
  stored_parts parts;
  for (nlohmann::ordered_json const& cuts : header.list("cuts"))
    parts.cuts.push_back(std::make_shared<datasets::discretizer const>(
        datasets::discretizer_from_json(nlohmann::json(cuts), name)));
  binary_part bytes(payload, name);
  nlohmann::ordered_json const& training = header.list("training");
  for (std::size_t i = 0; i < training.size(); ++i)
    parts.training.push_back(std::make_shared<datasets::binned_dataset const>(
        read_training(json_fields(training[i], name, prefix_of("training", i)), bytes)));
  bytes.expect_end();
  model m;
  nlohmann::ordered_json const& members = header.list("members");
  for (std::size_t i = 0; i < members.size(); ++i)
    m.members.push_back(
        read_member(json_fields(members[i], name, prefix_of("members", i)), parts, version));
  if (m.members.empty()) header.fail("members", "found none, expected one or more");
  if (header.has("columns"))
    m.columns = static_cast<std::uint32_t>(
        header.integer("columns", 1, std::numeric_limits<std::int32_t>::max()));
  if (header.has("features")) m.descriptions = feature_descriptions_from_json(header);
  if (header.has("list_normalized")) m.list_normalized = features_from_json(header);
  return m;
}

/// Throws for versions that this program does not read.
int version_from(std::string_view version, std::string const& name) {
  for (int const known : {version_of_rules_alone, model_version})
    if (version == fmt::format("{}", known)) return known;
  bool const earlier = version == "1";
  throw error(
      {name, 1, 1},
      fmt::format("found a model of version {}, expected {}{}", version, model_version,
                  earlier ? "; an earlier rulerank wrote it, so run `rulerank fit` again" : ""));
}

}  // namespace

std::shared_ptr<datasets::discretizer const> const& cuts_of(model_member const& of) {
  return std::visit(
      []<class Member>(Member const& member) -> cuts_pointer const& {
        if constexpr (requires { member.cuts; }) {
          return member.cuts;
        } else {
          static cuts_pointer const none;
          return none;
        }
      },
      of);
}

datasets::feature_names const& names_of(model const& of) {
  static datasets::feature_names const none;
  model_member const& first = of.members.front();
  if (auto const* const linear = std::get_if<linear_member>(&first)) return linear->weights.names;
  cuts_pointer const& cuts = cuts_of(first);
  return cuts != nullptr ? cuts->names : none;
}

model fit(context const& ctx, datasets::dataset const& train, std::span<recipe const> recipes) {
  if (recipes.empty()) throw usage_error("found nothing to fit, expected one recipe or more");
  std::vector<std::size_t> const labelled = datasets::labelled_documents(train, "learn from");
  fitting from{train, labelled, datasets::subset_queries(train, labelled), {}};
  model m;
  for (recipe const& how : recipes)
    m.members.push_back(member_kinds()[how.index()].fit(ctx, from, how));
  return m;
}

std::string to_bytes(model const& m) {
  if (m.members.empty()) throw usage_error("found a model without members, expected one or more");
  stored_parts parts;
  nlohmann::ordered_json members = nlohmann::ordered_json::array();
  for (model_member const& one : m.members) {
    member_kind const& kind = member_kinds()[one.index()];
    nlohmann::ordered_json& entry = members.emplace_back();
    entry["kind"] = kind.name;
    entry.update(kind.write(one, parts));
  }
  nlohmann::ordered_json header;
  header["cuts"] = nlohmann::ordered_json::array();
  for (cuts_pointer const& cuts : parts.cuts)
    header["cuts"].push_back(nlohmann::ordered_json(datasets::to_json(*cuts)));
  header["training"] = nlohmann::ordered_json::array();
  for (items_pointer const& t : parts.training) header["training"].push_back(header_of(*t));
  header["members"] = std::move(members);
  if (m.columns != 0) header["columns"] = m.columns;
  if (!m.descriptions.empty()) header["features"] = to_json(m.descriptions);
  if (!m.list_normalized.empty()) header["list_normalized"] = m.list_normalized;
  std::string body = header.dump() + "\n";
  for (items_pointer const& t : parts.training) append_bytes(body, *t);
  return fmt::format("{} {} {}\n", magic, model_version, sha256_hex(body)) + body;
}

model model_from_bytes(std::string_view bytes, std::string const& name) {
  auto fail = [&](std::string_view found) -> void { throw error({name, 1, 1}, found); };
  std::size_t const line_end = bytes.substr(0, 256).find('\n');
  if (!bytes.starts_with(fmt::format("{} ", magic)) || line_end == bytes.npos)
    fail("not a model of rulerank, expected a file that `rulerank fit` wrote");
  std::string_view const line = bytes.substr(magic.size() + 1, line_end - magic.size() - 1);
  std::string_view const version = line.substr(0, line.find(' '));
  int const known_version = version_from(version, name);
  std::string_view const body = bytes.substr(line_end + 1);
  if (line.substr(std::min(version.size() + 1, line.size())) != sha256_hex(body))
    fail("this model is damaged or cut short: its checksum does not match");
  std::size_t const header_end = body.find('\n');
  if (header_end == body.npos) fail("found a model without a header, expected one");
  return parse(
      parse_ordered_json(body.substr(0, header_end), name, "a model's header", header_line),
      body.substr(header_end + 1), name, known_version);
}

void write_model(model const& m, std::string const& path) {
  write_file(path, to_bytes(m));
}

model read_model(std::string const& path) {
  return model_from_bytes(datasets::read_file(path, "a model"), path);
}

}  // namespace rulerank::l2r
