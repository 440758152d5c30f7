# cmake -DFOLDER=<folder> -DMOST=<number> -P count_headers.cmake: no more headers than that.
file(GLOB_RECURSE headers "${FOLDER}/*")
list(LENGTH headers count)
if(count EQUAL 0 OR count GREATER MOST)
  message(FATAL_ERROR "found ${count} installed headers, expected 1 to ${MOST}: what a program outside "
                      "does not need stays private")
endif()
message(STATUS "${count} installed headers")
