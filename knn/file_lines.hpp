#pragma once

#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/input/text_source.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace rulerank::inline v0::knn {

/// Calls `use(line, place)` for each line of a file, without its line end. Throws `error` if the
/// file cannot be read or was changed meanwhile.
template <class Use>
void each_line(context const& ctx, std::string const& path, Use const& use) {
  auto const text = datasets::open_text(ctx, path);
  std::string const name = datasets::display_name(path);
  datasets::for_each_line(text->bytes(), [&](std::string_view line, std::uint64_t number) {
    if (std::size_t const at = datasets::inner_return(line); at != line.npos)
      throw error({name, number, at + 1}, datasets::inner_return_fault);
    line = line.substr(0, line.find_last_not_of('\r') + 1);
    use(line, source_position{name, number, 0});
  });
  datasets::expect_unchanged(*text, name);
}

}  // namespace rulerank::knn
