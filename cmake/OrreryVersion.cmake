# Version, git id and build flags, written to a header that is touched only when one of them changes.
find_package(Git QUIET)
add_custom_target(orrery_version_header
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DGIT=${GIT_EXECUTABLE} -DVERSION=${PROJECT_VERSION}
          "-DFLAGS=${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS}" -DCUDA_ARCHITECTURES=$<JOIN:${CMAKE_CUDA_ARCHITECTURES},,>
          -DOUTPUT=${PROJECT_BINARY_DIR}/generated/orrery_version.h -P ${PROJECT_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/orrery_version.h
  VERBATIM)
add_library(orrery_version INTERFACE)
add_dependencies(orrery_version orrery_version_header)
target_include_directories(orrery_version INTERFACE ${PROJECT_BINARY_DIR}/generated)
