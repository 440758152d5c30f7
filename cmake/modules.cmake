# rulerank_module(NAME [GLUE] [INTERNAL] PUBLIC_HEADERS a.hpp ... [INTERNAL_HEADERS i.hpp ...] SOURCES a.cpp ... [KERNELS k.cpp ...] [CUDA_SOURCES b.cu ...]
#                 [USES module ...] [LINKS target ...] [PRIVATE_LINKS target ...])
# One static library a module: target rulerank_NAME, alias rulerank::NAME. USES names the modules
# it depends on; their link lines are what keeps the dependencies one way. PUBLIC_HEADERS are what
# is installed: such a header includes public headers alone, none of CUDA or of a private link.
# PRIVATE_LINKS that are headers alone are not needed by those who link the installed library.
# SOURCES are compiled as one (CMAKE_UNITY_BUILD), so names in their anonymous namespaces are unique in the module.
# KERNELS are compiled one by one: inner loops, whose code then does not depend on other files, and files that Highway
# includes once for each instruction set. GLUE: a module without inner loops, whose code runs once a command.
# INTERNAL: it is not installed; its PUBLIC_HEADERS are for the program and Python. INTERNAL_HEADERS: the same of headers of
# a module that is installed.
set(header_only_packages Boost::headers nlohmann_json::nlohmann_json Spectra::Spectra)

# rulerank_glue(TARGET): its C++ sources compile at -Og in a release build, in place of CMake's -O3. The compiler's
# -Wmaybe-uninitialized has false positives there.
function(rulerank_glue target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>
                                           $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endfunction()

function(rulerank_module name)
  cmake_parse_arguments(ARG "GLUE;INTERNAL" "" "PUBLIC_HEADERS;INTERNAL_HEADERS;SOURCES;KERNELS;CUDA_SOURCES;USES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(rulerank_${name} STATIC ${ARG_SOURCES} ${ARG_KERNELS})
  set_source_files_properties(${ARG_KERNELS} ${ARG_CUDA_SOURCES} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(ARG_GLUE)
    rulerank_glue(rulerank_${name})
  endif()
  target_sources(rulerank_${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${ARG_PUBLIC_HEADERS})
  if(RULERANK_HAS_CUDA AND ARG_CUDA_SOURCES)
    target_sources(rulerank_${name} PRIVATE ${ARG_CUDA_SOURCES})
    target_link_libraries(rulerank_${name} PRIVATE CUDA::cudart_static)
    # OpenMP's own target sets the flag of the C++ compiler only; the host compiler of nvcc may be a different one.
    target_compile_options(rulerank_${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fopenmp>)
  endif()
  list(TRANSFORM ARG_INTERNAL_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(GLOBAL APPEND PROPERTY RULERANK_INTERNAL_HEADERS ${ARG_INTERNAL_HEADERS})
  add_library(rulerank::${name} ALIAS rulerank_${name})
  set_target_properties(rulerank_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(rulerank_${name} PUBLIC cxx_std_20)
  target_include_directories(rulerank_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/rulerank>)
  list(TRANSFORM ARG_USES PREPEND rulerank::)
  set(private_links ${ARG_PRIVATE_LINKS})
  foreach(package IN LISTS header_only_packages)
    list(TRANSFORM private_links REPLACE "^${package}$" "$<BUILD_INTERFACE:${package}>")
  endforeach()
  target_link_libraries(rulerank_${name} PUBLIC ${ARG_USES} ${ARG_LINKS} PRIVATE ${private_links})
  set_property(GLOBAL APPEND PROPERTY RULERANK_ALL_MODULES rulerank_${name})
  if(NOT ARG_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY RULERANK_MODULES rulerank_${name})
  endif()
endfunction()

# rulerank_published(MODULE SOURCES a.cpp ... CUDA_SOURCES b.cu ... [PRIVATE_LINKS target ...])
# The published engines of a module, with its published/engines.cpp: target rulerank_MODULE_published. The module does
# not need it; the program, Python, tests and benchmarks do.
function(rulerank_published module)
  cmake_parse_arguments(ARG "" "" "SOURCES;CUDA_SOURCES;PRIVATE_LINKS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND published/)
  list(TRANSFORM ARG_CUDA_SOURCES PREPEND published/)
  rulerank_module(${module}_published INTERNAL PUBLIC_HEADERS published/engines.hpp SOURCES published/engines.cpp ${ARG_SOURCES} CUDA_SOURCES ${ARG_CUDA_SOURCES}
                  USES ${module} PRIVATE_LINKS ${ARG_PRIVATE_LINKS})
endfunction()

# rulerank_test(MODULE SOURCES a_test.cpp ... [LINKS target ...])
# One test program a module, MODULE_test, its cases found by ctest. `./run test` leaves out the
# cases with slow_ in their names, `./run test --all` runs them.
function(rulerank_test module)
  if(NOT RULERANK_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${module}_test ${ARG_SOURCES})
  set_target_properties(${module}_test PROPERTIES UNITY_BUILD_BATCH_SIZE 10)  # one of 28 would be waited for
  rulerank_glue(${module}_test)
  target_link_libraries(${module}_test PRIVATE ${ARG_LINKS} GTest::gtest_main)
  gtest_discover_tests(${module}_test TEST_PREFIX "${module}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 600
                       NO_PRETTY_VALUES PROPERTIES LABELS "${module}" TIMEOUT 1800)
endfunction()

# rulerank_fuzz(MODULE SOURCES a_fuzz.cpp ... [LINKS target ...])
# A fuzz target of each source, bin/a_fuzz; the head of the source says what it tries. With
# RULERANK_FUZZ it is libFuzzer's program; else a test of the label fuzz, on the target's seeds.
option(RULERANK_FUZZ "Build the fuzz targets for libFuzzer (clang)" OFF)
set(RULERANK_FUZZ_ENGINE -fsanitize=fuzzer CACHE STRING "What the fuzz targets link; flags other than the default compile by themselves")
set(fuzz_flags)
if(RULERANK_FUZZ_ENGINE STREQUAL "-fsanitize=fuzzer")
  set(fuzz_flags -fsanitize=fuzzer-no-link)
endif()
function(rulerank_fuzz module)
  if(NOT RULERANK_FUZZ AND NOT RULERANK_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  if(RULERANK_FUZZ)
    target_compile_options(rulerank_${module} PRIVATE ${fuzz_flags})
  endif()
  if(NOT TARGET fuzz_test)
    add_custom_target(fuzz_test)
    add_library(rulerank_fuzzing OBJECT "${PROJECT_SOURCE_DIR}/core/fuzzing.cpp")
    target_link_libraries(rulerank_fuzzing PRIVATE rulerank::core)
    rulerank_glue(rulerank_fuzzing)
    if(RULERANK_FUZZ)
      target_compile_definitions(rulerank_fuzzing PRIVATE RULERANK_FUZZ)
      target_compile_options(rulerank_fuzzing PRIVATE ${fuzz_flags})
    endif()
  endif()
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(target "${source}" NAME_WE)
    add_executable(${target} ${source} $<TARGET_OBJECTS:rulerank_fuzzing>)
    rulerank_glue(${target})
    target_link_libraries(${target} PRIVATE rulerank::${module} ${ARG_LINKS})
    add_dependencies(fuzz_test ${target})
    if(RULERANK_FUZZ)
      target_compile_definitions(${target} PRIVATE RULERANK_FUZZ)
      target_compile_options(${target} PRIVATE ${fuzz_flags})
      target_link_libraries(${target} PRIVATE "${RULERANK_FUZZ_ENGINE}")
    else()
      add_test(NAME fuzz.${target} COMMAND ${target})
      set_tests_properties(fuzz.${target} PROPERTIES LABELS fuzz TIMEOUT 3600)
    endif()
  endforeach()
endfunction()
