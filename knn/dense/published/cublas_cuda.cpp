#include "knn/dense/published/cublas_cuda.hpp"

#include "core/error.hpp"

#include <dlfcn.h>

namespace rulerank::inline v0::knn {

namespace {

#define RULERANK_TEXT_OF(x) #x
#define RULERANK_FILE_OF(major) "libcublas.so." RULERANK_TEXT_OF(major)
constexpr char file_name[] = RULERANK_FILE_OF(CUBLAS_VER_MAJOR);
#undef RULERANK_FILE_OF
#undef RULERANK_TEXT_OF

void* open_library() {
  // Never unloaded, because its threads and device handles may outlive the last engine.
  constexpr int how = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  if (void* const found = dlopen(file_name, how)) return found;
  std::string const why = dlerror();
  for (char const* const folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"})
    if (void* const found = dlopen((std::string(folder) + file_name).c_str(), how)) return found;
  throw device_error("engine gs needs cuBLAS, which cannot be loaded: " + why);
}

template <class Function>
void look_up(void* library, char const* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (out == nullptr) throw device_error(std::string(file_name) + " has no function " + name);
}

}  // namespace

cublas_library::cublas_library() {
  void* const library = open_library();
  look_up(library, "cublasCreate_v2", create);
  look_up(library, "cublasDestroy_v2", destroy);
  look_up(library, "cublasSetStream_v2", set_stream);
  look_up(library, "cublasSgemm_v2", sgemm);
  look_up(library, "cublasGetStatusString", status_string);
}

void cublas_library::check(cublasStatus_t status, char const* what) const {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw device_error(std::string(what) + " of cuBLAS: " + status_string(status));
}

cublas_handle::cublas_handle(cublas_library const& library) : library_(library) {
  library_.check(library_.create(&handle_), "cublasCreate");
}

cublas_handle::~cublas_handle() {
  library_.destroy(handle_);
}

}  // namespace rulerank::knn
