#include "knn/text/stemmer.hpp"

#include "core/named_values.hpp"
#include "knn/text/analyzer.hpp"

#include <algorithm>
#include <new>

#include <libstemmer.h>

namespace rulerank::inline v0::knn {

std::vector<std::string> stemmers() {
  std::vector<std::string> names;
  for (char const** name = sb_stemmer_list(); *name != nullptr; ++name) names.emplace_back(*name);
  return names;
}

void stemmer::closer::operator()(sb_stemmer* s) const noexcept {
  sb_stemmer_delete(s);
}

stemmer::stemmer(std::string const& algorithm) : algorithm_(algorithm) {
  if (algorithm == "none") return;
  auto const known = stemmers();
  if (std::find(known.begin(), known.end(), algorithm) == known.end())
    throw unknown_name("found the stemmer", algorithm, "none or one of: " + list_of_names(known));
  stemmer_.reset(sb_stemmer_new(algorithm.c_str(), "UTF_8"));
  if (!stemmer_) throw std::bad_alloc();
}

std::string_view stemmer::stem(std::string_view word) {
  if (!stemmer_) return word;
  sb_symbol const* const stem =
      sb_stemmer_stem(stemmer_.get(), reinterpret_cast<sb_symbol const*>(word.data()),
                      static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<char const*>(stem),
          static_cast<std::size_t>(sb_stemmer_length(stemmer_.get()))};
}

}  // namespace rulerank::knn
