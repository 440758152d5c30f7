# cmake -DFOLDER=<folder> -DMOST=<number> -P count_headers.cmake: no more headers than that, and each says
# what several threads may call, but those of constants and macros.
cmake_policy(VERSION 3.25)
set(of_constants aligned.hpp host_device.hpp version.hpp)
file(GLOB_RECURSE headers "${FOLDER}/*")
list(LENGTH headers count)
if(count EQUAL 0 OR count GREATER MOST)
  message(FATAL_ERROR "found ${count} installed headers, expected 1 to ${MOST}: what a program outside "
                      "does not need stays private")
endif()
foreach(header IN LISTS headers)
  get_filename_component(name "${header}" NAME)
  file(READ "${header}" text)
  if(NOT text MATCHES "[Tt]hread" AND NOT name IN_LIST of_constants)
    message(FATAL_ERROR "${header}: says nothing of threads, expected what several of them may call")
  endif()
endforeach()
message(STATUS "${count} installed headers")
