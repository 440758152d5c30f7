#pragma once

#include "core/random.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>

// Sets drawn for the tests of the samplers.
namespace rulerank::al {

/// `bins` codes a feature, drawn with most mass on the first ones; one in `absent` has no item. The
/// labels are the caller's to draw.
inline datasets::binned_dataset drawn_items(random_engine& engine, std::size_t documents,
                                            std::size_t features, std::uint32_t bins,
                                            std::uint64_t absent) {
  datasets::binned_dataset data;
  data.documents = documents;
  data.stride = round_up(documents, 64);
  data.codes.assign(features * data.stride, datasets::no_item);
  data.item_begin = {0};
  for (std::size_t f = 0; f < features; ++f) {
    data.features.push_back(static_cast<std::uint32_t>(f + 1));
    data.has_missing_item.push_back(false);
    data.item_begin.push_back(data.item_begin.back() + bins);
    for (std::size_t d = 0; d < documents; ++d)
      if (uniform_below(engine, absent) != 0)
        data.codes[f * data.stride + d] =
            static_cast<std::uint8_t>(uniform_below(engine, 1 + uniform_below(engine, bins)));
  }
  return data;
}

}  // namespace rulerank::al
