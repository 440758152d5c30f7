#include "apps/shared/search/corrections.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rulerank::inline v0::apps {

void correction_report::correct(session& owner, knn::spelling_corrector const& corrector,
                                std::span<datasets::text_document> documents) {
  std::size_t last = std::numeric_limits<std::size_t>::max();
  for (knn::spelling_change const& one : corrector.correct(owner.ctx(), documents)) {
    if (one.document != last) ++queries_;
    last = one.document;
    list_.push_back({{"query", documents[one.document].id},
                     {"word", one.word},
                     {"replacement", one.replacement},
                     {"distance", one.distance}});
  }
}

void correction_report::finish(session& owner) const {
  constexpr std::size_t shown = 10;
  owner.note("corrections", list_);
  for (std::size_t i = 0; i < std::min(shown, list_.size()); ++i)
    owner.say(fmt::format("query {}: searched '{}' as '{}'", list_[i]["query"].get<std::string>(),
                          list_[i]["word"].get<std::string>(),
                          list_[i]["replacement"].get<std::string>()));
  owner.say(fmt::format("--correct replaced {} in {}{}", counted(list_.size(), "word"),
                        counted(queries_, "query", "queries"),
                        list_.size() > shown ? "; --manifest lists them all" : ""));
}

}  // namespace rulerank::apps
