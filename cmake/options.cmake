# How everything is compiled.
option(RULERANK_PROGRAM "Build the program" ON)
option(RULERANK_PYTHON "Build the module of the Python package; pip sets it" OFF)
option(RULERANK_TESTS "Build the tests" ON)
option(RULERANK_BENCH "Build the benchmarks" OFF)
set(RULERANK_CUDA AUTO CACHE STRING "Build the CUDA code: AUTO (when nvcc is there), ON or OFF")
set_property(CACHE RULERANK_CUDA PROPERTY STRINGS AUTO ON OFF)
set(RULERANK_MPI AUTO CACHE STRING "Run over MPI ranks: AUTO (when MPI is there), ON or OFF")
set_property(CACHE RULERANK_MPI PROPERTY STRINGS AUTO ON OFF)
set(RULERANK_SANITIZE "" CACHE STRING "Sanitizers of the whole build: address,undefined or thread")
# Warnings cost a seventh of the build, so only those who change the code ask for them.
option(RULERANK_WERROR "Compile with warnings, as errors" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Batches cost a third of what their files cost alone. OFF: lint, sanitizers, and work on one module.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile the C++ sources of a module in batches")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)  # one batch a module
# g++ takes the sources that a batch includes for headers, and warns of their anonymous namespaces without reason.
add_compile_options($<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-subobject-linkage>)
# g++ collects its garbage less often: an eighth of its time for some 300 MB more of a batch.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
# Results have equal bits on all machines: compilers may not fuse a multiplication and an addition.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# CUDA sources have the same rules, in the host's code and in the device's.
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>
                    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>)
if(RULERANK_WERROR)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  if(NOT CMAKE_UNITY_BUILD)  # in a batch one file shadows another; `./run lint` compiles each file alone
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wshadow>)
  endif()
  # -Wpedantic is for C++ alone: nvcc writes line directives that it objects to. Members out of order in a constructor
  # are reported by nvcc itself too, for code that is compiled for the device only.
  add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>
                      $<$<COMPILE_LANGUAGE:CUDA>:-Wreorder>
                      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>
                      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>")
endif()
if(RULERANK_SANITIZE)
  add_compile_options(-fsanitize=${RULERANK_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${RULERANK_SANITIZE})
  if(RULERANK_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# CUDA: RULERANK_HAS_CUDA says whether the build has it.
set(RULERANK_HAS_CUDA OFF)
if(NOT RULERANK_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    include(cuda_architectures)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      rulerank_cuda_architectures(CMAKE_CUDA_ARCHITECTURES)
    endif()
    enable_language(CUDA)
    # The program reports these architectures of its code; only CMake understands `native`.
    string(REPLACE "native" "${CMAKE_CUDA_ARCHITECTURES_NATIVE}" RULERANK_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")
    message(NOTICE "CUDA ${CMAKE_CUDA_COMPILER_VERSION}: code for ${RULERANK_CUDA_ARCHITECTURES}")
    # CMake 3.25 does not know nvcc's C++20 switch.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    endif()
    if(NOT CMAKE_CUDA20_EXTENSION_COMPILE_OPTION)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    set(RULERANK_HAS_CUDA ON)
  elseif(RULERANK_CUDA STREQUAL "ON")
    message(FATAL_ERROR "RULERANK_CUDA=ON, and no CUDA compiler (nvcc) was found")
  endif()
endif()
