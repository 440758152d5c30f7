#pragma once

/// Marks functions for host and device; empty for compilers other than CUDA's.
#if defined(__CUDACC__)
#define RULERANK_HOST_DEVICE __host__ __device__
#else
#define RULERANK_HOST_DEVICE
#endif
