# The GPUs that the kernels are compiled for where CMAKE_CUDA_ARCHITECTURES does not say. The kernels need compute
# capability 8.0 or later.
set(RULERANK_CUDA_CAPABILITIES 80 86 89 90 100 120)

# rulerank_known_capabilities(OUT): those of RULERANK_CUDA_CAPABILITIES that nvcc compiles for; else an error.
function(rulerank_known_capabilities out)
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  set(found)
  foreach(capability IN LISTS RULERANK_CUDA_CAPABILITIES)
    if(known MATCHES "compute_${capability}\n")
      list(APPEND found ${capability})
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} compiles for none of ${RULERANK_CUDA_CAPABILITIES}; found:\n${known}"
                        "Install CUDA 12 or later, or set CMAKE_CUDA_ARCHITECTURES")
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# rulerank_cuda_architectures(OUT): `native`, the GPUs of this machine, where there are any that the kernels run on; else
# all of RULERANK_CUDA_CAPABILITIES that nvcc knows, the last as PTX too, which the driver compiles for later GPUs.
function(rulerank_cuda_architectures out)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE here ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND here MATCHES "^([89]|[1-9][0-9])[.]")
    set(${out} native PARENT_SCOPE)
    return()
  endif()
  rulerank_known_capabilities(chosen)
  list(POP_BACK chosen last)
  list(TRANSFORM chosen APPEND -real)
  set(${out} ${chosen} ${last} PARENT_SCOPE)
endfunction()
