#include "labelling/pool_texts.hpp"

#include "core/control_characters.hpp"
#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/text/text_sums.hpp"
#include "knn/unicode.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rulerank::inline v0::labelling {

namespace {

/// Makes a text displayable: see `shown_text`.
std::string showable(std::string_view bytes) {
  std::string repaired, text;
  std::string_view rest = knn::well_formed(bytes, repaired);
  text.reserve(rest.size());
  while (!rest.empty()) {
    bool const kept = rest.front() == '\n' || rest.front() == '\t';
    std::size_t const unwanted = kept ? 0 : control_size(rest);
    if (unwanted == 0)
      text += rest.front();
    else if (rest.front() != '\r')
      text += ' ';
    rest.remove_prefix(std::max<std::size_t>(unwanted, 1));
  }
  return text;
}

shown_text text_of(datasets::text_document const& document) {
  shown_text found;
  for (datasets::text_field const& field : document.fields) {
    bool const title = field.name == "title" && found.title.empty();
    if (title) {
      found.title = with_single_blanks(showable(field.text));
      continue;
    }
    if (!found.body.empty()) found.body += '\n';
    found.body += showable(field.text);
  }
  return found;
}

/// A pool's requirements on a file of texts: distinct ids, and checksums of their texts.
struct wanted_texts {
  std::string_view pool;         ///< file name
  std::string_view kind, kinds;  ///< noun for a document or query, singular and plural
  std::vector<std::string> ids;
  std::vector<std::optional<std::uint32_t>> sums;

  bool have_sums() const {
    return std::ranges::any_of(sums, [](auto const& sum) { return bool(sum); });
  }
};

constexpr auto nowhere = static_cast<std::size_t>(-1);

/// The texts of a file that the wanted ids may refer to, each once.
struct kept_texts {
  std::vector<datasets::text_document> documents;
  std::vector<std::uint32_t> sums;
};

/// Which of them the wanted ids refer to, if these are the file's ids or positions in it.
struct found_texts {
  std::vector<std::size_t> at;  ///< [ids] index; `nowhere`: not found
  std::size_t same = 0;         ///< number of texts whose checksum matches
};

/// The text of a tab-separated line `id, label, text` that was read as `id, text`; nothing for
/// other documents.
std::optional<std::string_view> text_after_label(datasets::text_document const& document) {
  if (document.fields.size() != 1 || !document.fields[0].name.empty()) return std::nullopt;
  std::string_view const text = document.fields[0].text;
  std::size_t const tab = text.find('\t');
  if (tab == text.npos) return std::nullopt;
  return text.substr(tab + 1);
}

/// Collects texts by id while a file is read.
class text_collector {
 public:
  explicit text_collector(wanted_texts const& wanted) : wanted_(wanted) {
    for (std::size_t i = 0; i < wanted.ids.size(); ++i) number_.emplace(wanted.ids[i], i);
    by_id.at.resize(wanted.ids.size(), nowhere);
    by_position.at.resize(wanted.ids.size(), nowhere);
  }
  void take(datasets::text_document&& document) {
    has_positions = has_positions || document.position > 0;
    auto const id = number_.find(document.id);
    auto const position =
        document.position > 0 ? number_.find(std::to_string(document.position)) : number_.end();
    if (id == number_.end() && position == number_.end()) return;
    std::uint32_t sum = datasets::sum_of_text(document.fields);
    if (id != number_.end() && wanted_.sums[id->second] && sum != wanted_.sums[id->second]) {
      auto const text = text_after_label(document);
      if (text && datasets::sum_of_text(*text) == wanted_.sums[id->second]) {
        sum = *wanted_.sums[id->second];
        document.fields[0].text = std::string(*text);
      }
    }
    for (auto const& [number, found] : {std::pair(id, &by_id), std::pair(position, &by_position)})
      if (number != number_.end()) {
        found->at[number->second] = texts.documents.size();
        found->same += sum == wanted_.sums[number->second];
      }
    texts.documents.push_back(std::move(document));
    texts.sums.push_back(sum);
  }

  kept_texts texts;
  found_texts by_id, by_position;
  bool has_positions = false;

 private:
  wanted_texts const& wanted_;
  std::unordered_map<std::string_view, std::size_t> number_;
};

/// Reads the wanted texts of a file.
text_collector collected(context const& ctx, std::string const& path, datasets::text_format format,
                         text_sources const& sources, wanted_texts const& wanted,
                         bool are_queries) {
  datasets::text_options options;
  options.text_fields = are_queries ? sources.query_fields : sources.text_fields;
  if (!are_queries) options.id_field = sources.id_field;
  options.encoding = sources.encoding;
  options.labels = sources.labels;
  options.number_by_position = sources.number_by_position.value_or(false);
  text_collector collector(wanted);
  datasets::read_documents(
      ctx, path, format,
      [&](datasets::text_document&& document) { collector.take(std::move(document)); }, options);
  return collector;
}

/// Whether a pool's ids are positions; empty if its checksums do not decide.
std::optional<bool> by_position(text_collector const& file) {
  if (!file.has_positions || file.by_position.same == file.by_id.same) return std::nullopt;
  return file.by_position.same > file.by_id.same;
}

/// Whether positions and ids give different texts.
bool differ(text_collector const& file) {
  bool any = false, other = false;
  for (std::size_t i = 0; i < file.by_id.at.size(); ++i) {
    std::size_t const a = file.by_id.at[i], b = file.by_position.at[i];
    any = any || b != nowhere;
    other = other || (a == nowhere) != (b == nowhere) ||
            (a != nowhere && file.texts.sums[a] != file.texts.sums[b]);
  }
  return any && other;
}

/// Explains a checksum mismatch: the field that is superfluous, or the fields that exist.
std::string about_fields(std::vector<datasets::text_field> const& fields, std::uint32_t sum) {
  std::vector<std::string> names;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].name.empty()) return {};
    names.push_back(rulerank::quoted(fields[f].name));
    std::vector<datasets::text_field> rest = fields;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(f));
    if (datasets::sum_of_text(rest) == sum)
      return fmt::format("; without its field {} the text is the same", names.back());
  }
  return fmt::format("; its {} {}", names.size() == 1 ? "field is" : "fields are",
                     fmt::join(names, ", "));
}

/// Throws `error`, at the line of its id, for a text that differs from the pool's source.
void expect_the_pools(text_collector const& file, found_texts const& found,
                      wanted_texts const& wanted, std::string const& path) {
  constexpr std::size_t most_shown = 60;
  std::size_t others = 0, first = nowhere;
  for (std::size_t i = 0; i < found.at.size(); ++i) {
    if (found.at[i] == nowhere || !wanted.sums[i] ||
        file.texts.sums[found.at[i]] == *wanted.sums[i])
      continue;
    if (others++ == 0) first = i;
  }
  if (others == 0) return;
  datasets::text_document const& document = file.texts.documents[found.at[first]];
  std::string text;
  for (datasets::text_field const& field : document.fields) text += field.text + " ";
  std::string_view shown = text;
  shown = shown.substr(0, std::min(shown.find_last_not_of(" \n") + 1, most_shown));
  throw error({datasets::display_name(path), std::max<std::uint64_t>(document.line, 1), 1},
              fmt::format("{} {} has the text {}, which differs from the text that {} was made of, "
                          "as do {} of its {}{}; expected the same texts, or --other-texts",
                          wanted.kind, wanted.ids[first], rulerank::quoted(shown), wanted.pool,
                          others, counted(wanted.ids.size(), wanted.kind, wanted.kinds),
                          about_fields(document.fields, *wanted.sums[first])));
}

/// The texts that the ids refer to. `other`: what the other file's checksums decided.
found_texts const& chosen(text_collector const& file, std::optional<bool> other,
                          text_sources const& sources, wanted_texts const& wanted,
                          std::string const& path) {
  bool const strict = !sources.other_texts && wanted.have_sums();
  found_texts const* found = &file.by_id;
  if (file.has_positions && !sources.number_by_position) {
    auto const own = by_position(file);
    if (own ? *own : other.value_or(false))
      found = &file.by_position;
    else if (!own && !other && !strict && differ(file))
      throw error(
          {datasets::display_name(path), 1, 1},
          fmt::format("found {} whose numbers after .I are not their positions, and {} does not "
                      "say which of the two it uses as ids; set --number-by-position for "
                      "positions, or --number-by-position=false for numbers",
                      wanted.kinds, wanted.pool));
  }
  if (strict) expect_the_pools(file, *found, wanted, path);
  return *found;
}

/// Sets a document's or query's checksum. False if it already has a different one.
bool take_sum(std::optional<std::uint32_t>& sum, std::uint32_t value) {
  if (!sum) sum = value;
  return *sum == value;
}

/// Reads the checksums from a pool's comments: all lines have them or none, and each text has one.
/// Throws `error` naming the line; with `lenient`, takes what it finds.
void read_sums(datasets::dataset const& pool, pool_texts const& of, bool lenient,
               wanted_texts& queries, wanted_texts& documents) {
  std::size_t with = 0, first_without = pool.size();
  for (std::size_t d = 0; d < pool.size(); ++d) {
    std::string const fault = datasets::fault_of_text_sums(pool.comment(d));
    if (!fault.empty() && !lenient) throw error(datasets::place_of(pool, d), "found " + fault);
    auto const sums = datasets::text_sums_of(pool.comment(d));
    if (!sums) {
      first_without = std::min(first_without, d);
      continue;
    }
    ++with;
    for (auto const& [wanted, number, sum] :
         {std::tuple(&queries, of.query_of[d], sums->topic),
          std::tuple(&documents, of.text_of[d], sums->document)})
      if (!take_sum(wanted->sums[number], sum) && !lenient)
        throw error(datasets::place_of(pool, d),
                    fmt::format("found {} {} with a text that differs from that of earlier lines, "
                                "expected one text for each {}",
                                wanted->kind, wanted->ids[number], wanted->kind));
  }
  if (with > 0 && with < pool.size() && !lenient)
    throw error(datasets::place_of(pool, first_without),
                fmt::format("found a document without {}, which {} of {} have; expected it for all "
                            "documents, or --other-texts",
                            datasets::text_sums_key, with, counted(pool.size(), "document")));
}

/// Throws `error` if a file has none of the texts.
void expect_some(found_texts const& found, wanted_texts const& wanted, std::string const& path) {
  if (std::ranges::all_of(found.at, [](std::size_t at) { return at == nowhere; }))
    throw error({datasets::display_name(path), 1, 1},
                fmt::format("found none of the {} of {}, such as {}; expected their texts",
                            wanted.kinds, wanted.pool, wanted.ids.front()));
}

}  // namespace

std::string with_single_blanks(std::string_view text) {
  std::string line;
  for (char const c : text) {
    bool const blank = c == ' ' || c == '\n' || c == '\t';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

pool_texts read_pool_texts(context const& ctx, datasets::dataset const& pool,
                           text_sources const& sources) {
  pool_texts made;
  wanted_texts queries{pool.name, "query", "queries", {}, {}};
  wanted_texts documents{pool.name, "document", "documents", {}, {}};
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t q = 0; q < pool.queries.size(); ++q) {
    queries.ids.push_back(pool.queries[q].qid);
    for (std::size_t d = pool.queries[q].begin; d < pool.queries[q].end; ++d) {
      auto const [at, is_new] = numbers.emplace(pool.docid(d), numbers.size());
      if (is_new) documents.ids.push_back(at->first);
      made.query_of.push_back(q);
      made.text_of.push_back(at->second);
    }
  }
  queries.sums.resize(queries.ids.size());
  documents.sums.resize(documents.ids.size());
  read_sums(pool, made, sources.other_texts, queries, documents);

  text_collector topics =
      collected(ctx, sources.topics, datasets::text_format::automatic, sources, queries, true);
  text_collector shown =
      collected(ctx, sources.documents, sources.format, sources, documents, false);
  found_texts const& of_queries =
      chosen(topics, by_position(shown), sources, queries, sources.topics);
  found_texts const& of_documents =
      chosen(shown, by_position(topics), sources, documents, sources.documents);
  expect_some(of_documents, documents, sources.documents);
  expect_some(of_queries, queries, sources.topics);
  made.queries_by_position = &of_queries == &topics.by_position;
  made.documents_by_position = &of_documents == &shown.by_position;

  made.queries.resize(queries.ids.size());
  for (std::size_t q = 0; q < made.queries.size(); ++q) {
    if (of_queries.at[q] == nowhere) {
      ++made.queries_missing;
      continue;
    }
    shown_text const t = text_of(topics.texts.documents[of_queries.at[q]]);
    made.queries[q] = with_single_blanks(t.title.empty() ? t.body : t.title + "\n" + t.body);
  }
  made.documents.resize(documents.ids.size());
  for (std::size_t i = 0; i < made.documents.size(); ++i) {
    if (of_documents.at[i] == nowhere) continue;
    datasets::text_document& document = shown.texts.documents[of_documents.at[i]];
    made.documents[i] = text_of(std::exchange(document, {}));
  }
  made.documents_missing = static_cast<std::size_t>(std::ranges::count_if(
      made.text_of, [&](std::size_t i) { return of_documents.at[i] == nowhere; }));
  return made;
}

}  // namespace rulerank::labelling
