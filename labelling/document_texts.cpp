#include "labelling/document_texts.hpp"

#include "knn/text/analyzer.hpp"
#include "knn/unicode.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace rulerank::inline v0::labelling {

namespace {

/// A word of a text that matches a query word.
struct hit {
  std::size_t begin = 0, end = 0;  // byte offsets
  std::size_t word = 0;            // index in the query
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

/// The range [first, last) of hits within `size` bytes that has the most distinct words, then the
/// most hits; the first such range.
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
  pool_texts texts{};
  std::vector<std::optional<query_words>> words{};  // [queries] made on first use

  shown_text const& text_of(std::size_t document) const {
    return texts.documents[texts.text_of[document]];
  }
  query_words const& words_of(std::size_t query) {
    std::optional<query_words>& found = words[query];
    if (!found) {
      found.emplace();
      analyzer.analyze(texts.queries[query],
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
  state_->texts = read_pool_texts(ctx, pool, sources);
  state_->words.resize(pool.queries.size());
}

document_texts::~document_texts() = default;
document_texts::document_texts(document_texts&&) noexcept = default;

std::string const& document_texts::query(std::size_t document) const {
  return state_->texts.queries[state_->texts.query_of[document]];
}

marked_text document_texts::title(std::size_t document) {
  std::string const& title = state_->text_of(document).title;
  return pieces_of(title, state_->hits_of(title, state_->texts.query_of[document]), 0,
                   title.size());
}

marked_text document_texts::whole(std::size_t document) {
  std::string const& body = state_->text_of(document).body;
  return pieces_of(body, state_->hits_of(body, state_->texts.query_of[document]), 0, body.size());
}

marked_text document_texts::passage(std::size_t document, std::size_t characters) {
  std::string const body = with_single_blanks(state_->text_of(document).body);
  std::size_t const query = state_->texts.query_of[document];
  std::vector<hit> const hits = state_->hits_of(body, query);
  std::size_t begin = 0, end = body.size();
  std::size_t needed = end;  // start of the first word that must be visible
  if (body.size() > characters) {
    end = characters;
    if (!hits.empty()) {
      auto const [first, last] = best_window(hits, characters, state_->words_of(query).size());
      std::size_t const from = needed = hits[first].begin, to = hits[last - 1].end;
      // Distributes the remaining room to both sides, within the text.
      std::size_t const room = characters - std::min(characters, to - from);
      begin = from - std::min(from, room / 2);
      end = std::max(to, std::min(begin + characters, body.size()));
      if (end == body.size() && end > characters) begin = std::min(from, end - characters);
    }
    // Starts at a word boundary.
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
  return state_->texts.documents_missing;
}

std::size_t document_texts::queries_missing() const noexcept {
  return state_->texts.queries_missing;
}

bool document_texts::documents_found_by_position() const noexcept {
  return state_->texts.documents_by_position;
}

bool document_texts::queries_found_by_position() const noexcept {
  return state_->texts.queries_by_position;
}

}  // namespace rulerank::labelling
