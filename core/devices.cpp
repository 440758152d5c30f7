#include "core/devices.hpp"

namespace rulerank {

#if RULERANK_HAS_CUDA
device_list list_cuda_devices();  // devices_cuda.cu
device_list list_devices() {
  return list_cuda_devices();
}
#else
device_list list_devices() {
  return {{}, "built without CUDA"};
}
#endif

}  // namespace rulerank
