#include "compute/cuda/device.h"

#include <fstream>
#include <regex>

#include "compute/core/error.h"
#include "compute/cuda/launch.h"

namespace orrery::cuda {
namespace {

DeviceInfo describe(int index) {
  cudaDeviceProp properties{};
  ORRERY_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  return {.index = index,
          .name = properties.name,
          .major = properties.major,
          .minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .clock_khz = attribute(cudaDevAttrClockRate, index),
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
  for (int index = 0; index < count; ++index) all.push_back(describe(index));
  return all;
}

void select_device(int index) {
  const std::vector<DeviceInfo> all = devices();
  if (index >= 0 && index < static_cast<int>(all.size())) {
    ORRERY_CUDA_CHECK(cudaSetDevice(index));
    return;
  }
  std::string known;
  for (const DeviceInfo& device : all) {
    known += (known.empty() ? "" : ", ") + std::to_string(device.index) + " (" + device.name + ")";
  }
  throw UsageError("there is no CUDA device " + std::to_string(index) + "; devices here: " + known);
}

DeviceInfo current_device() {
  int index = 0;
  ORRERY_CUDA_CHECK(cudaGetDevice(&index));
  return describe(index);
}

std::size_t free_memory_bytes() {
  std::size_t free = 0, total = 0;
  ORRERY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

}  // namespace orrery::cuda
