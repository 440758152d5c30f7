# cmake -DBUILD=<folder> -DPREFIX=<folder> [-DCOMPONENT=<name>] -P install.cmake
# Installs a build into a folder of its own, without what an earlier install left there.
file(REMOVE_RECURSE "${PREFIX}")
set(component)
if(COMPONENT)
  set(component --component "${COMPONENT}")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}" ${component}
                COMMAND_ERROR_IS_FATAL ANY)
