# Version, git id and the flags that host and device code are compiled with, written to a header that is touched only when one of them changes.
set(ORRERY_GIT_ID "" CACHE STRING "The commit, for a build outside its repository")
find_package(Git QUIET)
string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
set(build_flags "${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
if(ORRERY_SANITIZE)
  string(APPEND build_flags " -fsanitize=${ORRERY_SANITIZE}")
endif()
if(ORRERY_HAVE_CUDA)
  string(APPEND build_flags "; CUDA: ${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${config}}")
endif()
if(CMAKE_CUDA_ARCHITECTURES)
  list(JOIN CMAKE_CUDA_ARCHITECTURES "," cuda_architectures)
else()
  list(JOIN architectures "," cuda_architectures)
endif()
add_custom_target(orrery_version_header
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DGIT=${GIT_EXECUTABLE} "-DKNOWN_ID=${ORRERY_GIT_ID}" -DVERSION=${PROJECT_VERSION}
          "-DFLAGS=${build_flags}" -DCUDA_ARCHITECTURES=${cuda_architectures}
          -DOUTPUT=${PROJECT_BINARY_DIR}/generated/orrery_version.h -P ${PROJECT_SOURCE_DIR}/cmake/WriteVersion.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/orrery_version.h
  VERBATIM)
add_library(orrery_version INTERFACE)
add_dependencies(orrery_version orrery_version_header)
target_include_directories(orrery_version INTERFACE ${PROJECT_BINARY_DIR}/generated)
