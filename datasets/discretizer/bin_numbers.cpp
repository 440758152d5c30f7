#include "core/parallel.hpp"
#include "datasets/discretizer.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace rulerank::inline v0::datasets {

dataset with_bin_numbers(context const& ctx, dataset data, binned_dataset const& binned) {
  std::size_t const features = binned.feature_count();
  data.names = binned.names;
  data.entries.resize(data.size() * features);
  parallel_for(ctx, data.size(), 1024, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t f = 0; f < features; ++f) {
      std::uint32_t const bins = binned.bins(f) - (binned.has_missing_item[f] ? 1 : 0);
      for (std::size_t d = begin; d < end; ++d) {
        std::uint8_t const code = binned.code(f, d);
        data.entries[d * features + f] = {
            binned.features[f],
            code < bins ? static_cast<double>(code) : std::numeric_limits<double>::quiet_NaN()};
      }
    }
  });
  for (std::size_t d = 0; d <= data.size(); ++d) data.row[d] = d * features;
  return data;
}

}  // namespace rulerank::datasets
