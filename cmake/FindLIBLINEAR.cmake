# liblinear ships neither a CMake configuration nor a pkg-config file in Debian.
# Defines the target LIBLINEAR::LIBLINEAR; the header is <linear.h>.
find_path(LIBLINEAR_INCLUDE_DIR linear.h)
find_library(LIBLINEAR_LIBRARY linear)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LIBLINEAR REQUIRED_VARS LIBLINEAR_LIBRARY LIBLINEAR_INCLUDE_DIR)
if(LIBLINEAR_FOUND AND NOT TARGET LIBLINEAR::LIBLINEAR)
  add_library(LIBLINEAR::LIBLINEAR UNKNOWN IMPORTED)
  set_target_properties(LIBLINEAR::LIBLINEAR PROPERTIES
    IMPORTED_LOCATION "${LIBLINEAR_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LIBLINEAR_INCLUDE_DIR}")
endif()
mark_as_advanced(LIBLINEAR_INCLUDE_DIR LIBLINEAR_LIBRARY)
