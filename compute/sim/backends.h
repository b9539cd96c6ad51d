#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/kernels/catalog.h"
#include "compute/kernels/kernel_sharing.h"

namespace orrery {

class DeviceStorage;
class DeviceTeam;
class Engine;
struct DeviceList;

/// The computing resources of this process: the kernels, the processor, and CUDA devices if there are any. Several
/// devices share the work of a kernel. main makes one object.
class Backends {
 public:
  /// Opens the CUDA device with the ordinal `asked`, or `otherwise` if the user asked for none. `kernels` must outlive
  /// this object. Throws UsageError that lists the devices if the device does not exist. If CUDA cannot run, throws
  /// std::runtime_error if the user asked for a device; otherwise status() has the reason. If the catalog has ranks,
  /// this rank opens that device, and the others on its host the next ones. If there are too few devices, CUDA cannot
  /// run.
  explicit Backends(const KernelCatalog& kernels, std::optional<int> asked = std::nullopt, int otherwise = 0);
  /// Opens all of these devices. If the list means all devices and one is `leader`, that one has the bodies. If the
  /// catalog has ranks, each rank opens one of the devices. Throws as the other constructor, and UsageError if the
  /// devices differ or are too few for the ranks.
  Backends(const KernelCatalog& kernels, const DeviceList& devices, int leader = 0);
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;
  ~Backends();

  const KernelCatalog& kernels() const { return kernels_; }
  const BackendStatus& status(Backend backend) const { return statuses_[static_cast<std::size_t>(backend)]; }
  const BackendStatuses& statuses() const { return statuses_; }
  /// Returns the default CPU kernel: one that gives jerks if `jerks`, otherwise a faster one.
  KernelPtr default_cpu_kernel(bool jerks = false) const { return kernels_.find(jerks ? "cpu-jerk" : "cpu-simd"); }
  /// Returns the device that has the bodies; null if CUDA kernels cannot run.
  const cuda::Device* device() const { return device_.get(); }
  /// Returns the ordinal of device(); none if CUDA kernels cannot run.
  std::optional<int> device_ordinal() const;
  /// Returns the number of processes that share the evaluations; 1: only this one.
  int ranks() const;
  /// Returns the devices that share evaluations, such as "devices 0,1"; empty if there is only device().
  std::string team_words() const;

  /// Returns the ids of the kernels that can run in this process: "cpu-serial, cpu-openmp, ...". With `jerks`, lists
  /// only those that give jerks.
  std::string available_kernels(bool jerks = false) const;
  /// Returns why this kernel cannot run in this process, in one line; empty if it can.
  std::string refusal(const KernelInfo& kernel) const;
  /// Returns the kernel that a new simulation uses without measurements: a fast one that can run here. It gives jerks
  /// if `jerks`.
  KernelPtr default_kernel(bool jerks = false) const;

  /// Makes an engine, see make_cuda_engine(). Throws std::runtime_error with the reason if the backend cannot run.
  std::unique_ptr<Engine> make_engine(Backend backend, DeviceStorage* storage) const;
  /// Makes a kernel. If the catalog has ranks, they share each evaluation; otherwise all open devices do. If they
  /// cannot do so with this kernel, throws UsageError that lists the possible ones. Otherwise throws as make_engine()
  /// and KernelInfo::make().
  std::unique_ptr<ForceKernel> make_kernel(const KernelInfo& kernel, const Settings& settings) const;

 private:
  /// `asked`: the user named the devices. Without ranks, opens the device of place 0, see RankDeviceSelection.
  Backends(const KernelCatalog& kernels, const RankDeviceSelection& which, bool asked);

  void require(Backend backend) const;
  bool can_run(const KernelInfo& kernel) const { return refusal(kernel).empty(); }
  std::unique_ptr<ForceKernel> make_divided(const KernelInfo& kernel, const Settings& settings) const;

  const KernelCatalog& kernels_;
  const RankDeviceSelection which_;
  std::shared_ptr<const cuda::Device> device_;
  std::shared_ptr<const DeviceTeam> team_;  // null: one device, or none
  BackendStatuses statuses_;
};

/// Returns the kernel of this id; null for `auto_kernel`. Throws UsageError that lists the known kernels.
KernelPtr find_kernel_or_auto(const KernelCatalog& kernels, std::string_view id);

}  // namespace orrery
