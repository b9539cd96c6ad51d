#include "compute/cuda/device.h"

#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <tuple>
#include <utility>

#include "compute/core/error.h"
#include "compute/cuda/dependent_launch.h"
#include "compute/cuda/launch.h"

namespace orrery::cuda {
namespace {

int attribute_of(int ordinal, cudaDeviceAttr which) {
  int value = 0;
  ORRERY_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

DeviceInfo describe(int ordinal) {
  cudaDeviceProp properties{};
  ORRERY_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  return {.ordinal = ordinal,
          .name = properties.name,
          .major = properties.major,
          .minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .clock_khz = attribute_of(ordinal, cudaDevAttrClockRate),
          .memory_bytes = properties.totalGlobalMem};
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int runtime_version() {
  int version = 0;
  ORRERY_CUDA_CHECK(cudaRuntimeGetVersion(&version));
  return version;
}

int driver_version() {
  int version = 0;
  ORRERY_CUDA_CHECK(cudaDriverGetVersion(&version));
  return version;
}

std::string driver_text() {
  const int supported = driver_version();
  if (supported == 0) return {};
  const std::string cuda = "CUDA " + version_text(supported);
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ...": the version is the first word of digits and
  // dots.
  std::ifstream file{"/proc/driver/nvidia/version"};
  std::string line;
  std::getline(file, line);
  std::smatch version;
  return std::regex_search(line, version, std::regex{R"(\b\d+(\.\d+)+\b)"}) ? version.str() + ", " + cuda : cuda;
}

std::vector<DeviceInfo> devices() {
  int count = 0;
  ORRERY_CUDA_CHECK(cudaGetDeviceCount(&count));
  std::vector<DeviceInfo> all;
  for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(describe(ordinal));
  return all;
}

Device::Device(int ordinal) {
  std::string known;
  for (const DeviceInfo& info : devices()) {
    if (info.ordinal == ordinal) {
      info_ = info;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::to_string(info.ordinal) + " (" + info.name + ")";
  }
  throw UsageError("there is no CUDA device " + std::to_string(ordinal) + "; devices here: " + known);
}

int Device::attribute(cudaDeviceAttr which) const {
  return attribute_of(ordinal(), which);
}

void Device::activate() const {
  ORRERY_CUDA_CHECK(cudaSetDevice(ordinal()));
}

std::size_t Device::free_memory() const {
  activate();
  std::size_t free = 0, total = 0;
  ORRERY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

void Device::synchronize() const {
  activate();
  ORRERY_CUDA_CHECK(cudaDeviceSynchronize());
}

int known_resident_blocks(const Device& device, const void* function, int block) {
  static std::mutex mutex;
  static std::map<std::tuple<int, const void*, int>, int> known;
  const std::lock_guard lock{mutex};
  const std::tuple key{device.ordinal(), function, block};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const int blocks = resident_blocks(device, kernel_handle(function), block);
  known.emplace(key, blocks);
  return blocks;
}

DependentKernel dependent_kernel(const Device& device, const void* function) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, DependentKernel> known;  // asking the runtime takes longer than a launch
  const std::lock_guard lock{mutex};
  const auto [entry, is_new] = known.try_emplace({device.ordinal(), function});
  if (is_new) {
    constexpr int first_that_waits = 90;
    const cudaKernel_t handle = kernel_handle(function);
    // ptxVersion is the architecture that the source was compiled for. Code for an older one does not wait, even if it
    // is JIT-compiled for this GPU.
    entry->second = {handle, attributes_of(device, handle).ptxVersion >= first_that_waits};
  }
  return entry->second;
}

}  // namespace orrery::cuda
