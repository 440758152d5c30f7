#pragma once

#include <string>

#include <cublas_v2.h>

// cuBLAS, loaded on demand, so that programs start without its half a gigabyte, and on machines
// that lack it.
namespace rulerank::inline v0::knn {

/// Functions of cuBLAS. Several threads may use them at once.
class cublas_library {
 public:
  /// Throws `device_error` that names the file if it cannot be loaded.
  cublas_library();

  /// Throws `device_error` if a call failed. `what`: the call.
  void check(cublasStatus_t status, char const* what) const;

  decltype(&cublasCreate) create = nullptr;
  decltype(&cublasDestroy) destroy = nullptr;
  decltype(&cublasSetStream) set_stream = nullptr;
  decltype(&cublasSgemm) sgemm = nullptr;
  decltype(&cublasGetStatusString) status_string = nullptr;
};

/// A handle of the current device. Neither copied nor moved; the library must outlive it.
class cublas_handle {
 public:
  explicit cublas_handle(cublas_library const& library);
  ~cublas_handle();
  cublas_handle(cublas_handle const&) = delete;
  cublas_handle& operator=(cublas_handle const&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublas_library const& library_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace rulerank::knn
