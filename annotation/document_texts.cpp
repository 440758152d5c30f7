#include "annotation/document_texts.hpp"

#include "core/control_characters.hpp"
#include "core/error.hpp"
#include "datasets/text_source.hpp"
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

document_texts::document_texts(context const& ctx, datasets::dataset const& pool,
                               text_sources const& sources)
    : state_(new state{.analyzer = knn::analyzer(sources.words)}) {
  state& s = *state_;
  s.query_of.resize(pool.size());
  s.documents.resize(pool.size());
  s.queries.resize(pool.queries.size());
  s.words.resize(pool.queries.size());
  std::unordered_map<std::string, std::vector<std::size_t>> documents, queries;
  for (std::size_t q = 0; q < pool.queries.size(); ++q) {
    queries[pool.queries[q].qid].push_back(q);
    for (std::size_t d = pool.queries[q].begin; d < pool.queries[q].end; ++d) {
      s.query_of[d] = q;
      documents[pool.docid(d)].push_back(d);
    }
  }
  std::unordered_set<std::string> seen;
  datasets::read_documents(
      ctx, sources.topics, datasets::text_format::automatic, [&](datasets::text_document&& topic) {
        auto const found = queries.find(topic.id);
        if (found == queries.end()) return;
        text const t = text_of(topic);
        for (std::size_t const q : found->second)
          s.queries[q] = with_single_blanks(t.title.empty() ? t.body : t.title + "\n" + t.body);
        queries.erase(found);
      });
  datasets::read_documents(ctx, sources.documents, sources.format,
                           [&](datasets::text_document&& document) {
                             auto const found = documents.find(document.id);
                             if (found == documents.end()) return;
                             text const t = text_of(document);
                             for (std::size_t const d : found->second) s.documents[d] = t;
                             documents.erase(found);
                           });
  for (auto const& [id, where] : documents) s.documents_missing += where.size();
  for (auto const& [id, where] : queries) s.queries_missing += where.size();
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

}  // namespace rulerank::annotation
