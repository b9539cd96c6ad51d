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

#include "app/features/profile/profile_status.h"
#include "app/process/child_process.h"
#include "compute/core/temporary_folder.h"
#include "compute/sim/command.h"

namespace orrery {
/// The arguments of this program that profile the shown kernel and settings, from the first state of its scene, and
/// write the result as JSON to `result_file`. `device` is the GPU's ordinal; none: there is no GPU. `kernel_file` has
/// the text of a kernel that is not built in; else it is empty.
std::vector<std::string> profile_arguments(const Status& shown, std::optional<int> device,
                                           const std::string& result_file, const std::string& kernel_file = {});

/// The program that profiles, orrery, and how long one profile may take.
struct ProfilerProgram {
  std::filesystem::path file;
  std::chrono::milliseconds limit;
};

/// A profile that a process is to take.
struct ProfileOrder {
  std::vector<std::string> arguments{};
  std::string result_file{};
  std::shared_ptr<const TemporaryFolder> folder{};  ///< with all files of the process
  std::promise<KernelProfile> result{};
};

/// Profiles in a process of its own: the profiler waits for the whole GPU context, and the window must continue.
class ProfileControl {
 public:
  /// `program` is orrery.
  explicit ProfileControl(std::filesystem::path program = this_program(),
                          std::chrono::milliseconds limit = std::chrono::minutes{2})
      : program_{std::move(program), limit} {}
  ProfileControl(const ProfileControl&) = delete;
  ProfileControl& operator=(const ProfileControl&) = delete;
  /// Ends all processes.
  ~ProfileControl() { stop_.request_stop(); }

  /// Starts a process that opens this GPU, reads what the profiler needs for it, and waits for the next profile, unless
  /// there is one. Meant for each frame in which a profile is likely.
  void prepare(int device);
  /// Ends the process that waits, without waiting for its end.
  void drop_spare();
  /// Throws UsageError while the process of a profile runs, or if the row to compare with does not exist.
  void start(const Status& shown, std::optional<int> device, ProfileStatus& status);
  static void compare(const CompareProfile& asked, ProfileStatus& status);
  /// Call once per frame. Returns whether a profile has ended, well or not.
  bool tick(ProfileStatus& status);
  /// Blocks until the profile in flight and its process have ended, and stores the result in `status`, as tick() does.
  void finish(ProfileStatus& status);

 private:
  /// The profile in flight, which it waits for.
  void take(ProfileStatus& status);

  /// A process, and the thread that waits for it. Without an order, both end: the promise is destroyed first.
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
  std::future<void> process_;              // that takes it, and lives a little longer; ends by stop_
  std::vector<std::future<void>> ending_;  // of spares that were dropped
  std::optional<Profiler> spare_;          // waits for a profile on spare_device_
  int spare_device_ = 0;
};

}  // namespace orrery
