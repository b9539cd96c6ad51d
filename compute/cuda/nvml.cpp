#include "compute/cuda/nvml.h"

#include <dlfcn.h>

#include <stdexcept>
#include <utility>

#include "compute/core/error.h"
#include "compute/cuda/library_functions.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#endif

namespace orrery::cuda {

struct NvmlDevice;  // target of NVML's nvmlDevice_t

/// NVML's nvmlFieldValue_t with a value of type unsigned.
struct NvmlFieldValue {
  unsigned id;
  unsigned scope;
  long long timestamp_us;
  long long latency_us;
  int type;
  int result;
  union {
    unsigned milliwatt;
    unsigned long long whole;
  };
};

namespace {

// Equivalents of nvmlReturn_t, nvmlDevice_t, NVML_SUCCESS, NVML_CLOCK_SM, NVML_CLOCK_MEM and NVML_TEMPERATURE_GPU.
using Return = int;
using DeviceHandle = NvmlDevice*;
constexpr Return success = 0;
constexpr int sm_clock = 1, memory_clock = 2, gpu_sensor = 0;
constexpr unsigned power_of_this_moment = 186;  // NVML_FI_DEV_POWER_INSTANT

/// NVML's bits for the reasons of a clock below the maximum.
constexpr std::pair<unsigned long long, const char*> reasons[] = {
    {0x001, "idle"},
    {0x002, "application clocks"},
    {0x004, "power cap"},
    {0x008, "hardware slowdown"},
    {0x010, "sync boost"},
    {0x020, "thermal slowdown by software"},
    {0x040, "thermal slowdown by hardware"},
    {0x080, "power brake"},
    {0x100, "display clocks"},
};

std::vector<std::string> words(unsigned long long mask) {
  std::vector<std::string> found;
  for (const auto& [bit, word] : reasons) {
    if (mask & bit) found.emplace_back(word);
    mask &= ~bit;
  }
  if (mask != 0) found.push_back("reasons that are not known here (" + std::to_string(mask) + ")");
  return found;
}

}  // namespace

struct Nvml::Functions {
  struct Close {
    void operator()(void* library) const noexcept { dlclose(library); }
  };

  /// Loads the library and finds its functions. Throws std::runtime_error that names what is missing.
  explicit Functions(const char* name) : library{dlopen(name, RTLD_LAZY | RTLD_LOCAL)} {
    if (!library) throw std::runtime_error(std::string{"cannot load NVML: "} + dlerror());
    const LibraryFunctions functions{library.get(), "NVML"};
    functions.find(init, "nvmlInit_v2");
    functions.find(shutdown, "nvmlShutdown");
    functions.find(error_text, "nvmlErrorString");
    functions.find(by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
    functions.find(clock, "nvmlDeviceGetClockInfo");
    functions.find(power, "nvmlDeviceGetPowerUsage");
    functions.find_optional(fields, "nvmlDeviceGetFieldValues");  // old drivers lack it
    functions.find(temperature, "nvmlDeviceGetTemperature");
    functions.find(slowed_by, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (const Return code = init(); code != success) throw std::runtime_error("nvmlInit: " + text(code));
  }
  ~Functions() { (void)shutdown(); }
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  std::string text(Return code) const { return error_text(code); }

  /// Returns the current power. If the driver does not report it, returns nvmlDeviceGetPowerUsage(): since the
  /// architecture Ampere, the mean of the last second.
  std::optional<double> power_w(DeviceHandle device) const {
    NvmlFieldValue field{};
    field.id = power_of_this_moment;
    if (fields && fields(device, 1, &field) == success && field.result == success && field.milliwatt > 0) {
      return field.milliwatt / 1000.0;
    }
    unsigned milliwatt = 0;
    if (power(device, &milliwatt) != success) return std::nullopt;
    return milliwatt / 1000.0;
  }

  std::unique_ptr<void, Close> library;
  Return (*init)();
  Return (*shutdown)();
  const char* (*error_text)(Return);
  Return (*by_pci_bus_id)(const char*, DeviceHandle*);
  Return (*clock)(DeviceHandle, int which, unsigned* mhz);
  Return (*power)(DeviceHandle, unsigned* milliwatt);
  Return (*fields)(DeviceHandle, int count, NvmlFieldValue*);  // null: the driver is too old
  Return (*temperature)(DeviceHandle, int sensor, unsigned* celsius);
  Return (*slowed_by)(DeviceHandle, unsigned long long* mask);
};

Nvml::Nvml(const char* library) {
  try {
    functions_ = std::make_unique<const Functions>(library);
  } catch (const std::runtime_error& error) {
    reason_ = failure_text(error);
  }
}

Nvml::~Nvml() = default;

std::optional<GpuState> Nvml::state(const std::string& pci_bus_id, std::string* reason) const {
  const auto none = [&](const std::string& why) {
    if (reason) *reason = why;
    return std::nullopt;
  };
  if (!functions_) return none(reason_);
  const Functions& nvml = *functions_;
  DeviceHandle device = nullptr;
  if (const Return code = nvml.by_pci_bus_id(pci_bus_id.c_str(), &device); code != success) {
    return none("NVML finds no GPU at " + pci_bus_id + ": " + nvml.text(code));
  }
  GpuState state;
  unsigned value = 0;
  if (nvml.clock(device, sm_clock, &value) == success) state.clock_mhz = static_cast<int>(value);
  if (nvml.clock(device, memory_clock, &value) == success) state.memory_clock_mhz = static_cast<int>(value);
  state.power_w = nvml.power_w(device);
  if (nvml.temperature(device, gpu_sensor, &value) == success) state.temperature_c = static_cast<int>(value);
  if (unsigned long long mask = 0; nvml.slowed_by(device, &mask) == success) state.slowed_by = words(mask);
  return state;
}

std::optional<GpuState> gpu_state([[maybe_unused]] int ordinal, std::string* reason) {
#if ORRERY_HAVE_CUDA
  static const Nvml nvml;
  char pci_bus_id[32] = "";
  ORRERY_CUDA_CHECK(cudaDeviceGetPCIBusId(pci_bus_id, sizeof pci_bus_id, ordinal));
  return nvml.state(pci_bus_id, reason);
#else
  if (reason) *reason = "this build has no CUDA";
  return std::nullopt;
#endif
}

}  // namespace orrery::cuda
