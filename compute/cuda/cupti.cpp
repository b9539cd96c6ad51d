// CUPTI is used if the toolkit has its range profiler. In other builds, every call throws CuptiError with the reason.
#include "compute/cuda/cupti.h"

#if ORRERY_HAVE_CUPTI

#include <cuda_runtime_api.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute/core/error.h"
#include "compute/cuda/device.h"
#include "compute/cuda/library_functions.h"

/// Declares a parameter block and sets its size, from which CUPTI knows the version of the block.
#define ORRERY_CUPTI_PARAMS(type, name) \
  type##_Params name{};                 \
  name.structSize = type##_Params_STRUCT_SIZE
/// Calls a function of CUPTI. If it fails, throws CuptiError that names the function.
#define ORRERY_CUPTI_CALL(cupti, function, params) (cupti).check((cupti).function(&(params)), #function)

namespace orrery::cuda {
namespace {

/// Returns what a user can do about a failure; empty if no cure is known.
const char* cure_of(CUptiResult code) {
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

}  // namespace

/// Functions of CUPTI, loaded at run time, and the names of its errors.
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

  /// Connects the profiler with the driver at the first call. Only measurements on a GPU need it.
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

namespace {

/// Owner of CUPTI's host object for one chip, which plans passes and evaluates counters on the host.
class CuptiHost {
 public:
  CuptiHost(const Cupti::Functions& cupti, const std::string& chip, const std::vector<std::uint8_t>& available)
      : cupti_{cupti} {
    ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = available.empty() ? nullptr : available.data();
    ORRERY_CUPTI_CALL(cupti_, cuptiProfilerHostInitialize, params);
    host_ = params.pHostObject;
  }
  ~CuptiHost() {
    ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
    params.pHostObject = host_;
    (void)cupti_.cuptiProfilerHostDeinitialize(&params);
  }
  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;

  bool has(const std::string& metric) const {
    ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, params);
    params.pHostObject = host_;
    params.pMetricName = metric.c_str();
    return cupti_.cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
  }

  /// Returns CUPTI's config image for these metrics. Call once per object: an unknown metric makes the object unusable.
  std::vector<std::uint8_t> config(const std::vector<std::string>& metrics) {
    std::vector<const char*> names = names_of(metrics);
    ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
    add.pHostObject = host_;
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    ORRERY_CUPTI_CALL(cupti_, cuptiProfilerHostConfigAddMetrics, add);
    ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size.pHostObject = host_;
    ORRERY_CUPTI_CALL(cupti_, cuptiProfilerHostGetConfigImageSize, size);
    std::vector<std::uint8_t> image(size.configImageSize);
    ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, get);
    get.pHostObject = host_;
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    ORRERY_CUPTI_CALL(cupti_, cuptiProfilerHostGetConfigImage, get);
    return image;
  }

  std::vector<double> values(const std::vector<std::uint8_t>& counters, std::size_t range,
                             const std::vector<std::string>& metrics) const {
    std::vector<const char*> names = names_of(metrics);
    std::vector<double> values(metrics.size(), std::numeric_limits<double>::quiet_NaN());
    ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, params);
    params.pHostObject = host_;
    params.pCounterDataImage = counters.data();
    params.counterDataImageSize = counters.size();
    params.rangeIndex = range;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    ORRERY_CUPTI_CALL(cupti_, cuptiProfilerHostEvaluateToGpuValues, params);
    return values;
  }

  static std::vector<const char*> names_of(const std::vector<std::string>& metrics) {
    std::vector<const char*> names;
    for (const std::string& metric : metrics) names.push_back(metric.c_str());
    return names;
  }

 private:
  const Cupti::Functions& cupti_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

/// Returns the current context of the CUDA runtime, which itself has no call for that.
CUcontext present_context() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) throw CuptiError(std::string{"no hardware counters: "} + dlerror());
  using GetCurrent = CUresult (*)(CUcontext*);
  const auto get_current = reinterpret_cast<GetCurrent>(dlsym(driver, "cuCtxGetCurrent"));
  CUcontext context = nullptr;
  const bool failed = !get_current || get_current(&context) != CUDA_SUCCESS || !context;
  dlclose(driver);  // the runtime keeps it loaded
  if (failed) throw CuptiError("cuCtxGetCurrent: the CUDA runtime has no context on this thread");
  return context;
}

/// Range profiler of the current context.
class RangeProfiler final : public RangeMarks {
 public:
  explicit RangeProfiler(const Cupti::Functions& cupti) : cupti_{cupti} {
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_Enable, params);
    params.ctx = present_context();
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerEnable, params);
    profiler_ = params.pRangeProfilerObject;
  }
  ~RangeProfiler() override {
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_Disable, params);
    params.pRangeProfilerObject = profiler_;
    (void)cupti_.cuptiRangeProfilerDisable(&params);
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// Sets the counters to read. `plan` must outlive this.
  void configure(const CounterPlan& plan, std::size_t most_ranges) {
    std::vector<const char*> names = CuptiHost::names_of(plan.metrics);
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = most_ranges;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most_ranges);
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerGetCounterDataSize, size);
    counters_.resize(size.counterDataSize);
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, initialize);
    initialize.pRangeProfilerObject = profiler_;
    initialize.counterDataSize = counters_.size();
    initialize.pCounterData = counters_.data();
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerCounterDataImageInitialize, initialize);
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, set);
    set.pRangeProfilerObject = profiler_;
    set.configSize = plan.config.size();
    set.pConfig = plan.config.data();
    set.counterDataImageSize = counters_.size();
    set.pCounterDataImage = counters_.data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = most_ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerSetConfig, set);
  }

  /// Runs one pass. Returns whether it was the last one.
  bool run_pass(const std::function<void(RangeMarks&)>& work) {
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_Start, start);
    start.pRangeProfilerObject = profiler_;
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerStart, start);
    work(*this);
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, stop);
    stop.pRangeProfilerObject = profiler_;
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerStop, stop);
    return stop.isAllPassSubmitted != 0;
  }

  void begin(const char* name) override {
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange, params);
    params.pRangeProfilerObject = profiler_;
    params.pRangeName = name;
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerPushRange, params);
  }
  void end() override {
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, params);
    params.pRangeProfilerObject = profiler_;
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerPopRange, params);
  }

  std::vector<CounterRange> decode(const CounterPlan& plan) const {
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, data);
    data.pRangeProfilerObject = profiler_;
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerDecodeData, data);
    if (data.numOfRangeDropped > 0) {
      throw CuptiError("cuptiRangeProfilerDecodeData: " + std::to_string(data.numOfRangeDropped) +
                       " parts of the evaluation were dropped");
    }
    ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = counters_.data();
    info.counterDataImageSize = counters_.size();
    ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerGetCounterDataInfo, info);
    const CuptiHost host{cupti_, plan.chip, plan.available};
    std::vector<CounterRange> ranges;
    for (std::size_t range = 0; range < info.numTotalRanges; ++range) {
      ORRERY_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, named);
      named.pCounterDataImage = counters_.data();
      named.counterDataImageSize = counters_.size();
      named.rangeIndex = range;
      named.rangeDelimiter = "/";
      ORRERY_CUPTI_CALL(cupti_, cuptiRangeProfilerCounterDataGetRangeInfo, named);
      ranges.push_back({named.rangeName ? named.rangeName : "", host.values(counters_, range, plan.metrics)});
    }
    return ranges;
  }

 private:
  const Cupti::Functions& cupti_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> counters_;
};

CounterPlan plan_for(const Cupti::Functions& cupti, const std::string& chip, std::vector<std::uint8_t> available,
                     std::span<const std::string> metrics) {
  CuptiHost host{cupti, chip, available};
  CounterPlan plan;
  plan.chip = chip;
  plan.available = std::move(available);
  for (const std::string& metric : metrics) (host.has(metric) ? plan.metrics : plan.missing).push_back(metric);
  if (plan.metrics.empty()) throw CuptiError("CUPTI knows none of the metrics for the chip " + chip);
  plan.config = host.config(plan.metrics);
  ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes);
  passes.configImageSize = plan.config.size();
  passes.pConfigImage = plan.config.data();
  ORRERY_CUPTI_CALL(cupti, cuptiProfilerHostGetNumOfPasses, passes);
  plan.passes = static_cast<int>(passes.numOfPasses);
  return plan;
}

}  // namespace

Cupti::Cupti(std::span<const std::string> libraries) : functions_{std::make_unique<Functions>(libraries)} {}

Cupti::~Cupti() = default;

std::vector<std::string> Cupti::usual_libraries() {
  const std::string versioned = "libcupti.so." + std::to_string(CUDART_VERSION / 1000);
  std::vector<std::string> names{versioned, "libcupti.so"};
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string& toolkit : {std::string{home ? home : ""}, std::string{"/usr/local/cuda"}}) {
    if (toolkit.empty()) continue;
    for (const char* folder : {"/lib64/", "/extras/CUPTI/lib64/"}) names.push_back(toolkit + folder + "libcupti.so");
  }
  return names;
}

std::vector<std::string> Cupti::chips() const {
  ORRERY_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips, params);
  ORRERY_CUPTI_CALL(*functions_, cuptiProfilerHostGetSupportedChips, params);
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

CounterPlan Cupti::plan(const std::string& chip, std::span<const std::string> metrics) const {
  return plan_for(*functions_, chip, {}, metrics);
}

CounterPlan Cupti::plan(const Device& device, std::span<const std::string> metrics) const {
  Functions& cupti = *functions_;
  device.activate();
  cupti.initialize();
  ORRERY_CUPTI_PARAMS(CUpti_Device_GetChipName, chip);
  chip.deviceIndex = static_cast<std::size_t>(device.ordinal());
  ORRERY_CUPTI_CALL(cupti, cuptiDeviceGetChipName, chip);
  ORRERY_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, supported);
  supported.cuDevice = static_cast<CUdevice>(device.ordinal());
  supported.api = CUPTI_PROFILER_RANGE_PROFILING;
  ORRERY_CUPTI_CALL(cupti, cuptiProfilerDeviceSupported, supported);
  if (supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    throw CuptiError(std::string{"cuptiProfilerDeviceSupported: CUPTI does not profile "} + chip.pChipName +
                     " here: its architecture is below 7.0, or the GPU is shared as a virtual one");
  }
  ORRERY_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, available);
  available.ctx = present_context();
  ORRERY_CUPTI_CALL(cupti, cuptiProfilerGetCounterAvailability, available);
  std::vector<std::uint8_t> image(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = image.data();
  ORRERY_CUPTI_CALL(cupti, cuptiProfilerGetCounterAvailability, available);
  return plan_for(cupti, chip.pChipName, std::move(image), metrics);
}

std::vector<CounterRange> Cupti::measure(const Device& device, const CounterPlan& plan, std::size_t most_ranges,
                                         const std::function<void(RangeMarks& marks)>& work) const {
  device.activate();
  functions_->initialize();
  RangeProfiler profiler{*functions_};
  profiler.configure(plan, most_ranges);
  const int most_passes = 4 * plan.passes + 4;  // limit, in case CUPTI never reports the last pass
  for (int pass = 1; !profiler.run_pass(work); ++pass) {
    if (pass >= most_passes) throw CuptiError("cuptiRangeProfilerStop: CUPTI asks for more passes than it planned");
  }
  return profiler.decode(plan);
}

}  // namespace orrery::cuda

#else

namespace orrery::cuda {
struct Cupti::Functions {};

namespace {

[[noreturn]] void refuse() {
  throw CuptiError(
#if ORRERY_HAVE_CUDA
      "this program was built with a CUDA toolkit without CUPTI's range profiler: build it with CUDA 12.6 or later and "
      "its package of CUPTI"
#else
      "this program was built without CUDA"
#endif
  );
}

}  // namespace

Cupti::Cupti(std::span<const std::string> /*libraries*/) {
  refuse();
}

Cupti::~Cupti() = default;

std::vector<std::string> Cupti::usual_libraries() {
  return {};
}

std::vector<std::string> Cupti::chips() const {
  refuse();
}

CounterPlan Cupti::plan(const std::string& /*chip*/, std::span<const std::string> /*metrics*/) const {
  refuse();
}

CounterPlan Cupti::plan(const Device& /*device*/, std::span<const std::string> /*metrics*/) const {
  refuse();
}

std::vector<CounterRange> Cupti::measure(const Device& /*device*/, const CounterPlan& /*plan*/,
                                         std::size_t /*most_ranges*/,
                                         const std::function<void(RangeMarks& marks)>& /*work*/) const {
  refuse();
}

}  // namespace orrery::cuda

#endif
