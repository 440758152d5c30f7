#include "core/parallel.hpp"
#include "knn/sparse/engine.hpp"
#include "knn/sparse/similarity_math.hpp"

#include <algorithm>

namespace rulerank::inline v0::knn {

namespace {

/// MT-kNN. Each thread processes one query at a time: it adds each posting of each term to the sum
/// of its document, then sorts all documents.
class mt final : public sparse_search_engine {
 public:
  mt(sparse_index const& index, similarity metric) : index_(index), metric_(metric) {}

  void search(context const& ctx, sparse_rows const& queries, std::span<double const> query_norms,
              neighbours& found, sparse_search_work&) const override {
    std::size_t const n = index_.size();
    struct scratch {
      std::vector<double> sums;
      std::vector<sparse_candidate> all;
    };
    std::vector<scratch> of_thread(static_cast<std::size_t>(ctx.thread_count()));
    parallel_for(ctx, queries.size(), 1, [&](std::size_t q, std::size_t, int thread) {
      scratch& mine = of_thread[static_cast<std::size_t>(thread)];
      mine.sums.assign(n, 0);
      sparse_row const query = queries[q];
      for (std::size_t i = 0; i < query.size(); ++i) {
        posting_list const list = index_.list(query.term[i]);
        for (std::size_t p = 0; p < list.size(); ++p)
          mine.sums[list.document[p]] += query.weight[i] * list.weight[p];
      }
      mine.all.resize(n);
      for (std::size_t d = 0; d < n; ++d)
        mine.all[d] = {metric_ == similarity::inner_product
                           ? mine.sums[d]
                           : cosine_of(mine.sums[d], query_norms[q], index_.norms()[d],
                                       metric_ == similarity::normalized_l2),
                       static_cast<std::uint32_t>(d)};
      std::sort(mine.all.begin(), mine.all.end(), nearer_document{});
      for (std::size_t i = 0; i < found.k; ++i) {
        found.id[q * found.k + i] = mine.all[i].id;
        found.value[q * found.k + i] = mine.all[i].value;
      }
    });
  }

 private:
  sparse_index const& index_;
  similarity metric_;
};

}  // namespace

std::unique_ptr<sparse_search_engine> make_mt(context const&, sparse_index const& index,
                                              sparse_search_options const& options) {
  return std::make_unique<mt>(index, options.metric);
}

}  // namespace rulerank::knn
