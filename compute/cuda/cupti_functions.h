#pragma once

#include <cuda_runtime_api.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "compute/core/failure_text.h"
#include "compute/cuda/cupti.h"
#include "compute/cuda/library_functions.h"

namespace orrery::cuda {

/// What a user can do about a failure; empty: nothing that is known here.
inline const char* cure_of(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return ": this user may not read the GPU's counters. Run as root, or give the program CAP_PERFMON (driver 565 or "
             "later) or CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return ": another profiler uses the counters. End it, or profile without it";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return ": this GPU cannot be profiled as it is set up. Use another GPU, or a machine where it is not shared";
    case CUPTI_ERROR_OUT_OF_MEMORY:
      return ": not enough memory. Profile fewer bodies";
    default:
      return "";
  }
}

/// A parameter block with its size set: CUPTI knows the version of a block by that.
#define ORRERY_CUPTI_PARAMS(type, name) \
  type##_Params name{};                 \
  name.structSize = type##_Params_STRUCT_SIZE
/// Throws CuptiError that names the function.
#define ORRERY_CUPTI_CALL(cupti, function, params) (cupti).check((cupti).function(&(params)), #function)

/// CUPTI as loaded at run time: its functions, and the names of its errors.
struct Cupti::Functions {
  struct Close {
    void operator()(void* library) const noexcept { dlclose(library); }
  };

  explicit Functions(std::span<const std::string> names) {
    std::string reasons;
    for (const std::string& name : names) {
      library.reset(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
      if (library) break;
      if (reasons.empty()) reasons = dlerror();
    }
    if (!library) {
      throw CuptiError("no hardware counters: CUPTI is not installed (" + reasons +
                       "). Install the CUDA toolkit's package of CUPTI, or add its folder to LD_LIBRARY_PATH");
    }
    try {
      find_all(LibraryFunctions{library.get(), "this CUPTI"});
    } catch (const std::runtime_error& error) {
      throw CuptiError(std::string{"no hardware counters: "} + failure_text(error) +
                       ". Install CUPTI of CUDA 12.6 or later");
    }
  }

  ~Functions() {
    if (!initialized) return;
    CUpti_Profiler_DeInitialize_Params params{};
    params.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
    (void)cuptiProfilerDeInitialize(&params);
  }
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  /// Connects the profiler with the driver, once. Only what runs on a GPU needs it.
  void initialize() {
    if (initialized) return;
    CUpti_Profiler_Initialize_Params params{};
    params.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    check(cuptiProfilerInitialize(&params), "cuptiProfilerInitialize");
    initialized = true;
  }

  std::string name_of(CUptiResult code) const {
    const char* text = nullptr;
    if (cuptiGetResultString(code, &text) == CUPTI_SUCCESS && text) return text;
    return "CUPTI error " + std::to_string(code);
  }
  void check(CUptiResult code, const char* call) const {
    if (code != CUPTI_SUCCESS) throw CuptiError(std::string{call} + ": " + name_of(code) + cure_of(code));
  }

  std::unique_ptr<void, Close> library;
  bool initialized = false;
#define ORRERY_CUPTI_FUNCTION(function) decltype(&::function) function = nullptr
  ORRERY_CUPTI_FUNCTION(cuptiGetResultString);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerInitialize);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerDeInitialize);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerDeviceSupported);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerGetCounterAvailability);
  ORRERY_CUPTI_FUNCTION(cuptiDeviceGetChipName);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostInitialize);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostDeinitialize);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostGetSupportedChips);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostGetMetricProperties);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostConfigAddMetrics);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostGetConfigImageSize);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostGetConfigImage);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostGetNumOfPasses);
  ORRERY_CUPTI_FUNCTION(cuptiProfilerHostEvaluateToGpuValues);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerEnable);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerDisable);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerGetCounterDataSize);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerCounterDataImageInitialize);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerSetConfig);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerStart);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerStop);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerPushRange);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerPopRange);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerDecodeData);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerGetCounterDataInfo);
  ORRERY_CUPTI_FUNCTION(cuptiRangeProfilerCounterDataGetRangeInfo);
#undef ORRERY_CUPTI_FUNCTION

 private:
  void find_all(const LibraryFunctions& functions) {
#define ORRERY_CUPTI_FIND(function) functions.find(function, #function)
    ORRERY_CUPTI_FIND(cuptiGetResultString);
    ORRERY_CUPTI_FIND(cuptiProfilerInitialize);
    ORRERY_CUPTI_FIND(cuptiProfilerDeInitialize);
    ORRERY_CUPTI_FIND(cuptiProfilerDeviceSupported);
    ORRERY_CUPTI_FIND(cuptiProfilerGetCounterAvailability);
    ORRERY_CUPTI_FIND(cuptiDeviceGetChipName);
    ORRERY_CUPTI_FIND(cuptiProfilerHostInitialize);
    ORRERY_CUPTI_FIND(cuptiProfilerHostDeinitialize);
    ORRERY_CUPTI_FIND(cuptiProfilerHostGetSupportedChips);
    ORRERY_CUPTI_FIND(cuptiProfilerHostGetMetricProperties);
    ORRERY_CUPTI_FIND(cuptiProfilerHostConfigAddMetrics);
    ORRERY_CUPTI_FIND(cuptiProfilerHostGetConfigImageSize);
    ORRERY_CUPTI_FIND(cuptiProfilerHostGetConfigImage);
    ORRERY_CUPTI_FIND(cuptiProfilerHostGetNumOfPasses);
    ORRERY_CUPTI_FIND(cuptiProfilerHostEvaluateToGpuValues);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerEnable);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerDisable);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerGetCounterDataSize);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerCounterDataImageInitialize);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerSetConfig);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerStart);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerStop);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerPushRange);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerPopRange);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerDecodeData);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerGetCounterDataInfo);
    ORRERY_CUPTI_FIND(cuptiRangeProfilerCounterDataGetRangeInfo);
#undef ORRERY_CUPTI_FIND
  }
};

}  // namespace orrery::cuda
