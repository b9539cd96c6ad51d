# Finds the CUDA toolkit on PATH or in /usr/local/cuda and sets ORRERY_HAVE_CUDA; everything builds without it.
# ORRERY_CUDA_NOTE is what a person should know about it, one line: ./run and ./test read it from the cache.
include(cuda_headers)

# Compiles each CUDA source of a target alone: CMake 3.31 and later put them together too, and every kernel has names of
# its own in an unnamed namespace.
function(orrery_compile_cuda_alone target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

set(ORRERY_HAVE_CUDA OFF)
set(note "")
if(NOT ORRERY_CUDA STREQUAL "OFF")
  find_program(ORRERY_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(ORRERY_NVCC)
    execute_process(COMMAND ${ORRERY_NVCC} --version OUTPUT_VARIABLE nvcc_says ERROR_QUIET)
    string(REGEX MATCH "release ([0-9.]+)" found "${nvcc_says}")
    if(CMAKE_MATCH_1 VERSION_GREATER_EQUAL 12.1)
      set(ORRERY_HAVE_CUDA ON)
    else()
      set(note "the CUDA toolkit of ${ORRERY_NVCC} is too old (${CMAKE_MATCH_1}; 12.1 is the oldest)")
    endif()
  else()
    set(note "no CUDA toolkit (nvcc is neither on PATH nor in /usr/local/cuda/bin)")
  endif()
endif()
if(note)
  string(APPEND note ": CPU kernels only. For the GPU kernels install CUDA 12.1 or later from https://developer.nvidia.com/cuda-downloads")
  if(ORRERY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ORRERY_CUDA=ON, but ${note}")
  endif()
  message(STATUS "${note}")
endif()
set(ORRERY_CUDA_NOTE "${note}" CACHE INTERNAL "What a person should know about the CUDA toolkit")
if(NOT ORRERY_HAVE_CUDA)
  # A toolkit's headers may lie in a system folder. In front of them stand some that fail, as all do where there are none.
  set(barrier ${PROJECT_BINARY_DIR}/without_cuda)
  foreach(header IN LISTS ORRERY_CUDA_HEADERS)
    file(CONFIGURE OUTPUT ${barrier}/${header} CONTENT "#error this is a build without CUDA, which has no ${header}\n" @ONLY)
  endforeach()
  target_include_directories(orrery_options BEFORE INTERFACE ${barrier})
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${ORRERY_NVCC})
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus RESULT_VARIABLE no_gpu ERROR_QUIET)
  if(no_gpu EQUAL 0 AND gpus MATCHES "GPU 0")
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    # PTX, which any driver compiles at first use. The program's is that of the oldest architecture that CUDA 13 supports;
    # a build with tests has the code paths of Hopper instead, so that ./run and ./test compile all. On a machine with a
    # GPU, both build anew for that GPU.
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
    if(ORRERY_TESTS)
      set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
    endif()
  endif()
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

# CMake 3.25 does not know the C++20 flag of nvcc 13, so it is passed by hand.
target_compile_options(orrery_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Xcompiler=-Wall,-Wextra --expt-relaxed-constexpr --extended-lambda>)
if(ORRERY_WERROR)
  target_compile_options(orrery_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
endif()
