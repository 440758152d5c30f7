#include "core/error.hpp"
#include "datasets/sample.hpp"

#include <string>

namespace rulerank::inline v0::datasets {

namespace {

// Shares of relevant documents among judged ones in each collection: LETOR 3.0, MSLR-WEB10K, Yahoo!
// (set 2).
constexpr double topic_2003[] = {0.9895, 0.0105};
constexpr double page_2003[] = {0.9988, 0.0012};
constexpr double topic_2004[] = {0.978, 0.022};
constexpr double page_2004[] = {0.9988, 0.0012};
constexpr double web[] = {0.52, 0.32, 0.13, 0.02, 0.01};

constexpr shape table[] = {
    {"td2003", 29435, 9812, 9812, 30, 10, 10, 59, 5, 671, 2082, 146, 548, 5, topic_2003},
    {"hp2003", 88564, 29521, 29521, 90, 30, 30, 59, 5, 1091, 4936, 222, 1214, 5, page_2003},
    {"np2003", 89195, 29731, 29731, 90, 30, 30, 59, 5, 995, 4545, 197, 1146, 5, page_2003},
    {"td2004", 44488, 14834, 14834, 45, 15, 15, 64, 5, 593, 2115, 133, 515, 5, topic_2004},
    {"hp2004", 44646, 14882, 14882, 45, 15, 15, 64, 5, 859, 3499, 186, 858, 5, page_2004},
    {"np2004", 44301, 14767, 14767, 45, 15, 15, 64, 5, 658, 3262, 173, 827, 5, page_2004},
    {"web10k", 720116, 240039, 240039, 6000, 2000, 2000, 131, 13, 2101, 7337, 170, 635, 5, web},
    {"yahoo2", 34815, 34881, 103174, 1266, 1266, 3798, 449, 40, 1514, 3039, 50, 106, 1, web},
};

}  // namespace

std::span<shape const> shapes() noexcept {
  return table;
}

shape const& find_shape(std::string_view name) {
  std::string known;
  for (shape const& s : table) {
    if (s.name == name) return s;
    known += known.empty() ? "" : ", ";
    known += s.name;
  }
  throw usage_error("found shape '" + std::string(name) + "', expected one of " + known);
}

}  // namespace rulerank::datasets
