# Runs PROGRAM with ARGUMENTS: it must exit with 0 and print what EXPECTED matches.
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS}
  RESULT_VARIABLE code OUTPUT_VARIABLE shown)
message(STATUS "${shown}")
if(NOT code STREQUAL "0")
  message(FATAL_ERROR "the example ended with ${code}, expected 0")
endif()
if(NOT shown MATCHES "${EXPECTED}")
  message(FATAL_ERROR "found '${shown}', expected ${EXPECTED}")
endif()
