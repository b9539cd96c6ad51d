# CUDA's headers that the sources may include: tests/layering.cmake refuses any other, and OrreryCuda.cmake bars these from
# builds without CUDA.
set(ORRERY_CUDA_HEADERS
  cooperative_groups.h
  cub/block/block_reduce.cuh
  cub/block/block_scan.cuh
  cub/device/device_radix_sort.cuh
  cuda/atomic
  cuda_fp16.h
  cuda_gl_interop.h
  cuda_profiler_api.h
  cuda_runtime_api.h
  cupti_profiler_host.h
  cupti_profiler_target.h
  cupti_range_profiler.h
  cupti_target.h
  nvtx3/nvToolsExt.h
)
