#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/features/profile/profile.h"
#include "app/process/child_process.h"
#include "compute/core/temporary_folder.h"
#include "compute/sim/command.h"

namespace orrery {
/// Returns the arguments of `orrery` that profile the shown kernel and settings from the first state of its scene, and
/// write JSON to `result_file`. `device`: the GPU's ordinal; none: no GPU. `kernel_file`: a kernel that is not built
/// in, or empty.
std::vector<std::string> profile_arguments(const Status& shown, std::optional<int> device,
                                           const std::string& result_file, const std::string& kernel_file = {});

/// The program `orrery` that takes a profile, and the longest time that it may need.
struct ProfilerProgram {
  std::filesystem::path file;
  std::chrono::milliseconds limit;
};

/// Request to a process to take one profile.
struct ProfileOrder {
  std::vector<std::string> arguments{};
  std::string result_file{};
  std::shared_ptr<const TemporaryFolder> folder{};  ///< contains all files of the process
  std::promise<KernelProfile> result{};
};

/// Takes profiles in separate processes: the profiler blocks the whole GPU context, and the window must continue.
class ProfileControl {
 public:
  /// Makes an object without processes. `program` is orrery; `limit` is the longest time for one profile.
  explicit ProfileControl(std::filesystem::path program = this_program(),
                          std::chrono::milliseconds limit = std::chrono::minutes{2})
      : program_{std::move(program), limit} {}
  ProfileControl(const ProfileControl&) = delete;
  ProfileControl& operator=(const ProfileControl&) = delete;
  /// Ends all processes.
  ~ProfileControl() { stop_.request_stop(); }

  /// Starts a spare process, unless one exists. It prepares this GPU for profiling, and waits for the next profile.
  /// Call in each frame in which a profile is likely to be requested.
  void prepare(int device);
  /// Ends the spare process. Does not block.
  void drop_spare();
  /// Starts a profile. Throws UsageError while the process of another profile runs.
  void start(const Status& shown, std::optional<int> device, ProfileStatus& status);
  static void compare(const CompareProfile& asked, ProfileStatus& status);
  /// Takes the result of a profile that has ended, successful or not. Returns whether one has. Call once per frame.
  bool tick(ProfileStatus& status);
  /// Blocks until the profile in flight and its process have ended, and stores the result in `status`, as tick() does.
  void finish(ProfileStatus& status);

 private:
  /// Blocks until the profile in flight has ended, and stores its result in `status`.
  void take(ProfileStatus& status);

  /// A process, and the thread that waits for it. Both end if `order` is destroyed, before `thread`, without a value.
  struct Profiler {
    std::future<void> thread;
    std::promise<ProfileOrder> order;
  };
  Profiler launch(std::vector<std::string> preparation) const;

  ProfilerProgram program_;
  std::chrono::steady_clock::time_point started_;
  int version_ = 0;  // KernelProfile::kernel_version of the profile in flight
  std::stop_source stop_;
  std::future<KernelProfile> in_flight_;
  std::future<void> process_;              // its process, which ends a little later; stop_ ends it early
  std::vector<std::future<void>> ending_;  // spare processes that were dropped
  std::optional<Profiler> spare_;          // waits for a profile on spare_device_
  int spare_device_ = 0;
};

}  // namespace orrery
