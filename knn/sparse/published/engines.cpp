#include "knn/sparse/published/engines.hpp"

#include "core/named_values.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/published/fish.hpp"

#include <array>
#include <cstddef>

namespace rulerank::inline v0::knn {

std::unique_ptr<sparse_search_engine> make_mt(context const& ctx, sparse_index const& index,
                                              sparse_search_options const& options);
std::unique_ptr<sparse_search_engine> make_gknn(context const& ctx, sparse_index const& index,
                                                sparse_search_options const& options);
std::unique_ptr<sparse_search_engine> make_gt(context const& ctx, sparse_index const& index,
                                              sparse_search_options const& options);
std::unique_ptr<sparse_search_engine> make_fish(context const& ctx, sparse_index const& index,
                                                similarity metric, fish_options const& options);

namespace {

constexpr std::array<std::string_view, 2> balances{"inter", "intra"};

#if RULERANK_HAS_CUDA
std::unique_ptr<sparse_search_engine> make_default_fish(context const& ctx,
                                                        sparse_index const& index,
                                                        sparse_search_options const& options) {
  return make_fish(ctx, index, options.metric, {});
}
#endif

}  // namespace

load_balance load_balance_from(std::string_view name) {
  return value_named<load_balance>(balances, name, "found balance", name_list::plain);
}
std::string_view name_of(load_balance balance) {
  return balances[static_cast<std::size_t>(balance)];
}

sparse_searcher make_fish_searcher(context const& ctx, sparse_index const& index, similarity metric,
                                   [[maybe_unused]] fish_options const& options) {
  sparse_searcher_access::maker make;  // empty without CUDA; `with` then rejects the engine
#if RULERANK_HAS_CUDA
  make = [&](context const& on, sparse_index const& of, sparse_search_options const& how) {
    return make_fish(on, of, how.metric, options);
  };
#endif
  return sparse_searcher_access::with(ctx, index, {metric, sparse_engine::fish}, make);
}

void add_published_sparse_engines() {
  registered_sparse_engines().add({
    {{sparse_engine::mt, "mt", "posting lists, a query a thread, a full sort",
      "Freitas 2017, Algorithms 18 and 19", runs_on::cpu, runs_on::nowhere},
     {make_mt, true}},
#if RULERANK_HAS_CUDA
        {{sparse_engine::gknn, "gknn", "every document's row, a full sort; single precision",
          "Freitas 2017, section 5.4", runs_on::gpus, runs_on::nowhere},
         {make_gknn}},
        {{sparse_engine::gt, "gt", "posting lists, a query a launch; single precision",
          "Freitas 2017, Algorithms 7 to 9", runs_on::gpus, runs_on::nowhere},
         {make_gt}},
        {{sparse_engine::fish, "fish",
          "posting lists, a group of queries a launch; single precision",
          "Freitas 2017, Algorithms 20 to 23", runs_on::gpus, runs_on::nowhere},
         {make_default_fish}},
#endif
  });
}

}  // namespace rulerank::knn
