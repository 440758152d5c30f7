#include "l2r/rules/tensor.cuh"

#include <algorithm>

namespace rulerank::inline v0::l2r {

namespace {

/// Scores few documents one by one, many item by item.
class tensor final : public device_scorer {
 public:
  tensor(prepared_training const& training, device_training const& on_device)
      : by_document_(make_tensor_by_document(training, on_device)),
        by_item_(make_tensor_by_item(training, on_device)),
        many_(training.knobs.shared_from) {}

  std::size_t bytes_per_document() const override {
    return by_document_->bytes_per_document() +
           (by_item_ == nullptr ? 0 : by_item_->bytes_per_document());
  }
  void reserve(std::size_t documents) override {
    if (shares_features(documents)) by_item_->reserve(documents);
    // The last batch of a call may be small.
    by_document_->reserve(by_item_ == nullptr ? documents : std::min(documents, many_));
  }
  void score(document_view const& documents, double* scores, stream const& on) override {
    chosen(documents.documents).score(documents, scores, on);
  }
  bool shares_features(std::size_t documents) const override {
    return by_item_ != nullptr && documents >= many_;
  }
  void score_part(document_view const& documents, feature_slice const& part,
                  score_sums<std::uint64_t>* sums, stream const& on) override {
    by_item_->score_part(documents, part, sums, on);
  }

 private:
  device_scorer& chosen(std::size_t documents) {
    return shares_features(documents) ? *by_item_ : *by_document_;
  }

  std::unique_ptr<device_scorer> by_document_;
  std::unique_ptr<device_scorer> by_item_;
  std::size_t many_;  // from this many documents on, scoring them together is faster
};

}  // namespace

std::unique_ptr<scoring_engine> make_tensor(context const& ctx, prepared_training const& training) {
  return on_devices(ctx.devices, training,
                    [](prepared_training const& prepared,
                       device_training const& on_device) -> std::unique_ptr<device_scorer> {
                      return std::make_unique<tensor>(prepared, on_device);
                    });
}

}  // namespace rulerank::l2r
