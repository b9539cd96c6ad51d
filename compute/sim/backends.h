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

/// The computing resources of this process: the kernels that it knows, the processor, and a CUDA device, or several
/// that divide the work of a kernel. main makes one object.
class Backends {
 public:
  /// Opens the CUDA device that the user asked for by its ordinal; if none, `otherwise`. `kernels` must outlive this.
  /// Throws UsageError that lists the devices if the device does not exist, and std::runtime_error with the reason if
  /// one was asked for and CUDA cannot run. If none was, status() has that reason. If the catalog has ranks, each opens
  /// a device: this one that device, and the others of its host the next ones. If there are too few, CUDA cannot run.
  explicit Backends(const KernelCatalog& kernels, std::optional<int> asked = std::nullopt, int otherwise = 0);
  /// Opens all of these devices. Of `all`, `leader` has the bodies, if there is such a device. If the catalog has
  /// ranks, each opens one of them. Throws as above, and UsageError if the devices differ, or are too few for the
  /// ranks.
  Backends(const KernelCatalog& kernels, const DeviceList& devices, int leader = 0);
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;
  ~Backends();

  const KernelCatalog& kernels() const { return kernels_; }
  const BackendStatus& status(Backend backend) const { return statuses_[static_cast<std::size_t>(backend)]; }
  const BackendStatuses& statuses() const { return statuses_; }
  /// Returns a kernel that runs without a GPU: one that gives `jerks`, or a faster one.
  KernelPtr default_cpu_kernel(bool jerks = false) const { return kernels_.find(jerks ? "cpu-jerk" : "cpu-simd"); }
  /// Returns the device that has the bodies. Null if CUDA kernels cannot run.
  const cuda::Device* device() const { return device_.get(); }
  /// Returns the ordinal of device(); none if CUDA kernels cannot run.
  std::optional<int> device_ordinal() const;
  /// Returns how many processes share the evaluations; 1: this one alone.
  int ranks() const;
  /// Returns "devices 0,1", those that divide evaluations; empty if there is only device().
  std::string team_words() const;

  /// Returns "cpu-serial, cpu-openmp, ...": the kernels that can run in this process; with `jerks` only those that give
  /// jerks.
  std::string available_kernels(bool jerks = false) const;
  /// Returns why this kernel cannot run in this process, in one line; empty if it can.
  std::string refusal(const KernelInfo& kernel) const;
  /// Returns the kernel that a new simulation uses without measurements: a fast one that is available here, and that
  /// gives jerks if `jerks`.
  KernelPtr default_kernel(bool jerks = false) const;

  /// See make_cuda_engine(). Throws std::runtime_error with the reason if the backend is not available.
  std::unique_ptr<Engine> make_engine(Backend backend, DeviceStorage* storage) const;
  /// If the catalog has ranks, they share each evaluation, and several devices divide it. Throws UsageError that lists
  /// the kernels with which this is possible if it is not with this one. Otherwise throws as make_engine() and
  /// KernelInfo::make() do.
  std::unique_ptr<ForceKernel> make_kernel(const KernelInfo& kernel, const Settings& settings) const;

 private:
  /// `asked`: by the user. A single process opens the device of place 0.
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
