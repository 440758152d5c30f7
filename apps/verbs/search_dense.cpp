#include "apps/shared/device_rule.hpp"
#include "apps/shared/neighbour_output.hpp"
#include "apps/shared/over_ranks.hpp"
#include "apps/shared/text_arguments.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/even_shares.hpp"
#include "core/json_text.hpp"
#include "core/memory_gate.hpp"
#include "core/output_file.hpp"
#include "core/process_group.hpp"
#include "core/sha256.hpp"
#include "datasets/fields.hpp"
#include "datasets/text_source.hpp"
#include "datasets/vectors.hpp"
#include "knn/dense/search.hpp"
#include "mpi/collection_split.hpp"
#include "mpi/index_parts.hpp"
#include "mpi/split.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rulerank::apps {
namespace {

struct search_dense_arguments : neighbour_paths {
  std::string collection;
  std::string collection_format = "auto";
  std::string index;
  std::string queries;
  std::string queries_format = "auto";
  std::string filter;
  std::string ids;
  std::string query_ids;
  std::string labels;
  std::string query_labels;
  std::string values;
  std::string metric = "l2";
  std::string engine = "auto";
  std::string votes;
  std::string classes;
  std::optional<double> radius;
  std::size_t k = 30;
  bool verify = false;
  over_ranks_argument over_ranks;
};

/// Whether a name ends with one of these, in letters of either case.
bool ends_with_any(std::string name, std::initializer_list<std::string_view> ends) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}
/// Whether --out has numbers of rows, in a format that holds them, and not lines.
bool is_matrix_name(std::string const& name) {
  return ends_with_any(name, {".ivecs", ".ibin", ".npy"});
}
/// Whether a name says a format of vectors, compressed or not.
bool is_vectors_name(std::string name) {
  for (std::string_view const end : {".gz", ".zst"})
    if (ends_with_any(name, {end})) name.resize(name.size() - end.size());
  for (datasets::named_vectors_format const& one : datasets::vectors_formats())
    if (one.which != datasets::vectors_format::automatic &&
        ends_with_any(name, {fmt::format(".{}", one.name)}))
      return true;
  return false;
}

/// What is there to do: rows, or an index that was made; queries, or an index to make.
void check_sources(search_dense_arguments const& arguments, CLI::App const& verb) {
  if (arguments.collection.empty() && arguments.index.empty())
    throw usage_error("no rows, expected --collection or --index");
  if (arguments.queries.empty() && arguments.index.empty())
    throw usage_error("nothing to do, expected --queries, or --index to write the index to");
  if (arguments.verify && (arguments.index.empty() || !arguments.collection.empty()))
    throw usage_error("--verify: expected --index without --collection, an index that was made");
  if (arguments.queries.empty() && arguments.collection.empty() && !arguments.verify)
    throw usage_error("nothing to do, expected --queries, or --collection to index, or --verify");
  if (arguments.collection.empty() && verb.count("--metric") > 0)
    throw usage_error(
        "--metric beside --index without --collection: the index has been made, and has its own");
  if (arguments.index == "-")
    throw usage_error("--index: found -, expected a file, which is mapped and not read");
  if (!arguments.queries.empty()) return;
  if (arguments.collection.empty() && !arguments.ids.empty())
    throw usage_error("--ids without --queries");
  for (char const* const name : {"--out", "--values", "--run", "--tag", "--query-ids", "--votes",
                                 "--k", "--radius", "--filter", "--engine"})
    if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --queries", name));
}

/// What the names of inputs and outputs say, or do not.
void check_names(search_dense_arguments const& arguments, CLI::App const& verb) {
  for (auto const& [name, path, format] :
       {std::tuple{"--collection", &arguments.collection, &arguments.collection_format},
        std::tuple{"--queries", &arguments.queries, &arguments.queries_format}}) {
    if (path->empty() && *format != "auto")
      throw usage_error(fmt::format("{}-format without {}", name, name));
    if (*path == "-" && *format == "auto")
      throw usage_error(fmt::format(
          "{} -: standard input has no name that says its format, expected {}-format", name, name));
  }
  if (is_vectors_name(arguments.out) && !is_matrix_name(arguments.out))
    throw usage_error(
        fmt::format("--out {}: found a name of vectors, expected one in .ivecs, .ibin or .npy, "
                    "which hold numbers of rows and are written as they are, or another for lines",
                    arguments.out));
  if (!arguments.values.empty() && !ends_with_any(arguments.values, {".fvecs", ".fbin", ".npy"}))
    throw usage_error(
        fmt::format("--values {}: expected a name in .fvecs, .fbin or .npy", arguments.values));
  if (verb.count("--tag") > 0 && arguments.run.empty())
    throw usage_error("--tag without --run, whose last column it is");
  if (!is_matrix_name(arguments.out) || !arguments.run.empty()) return;
  // The rows' ids are also for --filter, and kept with an index.
  bool const uses_ids = !arguments.filter.empty() || !arguments.index.empty();
  if (!arguments.query_ids.empty() || (!arguments.ids.empty() && !uses_ids))
    throw usage_error(
        fmt::format("{} beside --out {}, which has numbers; expected lines, or --run beside it",
                    arguments.query_ids.empty() ? "--ids" : "--query-ids", arguments.out));
}

void check_usage(search_dense_arguments const& arguments, CLI::App const& verb) {
  check_sources(arguments, verb);
  check_names(arguments, verb);
  bool const in_rows = is_matrix_name(arguments.out);
  if (arguments.radius)
    for (char const* const name : {"--k", "--values", "--votes"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} beside --radius", name));
  if (arguments.radius && in_rows)
    throw usage_error(
        fmt::format("--out {} beside --radius: queries have different numbers of "
                    "neighbours, expected lines",
                    arguments.out));
  if (!arguments.values.empty() && !in_rows)
    throw usage_error("--values: expected --out with a name in .ivecs, .ibin or .npy beside it");
  if (arguments.votes.empty())
    for (char const* const name : {"--labels", "--query-labels", "--classes"})
      if (verb.count(name) > 0) throw usage_error(fmt::format("{} without --votes", name));
  if (!arguments.votes.empty() && arguments.labels.empty())
    throw usage_error("--votes without --labels");
}

/// Names inputs and outputs before any is read or written.
void name_files(session& owner, search_dense_arguments const& arguments, std::string const& part) {
  std::vector<session::named_input> const inputs{{"--collection", arguments.collection},
                                                 {"--queries", arguments.queries},
                                                 {"--filter", arguments.filter},
                                                 {"--ids", arguments.ids},
                                                 {"--query-ids", arguments.query_ids},
                                                 {"--labels", arguments.labels},
                                                 {"--query-labels", arguments.query_labels}};
  owner.inputs(inputs);
  std::vector<session::named_output> outputs;
  if (!arguments.queries.empty())
    outputs = {{"--out", arguments.out},
               {"--values", arguments.values},
               {"--run", arguments.run},
               {"--classes", arguments.classes}};
  if (!arguments.collection.empty()) {
    outputs.push_back({"--index", arguments.index});
    outputs.push_back({"--index", part});
  }
  owner.outputs(outputs);
  for (session::named_input const& input : inputs) owner.input(input.path);
  expect_outside(owner, inputs, outputs);
  if (arguments.collection.empty()) owner.index(arguments.index);
}

std::vector<std::string> names_of_formats() {
  std::vector<std::string> names;
  for (datasets::named_vectors_format const& one : datasets::vectors_formats())
    names.emplace_back(one.name);
  return names;
}

/// The format of one of these names.
datasets::vectors_format format_named(std::string_view name) {
  auto const known = datasets::vectors_formats();
  return std::find_if(known.begin(), known.end(), [&](auto const& one) { return one.name == name; })
      ->which;
}

/// Throws `usage_error` where rows have numbers that the values of --out, int32, do not hold.
void expect_numbers_fit(search_dense_arguments const& arguments, std::size_t rows) {
  constexpr std::size_t most = std::size_t{1} << 31;
  if (is_matrix_name(arguments.out) && rows > most)
    throw usage_error(
        fmt::format("--out {}: found {}, expected no more than {}, whose numbers are int32; a name "
                    "that says no vectors has lines",
                    arguments.out, counted(rows, "row"), most));
}

/// Ids of rows, a line each.
struct id_list {
  std::string bytes;
  std::vector<std::uint64_t> begin{0};

  bool empty() const { return bytes.empty(); }
  knn::string_table table() const { return {bytes, begin}; }
  /// Of the row, its number where there are no ids.
  std::string of(std::size_t row) const {
    return empty() ? std::to_string(row) : std::string(table()[row]);
  }
};

/// An index of rows that follow each other.
struct dense_part {
  std::size_t first = 0;
  knn::dense_index index;
};

/// The rows that are searched: all of them in one index, or in parts.
struct searched_rows {
  std::vector<dense_part> parts;  ///< of this rank
  std::size_t rows = 0;           ///< of all ranks
  bool is_split = false;          ///< other ranks have the other parts
  bool has_ids = false;           ///< rows have labels of their own in the index

  bool is_whole() const { return !is_split && parts.size() == 1; }
  std::size_t size() const { return rows; }
  /// Where the row is here: its label.
  std::optional<std::int64_t> id_of(std::uint32_t row) const {
    for (dense_part const& part : parts)
      if (row >= part.first && row - part.first < part.index.size())
        return part.index.has_ids() ? part.index.id_of(static_cast<std::uint32_t>(row - part.first))
                                    : std::int64_t{row};
    return std::nullopt;
  }
};

/// What rows are called: by --ids, else by the index's own ids, else by their numbers.
class row_names {
 public:
  row_names(id_list given, searched_rows const& rows) : given_(std::move(given)), rows_(&rows) {}

  std::size_t size() const { return rows_->size(); }
  bool are_numbers() const { return given_.empty() && !rows_->has_ids; }
  std::string of(std::uint32_t row) const {
    if (!given_.empty()) return given_.of(row);
    if (are_numbers()) return std::to_string(row);
    if (!rows_->is_split) return std::to_string(*rows_->id_of(row));
    return learned_.at(row);
  }
  /// Of rows that were found: asks the ranks that have them. All ranks call it together.
  void learn(mpi::communicator const& ranks, std::span<std::uint32_t const> found) {
    if (!rows_->is_split || !given_.empty() || are_numbers()) return;
    auto const names = mpi::names_of(ranks, found, [&](std::uint32_t row) {
      auto const id = rows_->id_of(row);
      return id ? std::make_optional(std::to_string(*id)) : std::nullopt;
    });
    learned_.clear();
    for (std::size_t i = 0; i < found.size(); ++i) learned_[found[i]] = names[i];
  }

 private:
  id_list given_;
  searched_rows const* rows_;
  std::map<std::uint32_t, std::string> learned_;
};

id_list read_ids(session& owner, std::string const& path, std::size_t expected,
                 std::string_view what) {
  id_list ids;
  if (path.empty()) return ids;
  auto const text = datasets::open_text(owner.ctx(), path);
  std::string const name = datasets::display_name(path);
  datasets::for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t number) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) throw error({name, number, 0}, "found an empty line, expected an id");
    ids.bytes += line;
    ids.begin.push_back(ids.bytes.size());
  });
  datasets::expect_unchanged(*text, name);
  std::size_t const found = ids.begin.size() - 1;
  if (found != expected)
    throw error({name, std::min(found, expected) + 1, 0},
                fmt::format("found {}, expected one for each of {} {}", counted(found, "id"),
                            expected, what));
  return ids;
}

/// Ids as an index keeps them.
std::vector<std::int64_t> numbers_of(id_list const& ids, std::string const& path) {
  std::size_t const count = ids.begin.size() - 1;
  std::vector<std::int64_t> numbers(count);
  for (std::size_t row = 0; row < count; ++row) {
    std::string_view const id = ids.table()[row];
    auto const [at, wrong] = std::from_chars(id.data(), id.data() + id.size(), numbers[row]);
    if (wrong != std::errc() || at != id.data() + id.size() || std::to_string(numbers[row]) != id)
      throw error({datasets::display_name(path), row + 1, 1},
                  fmt::format("found the id {}, expected a whole number of 64 bits, as an index "
                              "keeps it; an index of rows with other ids is made without --ids "
                              "and searched with them",
                              rulerank::quoted(id)));
  }
  return numbers;
}

/// The row of a number, alone in its line.
std::size_t row_of(std::string_view line, source_position at, std::size_t rows) {
  std::vector<datasets::field> fields;
  datasets::split_fields(line, fields);
  std::string_view const found = fields.at(0).text;
  std::size_t row = 0;
  auto const end = found.data() + found.size();
  auto const [last, wrong] = std::from_chars(found.data(), end, row);
  at.column = fields[0].column;
  if (wrong != std::errc() || last != end || row >= rows)
    throw error(at, fmt::format("found {}, expected the number of a row below {}",
                                rulerank::quoted(found), rows));
  at.column = fields.size() > 1 ? fields[1].column : 0;
  if (fields.size() > 1)
    throw error(
        at, fmt::format("found {}, expected one number a line", rulerank::quoted(fields[1].text)));
  return row;
}

/// The rows that a file lists by what they are called, one a line; an id that several have is all
/// of them.
std::vector<std::uint64_t> read_filter(session& owner, std::string const& path,
                                       row_names const& names) {
  if (path.empty()) return {};
  std::vector<std::uint64_t> words((names.size() + 63) / 64);
  auto const may = [&](std::size_t row) { words[row / 64] |= std::uint64_t{1} << (row % 64); };
  auto const text = datasets::open_text(owner.ctx(), path);
  std::string const name = datasets::display_name(path);
  std::map<std::string, std::uint64_t, std::less<>> line_of;  // of an id that is still to be found
  std::set<std::string, std::less<>> found;
  datasets::for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t number) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == line.npos) return;
    if (names.are_numbers())
      may(row_of(line, {name, number, 0}, names.size()));
    else
      line_of.emplace(line, number);
  });
  datasets::expect_unchanged(*text, name);
  if (names.are_numbers()) return words;
  for (std::size_t row = 0; row < names.size(); ++row) {
    std::string const id = names.of(static_cast<std::uint32_t>(row));
    auto const at = line_of.find(id);
    if (at == line_of.end() && !found.contains(id)) continue;
    may(row);
    if (at != line_of.end()) found.insert(line_of.extract(at).key());
  }
  if (line_of.empty()) return words;
  auto const first = std::min_element(
      line_of.begin(), line_of.end(),
      [](auto const& one, auto const& other) { return one.second < other.second; });
  throw error({name, first->second, 1},
              fmt::format("found {}, expected the id of a row", rulerank::quoted(first->first)));
}

std::vector<std::int32_t> read_labels(session& owner, std::string const& path, std::size_t expected,
                                      std::string_view what) {
  if (path.empty()) return {};
  auto labels = datasets::read_classes(owner.ctx(), path);
  if (labels.size() != expected)
    throw error({path, 0, 0}, fmt::format("found {}, expected one for each of {} {}",
                                          counted(labels.size(), "label"), expected, what));
  return labels;
}

/// Fewer queries together would each take `flat` longer, which reads the rows for all of a group.
constexpr std::size_t least_share = 128;
/// The same where queries within a radius have so many neighbours that fewer must do.
constexpr std::size_t least_share_in_range = 32;

/// What one call writes.
class dense_output {
 public:
  /// `in_rows`: --out of the first rank has numbers of rows, and not lines.
  dense_output(session& owner, search_dense_arguments const& arguments, bool in_rows,
               datasets::vectors const& queries, row_names names, id_list query_ids,
               std::vector<std::int32_t> const& labels,
               std::vector<std::int32_t> const& query_labels)
      : arguments_(arguments),
        in_rows_(in_rows),
        is_first_(owner.ranks().is_first()),
        query_labels_(query_labels),
        names_(std::move(names)),
        query_ids_(std::move(query_ids)),
        lines_(in_rows ? std::string() : arguments.out, arguments.run, arguments.tag) {
    if (!arguments.votes.empty()) {
      votes_.emplace(arguments.votes, arguments.classes);
      votes_->learn(labels);
    }
    if (in_rows_ && is_first_) take_matrices(queries.size());
  }

  void learn(mpi::communicator const& ranks, std::span<std::uint32_t const> found) {
    names_.learn(ranks, found);
  }
  /// The neighbours of queries from `first` on.
  void add(std::size_t first, knn::neighbours const& found) {
    for (std::size_t q = 0; q < found.queries; ++q) write_lines(first, q, found);
    add_but_lines(first, found);
  }
  void add_range(std::size_t first, knn::rows_in_range const& found) {
    for (std::size_t q = 0; q + 1 < found.begin.size(); ++q)
      write_lines(first + q, 0, of_query(found, q));
  }
  /// Of a batch of queries that is dealt to ranks, all of which call it together: `search` finds
  /// the neighbours of a share of them.
  void add_dealt(session& owner, std::size_t first, std::size_t queries,
                 std::function<knn::neighbours(share)> const& search) {
    bool const are_all_lines = !votes_ && !in_rows_;
    auto const found = deal_queries(owner, queries, least_share, lines_, [&](share some) {
      dealt_neighbours dealt;
      dealt.found = search(some);
      for (std::size_t q = 0; q < dealt.found.queries; ++q)
        add_lines(dealt.lines, first + some.begin, q, dealt.found);
      if (are_all_lines) dealt.found = {};
      return dealt;
    });
    add_but_lines(first, found);
  }
  /// Returns how many neighbours this rank has found.
  std::size_t add_range_dealt(session& owner, std::size_t first, std::size_t queries,
                              std::function<knn::rows_in_range(share)> const& search) {
    std::size_t in_range = 0;
    std::size_t const least =
        std::clamp(queries / (2 * static_cast<std::size_t>(owner.ranks().size())),
                   least_share_in_range, least_share);
    deal_queries(owner, queries, least, lines_, [&](share some) {
      auto const found = search(some);
      in_range += found.row.size();
      dealt_neighbours dealt;
      for (std::size_t q = 0; q < some.size(); ++q)
        add_lines(dealt.lines, first + some.begin + q, 0, of_query(found, q));
      return dealt;
    });
    return in_range;
  }
  void commit(session& owner) {
    lines_.flush();
    if (votes_) votes_->flush();
    owner.meet();
    std::size_t const k = arguments_.k;
    if (in_rows_ && is_first_)
      datasets::write_vectors(owner.ctx(), arguments_.out, datasets::vectors(std::move(rows_), k));
    if (!arguments_.values.empty())
      datasets::write_vectors(owner.ctx(), arguments_.values,
                              datasets::vectors(std::move(values_), k));
    lines_.commit();
    if (votes_) votes_->commit();
  }
  std::optional<class_votes> const& votes() const { return votes_; }

 private:
  static knn::neighbours of_query(knn::rows_in_range const& found, std::size_t q) {
    auto const rows = found.rows_of(q);
    auto const values = found.values_of(q);
    knn::neighbours one;
    one.queries = 1;
    one.k = rows.size();
    one.order = found.order;
    one.id.assign(rows.begin(), rows.end());
    one.value.assign(values.begin(), values.end());
    return one;
  }
  /// Votes and matrices.
  void add_but_lines(std::size_t first, knn::neighbours const& found) {
    if (votes_) votes_->add(first, query_labels_, found);
    if (!in_rows_ || !is_first_) return;
    for (std::size_t q = 0; q < found.queries; ++q) {
      std::size_t const at = (first + q) * arguments_.k;
      for (std::size_t i = 0; i < found.count_of(q); ++i) {
        rows_[at + i] = static_cast<std::int32_t>(found.ids_of(q)[i]);
        if (!values_.empty()) values_[at + i] = static_cast<float>(found.values_of(q)[i]);
      }
    }
  }
  /// Memory for all of --out and --values, k entries a query: -1 and 0 until neighbours come.
  void take_matrices(std::size_t queries) {
    bool const with_values = !arguments_.values.empty();
    std::size_t const k = arguments_.k;
    std::size_t const entry = sizeof(std::int32_t) + (with_values ? sizeof(float) : 0);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    memory_gate().take({k <= most / entry / queries ? queries * k * entry : most,
                        fmt::format("--out {}: {} entries of each of {}", arguments_.out, k,
                                    counted(queries, "query", "queries")),
                        "use a smaller --k, fewer queries at a time, or a name that says lines"},
                       [&] {
                         rows_.assign(queries * k, -1);
                         if (with_values) values_.assign(queries * k, 0);
                       });
  }
  /// The lines of the q-th query of `found`, whose first query is the `first`.
  void add_lines(neighbour_lines& to, std::size_t first, std::size_t q,
                 knn::neighbours const& found) const {
    lines_.add(to, query_ids_.of(first + q), q, found,
               [&](std::uint32_t row) { return names_.of(row); });
  }
  void write_lines(std::size_t first, std::size_t q, knn::neighbours const& found) {
    neighbour_lines lines;
    add_lines(lines, first, q, found);
    lines_.write(lines);
  }

  search_dense_arguments const& arguments_;
  bool in_rows_;
  bool is_first_;  ///< of the ranks, the one that has the matrices
  std::vector<std::int32_t> const& query_labels_;
  row_names names_;
  id_list query_ids_;
  neighbour_files lines_;
  std::optional<class_votes> votes_;
  std::vector<std::int32_t> rows_;
  std::vector<float> values_;
};

/// Searches this rank's rows: an index of all, or parts.
class rows_searcher {
 public:
  rows_searcher(session& owner, searched_rows const& rows, knn::dense_filter const& filter,
                knn::dense_search_work& work)
      : owner_(owner), rows_(rows), filter_(filter), work_(work) {
    for (dense_part const& part : rows.parts)
      bits_.push_back(mpi::bits_of(filter.rows, part.first, part.first + part.index.size()));
  }

  /// Whether ranks are dealt queries: each has all rows, and the engine is not the baseline whose
  /// ranks have even shares.
  bool deals() const {
    return has_processes(owner_.ctx()) && !rows_.is_split && !has_even_shares();
  }

  /// Where queries are not dealt, all ranks call it together.
  knn::neighbours search(datasets::vectors const& queries, std::size_t k) const {
    mpi::communicator const& ranks = owner_.ranks();
    if (rows_.is_split) return mpi::merge(ranks, of_parts(queries, k), queries.size(), k);
    if (!has_even_shares()) return search_all(queries, k);
    return mpi::search(ranks, queries.size(), [&](share some) {
      return search_all(queries.rows(some.begin, some.size()), k);
    });
  }

  /// Likewise.
  knn::rows_in_range search_range(datasets::vectors const& queries, double radius) const {
    if (rows_.is_whole())
      return rows_.parts[0].index.search_range(owner_.ctx(), queries, radius, filter_, &work_);
    std::vector<knn::part_rows_in_range> found;
    for (std::size_t p = 0; p < rows_.parts.size(); ++p) {
      auto const& [first, index] = rows_.parts[p];
      found.push_back(
          index.search_range_part(owner_.ctx(), queries, radius, {bits_[p], {}}, &work_));
      mpi::renumber(found.back(), static_cast<std::uint32_t>(first));
    }
    if (rows_.is_split) return mpi::merge(owner_.ranks(), found, queries.size());
    return mpi::merge(found, queries.size());
  }

 private:
  bool has_even_shares() const {
    return !rows_.parts.empty() && rows_.parts.front().index.engine() == knn::dense_engine::mpi_knn;
  }

  std::vector<knn::part_neighbours> of_parts(datasets::vectors const& queries,
                                             std::size_t k) const {
    std::vector<knn::part_neighbours> found;
    for (std::size_t p = 0; p < rows_.parts.size(); ++p) {
      auto const& [first, index] = rows_.parts[p];
      std::size_t const most = std::clamp<std::size_t>(index.size(), 1, k);
      found.push_back(index.search_part(owner_.ctx(), queries, most, {bits_[p], {}}, &work_));
      mpi::renumber(found.back(), static_cast<std::uint32_t>(first));
    }
    return found;
  }

  /// Of rows all of which this rank has.
  knn::neighbours search_all(datasets::vectors const& queries, std::size_t k) const {
    if (rows_.is_whole())
      return rows_.parts[0].index.search(owner_.ctx(), queries, k, filter_, &work_);
    return mpi::merge(of_parts(queries, k), queries.size(), k);
  }

  session& owner_;
  searched_rows const& rows_;
  knn::dense_filter filter_;
  knn::dense_search_work& work_;
  std::vector<std::vector<std::uint64_t>> bits_;  // of the parts, of the filter
};

void search_batches(session& owner, search_dense_arguments const& arguments,
                    searched_rows const& rows, datasets::vectors const& queries,
                    knn::dense_filter const& filter, dense_output& out,
                    knn::dense_search_work& work) {
  auto const timer = owner.stage("search");
  mpi::communicator const& ranks = owner.ranks();
  rows_searcher const searcher(owner, rows, filter, work);
  // There are no more neighbours than rows.
  std::size_t const k = std::clamp<std::size_t>(rows.size(), 1, arguments.k);
  bool const deals = searcher.deals();
  // As many queries as have neighbours for some 400 MB, or lines for that, which ranks that are
  // dealt queries tell the first one.
  std::size_t const in_turn = deals ? static_cast<std::size_t>(ranks.size()) : 1;
  std::size_t const neighbours = std::size_t{1} << (deals ? 22 : 25);
  std::size_t together =
      arguments.radius ? 256 : std::clamp<std::size_t>(neighbours / k, 1, 4096 * in_turn);
  for (std::size_t first = 0, count = 0; first < queries.size(); first += count) {
    count = std::min(together, queries.size() - first);
    auto const some = queries.rows(first, count);
    if (deals && arguments.radius) {
      std::size_t const found = out.add_range_dealt(owner, first, count, [&](share of) {
        return searcher.search_range(some.rows(of.begin, of.size()), *arguments.radius);
      });
      std::size_t const of_a_query = mpi::sum(ranks, std::uint64_t{found}) / count;
      together = std::clamp<std::size_t>(neighbours / (of_a_query + 1), 1, 256 * in_turn);
    } else if (deals) {
      out.add_dealt(owner, first, some.size(),
                    [&](share of) { return searcher.search(some.rows(of.begin, of.size()), k); });
    } else if (arguments.radius) {
      auto const found = searcher.search_range(some, *arguments.radius);
      out.learn(ranks, found.row);
      out.add_range(first, found);
    } else {
      auto const found = searcher.search(some, k);
      out.learn(ranks, found.id);
      out.add(first, found);
    }
    owner.ctx().report("search", first + some.size(), queries.size());
  }
  for (std::uint64_t* const count :
       {&work.recomputed, &work.widened, &work.by_minima, &work.by_sorting})
    *count = mpi::sum(ranks, *count);
}

/// Searches for the neighbours of all queries and writes them.
void search(session& owner, search_dense_arguments const& arguments, searched_rows const& index,
            datasets::vectors const& queries, nlohmann::ordered_json& summary) {
  // The first rank alone knows where --out goes.
  bool const in_rows =
      value_from_first(owner.ranks(), [&] { return is_matrix_name(arguments.out); });
  expect_numbers_fit(arguments, index.size());
  // Ids that were kept with the index are its own.
  bool const kept = !arguments.collection.empty() && !arguments.index.empty();
  row_names const names(kept ? id_list() : read_ids(owner, arguments.ids, index.size(), "rows"),
                        index);
  if (!arguments.filter.empty() && index.is_split && !names.are_numbers() && arguments.ids.empty())
    throw usage_error(
        "--filter of ids that an index in parts keeps, of which no rank has all: expected --ids "
        "beside it, or --over-ranks queries");
  auto const filter = read_filter(owner, arguments.filter, names);
  auto const labels = read_labels(owner, arguments.labels, index.size(), "rows");
  auto const query_labels = read_labels(owner, arguments.query_labels, queries.size(), "queries");
  dense_output out(owner, arguments, in_rows, queries, names,
                   read_ids(owner, arguments.query_ids, queries.size(), "queries"), labels,
                   query_labels);
  knn::dense_search_work work;
  search_batches(owner, arguments, index, queries, {filter, {}}, out, work);
  out.commit(owner);
  summary["queries"] = queries.size();
  bool by_gs = false;
  if (!index.parts.empty()) {
    knn::dense_index const& one = index.parts.front().index;
    by_gs = one.engine() == knn::dense_engine::gs;
    summary.update(
        {{"metric", knn::name_of(one.metric())}, {"engine", knn::name_of(one.engine())}});
  }
  summary.update({{"recomputed", work.recomputed}, {"widened", work.widened}});
  if (!arguments.radius) summary["k"] = arguments.k;
  if (by_gs) {
    summary["by_minima"] = work.by_minima;
    summary["by_sorting"] = work.by_sorting;
  }
  if (arguments.out != "-")
    owner.say(fmt::format("searched {} in {}, neighbours in {}",
                          counted(queries.size(), "query", "queries"), counted(index.size(), "row"),
                          arguments.out));
  if (out.votes()) note_quality(owner, *out.votes(), summary);
}

/// Chooses the device for a search in so many numbers.
void choose_device(session& owner, search_dense_arguments const& arguments, double numbers,
                   std::size_t dimensions, datasets::vectors const& queries) {
  if (queries.empty()) return;
  auto const each = static_cast<double>(std::max<std::size_t>(dimensions, 1));
  owner.choose_device(
      places_of(knn::dense_engines(), knn::dense_engine_from(arguments.engine)),
      dense_search_seconds(numbers / each, each, static_cast<double>(queries.size())));
}

/// The parts of an index that were made over ranks: this rank's, or all.
searched_rows open_parts(session& owner, search_dense_arguments const& arguments,
                         datasets::vectors const& queries, bool is_split) {
  mpi::communicator const& ranks = owner.ranks();
  auto const all = mpi::read_index_parts(arguments.index, "dense");
  searched_rows opened;
  opened.rows = all.items;
  opened.is_split = is_split;
  auto const mine =
      is_split ? mpi::parts_of(all, ranks.rank(), ranks.size()) : mpi::parts_of(all, 0, 1);
  double bytes = 0;
  for (mpi::index_part const& part : mine)
    bytes += static_cast<double>(file_state_of(part.path).size);
  choose_device(owner, arguments, bytes / sizeof(float), queries.dimensions(), queries);
  auto const timer = owner.stage("open");
  for (mpi::index_part const& part : mine) {
    mpi::expect_part(part);
    opened.parts.push_back(
        {part.first,
         knn::dense_index::open(owner.ctx(), part.path, knn::dense_engine_from(arguments.engine))});
    knn::dense_index const& index = opened.parts.back().index;
    mpi::expect_items(part, index.size());
    opened.has_ids = opened.has_ids || index.has_ids();
  }
  if (is_split) opened.has_ids = mpi::sum(ranks, opened.has_ids ? 1 : 0) > 0;
  return opened;
}

/// Rows that this rank reads, with their ids where an index keeps some.
struct read_rows {
  datasets::vectors_part part;
  std::vector<std::int64_t> ids;
};

read_rows read_rows_of_rank(session& owner, search_dense_arguments const& arguments,
                            searched_rows& made) {
  auto const timer = owner.stage("read");
  mpi::communicator const& ranks = owner.ranks();
  read_rows read;
  read.part = made.is_split ? read_searched_part(owner.ctx(), arguments.collection,
                                                 static_cast<std::size_t>(ranks.rank()),
                                                 static_cast<std::size_t>(ranks.size()),
                                                 format_named(arguments.collection_format))
                            : read_searched_part(owner.ctx(), arguments.collection, 0, 1,
                                                 format_named(arguments.collection_format));
  made.rows = read.part.of_file;
  expect_numbers_fit(arguments, made.rows);
  if (made.rows >= knn::no_neighbour)
    throw usage_error(fmt::format("{}: found {}, expected fewer than {}", arguments.collection,
                                  counted(made.rows, "row"), knn::no_neighbour));
  if (arguments.index.empty() || arguments.ids.empty()) return read;
  auto const all = numbers_of(read_ids(owner, arguments.ids, made.rows, "rows"), arguments.ids);
  auto const begin = all.begin() + static_cast<std::ptrdiff_t>(read.part.first);
  read.ids.assign(begin, begin + static_cast<std::ptrdiff_t>(read.part.rows.size()));
  made.has_ids = true;
  return read;
}

/// The index of the rows, which is kept where that is asked for, or the one that was kept.
searched_rows prepare(session& owner, search_dense_arguments const& arguments,
                      datasets::vectors const& queries, std::string const& part_path) {
  auto const engine = knn::dense_engine_from(arguments.engine);
  searched_paths const paths{arguments.collection, arguments.index, 1, {}};
  bool const is_split = splits_collection(owner, arguments.over_ranks, paths);
  bool const are_parts = opens_parts(paths);
  if ((is_split || are_parts) && engine != knn::dense_engine::automatic &&
      engine != knn::dense_engine::flat)
    throw usage_error(
        fmt::format("--engine {} of a collection in parts, expected flat", arguments.engine));
  if (are_parts) return open_parts(owner, arguments, queries, is_split);
  searched_rows made;
  made.is_split = is_split;
  if (arguments.collection.empty()) {
    // Of an index its size says about how many numbers there are.
    choose_device(owner, arguments,
                  static_cast<double>(file_state_of(arguments.index).size) / sizeof(float),
                  queries.dimensions(), queries);
    auto const timer = owner.stage("open");
    made.parts.push_back({0, knn::dense_index::open(owner.ctx(), arguments.index, engine)});
    made.rows = made.parts[0].index.size();
    made.has_ids = made.parts[0].index.has_ids();
    return made;
  }
  auto [read, ids] = read_rows_of_rank(owner, arguments, made);
  std::size_t const dimensions = read.rows.dimensions();
  choose_device(owner, arguments,
                static_cast<double>(read.rows.size()) * static_cast<double>(dimensions), dimensions,
                queries);
  auto const timer = owner.stage("prepare");
  made.parts.push_back(
      {read.first,
       knn::dense_index(owner.ctx(), std::move(read.rows),
                        {knn::dense_similarity_from(arguments.metric), engine}, std::move(ids))});
  knn::dense_index const& index = made.parts[0].index;
  if (is_split && !arguments.index.empty()) {
    index.save(owner.ctx(), part_path);
    mpi::write_index_parts(owner.ranks(), arguments.index, "dense", index.size());
  } else if (!arguments.index.empty()) {
    index.save(owner.ctx(), arguments.index);
  }
  return made;
}

void search_dense(session& owner, search_dense_arguments arguments, CLI::App const& verb) {
  check_usage(arguments, verb);
  std::string const part_path = part_written(owner, arguments.collection, arguments.index);
  name_files(owner, arguments, part_path);
  // What has the form that its name says is written by the first rank alone.
  if (owner.destination(arguments.out) != arguments.out) arguments.values.clear();
  for (std::string* const path : {&arguments.out, &arguments.run, &arguments.classes})
    *path = owner.destination(*path);
  datasets::vectors queries;
  if (!arguments.queries.empty()) {
    auto const timer = owner.stage("read");
    queries = read_searched_vectors(owner.ctx(), arguments.queries,
                                    format_named(arguments.queries_format));
  }
  searched_rows const index = prepare(owner, arguments, queries, part_path);
  // A rank that has no part has no say: the first one has the first.
  std::size_t const dimensions =
      index.parts.empty() ? queries.dimensions() : index.parts.front().index.dimensions();
  nlohmann::ordered_json summary{{"rows", index.size()}, {"dimensions", dimensions}};
  if (!arguments.collection.empty() && !arguments.index.empty())
    owner.say(fmt::format("{} of {} in {}", counted(index.size(), "row"),
                          counted(dimensions, "value"), arguments.index));
  if (arguments.verify) {
    owner.meet();  // other ranks have read other parts
    owner.say(fmt::format("{}: header, checksums and all {} of {} are right", arguments.index,
                          counted(index.size(), "row"), counted(dimensions, "value")));
    summary["verified"] = true;
  }
  if (!arguments.queries.empty()) {
    if (!index.parts.empty()) {
      auto const& engine = *find_engine(knn::dense_engines(), index.parts.front().index.engine());
      owner.expect_device_for(engine.name, engine.where);
    }
    search(owner, arguments, index, queries, summary);
  }
  for (auto const& [key, value] : summary.items()) owner.note(key, value);
  if (owner.prints_json()) {
    summary["seconds"] = owner.timings();
    write_file("-", json_text_of(summary));
  }
}

}  // namespace

// Long because of the texts of its options.
void add_search_dense(CLI::App& search, session& owner) {
  auto const arguments = std::make_shared<search_dense_arguments>();
  CLI::App* const verb = add_verb(
      search, owner, "dense", "The nearest rows among dense vectors, exactly",
      "rulerank search dense --collection base.fvecs --queries queries.fvecs --k 100 --out "
      "nearest.ivecs",
      [arguments, &owner, &search] {
        search_dense(owner, *arguments, *search.get_subcommand("dense"));
      });
  runs_over_ranks(*verb);
  path_option(*verb, "--collection", arguments->collection,
              "Rows: .npy, .fvecs, .bvecs, .fbin, .u8bin, .i8bin or idx")
      ->type_name("FILE");
  std::vector<std::string> const formats = names_of_formats();
  word_option(*verb, "--collection-format", arguments->collection_format, formats,
              "The rows' format; auto: by the name");
  path_option(*verb, "--index", arguments->index,
              "Where --collection goes as an index; without --collection, an index to open")
      ->type_name("FILE");
  verb->add_flag("--verify", arguments->verify,
                 "Say that an index has the bytes that were written, or where it has not; every "
                 "opening checks that. Goes without --queries too");
  path_option(*verb, "--queries", arguments->queries, "Queries, in a form of the rows")
      ->type_name("FILE");
  word_option(*verb, "--queries-format", arguments->queries_format, formats,
              "The queries' format, likewise");
  number_option(*verb, "--k", arguments->k, "Neighbours of a query", {1, std::size_t{1} << 40});
  verb->add_option("--metric", arguments->metric, "l2, ip (inner product) or cosine")
      ->capture_default_str();
  number_option(*verb, "--radius", arguments->radius,
                "Instead of k: all rows within a distance, or of at least a similarity");
  path_option(
      *verb, "--filter", arguments->filter,
      "The rows that may be found, by their ids or, without ids, numbers from 0, one a line")
      ->type_name("FILE");
  engine_option(*verb, "--engine", arguments->engine, knn::dense_engines());
  arguments->over_ranks.add_to(*verb);
  arguments->add_outputs_to(
      *verb,
      "Lines of query, rank, row, similarity or distance; with .ivecs, .ibin or .npy the "
      "numbers of rows alone, k a query, -1 where there are none");
  path_option(*verb, "--values", arguments->values,
              "Beside --out F.ivecs: the similarities or distances, in .fvecs, .fbin or .npy")
      ->type_name("FILE");
  path_option(*verb, "--ids", arguments->ids,
              "The rows' ids, one a line; default: those of --index, or numbers from 0. An index "
              "that is made keeps them, where they are whole numbers")
      ->type_name("FILE");
  path_option(*verb, "--query-ids", arguments->query_ids, "The queries' ids, likewise")
      ->type_name("FILE");
  verb->add_option("--votes", arguments->votes,
                   "Classify the queries by their neighbours' labels: majority or similarity");
  path_option(*verb, "--labels", arguments->labels,
              "The rows' labels: integers in idx, .npy or .ivecs")
      ->type_name("FILE");
  path_option(*verb, "--query-labels", arguments->query_labels,
              "The queries' labels, to say how many are right")
      ->type_name("FILE");
  path_option(*verb, "--classes", arguments->classes, "Lines of query, label, class voted for")
      ->type_name("FILE");
}

}  // namespace rulerank::apps
