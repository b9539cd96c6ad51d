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

#include "app/lab/profile/kernel_profile.h"
#include "app/process/child_process.h"
#include "app/ui_state/profile_status.h"
#include "compute/sim/command.h"

namespace orrery {

/// The arguments of this program that profile the shown kernel and settings, from the first state of its scene, and
/// write the result as JSON to `result_file`. `device` is the GPU's ordinal; none: there is no GPU. `kernel_file` has
/// the text of a kernel that is not built in; else it is empty.
std::vector<std::string> profile_arguments(const Status& shown, std::optional<int> device,
                                           const std::string& result_file, const std::string& kernel_file = {});

/// Profiles in a process of its own: the profiler waits for the whole GPU context, and the window must go on.
class ProfileControl {
 public:
  /// `program` is orrery.
  explicit ProfileControl(std::filesystem::path program = this_program(),
                          std::chrono::milliseconds limit = std::chrono::minutes{2})
      : program_{std::move(program)}, limit_{limit} {}
  ProfileControl(const ProfileControl&) = delete;
  ProfileControl& operator=(const ProfileControl&) = delete;
  /// Ends the process.
  ~ProfileControl() { stop_.request_stop(); }

  /// Starts a process that waits for the next profile, unless there is one. It has read what the profiler needs for
  /// this GPU, so that the profile takes half of the time. Meant for each frame in which a profile is likely.
  void prepare(int device);
  /// Throws UsageError while the process of a profile runs, or if the row to compare with does not exist.
  void start(const Status& shown, std::optional<int> device, ProfileStatus& status);
  static void compare(const CompareProfile& asked, ProfileStatus& status);
  /// Call once per frame. Returns whether a profile has ended, well or not.
  bool tick(ProfileStatus& status);
  /// Waits for the profile in flight and its process, then as tick().
  void finish(ProfileStatus& status);

 private:
  /// The profile in flight, which it waits for.
  void take(ProfileStatus& status);

  std::filesystem::path program_;
  std::chrono::milliseconds limit_;  // of the process's time
  std::chrono::steady_clock::time_point started_;
  int version_ = 0;                      // KernelProfile::kernel_version of the profile in flight
  std::shared_ptr<ChildProcess> spare_;  // waits for a profile on spare_device_; null: none waits
  int spare_device_ = 0;
  std::stop_source stop_;
  std::future<KernelProfile> in_flight_;
  std::future<void> process_;  // that takes it, and lives a little longer; last: it ends by stop_
};

}  // namespace orrery
