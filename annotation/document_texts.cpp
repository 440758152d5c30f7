#include "annotation/document_texts.hpp"

#include "core/control_characters.hpp"
#include "core/error.hpp"
#include "datasets/text_source.hpp"
#include "datasets/text_sums.hpp"
#include "knn/text/unicode.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace rulerank::annotation {

namespace {

/// Text that can be shown: see `document_texts`.
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

struct text {
  std::string title, body;
};

text text_of(datasets::text_document const& document) {
  text found;
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

/// What a pool asks of a file of texts: ids, and what the texts were.
struct wanted_texts {
  std::string_view pool;  ///< its name
  std::string_view kind;  ///< of what is wanted: document or query
  std::vector<std::string> ids;
  std::vector<std::optional<std::uint32_t>> sums;
};

/// The texts that were found under the wanted ids.
struct found_texts {
  std::vector<std::optional<datasets::text_document>> texts;
  std::size_t missing = 0;
  std::size_t others = 0;  ///< texts that are not what the pool was made of
  std::size_t first_other = 0;
};

/// Whether a text is what the pool was made of. Of a line `id, label, text` between tabs that was
/// read as `id, text` it is made so.
bool is_wanted(datasets::text_document& document, std::uint32_t sum) {
  if (datasets::sum_of_text(document.fields) == sum) return true;
  if (document.fields.size() != 1 || !document.fields[0].name.empty()) return false;
  std::string& text = document.fields[0].text;
  std::size_t const tab = text.find('\t');
  if (tab == text.npos || datasets::sum_of_text(std::string_view(text).substr(tab + 1)) != sum)
    return false;
  text.erase(0, tab + 1);
  return true;
}

/// Texts by id, as a file is read.
class text_collector {
 public:
  explicit text_collector(wanted_texts const& wanted) : wanted_(wanted) {
    found_.texts.resize(wanted.ids.size());
    for (std::size_t i = 0; i < wanted.ids.size(); ++i) number_[wanted.ids[i]].push_back(i);
  }
  void take(std::string const& id, datasets::text_document const& document) {
    auto const at = number_.find(id);
    if (at == number_.end()) return;
    for (std::size_t const i : at->second) {
      found_.texts[i] = document;
      if (!wanted_.sums[i] || is_wanted(*found_.texts[i], *wanted_.sums[i])) continue;
      if (found_.others++ == 0 || i < found_.first_other) found_.first_other = i;
    }
  }
  found_texts finish() && {
    found_.missing = static_cast<std::size_t>(std::ranges::count(found_.texts, false, is_there));
    return std::move(found_);
  }

 private:
  static bool is_there(std::optional<datasets::text_document> const& text) { return bool(text); }

  wanted_texts const& wanted_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> number_;
  found_texts found_;
};

/// Whether two ways to find texts find different ones.
bool differ(found_texts const& a, found_texts const& b) {
  for (std::size_t i = 0; i < a.texts.size(); ++i) {
    auto const &one = a.texts[i], &other = b.texts[i];
    if (bool(one) != bool(other)) return true;
    if (one && datasets::sum_of_text(one->fields) != datasets::sum_of_text(other->fields))
      return true;
  }
  return false;
}

/// Throws `error` where a text is not what the pool was made of.
void expect_the_pools(found_texts const& found, wanted_texts const& wanted,
                      std::string const& path) {
  constexpr std::size_t most_shown = 60;
  if (found.others == 0) return;
  std::size_t const i = found.first_other;
  std::string text;
  for (datasets::text_field const& field : found.texts[i]->fields) text += field.text + " ";
  std::string_view shown = text;
  shown = shown.substr(0, std::min(shown.find_last_not_of(" \n") + 1, most_shown));
  throw error(
      {datasets::display_name(path), 1, 1},
      fmt::format(
          "found for {} {} the text {}, which is not that of which {} was made, as "
          "of {} of its {}; expected the texts that it was made of, or "
          "--other-texts",
          wanted.kind, wanted.ids[i], datasets::quoted(shown), wanted.pool, found.others,
          counted(wanted.ids.size(), wanted.kind, wanted.kind == "query" ? "queries" : "")));
}

struct chosen_texts {
  found_texts found;
  bool by_position = false;  ///< by the pool's checksums
};

/// Reads the texts that are wanted.
chosen_texts read_texts(context const& ctx, std::string const& path, datasets::text_format format,
                        text_sources const& sources, wanted_texts const& wanted) {
  bool const told = sources.number_by_position.has_value();
  datasets::text_options options;
  options.labels = sources.labels;
  options.number_by_position = sources.number_by_position.value_or(false);
  text_collector by_id(wanted), by_position(wanted);
  bool has_positions = false;
  datasets::read_documents(
      ctx, path, format,
      [&](datasets::text_document&& document) {
        by_id.take(document.id, document);
        if (told || document.position == 0) return;
        has_positions = true;
        by_position.take(std::to_string(document.position), document);
      },
      options);
  found_texts found = std::move(by_id).finish();
  if (!has_positions) {
    expect_the_pools(found, wanted, path);
    return {std::move(found)};
  }
  found_texts other = std::move(by_position).finish();
  bool const any_sum = std::ranges::any_of(wanted.sums, [](auto const& sum) { return bool(sum); });
  if (any_sum) {
    // A text that is not there is no better than another one.
    bool const better = other.others + other.missing < found.others + found.missing;
    if (better) found = std::move(other);
    expect_the_pools(found, wanted, path);
    return {std::move(found), better};
  }
  if (other.missing < wanted.ids.size() && differ(found, other))
    throw error({datasets::display_name(path), 1, 1},
                fmt::format("found {} whose numbers behind .I are not their positions, and {} does "
                            "not say which of the two its ids are, expected --number-by-position, "
                            "or --number-by-position=false where they are the numbers",
                            wanted.kind == "query" ? "queries" : "documents", wanted.pool));
  return {std::move(found)};
}

/// A word of a text that is one of the query's too.
struct hit {
  std::size_t begin = 0, end = 0;  // bytes
  std::size_t word = 0;            // of the query
};

using query_words = std::unordered_map<std::string, std::size_t>;

void add_piece(marked_text& pieces, std::string_view text, bool marked) {
  if (!text.empty()) pieces.push_back({std::string(text), marked});
}

marked_text pieces_of(std::string_view text, std::vector<hit> const& hits, std::size_t begin,
                      std::size_t end) {
  marked_text pieces;
  std::size_t at = begin;
  for (hit const& h : hits) {
    if (h.begin < at || h.end > end) continue;
    add_piece(pieces, text.substr(at, h.begin - at), false);
    add_piece(pieces, text.substr(h.begin, h.end - h.begin), true);
    at = h.end;
  }
  add_piece(pieces, text.substr(at, end - at), false);
  return pieces;
}

/// The hits [first, last) within `size` bytes with most different words, then most; the first such.
std::pair<std::size_t, std::size_t> best_window(std::vector<hit> const& hits, std::size_t size,
                                                std::size_t words) {
  std::vector<std::size_t> inside(words);
  std::pair<std::size_t, std::size_t> best{0, 0}, value{0, 0};
  std::size_t different = 0, first = 0;
  for (std::size_t last = 0; last < hits.size(); ++last) {
    different += inside[hits[last].word]++ == 0;
    for (; hits[last].end - hits[first].begin > size && first < last; ++first)
      different -= --inside[hits[first].word] == 0;
    std::pair<std::size_t, std::size_t> const here{different, last + 1 - first};
    if (here > value) {
      value = here;
      best = {first, last + 1};
    }
  }
  return best;
}

}  // namespace

std::string plain(marked_text const& text) {
  std::string whole;
  for (text_piece const& piece : text) whole += piece.text;
  return whole;
}

struct document_texts::state {
  knn::analyzer analyzer;
  knn::word_breaker breaker{};
  std::vector<std::size_t> query_of{};              // of each document of the pool
  std::vector<std::string> queries{};               // of the pool
  std::vector<text> documents{};                    // of the pool
  std::vector<std::optional<query_words>> words{};  // of each query, when it has been asked for
  std::size_t documents_missing = 0, queries_missing = 0;
  bool documents_by_position = false, queries_by_position = false;

  query_words const& words_of(std::size_t query) {
    std::optional<query_words>& found = words[query];
    if (!found) {
      found.emplace();
      analyzer.analyze(queries[query],
                       [&](std::string_view term) { found->emplace(term, found->size()); });
    }
    return *found;
  }

  std::vector<hit> hits_of(std::string_view text, std::size_t query) {
    query_words const& wanted = words_of(query);
    std::vector<hit> hits;
    if (wanted.empty()) return hits;
    breaker.split(text, [&](std::string_view word, bool) {
      std::optional<std::size_t> found;
      analyzer.analyze(word, [&](std::string_view term) {
        if (auto const at = wanted.find(std::string(term)); at != wanted.end()) found = at->second;
      });
      if (!found) return;
      auto const begin = static_cast<std::size_t>(word.data() - text.data());
      hits.push_back({begin, begin + word.size(), *found});
    });
    return hits;
  }
};

namespace {

/// The checksums of a pool's comments: all have them, or none. Throws `error` naming the line.
void read_sums(datasets::dataset const& pool, std::vector<std::optional<std::uint32_t>>& queries,
               std::vector<std::optional<std::uint32_t>>& documents) {
  std::size_t with = 0, first_without = pool.size();
  for (std::size_t q = 0; q < pool.queries.size(); ++q)
    for (std::size_t d = pool.queries[q].begin; d < pool.queries[q].end; ++d) {
      if (std::string const fault = datasets::fault_of_text_sums(pool.comment(d)); !fault.empty())
        throw error(datasets::place_of(pool, d), "found " + fault);
      auto const sums = datasets::text_sums_of(pool.comment(d));
      if (!sums) {
        first_without = std::min(first_without, d);
        continue;
      }
      ++with;
      documents[d] = sums->document;
      if (queries[q] && *queries[q] != sums->topic)
        throw error(datasets::place_of(pool, d),
                    fmt::format("found a document of query {} that was made of another text than "
                                "those before, expected one text of a query",
                                pool.queries[q].qid));
      queries[q] = sums->topic;
    }
  if (with > 0 && with < pool.size())
    throw error(datasets::place_of(pool, first_without),
                fmt::format("found a document without {}, which {} of {} have, expected it of all, "
                            "or --other-texts",
                            datasets::text_sums_key, with, counted(pool.size(), "document")));
}

}  // namespace

document_texts::document_texts(context const& ctx, datasets::dataset const& pool,
                               text_sources const& sources)
    : state_(new state{.analyzer = knn::analyzer(sources.words)}) {
  state& s = *state_;
  s.query_of.resize(pool.size());
  s.documents.resize(pool.size());
  s.queries.resize(pool.queries.size());
  s.words.resize(pool.queries.size());
  wanted_texts documents{pool.name, "document", {}, {}}, queries{pool.name, "query", {}, {}};
  documents.sums.resize(pool.size());
  for (std::size_t q = 0; q < pool.queries.size(); ++q) {
    queries.ids.push_back(pool.queries[q].qid);
    for (std::size_t d = pool.queries[q].begin; d < pool.queries[q].end; ++d) {
      s.query_of[d] = q;
      documents.ids.push_back(pool.docid(d));
    }
  }
  queries.sums.resize(pool.queries.size());
  if (!sources.other_texts) read_sums(pool, queries.sums, documents.sums);
  chosen_texts const topics =
      read_texts(ctx, sources.topics, datasets::text_format::automatic, sources, queries);
  for (std::size_t q = 0; q < pool.queries.size(); ++q) {
    if (!topics.found.texts[q]) continue;
    text const t = text_of(*topics.found.texts[q]);
    s.queries[q] = with_single_blanks(t.title.empty() ? t.body : t.title + "\n" + t.body);
  }
  chosen_texts const shown = read_texts(ctx, sources.documents, sources.format, sources, documents);
  for (std::size_t d = 0; d < pool.size(); ++d)
    if (shown.found.texts[d]) s.documents[d] = text_of(*shown.found.texts[d]);
  s.documents_missing = shown.found.missing;
  s.queries_missing = topics.found.missing;
  s.documents_by_position = shown.by_position;
  s.queries_by_position = topics.by_position;
  if (s.documents_missing == pool.size())
    throw error({datasets::display_name(sources.documents), 1, 1},
                fmt::format("has none of the documents of {}, such as {}, expected their texts",
                            pool.name, pool.docid(0)));
  if (s.queries_missing == pool.queries.size())
    throw error({datasets::display_name(sources.topics), 1, 1},
                fmt::format("has none of the queries of {}, such as {}, expected their texts",
                            pool.name, pool.queries.front().qid));
}

document_texts::~document_texts() = default;
document_texts::document_texts(document_texts&&) noexcept = default;

std::string const& document_texts::query(std::size_t document) const {
  return state_->queries[state_->query_of[document]];
}

marked_text document_texts::title(std::size_t document) {
  std::string const& title = state_->documents[document].title;
  return pieces_of(title, state_->hits_of(title, state_->query_of[document]), 0, title.size());
}

marked_text document_texts::whole(std::size_t document) {
  std::string const& body = state_->documents[document].body;
  return pieces_of(body, state_->hits_of(body, state_->query_of[document]), 0, body.size());
}

marked_text document_texts::passage(std::size_t document, std::size_t characters) {
  std::string const body = with_single_blanks(state_->documents[document].body);
  std::size_t const query = state_->query_of[document];
  std::vector<hit> const hits = state_->hits_of(body, query);
  std::size_t begin = 0, end = body.size();
  std::size_t needed = end;  // where the first word that is to be seen begins
  if (body.size() > characters) {
    end = characters;
    if (!hits.empty()) {
      auto const [first, last] = best_window(hits, characters, state_->words_of(query).size());
      std::size_t const from = needed = hits[first].begin, to = hits[last - 1].end;
      // What is left of the room goes to both sides, but not beyond the text's ends.
      std::size_t const room = characters - std::min(characters, to - from);
      begin = from - std::min(from, room / 2);
      end = std::max(to, std::min(begin + characters, body.size()));
      if (end == body.size() && end > characters) begin = std::min(from, end - characters);
    }
    // Not within a word.
    if (begin > 0)
      if (std::size_t const blank = body.find(' ', begin - 1); blank < needed) begin = blank + 1;
    if (end < body.size())
      if (std::size_t const blank = body.rfind(' ', end); blank != body.npos && blank > begin)
        end = blank;
    while (end < body.size() && (static_cast<unsigned char>(body[end]) & 0xc0) == 0x80) ++end;
    while (begin > 0 && (static_cast<unsigned char>(body[begin]) & 0xc0) == 0x80) --begin;
  }
  marked_text pieces = pieces_of(body, hits, begin, end);
  if (begin > 0) pieces.insert(pieces.begin(), {"... ", false});
  if (end < body.size()) pieces.push_back({" ...", false});
  return pieces;
}

std::size_t document_texts::documents_missing() const noexcept {
  return state_->documents_missing;
}

std::size_t document_texts::queries_missing() const noexcept {
  return state_->queries_missing;
}

bool document_texts::documents_found_by_position() const noexcept {
  return state_->documents_by_position;
}

bool document_texts::queries_found_by_position() const noexcept {
  return state_->queries_by_position;
}

}  // namespace rulerank::annotation
