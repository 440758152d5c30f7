# cmake -DSOURCE=<checkout> -DOUT=<file.cpp> -P commit.cmake
# Writes the function rulerank::commit(); the file is touched only when its text changes, so a
# build compiles it again after a commit and not otherwise.
cmake_policy(VERSION 3.25)
set(commit unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --show-toplevel HEAD
                  OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE status
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCH "^(.*)\n([0-9a-f]+)$" matched "${answer}")
  # The checkout must be our own, not one that the sources were unpacked into.
  file(REAL_PATH "${SOURCE}" source)
  if(status EQUAL 0 AND matched AND CMAKE_MATCH_1 STREQUAL source)
    set(commit "${CMAKE_MATCH_2}")
    execute_process(COMMAND "${GIT}" -C "${SOURCE}" diff --quiet HEAD --
                    RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
    if(NOT changed EQUAL 0)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"#include \"core/machine.hpp\"
namespace rulerank::inline v0 {
char const* commit() noexcept {
  return \"@commit@\";
}
}  // namespace rulerank
")
