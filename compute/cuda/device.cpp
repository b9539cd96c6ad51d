#include "compute/cuda/device.h"

#include <fstream>
#include <regex>

#include "compute/core/error.h"

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

}  // namespace orrery::cuda
