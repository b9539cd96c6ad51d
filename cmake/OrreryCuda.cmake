# Finds the CUDA toolkit on PATH or in /usr/local/cuda and sets ORRERY_HAVE_CUDA; everything builds without it.
set(ORRERY_HAVE_CUDA OFF)
if(NOT ORRERY_CUDA STREQUAL "OFF")
  find_program(ORRERY_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(ORRERY_NVCC)
    set(ORRERY_HAVE_CUDA ON)
  elseif(ORRERY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ORRERY_CUDA=ON, but nvcc is neither on PATH nor in /usr/local/cuda/bin. "
                        "Install the CUDA toolkit 12 or 13, or configure with -DORRERY_CUDA=AUTO or OFF.")
  else()
    message(STATUS "No CUDA toolkit (nvcc neither on PATH nor in /usr/local/cuda/bin): building the CPU kernels only. "
                   "Install the CUDA toolkit 12 or 13 and configure again to get the GPU kernels.")
  endif()
endif()
if(NOT ORRERY_HAVE_CUDA)
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
    # The oldest architecture that CUDA 13 supports, also as PTX for later GPUs, and Hopper: both code paths compile.
    set(CMAKE_CUDA_ARCHITECTURES 75 90-real)
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
