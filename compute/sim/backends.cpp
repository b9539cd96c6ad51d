#include "compute/sim/backends.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/devices/device_list.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/sim/command.h"
#include "compute/sim/engine.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/devices/device_team.h"
#include "compute/integrators/update_cuda.h"
#endif

namespace orrery {
namespace {

BackendStatus ask_cpu() {
  std::ifstream cpuinfo{"/proc/cpuinfo"};
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return {true, "", line.substr(line.find(':') + 2)};
  }
  return {true, "", "unknown processor"};
}

#if ORRERY_HAVE_CUDA
/// Returns why CUDA cannot run, and the remedy.
std::string reason_of(const cuda::Error& error) {
  switch (error.code()) {
    case cudaErrorNoDevice:
      return "no CUDA device in this machine (or CUDA_VISIBLE_DEVICES hides it)";
    case cudaErrorInsufficientDriver: {
      const int driver = cuda::driver_version();
      const std::string needed = cuda::version_text(cuda::runtime_version());
      return driver == 0 ? "no NVIDIA driver: install one that supports CUDA " + needed
                         : "the NVIDIA driver supports CUDA " + cuda::version_text(driver) + " and this build needs " +
                               needed + ": update the driver, or build with an older toolkit";
    }
    default:
      return error.what();
  }
}
#endif

constexpr const char* no_cuda_in_build =
    "this build has no CUDA kernels: install the CUDA toolkit, 12.1 or later, and build again";

/// Opens the device. Returns null if CUDA cannot run; `status` then says why.
std::shared_ptr<const cuda::Device> open_device([[maybe_unused]] int ordinal, BackendStatus& status) {
#if ORRERY_HAVE_CUDA
  try {
    auto device = std::make_shared<const cuda::Device>(ordinal);
    status = {true, "", device->info().name};
    if (cuda::has_code_for(*device)) return device;
    status = {false, "this build has no code for " + device->info().name + ": build again on this machine", ""};
  } catch (const cuda::Error& error) {
    status = {false, reason_of(error), ""};
  }
#else
  status = {false, no_cuda_in_build, ""};
#endif
  return nullptr;
}

/// Opens this rank's device while all other ranks open theirs. If one of them fails, returns null, and `status` says
/// why; if the user asked for the devices, throws the error of a rank instead.
std::shared_ptr<const cuda::Device> open_devices([[maybe_unused]] KernelSharing& ranks,
                                                 [[maybe_unused]] const RankDeviceSelection& which,
                                                 [[maybe_unused]] bool asked, BackendStatus& status) {
#if ORRERY_HAVE_CUDA
  try {
    (void)cuda::devices();
    return open_device(ranks.open_devices(which), status);
  } catch (const cuda::Error& error) {
    status = {false, reason_of(error), ""};
  } catch (const std::exception& failure) {
    if (asked) throw;
    status = {false, failure_text(failure), ""};
  }
#else
  status = {false, no_cuda_in_build, ""};
#endif
  return nullptr;
}

/// Returns the ordinals in the list, including repeated ones. If the list means all devices, `leader` comes first.
std::vector<int> ordinals_of(const DeviceList& list, [[maybe_unused]] int leader) {
  if (!list.all) return list.ordinals;
  std::vector<int> ordinals;
#if ORRERY_HAVE_CUDA
  try {
    for (const cuda::DeviceInfo& device : cuda::devices()) ordinals.push_back(device.ordinal);
  } catch (const cuda::Error&) {
    // Opening the first device reports why there are none.
  }
  std::ranges::stable_partition(ordinals, [&](int ordinal) { return ordinal == leader; });
#endif
  return ordinals.empty() ? std::vector{0} : ordinals;
}

}  // namespace

Backends::Backends(const KernelCatalog& kernels, const RankDeviceSelection& which, bool asked)
    : kernels_{kernels}, which_{which}, statuses_{ask_cpu(), BackendStatus{}} {
  BackendStatus& cuda = statuses_[static_cast<std::size_t>(Backend::cuda)];
  const int ordinal = which.listed.empty() ? which.first : which.listed.front();
  KernelSharing* const ranks = kernels.sharing();
  device_ = ranks ? open_devices(*ranks, which, asked, cuda) : open_device(ordinal, cuda);
  if (asked && !cuda.available) {
    throw std::runtime_error("CUDA device " + std::to_string(ordinal) + " cannot be used: " + cuda.reason);
  }
}

Backends::Backends(const KernelCatalog& kernels, std::optional<int> asked, int otherwise)
    : Backends{kernels, RankDeviceSelection{.first = asked.value_or(otherwise)}, asked.has_value()} {}

Backends::Backends(const KernelCatalog& kernels, const DeviceList& devices, int leader)
    : Backends{kernels, RankDeviceSelection{.listed = devices.ordinals, .first = ordinals_of(devices, leader).front()},
               /*asked=*/true} {
#if ORRERY_HAVE_CUDA
  const std::vector<int> ordinals = ordinals_of(devices, leader);
  if (kernels.sharing() || ordinals.size() == 1) return;
  const auto team = std::make_shared<const DeviceTeam>(ordinals);
  device_ = team->leader();
  team_ = team;
#endif
}

Backends::~Backends() = default;

int Backends::ranks() const {
  return kernels_.sharing() ? kernels_.sharing()->ranks() : 1;
}

std::string Backends::team_words() const {
#if ORRERY_HAVE_CUDA
  if (team_) return team_->words();
#endif
  return {};
}

std::optional<int> Backends::device_ordinal() const {
#if ORRERY_HAVE_CUDA
  if (device_) return device_->ordinal();
#endif
  return std::nullopt;
}

void Backends::require(Backend backend) const {
  if (status(backend).available) return;
  throw std::runtime_error(std::string{to_string(backend)} + " kernels cannot run: " + status(backend).reason +
                           "; can run here: " + available_kernels());
}

std::unique_ptr<Engine> Backends::make_engine(Backend backend, [[maybe_unused]] DeviceStorage* storage) const {
  require(backend);
#if ORRERY_HAVE_CUDA
  if (backend == Backend::cuda) return make_cuda_engine(*device_, storage);
#endif
  return make_cpu_engine();
}

std::unique_ptr<ForceKernel> Backends::make_kernel(const KernelInfo& kernel, const Settings& settings) const {
  require(kernel.backend);
  KernelSharing* const sharing = kernels_.sharing();
  if (!sharing) return team_ ? make_divided(kernel, settings) : kernel.make(settings, device_.get());
  if (const std::string why = refusal(kernel); !why.empty()) {
    throw UsageError(why + "; can be shared: " + available_kernels());
  }
  return sharing->make(kernel, settings, which_);
}

std::unique_ptr<ForceKernel> Backends::make_divided(const KernelInfo& kernel, const Settings& settings) const {
  if (const std::string why = refusal(kernel); !why.empty()) {
    throw UsageError(why + "; can be divided: " + available_kernels());
  }
  KernelInfo divided = kernel;
#if ORRERY_HAVE_CUDA
  divided.create = [&](const Settings& chosen, const cuda::Device*) -> std::unique_ptr<ForceKernel> {
    return multi_device_kernel(*team_, kernel, chosen);
  };
#endif
  return divided.make(settings, device_.get());
}

std::string Backends::available_kernels(bool jerks) const {
  std::vector<KernelPtr> available = kernels_.all();
  std::erase_if(available,
                [&](const KernelPtr& kernel) { return !can_run(*kernel) || (jerks && !kernel->gives_jerks); });
  return joined_ids(available);
}

std::string Backends::refusal(const KernelInfo& kernel) const {
  if (!status(kernel.backend).available) return status(kernel.backend).reason;
  if (kernels_.sharing()) return why_not_shared(kernel, ranks());
  if (team_ && !devices_can_divide(kernel)) return std::string{"several devices cannot divide "} + kernel.id;
  return {};
}

KernelPtr Backends::default_kernel(bool jerks) const {
  if (!status(Backend::cuda).available) return default_cpu_kernel(jerks);
  KernelPtr fast = kernels_.find(jerks ? "cuda-jerk" : "cuda-tiled");
  return kernels_.sharing() && !can_run(*fast) ? default_cpu_kernel(jerks) : fast;
}

KernelPtr find_kernel_or_auto(const KernelCatalog& kernels, std::string_view id) {
  return id == auto_kernel ? nullptr : kernels.find(id, auto_kernel);
}

}  // namespace orrery
