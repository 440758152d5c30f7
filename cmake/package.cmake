# `cmake --install` and what find_package(rulerank) finds afterwards.
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/rulerank")

get_property(modules GLOBAL PROPERTY RULERANK_MODULES)
# Only the public headers are installed: the headers that the modules list. The component `development` has
# everything but the program.
install(TARGETS ${modules} EXPORT rulerank ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rulerank" COMPONENT development)
install(FILES "${PROJECT_BINARY_DIR}/generated/core/version.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rulerank/core" COMPONENT development)
if(RULERANK_PROGRAM)
  install(TARGETS rulerank RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(SKBUILD)  # a wheel installs the program into the folder of the environment's Python
    install(TARGETS rulerank RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python EXCLUDE_FROM_ALL)
  endif()
endif()
# The C library is the component `c`, complete in itself.
install(TARGETS rulerank_c EXPORT rulerank-c LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT c NAMELINK_COMPONENT c)
install(FILES "${PROJECT_BINARY_DIR}/generated/capi/rulerank.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT c)
install(FILES "${PROJECT_BINARY_DIR}/generated/capi/rulerank_c.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT c)
install(EXPORT rulerank-c NAMESPACE rulerank:: FILE rulerank-c-targets.cmake DESTINATION "${package_folder}" COMPONENT c)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT rulerank NAMESPACE rulerank:: FILE rulerank-targets.cmake
        DESTINATION "${package_folder}" COMPONENT development)
list(TRANSFORM modules REPLACE "^rulerank_" "" OUTPUT_VARIABLE rulerank_components)
list(JOIN rulerank_components " " rulerank_components)
configure_package_config_file(cmake/rulerank-config.cmake.in
  "${PROJECT_BINARY_DIR}/generated/rulerank-config.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/rulerank-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
foreach(component IN ITEMS c development)
  install(FILES
    "${PROJECT_BINARY_DIR}/generated/rulerank-config.cmake"
    "${PROJECT_BINARY_DIR}/generated/rulerank-config-version.cmake"
    DESTINATION "${package_folder}" COMPONENT ${component})
endforeach()
install(FILES
  cmake/FindLIBLINEAR.cmake cmake/FindStemmer.cmake
  cmake/FindXGBoost.cmake cmake/FindZSTD.cmake
  DESTINATION "${package_folder}" COMPONENT development)
