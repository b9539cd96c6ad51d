#include "app/viewer/profile_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "app/lab/profile/profile_json.h"
#include "app/text/input_file.h"
#include "app/text/lines.h"
#include "app/ui_state/hint_words.h"
#include "app/viewer/shown_bodies.h"
#include "compute/core/error.h"
#include "compute/core/temporary_folder.h"

namespace orrery {
namespace {

KernelProfile profile_in(const ChildResult& child) {
  if (child.status != 0) {
    const std::string why = last_complaint(child);
    throw std::runtime_error(why.empty() ? "the process that profiles ended early" : why);
  }
  std::vector<KernelProfile> profiles = profiles_of(parse_json(child.text, "orrery profile"));
  if (profiles.empty()) throw std::runtime_error("the process that profiles returned no profile");
  return std::move(profiles.front());
}

/// Also throws where the program does not find its own file.
ChildResult run_profiler(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::stop_token& stop) {
  return child_result(program.empty() ? std::filesystem::read_symlink("/proc/self/exe") : program, arguments,
                      [&] { return stop.stop_requested(); });
}

}  // namespace

std::vector<std::string> profile_arguments(const Status& shown, std::optional<int> device,
                                           const std::string& kernel_file) {
  std::vector<std::string> words{"profile", "--json", "-"};
  if (kernel_file.empty()) {
    words.insert(words.end(), {"--kernels", shown.kernel_id});
  } else {
    words.insert(words.end(), {"--kernel-file", kernel_file});
  }
  for (const auto& [name, value] : shown.settings.values()) {
    words.insert(words.end(), {"--set", fmt::format("{}={}", name, value)});
  }
  std::ranges::move(law_arguments(shown.law), std::back_inserter(words));
  if (device) words.insert(words.end(), {"--device", fmt::format("{}", *device)});
  if (!shown.scene.file.empty()) {
    const std::vector<std::string> hints = hint_words(shown.scene.hints);
    words.insert(words.end(), hints.begin(), hints.end());
    words.insert(words.end(), {"--", shown.scene.file});
    return words;
  }
  words.insert(words.end(), {"--scene", shown.scene.scene, "-n", fmt::format("{}", shown.count)});
  if (find_scene(shown.scene.scene).random) words.insert(words.end(), {"--seed", fmt::format("{}", shown.scene.seed)});
  return words;
}

void ProfileControl::start(const Status& shown, std::optional<int> device, ProfileStatus& status) {
  if (in_flight_.valid()) throw UsageError("a profile is being taken; wait for its end before you take another one");
  if (shown.choosing) throw UsageError("auto is measuring kernels; profile when it has chosen one");
  std::shared_ptr<TemporaryFolder> folder;  // for as long as the process runs
  std::string kernel_file;
  if (shown.kernel && shown.kernel->file_text) {
    folder = std::make_shared<TemporaryFolder>();
    kernel_file = folder->write(shown.kernel_id + ".cu", shown.kernel->file_text).string();
  }
  status.active = true;
  status.error.clear();
  const std::string changes = shown.settings.changes();
  status.present = changes.empty() ? shown.kernel_id : shown.kernel_id + ' ' + changes;
  in_flight_ = std::async(std::launch::async, [folder, program = program_, stop = stop_.get_token(),
                                               arguments = profile_arguments(shown, device, kernel_file)] {
    return run_profiler(program, arguments, stop);
  });
}

void ProfileControl::compare(const CompareProfile& asked, ProfileStatus& status) {
  const auto rows = static_cast<int>(status.profiles.size());
  if (asked.row != CompareProfile::previous && asked.row >= rows) {
    throw UsageError(fmt::format("there is no profile {}; there {}", asked.row + 1,
                                 rows == 1 ? "is 1" : fmt::format("are {}", rows)));
  }
  status.compared_with = asked.row;
}

bool ProfileControl::tick(ProfileStatus& status) {
  if (!in_flight_.valid() || in_flight_.wait_for(std::chrono::seconds{0}) != std::future_status::ready) return false;
  finish(status);
  return true;
}

void ProfileControl::finish(ProfileStatus& status) {
  if (!in_flight_.valid()) return;
  try {
    status.profiles.push_back(profile_in(in_flight_.get()));
  } catch (const std::exception& failure) {
    status.error = one_line(failure.what());
  }
  status.active = false;
  if (status.profiles.size() <= ProfileStatus::most_profiles) return;
  status.profiles.erase(status.profiles.begin());
  if (status.compared_with != CompareProfile::previous && --status.compared_with < 0) {
    status.compared_with = CompareProfile::previous;
  }
}

}  // namespace orrery
